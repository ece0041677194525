//! From the counts so far and the last sample to families of samples.

use pericore_catalog::Quantity;
use pericore_exporter::text::{Family, Kind, Labels, Number};
use pericore_metrics::{Grade, UnitOfMeasure, Validity};
use pericore_observe::plan::Plan;
use pericore_observe::results::{Part, Totals};
use pericore_observe::session::Sample;
use pericore_report::rows::place;

use crate::lateness::Lateness;
use crate::process::Process;
use crate::surroundings::Surroundings;
use crate::tally::{Named, Tally};

/// What is said of the process and the machine with every exposition.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The software machine, if it is one: then every number says so.
    pub emulated: Option<String>,
    /// Seconds since the epoch when counting began.
    pub started: f64,
    /// Seconds since the epoch when the sample was taken.
    pub taken: f64,
    /// Register accesses of a sample, at most.
    pub accesses: usize,
    /// Whether samples come when they are due.
    pub lateness: Lateness,
    /// What this process takes of the machine.
    pub process: Process,
    /// Memory nodes and devices of the machine.
    pub surroundings: Surroundings,
}

/// A number that there is not, or that is in doubt, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpositionNote {
    /// What and where.
    pub what: String,
    /// Why.
    pub why: String,
}

/// What is exposed.
#[derive(Debug)]
pub struct Exposition {
    /// In the order in which they are written.
    pub families: Vec<Family>,
    /// What the page for people says of numbers.
    pub notes: Vec<ExpositionNote>,
}

/// All families of one sample.
pub fn exposition(
    environment: &Environment,
    (plan, names): (&Plan, &[Named]),
    tally: &Tally,
    totals: &Totals<'_>,
) -> Exposition {
    let mut maker = Maker::new(environment, plan, tally);
    let mut families = maker.general(environment, tally, totals.sample());
    families.extend(environment.surroundings.families(&maker.always));
    families.extend(maker.process(&environment.process));
    families.extend(maker.events(names, tally));
    families.extend(maker.metrics(totals));
    families.extend([maker.duty, maker.unavailable, maker.doubtful]);
    Exposition { families, notes: maker.notes }
}

struct Maker<'a> {
    plan: &'a Plan,
    /// Labels of every sample.
    always: Labels,
    duty: Family,
    unavailable: Family,
    doubtful: Family,
    notes: Vec<ExpositionNote>,
}

impl<'a> Maker<'a> {
    fn new(environment: &Environment, plan: &'a Plan, tally: &Tally) -> Self {
        let always = environment.emulated.iter().map(|machine| ("emulated", machine.clone())).collect();
        let gauge = |name, unit, help: &str| Family::new(name, Kind::Gauge, unit, help);
        debug_assert!(tally.samples > 0, "there is nothing to expose before the first sample");
        Self {
            plan,
            always,
            duty: gauge(
                "pericore_duty",
                Some("ratio"),
                "Share of the last interval in which a multiplexed event was counted; its count is scaled up.",
            ),
            unavailable: gauge(
                "pericore_unavailable",
                None,
                "1 for each event and metric without a value in the last interval; its series is absent.",
            ),
            doubtful: gauge(
                "pericore_doubtful",
                None,
                "1 for each event and metric whose value in the last interval is in doubt; / gives the reason.",
            ),
            notes: Vec::new(),
        }
    }

    /// What is not about counters.
    fn general(&self, environment: &Environment, tally: &Tally, sample: &Sample) -> Vec<Family> {
        let label = |name: &'static str, value: &str| (name, value.to_owned());
        let info = |name, help: &str, labels: Labels| {
            let mut family = Family::new(name, Kind::Info, None, help);
            family.push([self.always.clone(), labels].concat(), Number::Whole(1));
            family
        };
        let number = |name, kind, unit, number, help: &str| {
            let mut family = Family::new(name, kind, unit, help);
            family.push(self.always.clone(), number);
            family
        };
        let seconds = Some("seconds");
        let mut sampled = Family::new(
            "pericore_sampled",
            Kind::Counter,
            seconds,
            "Time that the samples cover, in which counters run: while they are read they are paused.",
        );
        for (socket, covered) in tally.seconds() {
            let place = socket.map(|socket| label("socket", &socket.to_string()));
            sampled.push(self.always.iter().cloned().chain(place).collect(), Number::Real(covered));
        }
        let sockets = self.plan.sockets.len().to_string();
        vec![
            info("pericore_build", "The program.", vec![label("version", env!("CARGO_PKG_VERSION"))]),
            info(
                "pericore_machine",
                "The machine; the label emulated names a software one, whose numbers are no Xeon's.",
                vec![label("family", self.plan.selection.family.name), label("sockets", &sockets)],
            ),
            number(
                "pericore_start_time",
                Kind::Gauge,
                seconds,
                Number::Real(environment.started),
                "When counting began, since the epoch.",
            ),
            number(
                "pericore_samples",
                Kind::Counter,
                None,
                Number::Whole(tally.samples.into()),
                "Samples taken of the counters.",
            ),
            sampled,
            number(
                "pericore_sample_timestamp",
                Kind::Gauge,
                seconds,
                Number::Real(environment.taken),
                "When the last sample was taken, since the epoch.",
            ),
            number(
                "pericore_interval",
                Kind::Gauge,
                seconds,
                Number::Real(sample.seconds),
                "Length of the last interval, of several sockets the mean.",
            ),
            number(
                "pericore_interval_due",
                Kind::Gauge,
                seconds,
                Number::Real(environment.lateness.interval),
                "Length that intervals should have.",
            ),
            number(
                "pericore_late",
                Kind::Gauge,
                seconds,
                Number::Real(environment.lateness.last),
                "How much longer the last interval was than it should be.",
            ),
            number(
                "pericore_samples_missed",
                Kind::Counter,
                None,
                Number::Whole(environment.lateness.missed.into()),
                "Samples that were due and not taken, since the machine was busy.",
            ),
            number(
                "pericore_sample_accesses",
                Kind::Gauge,
                None,
                Number::Whole(environment.accesses as u128),
                "Register accesses of a sample, at most.",
            ),
        ]
    }

    /// What the process takes, by the names that exporters have in common.
    fn process(&self, process: &Process) -> Vec<Family> {
        let mut cpu =
            Family::new("process_cpu", Kind::Counter, Some("seconds"), "CPU time of this process, user and system.");
        let mut memory =
            Family::new("process_resident_memory", Kind::Gauge, Some("bytes"), "Memory that this process has in use.");
        if let Some(seconds) = process.cpu_seconds {
            cpu.push(self.always.clone(), Number::Real(seconds));
        }
        if let Some(bytes) = process.memory {
            memory.push(self.always.clone(), Number::Whole(bytes.into()));
        }
        vec![cpu, memory]
    }

    /// Counts since the start.
    fn events(&mut self, names: &[Named], tally: &Tally) -> Vec<Family> {
        let counter = |name, unit, help: &str| Family::new(name, Kind::Counter, unit, help);
        let mut counts = counter("pericore_events", None, "What each event has counted since the start.");
        let mut missing = counter(
            "pericore_event_missing",
            Some("seconds"),
            "Time whose counts are not in pericore_events_total, since there was no number.",
        );
        let mut doubtful = counter(
            "pericore_event_doubtful",
            Some("seconds"),
            "Time whose counts are in pericore_events_total, but in doubt.",
        );
        for Named { name, event } in names {
            let unit = self.plan.selection.events[*event].unit;
            for (part, running) in tally.of(*event) {
                let labels = self.labels("event", name, unit, part);
                self.judge(&labels, &running.validity);
                if running.validity.grade().has_number() {
                    counts.push(labels.clone(), Number::Whole(running.count));
                }
                missing.push(labels.clone(), Number::Real(running.missing));
                doubtful.push(labels, Number::Real(running.doubtful));
            }
        }
        vec![counts, missing, doubtful]
    }

    /// Metrics of the last interval: a family for each of a unit's, whatever filters it is asked for with.
    fn metrics(&mut self, totals: &Totals<'_>) -> Vec<Family> {
        let mut families: Vec<Family> = Vec::new();
        let layout = self.plan.layout();
        for metric in &self.plan.selection.metrics {
            let (bare, settings) = metric.name.split_once('{').map_or((&*metric.name, None), |(bare, settings)| {
                (bare, Some(settings.trim_end_matches('}').to_owned()))
            });
            let (unit, per_base) = base(metric.unit_of_measure);
            let name = format!("pericore_{}_{bare}", metric.unit.name);
            let help = metric.row.map_or("A metric of an event file.", |row| row.description);
            let together = match metric.quantity {
                Quantity::Extensive => "Sum it over instances and sockets.",
                Quantity::Intensive => "Intensive: it does not add up over instances and sockets.",
            };
            let family = Family::new(&name, Kind::Gauge, unit, format!("{help} {together}"));
            let at = families.iter().position(|known| known.name() == family.name()).unwrap_or_else(|| {
                families.push(family);
                families.len() - 1
            });
            let full_name = format!("{}/{}", metric.unit.name, metric.name);
            for total in totals.metric(&layout, metric) {
                let labels = self.labels("metric", &full_name, metric.unit, total.part);
                self.judge(&labels, total.value.validity());
                let Some(number) = total.value.number() else { continue };
                // The name says which metric it is, but for the settings.
                let mut labels: Labels =
                    labels.into_iter().filter(|(label, _)| !matches!(*label, "metric" | "unit")).collect();
                labels.extend(settings.iter().map(|settings| ("settings", settings.clone())));
                families[at].push(labels, Number::Real(number / per_base));
            }
        }
        families
    }

    /// What tells a number of `kind`, event or metric, from others.
    fn labels(&self, kind: &'static str, name: &str, unit: &pericore_catalog::Unit, part: Part) -> Labels {
        let mut labels = self.always.clone();
        labels.extend([(kind, name.to_owned()), ("unit", unit.name.to_owned())]);
        if let Some(place) = place(part, 1, unit) {
            labels.push(("socket", place.socket.to_string()));
            labels.extend(place.instance.map(|instance| ("instance", instance)));
        }
        labels
    }

    /// Says how far a number can be trusted.
    fn judge(&mut self, labels: &Labels, validity: &Validity) {
        let grade = validity.grade();
        if !grade.has_number() {
            let reason = [labels.clone(), vec![("reason", grade.name().to_owned())]].concat();
            self.unavailable.push(reason, Number::Whole(1));
        } else if self.plan.rounds() > 1 {
            self.duty.push(labels.clone(), Number::Real(validity.duty()));
        }
        if grade == Grade::Suspect {
            self.doubtful.push(labels.clone(), Number::Whole(1));
        }
        if grade >= Grade::Suspect {
            let shown = labels.iter().filter(|(label, _)| !matches!(*label, "emulated" | "unit"));
            let what: Vec<String> = shown.map(|(label, value)| format!("{label} {value}")).collect();
            self.notes.push(ExpositionNote { what: what.join(", "), why: validity.to_string() });
        }
    }
}

/// The unit that Prometheus has for a unit of measure, and how many of ours are one of it.
const fn base(unit: UnitOfMeasure) -> (Option<&'static str>, f64) {
    match unit {
        UnitOfMeasure::Bytes => (Some("bytes"), 1.0),
        UnitOfMeasure::BytesPerSecond => (Some("bytes_per_second"), 1.0),
        UnitOfMeasure::Percent | UnitOfMeasure::Ratio => (Some("ratio"), 1.0),
        UnitOfMeasure::Cycles => (Some("cycles"), 1.0),
        UnitOfMeasure::Nanoseconds => (Some("seconds"), 1e9),
        UnitOfMeasure::Seconds => (Some("seconds"), 1.0),
        UnitOfMeasure::Count => (None, 1.0),
        UnitOfMeasure::PerSecond => (Some("per_second"), 1.0),
        UnitOfMeasure::Hertz => (Some("hertz"), 1.0),
    }
}
