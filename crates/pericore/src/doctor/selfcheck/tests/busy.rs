//! A machine on which other programs run: the check is held up at any moment, for as long as it likes.

use pericore_doctor::Finding;
use pericore_doctor::selfcheck::{TestTime, check_counters};
use pericore_machine::{MachineSpec, SharedMachine};
use pericore_observe::discover::discover;
use pericore_observe::session::{Moment, Options};

use super::faults::Draw;
use crate::doctor::selfcheck::software::{VirtualTime, idle};
use pericore_emulation::start::cpus;

/// Virtual time of a check that is held up.
struct BusyTime {
    draw: Draw,
    time: VirtualTime,
}

impl BusyTime {
    /// Little in most cases, up to forty windows in others.
    fn be_held_up(&mut self, machine: &mut SharedMachine) {
        let is_long = self.draw.below(20) == 0;
        let windows = if is_long { self.draw.below(40) as f64 } else { self.draw.below(100) as f64 / 1e4 };
        let window = TestTime::<SharedMachine>::window(&self.time);
        self.time.pass(machine, windows * window);
    }
}

impl TestTime<SharedMachine> for BusyTime {
    fn now(&mut self, machine: &mut SharedMachine) -> Moment {
        self.be_held_up(machine);
        let now = self.time.now(machine);
        self.be_held_up(machine);
        now
    }

    fn pass(&mut self, machine: &mut SharedMachine, seconds: f64) {
        self.time.pass(machine, seconds);
        self.be_held_up(machine);
    }

    fn window(&self) -> f64 {
        TestTime::<SharedMachine>::window(&self.time)
    }
}

#[test]
fn a_check_that_is_held_up_blames_no_machine() {
    for (family, seeds) in
        [("nehalem", 8), ("e5-2600", 3), ("emerald-rapids:slices=8", 1), ("sapphire-rapids:slices=8", 1)]
    {
        for seed in 0..seeds {
            let spec = MachineSpec::parse(family).unwrap();
            let mut machine = idle(&spec).unwrap();
            let cpus = cpus(machine.borrow().chassis().shape());
            let topology = discover(&mut machine, spec.family(), &cpus, |_| true).unwrap();
            let mut time = BusyTime { draw: Draw(seed), time: VirtualTime };
            let findings = check_counters(machine, &topology, Options::default(), None, &mut time).unwrap();
            let problems: Vec<String> = findings.iter().filter(|one| one.is_problem()).map(Finding::words).collect();
            assert_eq!(problems, [""; 0], "{family}, seed {seed}");
        }
    }
}
