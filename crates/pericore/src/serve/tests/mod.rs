//! Expositions of samples made by hand.

mod live;
mod memory;

use clap::Parser;
use pericore_exporter::text::{self, Format};
use pericore_exposition::{Environment, Lateness, Named, Process, Surroundings, Tally, exposition, names};
use pericore_metrics::{UnitOfMeasure, Validity};
use pericore_observe::discover::discover;
use pericore_observe::plan::Plan;
use pericore_observe::results::{Scope, Totals};
use pericore_observe::selection::Selection;
use pericore_observe::session::{Count, Sample, Slices};

use super::ServeArgs;
use super::live::{LastHour, ServedMachine};
use crate::machine::opened;
use crate::measure::{Task, preparation};
use crate::{Cli, Command};

/// The last hour of a server with a sample every ten seconds, which began a thousand seconds after the epoch.
fn last_hour() -> LastHour {
    LastHour::new(ServedMachine {
        title: "x".to_owned(),
        emulated: Some("m".to_owned()),
        host: None,
        began: 1000.0,
        due: 10.0,
    })
}

/// What a command line selects.
fn selected(line: &[&str]) -> (Selection, ServeArgs) {
    let line = [&["pericore", "serve"], line].concat();
    let Some(Command::Serve(args)) = Cli::try_parse_from(line).unwrap().command else { panic!("it is not serve") };
    (args.measure.wanted.selection(pericore_catalog::family("e5-2600").unwrap()).unwrap(), *args)
}

/// What `pericore serve` would do on two sockets.
fn planned(line: &[&str]) -> (Plan, Vec<Named>) {
    let (selection, args) = selected(line);
    planned_of(selection, &args)
}

fn planned_of(selection: Selection, args: &ServeArgs) -> (Plan, Vec<Named>) {
    let mut chassis = opened::machine("e5-2600:sockets=2").unwrap();
    let cpus = pericore_emulation::start::cpus(chassis.shape());
    let topology = discover(&mut chassis, selection.family, &cpus, |_| true).unwrap();
    let course = args.course();
    let task = Task { args: &args.measure, course: &course };
    let plan = preparation::plan_on(task, &mut chassis, &topology, selection).unwrap();
    let names = names(&plan.selection).unwrap();
    (plan, names)
}

/// A sample of two seconds, with what `count` says of each event, socket and instance.
fn sample(plan: &Plan, count: impl Fn(usize, u16, u16) -> (Option<u64>, Validity)) -> Sample {
    let mut counts = Vec::new();
    for part in &plan.sockets {
        for instance in &part.instances {
            let mut events: Vec<usize> = instance.counters.iter().flat_map(|counter| counter.events.clone()).collect();
            events.dedup();
            for event in events {
                let (number, validity) = count(event, part.socket, instance.number);
                counts.push(Count {
                    event,
                    socket: part.socket,
                    instance: instance.number,
                    count: number,
                    validity,
                    slices: Slices::default(),
                    standard_error: None,
                });
            }
        }
    }
    Sample { seconds: 2.0, tsc_cycles: 4_000_000_000, counts, ..Sample::default() }
}

/// The lines of a text that are samples of names with this beginning.
fn lines<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.starts_with(name)).collect()
}

const ENVIRONMENT: Environment = Environment {
    emulated: None,
    started: 1_000_000_000.0,
    taken: 1_000_000_002.5,
    accesses: 32,
    lateness: Lateness::of(2.0),
    process: Process { cpu_seconds: Some(1.25), memory: Some(20 << 20) },
    surroundings: Surroundings { nodes: Vec::new(), stacks: Vec::new() },
};

/// Three samples of four channels in each of two sockets, 1000 reads and 500 writes each: in the second a channel of
/// socket 0 cannot be read, in the third what socket 1 reads is in doubt. A line is 64 bytes.
#[test]
fn the_exposition_of_three_samples() {
    let (plan, names) = planned(&["-e", "imc/CAS_COUNT.RD/", "-M", "MEM_BANDWIDTH"]);
    let mut tally = Tally::default();
    let counts = |event: usize| if names[event].name == "imc/CAS_COUNT.RD/" { 1000 } else { 500 };
    let plain = |event, _, _| (Some(counts(event)), Validity::MEASURED);
    let broken = |event, socket, instance| match (socket, instance) {
        (0, 2) => (None, Validity::unreadable("imc2 in socket 0", "it says \"no\"")),
        _ => plain(event, socket, instance),
    };
    let odd = |event, socket, instance| match socket {
        1 => (Some(counts(event)), Validity::suspect("somebody was there")),
        _ => plain(event, socket, instance),
    };
    let samples = [sample(&plan, plain), sample(&plan, broken), sample(&plan, odd)];
    let expositions = samples.map(|sample| {
        let totals = Totals::of(&sample, Scope::Socket);
        tally.add(&plan, &totals);
        exposition(&ENVIRONMENT, (&plan, &names), &tally, &totals)
    });
    let [first, second, third] = expositions;
    let text = |families| text::exposition(families, Format::Prometheus);
    let golden = include_str!("../../../../../tests/golden/serve/first.prom");
    assert_eq!(text(&first.families), golden.replace("VERSION", env!("CARGO_PKG_VERSION")));
    assert_eq!(first.notes, []);

    // Nothing of socket 0 has a number now: a sum without a channel is none.
    let second_text = text(&second.families);
    assert_eq!(
        lines(&second_text, "pericore_events_total"),
        [
            "pericore_events_total{event=\"imc/CAS_COUNT.RD/\",unit=\"imc\",socket=\"1\"} 8000",
            "pericore_events_total{event=\"imc/CAS_COUNT.WR/\",unit=\"imc\",socket=\"1\"} 4000",
        ]
    );
    assert_eq!(
        lines(&second_text, "pericore_unavailable{"),
        [
            "pericore_unavailable{event=\"imc/CAS_COUNT.RD/\",unit=\"imc\",socket=\"0\",reason=\"unreadable\"} 1",
            "pericore_unavailable{event=\"imc/CAS_COUNT.WR/\",unit=\"imc\",socket=\"0\",reason=\"unreadable\"} 1",
            "pericore_unavailable{metric=\"imc/MEM_BANDWIDTH\",unit=\"imc\",socket=\"0\",reason=\"unreadable\"} 1",
        ]
    );
    assert_eq!(
        lines(&second_text, "pericore_imc_mem"),
        ["pericore_imc_mem_bandwidth_bytes_per_second{socket=\"1\"} 192000"]
    );
    assert_eq!(second.notes.len(), 3);
    assert_eq!(second.notes[0].what, "event imc/CAS_COUNT.RD/, socket 0");
    assert_eq!(second.notes[0].why, "imc2 in socket 0 unreadable: it says \"no\"");

    // It goes on where it was: the second interval is missing, and that is said.
    let third_text = text(&third.families);
    assert_eq!(
        lines(&third_text, "pericore_events_total"),
        [
            "pericore_events_total{event=\"imc/CAS_COUNT.RD/\",unit=\"imc\",socket=\"0\"} 8000",
            "pericore_events_total{event=\"imc/CAS_COUNT.RD/\",unit=\"imc\",socket=\"1\"} 12000",
            "pericore_events_total{event=\"imc/CAS_COUNT.WR/\",unit=\"imc\",socket=\"0\"} 4000",
            "pericore_events_total{event=\"imc/CAS_COUNT.WR/\",unit=\"imc\",socket=\"1\"} 6000",
        ]
    );
    assert_eq!(
        lines(&third_text, "pericore_event_missing_seconds_total{event=\"imc/CAS_COUNT.RD/\""),
        [
            "pericore_event_missing_seconds_total{event=\"imc/CAS_COUNT.RD/\",unit=\"imc\",socket=\"0\"} 2",
            "pericore_event_missing_seconds_total{event=\"imc/CAS_COUNT.RD/\",unit=\"imc\",socket=\"1\"} 0",
        ]
    );
    assert_eq!(lines(&third_text, "pericore_unavailable"), [""; 0]);
    assert_eq!(
        lines(&third_text, "pericore_doubtful{"),
        [
            "pericore_doubtful{event=\"imc/CAS_COUNT.RD/\",unit=\"imc\",socket=\"1\"} 1",
            "pericore_doubtful{event=\"imc/CAS_COUNT.WR/\",unit=\"imc\",socket=\"1\"} 1",
            "pericore_doubtful{metric=\"imc/MEM_BANDWIDTH\",unit=\"imc\",socket=\"1\"} 1",
        ]
    );
    assert!(
        third_text.contains(
            "pericore_event_doubtful_seconds_total{event=\"imc/CAS_COUNT.RD/\",unit=\"imc\",socket=\"1\"} 2\n"
        )
    );
}

/// By instance, of a software machine, with events that take turns: the duty has a series of its own, and every
/// number says that it is emulated.
#[test]
fn what_takes_turns_has_its_duty_beside_it() {
    let line =
        ["-A", "-e", "cbo0/LLC_LOOKUP.DATA_READ,state=0x1/", "-e", "cbo0/LLC_LOOKUP.DATA_READ,state=0x1F,name=all/"];
    let (plan, names) = planned(&line);
    assert_eq!(plan.rounds(), 2);
    let scaled = sample(&plan, |event, _, _| (Some(7 + event as u64), Validity::scaled(0.5)));
    let mut tally = Tally::default();
    let totals = Totals::of(&scaled, Scope::Instance);
    tally.add(&plan, &totals);
    let environment = Environment { emulated: Some("e5-2680".to_owned()), ..ENVIRONMENT };
    let made = exposition(&environment, (&plan, &names), &tally, &totals);
    let text = text::exposition(&made.families, Format::OpenMetrics);
    let place = |socket| format!("unit=\"cbo\",socket=\"{socket}\",instance=\"cbo0\"}}");
    let (zero, one) = (place(0), place(1));
    let first = "{emulated=\"e5-2680\",event=\"cbo0/LLC_LOOKUP.DATA_READ,state=0x1/\"";
    let all = "{emulated=\"e5-2680\",event=\"all\"";
    assert_eq!(
        lines(&text, "pericore_events_total"),
        [
            format!("pericore_events_total{first},{zero} 7"),
            format!("pericore_events_total{first},{one} 7"),
            format!("pericore_events_total{all},{zero} 8"),
            format!("pericore_events_total{all},{one} 8"),
        ]
    );
    assert_eq!(
        lines(&text, "pericore_duty_ratio{"),
        [
            format!("pericore_duty_ratio{first},{zero} 0.5"),
            format!("pericore_duty_ratio{first},{one} 0.5"),
            format!("pericore_duty_ratio{all},{zero} 0.5"),
            format!("pericore_duty_ratio{all},{one} 0.5"),
        ]
    );
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    assert!(
        samples.clone().count() > 10 && samples.clone().all(|line| line.contains("{emulated=\"e5-2680\"")),
        "{text}"
    );
    assert!(text.ends_with("\n# EOF\n"));
}

/// Times are in seconds, shares between 0 and 1, and a metric's filters are a label.
#[test]
fn metrics_are_in_base_units() {
    let (mut selection, task) = selected(&["-M", "LLC_DRD_MISS_RATIO{tid=1},LLC_DRD_MISS_RATIO{tid=2}"]);
    let imc = selection.family.unit("imc").unwrap();
    let (time, percent) = (UnitOfMeasure::Nanoseconds, UnitOfMeasure::Percent);
    selection.add_expression("READ_TIME", imc, "CAS_COUNT.RD / 1000", time).unwrap();
    selection.add_expression("READ_SHARE", imc, "CAS_COUNT.RD / (CAS_COUNT.RD + CAS_COUNT.WR)", percent).unwrap();
    let (plan, names) = planned_of(selection, &task);
    // Four channels: 4 million reads.
    let even = sample(&plan, |_, _, _| (Some(1_000_000), Validity::MEASURED));
    let mut tally = Tally::default();
    let totals = Totals::of(&even, Scope::Socket);
    tally.add(&plan, &totals);
    let made = exposition(&ENVIRONMENT, (&plan, &names), &tally, &totals);
    let text = text::exposition(&made.families, Format::OpenMetrics);
    assert_eq!(
        lines(&text, "pericore_cbo_llc_drd_miss_ratio{socket=\"0\""),
        [
            "pericore_cbo_llc_drd_miss_ratio{socket=\"0\",settings=\"tid=1\"} 1",
            "pericore_cbo_llc_drd_miss_ratio{socket=\"0\",settings=\"tid=2\"} 1",
        ]
    );
    assert_eq!(lines(&text, "# TYPE pericore_cbo_llc_drd_miss_ratio gauge").len(), 1);
    assert!(text.contains("# UNIT pericore_imc_read_time_seconds seconds\n"), "{text}");
    assert_eq!(
        lines(&text, "pericore_imc_read_time_seconds{socket=\"1\""),
        ["pericore_imc_read_time_seconds{socket=\"1\"} 0.000004"]
    );
    assert_eq!(
        lines(&text, "pericore_imc_read_share_ratio{socket=\"1\""),
        ["pericore_imc_read_share_ratio{socket=\"1\"} 0.5"]
    );
}

/// Both need the cycles in which counter 0 has any occupancy, each beside an occupancy of its own: two events, and no
/// user has named either.
#[test]
fn events_that_only_metrics_need_get_names_of_their_own() {
    let mut selection = Selection::new(pericore_catalog::family("emerald-rapids").unwrap());
    selection.add_metrics("cha/TOR_DRDS_MISS_WHEN_BUSY,cha/TOR_DRDS_WHEN_BUSY").unwrap();
    let names: Vec<String> = names(&selection).unwrap().into_iter().map(|named| named.name).collect();
    let cycles = |of: &str| format!("cha/COUNTER0_OCCUPANCY,thresh=0x1/ beside cha/TOR_OCCUPANCY.{of}/");
    assert_eq!(names.len(), 4);
    assert!(names.contains(&cycles("IA_DRD")) && names.contains(&cycles("IA_MISS_DRD")), "{names:?}");
}

#[test]
fn two_events_of_one_name_are_refused() {
    let (selection, _) = selected(&["-e", "imc/CAS_COUNT.RD,name=x/,imc/CAS_COUNT.WR,name=x/"]);
    assert_eq!(names(&selection), Err("x".to_owned()));
    let (selection, _) = selected(&["-e", "imc/CAS_COUNT.RD/,imc/CAS_COUNT.RD/,imc/CAS_COUNT.RD,name=x/"]);
    assert_eq!((selection.events.len(), names(&selection).unwrap().len()), (1, 2));
}
