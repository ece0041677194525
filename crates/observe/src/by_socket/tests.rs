//! Threads on two sockets of registers that note which thread and CPU reaches them.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use pericore_registers::{AccessError, Address, Operation, Outcome, RegisterSpace, Width};

use super::*;
use crate::discover::discover;
use crate::plan::{Plan, Purpose};
use crate::selection::Selection;
use crate::session::{Guard, Journal, JournalFile, Left};
use crate::testing::{CPUS, Fake, e5_2600};

/// An access: the thread's name, the address, and what was written.
type Access = (String, Address, Option<u64>);

/// The registers of both sockets, behind one lock, and who has reached them.
#[derive(Debug, Clone)]
struct Shared(Arc<Mutex<(Fake, Vec<Access>)>>);

impl Shared {
    fn new() -> Self {
        Self(Arc::new(Mutex::new((Fake::two_sockets(), Vec::new()))))
    }

    fn lock(&self) -> MutexGuard<'_, (Fake, Vec<Access>)> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn accesses(&self) -> Vec<Access> {
        std::mem::take(&mut self.lock().1)
    }

    fn set(&self, socket: u32, msr: u32, value: u64) {
        self.lock().0.msrs.insert((socket, msr), value);
    }
}

impl RegisterSpace for Shared {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        let mut both = self.lock();
        both.1.push((thread::current().name().unwrap_or_default().to_owned(), address, None));
        both.0.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        let mut both = self.lock();
        both.1.push((thread::current().name().unwrap_or_default().to_owned(), address, Some(value)));
        both.0.write(address, width, value)
    }
}

const EVENTS: &str = "cbo/LLC_VICTIMS.M_STATE/,imc/CAS_COUNT.RD/";
/// One filter register, two values: they take turns.
const IN_TURN: &str = "cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/";

fn plan(events: &str) -> Plan {
    let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut selection = Selection::new(e5_2600());
    selection.add_events(events).unwrap();
    Plan::new(&topology, selection).unwrap()
}

fn clock() -> WorkerClock {
    WorkerClock::new(|| Moment { seconds: 1.0, tsc: 7 })
}

fn start(shared: &Shared, plan: Plan, options: Options) -> Result<SocketThreads<Shared>, SessionError> {
    let registers = shared.clone();
    // No turn ends by itself while the test runs.
    let turns = TurnLength::fixed(1e9);
    SocketThreads::start(plan, options, turns, &clock(), move |_| registers.clone())
}

fn now() -> Moment {
    Moment::default()
}

/// The socket of an address: CPUs 0 and 1 are in socket 0, and bus 0xff belongs to it.
fn socket_of(address: Address) -> u16 {
    match address {
        Address::Msr { cpu, .. } => u16::try_from(cpu / 2).unwrap(),
        Address::Pci { bdf, .. } => u16::from(bdf.bus != 0xff),
        Address::Mmio { .. } => unreachable!("the family has none"),
    }
}

/// Everything that happens to a socket's registers happens in its own thread: set-up, samples, rounds and the end.
#[test]
fn each_socket_is_reached_from_its_own_thread() {
    let shared = Shared::new();
    for events in [EVENTS, IN_TURN] {
        let mut threads = start(&shared, plan(events), Options::default()).unwrap();
        threads.rotate(&now);
        threads.sample(&now);
        threads.stop().unwrap();
        let accesses = shared.accesses();
        for (thread, address, _) in &accesses {
            assert_eq!(*thread, format!("socket {}", socket_of(*address)), "{address}");
        }
        let of = |socket| accesses.iter().filter(move |(_, address, _)| socket_of(*address) == socket).count();
        assert!(of(0) > 10 && of(0) == of(1), "{} and {}", of(0), of(1));
    }
}

/// The same accesses in the same order as those of one session on the socket, and the same counts.
#[test]
fn accesses_and_counts_are_those_of_a_session() {
    let (shared, mut alone) = (Shared::new(), Shared::new());
    let mut threads = start(&shared, plan(EVENTS), Options::default()).unwrap();
    let mut session = Session::start(alone.clone(), plan(EVENTS), Options::default(), |_| now()).unwrap();
    for space in [&shared, &alone] {
        for (socket, msr, value) in [(0, 0xd16, 1000), (1, 0xd16, 77), (1, 0xdf6, 5)] {
            space.set(socket, msr, value);
        }
    }
    let (sample, expected) = (Backend::sample(&mut threads, &now), session.sample(|_| now()));
    assert_eq!(sample.counts, expected.counts);
    let victims: Vec<_> = sample.counts.iter().filter(|count| count.event == 0).map(|count| count.count).collect();
    assert_eq!(victims[..2], [Some(1000), Some(0)]);
    assert_eq!(victims[8..], [Some(77), Some(0), Some(0), Some(0), Some(0), Some(0), Some(0), Some(5)]);
    threads.stop().unwrap();
    session.stop().unwrap();
    let (by_threads, by_session) = (shared.accesses(), alone.accesses());
    for socket in [0, 1] {
        let of = |accesses: &[Access]| -> Vec<(Address, Option<u64>)> {
            let own = accesses.iter().filter(|(_, address, _)| socket_of(*address) == socket);
            own.map(|(_, address, value)| (*address, *value)).collect()
        };
        assert_eq!(of(&by_threads), of(&by_session));
    }
    let controls = |space: &mut Shared| space.read(Address::Msr { cpu: 2, msr: 0xd10 }, Width::B8);
    assert_eq!(controls(&mut alone), Ok(0), "put back");
}

/// A socket that refuses has the others put back, and no journal left.
#[test]
fn one_socket_that_refuses_ends_all() {
    let folder = tempfile::tempdir().unwrap();
    let journal =
        JournalFile { path: folder.path().join("a.journal"), boot: "boot".to_owned(), machine: "local".to_owned() };
    let options = Options { journal: Some(journal), guard: Guard::Off, ..Options::default() };
    let shared = Shared::new();
    // The second socket's freeze: the first write of the set-up after the one that is tried.
    let plan = plan("cbo3/LLC_VICTIMS.M_STATE/");
    let select = plan.sockets[1].setup.iter().find(|step| step.purpose == Purpose::Select).unwrap();
    let broken = select.operation.address();
    let is_refused = Arc::new(AtomicBool::new(false));
    let registers = Refusing { inner: shared.clone(), address: broken, is_refused: is_refused.clone() };
    let error = SocketThreads::start(plan, options, TurnLength::fixed(1.0), &clock(), move |_| registers.clone());
    let error = error.map(|_| ()).unwrap_err();
    assert!(matches!(&error, SessionError::SetUp { socket: 1, .. }), "{error}");
    assert!(is_refused.load(Relaxed));
    assert!(shared.lock().0.msrs.values().all(|value| *value == 0), "both sockets are as before");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Refuses one write to an address that changes it.
#[derive(Clone)]
struct Refusing {
    inner: Shared,
    address: Address,
    is_refused: Arc<AtomicBool>,
}

impl RegisterSpace for Refusing {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.inner.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        if address == self.address && value != 0 {
            self.is_refused.store(true, Relaxed);
            return Err(AccessError::GeneralProtection { address });
        }
        self.inner.write(address, width, value)
    }
}

/// One journal has the registers of both sockets before the first write, and goes when all is put back.
#[test]
fn one_journal_has_all_sockets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.journal");
    let journal = JournalFile { path: path.clone(), boot: "boot".to_owned(), machine: "local".to_owned() };
    let options = || Options { journal: Some(journal.clone()), ..Options::default() };
    let shared = Shared::new();
    let threads = start(&shared, plan(EVENTS), options()).unwrap();
    let sockets: Vec<u16> = Journal::read(&path).unwrap().saved.iter().map(|saved| saved.socket).collect();
    assert!(sockets.contains(&0) && sockets.contains(&1) && sockets.is_sorted(), "{sockets:?}");
    assert!(Left::open(&path).is_err(), "the session runs");
    threads.stop().unwrap();
    assert!(!path.exists());
    // Dropped: the same, without a word.
    drop(start(&shared, plan(EVENTS), options()).unwrap());
    assert!(!path.exists() && shared.lock().0.msrs.values().all(|value| *value == 0));
}

/// Registers that can be locked against writes.
#[derive(Clone)]
struct Lockable {
    inner: Shared,
    is_locked: Arc<AtomicBool>,
}

impl RegisterSpace for Lockable {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.inner.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        if self.is_locked.load(Relaxed) {
            return Err(AccessError::GeneralProtection { address });
        }
        self.inner.write(address, width, value)
    }
}

/// Registers that refuse to be put back keep their journal, whether the end is looked at or not.
#[test]
fn a_journal_stays_while_registers_are_changed() {
    for is_dropped in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.journal");
        let journal = JournalFile { path: path.clone(), boot: "boot".to_owned(), machine: "local".to_owned() };
        let options = Options { journal: Some(journal), ..Options::default() };
        let is_locked = Arc::new(AtomicBool::new(false));
        let registers = Lockable { inner: Shared::new(), is_locked: is_locked.clone() };
        let turns = TurnLength::fixed(1e9);
        let threads = SocketThreads::start(plan(EVENTS), options, turns, &clock(), move |_| registers.clone()).unwrap();
        is_locked.store(true, Relaxed);
        if is_dropped {
            drop(threads);
        } else {
            assert!(threads.stop().is_err());
        }
        assert!(path.exists(), "dropped: {is_dropped}");
    }
}

/// Counters of others in both sockets are named together.
#[test]
fn counters_in_use_are_named_of_all_sockets() {
    let shared = Shared::new();
    for socket in [0, 1] {
        shared.set(socket, 0xd10, 0x40_0137);
    }
    let Err(SessionError::InUse { counters }) = start(&shared, plan("cbo0/LLC_VICTIMS.M_STATE/"), Options::default())
    else {
        panic!("counters are in use")
    };
    assert!(
        counters.len() == 2 && counters[0].contains("socket 0") && counters[1].contains("socket 1"),
        "{counters:?}"
    );
    assert!(shared.accesses().iter().all(|(_, _, value)| value.is_none()), "nothing was written");
}

/// Where a panic is planted.
#[derive(Clone, Copy, PartialEq)]
enum Panics {
    InAnOrder,
    InAnOrderWhileRegistersRefuse,
    WhilePuttingBack,
}

/// Registers that can be locked, or that a write panics on.
#[derive(Clone)]
struct Panicking {
    registers: Lockable,
    panics: Arc<AtomicBool>,
}

impl RegisterSpace for Panicking {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.registers.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        assert!(!self.panics.load(Relaxed) || socket_of(address) == 0, "planted");
        self.registers.write(address, width, value)
    }
}

/// A panic in one thread is one here. The registers of both sockets are put back, and the journal goes; it stays if
/// they refuse, and if the panic came in the midst of putting back.
#[test]
fn a_panic_in_a_thread_puts_back() {
    for panics in [Panics::InAnOrder, Panics::InAnOrderWhileRegistersRefuse, Panics::WhilePuttingBack] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.journal");
        let journal = JournalFile { path: path.clone(), boot: "boot".to_owned(), machine: "local".to_owned() };
        let options = Options { journal: Some(journal), ..Options::default() };
        let (shared, is_locked) = (Shared::new(), Arc::new(AtomicBool::new(false)));
        let registers = Lockable { inner: shared.clone(), is_locked: is_locked.clone() };
        let registers = Panicking { registers, panics: Arc::default() };
        let plants = registers.panics.clone();
        let turns = TurnLength::fixed(1e9);
        let mut threads =
            SocketThreads::start(plan(EVENTS), options, turns, &clock(), move |_| registers.clone()).unwrap();
        is_locked.store(panics == Panics::InAnOrderWhileRegistersRefuse, Relaxed);
        plants.store(panics == Panics::WhilePuttingBack, Relaxed);
        let has_panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            if panics != Panics::WhilePuttingBack {
                threads.each(|session| assert_ne!(session.plan().sockets[0].socket, 1, "planted"));
            }
            threads.stop()
        }));
        assert!(has_panicked.is_err(), "the panic goes on here");
        assert_eq!(path.exists(), panics != Panics::InAnOrder);
        if panics == Panics::InAnOrder {
            assert!(shared.lock().0.msrs.values().all(|value| *value == 0));
        }
    }
}

/// Rounds change by themselves, when their time has come.
#[test]
fn a_thread_changes_rounds_by_itself() {
    let shared = Shared::new();
    let registers = shared.clone();
    let turns = TurnLength::fixed(0.001);
    let mut threads =
        SocketThreads::start(plan(IN_TURN), Options::default(), turns, &clock(), move |_| registers.clone()).unwrap();
    assert!(!threads.has_turns_due());
    let filters = |accesses: &[Access], socket| {
        let is_filter = |(_, address, value): &&Access| {
            matches!(address, Address::Msr { msr: 0xd14, .. }) && value.is_some() && socket_of(*address) == socket
        };
        accesses.iter().filter(is_filter).count()
    };
    let mut all = Vec::new();
    while filters(&all, 0) < 4 || filters(&all, 1) < 4 {
        thread::yield_now();
        all.extend(shared.accesses());
    }
    let sample = Backend::sample(&mut threads, &now);
    assert_eq!(sample.counts.len(), 4);
    threads.stop().unwrap();
}

#[test]
fn the_parts_have_all_accesses_of_the_plan() {
    let whole = plan(EVENTS);
    let of_parts = parts(&whole);
    assert_eq!(of_parts.iter().map(|part| part.sockets[0].socket).collect::<Vec<_>>(), [0, 1]);
    let operations: Vec<Operation> = of_parts.iter().flat_map(Plan::operations).collect();
    assert_eq!(operations.len(), whole.operations().count());
}
