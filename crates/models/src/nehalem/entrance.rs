//! Credits before a memory channel.

use std::collections::VecDeque;

use pericore_engine::Tick;

use super::request::Waiting;

/// A write in a channel's queue.
#[derive(Debug, Clone, Copy)]
pub struct QueuedWrite {
    pub line: u32,
    /// When it came.
    pub since: Tick,
    pub isochronous: bool,
}

/// The entrance of one channel.
#[derive(Debug)]
pub struct Entrance {
    /// Free entries of the reads' and writes' queues.
    pub credits: [u8; 2],
    pub waiting: [Waiting; 2],
    /// How many of them isochronous requests may have besides, and those that wait for one.
    pub high: [u8; 2],
    pub waiting_high: [Waiting; 2],
    /// The writes in the queue, in the order in which they came.
    pub writes: Vec<QueuedWrite>,
    /// The last DRAM cycle in which a request arrives; they come one in a cycle.
    pub last: u64,
}

impl Entrance {
    /// An idle channel with so many entries for reads and writes, and so many of them for isochronous ones.
    pub fn new(credits: [u8; 2], high: [u8; 2]) -> Self {
        let waiting = || [VecDeque::new(), VecDeque::new()];
        Self { credits, waiting: waiting(), high, waiting_high: waiting(), writes: Vec::new(), last: 0 }
    }

    /// Takes a line's write out whose entry is free at `now`: of two, the later, whose line the earlier has taken over.
    pub fn take_write(&mut self, line: u32, now: Tick) -> QueuedWrite {
        let place = self.writes.iter().rposition(|write| write.line == line);
        place.map_or(QueuedWrite { line, since: now, isochronous: false }, |place| self.writes.remove(place))
    }
}

#[cfg(test)]
mod tests {
    use super::{Entrance, QueuedWrite};

    /// A channel serves row hits before older writes: the entry that is free is that of the line that was written.
    #[test]
    fn the_write_that_is_taken_out_is_the_one_that_was_served() {
        let mut entrance = Entrance::new([12, 16], [6, 8]);
        for (line, since, isochronous) in [(5, 10, true), (6, 20, false), (5, 30, false)] {
            entrance.writes.push(QueuedWrite { line, since, isochronous });
        }
        let mut take = |line| {
            let QueuedWrite { since, isochronous, .. } = entrance.take_write(line, 99);
            (since, isochronous)
        };
        assert_eq!(take(6), (20, false));
        // The second write of line 5 has given its data to the first.
        assert_eq!([take(5), take(5)], [(30, false), (10, true)]);
    }
}
