//! What a single boot adds to the prepared file system: the first process, the command, and programs of the host.

use std::path::PathBuf;

use super::cpio::Archive;
use super::error::GuestError;
use super::program;
use super::proxy::config::Window;

/// A boot's additions as an archive. `programs` are the host's executables to bring along, under their own names.
///
/// # Errors
/// [`GuestError::Program`] if a program or a library of it cannot be read.
pub fn archive(command: &[String], setup: &str, programs: &[PathBuf]) -> Result<Vec<u8>, GuestError> {
    let mut archive = Archive::default();
    for directory in ["/run", "/run/pericore", "/opt", program::FOLDER, "/usr", "/usr/bin"] {
        archive.directory(directory);
    }
    archive.file("/init", 0o755, include_bytes!("init.sh"));
    archive.file("/run/pericore/setup", 0o644, setup.as_bytes());
    archive.file("/run/pericore/command", 0o644, script(command).as_bytes());
    // LIKWID asks for this shell by name.
    archive.file("/usr/bin/bash", 0o755, b"#!/bin/sh\nexec /bin/sh \"$@\"\n");
    for program in programs {
        program::add(&mut archive, program)?;
    }
    Ok(archive.finish())
}

/// The set-up that makes the machine's devices known: modules in, proxy windows at their places.
pub fn setup(windows: &[Window], last_cpus: &[u32]) -> String {
    let mut lines = String::new();
    // Firmware chose other addresses for the proxy's windows; the machine says where they are.
    for (index, window) in windows.iter().enumerate() {
        lines += &format!("setpci -d 1b36:0fac {:x}.l={:x}\n", 0x10 + 4 * index, window.first);
    }
    if !windows.is_empty() {
        lines += "setpci -d 1b36:0fac 4.w=6\n";
    }
    for cpu in last_cpus {
        lines += &format!("echo 1 >/sys/devices/system/cpu/cpu{cpu}/online\n");
    }
    for module in ["msr", "cpuid", "intel-uncore"] {
        lines += &format!("insmod /lib/modules/{module}.ko\n");
    }
    lines
}

fn script(command: &[String]) -> String {
    let quoted = command.iter().map(|argument| format!("'{}'", argument.replace('\'', r"'\''")));
    format!("exec {}\n", quoted.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_reach_the_shell_whole() {
        let command = ["sh", "-c", "echo 'a b' $HOME"].map(str::to_owned);
        assert_eq!(script(&command), "exec 'sh' '-c' 'echo '\\''a b'\\'' $HOME'\n");
    }

    #[test]
    fn every_window_gets_its_address() {
        let text = setup(&[Window { first: 0xe000_0000, bytes: 1 << 23 }], &[8]);
        assert!(text.contains("setpci -d 1b36:0fac 10.l=e0000000\n"), "{text}");
        assert!(text.contains("echo 1 >/sys/devices/system/cpu/cpu8/online\n"), "{text}");
    }
}
