//! A part of a run of a machine, and what its ledger says of it.

use pericore_machine::ledger::Question;
use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec, Snapshot, Window};

use crate::path::Nothing;

/// Looks at a machine's progress in a virtual second.
const LOOKS: u64 = 2_000_000;

/// A part of a run: from one number of accesses that are done to another.
pub struct Part {
    machine: Machine,
    from: Snapshot,
    to: Snapshot,
    /// Accesses done in it.
    pub accesses: f64,
}

impl Part {
    /// Runs a workload, or a scenario if it has lines, from one share of its accesses to another, in per cent.
    pub fn run(machine: &str, workload: &str, shares: (u64, u64)) -> Self {
        let spec = MachineSpec::parse(machine).expect("the machine is known");
        let limits = spec.limits().expect("it has a model");
        let scenario = if workload.contains('\n') {
            Scenario::parse(workload, &limits).expect("the scenario is sound")
        } else {
            Scenario::of(workload, &limits).expect("the workload is sound")
        };
        let mut machine = Machine::for_scenario(&spec, &scenario).expect("the preset is sound");
        let total = scenario.requests();
        let slice = machine.clocks().ticks_per_second() / LOOKS;
        let mut reach = |share: u64| {
            while machine.progress().done * 100 < total * share {
                machine.run_into(slice, &mut Nothing);
            }
            (machine.snapshot(), machine.progress().done)
        };
        let (from, before) = reach(shares.0);
        let (to, after) = reach(shares.1);
        Self { machine, from, to, accesses: (after - before) as f64 }
    }

    /// Its length.
    pub fn seconds(&self) -> f64 {
        Window::between(&self.from, &self.to).seconds(self.machine.clocks())
    }

    /// Nanoseconds for each access.
    pub fn nanoseconds(&self) -> f64 {
        self.seconds() * 1e9 / self.accesses
    }

    /// An event's count over all instances of all sockets.
    pub fn sum(&self, unit: &str, event: &str, subevent: &str, filters: &[(&str, u64)]) -> f64 {
        let sockets = self.machine.chassis().shape().sockets;
        let counts = (0..sockets).flat_map(|socket| self.of_socket(socket, unit, event, subevent, filters));
        counts.sum::<u64>() as f64
    }

    /// The counts of a socket's instances.
    pub fn of_socket(&self, socket: u16, unit: &str, event: &str, subevent: &str, filters: &[(&str, u64)]) -> Vec<u64> {
        let window = Window::between(&self.from, &self.to);
        let subevent = Some(subevent).filter(|name| !name.is_empty());
        let count =
            |instance| window.count(socket, instance, Question::new(unit, event).subevent(subevent).filtered(filters));
        (0..).map_while(count).collect()
    }

    /// GB/s of so many lines.
    pub fn rate(&self, lines: f64) -> f64 {
        lines * 64.0 / self.seconds() / 1e9
    }
}
