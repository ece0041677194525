//! The mesh: its stops, and the messages that go over it.
//!
//! A message goes up or down its source's column to the row of its destination, and from there left or right; where its
//! way leads to another die, over the bridge between them.

/// Rings of the mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ring {
    /// Addresses: requests and snoops.
    Address,
    /// Acknowledgements to cores and I/O stacks.
    Acknowledge,
    /// Acknowledgements to caching agents.
    AcknowledgeAgents,
    /// Data blocks.
    Block,
    /// Invalidations.
    Invalidate,
}

impl Ring {
    /// How many there are.
    pub const COUNT: usize = 5;

    /// Slots of a message, one a cycle: the data ring carries half a line in each.
    #[inline]
    pub const fn slots(self) -> u32 {
        if matches!(self, Self::Block) { 2 } else { 1 }
    }

    /// True if its messages need a credit for another row: addresses and data do (guide 2.1.1).
    #[inline]
    pub const fn is_credited(self) -> bool {
        matches!(self, Self::Address | Self::Block)
    }
}

/// A mesh stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Row, from the top over all dies.
    pub row: u8,
    /// Column, from the left.
    pub column: u8,
    /// The unit whose counters see the stop, with its instance; none for a stop that nobody counts.
    pub unit: Option<(&'static str, u16)>,
}

/// How a mesh is cut into dies of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dies {
    /// Rows of a die.
    pub rows: u8,
    /// Columns of a die.
    pub columns: u8,
    /// Dies one above the other.
    pub down: u8,
    /// Dies side by side.
    pub across: u8,
}

/// Tiles that tables have room for. Powers of two, as rows and columns are, so that a place in a table is found
/// without a check.
pub const MOST_TILES: usize = 128;
/// Rows that tables have room for.
pub const MOST_ROWS: usize = 16;
/// Columns that tables have room for.
pub const MOST_COLUMNS: usize = 16;

/// Messages that fill a queue of a mesh stop or of the fabric (assumption: unpublished).
pub const ROOM: u32 = 4;
/// Messages with which the fabric raises distress (assumption: half of the room).
pub const HALF_FULL: u32 = ROOM / 2;
/// Cycles after which a message that waits counts as starved (assumption: unpublished).
pub const PATIENCE: u32 = 8;

/// A message's stay in the fabric's buffer before the bridge, in uncore cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bridged {
    /// It comes from the ring.
    pub came: u64,
    /// It goes over the bridge.
    pub went: u64,
}

/// A message that was sent, and the uncore cycles at which it was where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Ring.
    pub ring: Ring,
    /// Which of the two agents of the mesh stop sent it; of a core's tile, 0 is the caching agent and 1 the core.
    pub agent: u8,
    /// Tile that it came from.
    pub from: u8,
    /// Tile that it went to.
    pub to: u8,
    /// Tile in its source's column and its destination's row.
    pub turn: u8,
    /// It is given to the mesh stop.
    pub put: u64,
    /// The agent's messages before it have left.
    pub first: u64,
    /// No distress holds it back any more.
    pub released: u64,
    /// It has its credit for the row.
    pub credited: u64,
    /// It leaves its source.
    pub left: u64,
    /// Its stay before the bridge to the die above or below, if it goes there.
    pub bridged: Option<Bridged>,
    /// It comes to where it turns.
    pub reached: u64,
    /// Nothing that it must not overtake is before it.
    pub ordered: u64,
    /// It leaves for its row.
    pub turned: u64,
    /// Its stay before the bridge to the die on the left or right, if it goes there.
    pub bridged_aside: Option<Bridged>,
    /// It comes to its destination.
    pub arrived: u64,
    /// It is taken off the mesh.
    pub taken: u64,
    /// Its credit is back at its source.
    pub returned: u64,
}

impl Message {
    /// True if it needs a credit. What stays in its row does not turn into it, and needs none.
    #[inline]
    pub const fn is_credited(&self) -> bool {
        self.ring.is_credited() && self.from != self.turn
    }

    /// True if it waits anywhere. What else holds a message back makes it wait where it is put, or where it turns.
    #[inline]
    pub const fn waits(&self) -> bool {
        const fn stay(bridged: Option<Bridged>) -> u64 {
            match bridged {
                Some(Bridged { came, went }) => went - came,
                None => 0,
            }
        }
        let at_bridges = stay(self.bridged) | stay(self.bridged_aside);
        // In all places together: one branch for them all.
        (self.left - self.put) | at_bridges | (self.turned - self.reached) | (self.taken - self.arrived) > 0
    }
}
