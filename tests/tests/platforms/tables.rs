//! Discovery tables that tell of more than the documents, or of the wrong place: what answers is counted, once.
//!
//! Emerald Rapids: the table of socket 0 lies at 0xE0000000 here, 32 bytes a record (1.9, 1.10.1); type 1 is IIO and 7
//! M2M, as in Linux's driver. IIO stack 9 is at MSR 0x3090 (Table 1-9), M2M 3 in PCI function 12.3 of the second uncore
//! bus.

use pericore_metrics::Grade;
use pericore_observe::discover::{Cpu, Presence, Topology, discover};
use pericore_observe::plan::Plan;
use pericore_observe::selection::Selection;
use pericore_observe::session::{Journal, JournalFile, Options, Sample, Session};
use pericore_registers::{AccessError, Address, Operation, Outcome, RegisterSpace, Width};
use pericore_tests::session::shared::Shared;

const TABLE: u64 = 0xe000_0000;
const RECORD: u64 = 32;

/// MSRs of stack 9, and how far they lie from there on this machine.
const STACK: std::ops::Range<u32> = 0x3090..0x30a0;
const MOVED: u32 = 0x700;

/// What is odd about the machine.
#[derive(Clone, Copy, PartialEq)]
enum Quirk {
    /// The last stack is stack 13, at an address that no document has.
    StackNobodyDocumented,
    /// The record of M2M 3 says that it is this device and function.
    WrongFunction(u8, u8),
}

#[derive(Clone)]
struct Odd {
    machine: Shared,
    quirk: Quirk,
}

impl Odd {
    fn new(quirk: Quirk) -> Self {
        Self { machine: Shared::new("emerald-rapids", 1), quirk }
    }

    /// The address on the machine behind; none for what is not there.
    fn behind(&self, address: Address) -> Outcome<Address> {
        match address {
            Address::Msr { msr, .. } if self.quirk == Quirk::StackNobodyDocumented && STACK.contains(&msr) => {
                Err(AccessError::GeneralProtection { address })
            }
            Address::Msr { cpu, msr }
                if self.quirk == Quirk::StackNobodyDocumented && STACK.contains(&msr.wrapping_sub(MOVED)) =>
            {
                Ok(Address::Msr { cpu, msr: msr - MOVED })
            }
            _ => Ok(address),
        }
    }

    /// What a qword of the table holds here, if it is of a record that is odd.
    fn patched(&mut self, physical: u64, held: u64) -> Option<u64> {
        let offset = physical.checked_sub(TABLE).filter(|offset| (RECORD..0x1_0000).contains(offset))?;
        let identity = Address::Mmio { physical: physical - offset % RECORD + 16 };
        let identity = self.machine.read(identity, Width::B8).ok()? & 0xffff_ffff;
        match (self.quirk, identity, offset % RECORD) {
            (Quirk::StackNobodyDocumented, 0x0009_0001, 8) => Some(held + u64::from(MOVED)),
            (Quirk::StackNobodyDocumented, 0x0009_0001, 16) => Some(held & !0xffff_0000 | 13 << 16),
            // Device in bits 19:15, function in bits 14:12.
            (Quirk::WrongFunction(device, function), 0x0003_0007, 8) => {
                Some(held & !0xff000 | u64::from(device) << 15 | u64::from(function) << 12)
            }
            _ => None,
        }
    }

    fn topology(&mut self) -> Topology {
        let cpus: Vec<Cpu> = (0..8).map(|number| Cpu { number, package: 0 }).collect();
        let family = pericore_catalog::family("emerald-rapids").expect("a family");
        discover(self, family, &cpus, |_| true).expect("the uncore is found")
    }

    /// Counts for 500 cycles, and puts everything back: once by the session, once from its journal.
    fn count(&mut self, events: &str) -> Sample {
        let topology = self.topology();
        let plan = || {
            let mut selection = Selection::new(topology.family);
            selection.add_events(events).expect("the events exist");
            Plan::new(&topology, selection).expect("it fits")
        };
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let journal = || JournalFile { path: path.clone(), boot: "boot".to_owned(), machine: "local".to_owned() };
        let options = || Options { journal: Some(journal()), ..Options::default() };
        let moment = |space: &mut Self| space.machine.moment();
        std::mem::forget(Session::start(self.clone(), plan(), options(), moment).expect("it starts"));
        let cpus: Vec<Cpu> = (0..8).map(|number| Cpu { number, package: 0 }).collect();
        let left = Journal::read(&path).expect("it is whole");
        left.restore(self, topology.family, &cpus, "boot").expect("all is put back");
        std::fs::remove_file(&path).expect("it is there");
        self.is_as_before(&plan());
        let mut session = Session::start(self.clone(), plan(), options(), moment).expect("nobody counts any more");
        self.machine.run(500);
        session.check_controls();
        let sample = session.sample(moment);
        session.stop().expect("all is put back");
        self.is_as_before(&plan());
        sample
    }

    fn is_as_before(&mut self, plan: &Plan) {
        for step in &plan.sockets[0].inspect {
            let Operation::Read { address, width } = step.operation else { panic!("a read") };
            assert_eq!(self.read(address, width), Ok(0), "{address}");
        }
    }
}

impl RegisterSpace for Odd {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        let behind = self.behind(address)?;
        let held = self.machine.read(behind, width)?;
        match address {
            Address::Mmio { physical } => Ok(self.patched(physical, held).unwrap_or(held)),
            _ => Ok(held),
        }
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        let behind = self.behind(address)?;
        self.machine.write(behind, width, value)
    }
}

/// Numbers of the instances that counted, all of them 500.
fn counted(sample: &Sample) -> Vec<u16> {
    for count in &sample.counts {
        assert_eq!((count.count, count.validity.grade()), (Some(500), Grade::Measured), "{}", count.validity);
    }
    sample.counts.iter().map(|count| count.instance).collect()
}

/// Ten stacks answer, one of them a fourteenth that no document has: it is counted, and what the documents know of it
/// alone, its free-running counters, is not.
#[test]
fn a_stack_beyond_the_documents_is_counted() {
    let mut odd = Odd::new(Quirk::StackNobodyDocumented);
    assert_eq!(counted(&odd.count("iio/CLOCKTICKS/")), [0, 1, 2, 3, 4, 5, 6, 7, 8, 13]);
    let topology = odd.topology();
    let socket = &topology.sockets[0];
    let iio = topology.family.unit("iio").expect("a unit");
    let missing: Vec<usize> = (0..14).filter(|&number| socket.presence(iio)[number] != Presence::Present).collect();
    assert_eq!(missing, [9, 10, 11, 12]);
    assert!(socket.table().expect("there is one").is_sound());
    let mut selection = Selection::new(topology.family);
    selection.add_events("iio/free_bw_in0/").expect("a counter that runs by itself");
    let plan = Plan::new(&topology, selection).expect("it fits");
    let places: Vec<u16> = plan.instances().map(|instance| instance.number).collect();
    assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
}

/// A record of M2M 3 that names a function of another kind (a link, 1.1), or one that is not there (31.7), hides
/// nothing: the unit is where the documents have it.
#[test]
fn a_record_of_the_wrong_function_hides_no_unit() {
    let m2m = Shared::new("emerald-rapids", 1).topology().sockets[0].clone();
    let family = pericore_catalog::family("emerald-rapids").expect("a family");
    let all = m2m.present(family.unit("m2m").expect("a unit"));
    assert!(all.contains(&3));
    for (device, function, words) in [(1, 1, "device ID"), (31, 7, "no PCI function")] {
        let mut odd = Odd::new(Quirk::WrongFunction(device, function));
        assert_eq!(counted(&odd.count("m2m/CLOCKTICKS/")), all);
        let topology = odd.topology();
        let table = topology.sockets[0].table().expect("there is one");
        let [fault] = &table.faults[..] else { panic!("{:?}", table.faults) };
        let text = fault.to_string();
        assert!(text.contains("m2m 3") && text.contains(words) && text.contains("documented place"), "{text}");
    }
}
