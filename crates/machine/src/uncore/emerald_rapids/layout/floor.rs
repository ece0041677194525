//! A drawing of the mesh: a symbol for each stop, dies apart.

use std::str::FromStr;

use pericore_facts::emerald_rapids::{Dies, MOST_COLUMNS, MOST_ROWS, MOST_TILES, Tile};

use super::super::address::AGENTS;

/// Links of a socket to others.
pub const LINKS: u8 = 4;
/// Stops of a die in a line: what a slot's links have room for.
const MOST_STOPS: usize = 7;
/// Dies in a line: a message crosses one bridge along its column, and one along its row.
const MOST_DIES: usize = 2;
/// Places for cores and slices by which cores with adjacent numbers lie apart: a prime, so that no other number of
/// places has a divisor in common with it.
pub const SPREAD: u8 = 37;

/// The stops of a socket's mesh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Floor {
    /// Row by row.
    pub tiles: Vec<Tile>,
    /// How they are cut into dies.
    pub dies: Dies,
    /// Places for cores with their slices.
    pub agents: u8,
}

/// What is wrong with a drawing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FloorError {
    /// A symbol that stands for nothing.
    #[error("mesh: line {0} has {1:?}: draw stops as P U M C .")]
    Symbol(usize, char),
    /// Dies that are not all alike.
    #[error("mesh: its dies differ in size: give all as many rows and columns")]
    Uneven,
    /// More than the model's tables have room for.
    #[error("mesh: {0} must be 1 to {1}")]
    Large(&'static str, usize),
    /// What every part has the same number of.
    #[error("mesh: {found} of {unit}: there are {built}")]
    Units {
        /// Symbol of the units.
        unit: char,
        /// How many are drawn.
        found: u16,
        /// How many the model has.
        built: u16,
    },
}

/// A symbol, and the unit that it stands for.
const SYMBOLS: [(char, &str); 4] = [('P', "m2pcie"), ('U', "m3upi"), ('M', "m2m"), ('C', "cha")];

impl FromStr for Floor {
    type Err = FloorError;

    /// Reads rows of symbols: `|` stands between dies side by side, a line of `-` and `+` between those above and
    /// below. Units are numbered die by die, and row by row of each.
    fn from_str(text: &str) -> Result<Self, FloorError> {
        let (mut bands, mut band) = (Vec::new(), Vec::new());
        for (number, line) in text.lines().enumerate() {
            if line.starts_with('-') {
                bands.push(std::mem::take(&mut band));
                continue;
            }
            if let Some(symbol) = line.chars().find(|&symbol| symbol != '|' && !is_stop(symbol)) {
                return Err(FloorError::Symbol(number + 1, symbol));
            }
            band.push(line.split('|').collect::<Vec<&str>>());
        }
        bands.push(band);
        let first = bands[0].first();
        let columns = first.and_then(|row| row.first()).map_or(0, |die| die.len());
        let dies = dies([bands[0].len(), columns, bands.len(), first.map_or(0, Vec::len)])?;
        let is_even = |row: &Vec<&str>| {
            row.len() == usize::from(dies.across) && row.iter().all(|die| die.len() == usize::from(dies.columns))
        };
        if !bands.iter().all(|band| band.len() == usize::from(dies.rows) && band.iter().all(is_even)) {
            return Err(FloorError::Uneven);
        }
        let width = usize::from(dies.columns * dies.across);
        let place = |index: usize| ((index / width) as u8, (index % width) as u8);
        let empty = |index| {
            let (row, column) = place(index);
            Tile { row, column, unit: None }
        };
        let mut tiles: Vec<Tile> = (0..width * usize::from(dies.rows * dies.down)).map(empty).collect();
        let mut counts = [0_u16; SYMBOLS.len()];
        for (above, band) in bands.iter().enumerate() {
            for die in 0..usize::from(dies.across) {
                for (within, row) in band.iter().enumerate() {
                    let row_number = above * usize::from(dies.rows) + within;
                    for (column, symbol) in row[die].chars().enumerate() {
                        let Some(kind) = SYMBOLS.iter().position(|&(known, _)| known == symbol) else { continue };
                        let index = row_number * width + die * usize::from(dies.columns) + column;
                        tiles[index].unit = Some((SYMBOLS[kind].1, counts[kind]));
                        counts[kind] += 1;
                    }
                }
            }
        }
        // Stacks are free to choose, but every device has one.
        for (kind, built) in [(1, u16::from(LINKS)), (2, MEMORY_UNITS)] {
            if counts[kind] != built {
                return Err(FloorError::Units { unit: SYMBOLS[kind].0, found: counts[kind], built });
            }
        }
        check_count("agents", counts[3].into(), AGENTS as usize)?;
        check_count("I/O stacks", counts[0].into(), MOST_STACKS)?;
        if counts[3] == u16::from(SPREAD) {
            return Err(FloorError::Large("agents", usize::from(SPREAD) - 1));
        }
        Ok(Self { tiles, dies, agents: counts[3] as u8 })
    }
}

/// Controllers of memory channels: two channels each.
const MEMORY_UNITS: u16 = 4;
/// I/O stacks that the mesh may have.
const MOST_STACKS: usize = 16;

fn is_stop(symbol: char) -> bool {
    symbol == '.' || SYMBOLS.iter().any(|&(known, _)| known == symbol)
}

/// Dies of so many rows and columns, so many above each other and side by side, if there is room for them.
fn dies([rows, columns, down, across]: [usize; 4]) -> Result<Dies, FloorError> {
    for (what, found, most) in [
        ("a die's rows", rows, MOST_STOPS),
        ("a die's columns", columns, MOST_STOPS),
        ("dies in a column", down, MOST_DIES),
        ("dies in a row", across, MOST_DIES),
        ("rows", rows.saturating_mul(down), MOST_ROWS),
        ("columns", columns.saturating_mul(across), MOST_COLUMNS),
        ("stops", rows.saturating_mul(columns).saturating_mul(down).saturating_mul(across), MOST_TILES),
    ] {
        check_count(what, found, most)?;
    }
    let [rows, columns, down, across] = [rows, columns, down, across].map(|number| number as u8);
    Ok(Dies { rows, columns, down, across })
}

const fn check_count(what: &'static str, found: usize, most: usize) -> Result<(), FloorError> {
    if found == 0 || found > most { Err(FloorError::Large(what, most)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::{Floor, FloorError};

    fn units(floor: &Floor, name: &str) -> Vec<(u16, (u8, u8))> {
        let here = floor.tiles.iter().filter_map(|tile| {
            let (unit, instance) = tile.unit?;
            (unit == name).then_some((instance, (tile.row, tile.column)))
        });
        let mut found: Vec<_> = here.collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn units_are_numbered_die_by_die() {
        let floor: Floor = "PU|UP\nMC|CM\n--+--\nMC|CM\nPU|UP".parse().unwrap();
        assert_eq!((floor.dies.rows, floor.dies.columns, floor.dies.down, floor.dies.across), (2, 2, 2, 2));
        assert_eq!((floor.tiles.len(), floor.agents), (16, 4));
        assert_eq!(units(&floor, "cha"), [(0, (1, 1)), (1, (1, 2)), (2, (2, 1)), (3, (2, 2))]);
        assert_eq!(units(&floor, "m2pcie"), [(0, (0, 0)), (1, (0, 3)), (2, (3, 0)), (3, (3, 3))]);
        let two: Floor = "UU\nPC\nMM\n--\nMM\nCC\nUU".parse().unwrap();
        assert_eq!(units(&two, "cha"), [(0, (1, 1)), (1, (4, 0)), (2, (4, 1))]);
    }

    #[test]
    fn a_drawing_that_cannot_be_is_refused() {
        let wrong = |text: &str| text.parse::<Floor>().unwrap_err();
        assert_eq!(wrong("PU|UP\nMC|CMC"), FloorError::Uneven);
        assert_eq!(wrong("PU\nMC\n--\nMC"), FloorError::Uneven);
        assert_eq!(wrong("PUx"), FloorError::Symbol(1, 'x'));
        assert_eq!(wrong("CCCCCCCC"), FloorError::Large("a die's columns", 7));
        assert_eq!(wrong(""), FloorError::Large("a die's rows", 7));
        assert_eq!(wrong("C|C|C"), FloorError::Large("dies in a row", 2));
        assert_eq!(wrong("PUUUC"), FloorError::Units { unit: 'U', found: 3, built: 4 });
    }
}
