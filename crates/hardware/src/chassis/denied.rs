//! What the system of a machine denies, as a kernel under lockdown does, or one without a device file.

use pericore_registers::{AccessError, Address, Outcome};

/// Bytes of a configuration header that everybody may read.
const HEADER: u16 = 64;

/// Accesses that fail with EPERM.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Denied {
    /// Everything in memory.
    pub mem: bool,
    /// Writes to PCI configuration space, and reads beyond the first 64 bytes.
    pub pci: bool,
    /// Writes to MSRs.
    pub msr_write: bool,
}

impl Denied {
    /// The words for what is denied.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let all = [("mem", self.mem), ("pci", self.pci), ("msr-write", self.msr_write)];
        all.into_iter().filter(|(_, denied)| *denied).map(|(word, _)| word)
    }

    /// Adds what a word denies; `None` if it is no such word.
    pub fn add(&mut self, word: &str) -> Option<()> {
        match word {
            "mem" => self.mem = true,
            "pci" => self.pci = true,
            "msr-write" => self.msr_write = true,
            _ => return None,
        }
        Some(())
    }

    /// True if nothing is denied.
    pub const fn is_nothing(self) -> bool {
        !(self.mem || self.pci || self.msr_write)
    }

    /// Refuses what is denied.
    pub(super) fn check(self, address: Address, is_write: bool) -> Outcome<()> {
        let remedy = match address {
            Address::Mmio { .. } if self.mem => "this machine denies accesses to memory (denied=mem)",
            Address::Pci { offset, .. } if self.pci && (is_write || offset >= HEADER) => {
                "this machine denies accesses to configuration space (denied=pci)"
            }
            Address::Msr { .. } if self.msr_write && is_write => {
                "this machine denies writes to MSRs (denied=msr-write)"
            }
            _ => return Ok(()),
        };
        Err(AccessError::Permission { address, remedy })
    }
}
