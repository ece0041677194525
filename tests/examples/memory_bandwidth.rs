//! Memory bandwidth of a software Xeon E5-2600 while a stream of reads and writes runs.

use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec, SharedMachine};
use pericore_observe::discover::{Cpu, discover};
use pericore_observe::run::{self, Clock, Passed, Schedule, Stretch, Taken};
use pericore_observe::selection::Selection;
use pericore_observe::session::{Manners, Moment, Options, Session, prepare};

type Error = Box<dyn std::error::Error>;

struct VirtualTime(SharedMachine);

impl Clock for VirtualTime {
    type Error = Error;

    fn moment(&self) -> Moment {
        let machine = self.0.borrow();
        Moment { seconds: machine.seconds(), tsc: machine.clocks().timestamp(machine.now()) }
    }

    fn pass(&mut self, _: Stretch) -> Result<Passed, Error> {
        let mut machine = self.0.borrow_mut();
        let microsecond = machine.clocks().ticks_per_second() / 1_000_000;
        machine.run_for(microsecond);
        Ok(if machine.finished() { Passed::Over } else { Passed::On })
    }
}

/// Bytes a second, reads and writes.
pub(crate) fn bandwidth(workload: &str) -> Result<f64, Error> {
    let spec = MachineSpec::parse("e5-2600")?;
    let scenario = Scenario::of(workload, &spec.limits()?)?;
    let mut machine = SharedMachine::new(Machine::for_scenario(&spec, &scenario)?);
    let mut selection = Selection::new(spec.family());
    selection.add_events("imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/")?;
    let topology = discover(&mut machine, spec.family(), &[Cpu { number: 0, package: 0 }], |_| true)?;
    let plan = prepare(&mut machine, &topology, selection, Manners::default(), None)?;
    let mut clock = VirtualTime(machine.clone());
    let session = Session::start(machine, plan, Options::default(), |_| clock.moment())?;
    let mut bandwidth = 0.0;
    run::drive(session, &mut clock, &Schedule::until_the_end(1e-6), |Taken { sample, .. }| {
        let lines: u64 = sample.counts.iter().filter_map(|count| count.count).sum();
        bandwidth = 64.0 * lines as f64 / sample.seconds;
        Ok(())
    })?;
    Ok(bandwidth)
}

fn main() -> Result<(), Error> {
    println!("EMULATED: {:.1} GB/s", bandwidth("stream:requests=100000")? / 1e9);
    Ok(())
}
