//! The journal on disk: what a session overwrites, written and synced before the first write, so that even a killed session
//! can be undone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use pericore_registers::{Address, Bdf, Outcome, RegisterSpace, Width};

use super::SessionError;
use super::hold::{Hold, hold};
use super::journal::Saved;
use super::journal::restore_all;
use super::neighbours;
use crate::discover::Cpu;

/// First line of every journal; the number is the version of the format.
const HEADER: &str = "pericore journal 1";

/// Where a session keeps its journal, and what tells this machine and boot from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalFile {
    /// The file; it must not exist yet.
    pub path: PathBuf,
    /// Identity of this boot, for example `/proc/sys/kernel/random/boot_id`.
    pub boot: String,
    /// The machine as the user names it; `local` for the one that this program runs on.
    pub machine: String,
}

/// A journal's contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    /// The process of the session.
    pub pid: u32,
    /// The boot in which it was written.
    pub boot: String,
    /// The machine.
    pub machine: String,
    /// The registers that were to be overwritten, in the order of putting them back.
    pub saved: Vec<Saved>,
}

/// A journal that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// The file is there already.
    #[error(
        "{path} exists: a session that used it was killed, or still runs; end it, then put its registers back with `pericore restore --journal {path}`"
    )]
    Exists {
        /// File.
        path: String,
    },
    /// The file is there already, and is somebody else's.
    #[error("{path} exists and is no journal; name a file with --journal that is not there yet")]
    Taken {
        /// File.
        path: String,
    },
    /// The session still runs.
    #[error("the session of {path} still runs, in process {pid}; end that process, it puts everything back itself")]
    Runs {
        /// File.
        path: String,
        /// The process.
        pid: u32,
    },
    /// The file cannot be written, read or removed.
    #[error("cannot {action} the journal {path}: {message}; name another with --journal FILE")]
    Io {
        /// What was tried.
        action: &'static str,
        /// File.
        path: String,
        /// The system's message.
        message: String,
    },
    /// The directory of all sessions' journals cannot be used.
    #[error(
        "cannot use {path}, where sessions know of each other: {message}; set XDG_STATE_HOME to a folder that this user can write"
    )]
    Directory {
        /// Directory.
        path: String,
        /// The system's message.
        message: String,
    },
    /// The file is not a whole journal.
    #[error(
        "line {line} of {journal}: {what}; it was damaged, so its values cannot be trusted: nothing was written; compare by hand or restart the machine, then remove the file"
    )]
    Damaged {
        /// The file, or "the journal" for a text that is in none.
        journal: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
}

/// What `restore` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// All registers hold their old values again.
    PutBack {
        /// Number of registers.
        registers: usize,
    },
    /// The machine was started anew since: nothing was written. What the registers hold now.
    OtherBoot {
        /// Each register and its value.
        found: Vec<(Saved, Outcome<u64>)>,
    },
}

impl Journal {
    /// Reads a journal.
    ///
    /// # Errors
    /// [`JournalError`] if the file cannot be read or is damaged.
    pub fn read(path: &Path) -> Result<Self, JournalError> {
        let text = fs::read_to_string(path).map_err(|error| io_error("read", path, &error))?;
        Self::parse(&text).map_err(|error| match error {
            JournalError::Damaged { line, what, .. } => {
                JournalError::Damaged { journal: path.display().to_string(), line, what }
            }
            other => other,
        })
    }

    /// Reads the journal of a session that was killed.
    ///
    /// # Errors
    /// [`JournalError::Runs`] if it was not; else as [`Journal::read`].
    pub fn read_left(path: &Path) -> Result<Self, JournalError> {
        let journal = Self::read(path)?;
        match neighbours::is_held(path)? {
            Some(true) => Err(JournalError::Runs { path: path.display().to_string(), pid: journal.pid }),
            _ => Ok(journal),
        }
    }

    /// Writes the journal and waits until it is on disk. The file appears whole or not at all; as long as what is returned lives, others see that
    /// the session runs.
    ///
    /// # Errors
    /// [`JournalError`] if the file exists or cannot be written.
    pub fn write(&self, path: &Path) -> Result<File, JournalError> {
        let fail = |error: &io::Error| io_error("write", path, error);
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = directory.join(name);
        let write = || -> io::Result<File> {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&part)?;
            hold(&file, Hold::AloneOrNot)?;
            file.write_all(self.to_text().as_bytes())?;
            file.sync_all()?;
            // Unlike a rename, a link never replaces another session's journal.
            fs::hard_link(&part, path)?;
            Ok(file)
        };
        let written = write();
        let _ = fs::remove_file(&part);
        let file = written.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists if begins_as_journal(path) => {
                JournalError::Exists { path: path.display().to_string() }
            }
            io::ErrorKind::AlreadyExists => JournalError::Taken { path: path.display().to_string() },
            _ => fail(&error),
        })?;
        File::open(directory).and_then(|directory| directory.sync_all()).map_err(|error| fail(&error))?;
        Ok(file)
    }

    /// Removes a journal whose registers are put back.
    ///
    /// # Errors
    /// [`JournalError`] if it cannot be removed.
    pub fn remove(path: &Path) -> Result<(), JournalError> {
        fs::remove_file(path).map_err(|error| io_error("remove", path, &error))
    }

    /// The same journal, whose MSRs are reached through CPUs that are online now: those of the session may have gone offline since.
    #[must_use]
    pub fn through(mut self, online: &[Cpu]) -> Self {
        for saved in &mut self.saved {
            let Address::Msr { cpu, .. } = &mut saved.address else { continue };
            let other = online.iter().find(|other| other.package == saved.socket);
            if let Some(other) = other.filter(|_| !online.iter().any(|known| known.number == *cpu)) {
                *cpu = other.number;
            }
        }
        self
    }

    /// Puts the registers back, in order; on another boot only looks at them.
    ///
    /// # Errors
    /// [`SessionError::Restore`] if registers refuse their old values.
    pub fn restore(&self, space: &mut impl RegisterSpace, boot: &str) -> Result<Restored, SessionError> {
        if self.boot != boot {
            let found =
                self.saved.iter().map(|saved| (saved.clone(), space.read(saved.address, saved.width))).collect();
            return Ok(Restored::OtherBoot { found });
        }
        restore_all(space, &self.saved)?;
        Ok(Restored::PutBack { registers: self.saved.len() })
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        let one_line = |text: &str| text.replace(['\n', '\r'], " ");
        let (pid, boot, machine) = (self.pid, one_line(&self.boot), one_line(&self.machine));
        let mut text = format!("{HEADER}\npid {pid}\nboot {boot}\nmachine {machine}\n");
        for Saved { socket, instance, register, address, width, value } in &self.saved {
            let place = match address {
                Address::Msr { cpu, msr } => format!("msr {cpu} {msr:#x}"),
                Address::Pci { bdf: Bdf { segment, bus, device, function }, offset } => {
                    format!("pcicfg {segment:#x} {bus:#x} {device:#x} {function:#x} {offset:#x}")
                }
                Address::Mmio { physical } => format!("mmio {physical:#x}"),
            };
            text += &format!("save {socket} {instance} {register} {} {value:#x} {place}\n", width.bytes());
        }
        let sum = checksum(&text);
        text + &format!("checksum {sum:#018x}\n")
    }

    /// Reads a journal's text.
    ///
    /// # Errors
    /// [`JournalError::Damaged`].
    pub fn parse(text: &str) -> Result<Self, JournalError> {
        let journal = "the journal";
        let damaged = |line: usize, what: &str| {
            let (journal, what) = (journal.to_owned(), what.to_owned());
            JournalError::Damaged { journal, line, what }
        };
        let body = text.strip_suffix('\n').and_then(|text| text.rfind('\n')).map_or(0, |end| end + 1);
        let (body, last) = text.split_at(body);
        let lines = body.lines().count();
        if !body.starts_with(HEADER) || body.lines().next() != Some(HEADER) {
            return Err(damaged(1, "it is no journal of this version"));
        }
        if last != format!("checksum {:#018x}\n", checksum(body)) {
            return Err(damaged(lines + 1, "the checksum does not fit the lines above"));
        }
        let mut journal = Self { pid: 0, boot: String::new(), machine: String::new(), saved: Vec::new() };
        for (at, line) in body.lines().enumerate().skip(1) {
            match line.split_once(' ') {
                Some(("pid", pid)) => journal.pid = pid.parse().map_err(|_| damaged(at + 1, "it names no process"))?,
                Some(("boot", boot)) => boot.clone_into(&mut journal.boot),
                Some(("machine", machine)) => machine.clone_into(&mut journal.machine),
                Some(("save", entry)) => {
                    journal.saved.push(saved(entry).ok_or_else(|| damaged(at + 1, "it names no register"))?);
                }
                _ => return Err(damaged(at + 1, "it starts with no known word")),
            }
        }
        Ok(journal)
    }
}

/// True if the file may be a journal, whole or damaged.
fn begins_as_journal(path: &Path) -> bool {
    let mut start = [0; HEADER.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == HEADER.as_bytes()
}

fn saved(entry: &str) -> Option<Saved> {
    let words: Vec<&str> = entry.split(' ').collect();
    let [socket, instance, register, width, value, space, place @ ..] = &words[..] else { return None };
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let place: Vec<u64> = place.iter().map(|word| number(word)).collect::<Option<_>>()?;
    let address = match (*space, &place[..]) {
        ("msr", &[cpu, msr]) => Address::Msr { cpu: cpu.try_into().ok()?, msr: msr.try_into().ok()? },
        ("pcicfg", &[segment, bus, device, function, offset]) => Address::Pci {
            bdf: Bdf {
                segment: segment.try_into().ok()?,
                bus: bus.try_into().ok()?,
                device: device.try_into().ok()?,
                function: function.try_into().ok()?,
            },
            offset: offset.try_into().ok()?,
        },
        ("mmio", &[physical]) => Address::Mmio { physical },
        _ => return None,
    };
    let width = match number(width)? {
        1 => Width::B1,
        2 => Width::B2,
        4 => Width::B4,
        8 => Width::B8,
        _ => return None,
    };
    let value = number(value).filter(|value| value & !width.mask() == 0)?;
    let (instance, register) = ((*instance).to_owned(), (*register).to_owned());
    Some(Saved { socket: socket.parse().ok()?, instance, register, address, width, value })
}

/// FNV-1a, 64 bits: against torn and edited files, not against forgers.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

pub(super) fn io_error(action: &'static str, path: &Path, error: &io::Error) -> JournalError {
    JournalError::Io { action, path: path.display().to_string(), message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Journal {
        let saved = |address, width, value| Saved {
            socket: 1,
            instance: "cbo3".to_owned(),
            register: "ctl0".to_owned(),
            address,
            width,
            value,
        };
        Journal {
            pid: 4711,
            boot: "0f1e".to_owned(),
            machine: "e5-2600:sockets=2".to_owned(),
            saved: vec![
                saved(Address::Msr { cpu: 8, msr: 0xd70 }, Width::B8, 0x40_0136),
                saved(Address::Pci { bdf: Bdf::new(0x7f, 16, 1), offset: 0xd8 }, Width::B4, 0),
                saved(Address::Mmio { physical: 0xfe00_0000_1234 }, Width::B8, u64::MAX),
            ],
        }
    }

    #[test]
    fn text_and_back() {
        assert_eq!(Journal::parse(&journal().to_text()), Ok(journal()));
    }

    /// CPU 8 is gone: the first one of its socket that is online serves, and no other address changes.
    #[test]
    fn registers_are_reached_through_what_is_online() {
        let online = [(0, 0), (9, 1), (10, 1)].map(|(number, package)| Cpu { number, package });
        let mut expected = journal();
        expected.saved[0].address = Address::Msr { cpu: 9, msr: 0xd70 };
        assert_eq!(journal().through(&online), expected);
        let all = [(0, 0), (7, 1), (8, 1)].map(|(number, package)| Cpu { number, package });
        assert_eq!(journal().through(&all), journal());
        assert_eq!(journal().through(&all[..1]), journal(), "nobody of its socket is there");
    }

    #[test]
    fn any_cut_and_any_changed_byte_is_noticed() {
        let text = journal().to_text();
        for end in 0..text.len() {
            assert!(Journal::parse(&text[..end]).is_err(), "cut at {end}");
        }
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(Journal::parse(&changed).is_err(), "changed at {at}");
        }
    }

    #[test]
    fn a_second_session_does_not_take_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("journals");
        let path = directory.join("journal");
        let missing = journal().write(&path).unwrap_err();
        assert!(matches!(&missing, JournalError::Io { action: "write", .. }) && !directory.exists(), "{missing}");
        fs::create_dir(&directory).unwrap();
        let held = journal().write(&path).unwrap();
        assert!(matches!(Journal::read_left(&path), Err(JournalError::Runs { pid: 4711, .. })));
        drop(held);
        assert_eq!(Journal::read_left(&path), Ok(journal()));
        assert!(matches!(journal().write(&path), Err(JournalError::Exists { .. })));
        assert_eq!(Journal::read(&path), Ok(journal()));
        Journal::remove(&path).unwrap();
        fs::write(&path, "a letter").unwrap();
        assert!(matches!(journal().write(&path), Err(JournalError::Taken { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "a letter");
        fs::remove_file(&path).unwrap();
        assert!(matches!(journal().write(&directory), Err(JournalError::Taken { .. })));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0, "nothing is left behind");
    }
}
