//! Where the units lie on the mesh of the two dies.

mod numbering;

use pericore_facts::emerald_rapids::Tile;

/// The upper die, from the top: `P` an I/O stack, `U` a socket link, `M` a memory controller, `C` a core with its slice, `.` a core
/// that is not sold (guide, Figure 1-1: an I/O row and five rows of seven, memory at both ends of the third, and seven blocks of
/// fabric below; 33 cores a die, of which 32 are in use. Which one is not, and the order within the I/O row, are assumptions).
const DIE: [&str; 6] = ["PPPUUPP", "CCCCCCC", "CCCCCCC", "MCCCCCM", "CCCCCCC", "CCC.CCC"];
/// Rows of both dies.
pub const ROWS: u8 = 12;
/// Columns of the mesh.
pub const COLUMNS: u8 = 7;
/// First row of the lower die.
pub const BOUNDARY: u8 = ROWS / 2;

/// The tiles of a socket's mesh, row by row of the upper die, then of the lower one, which is its mirror image. Units are numbered in
/// this order.
pub fn tiles() -> Vec<Tile> {
    let mut tiles = Vec::new();
    let mut counts = [0; 4];
    let lower = DIE.iter().rev();
    for (row, line) in DIE.iter().chain(lower).enumerate() {
        for (column, letter) in line.chars().enumerate() {
            let kind = "PUMC".find(letter);
            let unit = kind.map(|kind| {
                counts[kind] += 1;
                (["m2pcie", "m3upi", "m2m", "cha"][kind], counts[kind] - 1)
            });
            tiles.push(Tile { row: row as u8, column: column as u8, unit });
        }
    }
    tiles
}
/// Tiles of each kind of unit, by instance.
#[derive(Debug, Clone)]
pub struct Places {
    pub cha: Vec<u8>,
    pub m2m: Vec<u8>,
    pub m2pcie: Vec<u8>,
    pub m3upi: Vec<u8>,
    /// Where the system agent joins the mesh: the place of the core that is not sold (assumption).
    pub ubox: u8,
}

impl Places {
    pub fn new(tiles: &[Tile]) -> Self {
        let of = |name: &str| {
            let mut found: Vec<(u16, u8)> = Vec::new();
            for (index, tile) in tiles.iter().enumerate() {
                if let Some((unit, instance)) = tile.unit.filter(|(unit, _)| *unit == name) {
                    debug_assert_eq!(unit, name);
                    found.push((instance, index as u8));
                }
            }
            found.sort_unstable();
            found.into_iter().map(|(_, tile)| tile).collect()
        };
        let ubox = tiles.iter().position(|tile| tile.unit.is_none()).unwrap_or_default() as u8;
        Self { cha: of("cha"), m2m: of("m2m"), m2pcie: of("m2pcie"), m3upi: of("m3upi"), ubox }
    }
}

#[cfg(test)]
mod tests {
    use super::{Places, tiles};

    #[test]
    fn every_unit_has_its_tile() {
        let tiles = tiles();
        let places = Places::new(&tiles);
        let counts = [places.cha.len(), places.m2m.len(), places.m2pcie.len(), places.m3upi.len()];
        assert_eq!((tiles.len(), counts), (84, [64, 4, 10, 4]));
        assert!(
            tiles.iter().enumerate().all(|(n, a)| tiles[..n].iter().all(|b| (a.row, a.column) != (b.row, b.column)))
        );
    }
}
