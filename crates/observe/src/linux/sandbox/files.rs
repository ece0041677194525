//! Files and TCP ports, by Landlock: what no rule allows is refused.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};

use super::part::ThreadPart;

/// The newest rights that are asked for; older kernels have some of them.
const RIGHTS: ABI = ABI::V6;

/// Where registers are reached, to be read and written: folders of which each entry has one such file, and files.
const REGISTERS_IN: [(&str, &str); 2] = [("/dev/cpu", "msr"), ("/sys/bus/pci/devices", "config")];
const REGISTERS: [&str; 2] = ["/dev/mem", "/proc/bus/pci"];

/// What only a list tells: which CPUs and functions there are.
const LISTS: [&str; 2] = ["/dev/cpu", "/sys/bus/pci/devices"];

/// What a process is told of itself and others. Rights to the memory of others are another matter.
const PROCESSES: &str = "/proc";

/// What is read of the machine.
const MACHINE: [&str; 2] = ["/sys/devices/system", "/sys/bus/event_source"];

/// Beside it what the C library reads: time zones, names of hosts, modules that resolve these; and certificates.
const LIBRARY: [&str; 13] = [
    "/etc/localtime",
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/ssl",
    "/usr/share/zoneinfo",
    "/usr/lib",
    "/lib",
    "/lib64",
    "/run/systemd/resolve",
];

/// What everybody may open.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/tty", "/dev/urandom"];

/// Confines this thread; false if the kernel cannot.
pub(super) fn confine(part: ThreadPart, folders: &[PathBuf]) -> io::Result<bool> {
    apply(part, folders).map_err(io::Error::other)
}

fn apply(part: ThreadPart, folders: &[PathBuf]) -> Result<bool, RulesetError> {
    let all = AccessFs::from_all(RIGHTS);
    let read = AccessFs::from_read(RIGHTS) & !AccessFs::Execute;
    // Registers are files of devices: their ioctl would not be an access to a register.
    let in_place = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::WriteFile;
    let own = all & !AccessFs::Execute & !AccessFs::IoctlDev & !AccessFs::MakeChar & !AccessFs::MakeBlock;
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(all)?;
    let ruleset = match part {
        // A program that was started before is sent signals, and names are resolved.
        ThreadPart::Measuring => ruleset,
        ThreadPart::Registers | ThreadPart::Serving => {
            ruleset.handle_access(AccessNet::from_all(RIGHTS))?.scope(Scope::AbstractUnixSocket | Scope::Signal)?
        }
    };
    let ruleset = ruleset.create()?;
    // Whose a folder is tells the one above it, which is opened to be looked at.
    let above: Vec<&Path> = folders.iter().filter_map(|folder| folder.parent()).collect();
    let folders = folders.iter().map(PathBuf::as_path);
    let paths = |paths: &'static [&'static str]| paths.iter().map(Path::new);
    let ruleset = match part {
        ThreadPart::Serving => ruleset,
        ThreadPart::Registers => ruleset
            .add_rules(path_beneath_rules(paths(&REGISTERS), in_place))?
            .add_rules(path_beneath_rules(registers(), in_place))?
            .add_rules(path_beneath_rules(paths(&LISTS), AccessFs::ReadDir))?
            .add_rules(path_beneath_rules(paths(&[PROCESSES]).chain(paths(&MACHINE)), read))?
            .add_rules(path_beneath_rules(above, AccessFs::ReadDir))?
            .add_rules(path_beneath_rules(folders, own))?,
        ThreadPart::Measuring => ruleset
            .add_rules(path_beneath_rules(paths(&DEVICES), in_place))?
            .add_rules(path_beneath_rules(paths(&[PROCESSES]).chain(paths(&MACHINE)).chain(paths(&LIBRARY)), read))?
            .add_rules(path_beneath_rules(above, AccessFs::ReadDir))?
            .add_rules(path_beneath_rules(folders, own))?,
    };
    Ok(ruleset.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
}

/// The files of registers that there are. What lies beside them (microcode, a device's reset) is none.
fn registers() -> impl Iterator<Item = PathBuf> {
    let files = |(folder, file): (&'static str, &'static str)| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(move |entry| entry.path().join(file))
    };
    REGISTERS_IN.into_iter().flat_map(files)
}
