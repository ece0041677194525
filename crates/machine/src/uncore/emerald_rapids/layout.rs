//! Where the units lie on the mesh of a socket's dies.

mod floor;
mod numbering;

pub use floor::{Floor, FloorError, LINKS, SPREAD};
use pericore_facts::emerald_rapids::Tile;

use super::Parameters;

/// Tiles of each kind of unit, by instance.
#[derive(Debug, Clone)]
pub struct Places {
    pub cha: Vec<u8>,
    pub m2m: Vec<u8>,
    pub m2pcie: Vec<u8>,
    pub m3upi: Vec<u8>,
    /// Where the system agent joins the mesh: the first place without a unit, such as that of a core that is not sold (assumption).
    pub ubox: u8,
    /// Tiles on other dies than the first, one bit each.
    other_dies: u128,
    /// By core of a socket: the slice beside it.
    slots: Vec<u8>,
}

impl Places {
    /// Those of a part.
    pub fn new(parameters: &Parameters) -> Self {
        let tiles: &[Tile] = &parameters.floor.tiles;
        let of = |name: &str| {
            let mut found: Vec<(u16, u8)> = Vec::new();
            for (index, tile) in tiles.iter().enumerate() {
                if let Some((_, instance)) = tile.unit.filter(|(unit, _)| *unit == name) {
                    found.push((instance, index as u8));
                }
            }
            found.sort_unstable();
            found.into_iter().map(|(_, tile)| tile).collect()
        };
        let ubox = tiles.iter().position(|tile| tile.unit.is_none()).unwrap_or_default() as u8;
        let slots = (0..parameters.cores).map(|core| parameters.slot(core)).collect();
        let dies = parameters.floor.dies;
        let is_of_other = |tile: &Tile| tile.row >= dies.rows || tile.column >= dies.columns;
        let other_dies = (0..).zip(tiles).map(|(number, tile)| u128::from(is_of_other(tile)) << number).sum();
        Self { cha: of("cha"), m2m: of("m2m"), m2pcie: of("m2pcie"), m3upi: of("m3upi"), ubox, other_dies, slots }
    }

    /// True if a tile is on another die than the first.
    pub const fn is_of_other_die(&self, tile: u8) -> bool {
        self.other_dies >> tile & 1 == 1
    }

    /// The place of a core of a socket among the places for cores: those of a part with fewer lie among them evenly.
    #[inline]
    pub fn slot(&self, core: u8) -> u8 {
        self.slots[usize::from(core)]
    }

    /// I/O stacks of a socket.
    #[inline]
    pub const fn stacks(&self) -> u16 {
        self.m2pcie.len() as u16
    }
}
