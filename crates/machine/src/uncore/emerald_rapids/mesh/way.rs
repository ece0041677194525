//! Ways over the mesh. They follow from the rows and the columns of their ends, so they are worked out once, when the
//! machine is built.

use super::super::layout::{BOUNDARY, COLUMNS, ROWS};
use pericore_facts::emerald_rapids::{MOST_COLUMNS, MOST_ROWS, MOST_TILES, Tile};

/// A stretch along a column of one die, or along a row.
#[derive(Debug, Clone, Copy, Default)]
pub struct Leg {
    /// The links between its stops, one bit each, from the top of its die or from the left; none if it begins where it
    /// ends.
    pub links: u8,
    /// Its rail: of a column, by die, up or down; of a row, left or right.
    pub rail: u8,
    /// Cycles by which a slot's number is ahead of the cycle in which the slot passes the first stop.
    pub lead: u32,
    /// Cycles from its first stop to its last.
    pub cycles: u32,
}

impl Leg {
    fn new((from, to): (u8, u8), stops: u8, hop: u32) -> Self {
        let (first, last, onward) = if to > from { (from, to, true) } else { (to, from, false) };
        Self {
            links: (1 << last) - (1 << first),
            rail: onward.into(),
            // A slot that goes on passes the line's first stop earlier, one that goes back passes the last.
            lead: hop * u32::from(if onward { stops - 1 - from } else { from }),
            cycles: hop * u32::from(last - first),
        }
    }

    /// True if it begins where it ends.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.links == 0
    }
}

/// A way along a column, over the bridge to the other die if need be.
#[derive(Debug, Clone, Copy, Default)]
pub struct Climb {
    /// All of it, or what comes before the bridge.
    pub near: Leg,
    /// What comes behind the bridge.
    pub far: Leg,
    pub down: bool,
    pub crosses: bool,
    /// Cycles from its last stop back to its first.
    pub back: u32,
}

impl Climb {
    fn new((from, to): (u8, u8), hop: u32, crossing: u32) -> Self {
        let down = to > from;
        let crosses = (from >= BOUNDARY) != (to >= BOUNDARY);
        let (before, behind) = match (crosses, down) {
            (false, _) => (to, to),
            (true, true) => (BOUNDARY - 1, BOUNDARY),
            (true, false) => (BOUNDARY, BOUNDARY - 1),
        };
        let leg = |from: u8, to: u8| {
            let die = from / BOUNDARY;
            let leg = Leg::new((from % BOUNDARY, to % BOUNDARY), BOUNDARY, hop);
            Leg { rail: die * 2 + leg.rail, ..leg }
        };
        Self {
            near: leg(from, before),
            far: leg(behind, to),
            down,
            crosses,
            back: hop * u32::from(from.abs_diff(to)) + if crosses { crossing } else { 0 },
        }
    }
}

/// Where a stop lies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spot {
    pub row: u8,
    pub column: u8,
}

/// A message's way: along its source's column, then along its destination's row.
#[derive(Debug, Clone, Copy)]
pub struct Way<'a> {
    pub source: Spot,
    pub goal: Spot,
    pub column: &'a Climb,
    pub row: &'a Leg,
}

impl Way<'_> {
    /// Where it turns.
    #[inline]
    pub const fn turn(&self) -> u8 {
        self.goal.row * COLUMNS + self.source.column
    }
}

const _: () = assert!(ROWS as usize <= MOST_ROWS && COLUMNS as usize <= MOST_COLUMNS);
const _: () = assert!(ROWS as usize * COLUMNS as usize <= MOST_TILES);

/// All ways.
#[derive(Debug)]
pub struct Ways {
    spots: [Spot; MOST_TILES],
    /// By row of their ends.
    columns: [[Climb; MOST_ROWS]; MOST_ROWS],
    /// By column of their ends.
    rows: [[Leg; MOST_COLUMNS]; MOST_COLUMNS],
}

impl Ways {
    /// Those between tiles that are numbered row by row. `hop` and `crossing` are cycles from stop to stop and over
    /// the bridge.
    pub fn new(tiles: &[Tile], hop: u32, crossing: u32) -> Self {
        let mut ways = Self {
            spots: [Spot::default(); MOST_TILES],
            columns: [[Climb::default(); MOST_ROWS]; MOST_ROWS],
            rows: [[Leg::default(); MOST_COLUMNS]; MOST_COLUMNS],
        };
        for (spot, tile) in ways.spots.iter_mut().zip(tiles) {
            *spot = Spot { row: tile.row, column: tile.column };
        }
        for (from, to) in (0..ROWS).flat_map(|from| (0..ROWS).map(move |to| (from, to))) {
            ways.columns[usize::from(from)][usize::from(to)] = Climb::new((from, to), hop, crossing);
        }
        for (from, to) in (0..COLUMNS).flat_map(|from| (0..COLUMNS).map(move |to| (from, to))) {
            ways.rows[usize::from(from)][usize::from(to)] = Leg::new((from, to), COLUMNS, hop);
        }
        ways
    }

    /// The way between two tiles.
    #[inline]
    pub fn between(&self, from: u8, to: u8) -> Way<'_> {
        let (source, goal) = (self.spots[usize::from(from) % MOST_TILES], self.spots[usize::from(to) % MOST_TILES]);
        Way {
            source,
            goal,
            column: &self.columns[usize::from(source.row) % MOST_ROWS][usize::from(goal.row) % MOST_ROWS],
            row: &self.rows[usize::from(source.column) % MOST_COLUMNS][usize::from(goal.column) % MOST_COLUMNS],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ways;
    use crate::uncore::emerald_rapids::layout::tiles;

    #[test]
    fn a_way_goes_along_its_column_over_the_bridge_and_along_a_row() {
        let ways = Ways::new(&tiles(), 2, 9);
        // From row 3, column 1 to row 8, column 5.
        let way = ways.between(3 * 7 + 1, 8 * 7 + 5);
        let (column, row) = (way.column, way.row);
        assert!(column.crosses && column.down);
        assert_eq!(way.turn(), 8 * 7 + 1);
        assert_eq!((column.near.links, column.near.cycles, column.near.rail), (0b1_1000, 4, 1));
        assert_eq!((column.far.links, column.far.cycles, column.far.rail), (0b11, 4, 3));
        assert_eq!((row.links, row.cycles, row.rail), (0b1_1110, 8, 1));
        // Five stops and the bridge.
        assert_eq!(column.back, 19);
        // Up and to the left on one die; two messages meet in a slot if they pass a stop in the same cycle.
        let (below, here) = (ways.between(4 * 7 + 6, 7), ways.between(2 * 7 + 5, 7));
        assert!(!below.column.crosses && !below.column.down);
        assert_eq!((below.column.near.rail, below.row.rail), (0, 0));
        assert_eq!(below.column.near.lead - here.column.near.lead, 4, "two stops earlier");
        assert!(ways.between(14, 14).column.near.is_empty() && ways.between(14, 14).row.is_empty());
    }
}
