//! Every metric of Nehalem, measured through the registers of a software machine and evaluated over the ledger: `docs/nehalem-metrics.md`.
//!
//! `PERICORE_WRITE_TABLES=1 cargo test -p pericore-tests --test all nehalem_metrics` writes the table anew.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use pericore_catalog::Family;
use pericore_machine::ledger::Question;
use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec, Window};
use pericore_observe::discover::{Cpu, discover};
use pericore_observe::plan::Plan;
use pericore_observe::results::{Scope, metric_totals};
use pericore_observe::selection::{EventSource, SelectedEvent, Selection};
use pericore_observe::session::{Count, Moment, Options, Sample, Session};

/// Machines and workloads that between them make every metric more than nothing.
const SCENARIOS: [(&str, &str); 12] = [
    ("x5570", "ntstore:requests=20000"),
    ("x5570:sockets=2", "ntstore:requests=20000,remote=50"),
    ("x5570", "stream:requests=20000,read=70"),
    ("x5570", "stream:requests=20000,stride=512k,footprint=1G,read=0"),
    ("x5570", "dma-write:requests=5000,threads=8"),
    ("x5570", "random:requests=20000,footprint=4M,read=60,threads=8"),
    ("x5570", "dma-read:requests=5000"),
    ("x5570:sockets=2", "random:requests=20000,footprint=64k,read=60,threads=16,remote=50"),
    ("x5570:sockets=2", "stream:requests=20000,read=50,remote=50"),
    ("x5570:sockets=2", "dma-write:requests=5000,remote=50,footprint=1M"),
    ("x5570:sockets=2", "random:requests=20000,footprint=1G,read=50,threads=16,remote=50"),
    // Snoops find lines that a core has modified, and stay long enough to fill the tracker.
    ("x5570:sockets=2", DIRTY),
];

const DIRTY: &str = "\
phase store
  workload stream:requests=1024,read=0,threads=1,footprint=64k
phase devices
  workload dma-read:requests=3000,threads=16,footprint=64k
";

/// Ticks from the start to the measurement, on no clock's edge, and between looks for the workload's end.
const BEFORE: u64 = 1_003;
const SLICE: u64 = 100_000;

fn family() -> &'static Family {
    pericore_catalog::family("nehalem").expect("the family is in the catalogue")
}

fn moment(machine: &mut Machine) -> Moment {
    let (clocks, now) = (machine.clocks(), machine.now());
    Moment { seconds: clocks.seconds(0, now), tsc: clocks.timestamp(now) }
}

fn truth(event: &SelectedEvent, socket: u16, window: &Window<'_>) -> u64 {
    let unit = event.unit.name;
    let count = match &event.source {
        EventSource::Fixed(register) => {
            register.event.and_then(|name| window.count(socket, 0, Question::new(unit, name)))
        }
        EventSource::Programmed(programming) => programming.event.and_then(|row| {
            let subevent = programming.subevent.map(|subevent| subevent.name);
            window.count(socket, 0, Question::new(unit, row.name).subevent(subevent))
        }),
        EventSource::FreeRunning { .. } => None,
    };
    count.expect("the ledger knows every event of a metric")
}

/// A metric of the whole machine: measured, and with the ledger's counts in place of the counters'.
fn evaluate(name: &str, (machine, workload): (&str, &str)) -> (Option<f64>, Option<f64>) {
    let spec = MachineSpec::parse(machine).expect("a preset");
    let limits = spec.limits().expect("a model");
    let phases = workload.contains('\n');
    let scenario = if phases { Scenario::parse(workload, &limits).ok() } else { Scenario::of(workload, &limits).ok() };
    let mut machine = Machine::for_scenario(&spec, &scenario.expect("a workload")).expect("a machine");
    machine.run_for(BEFORE);
    let shape = machine.chassis().shape();
    let cpus: Vec<Cpu> = (0..shape.cpus())
        .filter_map(|number| shape.socket_of_cpu(number).map(|package| Cpu { number, package }))
        .collect();
    let topology = discover(&mut machine, family(), &cpus, |_| true).expect("the uncore is found");
    let mut selection = Selection::new(family());
    selection.add_metrics(&format!("uncore/{name}")).unwrap_or_else(|error| panic!("{name}: {error}"));
    let plan = Plan::new(&topology, selection).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(plan.rounds(), 1, "{name} fits the counters");
    let kept = plan.clone();
    let before = machine.snapshot();
    let mut session = Session::start(&mut machine, plan, Options::default(), |m| moment(m)).expect("counters are free");
    while !session.space_mut().finished() {
        session.space_mut().run_for(SLICE);
    }
    let sample = session.sample(|m| moment(m));
    session.stop().expect("everything is put back");
    let after = machine.snapshot();
    let window = Window::between(&before, &after);
    let counts = sample.counts.iter().map(|count| {
        let truth = truth(&kept.selection.events[count.event], count.socket, &window);
        Count { count: Some(truth), ..count.clone() }
    });
    let true_sample = Sample { counts: counts.collect(), ..sample.clone() };
    let value = |sample: &Sample| {
        let totals = metric_totals(&kept.layout(), sample, &kept.selection.metrics[0], Scope::System);
        totals[0].value.number()
    };
    (value(&sample), value(&true_sample))
}

#[test]
fn every_metric_equals_the_ledger_and_the_table_is_current() {
    let mut text = String::from(
        "# Nehalem's metrics on the software machine\n\n\
         Each metric over a scenario that makes it more than nothing: measured through the counters, and with the ledger's counts in \
         their place.\nThey must be equal. Written by `PERICORE_WRITE_TABLES=1 cargo test -p pericore-tests --test all nehalem_metrics`, which \
         else checks that it is current.\n\n\
         | metric | machine | workload | measured | ledger | unit |\n|---|---|---|---|---|---|\n",
    );
    for metric in family().units[0].metrics {
        let found = SCENARIOS.iter().find_map(|&scenario| {
            let (measured, truth) = evaluate(metric.name, scenario);
            assert_eq!(measured, truth, "{} over {scenario:?}", metric.name);
            measured.filter(|value| *value != 0.0).map(|value| (scenario, value))
        });
        let ((machine, workload), value) = found.unwrap_or_else(|| panic!("{} is nothing everywhere", metric.name));
        let workload = workload.trim_end().replace('\n', ";");
        let _ = writeln!(
            text,
            "| {} | {machine} | {workload} | {value:.6} | {value:.6} | {} |",
            metric.name, metric.unit_of_measure
        );
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/nehalem-metrics.md");
    if env::var_os("PERICORE_WRITE_TABLES").is_some() {
        fs::write(&path, &text).expect("docs can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "docs/nehalem-metrics.md is not current: PERICORE_WRITE_TABLES=1 writes it anew");
}
