//! The kernel's driver comes to count beside a session that is killed. 327043-001, Tables 2-8 to 2-12, 2-58 to 2-62;
//! Emerald Rapids Tables 1-8, 1-9 and 1-12; SDM 18.8.2. What the driver writes is in uncore_snbep.c, uncore_discovery.c
//! and uncore_nhmex.c of Linux: it stops the unit, takes the first counter, and lets the unit run.

use std::os::unix::net::UnixListener;

use pericore_machine::chassis::Chassis;
use pericore_observe::session::Journal;
use pericore_registers::{Address, RegisterSpace, Width};

use super::{BOOT, DCLK, SCENES, UCLK, channel_0, cpus, machine, msr, serve, spawn, width, window_0};

/// What the driver does when `perf stat` begins, and what of that must be there at the end.
struct Perf {
    scene: usize,
    /// What it writes, in order.
    joins: &'static [(Address, u64)],
    /// Registers, bits and values by which its counters run.
    runs: &'static [(Address, u64, u64)],
    /// Its counters of clocks, and what they count in 27,000 cycles of the uncore's clock.
    counts: &'static [(Address, u64)],
    /// A setting of the session's that is put back all the same.
    put_back: (Address, u64),
    /// Resumes of the set-up, before the first sample.
    in_set_up: usize,
    /// Each so many operations after it has joined the session is killed: after the set-up, and after later resumes.
    steps: [usize; 4],
}

/// 0x10000 lets the unit obey freezes, 0x100 freezes it (2-9, 2-60); 0x400000 enables, and 0 is a clock (2-10, 2-61).
const E5_2600: Perf = Perf {
    scene: 0,
    joins: &[
        (msr(0xd04), 0x1_0100),
        (msr(0xd10), 0x40_0000),
        (msr(0xd04), 0x1_0000),
        (channel_0(0xf4), 0x1_0100),
        (channel_0(0xd8), 0x40_0000),
        (channel_0(0xf4), 0x1_0000),
    ],
    runs: &[
        (msr(0xd04), 0x1_0100, 0x1_0000),
        (msr(0xd10), u64::MAX, 0x40_0000),
        (channel_0(0xf4), 0x1_0100, 0x1_0000),
        (channel_0(0xd8), u64::MAX, 0x40_0000),
    ],
    counts: &[(msr(0xd16), 27_000), (channel_0(0xa0), 27_000 * UCLK / DCLK)],
    put_back: (msr(0xd14), 0x007c_0000),
    // The first write of this value makes the channel obey freezes; the second one is the end of the set-up.
    in_set_up: 2,
    steps: [1, 5, 5, 5],
};

/// Bit 0 freezes a unit; 0x01 counts the agent's clock, 0x0101 the channel's.
const EMERALD_RAPIDS: Perf = Perf {
    scene: 1,
    joins: &[
        (msr(0x2000), 1),
        (msr(0x2002), 0x01),
        (msr(0x2000), 0),
        (window_0(0), 1),
        (window_0(0x40), 0x0101),
        (window_0(0), 0),
    ],
    runs: &[
        (msr(0x2000), 1, 0),
        (msr(0x2002), u64::MAX, 0x01),
        (window_0(0), 1, 0),
        (window_0(0x40), u64::MAX, 0x0101),
        (msr(0x2ff0), 1, 0),
    ],
    counts: &[(msr(0x2008), 27_000), (window_0(0x08), 27_000 * UCLK / DCLK)],
    put_back: (msr(0x200e), 0x0005),
    in_set_up: 1,
    steps: [6, 20, 20, 20],
};

/// It writes all enables at once; QMC_WRITES.FULL_CH0, of which nothing happens here.
const NEHALEM: Perf = Perf {
    scene: 2,
    joins: &[(msr(0x391), 0), (msr(0x3c0), 0x40_012f), (msr(0x391), 0x1_0000_00ff)],
    runs: &[(msr(0x391), 1, 1), (msr(0x3c0), u64::MAX, 0x40_012f)],
    counts: &[],
    put_back: (msr(0x3c1), 0),
    in_set_up: 1,
    steps: [2, 7, 7, 7],
};

#[test]
fn killed_after_each_operation_beside_perf() {
    E5_2600.killed();
}

#[test]
fn killed_after_each_sixth_operation_beside_perf_on_emerald_rapids() {
    EMERALD_RAPIDS.killed();
}

#[test]
fn killed_after_each_second_operation_beside_perf_on_nehalem() {
    NEHALEM.killed();
}

impl Perf {
    /// perf joins when the session has been set up, and after each of its samples: whatever the session was at when it
    /// was killed, and also at its own end, perf's counters keep their events and run.
    fn killed(&self) {
        let scene = &SCENES[self.scene];
        let directory = tempfile::tempdir().expect("a directory");
        let (socket, journal) = (directory.path().join("registers"), directory.path().join("journal"));
        let family = pericore_catalog::family(scene.family).expect("the family is in the catalogue");
        let run = |most: usize, joins: usize| {
            let _ = std::fs::remove_file(&socket);
            let listener = UnixListener::bind(&socket).expect("a socket");
            let mut machine = machine(scene);
            let mut child = spawn(self.scene, &socket, &journal);
            let served = serve(&mut machine, scene, &listener, &mut child, most, (joins, self.joins));
            if journal.exists() {
                let found = Journal::read(&journal).expect("a journal is whole or not there");
                found.restore(&mut machine, family, &cpus(), BOOT).expect("all registers take their old values");
                Journal::remove(&journal).expect("it was there");
            }
            (machine, served)
        };
        let (_, whole) = run(usize::MAX, usize::MAX);
        assert!(whole.resumes.len() > self.in_set_up + 1 && whole.ended, "{:?}", whole.resumes);
        let mut runs = 0;
        for (joins, step) in whole.resumes[self.in_set_up - 1..].iter().copied().zip(self.steps) {
            for most in (joins + 1..).step_by(step) {
                let (mut machine, served) = run(most, joins);
                self.counts(&mut machine, &format!("joined before {joins}, killed after {most}"));
                runs += 1;
                if served.ended {
                    break;
                }
            }
        }
        assert!(runs > 15, "{runs} runs");
    }

    /// perf's events and no freeze; our other settings as they were, and no counter of ours left on.
    fn counts(&self, machine: &mut Chassis, when: &str) {
        let mut read = |address| machine.read(address, width(address)).expect("the register exists");
        for &(address, bits, value) in self.runs {
            assert_eq!(read(address) & bits, value, "{address}, {when}");
        }
        assert_eq!(read(self.put_back.0), self.put_back.1, "{}, {when}", self.put_back.0);
        let (controls, enabling) = SCENES[self.scene].controls;
        for &address in controls {
            assert_eq!(read(address) & enabling, 0, "{address}, {when}");
        }
        // Counters outside MSRs take two cycles.
        let counters = |machine: &mut Chassis| -> Vec<u64> {
            let read = |&(address, _): &(Address, u64)| machine.read(address, Width::B8).expect("the register exists");
            self.counts.iter().map(read).collect()
        };
        let before = counters(machine);
        machine.set_now(machine.now() + 27_000 * UCLK);
        for ((after, before), (address, expected)) in counters(machine).into_iter().zip(before).zip(self.counts) {
            assert_eq!(after - before, *expected, "{address}, {when}");
        }
    }
}
