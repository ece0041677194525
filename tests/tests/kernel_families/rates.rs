//! A kernel in which each selection counts at a rate of its own.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use pericore_observe::kernel::{Attributes, GroupReading, PerfEvents, Privilege};

use crate::perf_attributes::pmus::Words;

const SECOND: u64 = 1_000_000_000;

/// Counts a second in each instance of a PMU, for what the words select and whose occurrences count.
pub fn rate(pmu: &str, words: Words, privilege: Privilege) -> u64 {
    let text = format!("{pmu} {words:x?} {privilege:?}");
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    10_000 + (hash >> 20) % 1_000_000
}

#[derive(Debug)]
struct Counter {
    rate: u64,
    leader: usize,
    /// The second in which it was started.
    since: Option<u64>,
    /// Seconds before that.
    ran: u64,
}

/// The kernel. Its copies are the same one.
#[derive(Debug, Clone)]
pub struct Rates {
    instances: BTreeMap<u32, (String, usize)>,
    /// Seconds.
    pub clock: Rc<Cell<u64>>,
    counters: Rc<RefCell<Vec<Counter>>>,
}

impl Rates {
    /// With these PMUs, by their numbers.
    pub fn new(instances: BTreeMap<u32, (String, usize)>) -> Self {
        Self { instances, clock: Rc::default(), counters: Rc::default() }
    }
}

impl PerfEvents for Rates {
    type Counter = usize;

    fn open(&mut self, kind: u32, attributes: Attributes, _: u32, leader: Option<&usize>) -> io::Result<usize> {
        let [config, config1, config2, _] = attributes.words;
        let rate = rate(&self.instances[&kind].0, Words { config, config1, config2 }, attributes.privilege);
        let mut counters = self.counters.borrow_mut();
        let number = counters.len();
        counters.push(Counter { rate, leader: leader.copied().unwrap_or(number), since: None, ran: 0 });
        Ok(number)
    }

    fn start(&mut self, leader: &usize) -> io::Result<()> {
        self.counters.borrow_mut()[*leader].since = Some(self.clock.get());
        Ok(())
    }

    fn stop(&mut self, leader: &usize) -> io::Result<()> {
        let leader = &mut self.counters.borrow_mut()[*leader];
        leader.ran += leader.since.take().map_or(0, |since| self.clock.get() - since);
        Ok(())
    }

    fn read(&mut self, leader: &usize, _: usize) -> io::Result<Option<GroupReading>> {
        let counters = self.counters.borrow();
        let own = &counters[*leader];
        let seconds = own.ran + own.since.map_or(0, |since| self.clock.get() - since);
        let members = counters.iter().filter(|counter| counter.leader == *leader);
        let counts = members.map(|counter| counter.rate * seconds).collect();
        Ok(Some(GroupReading { enabled: seconds * SECOND, running: seconds * SECOND, counts }))
    }
}
