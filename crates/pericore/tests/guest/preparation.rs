//! A preparation that cannot come to its end says why and leaves nothing. A program in the place of apt-get plays the mirror.

use std::fs;
use std::process::{Command, Output};

use super::boot;
use super::scratch::{Scratch, eventually, is_running};
use crate::ours::{PERICORE, command};

fn failing(scratch: &Scratch, command: &mut Command) -> String {
    let output: Output = command
        .env("PATH", scratch.search_path())
        .env("XDG_CACHE_HOME", scratch.path().join("cache"))
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(255), "{said}");
    assert_eq!(scratch.content("cache"), Vec::<std::path::PathBuf>::new(), "{said}");
    said
}

/// QEMU is not what these are about.
const BOOT: [&str; 6] = ["--machine", "e5-2600", "--qemu", "true", "--", "true"];

#[test]
fn without_a_network_the_mirror_is_named() {
    let scratch = Scratch::new();
    scratch.program("apt-get", "echo 'E: Temporary failure resolving deb.debian.org' >&2; exit 100");
    let said = failing(&scratch, &mut boot(&BOOT));
    for word in ["cannot prepare the guest", "deb.debian.org", "network"] {
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn a_mirror_without_the_packages_is_told() {
    let scratch = Scratch::new();
    let script = "case \"$*\" in *update*) ;; *) echo 'E: Unable to locate package linux-perf' >&2; exit 100;; esac";
    scratch.program("apt-get", script);
    let said = failing(&scratch, &mut boot(&BOOT));
    assert!(said.contains("linux-perf") && said.contains("bookworm"), "{said}");
}

/// Files may not become larger than 64 KiB: writing fails as it does on a full disk.
#[test]
fn a_full_disk_is_told() {
    let scratch = Scratch::new();
    let fill = "for word; do case $word in Dir::State::Lists=*) head -c 1000000 /dev/zero >\"${word#*=}/list\" || exit 100;; esac; done";
    scratch.program("apt-get", fill);
    let mut limited = command("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 128; exec \"$0\" machine boot \"$@\"", PERICORE]);
    let said = failing(&scratch, limited.args(BOOT));
    for word in ["File too large", "space"] {
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn a_killed_preparation_ends_and_leaves_nothing() {
    let scratch = Scratch::new();
    let mark = scratch.path().join("process");
    scratch.program("apt-get", &format!("echo $$ >{0}.new; mv {0}.new {0}; exec sleep 1000", mark.display()));
    let mut command = boot(&BOOT);
    command.env("PATH", scratch.search_path()).env("XDG_CACHE_HOME", scratch.path().join("cache"));
    let mut pericore = command.spawn().unwrap();
    eventually("apt-get runs", || mark.exists());
    let process = fs::read_to_string(&mark).unwrap();
    let folder = scratch.path().join("cache/pericore");
    assert!(fs::read_dir(&folder).unwrap().next().is_some());
    pericore.kill().unwrap();
    pericore.wait().unwrap();
    eventually("apt-get is gone", || !is_running(process.trim()));
    eventually("the folder is empty", || fs::read_dir(&folder).unwrap().next().is_none());
}
