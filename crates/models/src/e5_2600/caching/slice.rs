//! The state of an LLC slice and its caching agent.

use std::collections::VecDeque;

use pericore_engine::Tick;
use pericore_engine::search::matches;
use pericore_engine::{NEVER, Ring};

use crate::e5_2600::caching::waiting::Waiting;
use crate::e5_2600::parameters::{MOST_CORES, MOST_WRITEBACK_BUFFERS};
use pericore_facts::e5_2600::Message;
use pericore_parts::RequestId;
use pericore_parts::core::MOST_FILL_BUFFERS;
use pericore_parts::llc::Llc;

/// Entries that the table of requests has room for (guide Table 2-14: `TOR_OCCUPANCY` counts up to 20).
const ROOM: usize = 20;
const FREE: u32 = u32::MAX;
/// Messages that wait for a ring stop at which the slice takes nothing new (assumption: the egress queues are short).
const EGRESS_FULL: usize = 6;

/// Requests of the cores that can wait for one slice.
const STALLED: usize = 512;

// Each core has a request for each of its line-fill buffers. It issues until it has all its writebacks but one, and
// then what is under way drives out two lines for each buffer: one of the L2, and one that the L1's gives way to there.
const _: () = assert!(
    MOST_CORES * (MOST_FILL_BUFFERS + MOST_WRITEBACK_BUFFERS - 1 + 2 * MOST_FILL_BUFFERS) <= STALLED as u64,
    "all requests of a socket's cores may wait for one slice"
);

/// A slice: tags, request queue, table of requests, egress.
#[derive(Debug)]
pub struct Slice {
    /// Arrivals in its queue are reported at once.
    pub announces: bool,
    pub llc: Llc,
    /// What waits for the pipeline.
    pub waiting: Waiting,
    /// Free entries of the request queue, as the cores know it.
    pub credits: u8,
    /// Requests that wait in the cores for such an entry.
    pub stalled: Ring<RequestId, STALLED>,
    lines: [u32; ROOM],
    owners: [RequestId; ROOM],
    used: u32,
    /// Entries for requests, and those for snoops of other sockets, which must never wait for requests.
    all: u32,
    for_snoops: u32,
    /// First tick at which the pipeline can take another request: it takes one in a cycle.
    pub pipeline_free: Tick,
    /// Tick of the pipeline event that counts; others are stale.
    pub pump_at: Tick,
    /// When something was last turned away.
    pub refused_at: Tick,
    /// States of the queues that hold, one bit each.
    pub states: u8,
    /// Messages, the tick at which they came, and the stops that they go to, waiting for the ring stop, which takes one
    /// in a cycle.
    pub egress: VecDeque<(Message, u8, Tick)>,
    /// First tick at which the ring stop can take another message, once those that wait are gone.
    pub egress_free: Tick,
    /// Until then its stop holds new messages back; 0 if it does not.
    pub throttled_until: Tick,
}

impl Slice {
    /// An empty slice; `for_snoops` entries of its table of requests are kept for snoops of other sockets.
    pub fn new(ingress_entries: u8, tor_entries: u8, for_snoops: u8) -> Self {
        let for_requests = tor_entries - for_snoops;
        Self {
            announces: true,
            llc: Llc::new(),
            waiting: Waiting::new(),
            credits: ingress_entries,
            stalled: Ring::new(0),
            lines: [FREE; ROOM],
            owners: [0; ROOM],
            used: 0,
            all: (1 << for_requests) - 1,
            for_snoops: ((1 << for_snoops) - 1) << for_requests,
            pipeline_free: 0,
            pump_at: NEVER,
            refused_at: NEVER,
            states: 0,
            egress: VecDeque::with_capacity(64),
            egress_free: 0,
            throttled_until: 0,
        }
    }

    /// True if the table of requests has a free entry.
    #[inline]
    pub const fn has_tor_entry(&self) -> bool {
        self.used & self.all != self.all
    }

    /// True if the table has a free entry for a snoop of another socket.
    #[inline]
    pub const fn has_snoop_entry(&self) -> bool {
        self.used & self.for_snoops != self.for_snoops
    }

    /// True if the egress has no room for what a request may send.
    #[inline]
    pub fn egress_is_full(&self) -> bool {
        self.egress.len() >= EGRESS_FULL
    }

    /// True if the message that has just left it made the first room.
    #[inline]
    pub fn egress_has_room_again(&self) -> bool {
        self.egress.len() + 1 == EGRESS_FULL
    }

    /// Takes an entry for a snoop. There must be one.
    pub fn take_snoop_entry(&mut self, line: u32, owner: RequestId) -> u8 {
        self.take((self.for_snoops & !self.used).trailing_zeros() as u8, line, owner)
    }

    /// Takes an entry of the table of requests. There must be one.
    #[inline]
    pub fn take_tor_entry(&mut self, line: u32, owner: RequestId) -> u8 {
        self.take((self.all & !self.used).trailing_zeros() as u8, line, owner)
    }

    #[inline]
    fn take(&mut self, slot: u8, line: u32, owner: RequestId) -> u8 {
        self.lines[usize::from(slot)] = line;
        self.owners[usize::from(slot)] = owner;
        self.used |= 1 << slot;
        slot
    }

    /// Gives an entry of the table of requests back.
    #[inline]
    pub fn free_tor_entry(&mut self, slot: u8) {
        self.lines[usize::from(slot)] = FREE;
        self.used &= !(1 << slot);
    }

    /// The request in the table that is for a line.
    #[inline]
    pub fn busy(&self, line: u32) -> Option<RequestId> {
        // Entries are taken from the lowest on: those in use are mostly among the first.
        let found = match self.lines.first_chunk::<8>() {
            Some(first) if self.used < 1 << first.len() => matches(first, u32::MAX, line),
            _ => matches(&self.lines, u32::MAX, line),
        };
        (found != 0).then(|| self.owners[found.trailing_zeros() as usize])
    }

    /// True if nothing waits anywhere.
    pub fn is_idle(&self) -> bool {
        self.used == 0 && self.waiting.is_empty() && self.egress.is_empty()
    }
}
