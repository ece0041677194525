//! Reading rows that live as long as the process: texts stay where they are embedded, lists are allocated once.

use pericore_registers::{AddressSpace, BitRange};
use serde::{Deserialize, Deserializer, Serialize};

use crate::Unit;

/// A list of rows.
pub fn list<'de, D, T>(deserializer: D) -> Result<&'static [T], D::Error>
where
    'de: 'static,
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Vec::deserialize(deserializer).map(|rows| &*rows.leak())
}

/// The units of a family, each by reference.
pub fn units<'de, D>(deserializer: D) -> Result<&'static [&'static Unit], D::Error>
where
    'de: 'static,
    D: Deserializer<'de>,
{
    let units: &'static [Unit] = list(deserializer)?;
    Ok(units.iter().collect::<Vec<_>>().leak())
}

/// How a bit range is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "BitRange")]
pub struct Bits {
    lsb: u8,
    width: u8,
}

/// How an address space is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "AddressSpace")]
pub enum Space {
    /// MSRs.
    Msr,
    /// PCI configuration space.
    PciConfig,
    /// Memory.
    Mmio,
}
