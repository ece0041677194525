//! The warm-up of a machine: a workload goes on until its rates have settled, or for a given time.

use pericore_hardware::signal::Tick;

use super::Machine;
use super::truth::MemoryKind;
use pericore_workload::Scenario;

/// Microseconds of the first window: some refreshes of each rank. Each later one is twice as long.
const WINDOW: u64 = 10;
/// Rates have settled when each of a window differs from that of the window before by no more than this share, or by
/// this number over the length of the shorter window.
const SHARE: f64 = 0.03;
const NUMBER: u64 = 48;
/// Windows after which a machine that never settles is measured all the same.
const MOST_WINDOWS: u32 = 5;
/// Microseconds in which what is under way comes to its end, at the most.
const PATIENCE: u64 = 1000;

/// How a warm-up has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmUp {
    /// Ticks that it took.
    pub ticks: Tick,
    /// The rates had settled, or its length was given.
    pub settled: bool,
}

/// What is done in a window: accesses, and lines that memory reads and writes.
type Rates = [u64; 5];

impl Machine {
    /// Runs the warm-up of its scenario, so that all that follows is the workload's requests; `None` if the scenario
    /// has none ([`Scenario::warmed`]). It goes on for as long as the workload says, or else until rates have settled.
    /// These are accesses, and the lines that memory of each kind reads and writes, in windows of 10, 20, 40 to 320 us;
    /// they have settled when each differs from the window before by at most 3 %, or 48 in its time. Then the threads
    /// stop until nothing is under way.
    pub fn warm_up(&mut self, scenario: &Scenario) -> Option<WarmUp> {
        let workload = scenario.begins_warm()?;
        let began = self.now();
        let settled = self.settle(workload.warm_up);
        self.model.hold();
        let second = self.clocks().ticks_per_second();
        let longest = self.now() + PATIENCE * second / 1_000_000;
        while !self.model.is_parked() && self.now() < longest {
            self.run_for(second / 10_000_000);
        }
        self.model.begin_measured();
        Some(WarmUp { ticks: self.now() - began, settled })
    }

    /// Runs for so many microseconds, or until rates have settled; true if they have.
    pub(crate) fn settle(&mut self, microseconds: Option<u64>) -> bool {
        let second = self.clocks().ticks_per_second();
        if let Some(microseconds) = microseconds {
            // The first tick fills the caches.
            self.run_for((microseconds * (second / 1_000_000)).max(1));
            return true;
        }
        let mut before = self.window(WINDOW);
        for doubled in 1..=MOST_WINDOWS {
            let window = self.window(WINDOW << doubled);
            let near = |(now, before): (&u64, &u64)| {
                (now / 2).abs_diff(*before) <= NUMBER.max((SHARE * *before as f64) as u64)
            };
            if window.iter().zip(&before).all(near) {
                return true;
            }
            before = window;
        }
        false
    }

    fn window(&mut self, microseconds: u64) -> Rates {
        let before = self.done();
        self.run_for(microseconds * (self.clocks().ticks_per_second() / 1_000_000));
        let after = self.done();
        std::array::from_fn(|index| after[index] - before[index])
    }

    fn done(&self) -> Rates {
        let [reads, writes] = self.memory_lines(MemoryKind::Dram);
        let [far_reads, far_writes] = self.memory_lines(MemoryKind::Expander);
        [self.progress().done, reads, writes, far_reads, far_writes]
    }
}
