//! Requests and probes under way.

use std::collections::VecDeque;

use pericore_engine::{NEVER, Tick};

use pericore_facts::LineState;
use pericore_facts::nehalem::{Kind, ProbeRecord, Record, Reply, Source};
pub(super) use pericore_parts::{NO_REQUEST, RequestId};

/// A request, and what the model needs to carry it on.
#[derive(Debug)]
pub struct Request {
    /// The truth about it.
    pub record: Record,
    /// Line number.
    pub line: u32,
    /// Core of the machine, or device, that it comes from.
    pub agent: u8,
    /// Entry of the right to a line that others have too.
    pub shared: bool,
    /// It is its turn at home.
    pub started: bool,
    /// It was sent to memory.
    pub memory_sent: bool,
    /// Its data is ready at home, or has been written.
    pub memory_done: bool,
    /// Since when it shares its line with another at home.
    pub contested: Tick,
    /// Snoop responses that its home waits for.
    pub responses: u8,
    /// Parts of its answer that its requester waits for.
    pub parts: u8,
    /// State in which another socket passed the line on.
    pub forwarded: Option<LineState>,
    /// Cores of the socket that were asked and had the line modified: the one whose data is taken.
    pub from_core: Option<u8>,
    /// Next request of the socket that waits for the same line.
    pub next: RequestId,
    /// Next request at the same home for the same line.
    pub next_at_home: RequestId,
}

impl Request {
    /// A request of which nothing has happened yet.
    pub const fn new(kind: Kind, socket: u8, agent: u8, line: u32, home: u8, channel: u8) -> Self {
        let source = if kind.is_device() {
            Source::Hub
        } else if socket == home {
            Source::Local
        } else {
            Source::Remote
        };
        let record = Record {
            kind,
            socket,
            home,
            source,
            channel,
            queued: NEVER,
            looked_up: NEVER,
            hit: false,
            replied: NEVER,
            numbered: NEVER,
            at_home: NEVER,
            bypassed: false,
            left_home: NEVER,
            at_memory: NEVER,
            served: NEVER,
            hurried: false,
            cancelled: false,
            isochronous_write: false,
            filled: None,
            acknowledged: false,
            left: NEVER,
        };
        Self {
            record,
            line,
            agent,
            shared: false,
            started: false,
            memory_sent: false,
            memory_done: false,
            contested: NEVER,
            responses: 0,
            parts: 1,
            forwarded: None,
            from_core: None,
            next: NO_REQUEST,
            next_at_home: NO_REQUEST,
        }
    }
}

/// A snoop under way.
#[derive(Debug)]
pub struct Probe {
    /// The truth about it.
    pub record: ProbeRecord,
    /// The request that it belongs to.
    pub request: RequestId,
    /// The home logic asks again, in the order in which it serves requests.
    pub ordered: bool,
    /// The answer that will be given.
    pub reply: Reply,
    /// State of the line that is passed on.
    pub passed: LineState,
    /// Core whose data it is.
    pub from_core: Option<u8>,
    /// Steps that must still happen before the snoop has ended.
    pub open: u8,
}

/// A queue of requests without bound of its own: what fills it has one.
pub type Waiting = VecDeque<RequestId>;
