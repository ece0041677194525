use crate::program::image;
use std::fs::{Permissions, copy, set_permissions};
use std::os::unix::fs::{PermissionsExt, chown};

/// execve(2): the set-user-ID bit makes a program run as its owner and, where the group may execute it, the
/// set-group-ID bit as its group. Under QEMU it would not. A program that merely belongs to another user runs as
/// anybody's does.
#[test]
fn what_takes_the_rights_of_another_user_or_group_is_refused() {
    const OTHER: u32 = 65_534;
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("program");
    copy(std::env::current_exe().expect("this program"), &program).expect("copied");
    if chown(&program, Some(OTHER), Some(OTHER)).is_err() {
        println!("SKIPPED: programs of other users: only root can make them");
        return;
    }
    for (mode, runs) in [(0o755, true), (0o4755, false), (0o2755, false), (0o2745, true)] {
        set_permissions(&program, Permissions::from_mode(mode)).expect("changed");
        assert_eq!(image(&program).is_ok(), runs, "{mode:o}");
    }
}
