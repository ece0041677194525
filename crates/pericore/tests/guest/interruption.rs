//! A pericore that is killed leaves no QEMU and no file behind.

use std::fs;

use super::scratch::{Scratch, eventually, is_running};
use super::{boot, switched_off};

/// Processes that a process has started.
fn children(process: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn name(process: &str) -> String {
    fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default().trim().to_owned()
}

#[test]
fn a_killed_boot_takes_qemu_along() {
    if switched_off() {
        return;
    }
    let scratch = Scratch::new();
    let temporary = scratch.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let mut command = boot(&["--machine", "nehalem", "--timeout", "900", "--", "sleep", "1000"]);
    let mut pericore = command.env("TMPDIR", &temporary).spawn().unwrap();
    let qemu = || children(pericore.id()).into_iter().find(|child| name(child).starts_with("qemu-system"));
    eventually("QEMU runs", || qemu().is_some_and(|process| is_running(&process)));
    let qemu = qemu().unwrap();
    pericore.kill().unwrap();
    pericore.wait().unwrap();
    eventually("QEMU is gone", || !is_running(&qemu));
    assert_eq!(scratch.content("tmp"), Vec::<std::path::PathBuf>::new());
}
