//! A log on disk.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pericore_machine::chassis::Shape;
use pericore_registers::Outcome;

use super::analyser::Analyser;
use super::entry::Entry;

/// For the owner alone: it has all that a tool did.
const OWN: u32 = 0o600;

/// A file of accesses, each with its meaning.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: BufWriter<File>,
    analyser: Analyser,
    /// Why a line is missing. Whoever makes an access can do nothing about it: it is told at the end.
    failed: Option<io::Error>,
}

impl LogFile {
    /// Starts a log; its first line says whose accesses there are, and what their `seconds` are.
    ///
    /// # Errors
    /// The system's, if the file cannot be written.
    pub fn create(path: &Path, shape: &Shape, accesses: &str, seconds: &str) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(OWN);
        let mut file = BufWriter::new(options.open(path)?);
        let (family, sockets) = (shape.family.name, shape.sockets);
        writeln!(file, "# {accesses} to {family}, {sockets} socket(s): {seconds}, access, meaning")?;
        Ok(Self { path: path.to_owned(), file, analyser: Analyser::new(shape), failed: None })
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes an access, and the number of the tool's thread that made it, where that is known.
    pub fn note(&mut self, at: Duration, entry: &Entry, outcome: &Outcome<u64>, thread: Option<u32>) {
        let (access, meaning) = (entry.with_value(outcome), self.analyser.explain(entry, outcome));
        let by = thread.map_or_else(String::new, |thread| format!("  ; thread {thread}"));
        let line = writeln!(self.file, "{:5}.{:09}  {access:<44}  ; {meaning}{by}", at.as_secs(), at.subsec_nanos());
        self.failed = self.failed.take().or(line.err());
    }

    /// Completes the file.
    ///
    /// # Errors
    /// The system's, if a line could not be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.file.flush(), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use pericore_registers::{AccessError, Address, Operation, Width};

    use super::*;

    const ADDRESS: Address = Address::Msr { cpu: 0, msr: 0xd16 };

    fn log(path: &Path) -> LogFile {
        let shape = Shape::new(pericore_catalog::family("e5-2600").unwrap(), 2, 8, 1).unwrap();
        LogFile::create(path, &shape, "accesses", "seconds").unwrap()
    }

    fn read(outcome: &Outcome<u64>) -> Entry {
        Entry::of(Operation::Read { address: ADDRESS, width: Width::B8 }, outcome)
    }

    /// 0xd16 is the first counter of CBo 0 (the guide's Table 2-10).
    #[test]
    fn a_log_has_when_what_was_read_and_by_whom() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut file = log(&path);
        file.note(Duration::new(12, 34_005), &read(&Ok(0x2a)), &Ok(0x2a), Some(77));
        let refused = Err(AccessError::GeneralProtection { address: ADDRESS });
        file.note(Duration::from_nanos(1_500_000_000), &read(&refused), &refused, None);
        file.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "# accesses to e5-2600, 2 socket(s): seconds, access, meaning");
        assert!(lines[1].starts_with("   12.000034005  rdmsr cpu0 0xd16 -> 0x2a "), "{text}");
        assert!(lines[1].ends_with("; socket 0 cbo0 ctr0 = 42  ; thread 77"), "{text}");
        assert!(lines[2].starts_with("    1.500000000  rdmsr cpu0 0xd16 fault "), "{text}");
        assert!(!lines[2].contains("thread"), "{text}");
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "nobody else may read it");
    }

    /// full(4): every write fails for want of room, as on a full disk. A short log fails at its end, and a long one
    /// with the line that did not fit, whatever comes after it.
    #[test]
    fn a_log_that_could_not_be_written_fails_at_its_end() {
        for lines in [1, 2000] {
            let mut file = log(Path::new("/dev/full"));
            for _ in 0..lines {
                file.note(Duration::ZERO, &read(&Ok(1)), &Ok(1), None);
            }
            let error = file.finish().unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::ENOSPC), "{lines} lines: {error}");
        }
    }
}
