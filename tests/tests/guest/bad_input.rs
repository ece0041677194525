//! What goes wrong must end soon, say why, and leave nothing behind.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pericore_doors::guest::{self, Boot, GuestError, Hardware, Output, Prepared, Report};

use crate::boot;
use crate::injection::Injection;

/// Long before a command that sleeps for a thousand seconds would end.
const SOON: Duration = Duration::from_secs(500);

fn idle() -> Arc<Mutex<Hardware>> {
    boot::hardware("e5-2600", |_| Injection::default())
}

fn attempt(change: impl FnOnce(&mut Boot)) -> Result<Report, GuestError> {
    attempt_timed(change).0
}

/// With the time that it took, without waiting for its turn.
fn attempt_timed(change: impl FnOnce(&mut Boot)) -> (Result<Report, GuestError>, Duration) {
    let prepared = Prepared::get().unwrap();
    let mut boot = Boot::new(["sh", "-c", "sleep 1000"].map(str::to_owned).to_vec());
    change(&mut boot);
    let output = Output { out: Box::new(std::io::sink()), errors: Box::new(std::io::sink()) };
    boot::alone(|| {
        let started = Instant::now();
        (guest::run(&prepared, &boot, &idle(), output), started.elapsed())
    })
}

/// A program in place of QEMU.
fn stand_in(folder: &std::path::Path, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("qemu");
    std::fs::write(&path, format!("#!/bin/bash\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn folder(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("pericore-guest-test-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn without_qemu_the_package_is_named() {
    if boot::switched_off() {
        return;
    }
    let error = attempt(|boot| boot.qemu = "qemu-system-none".to_owned()).unwrap_err();
    assert!(matches!(error, GuestError::NoQemu { .. }), "{error}");
    assert!(error.to_string().contains("apt-get install"), "{error}");
}

#[test]
fn a_qemu_that_dies_is_quoted() {
    if boot::switched_off() {
        return;
    }
    let folder = folder("dies");
    let error = attempt(|boot| boot.qemu = stand_in(&folder, "echo no such accelerator >&2; exit 3")).unwrap_err();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(&error, GuestError::QemuDied { status, .. } if status.code() == Some(3)), "{error}");
    assert!(error.to_string().contains("no such accelerator"), "{error}");
}

#[test]
fn a_qemu_that_hangs_is_ended() {
    if boot::switched_off() {
        return;
    }
    let folder = folder("hangs");
    let mark = folder.join("process");
    let script = format!("echo $$ >{}; exec sleep 1000", mark.display());
    let (error, time) = attempt_timed(|boot| {
        boot.qemu = stand_in(&folder, &script);
        boot.timeout = Duration::from_secs(2);
    });
    let error = error.unwrap_err();
    let process = std::fs::read_to_string(&mark).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(error, GuestError::Gdb(_) | GuestError::TimedOut { .. }), "{error}");
    assert!(time < SOON, "{error}");
    assert!(!std::path::Path::new("/proc").join(process.trim()).exists(), "the process stayed");
}

#[test]
fn a_command_that_never_ends_is_ended_at_the_limit() {
    if boot::switched_off() {
        return;
    }
    let (error, time) = attempt_timed(|boot| boot.timeout = Duration::from_secs(5));
    assert!(matches!(error, Err(GuestError::TimedOut { .. })), "{error:?}");
    assert!(time < SOON, "{time:?}");
}

#[test]
fn damaged_and_incomplete_preparations_are_refused() {
    if boot::switched_off() {
        return;
    }
    let (good, folder) = (Prepared::get().unwrap(), folder("damaged"));
    for file in ["vmlinuz", "packages", "SHA256SUMS"] {
        std::fs::copy(good.directory().join(file), folder.join(file)).unwrap();
    }
    std::fs::write(folder.join("initramfs.cpio"), "cut").unwrap();
    let error = Prepared::at(folder.clone()).unwrap_err();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(error, GuestError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("initramfs.cpio"), "{error}");
}

/// A program in QEMU's place says what a kernel of another kind would: it has but one of the functions.
#[test]
fn a_kernel_without_the_symbols_is_refused() {
    if boot::switched_off() {
        return;
    }
    let (good, folder) = (Prepared::get().unwrap(), folder("symbols"));
    for file in ["vmlinuz", "initramfs.cpio", "packages", "SHA256SUMS"] {
        std::os::unix::fs::symlink(good.directory().join(file), folder.join(file)).unwrap();
    }
    let script = "for word; do case $word in socket,id=s1,fd=*) out=${word##*=};; socket,id=s3,fd=*) talk=${word##*=};; esac; done
        echo 'ffffffff8107e7c0 t native_read_msr' >&$out; echo ready >&$talk; echo 'exit 0' >&$talk";
    let mut boot = Boot::new(vec!["true".to_owned()]);
    boot.qemu = stand_in(&folder, script);
    let output = Output { out: Box::new(std::io::sink()), errors: Box::new(std::io::sink()) };
    let error = guest::run(&Prepared::at(folder.clone()).unwrap(), &boot, &idle(), output).unwrap_err();
    let kept = folder.join("symbols").exists();
    std::fs::remove_dir_all(&folder).unwrap();
    let GuestError::NoSymbols { missing, .. } = &error else { panic!("{error}") };
    assert_eq!(missing.len(), 7, "{error}");
    assert!(error.to_string().contains("native_write_msr_safe, pci_conf1_read"), "{error}");
    assert!(!kept, "a wrong table of symbols was kept");
}

/// What the log of accesses goes to may be full, too: the run is not passed off as good.
#[test]
fn a_log_on_a_full_disk_is_told() {
    let hardware = idle();
    let mut hardware = hardware.lock().unwrap();
    hardware.log_to(std::path::Path::new("/dev/full")).unwrap();
    let address = crate::truth::msr(0xd04);
    let width = pericore_registers::Width::B8;
    hardware.access(pericore_registers::Operation::Read { address, width }, Duration::ZERO).unwrap().unwrap();
    let error = hardware.finish_log().unwrap_err();
    assert!(error.to_string().contains("/dev/full") && error.to_string().contains("space"), "{error}");
}

/// A full disk, as the script meets it: /dev/full stands for the place of the files.
#[test]
fn a_preparation_that_fails_says_why_and_leaves_nothing() {
    if boot::switched_off() {
        return;
    }
    let error = Prepared::at("/dev/full/guest".into()).unwrap_err();
    assert!(matches!(error, GuestError::File { .. } | GuestError::Prepare { .. }), "{error}");
    assert!(error.to_string().contains("/dev/full"), "{error}");
}
