//! Every metric of the family over a busy machine, from the signals and from the ledger: equal, and in a table that must be current.

use super::evaluate::{Case, Counters};
use super::{model, run};
use crate::ledger::emerald_rapids::Snapshot;
use pericore_catalog::{Role, Unit};
use pericore_metrics::{Expression, Reference, SettingValue, Validity, Value, evaluate};
use std::fmt::Write;

/// Two sockets with traffic between them, and devices at work.
const WORKLOAD: &str = "two mixed:requests=30000,read=50,threads=64,footprint=64M,remote=40";
/// Set to write the table anew.
const WRITE: &str = "PERICORE_WRITE_TABLES";

/// An event with what a metric sets in it.
#[derive(Debug, Clone, PartialEq)]
struct Wanted {
    unit: &'static str,
    event: &'static str,
    subevent: Option<&'static str>,
    umask: Option<u64>,
    opcode: Option<u64>,
    /// It shapes its input: no sum of what happened.
    shaped: bool,
}

/// The event of a reference; `None` for variables and for other metrics.
fn wanted(unit: &'static Unit, reference: &Reference) -> Option<Wanted> {
    let (event, subevent) = match unit.event(&reference.name) {
        Some(event) => (event, None),
        None => {
            let (event, subevent) = reference.name.split_once('.')?;
            let event = unit.event(event)?;
            (event, Some(event.subevent(subevent)?.name))
        }
    };
    let setting = |name: &str| {
        reference.settings.iter().find(|(key, _)| key == name).and_then(|(_, value)| match value {
            SettingValue::Number(number) => Some(*number),
            _ => None,
        })
    };
    let shaped = reference.settings.iter().any(|(key, _)| key == "thresh" || key == "edge_det");
    let (umask, opcode) = (setting("umask"), setting("opc"));
    Some(Wanted { unit: unit.name, event: event.name, subevent, umask, opcode, shaped })
}

/// The ledger's figure of an event over all instances.
fn truth(at: &Snapshot, wanted: &Wanted) -> Option<u64> {
    if wanted.shaped {
        return None;
    }
    // A umask of two bits is two subevents: those of the subchannels, or of the slots.
    let parts: Vec<Option<&str>> = match (wanted.umask, wanted.event) {
        (Some(3), "RPQ_INSERTS" | "WPQ_INSERTS") => vec![Some("PCH0"), Some("PCH1")],
        (Some(_), _) => return None,
        (None, _) => vec![wanted.subevent],
    };
    let filters: Vec<(&str, u64)> = wanted.opcode.map(|opcode| ("opc", opcode)).into_iter().collect();
    let mut sum = 0;
    for instance in 0.. {
        let mut any = false;
        for part in &parts {
            if let Some(value) = at.value(wanted.unit, instance, wanted.event, *part, &filters) {
                sum += value;
                any = true;
            }
        }
        if !any {
            return (instance > 0).then_some(sum);
        }
    }
    None
}

/// The control value that selects what is wanted.
fn config(unit: &'static Unit, wanted: &Wanted) -> u64 {
    let event = unit.event(wanted.event).unwrap();
    let base = wanted.subevent.map_or(event.config, |name| event.subevent(name).unwrap().config);
    let control = unit.register(Role::Control).unwrap();
    let umask = wanted.umask.map_or(base, |umask| control.field("umask").unwrap().bits.set(base, umask));
    let overlaid = event.field_set.map_or(&[][..], |index| unit.field_sets[usize::from(index)].fields);
    let field = overlaid.iter().find(|field| field.name == "opc");
    match (wanted.opcode, field) {
        (Some(opcode), Some(field)) => field.bits.set(umask, opcode),
        _ => umask,
    }
}

struct Figures<'a> {
    events: &'a [(Wanted, Option<u64>)],
    seconds: f64,
    tsc: f64,
}

impl Figures<'_> {
    fn value(&self, unit: &'static Unit, expression: &str, sockets: u16) -> Value {
        let parsed = Expression::parse(expression).unwrap();
        let resolve = |reference: &Reference| -> Value {
            match reference.name.as_str() {
                "seconds" => return Value::measured(self.seconds),
                "SAMPLE_INTERVAL" => return Value::measured(self.tsc),
                "instances" => return Value::measured(f64::from(unit.instances * sockets)),
                _ => {}
            }
            if let Some(metric) = unit.metrics.iter().find(|metric| metric.name == reference.name) {
                return self.value(unit, metric.expression, sockets);
            }
            let found = wanted(unit, reference).and_then(|wanted| {
                self.events.iter().find(|(event, _)| *event == wanted).and_then(|(_, value)| *value)
            });
            let fixed = || (reference.name == "DCLK_FIXED").then(|| self.clock(unit)).flatten();
            match found.map(|value| value as f64).or_else(fixed) {
                Some(value) => Value::measured(value),
                None => Value::missing(Validity::not_defined("the ledger has no truth for it")),
            }
        };
        evaluate(&parsed, &resolve)
    }

    /// The fixed counter counts what the clock event does.
    fn clock(&self, unit: &'static Unit) -> Option<f64> {
        let clock = |(event, _): &&(Wanted, Option<u64>)| event.unit == unit.name && event.event == "CLOCKTICKS";
        self.events.iter().find(clock).and_then(|(_, value)| value.map(|value| value as f64))
    }
}

#[test]
fn metrics_of_the_signals_equal_those_of_the_ledger() {
    let family = pericore_catalog::family("emerald-rapids").unwrap();
    let mut all = Vec::new();
    for unit in family.units {
        for metric in unit.metrics {
            for reference in Expression::parse(metric.expression).unwrap().references() {
                all.extend(wanted(unit, reference));
            }
        }
        let clock = Reference::named("CLOCKTICKS");
        all.extend(wanted(unit, &clock));
    }
    let mut unique: Vec<Wanted> = Vec::new();
    for wanted in all {
        if !unique.contains(&wanted) {
            unique.push(wanted);
        }
    }
    let all = unique;
    let (mut model, wiring) = model(WORKLOAD);
    let sockets = wiring.sockets();
    let clocks = *model.clocks();
    let case = |wanted: &Wanted| {
        let unit = family.unit_index(wanted.unit).unwrap();
        let config = Some(config(family.units[unit], wanted));
        Case { unit, event: wanted.event, subevent: wanted.subevent, config }
    };
    let cases = all.iter().map(case).collect();
    let mut counters = Counters::new(wiring, cases, |unit| clocks.of_unit(unit).ticks());
    run(&mut model, &mut counters);
    let at = model.snapshot();
    let seconds = at.now() as f64 / clocks.ticks_per_second as f64;
    let counted = |wanted: &Wanted| {
        let truth = truth(&at, wanted);
        let config = Some(config(family.units[family.unit_index(wanted.unit).unwrap()], wanted));
        let number = counters.cases.iter().position(|case| {
            (case.event, case.subevent, case.config) == (wanted.event, wanted.subevent, config)
                && family.units[case.unit].name == wanted.unit
        });
        let instances = |unit: usize| family.units[unit].instances * sockets;
        // Clocks have no signal: their count is the time.
        let sum = number.map(|number| {
            (0..instances(counters.cases[number].unit)).map(|i| counters.count(number, i, at.now())).sum::<u64>()
        });
        truth.map(|truth| sum.unwrap_or(truth))
    };
    let from_signals: Vec<_> = all.iter().map(|wanted| (wanted.clone(), counted(wanted))).collect();
    let from_ledger: Vec<_> = all.iter().map(|wanted| (wanted.clone(), truth(&at, wanted))).collect();
    let tsc = seconds * 2e9;
    let signals = Figures { events: &from_signals, seconds, tsc };
    let ledger = Figures { events: &from_ledger, seconds, tsc };
    let (mut body, mut equal, mut busy, mut total) = (String::new(), 0, 0, 0);
    for unit in family.units.iter().filter(|unit| !unit.metrics.is_empty()) {
        writeln!(body, "\n## {}\n\n| metric | unit | counters | ledger |\n|---|---|---|---|", unit.name).unwrap();
        for metric in unit.metrics {
            let one = signals.value(unit, metric.expression, sockets).number();
            let other = ledger.value(unit, metric.expression, sockets).number();
            assert_eq!(one, other, "{}/{}", unit.name, metric.name);
            total += 1;
            equal += usize::from(other.is_some());
            busy += usize::from(other.is_some_and(|value| value != 0.0));
            let show = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.6e}"));
            let measure = metric.unit_of_measure;
            writeln!(body, "| {} | {measure} | {} | {} |", metric.name, show(one), show(other)).unwrap();
        }
    }
    let table = format!(
        "# The metrics of Emerald Rapids over the model\n\n\
         Made by the test `emerald_rapids::tests::metrics::metrics_of_the_signals_equal_those_of_the_ledger` of\n\
         `pericore-machine`; run it with `PERICORE_WRITE_TABLES=1` to write this file anew. Each metric is computed twice over\n\
         `{WORKLOAD}` (`two` means `--machine 8592+:sockets=2`), over all instances: from what counters make of the signals, and from\n\
         the ledger. A dash: a denominator of zero, or an event that the ledger has no truth for (thresholds and edges are the\n\
         counter's doing; heat needs a scenario).\n\n\
         {equal} of {total} metrics have a value, and {busy} of those are not zero.\n{body}"
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/emerald-rapids-metrics.md");
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(path, &table).unwrap();
    }
    let current = std::fs::read_to_string(path).unwrap_or_default();
    assert!(current == table, "docs/emerald-rapids-metrics.md is not current: run this test with {WRITE}=1");
}
