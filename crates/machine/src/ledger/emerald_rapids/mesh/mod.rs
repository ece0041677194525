//! Messages on a mesh, by where they came from and went to, and when. What each mesh stop saw of them follows from where it lies.
//!
//! A message goes up or down its source's column to the row of its destination, over the bridge between the dies if that lies on the
//! other one, and from there left or right.

mod queue;

pub use queue::Queue;
use queue::Waits;

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

    /// True if its messages need a credit: addresses and data do (guide 2.1.1).
    #[inline]
    pub const fn is_credited(self) -> bool {
        matches!(self, Self::Address | Self::Block)
    }
}

/// A mesh stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Row, from the top over both dies.
    pub row: u8,
    /// Column, from the left.
    pub column: u8,
    /// The unit whose counters see the stop, with its instance; none for a stop that nobody counts.
    pub unit: Option<(&'static str, u16)>,
}

/// Tiles that tables have room for. Powers of two, as rows and columns are, so that a place in a table is found without a check.
pub const MOST_TILES: usize = 128;
/// Rows that tables have room for.
pub const MOST_ROWS: usize = 16;
/// Columns that tables have room for.
pub const MOST_COLUMNS: usize = 8;

/// Messages that fill a queue of a mesh stop or of the fabric (assumption: unpublished).
pub const ROOM: u32 = 4;
/// Messages with which the fabric raises distress (assumption: half of the room).
pub const HALF_FULL: u32 = ROOM / 2;
/// Cycles after which a message that waits counts as starved (assumption: unpublished).
pub const PATIENCE: u32 = 8;

/// A message's stay in the fabric's buffer before the bridge, in uncore cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bridged {
    /// It comes from the vertical ring.
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
    /// Its stay before the bridge, if it goes to the other die.
    pub bridged: Option<Bridged>,
    /// It comes to where it turns.
    pub reached: u64,
    /// Nothing that it must not overtake is before it.
    pub ordered: u64,
    /// It leaves for its row.
    pub turned: u64,
    /// It comes to its destination.
    pub arrived: u64,
    /// It is taken off the mesh.
    pub taken: u64,
    /// Its credit is back at its source.
    pub returned: u64,
}

impl Message {
    /// True if it needs a credit.
    #[inline]
    pub const fn is_credited(&self) -> bool {
        self.ring.is_credited()
    }

    /// True if it waits anywhere. What else holds a message back makes it wait where it is put, or where it turns.
    #[inline]
    pub const fn waits(&self) -> bool {
        let at_bridge = match self.bridged {
            Some(Bridged { came, went }) => went - came,
            None => 0,
        };
        // In all places together: one branch for them all.
        (self.left - self.put) | at_bridge | (self.turned - self.reached) | (self.taken - self.arrived) > 0
    }
}

/// What an agent sent to a row.
#[derive(Debug, Clone, Copy, Default)]
struct Sent {
    messages: u64,
    /// Cycles that its credits were in use, added up.
    held: u64,
}

/// Messages of a socket.
#[derive(Debug, Clone)]
pub struct Traffic {
    /// Row and column of each tile, and how many tiles and columns there are.
    places: [(u8, u8); MOST_TILES],
    tiles: usize,
    columns: usize,
    /// By ring and agent, row of the destination, source.
    sent: Vec<[[Sent; MOST_TILES]; MOST_ROWS]>,
    /// The same: cycles that messages waited for a credit.
    missed: Vec<[[u64; MOST_TILES]; MOST_ROWS]>,
    /// By ring, column of the source, destination: messages. No stop asks for more of both ends than one table or the other has.
    came: [[[u64; MOST_TILES]; MOST_COLUMNS]; Ring::COUNT],
    /// By ring and agent, source.
    egress: Vec<Waits<1>>,
    /// By ring, tile.
    turns: Vec<Waits<1>>,
    /// By ring, tile: messages that came down or up the column, and those that came along the row.
    ingress: Vec<Waits<2>>,
    /// By ring, column, down.
    bridges: Vec<Waits<1>>,
    /// By tile: cycles that distress held messages back.
    throttled: Vec<u64>,
    /// By tile, for messages from below and above: cycles that they had to keep their place.
    ordered: Vec<[u64; 2]>,
}

const LANES: usize = Ring::COUNT * 2;

/// A ring and one of the agents that send on it.
#[inline]
const fn lane(ring: Ring, agent: u8) -> usize {
    ring as usize * 2 + agent as usize % 2
}

impl Traffic {
    /// A quiet mesh.
    ///
    /// # Panics
    /// If it is larger than any that is known.
    pub fn new(tiles: &[Tile]) -> Self {
        let columns = tiles.iter().map(|tile| usize::from(tile.column) + 1).max().unwrap_or(0);
        let rows = tiles.iter().map(|tile| usize::from(tile.row) + 1).max().unwrap_or(0);
        assert!(tiles.len() <= MOST_TILES && rows <= MOST_ROWS && columns <= MOST_COLUMNS, "a mesh of {rows} rows");
        let mut places = [(0, 0); MOST_TILES];
        for (place, tile) in places.iter_mut().zip(tiles) {
            *place = (tile.row, tile.column);
        }
        let tiles = tiles.len();
        Self {
            places,
            tiles,
            columns,
            sent: vec![[[Sent::default(); MOST_TILES]; MOST_ROWS]; LANES],
            missed: vec![[[0; MOST_TILES]; MOST_ROWS]; LANES],
            came: [[[0; MOST_TILES]; MOST_COLUMNS]; Ring::COUNT],
            egress: Waits::many(LANES * tiles),
            turns: Waits::many(Ring::COUNT * tiles),
            ingress: Waits::many(Ring::COUNT * tiles),
            bridges: Waits::many(Ring::COUNT * columns * 2),
            throttled: vec![0; tiles],
            ordered: vec![[0; 2]; tiles],
        }
    }

    /// Row and column of a tile.
    #[inline]
    const fn place(&self, tile: u8) -> (usize, usize) {
        let (row, column) = self.places[tile as usize % MOST_TILES];
        (row as usize % MOST_ROWS, column as usize % MOST_COLUMNS)
    }

    /// Counts a message of a ring and agent between two of the tiles, which held its credit for so many cycles, or needed none.
    #[inline(always)]
    pub fn count(&mut self, (ring, agent): (Ring, u8), (from, to): (u8, u8), held: u64) {
        let ((_, column), (row, _)) = (self.place(from), self.place(to));
        let sent = &mut self.sent[lane(ring, agent)][row][usize::from(from) % MOST_TILES];
        sent.messages += 1;
        sent.held += held;
        self.came[ring as usize][column][usize::from(to) % MOST_TILES] += 1;
    }

    /// Adds the waits of a message between two of the tiles.
    #[inline(never)]
    pub fn wait(&mut self, message: &Message) {
        let (ring, now, tiles) = (message.ring as usize, message.put, self.tiles);
        let ((from_row, column), (to_row, _)) = (self.place(message.from), self.place(message.to));
        let down = usize::from(to_row > from_row);
        if message.left > message.put {
            let (lane, from) = (lane(message.ring, message.agent), usize::from(message.from));
            self.egress[lane * tiles + from].add(0, message.put, message.left, now);
            self.throttled[from] += message.released - message.first;
            self.missed[lane][to_row][from] += message.credited - message.released;
        }
        if let Some(Bridged { came, went }) = message.bridged
            && went > came
        {
            self.bridges[(ring * self.columns + column) * 2 + down].add(0, came, went, now);
        }
        if message.turned > message.reached {
            let turn = usize::from(message.turn);
            self.turns[ring * tiles + turn].add(0, message.reached, message.turned, now);
            self.ordered[turn][down] += message.ordered - message.reached;
        }
        if message.taken > message.arrived {
            let along_row = message.turn != message.to;
            let to = ring * tiles + usize::from(message.to);
            self.ingress[to].add(usize::from(along_row), message.arrived, message.taken, now);
        }
    }

    /// Messages of a ring and agent that a condition on source and row of the destination chooses.
    pub fn sent_by(&self, ring: Ring, agent: Option<u8>, chosen: impl Fn(usize, u8) -> bool) -> u64 {
        let agents = (0..2).filter(|&a| agent.is_none_or(|agent| agent == a));
        let rows = agents.flat_map(|agent| (0..).zip(&self.sent[lane(ring, agent)]));
        let of_row = |(row, sent): (u8, &[Sent; MOST_TILES])| {
            let sent = sent[..self.tiles].iter().enumerate();
            sent.filter(|&(from, _)| chosen(from, row)).map(|(_, sent)| sent.messages).sum::<u64>()
        };
        rows.map(of_row).sum()
    }

    /// Messages of a ring that a condition on the source's column and on the destination chooses.
    pub fn come_to(&self, ring: Ring, chosen: impl Fn(u8, usize) -> bool) -> u64 {
        let of_column = |(column, came): (u8, &[u64; MOST_TILES])| {
            let came = came[..self.tiles].iter().enumerate();
            came.filter(|&(to, _)| chosen(column, to)).map(|(_, messages)| messages).sum::<u64>()
        };
        (0..).zip(&self.came[ring as usize][..self.columns]).map(of_column).sum()
    }

    /// The egress queue of a tile's agent.
    pub fn egress(&self, ring: Ring, agent: u8, tile: usize) -> &Queue {
        let [queue] = self.egress[lane(ring, agent) * self.tiles + tile].totals();
        queue
    }

    /// The queue of a tile for messages that turn into its row.
    pub fn turning(&self, ring: Ring, tile: usize) -> &Queue {
        let [queue] = self.turns[ring as usize * self.tiles + tile].totals();
        queue
    }

    /// What a tile's ingress did with messages that came down or up its column, and with those that came along its row.
    pub fn ingress(&self, ring: Ring, tile: usize) -> &[Queue; 2] {
        self.ingress[ring as usize * self.tiles + tile].totals()
    }

    /// The fabric's buffer of a column for messages that go up or down.
    pub fn bridge(&self, ring: Ring, column: usize, down: bool) -> &Queue {
        let [queue] = self.bridges[(ring as usize * self.columns + column) * 2 + usize::from(down)].totals();
        queue
    }

    /// Cycles that an agent's credits for a row were in use, added up.
    pub fn held(&self, ring: Ring, agent: u8, tile: usize, row: u8) -> u64 {
        self.sent[lane(ring, agent)][usize::from(row)][tile].held
    }

    /// Cycles that an agent's messages waited for a credit for a row.
    pub fn missed(&self, ring: Ring, agent: u8, tile: usize, row: u8) -> u64 {
        self.missed[lane(ring, agent)][usize::from(row)][tile]
    }

    /// Cycles that distress held a tile's messages back.
    pub fn throttled(&self, tile: usize) -> u64 {
        self.throttled[tile]
    }

    /// Cycles that messages from below or above kept their place before they turned at a tile.
    pub fn ordered(&self, tile: usize, down: bool) -> u64 {
        self.ordered[tile][usize::from(down)]
    }
}
