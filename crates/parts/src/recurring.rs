//! Errands that come again and again, at random times.

use pericore_engine::{Random, Tick};

use pericore_workload::{Errand, MessageKind};

/// One of them.
#[derive(Debug, Clone, Copy)]
struct Source {
    kind: MessageKind,
    /// Mean ticks from one to the next.
    every: Tick,
    next: Tick,
}

/// The errands of a socket in a phase.
#[derive(Debug)]
pub struct Recurring {
    sources: Vec<Source>,
    random: Random,
}

impl Recurring {
    /// None, for now; all kinds share one stream of random numbers.
    pub const fn new(random: Random) -> Self {
        Self { sources: Vec::new(), random }
    }

    /// A phase begins with these errands and no others. `ticks` converts nanoseconds.
    pub fn begin(&mut self, errands: &[Errand], ticks: impl Fn(u64) -> Tick, now: Tick) {
        self.sources.clear();
        for &Errand { kind, every } in errands {
            let every = ticks(every).max(1);
            let next = now + gap(&mut self.random, every);
            self.sources.push(Source { kind, every, next });
        }
    }

    /// How many kinds there are.
    pub const fn kinds(&self) -> usize {
        self.sources.len()
    }

    /// The tick of the next errand; `None` if none comes.
    pub fn next_tick(&self) -> Option<Tick> {
        self.sources.iter().map(|source| source.next).min()
    }

    /// Takes the errand of a kind, by its place among the phase's, if it is due.
    pub fn take(&mut self, index: usize, now: Tick) -> Option<MessageKind> {
        let source = self.sources.get_mut(index).filter(|source| source.next <= now)?;
        source.next = now + gap(&mut self.random, source.every);
        Some(source.kind)
    }

    /// Takes the errand that has been due for longest.
    pub fn take_first(&mut self, now: Tick) -> Option<MessageKind> {
        let first = (0..self.sources.len()).min_by_key(|&index| self.sources[index].next)?;
        self.take(first, now)
    }
}

/// A random time with a mean of `every`.
const fn gap(random: &mut Random, every: Tick) -> Tick {
    1 + random.below(2 * every)
}
