//! Others who begin to count while a session runs: what they set stays theirs when it ends, and what is ours goes back.
//!
//! Addresses stand here by hand: E5-2600 327043-001, Tables 2-8, 2-58 and 2-59; Emerald Rapids Tables 1-8 and 1-9; Nehalem SDM 18.8.2. What the
//! Linux kernel's drivers write is in arch/x86/events/intel/uncore_snbep.c (clear frz, then event and enable) and uncore_nhmex.c and uncore_snb.c
//! (all enables at once).

use std::cell::RefCell;
use std::rc::Rc;

use pericore_metrics::Grade;
use pericore_observe::discover::Cpu;
use pericore_observe::plan::Plan;
use pericore_observe::session::{Journal, JournalFile, Manners, Options, Session, prepare};
use pericore_registers::{Address, Outcome, RegisterSpace, Width};
use pericore_tests::pmon::raw::CYCLE;
use pericore_tests::session::shared::Shared;

/// PCI functions of the four channels of a socket, on device 16.
const CHANNELS: [u8; 4] = [0, 1, 4, 5];
/// Their unit control, first and last control, and the counters of those.
const BOX: u16 = 0xf4;
const CONTROLS: [u16; 2] = [0xd8, 0xe4];
const COUNTERS: [u16; 2] = [0xa0, 0xb8];
/// A unit control that obeys freezes, and is frozen: so the kernel leaves a unit in which none of its events runs.
const FROZEN: u32 = 0x0001_0100;
const RUNNING: u32 = 0x0001_0000;
/// CLOCKTICKS of a channel has event code 0; bit 22 enables.
const CLOCKTICKS: u32 = 0x0040_0000;

fn planned(machine: &Shared, events: &str) -> Plan {
    let topology = machine.topology();
    prepare(&mut machine.clone(), &topology, machine.selection(events), Manners::default(), None).expect("it fits")
}

/// Somebody takes a free counter of the first channel, or the one that we count with: theirs counts on after our end, and the other channels are as
/// they were found.
#[test]
fn a_unit_in_which_somebody_counts_by_now_stays_unfrozen() {
    for (control, counter) in CONTROLS.into_iter().zip(COUNTERS) {
        let machine = Shared::new("e5-2600", 1);
        let read = |function: u8, offset: u16| machine.0.borrow_mut().pci(0xff, 16, function, offset);
        let write = |offset: u16, value: u32| machine.0.borrow_mut().pci_write(0xff, 16, 0, offset, value);
        for function in CHANNELS {
            machine.0.borrow_mut().pci_write(0xff, 16, function, BOX, FROZEN);
        }
        let mut session = machine.start(planned(&machine, "imc/CAS_COUNT.RD/"), Options::default());
        machine.run(100);
        let sample = session.sample(|space| space.moment());
        assert!(sample.counts.iter().all(|count| count.validity.grade() == Grade::Measured));
        write(BOX, read(0, BOX) & !0x100);
        write(control, CLOCKTICKS);
        machine.run(10);
        session.stop().expect("all of ours is put back");
        assert_eq!((read(0, BOX), read(0, control)), (RUNNING, CLOCKTICKS), "{control:#x}");
        let before = machine.0.borrow_mut().pci_count(0xff, 16, 0, counter);
        machine.run(77);
        assert_eq!(machine.0.borrow_mut().pci_count(0xff, 16, 0, counter) - before, 77, "{control:#x}");
        assert_eq!(read(0, if control == CONTROLS[0] { CONTROLS[1] } else { CONTROLS[0] }), 0, "ours is off");
        for function in &CHANNELS[1..] {
            assert_eq!((read(*function, BOX), read(*function, CONTROLS[0])), (FROZEN, 0), "channel of {function}");
        }
    }
}

/// The same when the session that ends is dropped, as by a panic, and when somebody came and went: then the unit is put back as it was found.
#[test]
fn who_came_and_went_leaves_the_unit_as_it_was_found() {
    let machine = Shared::new("e5-2600", 1);
    machine.0.borrow_mut().pci_write(0xff, 16, 0, BOX, FROZEN);
    let session = machine.start(planned(&machine, "imc/CAS_COUNT.RD/"), Options::default());
    machine.0.borrow_mut().pci_write(0xff, 16, 0, CONTROLS[1], CLOCKTICKS);
    machine.run(10);
    machine.0.borrow_mut().pci_write(0xff, 16, 0, CONTROLS[1], CLOCKTICKS & 0xff);
    drop(session);
    assert_eq!(machine.0.borrow_mut().pci(0xff, 16, 0, BOX), FROZEN);
    assert_eq!(CONTROLS.map(|control| machine.0.borrow_mut().pci(0xff, 16, 0, control)), [0, 0]);
}

/// The socket was found frozen, and nobody counted. Whoever counts in any unit of it now is not frozen again.
#[test]
fn a_socket_in_which_somebody_counts_by_now_stays_unfrozen() {
    for (joins, left) in [(false, 1), (true, 0)] {
        let machine = Shared::new("emerald-rapids", 2);
        let write = |msr: u32, value: u64| machine.0.borrow_mut().wrmsr_on(8, msr, value);
        write(0x2ff0, 1);
        let mut session = machine.start(planned(&machine, "pcu/CLOCKTICKS/"), Options::default());
        machine.run(100);
        assert!(session.sample(|space| space.moment()).counts.iter().all(|count| count.count == Some(100)));
        // Agent 3 of socket 1: CLOCKTICKS on counter 0.
        write(0x2032, u64::from(joins));
        session.stop().expect("all is put back");
        let before = machine.0.borrow_mut().rdmsr_on(8, 0x2038);
        machine.run(33);
        let after = machine.0.borrow_mut().rdmsr_on(8, 0x2038);
        assert_eq!((machine.0.borrow_mut().rdmsr_on(8, 0x2ff0), after - before), (left, if joins { 33 } else { 0 }));
    }
}

/// Every write of a session, with its value.
type Writes = Rc<RefCell<Vec<(Address, u64)>>>;

struct Logged(Shared, Writes);

impl RegisterSpace for Logged {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.0.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.1.borrow_mut().push((address, value));
        self.0.write(address, width, value)
    }
}

/// The kernel enables all counters of MSR 0x391 when its first event starts, which counts with counter 5: no sample takes an enable from it, nor does
/// our end.
#[test]
fn nehalems_enables_of_others_are_never_taken() {
    const ALL: u64 = 0x1_0000_00ff;
    let machine = Shared::new("nehalem", 1);
    let plan = planned(&machine, "uncore/CLK_UNHALTED/,uncore/QHL_REQUESTS.LOCAL_READS/");
    let writes = Writes::default();
    let space = Logged(machine.clone(), Rc::clone(&writes));
    let mut session =
        Session::start(space, plan, Options::default(), |space| space.0.moment()).expect("nobody else is there");
    // GQ_CYCLES_NOT_EMPTY.READ_TRACKER is 0x01 with mask 0x01; the tracker is never empty here.
    let wire = machine.0.borrow_mut().wire_of(0, "uncore", 0, "GQ_CYCLES_NOT_EMPTY");
    let tag = machine.0.borrow().tag("uncore", "GQ_CYCLES_NOT_EMPTY", &[("sub", 0x01)]);
    let begin = machine.0.borrow().machine.now() / CYCLE;
    machine.0.borrow_mut().enter(wire, tag, begin);
    machine.run(10);
    machine.0.borrow_mut().wrmsr(0x3c5, 0x0040_0101);
    machine.0.borrow_mut().wrmsr(0x391, ALL);
    writes.borrow_mut().clear();
    for _ in 0..3 {
        machine.run(25);
        let sample = session.sample(|space| space.0.moment());
        assert_eq!(
            sample.counts.iter().find(|count| count.event == 0).expect("clocks").count.map(|c| c >= 25),
            Some(true)
        );
    }
    session.stop().expect("all is put back");
    let of_enables: Vec<u64> = writes
        .borrow()
        .iter()
        .filter(|(address, _)| *address == Address::Msr { cpu: 0, msr: 0x391 })
        .map(|(_, value)| *value)
        .collect();
    assert!(of_enables.len() >= 6 && of_enables.iter().all(|value| value & 0xfe == 0xfe), "{of_enables:x?}");
    assert_eq!((machine.msr(0x391), machine.msr(0x3c5), machine.msr(0x3b5)), (ALL, 0x0040_0101, 75));
    let ours: Vec<u64> = [0x395, 0x3c0, 0x3c1, 0x3c2, 0x3c3, 0x3c4, 0x3c6, 0x3c7].map(|msr| machine.msr(msr)).into();
    assert_eq!(ours, [0; 8]);
}

/// Killed while its enables were off for a reading, when the kernel's driver already counts with counter 0, which was
/// ours: `restore` switches the enable on.
#[test]
fn an_enable_that_somebody_uses_by_now_is_on_after_restore() {
    const ALL: u64 = 0x1_0000_00ff;
    let machine = Shared::new("nehalem", 1);
    let plan = planned(&machine, "uncore/CLK_UNHALTED/,uncore/QHL_REQUESTS.LOCAL_READS/");
    let folder = tempfile::tempdir().expect("a folder");
    let file = JournalFile { path: folder.path().join("journal"), boot: "boot".to_owned(), machine: "test".to_owned() };
    let options = Options { journal: Some(file.clone()), ..Options::default() };
    let session = Session::start(machine.clone(), plan, options, |space| space.moment()).expect("nobody is there");
    // QMC_WRITES.FULL_CH0 is 0x2f with mask 0x01.
    machine.0.borrow_mut().wrmsr(0x3c0, 0x0040_012f);
    machine.0.borrow_mut().wrmsr(0x391, ALL & !0x1_0000_0001);
    let journal = Journal::read(&file.path).expect("it is whole");
    std::mem::forget(session);
    let cpus: Vec<Cpu> = (0..4).map(|number| Cpu { number, package: 0 }).collect();
    let family = pericore_catalog::family("nehalem").expect("a family");
    journal.restore(&mut machine.clone(), family, &cpus, "boot").expect("all is put back");
    assert_eq!([0x391, 0x3c0, 0x395].map(|msr| machine.msr(msr)), [ALL, 0x0040_012f, 0]);
}

/// A filter goes back unless somebody has written it since, or counts an event that may go by it.
#[test]
fn a_filter_that_somebody_may_use_by_now_stays() {
    const STATES: u64 = 0x007c_0000;
    // What somebody writes to control 1 and to the filter of slice 0, and what the filter holds after our end. LLC_LOOKUP (0x34) goes by the
    // state in the filter, CLOCKTICKS (0x00) does not.
    for (control, filter, left) in [
        (0, STATES, 0),
        (0x0040_0000, STATES, 0),
        (0x0040_0334, STATES, STATES),
        (0x0040_0334, 0x0004_0000, 0x0004_0000),
        (0, 0x0004_0000, 0x0004_0000),
    ] {
        let machine = Shared::new("e5-2600", 1);
        let plan = planned(&machine, "cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/");
        let session = machine.start(plan, Options::default());
        assert_eq!((machine.msr(0xd14), machine.msr(0xd10)), (STATES, 0x0040_0334), "as set up");
        machine.0.borrow_mut().wrmsr(0xd11, control);
        machine.0.borrow_mut().wrmsr(0xd14, filter);
        session.stop().expect("all of ours is put back");
        let held = [0xd10, 0xd11, 0xd14].map(|msr| machine.msr(msr));
        assert_eq!(held, [0, control, left], "{control:#x}, {filter:#x}");
    }
}
