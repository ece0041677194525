//! Requests under way, in a pool of fixed size.

use super::address::Place;
use super::remote::Finding;
use crate::engine::NEVER;
use crate::ledger::{Record, RequestKind};
use crate::signal::Tick;

/// Index of a request in the pool.
pub type RequestId = u16;
/// No request.
pub const NO_REQUEST: RequestId = RequestId::MAX;

/// A request: its truth, and what the model needs to carry it on.
#[derive(Debug, Clone)]
pub struct Request {
    /// The truth about it.
    pub record: Record,
    /// Line number.
    pub line: u32,
    /// Core that it comes from, or that its victim's data came from.
    pub core: u8,
    /// Where its line lies in memory, once the home agent has it.
    pub place: Place,
    /// Thread of a device that it comes from.
    pub thread: u16,
    /// The tag of its entry in the table of requests.
    pub tor_tag: u64,
    /// Its entry in the table of requests.
    pub tor_slot: u8,
    /// Steps that must still happen before the request has ended.
    pub open: u8,
    /// Right with which the core gets the line: set when data is granted.
    pub shared: bool,
    /// Cores that are asked whether they hold the line.
    pub snooped: u8,
    /// The request that a snoop is for.
    pub parent: RequestId,
    /// Next of the requests that wait at the home agent for this one's line.
    pub conflict: RequestId,
    /// Answers to snoops that the home agent waits for.
    pub awaited: u8,
    /// Data and completions that have come to the slice.
    pub parts: u8,
    /// The home agent has served it.
    pub granted: bool,
    /// What a snoop found.
    pub finding: Finding,
    /// When the memory's data was or will be there, if that was before the last answer to a snoop.
    pub data_at: Tick,
    /// Next in the chain of requests that wait for the same line; free requests are chained too.
    pub next: RequestId,
}

impl Request {
    /// Other sockets keep the line that is granted.
    pub const fn granted_shared(&self) -> bool {
        self.shared && matches!(self.record.kind, RequestKind::DataRead)
    }
}

/// All requests of a machine. Slots are reused; the pool grows to the machine's bound once and then no more.
#[derive(Debug)]
pub struct Pool {
    slots: Vec<Request>,
    live: Vec<bool>,
    free: RequestId,
}

impl Pool {
    /// An empty pool with room for `capacity` requests.
    pub fn new(capacity: usize) -> Self {
        Self { slots: Vec::with_capacity(capacity), live: Vec::with_capacity(capacity), free: NO_REQUEST }
    }

    /// A new request with one open step.
    pub fn add(&mut self, record: Record, line: u32, core: u8) -> RequestId {
        let request = Request {
            record,
            line,
            core,
            place: Place::default(),
            thread: 0,
            tor_tag: 0,
            tor_slot: 0,
            open: 1,
            shared: false,
            snooped: 0,
            parent: NO_REQUEST,
            conflict: NO_REQUEST,
            awaited: 0,
            parts: 0,
            granted: false,
            finding: Finding::Nothing,
            data_at: NEVER,
            next: NO_REQUEST,
        };
        if self.free == NO_REQUEST {
            self.slots.push(request);
            self.live.push(true);
            return (self.slots.len() - 1) as RequestId;
        }
        let id = self.free;
        self.free = self[id].next;
        self[id] = request;
        self.live[usize::from(id)] = true;
        id
    }

    /// Gives a request's slot back.
    pub fn remove(&mut self, id: RequestId) {
        self[id].next = self.free;
        self.live[usize::from(id)] = false;
        self.free = id;
    }

    /// The records of all requests under way.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.slots.iter().zip(&self.live).filter(|&(_, &live)| live).map(|(request, _)| &request.record)
    }
}

impl std::ops::Index<RequestId> for Pool {
    type Output = Request;

    fn index(&self, id: RequestId) -> &Request {
        &self.slots[usize::from(id)]
    }
}

impl std::ops::IndexMut<RequestId> for Pool {
    fn index_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.slots[usize::from(id)]
    }
}
