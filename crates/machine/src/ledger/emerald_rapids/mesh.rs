//! Messages on a mesh, by where they came from and went to. What each mesh stop saw of them follows from where it lies.
//!
//! A message goes up or down its source's column to the row of its destination, and from there left or right.

/// Rings of the mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ring {
    /// Addresses: requests and snoops.
    Address,
    /// Acknowledgements.
    Acknowledge,
    /// Acknowledgements between caching agents.
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
    /// Row, from the top.
    pub row: u8,
    /// Column, from the left over both dies.
    pub column: u8,
    /// The unit whose counters see the stop, with its instance; none for a stop that nobody counts.
    pub unit: Option<(&'static str, u16)>,
}

/// What became of a message in a queue. Times are uncore cycles.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stay {
    /// Cycles that it waited; none if it went past the queue.
    pub waited: u32,
    /// Cycles of those in which it was the first in the queue.
    pub first: u32,
    /// Cycles for which it made the queue full.
    pub full: u32,
}

/// Entries of a mesh stop's queue.
pub const ROOM: u32 = 4;
/// Cycles after which a message that waits counts as starved.
pub const PATIENCE: u32 = 8;

/// A message that was sent.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    /// Ring.
    pub ring: Ring,
    /// Which of the two agents of the mesh stop sent it: 0 the uncore unit, 1 the core.
    pub agent: u8,
    /// Tile that it came from.
    pub from: u8,
    /// Tile that it went to.
    pub to: u8,
    /// Tile in its source's column and its destination's row.
    pub turn: u8,
    /// In the egress queue of its source.
    pub egress: Stay,
    /// In the queue where it turned.
    pub turning: Stay,
    /// In the ingress queue of its destination.
    pub ingress: Stay,
}

/// Totals of a queue.
#[derive(Debug, Clone, Copy, Default)]
pub struct Queue {
    /// Messages that waited.
    pub entries: u64,
    /// Cycles that they waited.
    pub occupied: u64,
    /// Cycles in which it held something.
    pub nonempty: u64,
    /// Cycles in which it had no room.
    pub full: u64,
    /// Messages that found no room at first.
    pub refused: u64,
    /// Messages that starved.
    pub starving: u64,
    /// Cycles for which they did.
    pub starved: u64,
}

impl Queue {
    fn add(&mut self, stay: Stay) {
        if stay.waited == 0 {
            return;
        }
        self.entries += 1;
        self.occupied += u64::from(stay.waited);
        self.nonempty += u64::from(stay.first);
        self.full += u64::from(stay.full);
        self.refused += u64::from(stay.full > 0);
        self.starving += u64::from(stay.waited > PATIENCE);
        self.starved += u64::from(stay.waited.saturating_sub(PATIENCE));
    }
}

/// What messages met at their destination's ingress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bounces {
    /// Messages that found no room at first.
    pub messages: u64,
    /// Cycles that they waited beyond the queue's room.
    pub cycles: u64,
}

/// Messages of a socket.
#[derive(Debug, Clone)]
pub struct Traffic {
    tiles: usize,
    /// By ring and agent, source, destination.
    messages: Vec<u64>,
    /// By ring and agent, source.
    egress: Vec<Queue>,
    /// By ring, tile.
    turns: Vec<Queue>,
    ingress: Vec<Queue>,
    /// By ring, tile, and whether they came along the row.
    bounces: Vec<[Bounces; 2]>,
    /// By ring and agent, source, row: cycles that credits were held beyond the way, and that messages had none.
    credits: Vec<[u64; 2]>,
}

const LANES: usize = Ring::COUNT * 2;
const MOST_ROWS: usize = 8;

impl Traffic {
    /// A quiet mesh.
    pub fn new(tiles: usize) -> Self {
        Self {
            tiles,
            messages: vec![0; LANES * tiles * tiles],
            egress: vec![Queue::default(); LANES * tiles],
            turns: vec![Queue::default(); Ring::COUNT * tiles],
            ingress: vec![Queue::default(); Ring::COUNT * tiles],
            bounces: vec![[Bounces::default(); 2]; Ring::COUNT * tiles],
            credits: vec![[0; 2]; LANES * tiles * MOST_ROWS],
        }
    }

    /// Adds a message; `row` is its destination's, and `along_row` true if it came along it.
    pub fn add(&mut self, message: Message, row: u8, along_row: bool) {
        let ring = message.ring as usize;
        let from = (ring * 2 + usize::from(message.agent)) * self.tiles + usize::from(message.from);
        let to = ring * self.tiles + usize::from(message.to);
        self.messages[from * self.tiles + usize::from(message.to)] += 1;
        self.egress[from].add(message.egress);
        if along_row {
            self.turns[ring * self.tiles + usize::from(message.turn)].add(message.turning);
        }
        self.ingress[to].add(message.ingress);
        if message.ingress.waited > ROOM {
            let bounces = &mut self.bounces[to][usize::from(along_row)];
            bounces.messages += 1;
            bounces.cycles += u64::from(message.ingress.waited - ROOM);
        }
        let credits = &mut self.credits[from * MOST_ROWS + usize::from(row)];
        credits[0] += u64::from(message.egress.waited + message.turning.waited);
        credits[1] += u64::from(message.turning.waited.saturating_sub(ROOM));
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
    pub fn egress(&self, ring: Ring, agent: u8, tile: usize) -> Queue {
        self.egress[(ring as usize * 2 + usize::from(agent)) * self.tiles + tile]
    }

    /// The queue of a tile for messages that turn into its row.
    pub fn turning(&self, ring: Ring, tile: usize) -> Queue {
        self.turns[ring as usize * self.tiles + tile]
    }

    /// The ingress queue of a tile.
    pub fn ingress(&self, ring: Ring, tile: usize) -> Queue {
        self.ingress[ring as usize * self.tiles + tile]
    }

    /// Bounces at a tile, of messages that came along the row or not.
    pub fn bounces(&self, ring: Ring, tile: usize, along_row: bool) -> Bounces {
        self.bounces[ring as usize * self.tiles + tile][usize::from(along_row)]
    }

    /// Of an agent's messages to a row: cycles that they waited with their credit, and that they had none.
    pub fn credits(&self, ring: Ring, agent: u8, tile: usize, row: u8) -> [u64; 2] {
        self.credits[((ring as usize * 2 + usize::from(agent)) * self.tiles + tile) * MOST_ROWS + usize::from(row)]
    }
}
