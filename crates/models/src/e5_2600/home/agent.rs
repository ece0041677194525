//! The state of a home agent.

use std::collections::VecDeque;

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

/// Credits for a queue of a channel.
#[derive(Debug)]
pub struct QueueCredits {
    pub free: u8,
    /// Requests that wait for one.
    pub waiting: Ring<RequestId, TRACKER>,
}

impl QueueCredits {
    /// All of them are free.
    pub fn new(free: u8) -> Self {
        Self { free, waiting: Ring::new(0) }
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
    pub credits: [[QueueCredits; CHANNELS]; 2],
    pub special_credits: [[QueueCredits; CHANNELS]; 2],
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
            credits: parameters.regular_entries().map(|entries| std::array::from_fn(|_| QueueCredits::new(entries))),
            special_credits: [special; 2].map(|entries| std::array::from_fn(|_| QueueCredits::new(entries))),
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
