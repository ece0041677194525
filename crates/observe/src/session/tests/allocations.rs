//! While counters stand nothing is allocated: an allocation may wait for a page, and that is time that nobody counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};

use super::*;
use crate::linux::{LinuxSpace, Root};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, with a count for each thread.
struct Counted;

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has no count any more.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTED: Counted = Counted;

/// Registers that hold what is written into them.
struct Plain(HashMap<Address, u64>);

impl RegisterSpace for Plain {
    fn read(&mut self, address: Address, _: Width) -> Outcome<u64> {
        Ok(self.0.get(&address).copied().unwrap_or(0))
    }

    fn write(&mut self, address: Address, _: Width, value: u64) -> Outcome<()> {
        self.0.insert(address, value);
        Ok(())
    }
}

/// Every address that a plan reaches.
fn addresses(plan: &Plan) -> BTreeSet<Address> {
    let parts = plan.sockets.iter();
    let steps = parts.flat_map(|part| part.inspect.iter().chain(&part.setup).chain(&part.read));
    steps.map(|step| step.operation.address()).collect()
}

/// Samples and changes of rounds, from the time when the first unit stands to that when the last one runs; two of the
/// forty are checked.
fn assert_nothing_is_allocated(space: impl RegisterSpace, plan: Plan) {
    let is_in_turns = plan.rounds() > 1;
    let mut time = 0.0;
    let mut allocations = Vec::with_capacity(8);
    let mut now = |allocations: &mut Vec<u64>| {
        time += 1e-6;
        allocations.push(ALLOCATIONS.get());
        Moment { seconds: time, tsc: 0 }
    };
    let mut session = Session::start(space, plan, Options::default(), |_| now(&mut allocations)).unwrap();
    for _ in 0..40 {
        allocations.clear();
        session.rotate(|_| now(&mut allocations));
        // Two sockets are stopped and go on: the first unit, and the last one.
        assert_eq!(allocations.len(), if is_in_turns { 8 } else { 0 });
        assert_eq!(allocations.first(), allocations.last(), "in a change of rounds");
        allocations.clear();
        let sample = session.sample(|_| now(&mut allocations));
        assert_eq!(allocations.len(), 8);
        assert_eq!(allocations[0], allocations[7], "in a sample: {sample:?}");
        assert!(sample.counts.iter().all(|count| count.validity.grade() != Grade::Suspect), "{sample:?}");
    }
    assert!(ALLOCATIONS.get() > 0, "they are counted");
    session.stop().unwrap();
}

#[test]
fn nothing_is_allocated_while_counters_stand() {
    for (events, rounds) in [
        ("cbo/LLC_VICTIMS.M_STATE/,imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/", 1),
        ("cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/,imc0/CAS_COUNT.RD/", 2),
    ] {
        let plan = plan(&mut Fake::two_sockets(), events);
        assert_eq!(plan.rounds(), rounds);
        let registers = addresses(&plan).into_iter().map(|address| (address, 0)).collect();
        assert_nothing_is_allocated(Plain(registers), plan);
    }
}

/// The system's files of configuration space, whose neighbouring counters are read together.
#[test]
fn nothing_is_allocated_by_reads_and_writes_of_files() {
    let plan = plan(&mut Fake::two_sockets(), "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/,imc/ACT_COUNT/");
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(&plan) {
        let Address::Pci { bdf, .. } = address else { panic!("{address} is none of these units") };
        let path = folder.path().join(format!("sys/bus/pci/devices/{bdf}/config"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap().set_len(4096).unwrap();
    }
    assert_nothing_is_allocated(LinuxSpace::new(Root::at(folder.path())), plan);
}
