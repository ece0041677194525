//! A measurement as a value, and what is wrong with it.

use std::fmt::Display;

use pericore_catalog::Family;
use pericore_machine::workload::Scenario;
use pericore_machine::{MachineSpec, SharedMachine, add_part, part_file};
use pericore_observe::discover::{Cpu, DiscoverError, discover};
use pericore_observe::plan::{Plan, freezes_sockets};
use pericore_observe::run::Schedule;
use pericore_observe::selection::Selection;
use pericore_observe::session::prepare;
use pericore_registers::{AccessError, RegisterSpace};
use serde::{Deserialize, Serialize};

use crate::start;
use crate::started::Started;
use crate::{ExperimentError, FaultyPart};

/// Virtual seconds of a round, unless the user says: workloads often end within a virtual millisecond.
pub const TURN: f64 = 2e-6;

/// Virtual seconds between two looks for an overflow: the counters are paused until then.
pub const POLL: f64 = 1e-6;

/// Milliseconds of an interval or time limit at most: a year.
const MOST_MILLISECONDS: f64 = 365.0 * 86_400e3;

/// A measurement of a software machine. All that its counts depend on is in it, or in the version of Pericore and its
/// catalogue: the same experiment gives the same samples, on any host.
///
/// Times are in milliseconds of virtual time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Family or preset, `NAME[:key=value,…]`; the name of the snapshot, or of the part's file with its keys, if there
    /// is one.
    pub machine: String,
    /// The text of a part of the user's own, of which the machine is (`FILE.toml[:key=value,…]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The text of a snapshot with which the machine begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// `NAME[:key=value,…]`; the name of the scenario, if there is one.
    pub workload: String,
    /// The text of a scenario that runs instead of a named workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Begin at reset with cold caches, without a warm-up. Scenarios do so in any case.
    #[serde(default)]
    pub cold: bool,
    /// Events, as for `-e`.
    #[serde(default)]
    pub events: Vec<String>,
    /// Metrics, as for `-M`. Without events and metrics the family's default metrics are counted.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// Time between two samples; without it there is one sample, at the end.
    #[serde(default)]
    pub interval: Option<f64>,
    /// The measurement ends after this time, or with the workload if that comes first.
    #[serde(default)]
    pub timeout: Option<f64>,
    /// Time of a round where events take turns on the counters; 0.002 without it.
    #[serde(default)]
    pub rotate: Option<f64>,
    /// The model's own counts go with each sample.
    #[serde(default)]
    pub truth: bool,
}

/// An experiment whose names are understood.
pub(crate) struct Understood {
    pub spec: MachineSpec,
    pub scenario: Scenario,
    pub selection: Selection,
    pub schedule: Schedule,
}

impl Experiment {
    /// A workload on a machine, with one sample at the end.
    pub fn new(machine: impl Into<String>, workload: impl Into<String>) -> Self {
        Self { machine: machine.into(), workload: workload.into(), ..Self::default() }
    }

    /// Finds what is wrong without running anything: names, values, and whether the machine's units can count what is
    /// selected.
    ///
    /// # Errors
    /// [`ExperimentError`] with the part at fault.
    pub fn check(&self) -> Result<(), ExperimentError> {
        let Understood { spec, selection, .. } = self.understand()?;
        let mut chassis = spec.chassis().map_err(ExperimentError::of(FaultyPart::Machine))?;
        let cpus = start::cpus(chassis.shape());
        plan(&mut chassis, &cpus, selection).map(|_| ())
    }

    /// Finds what is wrong with names and values alone, which is fast.
    ///
    /// # Errors
    /// As [`Experiment::check`].
    pub fn check_names(&self) -> Result<(), ExperimentError> {
        self.understand().map(|_| ())
    }

    /// The family of the machine.
    ///
    /// # Errors
    /// A machine that is not known.
    pub fn family(&self) -> Result<&'static Family, ExperimentError> {
        Ok(self.spec()?.family())
    }

    /// The family of the machine, if the model takes its size.
    ///
    /// # Errors
    /// As [`Experiment::family`], and a size that the model does not take.
    pub fn family_and_size(&self) -> Result<&'static Family, ExperimentError> {
        let spec = self.spec()?;
        spec.limits().map_err(ExperimentError::of(FaultyPart::Machine))?;
        Ok(spec.family())
    }

    /// Builds the machine, warms it up and plans the counters.
    ///
    /// # Errors
    /// As [`Experiment::check`].
    pub fn start(&self) -> Result<Started, ExperimentError> {
        let Understood { spec, scenario, selection, schedule } = self.understand()?;
        let begun = start::begin(&spec, &scenario, self.truth);
        let (machine, warm_up) = begun.map_err(ExperimentError::of(FaultyPart::Machine))?;
        let second = machine.clocks().ticks_per_second();
        let workload = format!("{}{}", self.workload, start::words(&scenario, warm_up, second));
        let title = start::title(&spec, &self.machine, machine.chassis().shape(), &workload);
        let cpus = start::cpus(machine.chassis().shape());
        let machine = SharedMachine::new(machine);
        let plan = plan(&mut machine.clone(), &cpus, selection)?;
        Ok(Started { title, emulated: spec.preset(), truth: self.truth, machine, plan, schedule })
    }

    pub(crate) fn understand(&self) -> Result<Understood, ExperimentError> {
        let spec = self.spec()?;
        let scenario = self.scenario_on(&spec)?;
        let selection = self.selection(spec.family())?;
        Ok(Understood { spec, scenario, selection, schedule: self.schedule()? })
    }

    /// The machine, before anything is built of it.
    ///
    /// # Errors
    /// A machine that is not known, or a file that has a mistake.
    pub fn spec(&self) -> Result<MachineSpec, ExperimentError> {
        let fault = FaultyPart::Machine;
        let of_file = |file: &str, error: &dyn Display| ExperimentError::new(fault, format!("{file}: {error}"));
        if let Some(text) = &self.snapshot {
            return MachineSpec::of_snapshot(text).map_err(|error| of_file(&self.machine, &error));
        }
        let Some(text) = &self.part else {
            return MachineSpec::parse(&self.machine).map_err(ExperimentError::of(fault));
        };
        let (file, keys) = part_file(&self.machine).unwrap_or((&self.machine, ""));
        let part = add_part(text).map_err(|error| of_file(file, &error))?;
        MachineSpec::parse(&format!("{part}{keys}")).map_err(ExperimentError::of(fault))
    }

    fn scenario_on(&self, spec: &MachineSpec) -> Result<Scenario, ExperimentError> {
        let limits = spec.limits().map_err(ExperimentError::of(FaultyPart::Machine))?;
        let fault = FaultyPart::Workload;
        let Some(text) = &self.scenario else {
            let scenario = Scenario::of(&self.workload, &limits).map_err(ExperimentError::of(fault))?;
            return Ok(if self.cold { scenario } else { scenario.warmed() });
        };
        Scenario::parse(text, &limits)
            .map_err(|error| ExperimentError::new(fault, format!("{}, {error}", self.workload)))
    }

    fn selection(&self, family: &'static Family) -> Result<Selection, ExperimentError> {
        let mut selection = Selection::new(family);
        for (index, events) in self.events.iter().enumerate() {
            let added = selection.add_events(events);
            added.map_err(|error| {
                ExperimentError::new(FaultyPart::Event(index), format!("{error}\n{}", error.caret()))
            })?;
        }
        for (index, metrics) in self.metrics.iter().enumerate() {
            let added = selection.add_metrics(metrics);
            added.map_err(|error| {
                ExperimentError::new(FaultyPart::Metric(index), format!("{error}\n{}", error.caret()))
            })?;
        }
        if self.events.is_empty() && self.metrics.is_empty() {
            if family.default_metrics.is_empty() {
                let what = format!("{} has no default metrics; name events or metrics", family.name);
                return Err(ExperimentError::new(FaultyPart::Machine, what));
            }
            for metric in family.default_metrics {
                selection.add_metrics(metric).map_err(ExperimentError::of(FaultyPart::Selection))?;
            }
        }
        Ok(selection)
    }

    fn schedule(&self) -> Result<Schedule, ExperimentError> {
        let seconds = |fault, milliseconds: Option<f64>| match milliseconds {
            Some(value) if !(value > 0.0 && value <= MOST_MILLISECONDS) => Err(ExperimentError::new(
                fault,
                format!("{value}: give a number of milliseconds above 0, {MOST_MILLISECONDS} at the most"),
            )),
            given => Ok(given.map(|milliseconds| milliseconds / 1e3)),
        };
        Ok(Schedule {
            interval: seconds(FaultyPart::Interval, self.interval)?,
            intervals: None,
            timeout: seconds(FaultyPart::Timeout, self.timeout)?,
            turn: seconds(FaultyPart::Rotate, self.rotate)?.unwrap_or(TURN),
            poll: None,
        })
    }
}

/// The plan for a selection on a machine.
///
/// # Errors
/// Its units cannot count what is selected, or are not there.
pub fn plan(space: &mut impl RegisterSpace, cpus: &[Cpu], selection: Selection) -> Result<Plan, ExperimentError> {
    let fault = FaultyPart::Selection;
    // Where a socket can be frozen at once, all of its units are looked at.
    let whole = freezes_sockets(selection.family);
    let topology = match discover(space, selection.family, cpus, |unit| whole || selection.uses(unit)) {
        Err(DiscoverError::Access(AccessError::Permission { .. })) if whole => {
            discover(space, selection.family, cpus, |unit| selection.uses(unit))
        }
        topology => topology,
    };
    let topology = topology.map_err(ExperimentError::of(fault))?;
    prepare(space, &topology, selection, Default::default(), None).map_err(ExperimentError::of(fault))
}
