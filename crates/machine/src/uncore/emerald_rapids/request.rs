//! Requests under way, in a pool.

use pericore_engine::{NEVER, Tick};

use super::address::Place;
pub(super) use crate::uncore::{NO_REQUEST, RequestId};
use pericore_facts::emerald_rapids::{Class, Found, Kind, PrefetchSender, Queue, Target};

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
    /// It is a device's that must have it by a time.
    pub isochronous: bool,
    /// Only part of the line is written.
    pub partial: bool,
    /// It writes to memory.
    pub writes: bool,
    /// It writes only a line's directory bits, and is at no agent.
    pub only_bits: bool,
    /// The pipeline has turned it away before.
    pub turned_away: bool,
    /// Whose prefetch reads memory for it already.
    pub ahead: Option<PrefetchSender>,
    /// When it comes to its agent's queue, or came, for as long as it waits for its look-up.
    pub came: Tick,
    /// When it took its entry in the table of requests.
    pub listed: Tick,
    /// Its arrival is an event, for those who hear of it.
    pub announced: bool,
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
            isochronous: false,
            partial: false,
            writes: false,
            only_bits: false,
            turned_away: false,
            ahead: None,
            came: NEVER,
            listed: NEVER,
            announced: false,
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

    /// Adds a request behind all that come no later.
    #[inline]
    pub fn insert(&mut self, request: RequestId, pool: &mut Pool) {
        if self.is_empty() || pool[self.last].came <= pool[request].came {
            self.push_back(request, pool);
        } else {
            self.squeeze_in(request, pool);
        }
    }

    /// The same before the last one.
    #[inline(never)]
    fn squeeze_in(&mut self, request: RequestId, pool: &mut Pool) {
        let (came, mut after) = (pool[request].came, self.first);
        let mut before = NO_REQUEST;
        while pool[after].came <= came {
            (before, after) = (after, pool[after].next);
        }
        pool[request].next = after;
        if before == NO_REQUEST {
            self.first = request;
        } else {
            pool[before].next = request;
        }
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

/// Slots of a pool: one for each identifier, so that a request is found without a check.
const SLOTS: usize = 1 << RequestId::BITS;

/// All requests of a machine. Slots are reused: those of low identifiers stay in the host's caches.
#[derive(Debug)]
pub struct Pool {
    slots: Box<[Request; SLOTS]>,
    /// The first identifier that has never been given.
    fresh: RequestId,
    free: RequestId,
    live: usize,
}

impl Pool {
    /// An empty pool.
    pub fn new() -> Self {
        let nobodys = Request::new(Kind::DataRead, 0, 0, 0, 0, 0, Target::Ddr);
        // Made where it stays: it is too large for the stack.
        let slots: Box<[Request]> = vec![nobodys; SLOTS].into();
        let slots = slots.try_into().unwrap_or_else(|_| unreachable!("it has a slot for each identifier"));
        Self { slots, fresh: 0, free: NO_REQUEST, live: 0 }
    }

    /// Takes a request in.
    ///
    /// # Panics
    /// If more are under way than the buffers of all cores and agents hold.
    #[inline]
    pub fn add(&mut self, request: Request) -> RequestId {
        self.live += 1;
        let id = if self.free == NO_REQUEST {
            assert!(self.fresh < NO_REQUEST, "more requests than identifiers");
            self.fresh += 1;
            self.fresh - 1
        } else {
            let free = self.free;
            self.free = self[free].next;
            free
        };
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

    /// Cores' requests that wait for their look-up, those on their way to it too.
    pub fn waiting(&self) -> impl Iterator<Item = (RequestId, &Request)> {
        let given = &self.slots[..usize::from(self.fresh)];
        (0..).zip(given).filter(|(_, request)| request.came != NEVER && request.kind().queue() == Queue::Core)
    }

    /// Those of them that have come to their agents before `now`.
    pub fn in_ingress(&self, now: Tick) -> impl Iterator<Item = &Request> {
        self.waiting().map(|(_, request)| request).filter(move |request| request.came < now)
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
    use pericore_facts::emerald_rapids::{Kind, Target};

    #[test]
    fn requests_leave_a_queue_in_order() {
        let mut pool = Pool::new();
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

    #[test]
    fn requests_that_are_sent_wait_in_the_order_in_which_they_come() {
        let mut pool = Pool::new();
        let mut queue = RequestQueue::EMPTY;
        // The last was turned away and came long before.
        let sent = [20, 30, 10, 25, 30, 5].map(|came| {
            let request = pool.add(Request::new(Kind::DataRead, 0, 0, 0, 0, 0, Target::Ddr));
            pool[request].came = came;
            request
        });
        sent[..5].iter().for_each(|&request| queue.insert(request, &mut pool));
        queue.push_front(sent[5], &mut pool);
        assert_eq!(pool.in_ingress(21).count(), 3);
        let order: [_; 6] = std::array::from_fn(|_| queue.pop_front(&mut pool));
        assert_eq!(order, [5, 2, 0, 3, 1, 4].map(|number| Some(sent[number])));
        assert!(queue.is_empty());
    }
}
