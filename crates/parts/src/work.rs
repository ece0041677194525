//! The work of a model: the scenario or the program that its cores and devices run, and how far it has come.

use pericore_engine::Tick;

use super::program::Program;
use super::program::ProgramCounts;
use pericore_workload::{Course, Kind, Scenario, Workload};

/// How far the workload has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Accesses that have their data.
    pub done: u64,
    /// Accesses of the whole workload.
    pub total: u64,
}

/// Loads whose data a thread waited for before it went on, and how long it waited in all, from the time at which each
/// could start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DependentLoads {
    /// How many.
    pub loads: u64,
    /// Ticks of all of them.
    pub ticks: Tick,
}

impl DependentLoads {
    /// One is over.
    #[inline]
    pub const fn add(&mut self, began: Tick, ended: Tick) {
        self.loads += 1;
        self.ticks += ended - began;
    }
}

/// What a model is to do, and what of it is done.
#[derive(Debug)]
pub struct Work {
    /// The scenario's phases.
    pub course: Course,
    /// A program that the threads run instead of a generated workload.
    pub program: Option<Program>,
    /// Accesses that have their data.
    pub done: u64,
    /// Loads that threads waited for.
    pub dependent: DependentLoads,
    total: u64,
    /// Accesses of the warm-up.
    before: u64,
    started: bool,
}

impl Work {
    /// A scenario before its first phase.
    pub fn new(scenario: Scenario, ticks_per_second: u64) -> Self {
        let total = scenario.requests();
        let course = Course::new(scenario, ticks_per_second);
        Self { course, program: None, done: 0, dependent: DependentLoads::default(), total, before: 0, started: false }
    }

    /// A workload of so many threads without accesses of their own, for a program to give them its own.
    pub fn bare(threads: u16) -> Workload {
        Workload { requests: 0, threads, ..Workload::new(Kind::Random) }
    }

    /// The threads run a program. How many accesses it has is not known before it has ended.
    pub fn run(&mut self, program: Program) {
        self.program = Some(program);
        self.total = u64::MAX;
    }

    /// Begins; true the first time only.
    pub const fn start(&mut self) -> bool {
        !std::mem::replace(&mut self.started, true)
    }

    /// True once it has begun.
    pub const fn has_started(&self) -> bool {
        self.started
    }

    /// Accesses of the program have had their turn; the last of all is among them, or came before, if so said.
    #[inline]
    pub const fn count(&mut self, accesses: u64, last: bool) {
        self.done += accesses;
        if last {
            self.total = self.done;
        }
    }

    /// So many accesses of a phase whose time is over will never be made.
    pub const fn forgo(&mut self, accesses: u64) {
        self.total -= accesses;
    }

    /// The warm-up is over: what is measured begins.
    pub const fn begin_measured(&mut self) {
        self.before = self.done;
        self.course.release();
    }

    /// How far it has come.
    pub const fn progress(&self) -> Progress {
        Progress { done: self.done - self.before, total: self.total - self.before }
    }

    /// What the program has done so far, if one runs.
    pub fn program_counts(&self) -> Option<ProgramCounts> {
        self.program.as_ref().map(Program::counts)
    }

    /// True when every access is done and no phase follows.
    pub fn is_done(&self) -> bool {
        self.started && (self.course.is_over() || self.course.is_last_and_open()) && self.done == self.total
    }
}

/// A model that has work to do.
pub trait Worker {
    /// Its work.
    fn agenda(&self) -> &Work;
    /// The same, to change it.
    fn agenda_mut(&mut self) -> &mut Work;
    /// Virtual time, in ticks since reset.
    fn now(&self) -> Tick;
    /// True when nothing is under way or waits to be written to memory.
    fn is_at_rest(&self) -> bool;
    /// The phase that waits may begin now.
    fn go_on(&mut self);

    /// Passes over what lies before the next window of a sampled program, and opens it.
    fn open_window(&mut self);

    /// True if a sampled program stands between two windows, and nothing is under way.
    fn is_between_windows(&self) -> bool {
        self.agenda().program.as_ref().is_some_and(Program::is_between_windows) && self.is_at_rest()
    }

    /// How far the workload has come.
    fn progress(&self) -> Progress {
        self.agenda().progress()
    }

    /// Loads that threads waited for.
    fn dependent_loads(&self) -> DependentLoads {
        self.agenda().dependent
    }

    /// What the program has done so far, if one runs.
    fn program(&self) -> Option<ProgramCounts> {
        self.agenda().program_counts()
    }

    /// True when every access is done and nothing is under way or waits to be written to memory.
    fn finished(&self) -> bool {
        self.agenda().is_done() && self.is_at_rest()
    }

    /// Ends the phase that runs. The next one waits.
    fn hold(&mut self) {
        let now = self.now();
        self.agenda_mut().course.hold(now);
    }

    /// True when a phase has ended that was to, and nothing is under way.
    fn is_parked(&self) -> bool {
        self.agenda().course.is_parked() && self.is_at_rest()
    }

    /// The phase that waits begins: what was done until now was its warm-up.
    fn begin_measured(&mut self) {
        self.agenda_mut().begin_measured();
        self.go_on();
    }
}

#[cfg(test)]
mod tests {
    use super::{Progress, Work};
    use pericore_workload::{Limits, PhaseSettings, Scenario};

    const LIMITS: Limits = Limits {
        memory: 1 << 30,
        threads: 1,
        sockets: 1,
        caches: 1 << 20,
        expander: false,
        peers: false,
        isochronous: false,
        phase_settings: PhaseSettings { family: "none", settings: &[], messages: &[], ratios: [10, 20, 30] },
    };

    #[test]
    fn work_is_done_when_all_but_what_was_forgone_is() {
        let scenario = Scenario::parse("phase a\nworkload chase:requests=10\n", &LIMITS).unwrap();
        let mut work = Work::new(scenario, 1_000_000_000);
        assert_eq!(work.progress(), Progress { done: 0, total: 10 });
        assert!(work.start() && !work.start() && work.has_started());
        assert!(work.course.begin(0).is_some() && !work.is_done());
        work.done += 7;
        work.forgo(2);
        assert!(!work.is_done());
        work.done += 1;
        assert!(work.is_done());
        assert_eq!(work.program_counts(), None);
    }

    #[test]
    fn nothing_is_done_before_it_has_begun() {
        let mut work = Work::new(Scenario { phases: Vec::new() }, 1_000_000_000);
        assert!(!work.is_done());
        work.start();
        assert!(work.is_done());
        // The end of a program says how many accesses it had.
        work.count(3, false);
        assert!(!work.is_done());
        work.count(1, true);
        assert_eq!((work.is_done(), work.progress()), (true, Progress { done: 4, total: 4 }));
    }
}
