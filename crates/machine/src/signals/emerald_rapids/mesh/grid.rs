//! Where stops lie, which way messages go past them, and who sees them.

use pericore_facts::emerald_rapids::{Message, Tile};

/// Where a stop lies: its row, and its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopPlace {
    pub row: u8,
    pub column: u8,
}

/// A message's way: along its source's column, then along its destination's row.
#[derive(Debug, Clone, Copy)]
pub struct MessageWay {
    pub source: StopPlace,
    pub goal: StopPlace,
    pub down: bool,
    /// It goes over the bridge between the dies.
    pub crosses: bool,
    pub along_row: bool,
}

/// Stops of a mesh and the blocks of fabric between its dies, one bit each: tiles by number, then the upper die's
/// blocks by column, then the lower die's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen(u128);

impl Seen {
    pub const NOTHING: Self = Self(0);
    /// Everything.
    pub const ALL: Self = Self(u128::MAX);

    /// One more bit.
    pub fn add(&mut self, bit: usize) {
        self.0 |= 1 << bit;
    }

    /// True if there is anything at all.
    #[inline]
    pub fn is_anything(self) -> bool {
        self != Self::NOTHING
    }

    /// True if both have something.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// The tiles of a mesh, row by row.
#[derive(Debug, Clone)]
pub struct MeshGrid {
    points: Vec<StopPlace>,
    pub columns: u8,
    /// First row of the lower die.
    boundary: u8,
}

impl MeshGrid {
    /// That of a socket's tiles.
    ///
    /// # Panics
    /// If it is larger than any that is known.
    pub fn new(tiles: &[Tile]) -> Self {
        let columns = tiles.iter().map(|tile| tile.column + 1).max().unwrap_or(0);
        assert!(tiles.len() + 2 * usize::from(columns) <= u128::BITS as usize, "a mesh of {} tiles", tiles.len());
        Self {
            points: tiles.iter().map(|tile| StopPlace { row: tile.row, column: tile.column }).collect(),
            columns,
            boundary: tiles.iter().map(|tile| tile.row).max().unwrap_or(0).div_ceil(2),
        }
    }

    /// The tile of a row and column.
    pub fn at(&self, row: u8, column: u8) -> usize {
        usize::from(row) * usize::from(self.columns) + usize::from(column)
    }

    /// Blocks of fabric.
    pub fn blocks(&self) -> u16 {
        2 * u16::from(self.columns)
    }

    /// The bit of a block.
    pub fn block(&self, number: u16) -> usize {
        self.points.len() + usize::from(number)
    }

    /// The way of a message.
    pub fn way(&self, message: &Message) -> MessageWay {
        let (source, goal) = (self.points[usize::from(message.from)], self.points[usize::from(message.to)]);
        MessageWay {
            source,
            goal,
            down: goal.row > source.row,
            crosses: (source.row >= self.boundary) != (goal.row >= self.boundary),
            along_row: goal.column != source.column,
        }
    }

    /// What sees a message on its way.
    pub fn seen_by(&self, way: &MessageWay) -> Seen {
        let MessageWay { source, goal, crosses, .. } = *way;
        let (top, bottom) = (source.row.min(goal.row), source.row.max(goal.row));
        let (left, right) = (source.column.min(goal.column), source.column.max(goal.column));
        let mut seen = Seen::NOTHING;
        (top..=bottom).for_each(|row| seen.add(self.at(row, source.column)));
        (left..=right).for_each(|column| seen.add(self.at(goal.row, column)));
        if crosses {
            seen.add(self.block(source.column.into()));
            seen.add(self.block((source.column + self.columns).into()));
        }
        seen
    }
}
