//! Other sessions of ours on the same machine: they know each other by their journals, and set up and put back one at a time.
//!
//! A session that freezes or resets a unit keeps it to itself, as does one that sets a filter; sessions that never freeze share a unit counter by counter.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use pericore_catalog::{Family, Role, Unit};

use super::entrance::{Entrance, PATIENCE, PATIENCE_OF_PUTTING_BACK, make};
use super::files;
use super::hold::{Hold, hold};
use super::journal::Saved;
use super::meeting::{MeetingPlace, UserNote};
use super::on_disk::{Journal, JournalError, JournalFile, io_error};
use crate::discover::{Topology, may_have};
use crate::plan::Occupied;
use crate::process;

/// Between two looks whether a session of another user has ended.
const LOOK: Duration = Duration::from_millis(50);

/// Where the sessions on a machine keep their journals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherSessions {
    directory: PathBuf,
    meeting: Option<MeetingPlace>,
    machine: String,
    boot: String,
}

/// A session that runs, or that was killed and left its journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// Its process.
    pub pid: u32,
    /// Its journal file.
    pub path: PathBuf,
    /// What it overwrites.
    pub journal: Journal,
    /// False if it was killed.
    pub runs: bool,
    /// The user that it is known of by a note alone, since its journal is in a folder of that user's.
    pub user: Option<u32>,
}

impl OtherSessions {
    /// Sessions on `machine` in this `boot`, with their journals in a directory.
    pub fn new(directory: impl Into<PathBuf>, machine: impl Into<String>, boot: impl Into<String>) -> Self {
        Self { directory: directory.into(), meeting: None, machine: machine.into(), boot: boot.into() }
    }

    /// The same, with a place where the sessions of all users know of each other.
    #[must_use]
    pub fn meeting_at(self, place: MeetingPlace) -> Self {
        Self { meeting: Some(place), ..self }
    }

    /// Where the sessions of all users know of each other.
    pub const fn meeting_place(&self) -> Option<&MeetingPlace> {
        self.meeting.as_ref()
    }

    /// Tells the sessions of other users of one that is about to begin.
    pub(super) fn leave_note(&self, saved: &[Saved], journal: Option<&Path>) -> Result<Vec<PathBuf>, JournalError> {
        let Some(place) = &self.meeting else { return Ok(Vec::new()) };
        let note = Journal::of_this_process(self.boot.clone(), self.machine.clone(), saved.to_vec());
        place.leave_note(&note, journal)
    }

    /// Tells them that the registers of one that was killed are put back.
    ///
    /// # Errors
    /// [`JournalError::Meeting`] if this user may not.
    pub fn remove_note(&self, journal: &Journal) -> Result<(), JournalError> {
        self.meeting.as_ref().map_or(Ok(()), |place| place.remove_note(journal))
    }

    /// True if a journal at this path is among those that others look at.
    pub(super) fn holds(&self, path: &Path) -> bool {
        path.parent() == Some(&self.directory) && path.extension().is_some_and(|extension| extension == "journal")
    }

    /// A journal of this process; `number` tells several apart.
    pub fn journal(&self, number: u32) -> JournalFile {
        let path = self.directory.join(format!("{}-{number}.journal", std::process::id()));
        JournalFile { path, boot: self.boot.clone(), machine: self.machine.clone() }
    }

    /// True if some session has made the directory.
    pub fn is_there(&self) -> bool {
        self.directory.is_dir()
    }

    /// Makes the directories, if they are not there: a process that is confined to them can do so no more.
    ///
    /// # Errors
    /// [`JournalError::Directory`].
    pub fn make_directories(&self) -> Result<(), JournalError> {
        if let Some(place) = &self.meeting {
            place.make();
        }
        make(&self.directory).map_err(|error| self.unusable(&error))
    }

    /// Waits until no other session is being set up or put back, but not without limit.
    ///
    /// # Errors
    /// [`JournalError::Directory`] if the directory cannot be made or opened, [`JournalError::Unsafe`] if others can write there,
    /// [`JournalError::Occupied`] if another session takes too long.
    pub fn enter(&self) -> Result<Entrance, JournalError> {
        self.enter_telling(|_| {})
    }

    /// The same; `notify` hears once for whom it waits.
    ///
    /// # Errors
    /// As [`enter`](Self::enter).
    pub fn enter_telling(&self, mut notify: impl FnMut(&str)) -> Result<Entrance, JournalError> {
        let entrance = Entrance::of(&self.directory, PATIENCE, &mut notify)?;
        let turn = self.meeting.as_ref().map(|place| place.enter(PATIENCE, &mut notify)).transpose()?;
        Ok(entrance.among_all(turn.flatten()))
    }

    /// The same for putting back, which cannot wait for long.
    pub(crate) fn enter_to_put_back(&self) -> Result<Entrance, JournalError> {
        let entrance = Entrance::of(&self.directory, PATIENCE_OF_PUTTING_BACK, |_| {})?;
        let turn = self.meeting.as_ref().and_then(|place| place.enter(PATIENCE_OF_PUTTING_BACK, &mut |_| {}).ok());
        Ok(entrance.among_all(turn.flatten()))
    }

    fn unusable(&self, error: &io::Error) -> JournalError {
        JournalError::Directory { path: self.directory.display().to_string(), message: error.to_string() }
    }

    /// The sessions on this machine and in this boot that run or have left something behind, by process.
    ///
    /// # Errors
    /// [`JournalError`] if a journal cannot be read.
    pub fn others(&self) -> Result<Vec<Neighbour>, JournalError> {
        Ok(self.look()?.sessions)
    }

    /// The same, and what is in the directory under a journal's name and is none.
    ///
    /// # Errors
    /// [`JournalError`] if a journal cannot be read.
    pub fn look(&self) -> Result<Seen, JournalError> {
        let mut seen = self.look_into_own_folder()?;
        let notes = self.meeting.as_ref().map_or_else(|| Ok(Vec::new()), MeetingPlace::notes)?;
        for UserNote { user, path, journal } in notes {
            let is_here = journal.machine == self.machine && journal.boot == self.boot;
            let id = |journal: &Journal| (journal.pid, journal.started);
            if !is_here || seen.sessions.iter().any(|known| id(&known.journal) == id(&journal)) {
                continue;
            }
            let runs = process::may_run(journal.pid, journal.started);
            seen.add(&path, journal, runs, Some(user));
        }
        seen.sessions.sort_by(|a, b| (a.pid, &a.path).cmp(&(b.pid, &b.path)));
        Ok(seen)
    }

    fn look_into_own_folder(&self) -> Result<Seen, JournalError> {
        let mut seen = Seen::default();
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(seen),
            Err(error) => return Err(self.unusable(&error)),
        };
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.extension().is_none_or(|extension| extension != "journal") {
                continue;
            }
            match self.session_of(&path) {
                Ok(session) => session.into_iter().for_each(|(journal, runs)| seen.add(&path, journal, runs, None)),
                Err(error @ (JournalError::Unsafe { .. } | JournalError::None { .. })) => seen.left_aside.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok(seen)
    }

    /// The journal of a session, if it is of this machine and boot, and whether the session runs.
    fn session_of(&self, path: &Path) -> Result<Option<(Journal, bool)>, JournalError> {
        // One that ends at this moment takes its file along.
        let Some(file) = files::open_journal(path)? else { return Ok(None) };
        let journal = Journal::of_file(&file, path)?;
        let runs = is_locked(&file, path)?;
        let is_here = journal.machine == self.machine && journal.boot == self.boot;
        Ok(is_here.then_some((journal, runs)))
    }
}

/// What lies in the directory of all journals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The sessions, by process.
    pub sessions: Vec<Neighbour>,
    /// Why each other file is no journal, or none that can be trusted. Nobody but this user and root made them.
    pub left_aside: Vec<JournalError>,
}

impl Seen {
    fn add(&mut self, path: &Path, journal: Journal, runs: bool, user: Option<u32>) {
        self.sessions.push(Neighbour { pid: journal.pid, path: path.to_owned(), journal, runs, user });
    }
}

/// True if somebody holds a journal: its session, as long as it runs.
pub(super) fn is_locked(file: &File, path: &Path) -> Result<bool, JournalError> {
    let free = hold(file, Hold::BesideOrNot).map_err(|error| io_error("lock", path, &error))?;
    Ok(!free)
}

impl Neighbour {
    /// True once the session has ended.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn has_ended(&self) -> Result<bool, JournalError> {
        if self.user.is_some() {
            return Ok(!self.path.exists() || !process::may_run(self.pid, self.journal.started));
        }
        files::open_journal(&self.path)?.map_or(Ok(true), |file| is_locked(&file, &self.path).map(|held| !held))
    }

    /// Waits until the session has ended.
    ///
    /// # Errors
    /// [`JournalError::Io`], also if a signal came in between.
    pub fn wait(&self) -> Result<(), JournalError> {
        while self.user.is_some() {
            if self.has_ended()? {
                return Ok(());
            }
            sleep(LOOK);
        }
        let Some(file) = files::open_journal(&self.path)? else { return Ok(()) };
        hold(&file, Hold::Beside).map(|_| ()).map_err(|error| io_error("wait for", &self.path, &error))
    }

    /// Notes what the session uses and must not be disturbed in.
    pub fn claim(&self, topology: &Topology, occupied: &mut Occupied) {
        for saved in &self.journal.saved {
            let Some((unit, number)) = instance_of(topology.family, &saved.instance) else { continue };
            let named = unit.registers.iter().flat_map(|register| (0..register.count).map(move |n| (register, n)));
            let found = named.into_iter().find(|(register, member)| register.member_name(*member) == saved.register);
            let Some((register, member)) = found else { continue };
            match register.role {
                Role::Control => occupied.note(saved.socket, unit, number, Some(member)),
                Role::FixedControl => occupied.note(saved.socket, unit, number, None),
                // The socket's freeze stops everything in it.
                Role::GlobalControl if register.field("frz_all").is_some() => {
                    let socket = topology.sockets.iter().find(|socket| socket.number == saved.socket);
                    for unit in topology.family.units {
                        let present = socket.map_or_else(Vec::new, |socket| socket.present(unit));
                        present.into_iter().for_each(|number| occupied.note_whole(saved.socket, unit, number));
                    }
                }
                _ => occupied.note_whole(saved.socket, unit, number),
            }
        }
    }
}

/// The instance of a name as in `InstancePlan::name`: `cbo3`, or `ubox` where there is one.
pub(super) fn instance_of(family: &Family, name: &str) -> Option<(&'static Unit, u16)> {
    family.units.iter().find_map(|unit| {
        let rest = name.strip_prefix(unit.name)?;
        let number = if rest.is_empty() && unit.instances == 1 { 0 } else { rest.parse().ok()? };
        may_have(unit, number).then_some((*unit, number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    use pericore_registers::{Address, Width};

    use crate::discover::{Presence, Socket};

    /// As plans name them: a number behind the unit's name, and none where there is one alone. Eight CBos are numbered
    /// from 0.
    #[test]
    fn instances_are_known_by_their_names() {
        let family = crate::testing::e5_2600();
        let of = |name: &str| instance_of(family, name).map(|(unit, number)| (unit.name, number));
        for (name, expected) in [
            ("cbo0", Some(("cbo", 0))),
            ("cbo7", Some(("cbo", 7))),
            ("ubox", Some(("ubox", 0))),
            ("imc3", Some(("imc", 3))),
            ("cbo8", None),
            ("cbo", None),
            ("cbo-1", None),
            ("imc99999", None),
            ("nobody0", None),
            ("", None),
        ] {
            assert_eq!(of(name), expected, "{name}");
        }
        // Tables may list more than the documents have, up to the bits of the global status.
        let family = pericore_catalog::family("emerald-rapids").unwrap();
        let of = |name: &str| instance_of(family, name).map(|(unit, number)| (unit.name, number));
        assert_eq!([of("iio10"), of("iio127"), of("iio128")], [Some(("iio", 10)), Some(("iio", 127)), None]);
    }

    #[test]
    fn a_journal_is_among_others_in_their_folder_under_its_ending() {
        let sessions = OtherSessions::new("/state", "local", "boot");
        for (path, holds) in [
            ("/state/1-0.journal", true),
            ("/state/1-0.text", false),
            ("/state/deep/1-0.journal", false),
            ("/other/1-0.journal", false),
            ("/state/journal", false),
        ] {
            assert_eq!(sessions.holds(Path::new(path)), holds, "{path}");
        }
        let file = sessions.journal(3);
        assert_eq!(file.path, Path::new("/state").join(format!("{}-3.journal", std::process::id())));
        assert_eq!((file.boot.as_str(), file.machine.as_str()), ("boot", "local"));
        assert_eq!(sessions.meeting_place(), None);
        assert!(!sessions.is_there());
    }

    /// A control takes its counter, a fixed one the fixed counter; a filter or a gate takes its whole unit, and the
    /// freeze of a socket all units in it.
    #[test]
    fn a_session_claims_what_its_journal_names() {
        fn occupied(family: &'static Family, register: (&str, &str), socket: u16) -> Occupied {
            let address = Address::Msr { cpu: 0, msr: 1 };
            let (instance, register) = (register.0.to_owned(), register.1.to_owned());
            let saved = Saved { socket, instance, register, address, width: Width::B8, value: 0, written: Vec::new() };
            let (boot, machine) = ("boot".to_owned(), "local".to_owned());
            let journal = Journal { pid: 1, started: 1, boot, machine, saved: vec![saved] };
            let folder = tempfile::tempdir().unwrap();
            drop(journal.write(&folder.path().join("1.journal")).unwrap());
            let others = OtherSessions::new(folder.path(), "local", "boot").others().unwrap();
            let sockets = [0, 1].map(|number| {
                let mut socket = Socket::new(number, 0, None);
                family.units.iter().for_each(|unit| socket.set_presence(unit, vec![Presence::Present; 2]));
                socket
            });
            let mut occupied = Occupied::default();
            others[0].claim(&Topology { family, sockets: sockets.to_vec() }, &mut occupied);
            occupied
        }
        let e5 = crate::testing::e5_2600();
        for (name, unit, register, counters, fixed) in [
            ("cbo3", "cbo", "ctl2", 0b100, false),
            ("imc3", "imc", "fixed_ctl", 0, true),
            ("cbo3", "cbo", "filter", u16::MAX, true),
            ("cbo3", "cbo", "unit_ctl", u16::MAX, true),
            ("cbo3", "cbo", "ctl9", 0, false),
        ] {
            let occupied = occupied(e5, (name, register), 1);
            let taken = occupied.of(1, e5.unit(unit).unwrap(), 3);
            assert_eq!((taken.counters, taken.fixed), (counters, fixed), "{name} {register}");
            assert!(!occupied.of(0, e5.unit(unit).unwrap(), 3).any());
        }
        assert!(occupied(e5, ("nobody0", "ctl0"), 0).is_empty());
        let emr = pericore_catalog::family("emerald-rapids").unwrap();
        let occupied = occupied(emr, ("ubox", "global_ctl"), 1);
        for unit in emr.units {
            assert!([0, 1].iter().all(|&number| occupied.of(1, unit, number).is_whole()), "{}", unit.name);
            assert!(!occupied.of(0, unit, 0).any(), "the other socket counts on");
        }
    }
}
