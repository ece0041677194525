//! The sums of regions: each has the samples that were taken while it was open.

use pericore_metrics::{Validity, Value};
use pericore_observe::plan::Plan;
use pericore_observe::results::{Part, Scope, event_totals, metric_totals};
use pericore_observe::session::{Sample, Withdrawn};

use crate::code::CallFailure;

/// What is to be looked up of a region.
#[derive(Debug)]
pub struct FigureQuery {
    pub region: String,
    pub which: Which,
    /// All sockets, if none is given.
    pub socket: Option<u16>,
}

/// An event or a metric, by its place among those that were asked for.
#[derive(Debug, Clone, Copy)]
pub enum Which {
    Event(usize),
    Metric(usize),
}

/// A figure of a region.
#[derive(Debug)]
pub struct RegionFigure {
    pub name: String,
    pub unit_of_measure: String,
    pub value: Option<f64>,
    /// Of events.
    pub count: Option<u64>,
    pub validity: Validity,
    pub standard_error: Option<f64>,
    /// Virtual ones on a software machine.
    pub seconds: f64,
    pub starts: u64,
}

/// All regions.
#[derive(Debug, Default)]
pub struct RegionSums {
    regions: Vec<Region>,
    /// Samples so far.
    samples: u64,
}

#[derive(Debug, Default)]
struct Region {
    name: String,
    /// Starts without their stops.
    open: u64,
    starts: u64,
    sum: Sample,
    /// The number of the last sample in it; 0 without one.
    last: u64,
}

impl RegionSums {
    fn region(&self, name: &str) -> Option<&Region> {
        self.regions.iter().find(|region| region.name == name)
    }

    fn region_mut(&mut self, name: &str) -> Option<&mut Region> {
        self.regions.iter_mut().find(|region| region.name == name)
    }

    /// True if a region is open.
    pub fn is_open(&self, name: &str) -> bool {
        self.region(name).is_some_and(|region| region.open > 0)
    }

    /// True if a region is no longer open after one more stop.
    pub fn ends_at_stop(&self, name: &str) -> bool {
        self.region(name).is_some_and(|region| region.open == 1)
    }

    /// Starts a region.
    pub fn start(&mut self, name: String) {
        let region = match self.regions.iter().position(|region| region.name == name) {
            Some(known) => &mut self.regions[known],
            None => {
                self.regions.push(Region { name, ..Region::default() });
                let last = self.regions.len() - 1;
                &mut self.regions[last]
            }
        };
        region.open += 1;
        region.starts += 1;
    }

    /// Stops a region.
    ///
    /// # Errors
    /// It is not open.
    pub fn stop(&mut self, name: &str) -> Result<(), CallFailure> {
        match self.region_mut(name) {
            Some(region) if region.open > 0 => {
                region.open -= 1;
                Ok(())
            }
            Some(_) => Err(CallFailure::invalid(format!("region {name:?} is not open; start it before it is stopped"))),
            None => Err(self.no_region(name)),
        }
    }

    /// Adds a sample to the regions that are open, and notes what it withdraws of those before it.
    pub fn add(&mut self, sample: &Sample) {
        self.samples += 1;
        for region in &mut self.regions {
            if let Some(withdrawn) = &sample.withdrawn {
                region.withdraw(withdrawn, self.samples);
            }
            if region.open > 0 {
                region.sum.add(sample);
                region.last = self.samples;
            }
        }
    }

    /// A figure of a region.
    ///
    /// # Errors
    /// There is no such region, event, metric or socket.
    pub fn figure(&self, plan: &Plan, question: &FigureQuery) -> Result<RegionFigure, CallFailure> {
        let FigureQuery { region: name, which, socket } = question;
        let region = self.region(name).ok_or_else(|| self.no_region(name))?;
        if let Some(socket) = socket
            && !plan.sockets.iter().any(|part| part.socket == *socket)
        {
            return Err(CallFailure::invalid(format!(
                "nothing is counted in socket {socket}; see PERICORE_ALL_SOCKETS"
            )));
        }
        match which {
            Which::Event(index) => region.event(plan, *index, *socket),
            Which::Metric(index) => region.metric(plan, *index, *socket),
        }
    }

    fn no_region(&self, name: &str) -> CallFailure {
        let known: Vec<&str> = self.regions.iter().map(|region| region.name.as_str()).collect();
        let known =
            if known.is_empty() { "none was started".to_owned() } else { format!("there are: {}", known.join(", ")) };
        CallFailure::unknown(format!("no region {name:?}; {known}"))
    }
}

impl Region {
    /// Notes what sample `number` withdraws of the samples right before it, if one of them is in the sum.
    fn withdraw(&mut self, withdrawn: &Withdrawn, number: u64) {
        if self.last > 0 && self.last.saturating_add(withdrawn.samples) >= number {
            self.sum.withdraw(withdrawn);
        }
    }

    fn event(&self, plan: &Plan, index: usize, socket: Option<u16>) -> Result<RegionFigure, CallFailure> {
        let listed = &plan.selection.listed;
        let event = listed.get(index).ok_or_else(|| out_of_range("event", index, listed.len()))?;
        let scope = scope(socket);
        let total = event_totals(&self.sum, event.event, scope).into_iter().find(|total| is_of(total.part, socket));
        let value = total.as_ref().map_or_else(nothing, |total| total.value());
        let count = total.as_ref().and_then(|total| total.count);
        let standard_error = total.and_then(|total| total.standard_error);
        Ok(RegionFigure { count, ..self.figure(&event.label, "events", &value, standard_error) })
    }

    fn metric(&self, plan: &Plan, index: usize, socket: Option<u16>) -> Result<RegionFigure, CallFailure> {
        let metrics = &plan.selection.metrics;
        let metric = metrics.get(index).ok_or_else(|| out_of_range("metric", index, metrics.len()))?;
        let mut total = None;
        if !self.sum.counts.is_empty() {
            let totals = metric_totals(&plan.layout(), &self.sum, metric, scope(socket));
            total = totals.into_iter().find(|total| is_of(total.part, socket));
        }
        let value = total.as_ref().map_or_else(nothing, |total| total.value.clone());
        let standard_error = total.and_then(|total| total.standard_error);
        let unit = metric.row.map_or_else(String::new, |row| row.unit_of_measure.to_owned());
        Ok(self.figure(&metric.name, &unit, &value, standard_error))
    }

    fn figure(&self, name: &str, unit: &str, value: &Value, standard_error: Option<f64>) -> RegionFigure {
        RegionFigure {
            name: name.to_owned(),
            unit_of_measure: unit.to_owned(),
            value: value.number(),
            count: None,
            validity: value.validity().clone(),
            standard_error,
            seconds: self.sum.seconds,
            starts: self.starts,
        }
    }
}

const fn scope(socket: Option<u16>) -> Scope {
    if socket.is_some() { Scope::Socket } else { Scope::System }
}

fn is_of(part: Part, socket: Option<u16>) -> bool {
    part.socket == socket
}

fn nothing() -> Value {
    Value::missing(Validity::not_defined("nothing was counted in the region; stop it after it was started"))
}

fn out_of_range(what: &str, index: usize, number: usize) -> CallFailure {
    CallFailure::invalid(format!("{what} {index}; there are {number}, from 0 on"))
}
