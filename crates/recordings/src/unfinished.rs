//! Files that are not in their place yet, and what processes that were killed have left of them.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::geteuid;

/// How the names of unfinished files begin and end; a process and a random number are between.
const BEGINNING: &str = ".pericore-";
const ENDING: &str = ".part";

/// A new file beside its place, locked as long as it is open, so that no other recording takes its place. Processes in
/// different containers may have one number, so a name is not taken for free because of it.
///
/// # Errors
/// It cannot be made.
pub fn create_beside(place: &Path, mode: Option<u32>) -> io::Result<(File, PathBuf)> {
    sweep(place.parent().unwrap_or(Path::new(".")));
    loop {
        // Each of these has keys of its own, from the system's randomness.
        let random = RandomState::new().build_hasher().finish();
        let part = place.with_file_name(format!("{BEGINNING}{}-{random:016x}{ENDING}", std::process::id()));
        let mut options = OpenOptions::new();
        options.append(true).create_new(true);
        if let Some(mode) = mode {
            options.mode(mode);
        }
        let file = match options.open(&part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            file => file?,
        };
        // The umask may have taken even the owner's rights.
        mode.map_or(Ok(()), |mode| file.set_permissions(Permissions::from_mode(mode)))?;
        // Where locks are not supported, there is none.
        let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
        // Until it was locked, somebody may have taken it for one that was left behind.
        if file.metadata()?.nlink() > 0 {
            return Ok((file, part));
        }
    }
}

/// Removes what processes of this user that were killed have left in a folder: nobody has it locked, and no process of
/// that number runs.
fn sweep(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let Some(process) = path.file_name().and_then(process_of) else { continue };
        let runs = Path::new(&format!("/proc/{process}")).exists();
        if !runs && is_left(&path) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// The process that an unfinished file's name tells.
fn process_of(name: &OsStr) -> Option<u32> {
    let (process, random) = name.to_str()?.strip_prefix(BEGINNING)?.strip_suffix(ENDING)?.split_once('-')?;
    let is_ours = random.len() == 16 && random.chars().all(|digit| digit.is_ascii_hexdigit());
    process.parse().ok().filter(|_| is_ours)
}

fn is_left(path: &Path) -> bool {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path);
    opened.is_ok_and(|file| {
        let is_ours = file.metadata().is_ok_and(|found| found.is_file() && found.uid() == geteuid().as_raw());
        is_ours && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No process has the highest number: Linux counts to 4194304 at most.
    const NOBODY: u32 = u32::MAX;

    #[test]
    fn what_a_killed_process_has_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let name = |process: u32, random: &str| folder.path().join(format!(".pericore-{process}-{random}.part"));
        let random = "0123456789abcdef";
        let left = name(NOBODY, random);
        let own = name(std::process::id(), random);
        let (locked, short) = (name(NOBODY - 1, random), name(NOBODY, "0123"));
        let others = folder.path().join(".pericore-notes.part");
        for path in [&left, &own, &locked, &short, &others] {
            fs::write(path, "half").unwrap();
        }
        let link = name(NOBODY, "fedcba9876543210");
        std::os::unix::fs::symlink(&others, &link).unwrap();
        // Its process is in another container.
        let held = File::open(&locked).unwrap();
        flock(&held, FlockOperation::NonBlockingLockExclusive).unwrap();
        let (_file, part) = create_beside(&folder.path().join("x.rec"), Some(0o600)).unwrap();
        assert!(!left.exists());
        for path in [&own, &locked, &short, &others, &part] {
            assert!(path.exists(), "{}", path.display());
        }
        assert!(link.is_symlink());
    }

    #[test]
    fn a_mode_holds_whatever_the_umask() {
        let folder = tempfile::tempdir().unwrap();
        let (file, _) = create_beside(&folder.path().join("x.rec"), Some(0o600)).unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o600);
    }
}
