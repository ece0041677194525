//! Reading rows that are packed in the binary: texts stay where they are embedded, lists have an arena of their own.

use std::sync::LazyLock;

use pericore_registers::{AddressSpace, BitRange};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Arena, Unit};

/// The lists of what the binary has. Each family is unpacked once, so it does not grow for ever.
static LISTS: LazyLock<Arena> = LazyLock::new(Arena::default);

/// A list of rows.
pub fn list<'de, 'c, D, T>(deserializer: D) -> Result<&'c [T], D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + 'c,
{
    Vec::deserialize(deserializer).map(|rows: Vec<T>| if rows.is_empty() { &[] } else { LISTS.list(rows) })
}

/// The units of a family, each by reference.
pub fn units<'de, 'c, D>(deserializer: D) -> Result<&'c [&'c Unit<'c>], D::Error>
where
    'de: 'c,
    D: Deserializer<'de>,
{
    let units: &'c [Unit<'c>] = list(deserializer)?;
    Ok(LISTS.list(units))
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
