//! What a single boot adds to the prepared file system: the first process, the command, and programs of the host.

use super::cpio::Archive;
use super::error::GuestError;
use super::proxy::config::Window;
use super::{Boot, program};

/// A boot's additions as an archive. The host's executables come along under their own names.
///
/// # Errors
/// [`GuestError::Program`] if a program or a library of it cannot be read.
pub fn archive(boot: &Boot, setup: &str) -> Result<Vec<u8>, GuestError> {
    let mut archive = Archive::default();
    for directory in ["/run", "/run/pericore", "/opt", program::FOLDER, "/usr", "/usr/bin"] {
        archive.directory(directory);
    }
    archive.file("/init", 0o755, include_bytes!("init.sh"));
    archive.file("/run/pericore/setup", 0o644, setup.as_bytes());
    archive.file("/run/pericore/command", 0o644, script(boot).as_bytes());
    // LIKWID asks for this shell by name.
    archive.file("/usr/bin/bash", 0o755, b"#!/bin/sh\nexec /bin/sh \"$@\"\n");
    for program in &boot.programs {
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

/// What starts the command, in its environment.
fn script(boot: &Boot) -> String {
    let exports = boot.environment.iter().map(|(name, value)| format!("export {name}={}\n", quoted(value)));
    let words: Vec<String> = boot.command.iter().map(|word| quoted(word)).collect();
    format!("{}exec {}\n", exports.collect::<String>(), words.join(" "))
}

/// A word that the shell takes as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_and_variables_reach_the_command_whole() {
        let mut boot = Boot::new(["sh", "-c", "echo 'a b' $HOME"].map(str::to_owned).to_vec());
        assert_eq!(script(&boot), "exec 'sh' '-c' 'echo '\\''a b'\\'' $HOME'\n");
        boot.environment.push(("NAME".to_owned(), "it's $HOME".to_owned()));
        boot.command = vec!["env".to_owned()];
        assert_eq!(script(&boot), "export NAME='it'\\''s $HOME'\nexec 'env'\n");
    }

    /// A program comes with the host's libraries and their loader, which starts it; what needs none comes alone.
    #[test]
    fn programs_of_the_host_come_with_their_libraries() {
        let folder = tempfile::tempdir().unwrap();
        let alone = folder.path().join("alone");
        std::fs::write(&alone, "#!/bin/sh\n").unwrap();
        let mut boot = Boot::new(vec!["tool".to_owned()]);
        boot.programs = vec!["/usr/bin/env".into(), alone];
        let archive = archive(&boot, "the set-up").unwrap();
        let text = String::from_utf8_lossy(&archive);
        for part in ["run/pericore/setup\0", "the set-up", "exec 'tool'\n", "opt/host/env\0", "opt/host/libc.so.6\0"] {
            assert!(text.contains(part), "{part}");
        }
        let start = "--library-path /opt/host /opt/host/env \"$@\"\n";
        assert!(text.contains(&format!("#!/bin/sh\nexec /opt/host/ld-linux-x86-64.so.2 {start}")));
        assert!(text.contains("usr/bin/alone\0") && !text.contains("opt/host/alone"));
        boot.programs = vec!["/no/such/program".into()];
        let error = super::archive(&boot, "").unwrap_err();
        assert!(error.to_string().contains("/no/such/program"), "{error}");
    }

    #[test]
    fn every_window_gets_its_address() {
        let text = setup(&[Window { first: 0xe000_0000, bytes: 1 << 23 }], &[8]);
        assert!(text.contains("setpci -d 1b36:0fac 10.l=e0000000\n"), "{text}");
        assert!(text.contains("echo 1 >/sys/devices/system/cpu/cpu8/online\n"), "{text}");
    }
}
