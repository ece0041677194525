//! Files that the user names: none is waited for, and what is read whole has an end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// Bytes of a configuration file at most.
pub const CONFIGURATION: u64 = 1 << 20;

/// Bytes of a scenario at most.
pub const SCENARIO: u64 = 1 << 20;

/// Bytes of a snapshot at most: that of the largest machine has a few.
pub const SNAPSHOT: u64 = 64 << 20;

/// Bytes of a key, a certificate with those of its issuers, or a token at most.
pub const SECRET: u64 = 1 << 20;

/// Bytes of the certificates of all known authorities at most: distributions have a quarter of a megabyte.
pub const AUTHORITIES: u64 = 16 << 20;

/// Opens a regular file, what leads to one, or `/dev/null`, which is empty.
///
/// # Errors
/// The system's, and an error that says so for a pipe, a device or a socket.
pub fn open(path: &Path) -> io::Result<File> {
    // A pipe must not keep us waiting for who writes to it.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let metadata = file.metadata()?;
    let kind = metadata.file_type();
    if kind.is_dir() {
        return Err(io::Error::from_raw_os_error(libc::EISDIR));
    }
    if !(kind.is_file() || kind.is_char_device() && metadata.rdev() == libc::makedev(1, 3)) {
        return Err(io::Error::other(
            "it is a pipe, a device or a socket; name a regular file (save a pipe's output to one first)",
        ));
    }
    Ok(file)
}

/// Opens what is read bit by bit, and may be a pipe: one that nobody writes to is at its end, and not waited for.
///
/// # Errors
/// The system's.
pub fn stream(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from_raw_os_error(libc::EISDIR));
    }
    // Who writes may be slower than we read.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// The bytes of a file that may have so many.
///
/// # Errors
/// As [`open`], and if there are more.
pub fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    whole(open(path)?, most)
}

/// The bytes of an open file that may have so many.
///
/// # Errors
/// The system's, and if there are more.
pub fn whole(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more tells a file that is too long, even one that grows.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!(
            "it has more than {} MB, too much for such a file; check the name",
            most >> 20
        )));
    }
    Ok(bytes)
}

/// The text of a file that may have so many bytes.
///
/// # Errors
/// As [`bytes`]; [`io::ErrorKind::InvalidData`] if it is no text.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(bytes(path, most)?).map_err(|_| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// mkfifo(1)'s pipe without a writer is at its end at once; with one, all that comes later is read.
    #[test]
    fn a_pipe_is_read_to_its_end_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
        assert_eq!(whole(stream(&path).unwrap(), 9).unwrap(), b"");
        let reader = stream(&path).unwrap();
        let mut writer = OpenOptions::new().write(true).open(&path).unwrap();
        let late = std::thread::spawn(move || whole(reader, 9));
        std::thread::yield_now();
        io::Write::write_all(&mut writer, b"late").unwrap();
        drop(writer);
        assert_eq!(late.join().unwrap().unwrap(), b"late");
        assert_eq!(stream(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn files_have_a_size_and_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![b'x'; 2 << 20]).unwrap();
        assert_eq!(text(&path, 2 << 20).unwrap().len(), 2 << 20);
        let refused = text(&path, (2 << 20) - 1).unwrap_err().to_string();
        assert!(refused.contains("more than 1 MB"), "{refused}");
        let device = bytes(Path::new("/dev/zero"), 1 << 20).unwrap_err().to_string();
        assert!(device.contains("a pipe, a device or a socket"), "{device}");
        assert_eq!(text(Path::new("/dev/null"), 1).unwrap(), "");
        assert_eq!(bytes(folder.path(), 1).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        std::fs::write(&path, [0xff]).unwrap();
        assert_eq!(text(&path, 1).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
