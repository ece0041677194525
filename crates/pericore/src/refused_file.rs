//! Files that the system refuses: what it says, and what helps against that and nothing else.

use std::io::{self, ErrorKind};
use std::path::Path;

/// That a file cannot be read, why, and what to do.
pub fn reading(path: &Path, error: &io::Error) -> String {
    let advice = match error.kind() {
        ErrorKind::NotFound => "; check the name",
        ErrorKind::PermissionDenied => "; ask its owner for read permission, or name a copy that you own",
        ErrorKind::IsADirectory => "; name a file in that folder",
        ErrorKind::NotADirectory => "; a component of the path is not a folder",
        ErrorKind::InvalidData => "; it is no text (UTF-8)",
        _ => "",
    };
    format!("cannot read {}: {error}{advice}", path.display())
}

/// That a file cannot be written, why, and what to do.
pub fn writing(path: &Path, error: &io::Error) -> String {
    let advice = match error.kind() {
        ErrorKind::NotFound => "; create its folder first (mkdir -p), or name another file",
        ErrorKind::PermissionDenied => "; name a file in a folder in which you may write",
        ErrorKind::IsADirectory => "; name a file in that folder",
        ErrorKind::NotADirectory => "; a component of the path is not a folder",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "; make room, or name a file on another disk",
        ErrorKind::FileTooLarge => "; the limit on a file's size is reached: raise it (ulimit -f)",
        ErrorKind::ResourceBusy => "; end that one, or name another file",
        ErrorKind::ReadOnlyFilesystem => "; name a file on a disk that can be written",
        _ => "",
    };
    format!("cannot write {}: {error}{advice}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_fits_what_the_system_said() {
        let (path, error) = (Path::new("x"), io::Error::from_raw_os_error);
        let denied = "cannot read x: Permission denied (os error 13); ask its owner for read permission, or name a copy that you own";
        assert_eq!(reading(path, &error(libc::EACCES)), denied);
        assert!(reading(path, &error(libc::ENOENT)).ends_with("; check the name"));
        assert_eq!(reading(path, &error(libc::EIO)), "cannot read x: Input/output error (os error 5)");
        assert!(
            writing(path, &error(libc::ENOENT)).ends_with("; create its folder first (mkdir -p), or name another file")
        );
        assert!(writing(path, &error(libc::ENOSPC)).ends_with("; make room, or name a file on another disk"));
        assert!(writing(path, &error(libc::EROFS)).ends_with("; name a file on a disk that can be written"));
    }
}
