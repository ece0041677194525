//! The caching and home agent: its queues and its table of requests.

use super::request::RequestId;
use super::shortage::LinkCredits;
use super::tags::Tags;
use crate::engine::NEVER;
use crate::ledger::emerald_rapids::compiled::level;
use crate::ledger::emerald_rapids::{Found, Queue};
use crate::signal::Tick;
use crate::uncore::search::matches;
use std::collections::VecDeque;

/// Sets of a slice, as a power of two: 5 MB of 20 ways (vendor's product data: 320 MB in 64 slices; ways are an assumption).
const LLC_SET_BITS: u32 = 12;
/// Sets of a slice's snoop filter: twice the lines of an L2 (assumption).
const FILTER_SET_BITS: u32 = 12;
/// An entry of the table of requests without a line.
pub const FREE: u32 = u32::MAX;
/// States of a snoop filter entry.
pub const FILTER_SHARED: u8 = Found::FilterShared as u8;
pub const FILTER_EXCLUSIVE: u8 = Found::FilterExclusive as u8;

/// An agent with its slice.
#[derive(Debug)]
pub struct Agent {
    pub llc: Tags<20>,
    pub filter: Tags<16>,
    /// Requests of this socket in order of arrival, with the tick from which they may be looked up. What was turned away because
    /// its line was busy comes back to the front; it has counted as queued all the while.
    pub(super) ingress: VecDeque<(Tick, RequestId)>,
    /// Requests and snoops of the other socket.
    pub(super) outside: VecDeque<(Tick, RequestId)>,
    /// What must go to memory and waits for an entry of the table of requests.
    pub(super) victims: VecDeque<RequestId>,
    /// Credits for messages to the other socket.
    pub(super) links: LinkCredits,
    pub(super) lines: [u32; 32],
    pub(super) owners: [RequestId; 32],
    pub(super) used: u32,
    pub(super) all: u32,
    pub(super) pipeline_free: Tick,
    /// Tick of the pipeline event that counts; others are stale.
    pub(super) pump_at: Tick,
}

impl Agent {
    /// An idle agent with an empty slice.
    pub fn new(tor_entries: u8) -> Self {
        Self {
            llc: Tags::new(LLC_SET_BITS),
            filter: Tags::new(FILTER_SET_BITS),
            ingress: VecDeque::with_capacity(64),
            outside: VecDeque::with_capacity(64),
            victims: VecDeque::with_capacity(64),
            links: LinkCredits::new(),
            lines: [FREE; 32],
            owners: [0; 32],
            used: 0,
            all: u32::MAX >> (32 - u32::from(tor_entries)),
            pipeline_free: 0,
            pump_at: NEVER,
        }
    }

    /// True if there are more free entries than `kept` for others.
    #[inline]
    pub(super) const fn has_entry(&self, kept: u32) -> bool {
        (self.all & !self.used).count_ones() > kept
    }

    #[inline]
    pub(super) fn take_entry(&mut self, line: u32, owner: RequestId) -> u8 {
        let slot = (self.all & !self.used).trailing_zeros() as u8;
        self.lines[usize::from(slot)] = line;
        self.owners[usize::from(slot)] = owner;
        self.used |= 1 << slot;
        slot
    }

    #[inline]
    pub(super) fn busy(&self, line: u32) -> Option<RequestId> {
        let found = matches(&self.lines, u32::MAX, line);
        (found != 0).then(|| self.owners[found.trailing_zeros() as usize])
    }

    /// True if a line that must go to memory finds an entry.
    pub(super) fn can_start(&self, line: u32) -> bool {
        self.has_entry(KEPT) && self.busy(line).is_none()
    }

    /// True if nothing waits anywhere.
    pub fn is_idle(&self) -> bool {
        self.used == 0 && self.ingress.is_empty() && self.outside.is_empty() && self.victims.is_empty()
    }
}

/// Entries of the table that requests of this socket leave to others, and that the other socket's reads leave to snoops and
/// writebacks: so that no two sockets wait for each other's tables.
pub const KEPT: u32 = 4;
pub const KEPT_BY_REMOTE: u32 = 2;

/// The level of a queue's entries. Of the queue of I/O stacks only the arrivals are counted.
#[inline]
pub const fn queued(queue: Queue) -> Option<u16> {
    match queue {
        Queue::Core | Queue::Evict => Some(level!("cha/RxC_INSERTS.IRQ")),
        Queue::Io => None,
        Queue::Snoop => Some(level!("cha/RxC_INSERTS.IPQ")),
        Queue::Remote => Some(level!("cha/RxC_INSERTS.RRQ")),
        Queue::RemoteWriteback => Some(level!("cha/RxC_INSERTS.WBQ")),
    }
}
