//! A steady window that was saved is the one that was measured, and what is not whole is none.

use pericore_machine::chassis::{Chassis, Shape};
use pericore_machine::engine::ClockDomains;
use pericore_machine::signal::Wiring;
use pericore_machine::steady::{Pace, SavedError, Steady};
use pericore_machine::workload::Workload;
use pericore_machine::{Machine, MachineSpec};
use pericore_registers::{Address, Operation, RegisterSpace, Width};

/// A window of 20 us, and the clocks of its machine.
fn measured(machine: &str) -> (Steady, ClockDomains, MachineSpec) {
    let spec = MachineSpec::parse(machine).expect("a machine");
    let mut workload =
        Workload::parse("random:read=70,threads=4", &spec.limits().expect("a model")).expect("a workload");
    (workload.requests, workload.warm) = (1 << 40, true);
    let mut machine = Machine::new(&spec, &workload).expect("a machine");
    let clocks = machine.clocks().clone();
    let steady = Steady::measure(&mut machine, 1, &Pace { warm_up: Some(20), window: 20, cells: 64 });
    (steady, clocks, spec)
}

fn wiring(spec: &MachineSpec) -> Wiring {
    Wiring::new(spec.family(), spec.shape().expect("a shape").sockets)
}

/// What counters read of a window that goes by again and again: MSRs are programmed, then read at these ticks.
fn counted(
    steady: &Steady,
    spec: &MachineSpec,
    clocks: &ClockDomains,
    writes: &[(u32, u64)],
    reads: &[u32],
) -> Vec<u64> {
    let shape = Shape::new(spec.family(), spec.shape().expect("a shape").sockets, 8, 1).expect("a shape");
    let mut chassis = Chassis::new(shape, wiring(spec), |clock| clocks.period(clock));
    let mut replay = steady.replay();
    let msr = |msr| Address::Msr { cpu: 0, msr };
    for &(register, value) in writes {
        let write = Operation::Write { address: msr(register), width: Width::B8, value };
        replay.advance(&mut chassis, &write, 1);
        chassis.write(msr(register), Width::B8, value).expect("a control");
    }
    let mut counts = Vec::new();
    for part in [3, 9, 10, 31, 400] {
        for &register in reads {
            let read = Operation::Read { address: msr(register), width: Width::B8 };
            replay.advance(&mut chassis, &read, steady.window() * part / 10 + 7);
            counts.push(chassis.read(msr(register), Width::B8).expect("a counter"));
        }
    }
    counts
}

#[test]
fn a_window_counts_the_same_when_it_was_saved() {
    // The occupancy of CBo 0's table of requests, its look-ups (guide 2.3: 0x36 and 0x08, 0x34 and 0x11, all states);
    // the global queue's reads and its cycles not empty (SDM: 0x03 and 0x01, both umasks 0x01).
    let e5 = (&[(0xd14, 0x7c_0000), (0xd10, 0x40_0836), (0xd11, 0x40_1134)][..], &[0xd16, 0xd17][..]);
    let nehalem = (&[(0x3c0, 0x40_0103), (0x3c1, 0x40_0101), (0x391, 0x3)][..], &[0x3b0, 0x3b1][..]);
    for (machine, (writes, reads)) in [("e5-2680", e5), ("x5570:sockets=2", nehalem)] {
        let (steady, clocks, spec) = measured(machine);
        let saved = steady.to_bytes("key");
        let taken = Steady::from_bytes(&saved, "key", &wiring(&spec)).expect("it is whole");
        let [measured, back] = [&steady, &taken].map(|steady| counted(steady, &spec, &clocks, writes, reads));
        assert_eq!(measured, back, "{machine}");
        assert!(measured.iter().step_by(2).all(|&count| count > 100), "{machine}: {measured:?}");
        assert!(taken.to_bytes("key") == saved, "{machine}: saved again it is another");
    }
}

#[test]
fn what_is_not_whole_or_of_another_key_is_no_window() {
    let (steady, _, spec) = measured("x5570");
    let (saved, wiring) = (steady.to_bytes("of this machine"), wiring(&spec));
    let take = |bytes: &[u8], key: &str| Steady::from_bytes(bytes, key, &wiring).map(|_| ());
    assert_eq!(take(&saved, "of another machine"), Err(SavedError::Key));
    assert_eq!(take(b"", ""), Err(SavedError::Foreign));
    assert_eq!(take(b"#!/bin/sh\necho hello, I am a program\n", ""), Err(SavedError::Foreign));
    let mut newer = saved.clone();
    newer[16] = 9;
    assert_eq!(take(&newer, "of this machine"), Err(SavedError::Format { found: 9 }));
    let step = saved.len() / 97;
    for length in (16..saved.len()).step_by(step).chain([saved.len() - 1]) {
        assert!(matches!(take(&saved[..length], "of this machine"), Err(SavedError::Damaged(_))), "{length} bytes");
    }
    for place in (20..saved.len()).step_by(step) {
        let mut changed = saved.clone();
        changed[place] ^= 0x10;
        assert!(matches!(take(&changed, "of this machine"), Err(SavedError::Damaged(_))), "byte {place}");
    }
    let longer = [&saved[..], &[0]].concat();
    assert!(matches!(take(&longer, "of this machine"), Err(SavedError::Damaged(_))));
}
