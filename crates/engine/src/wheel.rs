//! The event queue: a timing wheel for the near future and a heap for the rest.
//!
//! Events happen at the edges of one clock, which are the wheel's slots: so the next event is nearly always in the same word of
//! the wheel's bit map as the last. They come out by tick, and those of one tick in the order in which they were scheduled. Scheduling and popping take
//! constant time and no heap memory: the nodes are recycled.
//!
//! Some things happen once all else of a cycle has: a pipeline chooses among what has come. They are marked, not scheduled.

use crate::Tick;
use crate::{NEVER, Period};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cycles that the wheel covers: 380 ns at 2.7 GHz, longer than nearly every delay of a request.
const SLOTS: usize = 1024;
const WORDS: usize = SLOTS / 64;
const NONE: u16 = u16::MAX;
/// Events beyond those that slots hold themselves, at one time: far more than a machine has under way.
const NODES: usize = 16384;

/// Marks of a cycle, one bit each.
pub const MARKS: usize = u32::BITS as usize;

/// The events of a cycle: those that it holds itself come first, then the chain.
#[derive(Clone, Copy)]
struct Slot {
    /// Events by place, from place 1 on.
    events: [u32; PLACES],
}

/// A slot is half a line of the host's cache. The first word is how many events it holds; a full one may have a chain.
const PLACES: usize = 8;
const FULL: u32 = PLACES as u32 - 1;

/// Events of a slot that it has no room for.
#[derive(Clone, Copy)]
struct Chain {
    head: u16,
    tail: u16,
}

#[derive(Clone, Copy)]
struct Node {
    event: u32,
    next: u16,
}

/// An event queue of small integers.
pub struct Wheel {
    clock: Period,
    now: u64,
    /// The cycle of the next event; while events of a cycle are taken, that cycle.
    next: u64,
    slots: Box<[Slot; SLOTS]>,
    chains: Box<[Chain; SLOTS]>,
    /// By slot, what is marked, one bit each, and the event that the first of the bits stands for.
    marks: Box<[u32; SLOTS]>,
    marked: u32,
    /// One bit for each slot that holds events or marks.
    occupied: [u64; WORDS],
    /// How many of the events of the cycle's slot have been taken.
    given: u32,
    nodes: Box<[Node; NODES]>,
    free: u16,
    /// Events beyond the wheel. They move in as soon as their tick comes within reach, before anything can be scheduled
    /// there directly, so that the order of scheduling holds.
    far: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// The first cycle of those.
    far_next: u64,
    sequence: u64,
}

impl Wheel {
    /// An empty queue at tick 0, for events at the edges of a clock.
    pub fn new(clock: Period) -> Self {
        Self {
            clock,
            now: 0,
            next: NEVER,
            slots: Box::new([Slot { events: [0; PLACES] }; SLOTS]),
            chains: Box::new([Chain { head: NONE, tail: NONE }; SLOTS]),
            marks: Box::new([0; SLOTS]),
            marked: 0,
            occupied: [0; WORDS],
            given: 0,
            nodes: Box::new(std::array::from_fn(|index| Node {
                event: 0,
                next: if index + 1 < NODES { index as u16 + 1 } else { NONE },
            })),
            free: 0,
            far: BinaryHeap::with_capacity(64),
            far_next: NEVER,
            sequence: 0,
        }
    }

    /// The same queue, whose marks stand for this event and the numbers after it.
    #[must_use]
    pub fn with_marks(self, marked: u32) -> Self {
        Self { marked, ..self }
    }

    /// Marks one of the [`MARKS`] events, which come once in a cycle, in the order of their numbers, and after all others. `tick` is an edge,
    /// and not in the past. Gives that tick, or the last within reach.
    #[inline]
    pub fn mark(&mut self, tick: Tick, number: u8) -> Tick {
        let cycle = self.clock.cycles(tick).min(self.now + SLOTS as u64 - 1);
        debug_assert!(cycle >= self.now && usize::from(number) < MARKS, "mark {number} at {tick}, now {}", self.now);
        self.next = self.next.min(cycle);
        let index = cycle as usize % SLOTS;
        self.marks[index] |= 1 << (usize::from(number) % MARKS);
        self.occupied[index / 64] |= 1 << (index % 64);
        cycle * self.clock.ticks()
    }

    /// Puts an event at `tick`, which must not lie in the past; between two edges, at the second.
    // Once for all who call it: copies would crowd the host's cache of instructions.
    #[inline(never)]
    pub fn schedule(&mut self, tick: Tick, event: u32) {
        let cycle = self.clock.next_cycle(tick);
        debug_assert!(cycle >= self.now, "event {event:#x} at {tick}, cycle {cycle}, now {}", self.now);
        self.next = self.next.min(cycle);
        if cycle - self.now < SLOTS as u64 {
            self.insert(cycle, event);
        } else {
            self.put_off(cycle, event);
        }
    }

    /// Complete cycles of the clock before the time that has come.
    #[inline]
    pub const fn cycle(&self) -> u64 {
        self.now
    }

    #[cold]
    fn put_off(&mut self, cycle: u64, event: u32) {
        self.sequence += 1;
        self.far.push(Reverse((cycle, self.sequence, event)));
        self.far_next = self.far_next.min(cycle);
    }

    /// The tick of the next event, or [`NEVER`].
    #[inline]
    pub const fn next_tick(&self) -> Tick {
        if self.next == NEVER { NEVER } else { self.next * self.clock.ticks() }
    }

    #[inline]
    fn find(&self) -> u64 {
        let at = self.now as usize % SLOTS;
        let rest = self.occupied[at / 64] >> (at % 64);
        if rest != 0 {
            return self.now + u64::from(rest.trailing_zeros());
        }
        self.find_later(at)
    }

    #[inline(never)]
    fn find_later(&self, at: usize) -> u64 {
        // The current word comes last, for its slots before `at`.
        for distance in 1..=WORDS {
            let word = (at / 64 + distance) % WORDS;
            if self.occupied[word] != 0 {
                let slot = word * 64 + self.occupied[word].trailing_zeros() as usize;
                return self.now + ((slot + SLOTS - at) % SLOTS) as u64;
            }
        }
        self.far_next
    }

    /// Moves time forward to `tick`; no event may lie before it.
    #[inline]
    pub fn advance(&mut self, tick: Tick) {
        self.reach(self.clock.cycles(tick));
    }

    /// Moves time forward to the next event, whose tick has been asked for.
    #[inline]
    pub fn advance_to_next(&mut self) {
        self.reach(self.next);
    }

    #[inline]
    fn reach(&mut self, cycle: u64) {
        debug_assert!(self.given == 0, "events of a past cycle are left");
        self.now = cycle;
        if self.far_next - self.now < SLOTS as u64 {
            self.move_in();
        }
    }

    #[cold]
    fn move_in(&mut self) {
        while let Some(&Reverse((far, _, event))) = self.far.peek().filter(|far| far.0.0 - self.now < SLOTS as u64) {
            self.far.pop();
            self.insert(far, event);
        }
        self.far_next = self.far.peek().map_or(NEVER, |far| far.0.0);
    }

    /// Takes the next event of the cycle that has come; those that its own events schedule for it come last. Once there is none, the
    /// next cycle with events is looked for.
    #[inline]
    pub fn pop(&mut self) -> Option<u32> {
        let index = self.now as usize % SLOTS;
        let slot = &self.slots[index].events;
        let held = slot[0];
        if self.given < held {
            self.given += 1;
            return Some(slot[self.given as usize % PLACES]);
        }
        if held == FULL && self.chains[index].head != NONE {
            return Some(self.pop_chain(index));
        }
        let marks = &mut self.marks[index];
        if *marks != 0 {
            let number = marks.trailing_zeros();
            *marks &= *marks - 1;
            return Some(self.marked + number);
        }
        self.given = 0;
        self.slots[index].events[0] = 0;
        self.occupied[index / 64] &= !(1 << (index % 64));
        self.next = self.find();
        None
    }

    #[cold]
    fn pop_chain(&mut self, index: usize) -> u32 {
        let taken = self.chains[index].head;
        let node = &mut self.nodes[usize::from(taken) % NODES];
        let Node { event, next } = *node;
        node.next = self.free;
        self.free = taken;
        self.chains[index].head = next;
        event
    }

    #[inline]
    fn insert(&mut self, cycle: u64, event: u32) {
        let index = cycle as usize % SLOTS;
        let slot = &mut self.slots[index].events;
        let held = slot[0];
        if held >= FULL {
            self.append(index, event);
            return;
        }
        slot[0] = held + 1;
        slot[(held as usize + 1) % PLACES] = event;
        self.occupied[index / 64] |= 1 << (index % 64);
    }

    /// The slot is full, and stays so until it is taken out: order holds.
    #[cold]
    fn append(&mut self, index: usize, event: u32) {
        let taken = self.free;
        assert!(taken != NONE, "more events under way than the wheel has nodes");
        let node = &mut self.nodes[usize::from(taken) % NODES];
        self.free = node.next;
        *node = Node { event, next: NONE };
        let chain = &mut self.chains[index];
        if chain.head == NONE {
            chain.head = taken;
        } else {
            self.nodes[usize::from(chain.tail) % NODES].next = taken;
        }
        chain.tail = taken;
    }
}

impl std::fmt::Debug for Wheel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wheel").field("now", &self.now).field("next", &self.next).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
