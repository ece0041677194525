//! What a machine is made of, as far as its account needs to know: clocks, units, and where they lie.

use pericore_engine::Period;

use super::{Dies, LinkCodes, Tile};

/// Periods of the clocks, in ticks of one grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// Ticks in a second.
    pub ticks_per_second: u64,
    /// Mesh, LLC slices and what sits at the mesh.
    pub uclk: Period,
    /// DRAM: half the transfer rate.
    pub dclk: Period,
    /// I/O stacks.
    pub ioclk: Period,
    /// UPI link layer.
    pub upiclk: Period,
    /// Power control unit.
    pub pclk: Period,
    /// CXL transaction and link layer.
    pub cxlclk: Period,
}

impl Clocks {
    /// The clock of a domain by its name in the catalogue.
    pub fn of(&self, name: &str) -> Period {
        match name {
            "dclk" => self.dclk,
            "ioclk" => self.ioclk,
            "upiclk" => self.upiclk,
            "pclk" => self.pclk,
            "cxlclk" => self.cxlclk,
            _ => self.uclk,
        }
    }

    /// The clock that a unit counts in (guide, chapter 2, by unit).
    pub fn of_unit(&self, unit: &str) -> Period {
        match unit {
            "imc" => self.dclk,
            "iio" | "irp" => self.ioclk,
            "upi" => self.upiclk,
            "pcu" => self.pclk,
            "cxlcm" => self.cxlclk,
            _ => self.uclk,
        }
    }
}

/// How many of everything there are in a socket, and how they lie.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Sockets.
    pub sockets: u16,
    /// Units and their instances in a socket.
    pub units: Vec<(&'static str, u16)>,
    /// Tiles of a socket's mesh.
    pub tiles: Vec<Tile>,
    /// How they are cut into dies.
    pub dies: Dies,
    /// Codes of the messages between sockets.
    pub link_codes: LinkCodes,
    /// Entries of a read and of a write pending queue.
    pub pending: [u64; 2],
}

impl Shape {
    /// Instances of a unit in a socket.
    pub fn instances(&self, unit: &str) -> u16 {
        self.units.iter().find(|(name, _)| *name == unit).map_or(0, |&(_, count)| count)
    }
}
