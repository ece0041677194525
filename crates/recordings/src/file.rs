//! The file of a recording. It takes the place of an older one when there is a sample in it, not before.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use rustix::io::Errno;

use super::unfinished;

/// For the owner alone.
const OWN: u32 = 0o600;

/// Symbolic links followed at most, as the system does.
const MOST_LINKS: usize = 40;

/// A file that is written to at its end.
#[derive(Debug)]
pub struct RecordFile {
    /// As the user named it.
    path: PathBuf,
    file: File,
    /// What was in it before the first byte of ours.
    before: u64,
    /// Until it is put in its place.
    waiting: Option<Waiting>,
}

/// A file that is not in its place yet.
#[derive(Debug)]
struct Waiting {
    /// Where it is, beside its place.
    part: PathBuf,
    /// Its place: no link.
    place: PathBuf,
}

/// Where a name leads to.
enum Target {
    /// A file, or a name that is free: a new file can take its place.
    Place(PathBuf),
    /// A device, a pipe, or what a process has open: only its content is ours.
    Stream,
}

impl RecordFile {
    /// Creates it beside its place; what is no ordinary file, such as a pipe, is opened as it is.
    ///
    /// # Errors
    /// It cannot be written, or another process writes to it.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::opened(path, None)
    }

    /// The same of a recording: it names programs and hosts, so that its owner alone reads it, whatever the umask.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_private(path: &Path) -> io::Result<Self> {
        Self::opened(path, Some(OWN))
    }

    fn opened(path: &Path, mode: Option<u32>) -> io::Result<Self> {
        let (file, waiting) = match target(path)? {
            Target::Stream => (OpenOptions::new().append(true).open(path)?, None),
            Target::Place(place) => {
                may_be_replaced(&place)?;
                let (file, part) = unfinished::create_beside(&place, mode)?;
                (file, Some(Waiting { part, place }))
            }
        };
        let before = file.metadata().map_or(0, |known| known.len());
        Ok(Self { path: path.to_owned(), file, before, waiting })
    }

    /// Puts it in its place, if it is not there yet. What was there becomes FILE.old.
    ///
    /// # Errors
    /// It cannot, such as since another process is recording to that file: all is as it was.
    pub fn put_in_place(&mut self) -> io::Result<()> {
        let Some(Waiting { part, place }) = &self.waiting else { return Ok(()) };
        let _lock = locked(place)?;
        let old = old(place);
        let had_one = match fs::rename(place, &old) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if let Err(error) = rename_to_free(part, place) {
            if had_one {
                let _ = fs::rename(&old, place);
            }
            return Err(error);
        }
        self.waiting = None;
        Ok(())
    }

    /// True if what is written can be read under its name.
    pub const fn is_in_place(&self) -> bool {
        self.waiting.is_none()
    }

    /// The folder in which it is put in its place later on.
    pub fn folder(&self) -> Option<&Path> {
        self.waiting.as_ref()?.place.parent()
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Cuts off what is behind so many bytes of ours: half a line. A pipe keeps it.
    pub fn cut(&self, bytes: u64) {
        let _ = self.file.set_len(self.before + bytes);
    }
}

impl Write for RecordFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for RecordFile {
    fn drop(&mut self) {
        if let Some(waiting) = &self.waiting {
            let _ = fs::remove_file(&waiting.part);
        }
    }
}

/// Follows links one by one: a file that is moved takes the place of what they lead to, never that of a link. Below
/// /proc they are no
/// names of files: /dev/stdout leads there, and what is behind it belongs to who opened it.
fn target(path: &Path) -> io::Result<Target> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = fs::canonicalize(folder)?;
        if folder.starts_with("/proc") {
            return Ok(Target::Stream);
        }
        let place = folder.join(name);
        match fs::symlink_metadata(&place) {
            Ok(known) if known.is_symlink() => path = folder.join(fs::read_link(&place)?),
            Ok(known) if !known.is_file() => return Ok(Target::Stream),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => return Ok(Target::Place(place)),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The file at the place, locked, or nothing if there is none.
///
/// # Errors
/// Another process is recording to it.
fn locked(place: &Path) -> io::Result<Option<File>> {
    let file = match File::open(place) {
        Ok(file) => file,
        // What cannot be read is not a recording of this user; it can become FILE.old all the same.
        Err(_) => return Ok(None),
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(in_use()),
        _ => Ok(Some(file)),
    }
}

/// Moves a file to a name that is free.
///
/// # Errors
/// The name is not free: another recording has just taken it.
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::EXIST) => Err(in_use()),
        // Some file systems have no such operation.
        Err(Errno::INVAL | Errno::NOSYS) => fs::rename(from, to),
        moved => Ok(moved?),
    }
}

fn in_use() -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, "another pericore is recording to it")
}

/// Refuses early what would fail with the first sample: the file is in use, or there is no room for it beside its
/// place.
fn may_be_replaced(place: &Path) -> io::Result<()> {
    if !place.exists() {
        return Ok(());
    }
    locked(place)?;
    let old = old(place);
    let refuse = |why: &dyn std::fmt::Display| {
        Err(io::Error::other(format!("the existing file cannot be renamed to {}: {why}", old.display())))
    };
    match fs::symlink_metadata(&old) {
        Ok(known) if known.is_dir() => refuse(&"it is a folder"),
        Err(error) if error.kind() != io::ErrorKind::NotFound => refuse(&error),
        _ => Ok(()),
    }
}

/// What becomes of the file that was there.
fn old(place: &Path) -> PathBuf {
    let mut name = OsString::from(place);
    name.push(".old");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of a test's own.
    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str) -> Self {
            let path = std::env::temp_dir().join(format!("pericore-record-{}-{test}", std::process::id()));
            fs::create_dir_all(&path).expect("a folder");
            Self(path)
        }

        fn has(&self, names: &[&str]) -> bool {
            let entries = fs::read_dir(&self.0).expect("a folder").map(|entry| entry.expect("an entry").file_name());
            let mut found: Vec<OsString> = entries.collect();
            found.sort();
            found == names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// As two of one number do, in containers that share a folder.
    #[test]
    fn processes_of_one_number_do_not_disturb_each_other() {
        let folder = Folder::new("number");
        let mut files = ["x.rec", "y.rec"].map(|name| {
            let mut file = RecordFile::open(&folder.0.join(name)).expect("it is opened");
            file.write_all(name.as_bytes()).expect("written");
            assert!(!file.is_in_place());
            file
        });
        assert_eq!(fs::read_dir(&folder.0).expect("a folder").count(), 2);
        files.iter_mut().for_each(|file| file.put_in_place().expect("it is put there"));
        assert!(folder.has(&["x.rec", "y.rec"]) && files.iter().all(RecordFile::is_in_place));
        for name in ["x.rec", "y.rec"] {
            assert_eq!(fs::read(folder.0.join(name)).expect("a file"), name.as_bytes());
        }
    }

    /// Names of 255 bytes are the longest that there are.
    #[test]
    fn long_names_are_as_good_as_others() {
        let folder = Folder::new("long");
        let name = "x".repeat(255);
        let mut file = RecordFile::open(&folder.0.join(&name)).expect("it is opened");
        file.put_in_place().expect("it is put there");
        drop(file);
        assert!(folder.has(&[&name]));
        let error = RecordFile::open(&folder.0.join(&name)).expect_err("there is no FILE.old").to_string();
        assert!(error.contains("the existing file cannot be renamed to"), "{error}");
        assert!(folder.has(&[&name]));
        assert!(RecordFile::open(&folder.0.join("x".repeat(256))).is_err());
    }

    #[test]
    fn a_link_stays_and_what_it_leads_to_is_replaced() {
        let folder = Folder::new("link");
        fs::create_dir(folder.0.join("far")).expect("a folder");
        std::os::unix::fs::symlink("far/x.rec", folder.0.join("near")).expect("a link");
        for round in ["one", "two"] {
            let mut file = RecordFile::open(&folder.0.join("near")).expect("it is opened");
            file.write_all(round.as_bytes()).expect("written");
            file.put_in_place().expect("it is put there");
        }
        assert!(folder.has(&["far", "near"]) && folder.0.join("near").is_symlink());
        assert_eq!(fs::read(folder.0.join("near")).expect("a file"), b"two");
        assert_eq!(fs::read(folder.0.join("far/x.rec.old")).expect("a file"), b"one");
        std::os::unix::fs::symlink("round", folder.0.join("round")).expect("a link");
        assert!(RecordFile::open(&folder.0.join("round")).is_err());
    }

    /// The second of two recordings to one file is refused, whether it begins before or after the first is in its
    /// place.
    #[test]
    fn a_recording_that_is_written_is_never_replaced() {
        let folder = Folder::new("two");
        let path = folder.0.join("x.rec");
        let [mut first, mut second] = [(); 2].map(|()| RecordFile::open(&path).expect("it is opened"));
        first.write_all(b"first").expect("written");
        first.put_in_place().expect("it is put there");
        let error = second.put_in_place().expect_err("the first is there");
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        drop(second);
        let error = RecordFile::open(&path).expect_err("it is in use").to_string();
        assert!(error.contains("another pericore is recording to it"), "{error}");
        first.write_all(b" and more").expect("written");
        assert!(folder.has(&["x.rec"]));
        assert_eq!(fs::read(&path).expect("a file"), b"first and more");
        drop(first);
        RecordFile::open(&path).expect("it is free").put_in_place().expect("it is put there");
        assert!(folder.has(&["x.rec", "x.rec.old"]));
    }

    /// Half a line is cut off, and never what was there before.
    #[test]
    fn what_is_open_elsewhere_is_written_at_its_end() {
        use std::os::fd::AsRawFd as _;

        let folder = Folder::new("open");
        let path = folder.0.join("x");
        fs::write(&path, "before\n").expect("written");
        let open = File::open(&path).expect("a file");
        let mut file = RecordFile::open(Path::new(&format!("/dev/fd/{}", open.as_raw_fd()))).expect("it is opened");
        file.write_all(b"line\nhal").expect("written");
        file.cut(5);
        file.put_in_place().expect("it is there");
        assert!(folder.has(&["x"]) && file.folder().is_none());
        assert_eq!(fs::read(&path).expect("a file"), b"before\nline\n");
    }
}
