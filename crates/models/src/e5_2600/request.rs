//! Requests under way, in a pool of fixed size.

use pericore_engine::{NEVER, Tick};

use crate::e5_2600::home::Finding;
use pericore_facts::e5_2600::{Record, RequestKind};
use pericore_parts::line::Place;
pub use pericore_parts::{NO_REQUEST, RequestId};

/// A request: its truth, and what the model needs to carry it on.
#[derive(Debug, Clone)]
#[repr(align(64))]
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
    /// Its entry in the table of requests.
    pub tor_slot: u8,
    /// Steps that must still happen before the request has ended; none in a free slot.
    pub open: u8,
    /// Right with which the core gets the line: set when data is granted.
    pub shared: bool,
    /// Cores that are requested whether they hold the line.
    pub snooped: u8,
    /// Those of them that have modified it, and send it to the slice with their answers.
    pub modified_in: u8,
    /// The request that a snoop is for.
    pub parent: RequestId,
    /// Next of the requests that wait at the home agent for this one's line.
    pub conflict: RequestId,
    /// Answers to snoops that the home agent waits for.
    pub awaited: u8,
    /// Data and completions that have come to the slice.
    pub parts: u8,
    /// Its arrival in its slice's queue is an event.
    pub announced: bool,
    /// The home agent has served it.
    pub granted: bool,
    /// What a snoop found.
    pub finding: Finding,
    /// When the memory's data was or will be there, if that was before the last answer to a snoop.
    pub data_at: Tick,
    /// Next in the chain of requests that wait for the same line; free requests are chained too.
    pub next: RequestId,
}

// Two lines of the host's cache, and no multiplication to find one.
const _: () = assert!(size_of::<Request>() == 128);

impl Request {
    /// A request of which nothing has happened yet, with one open step.
    #[inline]
    const fn new(record: Record, line: u32, core: u8) -> Self {
        Self {
            record,
            line,
            core,
            place: Place { channel: 0, bank: 0, row: 0 },
            thread: 0,
            tor_slot: 0,
            open: 1,
            shared: false,
            snooped: 0,
            modified_in: 0,
            parent: NO_REQUEST,
            conflict: NO_REQUEST,
            awaited: 0,
            parts: 0,
            announced: false,
            granted: false,
            finding: Finding::Nothing,
            data_at: NEVER,
            next: NO_REQUEST,
        }
    }

    /// Of a read that is being filled: the core waits for its data yet. Fill and data are separate steps.
    #[inline]
    pub const fn data_is_on_its_way(&self) -> bool {
        self.open > 1
    }

    /// Other sockets keep the line that is granted.
    #[inline]
    pub const fn granted_shared(&self) -> bool {
        self.shared && self.record.kind.only_reads()
    }
}

/// Requests under way at most: what the buffers of the cores and the tables of the slices of all sockets hold, and as
/// much again.
const ROOM: usize = 4096;

/// All requests of a machine. Slots are reused. Their number is fixed so that no access needs a check of bounds.
#[derive(Debug)]
pub struct Pool {
    slots: Box<[Request; ROOM]>,
    under_way: u16,
    free: RequestId,
}

impl Pool {
    /// An empty pool.
    pub fn new() -> Self {
        let idle = Request::new(Record::new(RequestKind::DataRead, 0, 0, 0, false), 0, 0);
        let slots: Vec<Request> =
            (0..ROOM as RequestId).map(|slot| Request { next: slot + 1, open: 0, ..idle.clone() }).collect();
        let slots = slots.into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!("the slots are so many"));
        Self { slots, under_way: 0, free: 0 }
    }

    /// A new request with one open step.
    ///
    /// # Panics
    /// If more requests are under way than the machine's buffers and tables hold.
    #[inline]
    pub fn add(&mut self, record: Record, line: u32, core: u8) -> RequestId {
        let id = self.free;
        let slot = usize::from(id);
        assert!(slot < ROOM, "more requests under way than buffers and tables hold");
        self.free = self.slots[slot].next;
        self.slots[slot] = Request::new(record, line, core);
        self.under_way += 1;
        id
    }

    /// Gives the slot of a request without open steps back.
    #[inline]
    pub fn remove(&mut self, id: RequestId) {
        let free = self.free;
        self[id].next = free;
        self.under_way -= 1;
        self.free = id;
    }

    /// True if no request is under way.
    pub const fn is_empty(&self) -> bool {
        self.under_way == 0
    }

    /// The records of all requests under way.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.slots.iter().filter(|request| request.open > 0).map(|request| &request.record)
    }
}

impl std::ops::Index<RequestId> for Pool {
    type Output = Request;

    #[inline]
    fn index(&self, id: RequestId) -> &Request {
        &self.slots[usize::from(id) % ROOM]
    }
}

impl std::ops::IndexMut<RequestId> for Pool {
    #[inline]
    fn index_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.slots[usize::from(id) % ROOM]
    }
}
