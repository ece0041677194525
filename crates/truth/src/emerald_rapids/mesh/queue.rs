//! A queue's figures from the stays of the messages that waited in it.

use pericore_facts::emerald_rapids::{HALF_FULL, PATIENCE, ROOM};

/// Stretches that a queue has room for from the start: those of a queue that is full, and a few.
const STRETCHES: usize = 16;

/// How many messages wait over time.
#[derive(Debug, Clone)]
pub struct Depth {
    /// The stay of the first message that came when nobody waited.
    first: (u64, u64),
    /// When nobody waits any more.
    emptied: u64,
    /// If more came, how many wait from each cycle on, up to the next one listed. None after the last.
    stretches: Vec<(u64, u32)>,
}

impl Default for Depth {
    fn default() -> Self {
        Self { first: (0, 0), emptied: 0, stretches: Vec::with_capacity(STRETCHES) }
    }
}

/// How long a stay made a queue reach a depth, in cycles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Reached {
    one: u64,
    half: u64,
    full: u64,
    /// Messages that it found.
    found: u32,
    /// The first cycle in which fewer of those were left than fill the queue.
    room: u64,
    /// When it began to fill the queue, and when it no longer did.
    filled: Option<(u64, u64)>,
}

/// Cycles that stays cover, each counted once.
#[derive(Debug, Clone)]
pub struct Cover(Depth);

impl Default for Cover {
    /// Without room from the start: most are never needed.
    fn default() -> Self {
        Self(Depth { first: (0, 0), emptied: 0, stretches: Vec::new() })
    }
}

impl Cover {
    /// Adds a stay from `came` to `went`: how many of its cycles no other had. Nobody asks about what was before `now`.
    pub fn add(&mut self, came: u64, went: u64, now: u64) -> u64 {
        if self.0.emptied <= now {
            self.0.add_alone(came, went);
            went - came
        } else {
            self.0.add(came, went, now).one
        }
    }
}

impl Depth {
    /// A message waits from `came` to `went`, where nobody else does from `now` on.
    #[inline]
    fn add_alone(&mut self, came: u64, went: u64) {
        (self.first, self.emptied) = ((came, went), went);
        self.stretches.clear();
    }

    /// A message waits from `came` to `went`, where others do. Nobody asks about what was before `now`.
    fn add(&mut self, came: u64, went: u64, now: u64) -> Reached {
        self.emptied = self.emptied.max(went);
        if self.stretches.is_empty() {
            let (came, went) = self.first;
            self.stretches.extend([(came, 1), (went, 0)]);
        }
        let gone = self.stretches.partition_point(|&(start, _)| start <= now);
        // The stretch that holds now is the last before it.
        self.stretches.drain(..gone.saturating_sub(1));
        let first = self.split(came);
        let last = self.split(went);
        let mut reached = Reached { found: self.stretches[first].1, room: went, ..Reached::default() };
        if let Some(&(room, _)) = self.stretches[first..last].iter().find(|&&(_, depth)| depth < ROOM) {
            reached.room = room;
        }
        for index in first..last {
            let cycles = self.stretches[index + 1].0 - self.stretches[index].0;
            let depth = &mut self.stretches[index].1;
            *depth += 1;
            match *depth {
                1 => reached.one += cycles,
                HALF_FULL => reached.half += cycles,
                ROOM => {
                    reached.full += cycles;
                    // Messages leave in order, so that there is one such stretch in time.
                    let from = reached.filled.map_or(self.stretches[index].0, |(from, _)| from);
                    reached.filled = Some((from, self.stretches[index + 1].0));
                }
                _ => {}
            }
        }
        reached
    }

    /// The index of the stretch that begins at a cycle, made if need be.
    fn split(&mut self, cycle: u64) -> usize {
        let after = self.stretches.partition_point(|&(start, _)| start < cycle);
        if self.stretches.get(after).is_none_or(|&(start, _)| start != cycle) {
            let depth = if after == 0 { 0 } else { self.stretches[after - 1].1 };
            self.stretches.insert(after, (cycle, depth));
        }
        after
    }
}

/// Totals of a queue.
#[derive(Debug, Clone, Copy, Default)]
pub struct Queue {
    /// Messages that waited.
    pub entries: u64,
    /// Cycles that they waited.
    pub occupied: u64,
    /// Cycles in which it held something.
    pub nonempty: u64,
    /// Cycles in which it was half full or more.
    pub half: u64,
    /// Cycles in which it had no room.
    pub full: u64,
    /// Messages that found no room.
    pub refused: u64,
    /// Cycles in which one or more waited for it, and those of each, added up.
    pub refused_for: u64,
    /// See `refused_for`.
    pub outside: u64,
    /// Cycles in which one or more starved.
    pub starved: u64,
    /// Cycles in which one or more did for want of room.
    pub starved_outside: u64,
    /// Messages that the ring had no slot for when they were to be put on it.
    pub nacked: u64,
    /// Those that it had none for so long that they starved.
    pub starving: u64,
}

impl Queue {
    /// Cycles that messages were in it, added up: who waits for room is not in it yet.
    pub const fn held(&self) -> u64 {
        self.occupied - self.outside
    }

    /// A message waited.
    #[inline]
    fn add(&mut self, waited: u64) {
        self.entries += 1;
        self.occupied += waited;
    }

    /// It made the queue reach a depth.
    const fn reach(&mut self, reached: Reached) {
        self.nonempty += reached.one;
        self.half += reached.half;
        self.full += reached.full;
    }
}

/// What waits in a queue that counts `KINDS` kinds of messages apart.
#[derive(Debug, Clone)]
pub struct Waits<const KINDS: usize> {
    totals: [Queue; KINDS],
    depth: Depth,
    /// Cycles in which somebody starves, and starves for want of room.
    waiting: [Cover; 2],
    /// By kind: cycles in which somebody waits for room.
    outside: [Cover; KINDS],
}

impl<const KINDS: usize> Default for Waits<KINDS> {
    fn default() -> Self {
        Self {
            totals: [Queue::default(); KINDS],
            depth: Depth::default(),
            waiting: Default::default(),
            outside: std::array::from_fn(|_| Cover::default()),
        }
    }
}

impl<const KINDS: usize> Waits<KINDS> {
    /// As many, each with room of its own.
    pub fn many(count: usize) -> Vec<Self> {
        (0..count).map(|_| Self::default()).collect()
    }

    /// A message of a kind waits from `came` to `went`: from when to when it filled the queue, if it did. Most wait
    /// alone.
    #[inline]
    pub fn add(&mut self, kind: usize, came: u64, went: u64, now: u64) -> Option<(u64, u64)> {
        let mut filled = None;
        self.totals[kind].add(went - came);
        if self.depth.emptied <= now {
            self.depth.add_alone(came, went);
            self.totals[kind].nonempty += went - came;
        } else {
            filled = self.add_to_others(kind, came, went, now);
        }
        if went - came > PATIENCE.into() {
            let [starving, ..] = &mut self.waiting;
            self.totals[kind].starved += starving.add(came + u64::from(PATIENCE), went, now);
        }
        filled
    }

    #[inline(never)]
    fn add_to_others(&mut self, kind: usize, came: u64, went: u64, now: u64) -> Option<(u64, u64)> {
        let reached = self.depth.add(came, went, now);
        let ([_, starving], total) = (&mut self.waiting, &mut self.totals[kind]);
        total.reach(reached);
        if reached.found >= ROOM {
            total.refused += 1;
            total.outside += reached.room - came;
            total.refused_for += self.outside[kind].add(came, reached.room, now);
            if reached.room - came > PATIENCE.into() {
                total.starved_outside += starving.add(came + u64::from(PATIENCE), reached.room, now);
            }
        }
        reached.filled
    }

    /// The ring had no slot for one of a kind, for so many cycles.
    #[inline]
    pub fn nack(&mut self, kind: usize, cycles: u64) {
        self.totals[kind].nacked += 1;
        self.totals[kind].starving += u64::from(cycles > PATIENCE.into());
    }

    /// The totals of each kind.
    pub const fn totals(&self) -> &[Queue; KINDS] {
        &self.totals
    }
}

#[cfg(test)]
mod tests {
    use super::Waits;

    #[test]
    fn depths_are_those_of_stays_that_overlap() {
        let mut waits = Waits::<1>::default();
        for (came, went) in [(10, 14), (12, 16), (13, 14), (13, 15)] {
            waits.add(0, came, went, 10);
        }
        let [queue] = waits.totals();
        // Cycles 10 to 15; two or more in 12 to 14; four in 13.
        assert_eq!((queue.entries, queue.occupied), (4, 11));
        assert_eq!((queue.nonempty, queue.half, queue.full, queue.refused), (6, 3, 1, 0));
        waits.add(0, 13, 33, 12);
        let [queue] = waits.totals();
        // The four that it finds in cycle 13 are two in cycle 14: it waits for room for one cycle.
        assert_eq!((queue.refused, queue.refused_for, queue.nonempty), (1, 1, 23));
        // From its ninth cycle on, 21, to 32.
        assert_eq!((queue.starved, queue.starved_outside), (12, 0));
        waits.add(0, 20, 35, 12);
        let [queue] = waits.totals();
        // From 28 on: 33 and 34 are cycles in which no other starved.
        assert_eq!((queue.starved, queue.starved_outside), (14, 0));
        waits.add(0, 100, 101, 90);
        let [queue] = waits.totals();
        assert_eq!((queue.nonempty, queue.occupied), (26, 47));
    }

    /// Four fill the queue until 40, 40, 41 and 42. One that comes at 20 has room at 40, and starves from 28 on; so has
    /// one that comes at 30, behind it and two of them, and starves from 38 on.
    #[test]
    fn what_finds_no_room_waits_for_it_and_then_in_the_queue() {
        let mut waits = Waits::<1>::default();
        for (came, went) in [(10, 40), (10, 40), (10, 41), (10, 42), (20, 60), (30, 61)] {
            waits.add(0, came, went, 10);
        }
        let [queue] = waits.totals();
        assert_eq!((queue.refused, queue.refused_for), (2, 20), "20 to 39");
        assert_eq!(queue.starved_outside, 12, "28 to 39");
        assert_eq!(queue.starved, 61 - 18);
    }

    #[test]
    fn kinds_share_a_queue_and_are_counted_apart() {
        let mut waits = Waits::<2>::default();
        waits.add(0, 10, 12, 10);
        waits.add(1, 11, 14, 10);
        let [column, row] = waits.totals();
        assert_eq!((column.entries, column.occupied, column.nonempty, column.half), (1, 2, 2, 0));
        assert_eq!((row.entries, row.occupied, row.nonempty, row.half), (1, 3, 2, 1));
    }

    /// Two messages of the column and two of the row fill the queue from 10 to 20; from 12 on one of each waits.
    #[test]
    fn each_kind_waits_for_room_by_itself() {
        let mut waits = Waits::<2>::default();
        for (kind, came, went) in [(0, 10, 20), (0, 10, 20), (1, 10, 20), (1, 10, 20), (0, 12, 21), (1, 12, 22)] {
            waits.add(kind, came, went, 10);
        }
        let [column, row] = waits.totals();
        assert_eq!((column.refused_for, row.refused_for), (8, 8));
    }
}
