//! A software machine's own time, and traffic of which it knows everything.

use pericore_doctor::selfcheck::{KnownTraffic, TestTime};
use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec, SharedMachine, Snapshot, Window};
use pericore_observe::selection::SelectedEvent;
use pericore_observe::session::Moment;

use crate::failure::Failure;
use pericore_emulation::truth;

/// Nothing but clocks ticks in it.
const IDLE: &str = "idle";

/// Virtual seconds in which the slowest clock ticks some thousand times.
const WINDOW: f64 = 5e-6;

/// Virtual seconds between two looks whether the traffic is over, and after which it is over in any case.
const LOOK: f64 = 1e-6;
const MOST: f64 = 1e-3;

/// Threads of the traffic at most.
const THREADS: u16 = 32;

/// A software machine's own time.
#[derive(Debug)]
pub struct VirtualTime;

impl TestTime<SharedMachine> for VirtualTime {
    fn now(&mut self, space: &mut SharedMachine) -> Moment {
        let machine = space.borrow();
        let (clocks, now) = (machine.clocks(), machine.now());
        Moment { seconds: clocks.seconds(0, now), tsc: clocks.timestamp(now) }
    }

    fn pass(&mut self, space: &mut SharedMachine, seconds: f64) {
        let ticks = seconds * space.borrow().clocks().ticks_per_second() as f64;
        space.borrow_mut().run_for(ticks as u64);
    }

    fn window(&self) -> f64 {
        WINDOW
    }
}

/// The machine with nothing on it.
///
/// # Errors
/// There is no such machine.
pub fn idle(spec: &MachineSpec) -> Result<SharedMachine, Failure> {
    let idle = Scenario::of(IDLE, &spec.limits().map_err(Failure::usage)?).map_err(Failure::usage)?;
    Ok(SharedMachine::new(Machine::for_scenario(spec, &idle).map_err(Failure::usage)?.without_truth()))
}

/// The machine about to read at random, to write past its caches, and to let devices read; with what it knows of that.
///
/// # Errors
/// There is no such machine.
pub fn with_traffic(spec: &MachineSpec, seed: u64) -> Result<(SharedMachine, ScenarioTraffic), Failure> {
    let limits = spec.limits().map_err(Failure::usage)?;
    let remote = if limits.sockets > 1 { ",remote=40" } else { "" };
    let threads = limits.threads.min(THREADS);
    let text = format!(
        "phase reads\n  workload random:requests=2000,threads={threads},seed={seed}{remote}\n\
         phase writes\n  workload ntstore:requests=1000,threads={threads},seed={seed}{remote}\n\
         phase devices\n  workload dma-read:requests=300,threads=2,seed={seed}\n"
    );
    let scenario = Scenario::parse(&text, &limits).map_err(Failure::usage)?;
    let machine = Machine::for_scenario(spec, &scenario).map_err(Failure::usage)?;
    let before = machine.snapshot();
    Ok((SharedMachine::new(machine), ScenarioTraffic { after: before.clone(), before }))
}

/// What a scenario has made.
#[derive(Debug)]
pub struct ScenarioTraffic {
    before: Snapshot,
    after: Snapshot,
}

impl KnownTraffic<SharedMachine> for ScenarioTraffic {
    fn name(&self) -> String {
        "this software machine's own traffic".to_owned()
    }

    fn make(&mut self, space: &mut SharedMachine) {
        let second = space.borrow().clocks().ticks_per_second() as f64;
        let end = space.borrow().now() + (MOST * second) as u64;
        while !space.borrow().finished() && space.borrow().now() < end {
            space.borrow_mut().run_for((LOOK * second) as u64);
        }
        self.after = space.borrow().snapshot();
    }

    fn count(&self, event: &SelectedEvent, socket: u16, instance: u16) -> Option<u64> {
        truth::of(event, (socket, instance), &Window::between(&self.before, &self.after))
    }

    fn lines(&self) -> Option<(f64, f64)> {
        None
    }

    fn is_among_others(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a software machine counts is known event by event, and nobody else reads its memory: no estimate of lines
    /// is held against it.
    #[test]
    fn a_software_machines_traffic_is_known_by_its_counts() {
        let spec = MachineSpec::parse("nehalem").unwrap();
        let Ok((_, traffic)) = with_traffic(&spec, 1) else { panic!("it has a model") };
        assert_eq!((traffic.lines(), traffic.is_among_others()), (None, false));
    }
}
