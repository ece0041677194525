//! Files that the user names, read whole: none that never ends, and none that waits for a writer.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Bytes of a configuration file at most.
pub const CONFIGURATION: u64 = 1 << 20;

/// Bytes of a scenario at most.
pub const SCENARIO: u64 = 1 << 20;

/// Bytes of a snapshot at most: that of the largest machine has a few.
pub const SNAPSHOT: u64 = 64 << 20;

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

/// The bytes of a file that may have so many.
///
/// # Errors
/// As [`open`], and if there are more.
pub fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more tells a file that is too long, even one that grows.
    open(path)?.take(most + 1).read_to_end(&mut bytes)?;
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
