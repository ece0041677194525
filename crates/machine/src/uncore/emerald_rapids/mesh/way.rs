//! Ways over the mesh. They follow from the rows and the columns of their ends, so they are worked out once, when the
//! machine is built.

use super::super::layout::Floor;
use pericore_facts::emerald_rapids::{MOST_COLUMNS, MOST_ROWS, MOST_TILES};

/// A stretch along a column or a row of one die.
#[derive(Debug, Clone, Copy, Default)]
pub struct Leg {
    /// The links between its stops, one bit each, from the top or the left of its die; none if it begins where it ends.
    pub links: u8,
    /// Its rail of the column or row: by die, up or left before down or right.
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

/// A way along a column or a row, over the bridge to the other die if need be.
#[derive(Debug, Clone, Copy, Default)]
pub struct LineWay {
    /// All of it, or what comes before the bridge.
    pub near: Leg,
    /// What comes behind the bridge.
    pub far: Leg,
    /// It goes down or right.
    pub onward: bool,
    pub crosses: bool,
    /// Cycles from its last stop back to its first.
    pub back: u32,
}

impl LineWay {
    /// A way between two stops of a line that has so many on each die.
    fn new((from, to): (u8, u8), stops: u8, hop: u32, crossing: u32) -> Self {
        let onward = to > from;
        let crosses = from / stops != to / stops;
        let (before, behind) = match (crosses, onward) {
            (false, _) => (to, to),
            (true, true) => (stops - 1, stops),
            (true, false) => (stops, stops - 1),
        };
        let leg = |from: u8, to: u8| {
            let die = from / stops;
            let leg = Leg::new((from % stops, to % stops), stops, hop);
            Leg { rail: die * 2 + leg.rail, ..leg }
        };
        Self {
            near: leg(from, before),
            far: leg(behind, to),
            onward,
            crosses,
            back: hop * u32::from(from.abs_diff(to)) + if crosses { crossing } else { 0 },
        }
    }

    /// True if it begins where it ends.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.near.is_empty() && !self.crosses
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
    pub column: &'a LineWay,
    pub row: &'a LineWay,
    /// Tile where it turns.
    pub turn: u8,
}

/// All ways.
#[derive(Debug)]
pub struct Ways {
    spots: [Spot; MOST_TILES],
    /// Columns of the mesh.
    width: u8,
    /// By row of their ends.
    columns: [[LineWay; MOST_ROWS]; MOST_ROWS],
    /// By column of their ends.
    rows: [[LineWay; MOST_COLUMNS]; MOST_COLUMNS],
}

impl Ways {
    /// Those between tiles that are numbered row by row. `hop` and `crossing` are cycles from stop to stop and over
    /// a bridge.
    pub fn new(floor: &Floor, hop: u32, crossing: u32) -> Self {
        let dies = floor.dies;
        let (height, width) = (dies.rows * dies.down, dies.columns * dies.across);
        let mut ways = Self {
            spots: [Spot::default(); MOST_TILES],
            width,
            columns: [[LineWay::default(); MOST_ROWS]; MOST_ROWS],
            rows: [[LineWay::default(); MOST_COLUMNS]; MOST_COLUMNS],
        };
        for (spot, tile) in ways.spots.iter_mut().zip(&floor.tiles) {
            *spot = Spot { row: tile.row, column: tile.column };
        }
        for (from, to) in (0..height).flat_map(|from| (0..height).map(move |to| (from, to))) {
            let stretch = LineWay::new((from, to), dies.rows, hop, crossing);
            ways.columns[usize::from(from)][usize::from(to)] = stretch;
        }
        for (from, to) in (0..width).flat_map(|from| (0..width).map(move |to| (from, to))) {
            let stretch = LineWay::new((from, to), dies.columns, hop, crossing);
            ways.rows[usize::from(from)][usize::from(to)] = stretch;
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
            turn: goal.row * self.width + source.column,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ways;
    use crate::uncore::emerald_rapids::Parameters;

    #[test]
    fn a_way_goes_along_its_column_over_the_bridge_and_along_a_row() {
        let ways = Ways::new(&Parameters::p8592().floor, 2, 9);
        // From row 3, column 1 to row 8, column 5.
        let way = ways.between(3 * 7 + 1, 8 * 7 + 5);
        let (column, row) = (way.column, way.row);
        assert!(column.crosses && column.onward && !row.crosses);
        assert_eq!(way.turn, 8 * 7 + 1);
        assert_eq!((column.near.links, column.near.cycles, column.near.rail), (0b1_1000, 4, 1));
        assert_eq!((column.far.links, column.far.cycles, column.far.rail), (0b11, 4, 3));
        assert_eq!((row.near.links, row.near.cycles, row.near.rail), (0b1_1110, 8, 1));
        // Five stops and the bridge.
        assert_eq!(column.back, 19);
        // Up and to the left on one die; two messages meet in a slot if they pass a stop in the same cycle.
        let (below, here) = (ways.between(4 * 7 + 6, 7), ways.between(2 * 7 + 5, 7));
        assert!(!below.column.crosses && !below.column.onward);
        assert_eq!((below.column.near.rail, below.row.near.rail), (0, 0));
        assert_eq!(below.column.near.lead - here.column.near.lead, 4, "two stops earlier");
        assert!(ways.between(14, 14).column.is_empty() && ways.between(14, 14).row.is_empty());
    }

    #[test]
    fn a_way_over_four_dies_crosses_two_bridges() {
        let ways = Ways::new(&Parameters::preset("8480+").unwrap().floor, 1, 9);
        // From row 1, column 8 to row 7, column 3: down to the lower dies, then left to the first of them.
        let way = ways.between(10 + 8, 7 * 10 + 3);
        let (column, row) = (way.column, way.row);
        assert_eq!((column.crosses, column.onward, row.crosses, row.onward), (true, true, true, false));
        assert_eq!(way.turn, 7 * 10 + 8);
        assert_eq!((column.near.links, column.near.cycles, column.near.rail), (0b1110, 3, 1));
        assert_eq!((column.far.links, column.far.cycles, column.far.rail), (0b11, 2, 3));
        // Of the right die from its fourth column to its first, of the left one from its last to its fourth.
        assert_eq!((row.near.links, row.near.cycles, row.near.rail), (0b111, 3, 2));
        assert_eq!((row.far.links, row.far.cycles, row.far.rail), (0b1000, 1, 0));
        assert_eq!((column.back, row.back), (6 + 9, 5 + 9));
        // From beside the bridge there is no stop before it.
        let edge = ways.between(4, 5).row;
        assert!(edge.crosses && edge.near.is_empty() && edge.far.is_empty() && !edge.is_empty());
    }
}
