//! Credits of the memory controllers' queues, and entries of prefetch CAMs.

use std::collections::VecDeque;

use pericore_engine::Tick;

use super::super::request::{Request, RequestId};

/// Writes of directory bits that wait for room in a subchannel, at the most: with so many no further read goes there,
/// so that reads cannot run ahead of what they bring about (assumption).
const MOST_WAITING_BITS: u16 = 16;

/// Credits of a subchannel's queues, and what waits for them.
#[derive(Debug)]
pub struct Credits {
    pub reads: u8,
    /// Entries of the queue of reads.
    all_reads: u8,
    pub writes: u8,
    pub waiting_reads: VecDeque<RequestId>,
    pub waiting_writes: VecDeque<RequestId>,
    /// Credits of isochronous reads and writes, which nothing else takes, and what waits for them.
    pub special: [u8; 2],
    pub waiting_special: [VecDeque<RequestId>; 2],
    /// Those among the writes that wait which write directory bits alone: nobody waits for them.
    pub waiting_bits: u16,
}

impl Credits {
    /// All credits there, of which so many of each queue are kept for isochronous requests.
    pub fn new([reads, writes]: [u8; 2], special: u8) -> Self {
        let (reads, writes) = (reads - special, writes - special);
        Self {
            special: [special; 2],
            waiting_special: Default::default(),
            reads,
            all_reads: reads,
            writes,
            waiting_reads: VecDeque::with_capacity(256),
            waiting_writes: VecDeque::with_capacity(256),
            waiting_bits: 0,
        }
    }

    /// True if there is a credit for a request.
    pub const fn has_for(&self, request: &Request, writes: bool) -> bool {
        match (request.isochronous, writes) {
            (true, _) => self.special[writes as usize] > 0,
            (false, true) => self.writes > 0,
            (false, false) => self.reads > 0,
        }
    }

    /// True if a read can go to its subchannel: it has room, and so have the writes that reads bring about.
    pub const fn takes_read(&self) -> bool {
        self.reads > 0 && !self.keeps_reads_back()
    }

    /// True if so many writes of directory bits wait that no further read may come.
    pub const fn keeps_reads_back(&self) -> bool {
        self.waiting_bits >= MOST_WAITING_BITS
    }

    /// True if at most a quarter of the queue of reads is taken (assumption).
    pub const fn is_light_load(&self) -> bool {
        (self.all_reads - self.reads) as u16 * 4 <= self.all_reads as u16
    }

    /// True if at least three quarters of it are taken (assumption).
    pub const fn is_heavy_load(&self) -> bool {
        self.reads as u16 * 4 <= self.all_reads as u16
    }
}

/// A channel's prefetch CAM.
#[derive(Debug, Clone, Copy, Default)]
pub struct PrefetchCam {
    /// Entries that are taken.
    pub entries: u8,
    /// The cycle after the last prefetch came, in ticks.
    pub next: Tick,
}

#[cfg(test)]
mod tests {
    use super::super::super::request::Request;
    use super::Credits;
    use pericore_facts::emerald_rapids::{Kind, Target};

    /// Of queues of four and three entries one each is kept for isochronous requests, and is no credit for others.
    #[test]
    fn a_request_has_the_credits_of_its_kind_alone() {
        let mut credits = Credits::new([4, 3], 1);
        assert_eq!((credits.reads, credits.writes, credits.special), (3, 2, [1, 1]));
        let others = Request::new(Kind::DmaRead, 0, 0, 0, 0, 0, Target::Ddr);
        let special = Request { isochronous: true, ..others };
        let has = |credits: &Credits| {
            [(&others, false), (&others, true), (&special, false), (&special, true)]
                .map(|(request, writes)| credits.has_for(request, writes))
        };
        assert_eq!(has(&credits), [true; 4]);
        (credits.reads, credits.special[1]) = (0, 0);
        assert_eq!(has(&credits), [false, true, true, false]);
        (credits.reads, credits.writes, credits.special) = (1, 0, [0, 1]);
        assert_eq!(has(&credits), [true, false, false, true]);
    }
}
