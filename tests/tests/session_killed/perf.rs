//! The kernel's driver comes to count beside a session that is killed. 327043-001, Tables 2-8 to 2-12, 2-58 to 2-62.

use std::os::unix::net::UnixListener;

use pericore_machine::chassis::Chassis;
use pericore_observe::session::Journal;
use pericore_registers::{RegisterSpace, Width};

use super::{BOOT, DCLK, SCENES, UCLK, channel_0, cpus, machine, msr, serve, spawn, width};

/// Freeze enabled, and not frozen (2-9 and 2-60); a clock, counted (2-10 and 2-61).
pub const RUNNING: u64 = 0x1_0000;
const FROZEN: u64 = 0x1_0100;
const CLOCK: u64 = 0x40_0000;

/// What the kernel's driver does when `perf stat` begins on slice 0 and channel 0: it stops the unit, takes the first
/// counter, and lets the unit run.
pub fn joins(machine: &mut Chassis) {
    for (gate, control) in [(msr(0xd04), msr(0xd10)), (channel_0(0xf4), channel_0(0xd8))] {
        for (address, value) in [(gate, FROZEN), (control, CLOCK), (gate, RUNNING)] {
            machine.write(address, width(address), value).expect("the register exists");
        }
    }
}

/// perf joins when the session has been set up, and after each of its samples: whatever the session was at when it was
/// killed, and also at its own end, perf's counters keep their events and run.
#[test]
fn killed_after_each_operation_beside_perf() {
    let scene = &SCENES[0];
    let directory = tempfile::tempdir().expect("a directory");
    let (socket, journal) = (directory.path().join("registers"), directory.path().join("journal"));
    let family = pericore_catalog::family(scene.family).expect("the family is in the catalogue");
    let run = |most: usize, joins: usize| {
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).expect("a socket");
        let mut machine = machine(scene);
        let mut child = spawn(0, &socket, &journal);
        let served = serve(&mut machine, &listener, &mut child, most, joins);
        if journal.exists() {
            let found = Journal::read(&journal).expect("a journal is whole or not there");
            found.restore(&mut machine, family, &cpus(), BOOT).expect("all registers take their old values");
            Journal::remove(&journal).expect("it was there");
        }
        (machine, served)
    };
    let (_, whole) = run(usize::MAX, usize::MAX);
    // The first write of this value makes the channel obey freezes; the second one is the end of the set-up.
    assert!(whole.resumes.len() > 3 && whole.ended, "{:?}", whole.resumes);
    let mut runs = 0;
    for (joins, step) in whole.resumes[1..].iter().copied().zip([1, 5, 5, 5]) {
        for most in (joins + 1..).step_by(step) {
            let (mut machine, served) = run(most, joins);
            it_counts(&mut machine, &format!("joined before {joins}, killed after {most}"));
            runs += 1;
            if served.ended {
                break;
            }
        }
    }
    assert!(runs > 60, "{runs} runs");
}

/// perf's events and no freeze; our other settings as they were, and no counter of ours left on.
fn it_counts(machine: &mut Chassis, when: &str) {
    let mut read = |address| machine.read(address, width(address)).expect("the register exists");
    for (gate, control) in [(msr(0xd04), msr(0xd10)), (channel_0(0xf4), channel_0(0xd8))] {
        assert_eq!((read(control), read(gate) & FROZEN), (CLOCK, RUNNING), "{control}, {when}");
    }
    assert_eq!(read(msr(0xd14)), 0x007c_0000, "the filter, {when}");
    for control in [0xd11, 0xd12, 0xd13, 0xd30, 0xd31, 0xd32] {
        assert_eq!(read(msr(control)) & CLOCK, 0, "{control:#x}, {when}");
    }
    // 48 bits, in two cycles in configuration space.
    let counters = |machine: &mut Chassis| {
        [msr(0xd16), channel_0(0xa0)].map(|address| machine.read(address, Width::B8).expect("the register exists"))
    };
    let before = counters(machine);
    machine.set_now(machine.now() + 27_000 * UCLK);
    let after = counters(machine);
    assert_eq!([after[0] - before[0], after[1] - before[1]], [27_000, 27_000 * UCLK / DCLK], "{when}");
}
