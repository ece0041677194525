//! Giving up what a process may do and needs no more.
//!
//! | needed for | capability | asked for |
//! |---|---|---|
//! | `/dev/cpu/N/msr` | CAP_SYS_RAWIO | when it is opened (`msr_open`); reads and writes ask for nothing, but
//! lockdown |
//! | `/dev/mem` | CAP_SYS_RAWIO | when it is opened (`open_port`); pages can be mapped later |
//! | `/sys/bus/pci/devices/…/config` | CAP_SYS_ADMIN | of whoever opened it (`file_ns_capable`) |
//! | `/proc/bus/pci/…` | CAP_SYS_ADMIN | with every read beyond the header (`proc_bus_pci_read`) |
//! | removing files in a folder of somebody else's | CAP_DAC_OVERRIDE | when they are removed |
//! | ending a program that changed its user | CAP_KILL | when it is sent a signal |
//!
//! Capabilities belong to threads: each thread gives up its own, and those that it starts afterwards have no more.

use std::io;
use std::path::Path;
use std::thread;

use rustix::fs::{Access, access};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs};

/// What a thread will still do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Needs<'a> {
    /// It reads configuration space below `/proc`.
    pub reads_through_proc: bool,
    /// It sends signals to a program that may have changed its user.
    pub ends_a_program: bool,
    /// It makes or removes files in these folders.
    pub folders: &'a [&'a Path],
}

/// Gives up, in this thread and those that it starts, every capability but those that are needed, and the way to gain
/// any: a program that it executes from here on has no more rights than it, whatever the program's file says.
///
/// # Errors
/// The system's, and nothing is given up then.
pub fn keep_only(needs: Needs<'_>) -> io::Result<()> {
    let mut kept = CapabilitySet::empty();
    kept.set(CapabilitySet::SYS_ADMIN, needs.reads_through_proc);
    kept.set(CapabilitySet::KILL, needs.ends_a_program);
    kept.set(CapabilitySet::DAC_OVERRIDE, !are_open_to_all_rights_gone(needs.folders)?);
    set_no_new_privs(true)?;
    keep(kept)
}

/// Gives up, in this thread and those that it starts, what reaching registers and putting them back takes not.
///
/// # Errors
/// The system's, and nothing is given up then.
pub fn keep_for_registers() -> io::Result<()> {
    set_no_new_privs(true)?;
    keep(CapabilitySet::SYS_RAWIO | CapabilitySet::SYS_ADMIN | CapabilitySet::DAC_OVERRIDE)
}

/// True if the folders can be used without any capability. A thread of its own looks: what it gives up is gone.
fn are_open_to_all_rights_gone(folders: &[&Path]) -> io::Result<bool> {
    let look = || {
        keep(CapabilitySet::empty())?;
        Ok(folders.iter().all(|folder| access(*folder, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).is_ok()))
    };
    thread::scope(|scope| {
        let looking = thread::Builder::new().spawn_scoped(scope, look)?;
        looking.join().unwrap_or(Ok(false))
    })
}

fn keep(kept: CapabilitySet) -> io::Result<()> {
    let held = capabilities(None)?;
    let sets = CapabilitySets {
        effective: held.effective & kept,
        permitted: held.permitted & kept,
        inheritable: held.inheritable & kept,
    };
    Ok(set_capabilities(None, sets)?)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use rustix::thread::no_new_privs;

    use super::*;

    /// What this thread may do, from the kernel's own words, after it has given up the rest.
    fn left(needs: Needs<'_>) -> Vec<u64> {
        thread::scope(|scope| {
            let giving_up = scope.spawn(|| {
                keep_only(needs).unwrap();
                let status = fs::read_to_string("/proc/thread-self/status").unwrap();
                assert!(status.contains("\nNoNewPrivs:\t1\n"), "{status}");
                let sets = ["CapInh:", "CapPrm:", "CapEff:"].map(|set| {
                    let line = status.lines().find_map(|line| line.strip_prefix(set)).unwrap();
                    u64::from_str_radix(line.trim(), 16).unwrap()
                });
                sets.to_vec()
            });
            giving_up.join().unwrap()
        })
    }

    /// As capability.h numbers them: DAC_OVERRIDE is bit 1, KILL bit 5, SYS_ADMIN bit 21. Without rights to begin
    /// with none are left, whatever is needed.
    #[test]
    fn only_what_is_needed_is_left() {
        let (held, gained_before) = (capabilities(None).unwrap(), no_new_privs().unwrap());
        let all = |kept: u64| [held.inheritable, held.permitted, held.effective].map(|set| set.bits() & kept).to_vec();
        assert_eq!(left(Needs::default()), all(0));
        assert_eq!(left(Needs { ends_a_program: true, ..Needs::default() }), all(1 << 5));
        assert_eq!(left(Needs { reads_through_proc: true, ..Needs::default() }), all(1 << 21));
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path()];
        let needs = Needs { folders: &folders, ..Needs::default() };
        assert_eq!(left(needs), all(0));
        // Not even its owner may write there without the capability.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o500)).unwrap();
        assert_eq!(left(needs), all(1 << 1));
        assert_eq!(capabilities(None).unwrap(), held, "other threads keep theirs");
        assert_eq!(no_new_privs().unwrap(), gained_before, "and the way to others");
    }
}
