//! PCI configuration space through the files that the kernel keeps for each function.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use pericore_registers::{AccessError, Address, Bdf, Outcome, Width};

use super::Root;
use super::refusal::{REMEDY_PCI, meaning};

/// Bytes of a function's configuration space with extended capabilities.
const CONFIG_BYTES: u64 = 4096;

/// The open files, and which functions there are.
#[derive(Debug, Default)]
pub(super) struct Functions {
    /// What sysfs lists; none if it lists nothing, and then every function is tried.
    listed: Option<Option<HashSet<Bdf>>>,
    files: HashMap<Bdf, Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    writable: bool,
    size: u64,
    is_of_proc: bool,
    /// It stays open: there may be no right to open it again.
    is_held: bool,
}

/// Files that are open at a time, besides those that are held: discovery asks thousands of functions, and a process may
/// open 1,024 files.
const MOST_OPEN: usize = 64;

impl Functions {
    /// True if the system has no such function. One that firmware hides from the kernel counts as absent too.
    fn is_absent(&mut self, root: &Root, bdf: Bdf) -> bool {
        let listed = self.listed.get_or_insert_with(|| list(root));
        listed.as_ref().is_some_and(|listed| !listed.contains(&bdf))
    }

    /// The segments that sysfs lists; the first one if it lists nothing.
    pub(super) fn segments(&mut self, root: &Root) -> Vec<u16> {
        let listed = self.listed.get_or_insert_with(|| list(root)).iter().flatten();
        let segments: BTreeSet<u16> = std::iter::once(0).chain(listed.map(|bdf| bdf.segment)).collect();
        segments.into_iter().collect()
    }

    /// Reads `bytes.len()` bytes in a row with one system call. False if nothing answers there.
    pub(super) fn read(&mut self, root: &Root, bdf: Bdf, offset: u16, bytes: &mut [u8]) -> Outcome<bool> {
        let address = Address::Pci { bdf, offset };
        if self.is_absent(root, bdf) {
            return Ok(false);
        }
        let Some(open) = self.open(root, bdf, address, false)? else { return Ok(false) };
        let end = u64::from(offset) + bytes.len() as u64;
        if end > open.size {
            // Conventional functions end at byte 256: the bus answers all ones beyond.
            return Ok(false);
        }
        match open.file.read_exact_at(bytes, offset.into()) {
            Ok(()) => Ok(true),
            // Without the capability the file ends after the header.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(AccessError::Permission { address, remedy: REMEDY_PCI })
            }
            Err(error) => Err(meaning(address, &error, REMEDY_PCI)),
        }
    }

    /// Writes up to 8 bytes with one system call; the kernel makes dword cycles of it, low one first.
    pub(super) fn write(&mut self, root: &Root, bdf: Bdf, offset: u16, bytes: &[u8]) -> Outcome<()> {
        let address = Address::Pci { bdf, offset };
        if self.is_absent(root, bdf) {
            return Ok(());
        }
        let Some(open) = self.open(root, bdf, address, true)? else { return Ok(()) };
        if u64::from(offset) + bytes.len() as u64 > open.size {
            return Ok(());
        }
        open.file.write_all_at(bytes, offset.into()).map_err(|error| meaning(address, &error, REMEDY_PCI))
    }

    pub(super) fn hold_open(&mut self, root: &Root, bdf: Bdf, write: bool) {
        if !self.is_absent(root, bdf) {
            let _ = self.open(root, bdf, Address::Pci { bdf, offset: 0 }, write);
            if let Some(open) = self.files.get_mut(&bdf) {
                open.is_held = true;
            }
        }
    }

    pub(super) fn reads_through_proc(&self) -> bool {
        self.files.values().any(|open| open.is_of_proc)
    }

    fn open(&mut self, root: &Root, bdf: Bdf, address: Address, write: bool) -> Outcome<Option<&Open>> {
        let known = self.files.get(&bdf).is_some_and(|open| open.writable || !write);
        if !known {
            let mut outcome = Err(io::Error::from(io::ErrorKind::NotFound));
            let mut is_of_proc = false;
            for (path, lies_in_proc) in paths(root, bdf) {
                is_of_proc = lies_in_proc;
                outcome = OpenOptions::new().read(true).write(write).open(path);
                if !matches!(&outcome, Err(error) if error.kind() == io::ErrorKind::NotFound) {
                    break;
                }
            }
            let file = match outcome {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(meaning(address, &error, REMEDY_PCI)),
            };
            let size = file.metadata().map_or(CONFIG_BYTES, |data| data.len());
            // Files of /proc may not tell their size.
            let size = if size == 0 { CONFIG_BYTES } else { size };
            let is_held = self.files.get(&bdf).is_some_and(|open| open.is_held);
            if self.files.len() >= MOST_OPEN {
                self.files.retain(|_, open| open.is_held);
            }
            self.files.insert(bdf, Open { file, writable: write, size, is_of_proc, is_held });
        }
        Ok(self.files.get(&bdf))
    }
}

/// Where the kernel may have a function's configuration space. Sysfs always names the segment; /proc names it only where there
/// are several. With each path, whether it is /proc's.
fn paths(root: &Root, bdf: Bdf) -> [(PathBuf, bool); 3] {
    let Bdf { segment, bus, device, function } = bdf;
    [
        (root.join(format!("sys/bus/pci/devices/{bdf}/config")), false),
        (root.join(format!("proc/bus/pci/{segment:04x}:{bus:02x}/{device:02x}.{function:x}")), true),
        (root.join(format!("proc/bus/pci/{bus:02x}/{device:02x}.{function:x}")), true),
    ]
}

fn list(root: &Root) -> Option<HashSet<Bdf>> {
    let entries = fs::read_dir(root.join("sys/bus/pci/devices")).ok()?;
    let listed: HashSet<Bdf> = entries.flatten().filter_map(|entry| parse(entry.file_name().to_str()?)).collect();
    // A container may have an empty folder there, and no Xeon is without functions.
    (!listed.is_empty()).then_some(listed)
}

/// Reads `SSSS:BB:DD.F`.
fn parse(name: &str) -> Option<Bdf> {
    let mut parts = name.split([':', '.']);
    let mut number = || u16::from_str_radix(parts.next()?, 16).ok();
    let (segment, bus, device, function) = (number()?, number()?, number()?, number()?);
    let small = |value: u16| u8::try_from(value).ok();
    Some(Bdf { segment, bus: small(bus)?, device: small(device)?, function: small(function)? })
}

/// Checks a cycle before it becomes a system call.
pub(super) fn check(bdf: Bdf, offset: u16, width: Width) -> Outcome<()> {
    let address = Address::Pci { bdf, offset };
    let aligned = offset.is_multiple_of(width.bytes().min(4));
    let fits = u64::from(offset) + u64::from(width.bytes()) <= CONFIG_BYTES;
    if aligned && fits { Ok(()) } else { Err(AccessError::BadCycle { address, width }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders of sysfs name the segment first. Where nothing is listed, there is the first one.
    #[test]
    fn segments_are_those_of_the_listed_functions() {
        let root = tempfile::tempdir().unwrap();
        let segments = |root: &tempfile::TempDir| Functions::default().segments(&Root::at(root.path()));
        assert_eq!(segments(&root), [0]);
        for function in ["0000:ff:10.0", "0003:7e:00.1", "0001:02:1f.7", "0001:03:00.0"] {
            fs::create_dir_all(root.path().join("sys/bus/pci/devices").join(function)).unwrap();
        }
        assert_eq!(segments(&root), [0, 1, 3]);
    }

    /// 4096 bytes, in cycles of 1, 2 and 4 bytes; 8 bytes are two cycles.
    #[test]
    fn every_dword_of_a_function_can_be_reached_and_nothing_beyond() {
        let bdf = Bdf::new(0xff, 16, 0);
        let allowed = |offset: u16, width: Width| check(bdf, offset, width).is_ok();
        for offset in (0..4096).step_by(4) {
            assert!(allowed(offset, Width::B4), "{offset:#x}");
            assert_eq!(allowed(offset, Width::B8), offset <= 4088, "{offset:#x}");
        }
        assert!(allowed(4095, Width::B1) && allowed(4094, Width::B2));
        assert!(![4096, 4098, 8192].iter().any(|&offset| allowed(offset, Width::B4)));
        assert!(!allowed(4094, Width::B4) && !allowed(0xa2, Width::B8) && !allowed(0xa1, Width::B2));
    }

    /// Where sysfs lists functions, one that it does not list is not there, even if an old file of /proc is left of it:
    /// it reads as nothing, a write goes nowhere, and no file is opened.
    #[test]
    fn a_function_that_sysfs_does_not_list_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        let (listed, hidden) = (Bdf::new(0xff, 0x10, 0), Bdf::new(0xff, 0x10, 1));
        fs::create_dir_all(folder.path().join(format!("sys/bus/pci/devices/{listed}"))).unwrap();
        fs::write(folder.path().join(format!("sys/bus/pci/devices/{listed}/config")), [7; 256]).unwrap();
        let file = folder.path().join("proc/bus/pci/ff/10.1");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, [9; 256]).unwrap();
        let mut functions = Functions::default();
        let mut bytes = [0; 4];
        assert_eq!(functions.read(&root, hidden, 0, &mut bytes), Ok(false));
        assert_eq!(functions.write(&root, hidden, 0, &[1; 4]), Ok(()));
        functions.hold_open(&root, hidden, true);
        assert_eq!(fs::read(&file).unwrap(), [9; 256]);
        assert!(functions.files.is_empty());
        assert_eq!((functions.read(&root, listed, 0, &mut bytes), bytes), (Ok(true), [7; 4]));
        assert!(!functions.reads_through_proc());
        // Where nothing is listed, every function is tried, and what reads it is told.
        let mut functions = Functions::default();
        fs::remove_dir_all(folder.path().join("sys")).unwrap();
        assert_eq!((functions.read(&root, hidden, 0, &mut bytes), bytes), (Ok(true), [9; 4]));
        assert!(functions.reads_through_proc());
    }

    /// Conventional functions have 256 bytes, extended ones 4096; nothing answers beyond, and nothing is written there.
    #[test]
    fn a_function_ends_where_its_file_does() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        let bdf = Bdf::new(0xff, 0x10, 0);
        let path = folder.path().join(format!("sys/bus/pci/devices/{bdf}/config"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, [0; 256]).unwrap();
        let mut functions = Functions::default();
        for (offset, is_there) in [(0, true), (252, true), (254, false), (256, false), (0x400, false)] {
            assert_eq!(functions.read(&root, bdf, offset, &mut [0; 4]), Ok(is_there), "{offset:#x}");
            assert_eq!(functions.write(&root, bdf, offset, &[5; 4]), Ok(()), "{offset:#x}");
        }
        let mut expected = vec![0; 256];
        expected[..4].fill(5);
        expected[252..].fill(5);
        assert_eq!(fs::read(&path).unwrap(), expected);
    }

    /// `SSSS:BB:DD.F`, in hexadecimal digits; what else lies there is no function.
    #[test]
    fn names_of_functions_are_read() {
        assert_eq!(parse("0001:7f:1e.3"), Some(Bdf { segment: 1, bus: 0x7f, device: 0x1e, function: 3 }));
        for name in ["", "0000:ff:10", "0000:100:00.0", "0000:ff:10.100", "0000:ff:100.0", "slot:ff:10.0", "0000:ff"] {
            assert_eq!(parse(name), None, "{name}");
        }
    }
}
