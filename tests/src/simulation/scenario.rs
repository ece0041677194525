//! What happens in a run, as data.

use crate::session::feed::Random;

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// What it was made from.
    pub seed: u64,
    /// Which machine, and what is counted there.
    pub subject: usize,
    /// Samples.
    pub samples: u32,
    /// Cycles of each.
    pub cycles: u64,
    /// All controls are looked at with each sample.
    pub guards: bool,
    /// Another tool counts before the session begins.
    pub is_beside_others: bool,
    /// What lies in the folder of journals beforehand.
    pub litter: Vec<Litter>,
    /// What happens at which access of the session, in order.
    pub happenings: Vec<Happening>,
    /// How it ends.
    pub ending: Ending,
}

/// How a session ends that nothing has ended before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By its own call.
    Stopped,
    /// Dropped, as by an error beside it.
    Dropped,
}

/// Something at an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Happening {
    /// Before which access of the session, from 0.
    pub at: u64,
    /// What.
    pub what: What,
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// So many accesses fail: with a general protection fault, an error of the system, or for want of rights.
    Fails(Fault, u64),
    /// So many reads give all ones, as of a unit that is powered down.
    AllOnes(u64),
    /// The process is gone: nothing that it does from here on arrives.
    Killed,
    /// The code panics.
    Panics,
    /// From here on a system call fails.
    Refused(SystemCall),
    /// Another tool begins to count in a unit of the session, on a free counter.
    Joins,
    /// Another tool begins to count in a unit that the session does not use.
    CountsElsewhere,
    /// Another tool changes a control of the session.
    TakesOver,
    /// So many cycles pass in the middle.
    Stalls(u64),
    /// A second session of ours wants the same counters.
    SecondSession,
    /// A signal: the session ends before its time.
    Signal,
}

/// How an access fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// #GP.
    Protection,
    /// EIO and the like.
    System,
    /// EPERM.
    Rights,
}

/// A system call of the session's that fails, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemCall {
    /// No file is opened any more: EMFILE.
    Open,
    /// The disk is full: ENOSPC.
    Write,
    /// The disk has an error: EIO.
    Sync,
    /// No file gets its name: EROFS.
    Link,
    /// No file is removed: EROFS.
    Remove,
    /// No locks are to be had: ENOLCK.
    Lock,
    /// Modes are not changed: EPERM.
    Mode,
    /// Files tell nothing of themselves: EIO.
    Status,
    /// Folders are not listed: EIO.
    List,
}

/// What somebody has put where journals are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Litter {
    /// A link under a journal's name, to a file elsewhere.
    Link,
    /// A link to a file elsewhere under the name of the lock.
    LockLink,
    /// No journal.
    Garbage,
    /// A journal that others can write.
    Open,
    /// A folder under a journal's name.
    Folder,
    /// A FIFO without a writer.
    Fifo,
    /// A link under the name that a part of a journal has.
    PartLink,
}

const CALLS: [SystemCall; 9] = [
    SystemCall::Open,
    SystemCall::Write,
    SystemCall::Sync,
    SystemCall::Link,
    SystemCall::Remove,
    SystemCall::Lock,
    SystemCall::Mode,
    SystemCall::Status,
    SystemCall::List,
];

const LITTER: [Litter; 7] =
    [Litter::Link, Litter::LockLink, Litter::Garbage, Litter::Open, Litter::Folder, Litter::Fifo, Litter::PartLink];

fn one<T: Copy>(random: &mut Random, of: &[T]) -> T {
    of[random.below(of.len() as u64) as usize]
}

impl Scenario {
    /// The scenario of a seed.
    pub fn of(seed: u64, subjects: usize) -> Self {
        let mut random = Random(seed);
        let random = &mut random;
        let subject = random.below(subjects as u64) as usize;
        let samples = 1 + random.below(6) as u32;
        let happens = random.below(4);
        let litters = if random.below(4) == 0 { 1 + random.below(3) } else { 0 };
        let mut scenario = Self {
            seed,
            subject,
            samples,
            cycles: 50 + random.below(2000),
            guards: random.below(3) == 0,
            is_beside_others: random.below(3) == 0,
            litter: (0..litters).map(|_| one(random, &LITTER)).collect(),
            happenings: (0..happens).map(|_| Happening::of(random)).collect(),
            ending: if random.below(4) == 0 { Ending::Dropped } else { Ending::Stopped },
        };
        scenario.happenings.sort_by_key(|happening| happening.at);
        scenario
    }

    /// Scenarios with one thing less.
    pub fn smaller(&self) -> Vec<Self> {
        let without = |at: usize| {
            let mut smaller = self.clone();
            smaller.happenings.remove(at);
            smaller
        };
        let mut all: Vec<Self> = (0..self.happenings.len()).map(without).collect();
        all.extend((0..self.litter.len()).map(|at| {
            let mut smaller = self.clone();
            smaller.litter.remove(at);
            smaller
        }));
        all.push(Self { is_beside_others: false, ..self.clone() });
        all.push(Self { guards: false, ..self.clone() });
        all.push(Self { samples: 1, ..self.clone() });
        all.push(Self { samples: self.samples.saturating_sub(1).max(1), ..self.clone() });
        all.push(Self { cycles: 50, ..self.clone() });
        all.push(Self { ending: Ending::Stopped, ..self.clone() });
        all.retain(|smaller| smaller != self);
        all
    }

    /// True if something of that kind happens.
    pub fn has(&self, is: impl Fn(&What) -> bool) -> bool {
        self.happenings.iter().any(|happening| is(&happening.what))
    }
}

impl Happening {
    fn of(random: &mut Random) -> Self {
        // Looks, set-up, and a few samples: the first accesses are the more interesting ones.
        let reach = one(random, &[20, 80, 250]);
        let at = random.below(reach);
        let what = match random.below(14) {
            0 => What::Fails(Fault::Protection, 1 + random.below(3)),
            1 => What::Fails(Fault::System, 1 + random.below(20)),
            2 => What::Fails(Fault::Rights, 1 + random.below(3)),
            3 => What::AllOnes(1 + random.below(5)),
            4 | 5 => What::Killed,
            6 => What::Panics,
            7 | 8 => What::Refused(one(random, &CALLS)),
            9 => What::Joins,
            10 => What::CountsElsewhere,
            11 => What::TakesOver,
            12 => {
                if random.below(2) == 0 {
                    What::Stalls(1 + random.below(500))
                } else {
                    What::SecondSession
                }
            }
            _ => What::Signal,
        };
        Self { at, what }
    }
}
