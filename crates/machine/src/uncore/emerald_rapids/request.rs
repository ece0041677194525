//! Requests under way, in a pool.

use super::address::Place;
use crate::ledger::emerald_rapids::{Class, Found, Kind, Target};
use crate::signal::Tick;

/// Index of a request in the pool.
pub type RequestId = u16;
/// No request.
pub const NO_REQUEST: RequestId = RequestId::MAX;

/// A request at one caching and home agent.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    pub class: Class,
    /// What its look-up found.
    pub found: Found,
    /// Socket and agent that handle it.
    pub socket: u8,
    pub cha: u8,
    /// Socket of the line's memory.
    pub home: u8,
    /// Who asked: the core, numbered over the machine, or the I/O stack.
    pub origin: u16,
    /// The thread that waits for it, if one does.
    pub thread: u16,
    pub line: u32,
    /// Where that lies in its home's memory, once the request is on its way there.
    pub place: Place,
    /// State in which the core gets the line, once that is known.
    pub grant: u8,
    /// The core that was snooped and answers.
    pub answers: u16,
    /// Its entry in the table of requests.
    pub slot: u8,
    /// Only part of the line is written.
    pub partial: bool,
    /// It writes to memory.
    pub writes: bool,
    /// The pipeline has turned it away before.
    pub turned_away: bool,
    /// A memory prefetch runs ahead of it.
    pub prefetched: bool,
    /// From when on its agent's pipeline may take it.
    pub ready: Tick,
    /// Next in its queue or in the chain of requests that wait for the same line; free requests are chained too.
    pub next: RequestId,
    /// The request of the other socket that this one serves.
    pub parent: RequestId,
}

impl Request {
    /// A request that has just been made.
    pub fn new(kind: Kind, socket: u8, cha: u8, home: u8, origin: u16, line: u32, target: Target) -> Self {
        Self {
            class: Class { kind, hit: false, remote: home != socket, target },
            found: Found::Nothing,
            socket,
            cha,
            home,
            origin,
            thread: u16::MAX,
            line,
            place: Place::default(),
            grant: 0,
            answers: 0,
            slot: 0,
            partial: false,
            writes: false,
            turned_away: false,
            prefetched: false,
            ready: 0,
            next: NO_REQUEST,
            parent: NO_REQUEST,
        }
    }

    /// Its kind.
    #[inline]
    pub const fn kind(&self) -> Kind {
        self.class.kind
    }
}

/// Requests in order, chained through their records: each waits in one queue at a time, and behind nobody's line meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct RequestQueue {
    first: RequestId,
    last: RequestId,
}

impl RequestQueue {
    /// Nobody waits.
    pub const EMPTY: Self = Self { first: NO_REQUEST, last: NO_REQUEST };

    /// True if nobody waits.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.first == NO_REQUEST
    }

    /// Who comes first.
    #[inline]
    pub fn front(self) -> Option<RequestId> {
        (!self.is_empty()).then_some(self.first)
    }

    /// Adds a request behind all others.
    #[inline]
    pub fn push_back(&mut self, request: RequestId, pool: &mut Pool) {
        debug_assert!(pool[request].next == NO_REQUEST, "request {request} waits twice");
        if self.is_empty() {
            self.first = request;
        } else {
            pool[self.last].next = request;
        }
        self.last = request;
    }

    /// Adds a request before all others.
    pub fn push_front(&mut self, request: RequestId, pool: &mut Pool) {
        debug_assert!(pool[request].next == NO_REQUEST, "request {request} waits twice");
        if self.is_empty() {
            self.last = request;
        }
        pool[request].next = self.first;
        self.first = request;
    }

    /// Takes the first.
    #[inline]
    pub fn pop_front(&mut self, pool: &mut Pool) -> Option<RequestId> {
        let request = self.front()?;
        self.first = std::mem::replace(&mut pool[request].next, NO_REQUEST);
        Some(request)
    }
}

/// All requests of a machine. Slots are reused; the pool grows to the machine's bound once and then no more.
#[derive(Debug)]
pub struct Pool {
    slots: Vec<Request>,
    free: RequestId,
    live: usize,
}

impl Pool {
    /// An empty pool with room for `capacity` requests.
    pub fn new(capacity: usize) -> Self {
        Self { slots: Vec::with_capacity(capacity), free: NO_REQUEST, live: 0 }
    }

    /// Takes a request in.
    ///
    /// # Panics
    /// If more are under way than the buffers of all cores and agents hold.
    #[inline]
    pub fn add(&mut self, request: Request) -> RequestId {
        self.live += 1;
        if self.free == NO_REQUEST {
            assert!(self.slots.len() < usize::from(NO_REQUEST), "more requests than identifiers");
            self.slots.push(request);
            return (self.slots.len() - 1) as RequestId;
        }
        let id = self.free;
        self.free = self[id].next;
        self[id] = request;
        id
    }

    /// Gives a request's slot back.
    #[inline]
    pub fn remove(&mut self, id: RequestId) {
        self[id].next = self.free;
        self.free = id;
        self.live -= 1;
    }

    /// True if none is under way.
    pub const fn is_empty(&self) -> bool {
        self.live == 0
    }
}

impl std::ops::Index<RequestId> for Pool {
    type Output = Request;

    #[inline]
    fn index(&self, id: RequestId) -> &Request {
        &self.slots[usize::from(id)]
    }
}

impl std::ops::IndexMut<RequestId> for Pool {
    #[inline]
    fn index_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.slots[usize::from(id)]
    }
}

#[cfg(test)]
mod tests {
    use super::{Pool, Request, RequestQueue};
    use crate::ledger::emerald_rapids::{Kind, Target};

    #[test]
    fn requests_leave_a_queue_in_order() {
        let mut pool = Pool::new(4);
        let [a, b, c, d] =
            std::array::from_fn(|n| pool.add(Request::new(Kind::DataRead, 0, 0, 0, 0, n as u32, Target::Ddr)));
        let (mut queue, mut other) = (RequestQueue::EMPTY, RequestQueue::EMPTY);
        queue.push_back(a, &mut pool);
        queue.push_back(b, &mut pool);
        other.push_front(d, &mut pool);
        queue.push_front(c, &mut pool);
        assert_eq!([c, a, b].map(Some), std::array::from_fn(|_| queue.pop_front(&mut pool)));
        assert!(queue.is_empty() && queue.pop_front(&mut pool).is_none());
        queue.push_back(a, &mut pool);
        other.push_back(c, &mut pool);
        assert_eq!((queue.front(), other.front()), (Some(a), Some(d)));
        assert_eq!([Some(d), Some(c), None], std::array::from_fn(|_| other.pop_front(&mut pool)));
    }
}
