//! The live machine of a command line, and what happens on it while a client measures.

use clap::Args;
use pericore_catalog::Family;
use pericore_doors::{ConstantRates, LiveMachine, Traffic};
use pericore_machine::MachineSpec;
use pericore_machine::steady::Pace;

use crate::failure::Failure;

/// Arguments that name a live machine.
#[derive(Debug, Args)]
pub struct LiveArgs {
    /// Family or preset
    #[arg(long, value_name = "MACHINE")]
    machine: String,
    /// Sockets
    #[arg(long, value_name = "N")]
    sockets: Option<u16>,
    /// Workload that goes on while the program runs, such as stream or random:footprint=1G,read=70; its steady phase is measured
    /// first, then repeated in real time
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]", conflicts_with = "inject")]
    workload: Option<String>,
    /// Emit a signal at a constant rate in every instance of a unit; without any, only clocks count
    #[arg(long, value_name = "UNIT/EVENT[.SUBEVENT]=PER_SECOND")]
    inject: Vec<String>,
}

impl LiveArgs {
    /// The machine, not yet running, and its traffic.
    ///
    /// # Errors
    /// A machine, workload or signal that cannot be.
    pub fn open(&self) -> Result<(LiveMachine, Box<dyn Traffic>), Failure> {
        let spec = self.spec()?;
        if let Some(workload) = &self.workload {
            let live = LiveMachine::with_workload(&spec, workload, &Pace::default());
            let (machine, steady) = live.map_err(Failure::usage)?;
            return Ok((machine, Box::new(steady.replay())));
        }
        let sockets = spec.shape().map_err(Failure::usage)?.sockets;
        let mut machine = LiveMachine::new(spec.family(), sockets).map_err(Failure::usage)?;
        let mut traffic = ConstantRates::new(machine.ticks_per_second());
        for text in &self.inject {
            inject(text, spec.family(), &mut machine, &mut traffic)?;
        }
        Ok((machine, Box::new(traffic)))
    }

    fn spec(&self) -> Result<MachineSpec, Failure> {
        let text = match self.sockets {
            Some(sockets) if self.machine.contains(':') => format!("{},sockets={sockets}", self.machine),
            Some(sockets) => format!("{}:sockets={sockets}", self.machine),
            None => self.machine.clone(),
        };
        MachineSpec::parse(&text).map_err(Failure::usage)
    }
}

/// Adds the traffic that an `--inject` asks for.
fn inject(text: &str, family: &Family, machine: &mut LiveMachine, traffic: &mut ConstantRates) -> Result<(), Failure> {
    let wrong = || {
        Failure::usage(format!(
            "{text:?}: give UNIT/EVENT[.SUBEVENT]=PER_SECOND, for example imc/CAS_COUNT.RD_REG=1000000"
        ))
    };
    let (name, rate) = text.split_once('=').ok_or_else(wrong)?;
    let (unit, event) = name.split_once('/').ok_or_else(wrong)?;
    let rate: u64 = rate.parse().map_err(|_| wrong())?;
    let instances = family.unit(unit).ok_or_else(wrong)?.instances;
    for instance in 0..instances {
        match event.split_once('.') {
            Some((event, subevent)) => traffic
                .subevent(&mut machine.wiring, (unit, instance), (event, subevent), rate)
                .map_err(Failure::usage)?,
            None => {
                for socket in 0..machine.wiring.sockets() {
                    let wire = machine.wiring.signal(socket, unit, instance, event).map_err(Failure::usage)?;
                    traffic.pulses(wire, 0, rate);
                }
            }
        }
    }
    Ok(())
}
