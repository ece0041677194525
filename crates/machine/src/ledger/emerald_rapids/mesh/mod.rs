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
    /// True if it needs a credit: addresses and data do (guide 2.1.1).
    #[inline]
    pub const fn is_credited(&self) -> bool {
        matches!(self.ring, Ring::Address | Ring::Block)
    }
}

/// What became of an agent's credits for a row, in cycles.
#[derive(Debug, Clone, Copy, Default)]
pub struct CreditTime {
    /// Credits in use, added up.
    pub held: u64,
    /// Messages waited for one.
    pub missed: u64,
}

/// Messages of a socket.
#[derive(Debug, Clone)]
pub struct Traffic {
    tiles: usize,
    columns: usize,
    /// By ring and agent, source, destination.
    messages: Vec<u64>,
    /// By ring and agent, source.
    egress: Vec<Waits<1>>,
    /// By ring, tile.
    turns: Vec<Waits<1>>,
    /// By ring, tile: messages that came down or up the column, and those that came along the row.
    ingress: Vec<Waits<2>>,
    /// By ring, column, down.
    bridges: Vec<Waits<1>>,
    /// By address or data and agent, source, row.
    credits: Vec<CreditTime>,
    /// By tile: cycles that distress held messages back.
    throttled: Vec<u64>,
    /// By tile, for messages from below and above: cycles that they had to keep their place.
    ordered: Vec<[u64; 2]>,
}

const LANES: usize = Ring::COUNT * 2;
const MOST_ROWS: usize = 16;

impl Traffic {
    /// A quiet mesh.
    pub fn new(tiles: &[Tile]) -> Self {
        let columns = tiles.iter().map(|tile| usize::from(tile.column) + 1).max().unwrap_or(0);
        let tiles = tiles.len();
        Self {
            tiles,
            columns,
            messages: vec![0; LANES * tiles * tiles],
            egress: Waits::many(LANES * tiles),
            turns: Waits::many(Ring::COUNT * tiles),
            ingress: Waits::many(Ring::COUNT * tiles),
            bridges: Waits::many(Ring::COUNT * columns * 2),
            credits: vec![CreditTime::default(); 4 * tiles * MOST_ROWS],
            throttled: vec![0; tiles],
            ordered: vec![[0; 2]; tiles],
        }
    }

    /// Where the credits of a tile's agent for a row are.
    #[inline]
    const fn credit(&self, ring: Ring, agent: u8, tile: usize, row: u8) -> usize {
        let path = matches!(ring, Ring::Block) as usize;
        ((path * 2 + agent as usize) * self.tiles + tile) * MOST_ROWS + row as usize
    }

    /// Adds a message between two tiles.
    #[inline]
    pub fn add(&mut self, message: &Message, source: Tile, goal: Tile) {
        let ring = message.ring as usize;
        let lane = (ring * 2 + usize::from(message.agent)) * self.tiles + usize::from(message.from);
        let now = message.put;
        let down = usize::from(goal.row > source.row);
        self.messages[lane * self.tiles + usize::from(message.to)] += 1;
        self.egress[lane].add(0, message.put, message.left, now);
        if message.released > message.first {
            self.throttled[usize::from(message.from)] += message.released - message.first;
        }
        if let Some(Bridged { came, went }) = message.bridged {
            self.bridges[(ring * self.columns + usize::from(source.column)) * 2 + down].add(0, came, went, now);
        }
        let along_row = source.column != goal.column;
        if along_row {
            self.turns[ring * self.tiles + usize::from(message.turn)].add(0, message.reached, message.turned, now);
            if message.ordered > message.reached {
                self.ordered[usize::from(message.turn)][down] += message.ordered - message.reached;
            }
        }
        let to = ring * self.tiles + usize::from(message.to);
        self.ingress[to].add(usize::from(along_row), message.arrived, message.taken, now);
        if message.is_credited() {
            let place = self.credit(message.ring, message.agent, message.from.into(), goal.row);
            let time = &mut self.credits[place];
            time.held += message.returned - message.left;
            time.missed += message.credited - message.released;
        }
    }

    /// The sum of a figure of source and destination over the messages of a ring and agent.
    pub fn total(&self, ring: Ring, agent: Option<u8>, figure: impl Fn(usize, usize) -> u64) -> u64 {
        let mut sum = 0;
        for agent in (0..2).filter(|&a| agent.is_none_or(|agent| agent == a)) {
            let lane = ring as usize * 2 + usize::from(agent);
            for from in 0..self.tiles {
                let start = (lane * self.tiles + from) * self.tiles;
                let row = &self.messages[start..start + self.tiles];
                sum += row.iter().enumerate().filter(|&(_, &n)| n > 0).map(|(to, n)| n * figure(from, to)).sum::<u64>();
            }
        }
        sum
    }

    /// Messages of a ring and agent that a condition on source and destination chooses.
    pub fn sum(&self, ring: Ring, agent: Option<u8>, chosen: impl Fn(usize, usize) -> bool) -> u64 {
        self.total(ring, agent, |from, to| u64::from(chosen(from, to)))
    }

    /// The egress queue of a tile's agent.
    pub fn egress(&self, ring: Ring, agent: u8, tile: usize) -> &Queue {
        let [queue] = self.egress[(ring as usize * 2 + usize::from(agent)) * self.tiles + tile].totals();
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

    /// What became of an agent's credits for a row, of address or data messages: no others need any.
    pub fn credits(&self, ring: Ring, agent: u8, tile: usize, row: u8) -> CreditTime {
        self.credits[self.credit(ring, agent, tile, row)]
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
