//! What forbids writes to registers. It is looked at before the first one: a write that fails in the middle of a
//! set-up tells less.

use std::fs;
use std::path::{Path, PathBuf};

use pericore_registers::{Address, Operation};
use rustix::fs::{StatVfsMountFlags, statfs, statvfs};

use super::{Host, Root};

/// Why nothing can be written, so that nothing was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    /// The kernel is locked down.
    #[error(
        "kernel lockdown ({mode}) forbids writes to MSRs, PCI configuration space and /dev/mem, so no counter can be \
         set up; nothing was written. The kernel's own driver counts under lockdown: `modprobe intel-uncore`, and \
         count with --through kernel; or boot this machine without `lockdown=`, if its owner allows that"
    )]
    Lockdown {
        /// Its mode: `integrity` or `confidentiality`.
        mode: String,
    },
    /// The msr driver refuses writes.
    #[error(
        "the msr driver refuses every write (msr.allow_writes=off), so no counter behind MSRs can be set up; nothing \
         was written. Write `on` to /sys/module/msr/parameters/allow_writes, or boot with msr.allow_writes=on"
    )]
    MsrWrites,
    /// A file system is mounted without the right to write.
    #[error(
        "{path} is on a file system that is mounted read-only, so no counter in PCI configuration space can be set up; \
         nothing was written. Mount it with `rw` (`mount -o remount,rw /sys`); in a container, give it the host's /sys \
         to write"
    )]
    ReadOnly {
        /// The file.
        path: String,
    },
}

impl Host {
    /// True if a program stands in for the machine's registers, so that the kernel's own drivers are of another
    /// machine.
    pub fn is_stood_in_for(&self) -> bool {
        let root = self.root();
        let msr = self.cpus.first().map(|cpu| root.join(format!("dev/cpu/{}/msr", cpu.number)));
        msr.into_iter().chain([root.join("dev/mem")]).any(|path| !is_kernels(&path))
    }

    /// Looks whether the kernel lets these accesses write. What only the attempt tells is not found out: rights to
    /// files, and capabilities.
    ///
    /// # Errors
    /// [`Forbidden`], with what the user can do about it.
    pub fn may_write(&self, operations: impl IntoIterator<Item = Operation>) -> Result<(), Forbidden> {
        let root = self.root();
        let (mut msr, mut any) = (false, false);
        let mut checked: Option<PathBuf> = None;
        for operation in operations {
            let Operation::Write { address, .. } = operation else { continue };
            let path = match address {
                Address::Msr { cpu, .. } => root.join(format!("dev/cpu/{cpu}/msr")),
                Address::Pci { bdf, .. } => root.join(format!("sys/bus/pci/devices/{bdf}/config")),
                Address::Mmio { .. } => root.join("dev/mem"),
            };
            if checked.as_ref() == Some(&path) {
                continue;
            }
            if is_kernels(&path) {
                any = true;
                msr |= matches!(address, Address::Msr { .. });
                if matches!(address, Address::Pci { .. }) && is_read_only(&path) {
                    return Err(Forbidden::ReadOnly { path: path.display().to_string() });
                }
            }
            checked = Some(path);
        }
        match lockdown(root) {
            Some(mode) if any && mode != "none" => return Err(Forbidden::Lockdown { mode }),
            _ => {}
        }
        let rule = fs::read_to_string(root.join("sys/module/msr/parameters/allow_writes"));
        if msr && rule.is_ok_and(|rule| rule.trim() == "off") {
            return Err(Forbidden::MsrWrites);
        }
        Ok(())
    }
}

/// The mode that stands in brackets.
fn lockdown(root: &Root) -> Option<String> {
    let modes = fs::read_to_string(root.join("sys/kernel/security/lockdown")).ok()?;
    let (_, mode) = modes.split_once('[')?;
    Some(mode.split_once(']')?.0.to_owned())
}

/// True if a file is the kernel's own, and not one of a program that stands in for the machine.
fn is_kernels(path: &Path) -> bool {
    const FUSE: i64 = 0x6573_5546;
    !statfs(path).is_ok_and(|system| system.f_type == FUSE)
}

fn is_read_only(path: &Path) -> bool {
    statvfs(path).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::RDONLY))
}
