//! What waits for a slice's pipeline, in queues of different rights of way.

use std::collections::VecDeque;

use pericore_engine::{NEVER, Ring, Tick};

use pericore_parts::RequestId;

/// Queues that have entries, one bit each: most of the time all are empty, or one has a single entry.
const FILLS: u8 = 1;
const RETRIES: u8 = 1 << 1;
const FRESH: u8 = 1 << 2;
const SNOOP_RETRIES: u8 = 1 << 3;
const SNOOPS: u8 = 1 << 4;

/// The queues of a slice before its pipeline.
#[derive(Debug)]
pub struct Waiting {
    present: u8,
    /// Lines that have come from memory.
    fills: Ring<RequestId, 32>,
    /// Requests that were turned away because their line was busy, and may now try again. They still count as queued.
    retries: Ring<RequestId, 32>,
    /// Requests in order of arrival, those on their way too, with the tick from which they may be looked up.
    fresh: Ring<(Tick, RequestId), 32>,
    /// That tick of the first of them.
    fresh_from: Tick,
    /// Snoops that waited for a request to their line, and may now try again. They still count as queued.
    snoop_retries: VecDeque<RequestId>,
    /// Snoops of other sockets, with the tick from which they may be looked up.
    snoops: VecDeque<(Tick, RequestId)>,
}

impl Waiting {
    /// Nothing waits.
    pub fn new() -> Self {
        Self {
            present: 0,
            fills: Ring::new(0),
            retries: Ring::new(0),
            fresh: Ring::new((0, 0)),
            fresh_from: NEVER,
            snoop_retries: VecDeque::with_capacity(64),
            snoops: VecDeque::with_capacity(64),
        }
    }

    /// True if nothing waits.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.present == 0
    }

    /// The tick from which the first request may be looked up, if it is the pipeline's only work.
    #[inline]
    pub fn only_request(&self) -> Option<Tick> {
        if self.present == FRESH { Some(self.fresh_from) } else { None }
    }

    /// A line has come.
    #[inline]
    pub fn add_fill(&mut self, request: RequestId) {
        self.fills.push(request);
        self.present |= FILLS;
    }

    /// A request may try again.
    pub fn add_retry(&mut self, request: RequestId) {
        self.retries.push(request);
        self.present |= RETRIES;
    }

    /// A request comes, or will, that may be looked up from a tick on. The queue takes one in a `cycle`: if that one
    /// has been given away, it is the next that has not. Gives it.
    #[inline]
    pub fn add_request(&mut self, ready: Tick, cycle: Tick, request: RequestId) -> Tick {
        self.present |= FRESH;
        self.fresh_from = self.fresh_from.min(ready);
        if self.fresh.back().is_none_or(|(last, _)| last < ready) {
            self.fresh.push((ready, request));
            return ready;
        }
        self.squeeze_in(ready, cycle, request)
    }

    /// The same among those that come later, or in the same cycle.
    #[inline(never)]
    fn squeeze_in(&mut self, mut ready: Tick, cycle: Tick, request: RequestId) -> Tick {
        let mut place = self.fresh.len();
        while place > 0 && self.fresh.at(place - 1).0 > ready {
            place -= 1;
        }
        if place > 0 && self.fresh.at(place - 1).0 == ready {
            ready += cycle;
            while place < self.fresh.len() && self.fresh.at(place).0 == ready {
                (place, ready) = (place + 1, ready + cycle);
            }
        }
        self.fresh.insert(place, (ready, request));
        ready
    }

    /// The requests that may be looked up after a tick, and those ticks.
    pub fn requests_after(&self, tick: Tick) -> impl Iterator<Item = (Tick, RequestId)> + '_ {
        self.fresh.iter().filter(move |&(ready, _)| ready > tick)
    }

    /// A snoop may try again.
    pub fn add_snoop_retry(&mut self, snoop: RequestId) {
        self.snoop_retries.push_back(snoop);
        self.present |= SNOOP_RETRIES;
    }

    /// A snoop has come that may be looked up from a tick on.
    pub fn add_snoop(&mut self, ready: Tick, snoop: RequestId) {
        self.snoops.push_back((ready, snoop));
        self.present |= SNOOPS;
    }

    /// True if a request or snoop comes in the cycle behind which it may be looked up from a tick on.
    pub fn has_one_of(&self, ready: Tick) -> bool {
        self.fresh.iter().any(|(of, _)| of == ready) || self.snoops.back().is_some_and(|&(of, _)| of == ready)
    }

    /// The first line that has come.
    #[inline]
    pub fn fill(&self) -> Option<RequestId> {
        if self.has(FILLS) { self.fills.front() } else { None }
    }

    /// True if lines have come.
    #[inline]
    pub const fn has_fills(&self) -> bool {
        self.has(FILLS)
    }

    /// Takes the first line that has come.
    #[inline]
    pub fn take_fill(&mut self) {
        self.fills.pop();
        self.note(FILLS, self.fills.is_empty());
    }

    /// The first request that may try again.
    #[inline]
    pub fn retry(&self) -> Option<RequestId> {
        if self.has(RETRIES) { self.retries.front() } else { None }
    }

    /// Takes it.
    pub fn take_retry(&mut self) {
        self.retries.pop();
        self.note(RETRIES, self.retries.is_empty());
    }

    /// The first request that has come, if it may be looked up at `now`.
    #[inline]
    pub fn request(&self, now: Tick) -> Option<RequestId> {
        if self.fresh_from <= now { self.fresh.front().map(|(_, request)| request) } else { None }
    }

    /// Takes it.
    #[inline]
    pub fn take_request(&mut self) {
        self.fresh.pop();
        match self.fresh.front() {
            Some((ready, _)) => self.fresh_from = ready,
            None => {
                self.fresh_from = NEVER;
                self.present &= !FRESH;
            }
        }
    }

    /// Takes the first snoop that may be looked up at `now`, those that try again first.
    pub fn take_snoop(&mut self, now: Tick) -> Option<RequestId> {
        if let Some(again) = self.snoop_retries.pop_front() {
            self.note(SNOOP_RETRIES, self.snoop_retries.is_empty());
            return Some(again);
        }
        let &(_, snoop) = self.snoops.front().filter(|(ready, _)| *ready <= now)?;
        self.snoops.pop_front();
        self.note(SNOOPS, self.snoops.is_empty());
        Some(snoop)
    }

    /// The first tick at which a request may be looked up; 0 for one that tries again.
    #[inline]
    pub fn next_request(&self) -> Option<Tick> {
        if self.has(RETRIES) {
            Some(0)
        } else if self.has(FRESH) {
            Some(self.fresh_from)
        } else {
            None
        }
    }

    /// The first tick at which a snoop may be looked up; 0 for one that tries again.
    #[inline]
    pub fn next_snoop(&self) -> Option<Tick> {
        if self.has(SNOOP_RETRIES) {
            Some(0)
        } else if self.has(SNOOPS) {
            self.snoops.front().map(|&(ready, _)| ready)
        } else {
            None
        }
    }

    #[inline]
    const fn has(&self, queue: u8) -> bool {
        self.present & queue != 0
    }

    /// Something has left a queue.
    #[inline]
    const fn note(&mut self, queue: u8, empty: bool) {
        if empty {
            self.present &= !queue;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Waiting;

    #[test]
    fn each_queue_gives_what_it_took() {
        let mut waiting = Waiting::new();
        assert!(waiting.is_empty());
        waiting.add_request(10, 2, 1);
        assert_eq!((waiting.only_request(), waiting.request(9), waiting.request(10)), (Some(10), None, Some(1)));
        waiting.add_fill(2);
        assert_eq!((waiting.only_request(), waiting.fill(), waiting.next_request()), (None, Some(2), Some(10)));
        waiting.add_retry(3);
        assert_eq!((waiting.retry(), waiting.next_request()), (Some(3), Some(0)));
        waiting.take_retry();
        waiting.take_fill();
        waiting.take_request();
        assert_eq!((waiting.retry(), waiting.fill(), waiting.request(10)), (None, None, None));
        assert!(waiting.is_empty());
    }

    #[test]
    fn requests_are_taken_in_the_order_of_arrival_one_a_cycle() {
        let mut waiting = Waiting::new();
        let mut add = |ready, request| waiting.add_request(ready, 2, request);
        assert_eq!([add(20, 1), add(20, 2), add(16, 3), add(16, 4), add(18, 5), add(30, 6)], [20, 22, 16, 18, 24, 30]);
        assert_eq!(waiting.requests_after(22).collect::<Vec<_>>(), [(24, 5), (30, 6)]);
        let taken = [3, 4, 1, 2, 5, 6].map(|_| {
            let first = waiting.request(30);
            waiting.take_request();
            first
        });
        assert_eq!(taken, [3, 4, 1, 2, 5, 6].map(Some));
        assert!(waiting.is_empty());
    }

    #[test]
    fn snoops_that_try_again_go_first() {
        let mut waiting = Waiting::new();
        waiting.add_snoop(5, 1);
        assert_eq!((waiting.next_snoop(), waiting.take_snoop(4)), (Some(5), None));
        waiting.add_snoop_retry(2);
        assert_eq!(waiting.next_snoop(), Some(0));
        assert_eq!([4, 4, 5].map(|now| waiting.take_snoop(now)), [Some(2), None, Some(1)]);
        assert!(waiting.is_empty());
    }
}
