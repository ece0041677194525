//! The session's way to the machine: every access is checked and noted, and happenings come before it.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pericore_observe::permits::Permits;
use pericore_observe::session::Moment;
use pericore_registers::{AccessError, Address, Operation, Outcome, RegisterSpace, Width};

use super::others::{Subject, is_counter, width};
use super::scenario::{Fault, Happening, Scenario, What};
use super::system_calls::refuse;
use crate::pmon::raw::{CYCLE, Raw};

/// Accesses of a run at most: a session that goes round in circles has more.
const MOST_ACCESSES: u64 = 200_000;

/// What the code under test panics with.
pub(super) const PLANTED: &str = "a planted panic";

/// Everything that a run knows.
pub(super) struct World {
    pub(super) machine: Raw,
    pub(super) subject: &'static Subject,
    permits: Permits,
    happenings: Vec<Happening>,
    /// Accesses of the session so far.
    pub(super) accesses: u64,
    /// What registers held before the session's first write to each.
    pub(super) held: HashMap<Address, (Width, u64)>,
    /// What others have written last.
    pub(super) others: HashMap<Address, u64>,
    /// What the session has read since somebody else wrote it, or has tried to read.
    seen: HashSet<Address>,
    /// What somebody else wrote between the session's look and its write: neither can know.
    pub(super) raced: HashSet<Address>,
    /// Others have joined a unit of the session while it ran.
    pub(super) is_joined: bool,
    failing: Option<(Fault, u64)>,
    all_ones: u64,
    pub(super) is_dead: bool,
    /// Cycles that passed in the middle of something.
    pub(super) stalled: u64,
    /// Some access failed, or gave all ones, or somebody else wrote what is the session's.
    pub(super) is_disturbed: bool,
    pub(super) signal: bool,
    pub(super) wants_second: bool,
    /// What must not be and was.
    pub(super) violations: Vec<String>,
}

/// The session's hands, or those of who puts back after it.
#[derive(Clone)]
pub(super) struct Hands {
    world: Arc<Mutex<World>>,
    /// Nothing happens to who puts back.
    is_session: Arc<AtomicBool>,
}

impl World {
    pub(super) fn new(machine: Raw, subject: &'static Subject, permits: Permits, scenario: &Scenario) -> Self {
        Self {
            machine,
            subject,
            permits,
            happenings: scenario.happenings.clone(),
            accesses: 0,
            held: HashMap::new(),
            others: HashMap::new(),
            seen: HashSet::new(),
            raced: HashSet::new(),
            is_joined: false,
            failing: None,
            all_ones: 0,
            is_dead: false,
            stalled: 0,
            is_disturbed: false,
            signal: false,
            wants_second: false,
            violations: Vec::new(),
        }
    }

    /// What a register holds, without anybody's notice.
    pub(super) fn value(&mut self, address: Address, width: Width) -> u64 {
        self.machine.machine.read(address, width).unwrap_or(u64::MAX)
    }

    /// Lets so many cycles pass.
    pub(super) fn pass(&mut self, cycles: u64) {
        let end = self.machine.machine.now() + cycles * CYCLE;
        self.machine.machine.set_now(end);
    }

    /// Somebody else writes a register.
    pub(super) fn other_writes(&mut self, (address, value): (Address, u64)) {
        self.machine.machine.write(address, width(address), value).expect("the register exists");
        self.others.insert(address, value);
        self.seen.remove(&address);
    }

    /// Somebody else begins to count: a control, and what enables it.
    pub(super) fn other_counts(&mut self, control: (Address, u64)) {
        self.other_writes(control);
        if let Some((gate, bit)) = self.subject.enables(control.0) {
            let held = self.value(gate, width(gate));
            let written = self.machine.machine.write(gate, width(gate), held | bit);
            written.expect("the register exists");
        }
    }

    /// What is due before an access of the session.
    fn happen(&mut self) {
        while self.happenings.first().is_some_and(|first| first.at <= self.accesses) {
            let what = self.happenings.remove(0).what;
            match what {
                What::Fails(fault, count) => {
                    self.failing = Some((fault, count));
                    self.is_disturbed = true;
                }
                What::AllOnes(count) => {
                    self.all_ones = count;
                    self.is_disturbed = true;
                }
                What::Killed => self.is_dead = true,
                // Without the words of a panic, thousands of times; a second one, while the first unwinds, would abort.
                What::Panics if std::thread::panicking() => {}
                What::Panics => std::panic::resume_unwind(Box::new(PLANTED)),
                What::Refused(call) => {
                    refuse(call);
                }
                What::Joins => {
                    // Who takes a counter that the session has would be its taker.
                    if !self.held.contains_key(&self.subject.joined.0) {
                        self.other_counts(self.subject.joined);
                        self.is_joined = true;
                    }
                }
                What::CountsElsewhere => {
                    self.other_counts(self.subject.elsewhere);
                    self.is_joined |= self.subject.has_one_gate();
                }
                What::TakesOver => {
                    self.other_writes(self.subject.taken);
                    self.is_joined = true;
                    self.is_disturbed = true;
                }
                What::Stalls(cycles) => {
                    self.pass(cycles);
                    self.stalled += cycles;
                }
                What::SecondSession => self.wants_second = true,
                What::Signal => self.signal = true,
            }
        }
    }

    fn note(&mut self, operation: Operation, is_session: bool) {
        self.accesses += 1;
        assert!(self.accesses < MOST_ACCESSES, "the session makes accesses without end");
        let address = operation.address();
        // Who puts back looks for the units first, as anybody may.
        if (is_session || matches!(operation, Operation::Write { .. }))
            && let Err(why) = self.permits.check(operation)
        {
            self.violations.push(format!("{operation:?} is not permitted: {why}"));
        }
        let Operation::Write { width, value, .. } = operation else { return };
        if !is_session {
            return;
        }
        if self.others.get(&address) == Some(&value) {
            // It finds out whether it may write, by writing what is there, before it sets up.
            self.seen.remove(&address);
            return;
        }
        let is_foreign = address == self.subject.elsewhere.0
            || (address == self.subject.joined.0 && self.others.contains_key(&address));
        if is_foreign {
            self.violations.push(format!("{operation:?} writes what somebody else uses"));
        }
        if address == self.subject.taken.0 && self.others.remove(&address).is_some() {
            self.raced.insert(address);
            if self.seen.contains(&address) {
                self.violations.push(format!("{operation:?} writes what somebody else has taken, as it was seen"));
            }
        }
        if !is_counter(self.subject.family, address) && !self.held.contains_key(&address) {
            let before = self.value(address, width);
            self.held.insert(address, (width, before));
        }
    }

    /// The next access fails, if it is to.
    fn fault(&mut self, address: Address) -> Option<AccessError> {
        let (fault, left) = self.failing?;
        self.failing = (left > 1).then_some((fault, left - 1));
        Some(match fault {
            Fault::Protection => AccessError::GeneralProtection { address },
            Fault::System => AccessError::Io { address, message: "Input/output error".to_owned() },
            Fault::Rights => AccessError::Permission { address, remedy: "a planted refusal" },
        })
    }
}

impl Hands {
    /// The session's, until [`now_of_others`](Self::now_of_others).
    pub(super) fn new(world: World) -> Self {
        Self { world: Arc::new(Mutex::new(world)), is_session: Arc::new(AtomicBool::new(true)) }
    }

    /// From here on they are those of who puts back after the session.
    pub(super) fn now_of_others(&self) {
        self.is_session.store(false, Ordering::Relaxed);
    }

    /// The world, also after a panic in the middle of an access.
    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn moment(&self) -> Moment {
        let now = self.world().machine.machine.now() / CYCLE;
        Moment { seconds: now as f64 / 1024.0, tsc: now }
    }

    fn access(&mut self, operation: Operation) -> Outcome<u64> {
        let mut world = self.world();
        let is_session = self.is_session.load(Ordering::Relaxed);
        if is_session {
            world.happen();
        }
        let (address, width) = (operation.address(), operation.width());
        if is_session && world.is_dead {
            return Err(AccessError::Io { address, message: "this process is gone".to_owned() });
        }
        world.note(operation, is_session);
        // What could not be read may be somebody else's as well as what could.
        if matches!(operation, Operation::Read { .. }) {
            world.seen.insert(address);
        }
        if is_session && let Some(error) = world.fault(address) {
            return Err(error);
        }
        if is_session && world.all_ones > 0 && matches!(operation, Operation::Read { .. }) {
            world.all_ones -= 1;
            return Ok(width.mask());
        }
        let outcome = world.machine.machine.carry_out(operation);
        if let (Operation::Read { .. }, Ok(value)) = (operation, &outcome) {
            world.permits.note_read(address, width, *value);
        }
        outcome
    }
}

impl RegisterSpace for Hands {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.access(Operation::Read { address, width })
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.access(Operation::Write { address, width, value }).map(|_| ())
    }
}
