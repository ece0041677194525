//! Connections to a service over fake registers, which note every access.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use pericore_registers::{AccessError, Address, Bdf, Operation, Outcome, RegisterSpace, Width};

use super::RemoteSpace;
use super::service::{Holds, ServiceState};
use crate::discover::{Topology, discover};
use crate::linux::NOT_PERMITTED;
use crate::plan::Plan;
use crate::selection::Selection;
use crate::session::{Count, Guard, Moment, Options, Session};
use crate::testing::{CPUS, Fake, e5_2600};

/// Registers of two sockets that the test looks at while a service reaches them.
#[derive(Clone)]
struct Registers(Arc<Mutex<Fake>>);

impl Registers {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Fake::two_sockets())))
    }

    fn lock(&self) -> MutexGuard<'_, Fake> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was read and written since the last time.
    fn accesses(&self) -> (Vec<Address>, Vec<(Address, u64)>) {
        let mut fake = self.lock();
        (std::mem::take(&mut fake.reads), std::mem::take(&mut fake.writes))
    }
}

impl RegisterSpace for Registers {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.lock().read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.lock().write(address, width, value)
    }
}

impl Holds for Registers {
    fn hold(&mut self, _: Vec<Operation>) {}

    fn give_up(&mut self) -> io::Result<()> {
        Err(io::Error::other("it has none"))
    }
}

/// A connection to a service over the registers.
fn connect(registers: &Registers) -> (RemoteSpace, JoinHandle<io::Result<()>>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (shared, space) = (ServiceState::new(e5_2600(), &CPUS), registers.clone());
    (RemoteSpace::new(Some(ours)), thread::spawn(move || shared.serve(theirs, space)))
}

fn found(space: &mut impl RegisterSpace) -> Topology {
    discover(space, e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap()
}

fn now<S>(_: &mut S) -> Moment {
    Moment::default()
}

const fn msr(msr: u32) -> Address {
    Address::Msr { cpu: 0, msr }
}

const COMMAND: Address = Address::Pci { bdf: Bdf::new(0xff, 16, 0), offset: 4 };

/// Discovery, set-up, samples, a change of rounds and the end: the same accesses in the same order as by hand, and the
/// same counts.
#[test]
fn a_session_makes_the_same_accesses_through_the_process() {
    for events in [
        "cbo/LLC_VICTIMS.M_STATE/,imc/CAS_COUNT.RD/",
        "cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/,imc0/CAS_COUNT.WR/",
    ] {
        let (apart, direct) = (Registers::new(), Registers::new());
        let (remote, service) = connect(&apart);
        let through = run(remote, &apart, events);
        assert_eq!(through, run(direct.clone(), &direct, events));
        let (seen, expected) = (apart.accesses(), direct.accesses());
        assert!(expected.1.len() > 20, "{events}");
        assert_eq!(seen, expected);
        service.join().unwrap().unwrap();
    }
}

/// A session from discovery to its end; the counts of two samples.
fn run(mut space: impl RegisterSpace, registers: &Registers, events: &str) -> [Vec<Count>; 2] {
    let topology = found(&mut space);
    let mut selection = Selection::new(e5_2600());
    selection.add_events(events).unwrap();
    let plan = Plan::new(&topology, selection).unwrap();
    let options = Options { guard: Guard::All, ..Options::default() };
    let mut session = Session::start(space, plan, options, now).unwrap();
    registers.lock().msrs.insert((0, 0xd16), 1000);
    let first = session.sample(now).counts;
    session.rotate(now);
    let second = session.sample(now).counts;
    session.stop().unwrap();
    [first, second]
}

/// What an access costs the process that reads, beside the hardware: a sample of a server takes some 4,400
/// (`pericore/tests/served/cost.rs`), in lists as long as these. The registers here are a table in memory, whose time
/// counts, too. Of several windows the least: what others do on this machine only adds.
#[test]
#[ignore = "a measurement: the long form"]
fn an_access_costs_the_process_less_than_a_microsecond() {
    const LISTS: u32 = 500;
    let window = || {
        let registers = Registers::new();
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (shared, space) = (ServiceState::new(e5_2600(), &CPUS), registers.clone());
        let service = thread::spawn(move || {
            shared.serve(theirs, space).unwrap();
            let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
        });
        let mut space = RemoteSpace::new(Some(ours));
        found(&mut space);
        // Four counters of each of eight slices, as often as those of sixty-four.
        let counters = (0..64).flat_map(|slice| (0..4).map(move |at| msr(0xd16 + slice % 8 * 0x20 + at)));
        let reads: Vec<Operation> = counters.map(|address| Operation::Read { address, width: Width::B8 }).collect();
        let keeps = vec![0; reads.len()];
        let mut outcomes = Vec::new();
        for _ in 0..LISTS {
            outcomes.clear();
            space.carry_out_list(&reads, &keeps, &mut outcomes);
            assert!(outcomes.len() == reads.len() && outcomes.iter().all(Result::is_ok), "{:?}", outcomes[0]);
            registers.accesses();
        }
        drop(space);
        service.join().unwrap() / f64::from(LISTS) / reads.len() as f64
    };
    let least = (0..8).map(|_| window()).fold(f64::INFINITY, f64::min);
    println!("{least:.3} microseconds of CPU an access");
    assert!(least < 1.0, "{least:.3} microseconds");
}

fn is_refused<T>(outcome: Outcome<T>) -> bool {
    matches!(outcome, Err(AccessError::Permission { remedy, .. }) if remedy == NOT_PERMITTED)
}

/// Not before discovery, not elsewhere, and not by way of a list whose other steps are right: IA32_MISC_ENABLE,
/// IA32_PERF_CTL, the command register of a PCI function, memory.
#[test]
fn foreign_registers_are_never_touched() {
    let registers = Registers::new();
    let (mut space, _service) = connect(&registers);
    assert!(is_refused(space.read(msr(0xd10), Width::B8)), "not found yet");
    assert!(is_refused(space.write(msr(0xd10), Width::B8, 0)));
    assert_eq!(registers.accesses(), (vec![], vec![]));
    found(&mut space);
    assert!(!registers.accesses().0.is_empty(), "discovery reads");
    for (address, width) in [
        (msr(0x1a0), Width::B8),
        (msr(0x199), Width::B8),
        (COMMAND, Width::B2),
        (COMMAND, Width::B4),
        (Address::Mmio { physical: 0x1000 }, Width::B8),
    ] {
        assert!(is_refused(space.read(address, width)), "{address}");
        assert!(is_refused(space.write(address, width, 6)), "{address}");
        assert!(is_refused(space.merge(Operation::Write { address, width, value: 1 }, 2)), "{address}");
    }
    assert_eq!(registers.accesses(), (vec![], vec![]));
    let operations = [
        Operation::Read { address: msr(0xd10), width: Width::B8 },
        Operation::Write { address: msr(0x1a0), width: Width::B8, value: 0x85_0089 },
        Operation::Write { address: msr(0xd10), width: Width::B8, value: 0x40_0334 },
        Operation::Write { address: msr(0xd10), width: Width::B8, value: 1 << 40 },
    ];
    let mut outcomes = Vec::new();
    space.carry_out_list(&operations, &[0; 4], &mut outcomes);
    assert_eq!((&outcomes[0], &outcomes[2]), (&Ok(0), &Ok(0)));
    assert!(is_refused(outcomes[1].clone()) && is_refused(outcomes[3].clone()));
    assert_eq!(registers.accesses(), (vec![msr(0xd10)], vec![(msr(0xd10), 0x40_0334)]));
}

/// What was found is that of the same look by hand, whatever answers: also an error, and which registers it was.
#[test]
fn discovery_finds_the_same_through_the_process() {
    let registers = Registers::new();
    registers.lock().functions.remove(&(0x7f, 16, 1));
    registers.lock().msrs.retain(|&(socket, msr), _| socket == 0 || !(0xd20..0xd40).contains(&msr));
    let (mut space, _service) = connect(&registers);
    let (through, direct) = (found(&mut space), found(&mut registers.clone()));
    assert_eq!(format!("{through:?}"), format!("{direct:?}"));
    registers.lock().set_pci((0x7f, 11, 0), 0x40, 0xffff_ffff);
    let error = |space: &mut dyn RegisterSpace| discover(&mut &mut *space, e5_2600(), &CPUS, |_| true).unwrap_err();
    assert_eq!(error(&mut space), error(&mut registers.clone()));
}

/// A service that is gone is an error of each access, and not the end of anything.
#[test]
fn a_service_that_is_gone_is_an_error_of_each_access() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut space = RemoteSpace::new(Some(ours));
    drop(theirs);
    let reads = [msr(0xd10), msr(0xd11)].map(|address| Operation::Read { address, width: Width::B8 });
    let mut outcomes = Vec::new();
    space.batch(&reads, &mut outcomes);
    assert_eq!(outcomes.len(), 2);
    for outcome in outcomes.into_iter().chain([space.read(msr(0xd10), Width::B8)]) {
        assert!(matches!(outcome, Err(AccessError::Io { .. })), "{outcome:?}");
    }
    assert!(space.hold_open([]).is_err() && space.give_up_rights().is_err());
    assert!(RemoteSpace::new(None).read(msr(0xd10), Width::B8).is_err());
}

/// What a thread there cannot do comes back in its words.
#[test]
fn rights_that_are_not_given_up_are_reported() {
    let (mut space, _service) = connect(&Registers::new());
    assert!(space.hold_open([Operation::Read { address: msr(0xd10), width: Width::B8 }]).is_ok());
    assert_eq!(space.give_up_rights().unwrap_err().to_string(), "it has none");
}
