//! The live machine of a command line, and what happens on it while a client measures.

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use pericore_catalog::search::hint;
use pericore_catalog::{Event, Family, Unit};
use pericore_doors::{ConstantRates, LiveMachine, Traffic};
use pericore_machine::MachineSpec;
use pericore_machine::steady::Pace;

use super::{opened, true_rates};
use crate::failure::Failure;
use crate::notice;
use crate::warm::WarmArgs;

/// Arguments that name a live machine.
#[derive(Debug, Args)]
pub struct LiveArgs {
    /// Family, preset or snapshot file, `NAME[:sockets=N,cores=N,…]`
    #[arg(long, value_name = "MACHINE")]
    machine: String,
    /// Sockets
    #[arg(long, value_name = "N")]
    sockets: Option<u16>,
    /// Workload that goes on while the program runs, such as stream or random:footprint=1G,read=70; its steady phase is measured
    /// first, then repeated in real time
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]", conflicts_with = "inject")]
    workload: Option<String>,
    /// Emit a signal at a constant rate in every instance of a unit, or in one (`imc0/...`) of each socket; without any, only clocks count. Whatever adds
    /// the subevent up with others counts it, too
    #[arg(long, value_name = "UNIT/EVENT[.SUBEVENT]=PER_SECOND")]
    inject: Vec<String>,
    /// Write what the workload really does to this file, by the machine's ledger: a JSON line for each event and
    /// socket, with how often it happens a second in each instance
    #[arg(long, value_name = "FILE", requires = "workload")]
    truth: Option<PathBuf>,
    #[command(flatten)]
    warm: WarmArgs,
}

impl LiveArgs {
    /// A machine with a workload, without more.
    pub fn named(machine: &str, workload: Option<&str>, warm: &WarmArgs) -> Self {
        let (workload, warm) = (workload.map(str::to_owned), warm.clone());
        Self { machine: machine.to_owned(), sockets: None, workload, inject: Vec::new(), truth: None, warm }
    }

    /// The machine, not yet running, and its traffic.
    ///
    /// # Errors
    /// A machine, workload or signal that cannot be.
    pub fn open(&self) -> Result<(LiveMachine, Box<dyn Traffic>), Failure> {
        let spec = self.spec()?;
        if let Some(workload) = &self.workload {
            let (machine, steady) = match self.warm.cache()? {
                None => LiveMachine::with_workload(&spec, workload, &Pace::default()).map_err(Failure::usage)?,
                Some(cache) => {
                    let kept = LiveMachine::with_kept_workload(&spec, workload, &Pace::default(), &cache);
                    let (machine, steady, wrong) = kept.map_err(Failure::usage)?;
                    wrong.iter().for_each(|what| notice::warn(format!("--warm: {what}")));
                    (machine, steady)
                }
            };
            if let Some(file) = &self.truth {
                true_rates::write(file, &spec, workload, &steady, machine.ticks_per_second())?;
            }
            return Ok((machine, Box::new(steady.replay())));
        }
        let mut machine = LiveMachine::new(&spec).map_err(Failure::usage)?;
        let mut traffic = ConstantRates::new(machine.ticks_per_second());
        for text in &self.inject {
            inject(text, spec.family(), &mut machine, &mut traffic)?;
        }
        Ok((machine, Box::new(traffic)))
    }

    /// The machine by itself.
    ///
    /// # Errors
    /// No machine has that name, or it cannot have so many sockets.
    pub fn spec(&self) -> Result<MachineSpec, Failure> {
        let text = match self.sockets {
            Some(sockets) if self.machine.contains(':') => format!("{},sockets={sockets}", self.machine),
            Some(sockets) => format!("{}:sockets={sockets}", self.machine),
            None => self.machine.clone(),
        };
        opened::spec(&text).map_err(|refusal| {
            if self.sockets.is_none() || !Path::new(&self.machine).is_file() {
                return refusal;
            }
            Failure::usage(format!("--sockets: the snapshot {} has its own; leave the option out", self.machine))
        })
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
    let (row, instances) = instances_named(unit, family).ok_or_else(|| {
        let near = hint(unit, family.units.iter().map(|unit| unit.name));
        Failure::usage(format!("{text:?}: {} has no unit {unit:?}{near}", family.name))
    })?;
    let unit = row.name;
    let (event, subevent) = event.split_once('.').map_or((event, None), |(event, subevent)| (event, Some(subevent)));
    let signal = injected(row, event, subevent).map_err(|why| Failure::usage(format!("{text:?}: {why}")))?;
    let part = subevent.and_then(|name| part_of(row.event(event)?, name));
    if let (Some(sum), Some(part)) = (subevent, part) {
        notice::warn(format!(
            "--inject {unit}/{event}.{sum}: it sums several subevents; {part} is emitted, so {event}.{part} counts it, too"
        ));
    }
    let subevent = part.or(subevent);
    for instance in instances {
        if let Some(subevent) = subevent {
            let names = (event, subevent);
            traffic.subevent(&mut machine.wiring, (unit, instance), names, rate).map_err(Failure::usage)?;
            continue;
        }
        for socket in 0..machine.wiring.sockets() {
            let wire = machine.wiring.signal(socket, unit, instance, signal).map_err(Failure::usage)?;
            traffic.pulses(wire, 0, rate);
        }
    }
    Ok(())
}

/// A unit by its name, with all of its instances, or by the name of one of them.
fn instances_named(name: &str, family: &Family) -> Option<(&'static Unit, Range<u16>)> {
    if let Some(unit) = family.unit(name) {
        return Some((unit, 0..unit.instances));
    }
    let bare = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let (unit, number) = (family.unit(bare)?, name[bare.len()..].parse::<u16>().ok()?);
    (number < unit.instances).then(|| (unit, number..number + 1))
}

/// For a subevent that adds up others the first of these: to be of all at once would be of none of them in particular.
fn part_of(event: &Event, subevent: &str) -> Option<&'static str> {
    let whole = event.subevent(subevent)?.umask?;
    let parts = event
        .subevents
        .iter()
        .filter(|other| other.umask.is_some_and(|umask| umask != 0 && umask != whole && umask & whole == umask));
    parts.min_by_key(|part| part.umask).map(|part| part.name)
}

/// The signal behind an event, or the one of that name; why there is none, or none that tells its subevents apart.
fn injected(unit: &'static Unit, event: &str, subevent: Option<&str>) -> Result<&'static str, String> {
    let Some(row) = unit.event(event) else {
        let signals = unit.signals.iter().map(|signal| signal.name);
        return signals.clone().find(|&signal| signal == event && subevent.is_none()).ok_or_else(|| {
            let near = hint(event, unit.events.iter().map(|event| event.name).chain(signals));
            format!("unit {} has no event or signal {event:?}{near}", unit.name)
        });
    };
    let signal = unit.signal_of(row).ok_or_else(|| format!("{event} counts a clock, which runs by itself"))?;
    let by_subevent = signal.attributes.iter().any(|attribute| attribute.name == "sub");
    let Some(subevent) = subevent else {
        // Of no subevent it would count in none.
        return match row.subevents.first().filter(|_| by_subevent) {
            Some(first) => {
                Err(format!("{event} counts by subevents: name one, such as {}/{event}.{}", unit.name, first.name))
            }
            None => Ok(signal.name),
        };
    };
    if row.subevent(subevent).is_none() {
        let near = hint(subevent, row.subevents.iter().map(|subevent| subevent.name));
        return Err(format!("{event} has no subevent {subevent:?}{near}"));
    }
    if !by_subevent {
        let attributes: Vec<&str> = signal.attributes.iter().map(|attribute| attribute.name).collect();
        return Err(format!(
            "the signal behind {event}, {0}, tells its subevents apart by {1}, of which --inject knows nothing; give \
             {2}/{0}=PER_SECOND for the signal with all of them 0, or real traffic with --workload stream",
            signal.name,
            attributes.join(", "),
            unit.name
        ));
    }
    Ok(signal.name)
}
