//! What the system's refusals mean, and what the user can do about each.

use std::io;

use pericore_registers::{AccessError, Address};

use crate::session::REVOKED;

/// For MSRs.
pub const REMEDY_MSR: &str = "run with the capability CAP_SYS_RAWIO and rights to /dev/cpu/*/msr (`sudo`, or `setcap cap_sys_rawio+ep` on the binary and a \
     group for the files); if that does not help, kernel lockdown, secure boot or the option msr.allow_writes=off forbids it";

/// For MSRs without a device file.
pub const REMEDY_MSR_MODULE: &str = "there is no /dev/cpu/*/msr: load the module with `modprobe msr`";

/// For PCI configuration space.
pub const REMEDY_PCI: &str = "run with the capability CAP_SYS_ADMIN, and as root to write (`sudo`); if that does not help, kernel lockdown or secure boot \
     forbids it";

/// For memory.
pub const REMEDY_MEM: &str = "run as root with the capability CAP_SYS_RAWIO; if that does not help, kernel lockdown, secure boot or CONFIG_IO_STRICT_DEVMEM \
     forbids it (boot with iomem=relaxed)";

/// For memory without a device file.
pub const REMEDY_NO_MEM: &str = "there is no /dev/mem: this kernel or container has none, so what is behind memory \
     cannot be reached; count it with --through kernel, or on a system with the file";

/// For files of a file system that may not be written.
const REMEDY_READ_ONLY: &str = "its file system is mounted read-only: mount it with `rw` (`mount -o remount,rw /sys`); \
     in a container, give it the host's /sys to write";

/// For what no catalogue lists: only a fault of this program asks for it.
pub(crate) const NOT_PERMITTED: &str = "the register process reaches registers of PMON units alone, and writes them as \
     sessions do; if no data of your own is wrong, report this as a fault of pericore";

/// All of these, by which they are known to another process.
pub(crate) const REMEDIES: [&str; 8] =
    [REMEDY_MSR, REMEDY_MSR_MODULE, REMEDY_PCI, REMEDY_MEM, REMEDY_NO_MEM, REMEDY_READ_ONLY, REVOKED, NOT_PERMITTED];

/// The meaning of a failed access; `remedy` is for refusals.
pub(super) fn meaning(address: Address, error: &io::Error, remedy: &'static str) -> AccessError {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => AccessError::Permission { address, remedy },
        Some(libc::EROFS) => AccessError::Permission { address, remedy: REMEDY_READ_ONLY },
        // The msr driver's word for #GP.
        Some(libc::EIO) if matches!(address, Address::Msr { .. }) => AccessError::GeneralProtection { address },
        // The CPU is offline, and so are all others of its package that were online.
        Some(libc::ENXIO) => AccessError::Unreachable { address },
        _ => AccessError::Io { address, message: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use pericore_registers::Bdf;

    /// msr(4) and the kernel's drivers: EIO is #GP for MSRs alone, ENXIO an offline CPU, EROFS a read-only mount; what
    /// a right or a setting solves has its remedy.
    #[test]
    fn each_refusal_of_the_system_has_its_meaning() {
        let msr = Address::Msr { cpu: 0, msr: 0xd10 };
        let pci = Address::Pci { bdf: Bdf::new(0xff, 16, 0), offset: 0xd8 };
        let of = |address, error| meaning(address, &io::Error::from_raw_os_error(error), REMEDY_PCI);
        for address in [msr, pci] {
            let denied = |remedy| AccessError::Permission { address, remedy };
            assert_eq!([of(address, libc::EACCES), of(address, libc::EPERM)], [denied(REMEDY_PCI), denied(REMEDY_PCI)]);
            assert_eq!(of(address, libc::EROFS), denied(REMEDY_READ_ONLY));
            assert_eq!(of(address, libc::ENXIO), AccessError::Unreachable { address });
            assert!(
                matches!(of(address, libc::ENOSPC), AccessError::Io { message, .. } if message.contains("No space"))
            );
        }
        assert_eq!(of(msr, libc::EIO), AccessError::GeneralProtection { address: msr });
        assert!(matches!(of(pci, libc::EIO), AccessError::Io { .. }));
    }
}
