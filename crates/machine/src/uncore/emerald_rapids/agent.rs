//! The caching and home agent: its queues and its table of requests.

use pericore_engine::search::matches;
use pericore_engine::{NEVER, Tick};

use super::request::{Pool, RequestId, RequestQueue};
use super::shortage::{LinkCredits, Unsent};
use super::tags::sizes::{MOST_SET_BITS, MOST_WAYS};
use super::tags::{AllTags, Tags};
use pericore_facts::emerald_rapids::{Found, Queue, Reason};
use pericore_parts::host::prefetch;

/// Ways of a slice's snoop filter, which has as many sets as the largest slice: twice the lines of an L2 (assumption).
const FILTER_WAYS: usize = 16;
const WAYS: usize = MOST_WAYS + FILTER_WAYS;
/// An entry of the table of requests without a line.
const FREE: u32 = u32::MAX;
/// States of a snoop filter entry.
pub const FILTER_SHARED: u8 = Found::FilterShared as u8;
pub const FILTER_EXCLUSIVE: u8 = Found::FilterExclusive as u8;

/// The slices and snoop filters of all agents, set beside set, and those of one.
pub type AllSlices = AllTags<WAYS, MOST_SET_BITS>;
pub type Slice<'a> = Tags<'a, MOST_WAYS, 0, WAYS, MOST_SET_BITS>;
pub type Filter<'a> = Tags<'a, FILTER_WAYS, MOST_WAYS, WAYS, MOST_SET_BITS>;

/// An agent. What every message looks at comes first, in one line of the host's cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Agent {
    pub(super) pipeline_free: Tick,
    /// Tick of the pipeline event that counts; others are stale.
    pub(super) pump_at: Tick,
    /// Requests of this socket in order of arrival, cores' from when they are sent. What was turned away because its line was busy comes
    /// back to the front; it has counted as queued all the while.
    pub(super) ingress: RequestQueue,
    /// Requests and snoops of the other socket.
    pub(super) outside: RequestQueue,
    /// What must go to memory and waits for an entry of the table of requests.
    pub(super) victims: RequestQueue,
    /// Entries of the table of requests that are free, one bit each, how many that are, and how many there are.
    vacant: u32,
    vacancies: u8,
    entries: u8,
    /// Credits for messages to the other socket.
    pub(super) links: LinkCredits,
    /// The table of requests: lines, and whose each entry is.
    lines: [u32; 32],
    owners: [RequestId; 32],
    /// Requests that are turned away for want of a credit, and data that waits for one.
    pub(super) unsent: Unsent,
}

impl Agent {
    /// An idle agent.
    pub fn new(tor_entries: u8, home_entries: u8) -> Self {
        Self {
            pipeline_free: 0,
            pump_at: NEVER,
            ingress: RequestQueue::EMPTY,
            outside: RequestQueue::EMPTY,
            victims: RequestQueue::EMPTY,
            vacant: u32::MAX >> (32 - u32::from(tor_entries)),
            vacancies: tor_entries,
            entries: tor_entries,
            links: LinkCredits::new(home_entries),
            lines: [FREE; 32],
            owners: [0; 32],
            unsent: Unsent::new(),
        }
    }

    /// True if it has no credit of a kind for the other socket, or no entry there.
    #[inline]
    pub const fn is_short(&self, of: Reason) -> bool {
        self.links.is_short(of, self.unsent.wait_for(Reason::Request))
    }

    /// Tells the host that a request is about to come to the agent, or to go.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(self);
        prefetch(&self.lines[16]);
        prefetch(&self.lines[31]);
    }

    /// The queue of those that come to the pipeline by one of the guide's.
    #[inline]
    pub(super) const fn queue(&mut self, queue: Queue) -> &mut RequestQueue {
        if matches!(queue, Queue::Core | Queue::Io) { &mut self.ingress } else { &mut self.outside }
    }

    /// When the first request came that waits for the pipeline, or will come.
    #[inline]
    pub(super) fn first_came(&self, pool: &Pool) -> Option<Tick> {
        [self.outside, self.ingress].into_iter().filter_map(RequestQueue::front).map(|front| pool[front].came).min()
    }

    /// True if there are more free entries than `kept` for others.
    #[inline]
    pub(super) const fn has_entry(&self, kept: u8) -> bool {
        self.vacancies > kept
    }

    #[inline]
    pub(super) fn take_entry(&mut self, line: u32, owner: RequestId) -> u8 {
        let slot = self.vacant.trailing_zeros() as u8;
        self.lines[usize::from(slot)] = line;
        self.owners[usize::from(slot)] = owner;
        self.vacant &= !(1 << slot);
        self.vacancies -= 1;
        slot
    }

    /// Frees an entry.
    #[inline]
    pub(super) fn give_entry(&mut self, slot: u8) {
        self.lines[usize::from(slot)] = FREE;
        self.vacant |= 1 << slot;
        self.vacancies += 1;
    }

    #[inline]
    pub(super) fn busy(&self, line: u32) -> Option<RequestId> {
        if self.vacancies == self.entries {
            return None;
        }
        let found = matches(&self.lines, u32::MAX, line);
        (found != 0).then(|| self.owners[found.trailing_zeros() as usize])
    }

    /// The requests in the table that are for a line: a snoop may be beside another.
    pub(super) fn all_for(&self, line: u32) -> impl Iterator<Item = RequestId> + '_ {
        let mut found = matches(&self.lines, u32::MAX, line);
        std::iter::from_fn(move || {
            let slot = found.trailing_zeros() as usize;
            found &= found.wrapping_sub(1);
            self.owners.get(slot).copied()
        })
    }

    /// True if a line that must go to memory finds an entry.
    pub(super) fn can_start(&self, line: u32) -> bool {
        self.has_entry(KEPT) && self.busy(line).is_none()
    }

    /// True if nothing waits anywhere.
    pub fn is_idle(&self) -> bool {
        self.vacancies == self.entries && self.ingress.is_empty() && self.outside.is_empty() && self.victims.is_empty()
    }
}

/// Entries of the table that requests of this socket leave to others, and that the other socket's reads leave to snoops and
/// writebacks: so that no two sockets wait for each other's tables.
pub const KEPT: u8 = 4;
pub const KEPT_BY_REMOTE: u8 = 2;
