//! The state of a home agent.

use std::collections::VecDeque;

use pericore_dram::Pending;
use pericore_engine::{Ring, Tick};
use pericore_parts::RequestId;

use super::in_hand::InHand;
use super::ring_slots::Acknowledgements;
use crate::e5_2600::parameters::{MOST_SOCKETS, Parameters};

/// Memory channels that a home agent serves at most.
pub const CHANNELS: usize = 4;
/// Tracker entries that the data structures have room for (guide 2.4.4.1).
pub const TRACKER: usize = 128;

/// Tracker entries that belong to the requests of one socket.
#[derive(Debug, Clone, Copy)]
pub struct Trackers {
    /// Entries that slices may still take.
    pub free: u16,
    /// Slices of the machine that wait for one, one bit each.
    pub waiting: u32,
}

/// Credits for the channels' queues of reads and of writes.
#[derive(Debug)]
pub struct QueueCredits {
    // Close together: those that wait are seldom looked at.
    free: [[u8; CHANNELS]; 2],
    waiting: [[Ring<RequestId, TRACKER>; CHANNELS]; 2],
}

impl QueueCredits {
    /// All of them are free: so many for each channel's reads, and for its writes.
    pub fn new(entries: [u8; 2]) -> Self {
        Self {
            free: entries.map(|entries| [entries; CHANNELS]),
            waiting: std::array::from_fn(|_| std::array::from_fn(|_| Ring::new(0))),
        }
    }

    /// Free credits for a channel's queue.
    #[inline]
    pub const fn free(&self, queue: Pending, channel: usize) -> u8 {
        self.free[queue as usize][channel % CHANNELS]
    }

    /// A request takes a credit; without one, it waits, and the answer is false.
    #[inline]
    pub fn take(&mut self, queue: Pending, channel: usize, request: RequestId) -> bool {
        let free = &mut self.free[queue as usize][channel % CHANNELS];
        if *free == 0 {
            self.waiting[queue as usize][channel % CHANNELS].push(request);
            return false;
        }
        *free -= 1;
        true
    }

    /// A credit comes back. The request that gets it at once, if one waits.
    #[inline]
    pub fn give(&mut self, queue: Pending, channel: usize) -> Option<RequestId> {
        let next = self.waiting[queue as usize][channel % CHANNELS].pop();
        self.free[queue as usize][channel % CHANNELS] += u8::from(next.is_none());
        next
    }
}

/// The state of a home agent.
#[derive(Debug)]
pub struct HomeAgent {
    /// By requesting socket.
    pub trackers: [Trackers; MOST_SOCKETS as usize],
    /// First ticks at which a request can be accepted, write data handed on, an answer sent: each once a cycle.
    pub accept_free: Tick,
    pub write_free: Tick,
    pub response_free: Tick,
    /// For the channels' queues of reads and of writes: regular credits, and those for isochronous requests.
    pub credits: QueueCredits,
    pub special_credits: QueueCredits,
    in_hand: InHand,
    /// Snoops and completions that wait for the address ring, and the first tick at which it takes another.
    pub addresses: VecDeque<RequestId>,
    pub address_free: Tick,
    pub acknowledgements: Acknowledgements,
}

impl HomeAgent {
    /// The idle home agent of a socket.
    pub fn new(socket: u8, parameters: &Parameters) -> Self {
        let special = parameters.isochronous_entries;
        // A fixed share for each socket: the real division is set by firmware and not published.
        let others = u16::from(parameters.sockets) - 1;
        let remote = parameters.tracker_remote.checked_div(others).unwrap_or(0);
        let own = parameters.tracker_entries - others * remote;
        let free = |requester: usize| if requester == usize::from(socket) { own } else { remote };
        Self {
            trackers: std::array::from_fn(|requester| Trackers { free: free(requester), waiting: 0 }),
            accept_free: 0,
            write_free: 0,
            response_free: 0,
            credits: QueueCredits::new(parameters.regular_entries()),
            special_credits: QueueCredits::new([special; 2]),
            in_hand: InHand::new(parameters.sockets, parameters.tracker_entries),
            addresses: VecDeque::with_capacity(16),
            address_free: 0,
            acknowledgements: Acknowledgements::new(),
        }
    }

    /// The request for a line that is being served.
    pub fn in_hand(&self, line: u32) -> Option<RequestId> {
        self.in_hand.find(line)
    }

    /// Begins to serve a request for a line.
    pub fn take_in_hand(&mut self, line: u32, request: RequestId) {
        self.in_hand.add(line, request);
    }

    /// The request for a line has been served.
    pub fn drop_in_hand(&mut self, line: u32) {
        self.in_hand.remove(line);
    }
}
