//! What goes wrong must end soon, say why, and leave nothing behind.

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pericore_doors::guest::{self, Boot, GuestError, Hardware, Output, Prepared, Report};

use super::boot;
use super::injection::Injection;
use super::switch::switched_off;

/// Long before a command that sleeps for a thousand seconds would end.
const SOON: Duration = Duration::from_secs(500);

fn idle() -> Arc<Mutex<Hardware>> {
    boot::hardware("e5-2600", |_| Injection::default())
}

fn attempt(change: impl FnOnce(&mut Boot)) -> Result<Report, GuestError> {
    attempt_timed(change).0
}

/// With the time that it took.
fn attempt_timed(change: impl FnOnce(&mut Boot)) -> (Result<Report, GuestError>, Duration) {
    let prepared = Prepared::get().unwrap();
    let mut boot = Boot::new(["sh", "-c", "sleep 1000"].map(str::to_owned).to_vec());
    change(&mut boot);
    let output = Output { out: Box::new(std::io::sink()), errors: Box::new(std::io::sink()) };
    let started = Instant::now();
    (guest::run(&prepared, &boot, &idle(), output), started.elapsed())
}

/// A program in place of QEMU.
fn stand_in(folder: &std::path::Path, script: &str) -> String {
    let (path, draft) = (folder.join("qemu"), folder.join("qemu-draft"));
    std::fs::write(&draft, format!("#!/bin/bash\n{script}\n")).unwrap();
    // Written by another process: a child that this one forks at the same time would hold the file open for writing, and nobody could run it.
    let written = Command::new("install").args(["-m", "755"]).args([&draft, &path]).status().unwrap();
    assert!(written.success());
    path.to_str().unwrap().to_owned()
}

#[test]
fn without_qemu_the_package_is_named() {
    if switched_off() {
        return;
    }
    let error = attempt(|boot| boot.qemu = "qemu-system-none".to_owned()).unwrap_err();
    assert!(matches!(error, GuestError::NoQemu { .. }), "{error}");
    assert!(error.to_string().contains("apt-get install"), "{error}");
}

#[test]
fn a_qemu_that_dies_is_quoted() {
    if switched_off() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let error =
        attempt(|boot| boot.qemu = stand_in(folder.path(), "echo no such accelerator >&2; exit 3")).unwrap_err();
    assert!(matches!(&error, GuestError::QemuDied { status, .. } if status.code() == Some(3)), "{error}");
    assert!(error.to_string().contains("no such accelerator"), "{error}");
}

#[test]
fn a_qemu_that_hangs_is_ended() {
    if switched_off() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("process");
    let script = format!("echo $$ >{}; exec sleep 1000", mark.display());
    let (error, time) = attempt_timed(|boot| {
        boot.qemu = stand_in(folder.path(), &script);
        boot.timeout = Duration::from_secs(2);
    });
    let error = error.unwrap_err();
    let process = std::fs::read_to_string(&mark).unwrap();
    assert!(matches!(error, GuestError::Gdb(_) | GuestError::TimedOut { .. }), "{error}");
    assert!(time < SOON, "{error}");
    assert!(!std::path::Path::new("/proc").join(process.trim()).exists(), "the process stayed");
}

#[test]
fn a_command_that_never_ends_is_ended_at_the_limit() {
    if switched_off() {
        return;
    }
    let (error, time) = attempt_timed(|boot| boot.timeout = Duration::from_secs(5));
    assert!(matches!(error, Err(GuestError::TimedOut { .. })), "{error:?}");
    assert!(time < SOON, "{time:?}");
}

#[test]
fn damaged_and_incomplete_preparations_are_refused() {
    if switched_off() {
        return;
    }
    let (good, scratch) = (Prepared::get().unwrap(), tempfile::tempdir().unwrap());
    let folder = scratch.path();
    for file in ["vmlinux", "packages", "SHA256SUMS"] {
        std::fs::copy(good.directory().join(file), folder.join(file)).unwrap();
    }
    std::fs::write(folder.join("initramfs.cpio"), "cut").unwrap();
    let error = Prepared::at(folder.to_owned()).unwrap_err();
    assert!(matches!(error, GuestError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("initramfs.cpio"), "{error}");
}

/// A program in QEMU's place says what a kernel of another kind would: it has but one of the functions.
#[test]
fn a_kernel_without_the_symbols_is_refused() {
    if switched_off() {
        return;
    }
    let (good, scratch) = (Prepared::get().unwrap(), tempfile::tempdir().unwrap());
    let folder = scratch.path();
    for file in ["vmlinux", "initramfs.cpio", "packages", "SHA256SUMS"] {
        std::os::unix::fs::symlink(good.directory().join(file), folder.join(file)).unwrap();
    }
    let script = "for word; do case $word in socket,id=s1,fd=*) out=${word##*=};; socket,id=s3,fd=*) talk=${word##*=};; esac; done
        echo 'ffffffff8107e7c0 t native_read_msr' >&$out; echo ready >&$talk; echo 'exit 0' >&$talk";
    let mut boot = Boot::new(vec!["true".to_owned()]);
    boot.qemu = stand_in(folder, script);
    let output = Output { out: Box::new(std::io::sink()), errors: Box::new(std::io::sink()) };
    let error = guest::run(&Prepared::at(folder.to_owned()).unwrap(), &boot, &idle(), output).unwrap_err();
    let kept = folder.join("symbols").exists();
    let GuestError::NoSymbols { missing, .. } = &error else { panic!("{error}") };
    // Of eight functions for MSRs and PCI, two for the core's counters, and the way in after a page fault.
    assert_eq!(missing.len(), 10, "{error}");
    assert!(error.to_string().contains("native_write_msr_safe, pci_conf1_read"), "{error}");
    assert!(!kept, "a wrong table of symbols was kept");
}

/// What the log of accesses goes to may be full, too: the run is not passed off as good.
#[test]
fn a_log_on_a_full_disk_is_told() {
    let hardware = idle();
    let mut hardware = hardware.lock().unwrap();
    hardware.log_to(std::path::Path::new("/dev/full")).unwrap();
    let address = super::truth::msr(0xd04);
    let width = pericore_registers::Width::B8;
    hardware.access(pericore_registers::Operation::Read { address, width }, Duration::ZERO).unwrap().unwrap();
    let error = hardware.finish_log().unwrap_err();
    assert!(error.to_string().contains("/dev/full") && error.to_string().contains("space"), "{error}");
}

/// A full disk, as the script meets it: /dev/full stands for the place of the files.
#[test]
fn a_preparation_that_fails_says_why_and_leaves_nothing() {
    if switched_off() {
        return;
    }
    let error = Prepared::at("/dev/full/guest".into()).unwrap_err();
    assert!(matches!(error, GuestError::File { .. } | GuestError::Prepare { .. }), "{error}");
    assert!(error.to_string().contains("/dev/full"), "{error}");
}
