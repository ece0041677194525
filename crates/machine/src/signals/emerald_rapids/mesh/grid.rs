//! Where stops lie, which way messages go past them, and who sees them.

use pericore_facts::emerald_rapids::{Dies, Message, Tile};

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
    /// It goes over a bridge to a die above or below.
    pub crosses: bool,
    /// It goes over a bridge to a die on the left or right.
    pub crosses_aside: bool,
    pub along_row: bool,
}

/// Stops of a mesh, and the blocks of fabric between its dies, by number, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    stops: u128,
    blocks: u64,
}

impl Seen {
    pub const NOTHING: Self = Self { stops: 0, blocks: 0 };
    /// Everything.
    pub const ALL: Self = Self { stops: u128::MAX, blocks: u64::MAX };

    /// One more stop.
    pub fn add(&mut self, stop: usize) {
        self.stops |= 1 << stop;
    }

    /// One more block.
    pub fn add_block(&mut self, block: u16) {
        self.blocks |= 1 << block;
    }

    /// True if there is anything at all.
    #[inline]
    pub fn is_anything(self) -> bool {
        self != Self::NOTHING
    }

    /// True if both have something.
    pub const fn meets(self, other: Self) -> bool {
        self.stops & other.stops != 0 || self.blocks & other.blocks != 0
    }
}

/// The tiles of a mesh, row by row.
#[derive(Debug, Clone)]
pub struct MeshGrid {
    points: Vec<StopPlace>,
    columns: u8,
    dies: Dies,
}

impl MeshGrid {
    /// That of a socket's tiles.
    ///
    /// # Panics
    /// If it is larger than any that is known.
    pub fn new(tiles: &[Tile], dies: Dies) -> Self {
        let grid = Self {
            points: tiles.iter().map(|tile| StopPlace { row: tile.row, column: tile.column }).collect(),
            columns: dies.columns * dies.across,
            dies,
        };
        assert!(tiles.len() <= 128 && grid.blocks() <= 64, "a mesh of {} tiles", tiles.len());
        grid
    }

    /// The tile of a row and column.
    pub fn at(&self, row: u8, column: u8) -> usize {
        usize::from(row) * usize::from(self.columns) + usize::from(column)
    }

    /// Blocks of fabric of a die: one for each column that goes on above or below, and one for each row that goes on
    /// aside.
    fn blocks_of_die(&self) -> [u16; 2] {
        let Dies { rows, columns, down, across } = self.dies;
        [if down > 1 { columns.into() } else { 0 }, if across > 1 { rows.into() } else { 0 }]
    }

    /// Blocks of fabric.
    pub fn blocks(&self) -> u16 {
        u16::from(self.dies.down * self.dies.across) * self.blocks_of_die().iter().sum::<u16>()
    }

    /// The number of the first block of a stop's die.
    fn first_block(&self, row: u8, column: u8) -> u16 {
        let die = row / self.dies.rows * self.dies.across + column / self.dies.columns;
        u16::from(die) * self.blocks_of_die().iter().sum::<u16>()
    }

    /// The blocks before and behind the bridge that a message crosses along its column.
    pub fn column_blocks(&self, way: &MessageWay) -> [u16; 2] {
        let column = way.source.column;
        [way.source.row, way.goal.row].map(|row| self.first_block(row, column) + u16::from(column % self.dies.columns))
    }

    /// The blocks before and behind the bridge that it crosses along its row.
    pub fn row_blocks(&self, way: &MessageWay) -> [u16; 2] {
        let row = way.goal.row;
        let [columns, _] = self.blocks_of_die();
        [way.source.column, way.goal.column]
            .map(|column| self.first_block(row, column) + columns + u16::from(row % self.dies.rows))
    }

    /// The way of a message.
    pub fn way(&self, message: &Message) -> MessageWay {
        let (source, goal) = (self.points[usize::from(message.from)], self.points[usize::from(message.to)]);
        MessageWay {
            source,
            goal,
            down: goal.row > source.row,
            crosses: source.row / self.dies.rows != goal.row / self.dies.rows,
            crosses_aside: source.column / self.dies.columns != goal.column / self.dies.columns,
            along_row: goal.column != source.column,
        }
    }

    /// What sees a message on its way.
    pub fn seen_by(&self, way: &MessageWay) -> Seen {
        let MessageWay { source, goal, crosses, crosses_aside, .. } = *way;
        let (top, bottom) = (source.row.min(goal.row), source.row.max(goal.row));
        let (left, right) = (source.column.min(goal.column), source.column.max(goal.column));
        let mut seen = Seen::NOTHING;
        (top..=bottom).for_each(|row| seen.add(self.at(row, source.column)));
        (left..=right).for_each(|column| seen.add(self.at(goal.row, column)));
        if crosses {
            self.column_blocks(way).into_iter().for_each(|block| seen.add_block(block));
        }
        if crosses_aside {
            self.row_blocks(way).into_iter().for_each(|block| seen.add_block(block));
        }
        seen
    }
}
