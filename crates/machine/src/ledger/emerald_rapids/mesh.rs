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
    /// Uncore cycles that it waited in the egress queue.
    pub waited: u32,
    /// Cycles of those in which it was the first in the queue.
    pub first: u32,
}

/// Messages of a socket.
#[derive(Debug, Clone)]
pub struct Traffic {
    tiles: usize,
    /// By ring and agent, source, destination.
    messages: Vec<u64>,
    /// By ring and agent, source: messages that waited, cycles that they waited, cycles in which the queue held something.
    waits: Vec<[u64; 3]>,
}

const LANES: usize = Ring::COUNT * 2;

impl Traffic {
    /// A quiet mesh.
    pub fn new(tiles: usize) -> Self {
        Self { tiles, messages: vec![0; LANES * tiles * tiles], waits: vec![[0; 3]; LANES * tiles] }
    }

    /// Adds a message.
    pub fn add(&mut self, message: Message) {
        let lane = message.ring as usize * 2 + usize::from(message.agent);
        let from = lane * self.tiles + usize::from(message.from);
        self.messages[from * self.tiles + usize::from(message.to)] += 1;
        if message.waited > 0 {
            let waits = &mut self.waits[from];
            waits[0] += 1;
            waits[1] += u64::from(message.waited);
            waits[2] += u64::from(message.first);
        }
    }

    /// Messages of a ring and agent that a condition on source and destination chooses.
    pub fn sum(&self, ring: Ring, agent: Option<u8>, chosen: impl Fn(usize, usize) -> bool) -> u64 {
        let mut sum = 0;
        for agent in (0..2).filter(|&a| agent.is_none_or(|agent| agent == a)) {
            let lane = ring as usize * 2 + usize::from(agent);
            for from in 0..self.tiles {
                let start = (lane * self.tiles + from) * self.tiles;
                let row = &self.messages[start..start + self.tiles];
                sum +=
                    row.iter().enumerate().filter(|&(to, &n)| n > 0 && chosen(from, to)).map(|(_, n)| n).sum::<u64>();
            }
        }
        sum
    }

    /// Messages of a ring and agent that waited at a tile, cycles that they waited, cycles with a queue that is not empty.
    pub fn waits(&self, ring: Ring, agent: u8, from: usize) -> [u64; 3] {
        self.waits[(ring as usize * 2 + usize::from(agent)) * self.tiles + from]
    }
}
