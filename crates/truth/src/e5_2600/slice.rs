//! The truth about an LLC slice: what its requests were, and how long they stayed.

use pericore_engine::NEVER;
use pericore_facts::LineState;
use pericore_facts::e5_2600::{IO_THREAD, IngressQueue, Rare, Record, Refusal, RequestKind, RingKind, SliceState};

use super::stay::Stay;
use crate::census::Census;

/// Thread IDs that are told apart.
const THREADS: usize = 17;

/// Where a thread ID's totals lie: devices come after the threads of cores.
const fn place_of(tid: u8) -> usize {
    // Threads of cores keep their numbers; the last number, `IO_THREAD`, comes down behind them.
    (tid - (tid >> 4) * (IO_THREAD + 1 - THREADS as u8)) as usize
}

/// The thread ID whose totals lie at a place.
const fn thread_at(place: usize) -> u8 {
    if place == THREADS - 1 { IO_THREAD } else { place as u8 }
}

/// What requests of one class have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassKey {
    /// What they are.
    pub kind: RequestKind,
    /// State in which the look-up found the line; before the look-up, `Invalid`.
    pub state: LineState,
    /// They need memory.
    pub miss: bool,
    /// Node whose memory holds the line.
    pub nid: usize,
    /// Thread ID.
    pub tid: u8,
}

/// Totals of a class of requests.
#[derive(Debug, Clone, Copy, Default)]
pub struct Class {
    /// Look-ups.
    pub lookups: u64,
    /// In the table of requests.
    pub tor: Stay,
    /// In the request queue; snoops have a queue of their own.
    pub ingress: Stay,
}

/// Totals of one LLC slice.
#[derive(Debug, Clone)]
pub struct SliceCells {
    nodes: usize,
    /// By kind, state, hit or miss, node, thread.
    classes: Vec<Class>,
    /// Ways given up, by the node of the line that took the place and the state of the one that left.
    victims: Vec<[u64; LineState::COUNT]>,
    /// Snoops that took an unmodified copy away without data.
    pub dropped_silently: u64,
    /// Streaming stores that found their line modified.
    pub aliased: u64,
    /// Requests that were rejected, from then until they were taken.
    rejected: [Stay; THREADS],
    /// By queue and reason.
    pub refusals: [[u64; Refusal::COUNT]; IngressQueue::COUNT],
    pub states: [Census; SliceState::COUNT],
    /// Messages that did not go out in the cycle in which they came.
    pub waited: u64,
    /// Messages that waited for long, by ring.
    pub starved: [u64; 4],
    /// Messages to cores that went round again, by ring.
    pub bounces: [u64; RingKind::COUNT],
    /// Its stop holds new messages back.
    pub throttle: Census,
}

impl SliceCells {
    /// A slice of a machine with so many nodes.
    pub fn new(nodes: usize) -> Self {
        Self {
            nodes,
            classes: vec![Class::default(); RequestKind::COUNT * LineState::COUNT * 2 * nodes * THREADS],
            victims: vec![[0; LineState::COUNT]; nodes],
            dropped_silently: 0,
            aliased: 0,
            rejected: [Stay { entries: 0, cycles: 0 }; THREADS],
            refusals: [[0; Refusal::COUNT]; IngressQueue::COUNT],
            states: Default::default(),
            waited: 0,
            starved: [0; 4],
            bounces: [0; RingKind::COUNT],
            throttle: Census::default(),
        }
    }

    /// Adds what has happened to a request before the cycle `now`.
    #[inline(always)]
    pub fn fold(&mut self, record: &Record, now: u64) {
        let outcome = (record.kind as usize * LineState::COUNT + record.state as usize) * 2 + usize::from(record.miss);
        let class = (outcome * self.nodes + usize::from(record.nid)) * THREADS + place_of(record.tid);
        let class = &mut self.classes[class];
        class.lookups += u64::from(record.ingress_out != NEVER);
        class.tor.add(record.tor_in, record.tor_out, now);
        class.ingress.add(record.ingress_in, record.ingress_out, now);
    }

    /// Adds a way that was given up for a line of a node.
    pub fn fold_victim(&mut self, nid: u8, state: LineState) {
        self.victims[usize::from(nid)][state as usize] += 1;
    }

    /// Adds what happens to few requests only.
    pub fn fold_rare(&mut self, record: &Record, now: u64) {
        self.dropped_silently += u64::from(record.has(Rare::DroppedSilently));
        self.aliased += u64::from(record.has(Rare::Aliased));
        self.rejected[place_of(record.tid)].add(record.rejected, record.ingress_out, now);
    }

    /// Totals of the classes that are wanted.
    pub fn classes(&self, wanted: impl Fn(ClassKey) -> bool) -> impl Iterator<Item = Class> {
        let key = |index: usize| {
            let (outcome, place) = (index / THREADS / self.nodes, index % THREADS);
            let (kind, state) = (outcome / 2 / LineState::COUNT, outcome / 2 % LineState::COUNT);
            ClassKey {
                kind: RequestKind::ALL[kind],
                state: LineState::ALL[state],
                miss: outcome % 2 == 1,
                nid: index / THREADS % self.nodes,
                tid: thread_at(place),
            }
        };
        self.classes.iter().enumerate().filter(move |&(index, _)| wanted(key(index))).map(|(_, &class)| class)
    }

    /// Ways given up, by the node of the line that took the place and the state of the one that left.
    pub fn victims(&self) -> &[[u64; LineState::COUNT]] {
        &self.victims
    }

    /// Requests of the wanted threads that were rejected.
    pub fn rejected(&self, wanted: impl Fn(u8) -> bool) -> Stay {
        self.rejected.iter().enumerate().filter(|&(place, _)| wanted(thread_at(place))).map(|(_, &stay)| stay).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{SliceCells, Stay};
    use pericore_engine::NEVER;
    use pericore_facts::LineState;
    use pericore_facts::e5_2600::{IO_THREAD, Record, RequestKind};

    #[test]
    fn a_request_is_found_again_by_all_that_it_was() {
        let mut cells = SliceCells::new(3);
        let mut expected = Vec::new();
        for (number, tid) in [(0, 0), (1, 15), (2, IO_THREAD)] {
            let kind = RequestKind::ALL[number * 4];
            let mut record = Record::new(kind, tid, 0, number as u8, false);
            record.state = LineState::ALL[number + 2];
            record.miss = number == 1;
            (record.ingress_in, record.ingress_out, record.tor_in, record.tor_out) = (10, 13, 13, 20 + number as u64);
            cells.fold(&record, NEVER);
            expected.push((kind, record.state, record.miss, number, tid));
        }
        for (kind, state, miss, nid, tid) in expected {
            let one =
                |wanted: &dyn Fn(super::ClassKey) -> bool| cells.classes(wanted).map(|class| class.tor).sum::<Stay>();
            let stay = Stay { entries: 1, cycles: 7 + nid as u64 };
            assert_eq!(one(&|key| key.kind == kind), stay);
            assert_eq!(one(&|key| key.state == state), stay);
            assert_eq!(one(&|key| key.nid == nid), stay);
            assert_eq!(one(&|key| key.tid == tid), stay);
            assert_eq!(one(&|key| key.miss == miss).entries, if miss { 1 } else { 2 });
        }
    }

    #[test]
    fn a_stay_that_goes_on_counts_up_to_now() {
        let mut cells = SliceCells::new(1);
        let mut record = Record::new(RequestKind::DataRead, 4, 0, 0, false);
        record.ingress_in = 10;
        cells.fold(&record, 14);
        let class =
            cells.classes(|key| key.kind == RequestKind::DataRead && key.tid == 4).find(|c| c.ingress.entries > 0);
        let class = class.unwrap();
        assert_eq!((class.lookups, class.ingress, class.tor.entries), (0, Stay { entries: 1, cycles: 4 }, 0));
    }
}
