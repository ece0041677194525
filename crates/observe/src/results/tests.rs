//! Aggregates and metrics over hand-made samples.

use pericore_metrics::{Grade, UnitOfMeasure};

use super::metrics::possible;
use super::*;
use crate::discover::discover;
use crate::plan::Plan;
use crate::selection::Selection;
use crate::testing::{CPUS, Fake, e5_2600};

fn planned(metrics: &str) -> Plan {
    let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut selection = Selection::new(e5_2600());
    selection.add_metrics(metrics).unwrap();
    let cbo = e5_2600().unit("cbo").unwrap();
    selection.add_expression("MIX", cbo, "CLOCKTICKS / instances + imc/CAS_COUNT.RD", UnitOfMeasure::Count).unwrap();
    Plan::new(&topology, selection).unwrap()
}

/// Every instance counts 100 of each event, and socket 1 ten times that.
fn sample(plan: &Plan) -> Sample {
    let mut counts = Vec::new();
    for socket in &plan.sockets {
        for instance in &socket.instances {
            for event in instance.counters.iter().flat_map(|counter| &counter.events) {
                counts.push(Count {
                    event: *event,
                    socket: socket.socket,
                    instance: instance.number,
                    count: Some(if socket.socket == 0 { 100 } else { 1000 }),
                    validity: Validity::MEASURED,
                    slices: Slices::default(),
                    standard_error: None,
                });
            }
        }
    }
    Sample { seconds: 0.5, tsc_cycles: 1_000_000, counts, ..Sample::default() }
}

fn numbers(plan: &Plan, sample: &Sample, metric: usize, scope: Scope) -> Vec<Option<f64>> {
    metric_totals(&plan.layout(), sample, &plan.selection.metrics[metric], scope)
        .iter()
        .map(|total| total.value.number())
        .collect()
}

#[test]
fn counts_are_added_up_before_metrics_are_computed() {
    let plan = planned("MEM_READ_BANDWIDTH,imc/PCT_RD_REQUESTS");
    let sample = sample(&plan);
    let event = plan.selection.events.iter().position(|event| event.label == "imc/CAS_COUNT.RD/").unwrap();
    let counts: Vec<_> =
        event_totals(&sample, event, Scope::Socket).iter().map(|total| (total.count, total.instances)).collect();
    assert_eq!(counts, [(Some(400), 4), (Some(4000), 4)]);
    assert_eq!(numbers(&plan, &sample, 0, Scope::Socket), [Some(400.0 * 128.0), Some(4000.0 * 128.0)]);
    assert_eq!(numbers(&plan, &sample, 0, Scope::System), [Some(4400.0 * 128.0)]);
    assert_eq!(numbers(&plan, &sample, 0, Scope::Instance).len(), 8);
    assert_eq!(numbers(&plan, &sample, 1, Scope::System), [Some(0.5)]);
}

/// Each channel's count fits in 64 bits; those of a socket together do not.
#[test]
fn a_total_that_does_not_fit_says_so() {
    let plan = planned("MEM_READ_BANDWIDTH");
    let mut sample = sample(&plan);
    let event = plan.selection.events.iter().position(|event| event.label == "imc/CAS_COUNT.RD/").unwrap();
    let of_socket_0 = sample.counts.iter_mut().filter(|count| count.event == event && count.socket == 0);
    of_socket_0.for_each(|count| count.count = Some(u64::MAX / 4 + 1));
    let totals = event_totals(&sample, event, Scope::Socket);
    let told: Vec<_> = totals.iter().map(|total| (total.count, total.validity.to_string())).collect();
    let too_large = "suspect: the sum is 2^64 - 1 or more".to_owned();
    assert_eq!(told, [(Some(u64::MAX), too_large), (Some(4000), "measured".to_owned())]);
    let of =
        |scope| metric_totals(&plan.layout(), &sample, &plan.selection.metrics[0], scope)[0].value.validity().grade();
    assert_eq!(
        [Scope::Instance, Scope::Socket, Scope::System].map(of),
        [Grade::Measured, Grade::Suspect, Grade::Suspect]
    );
}

/// Socket 1 was counted for longer. What only it counts lasted as long as it did, however much is added up.
#[test]
fn a_total_lasts_as_long_as_the_sockets_that_counted_it() {
    let plan = planned("MEM_READ_BANDWIDTH");
    let lengths = [(0, 1.0), (1, 3.0)].map(|(socket, seconds)| (socket, Length { seconds, tsc_cycles: 0 }));
    let mut sample = Sample { seconds: 2.0, sockets: lengths.into(), ..sample(&plan) };
    let event = plan.selection.events.iter().position(|event| event.label == "imc/CAS_COUNT.RD/").unwrap();
    let seconds = |sample: &Sample, scope| {
        event_totals(sample, event, scope).iter().map(|total| total.length.seconds).collect::<Vec<_>>()
    };
    assert_eq!((seconds(&sample, Scope::Socket), seconds(&sample, Scope::System)), (vec![1.0, 3.0], vec![2.0]));
    sample.counts.retain(|count| count.socket == 1);
    assert_eq!(seconds(&sample, Scope::System), [3.0]);
}

#[test]
fn a_time_that_does_not_fit_says_so() {
    let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut selection = Selection::new(e5_2600());
    let cbo = e5_2600().unit("cbo").unwrap();
    selection.add_expression("BUSY", cbo, "CLOCKTICKS / SAMPLE_INTERVAL", UnitOfMeasure::Ratio).unwrap();
    let plan = Plan::new(&topology, selection).unwrap();
    let grade = |tsc_cycles: u64| {
        let sample = Sample { tsc_cycles, ..sample(&plan) };
        metric_totals(&plan.layout(), &sample, &plan.selection.metrics[0], Scope::System)[0].value.validity().grade()
    };
    assert_eq!([u64::MAX - 1, u64::MAX].map(grade), [Grade::Measured, Grade::Suspect]);
}

/// One CBo in each of two sockets counts 100 and 1000 clocks a CBo, eight CBos a socket.
#[test]
fn a_metric_knows_how_many_sockets_it_is_about() {
    let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut selection = Selection::new(e5_2600());
    let cbo = e5_2600().unit("cbo").unwrap();
    selection.add_expression("EACH", cbo, "CLOCKTICKS / (instances / sockets)", UnitOfMeasure::Count).unwrap();
    let plan = Plan::new(&topology, selection).unwrap();
    let sample = sample(&plan);
    assert_eq!(numbers(&plan, &sample, 0, Scope::System), [Some(8800.0 / 8.0)]);
    assert_eq!(numbers(&plan, &sample, 0, Scope::Socket), [Some(100.0), Some(1000.0)]);
    assert_eq!(numbers(&plan, &sample, 0, Scope::Instance)[15], Some(1000.0));
}

/// Table 2-41 prints the formula of one home agent: conflict cycles over time-stamp cycles. Each has 1,000,000 of
/// these; with 100 and 1,000
/// cycles of conflict the mean is 550 in a million, not 1,100. A sum over instances of what adds up is one.
#[test]
fn what_does_not_add_up_is_a_mean_over_instances() {
    let plan = planned("PCT_CYCLES_CONFLICT,MEM_BW_READS");
    let sample = sample(&plan);
    assert_eq!(numbers(&plan, &sample, 0, Scope::Socket), [Some(0.0001), Some(0.001)]);
    assert_eq!(numbers(&plan, &sample, 0, Scope::System), [Some(0.000_55)]);
    assert_eq!(numbers(&plan, &sample, 1, Scope::System), [Some(4400.0 * 64.0)]);
    let quantities: Vec<_> = plan.selection.metrics.iter().map(|metric| metric.quantity.name()).collect();
    assert_eq!(quantities, ["intensive", "extensive", "intensive"]);
}

/// Eight slices on each socket with 100 and 1,000 of each count: a quotient weighs as much as its denominator, a rate
/// as much as its time.
#[test]
fn a_quotient_weighs_as_much_as_its_denominator() {
    let plan = planned("cbo/AVG_INGRESS_LATENCY,MEM_READ_BANDWIDTH");
    let sample = sample(&plan);
    let weights = |metric: usize| {
        let totals = metric_totals(&plan.layout(), &sample, &plan.selection.metrics[metric], Scope::Socket);
        totals.iter().map(|total| total.weight).collect::<Vec<_>>()
    };
    assert_eq!(weights(0), [Some(800.0), Some(8000.0)]);
    assert_eq!(weights(1), [None, None]);
}

#[test]
fn metrics_over_several_units_need_a_socket() {
    let plan = planned("MEM_READ_BANDWIDTH");
    let sample = sample(&plan);
    assert_eq!(numbers(&plan, &sample, 1, Scope::Socket), [Some(100.0 + 400.0), Some(1000.0 + 4000.0)]);
    let alone = metric_totals(&plan.layout(), &sample, &plan.selection.metrics[1], Scope::Instance);
    assert!(alone.iter().all(|total| total.value.validity().to_string().contains("ask for sockets")));
}

#[test]
fn one_unreadable_instance_spoils_its_aggregates_and_no_others() {
    let plan = planned("MEM_READ_BANDWIDTH");
    let mut sample = sample(&plan);
    let event = plan.selection.events.iter().position(|event| event.label == "imc/CAS_COUNT.RD/").unwrap();
    let broken = sample.counts.iter_mut().find(|count| count.event == event && count.socket == 0).unwrap();
    broken.count = None;
    broken.validity = Validity::unreadable("imc0 in socket 0", "reads as all ones");
    assert_eq!(numbers(&plan, &sample, 0, Scope::Socket), [None, Some(4000.0 * 128.0)]);
    let system = metric_totals(&plan.layout(), &sample, &plan.selection.metrics[0], Scope::System);
    assert_eq!(system[0].value.validity().grade(), Grade::Unreadable);
    assert!(system[0].value.validity().to_string().contains("imc0 in socket 0"));
}

/// More rows opened than accesses: counts of different times. The share of hits, 1 - 800,000 / 8,800, is below nothing.
#[test]
fn a_share_that_cannot_be_is_suspect() {
    let plan = planned("PCT_REQUESTS_PAGE_HIT");
    let possible = sample(&plan);
    let metric = &plan.selection.metrics[0];
    let of = |sample: &Sample| metric_totals(&plan.layout(), sample, metric, Scope::System)[0].value.clone();
    let opened = plan.selection.events.iter().position(|event| event.label.contains("ACT_COUNT")).unwrap();
    let mut torn = possible.clone();
    torn.counts.iter_mut().filter(|count| count.event == opened).for_each(|count| count.count = Some(100_000));
    let value = of(&torn);
    assert_eq!(value.validity().grade(), Grade::Suspect);
    assert!(value.number().unwrap() < 0.0 && value.validity().to_string().contains("less than 0"), "{value:?}");
    // Both were counted all the time: no group would mend it.
    let reason = value.validity().to_string();
    assert!(reason.contains("measure longer") && !reason.contains("group") && !reason.contains("turns"), "{reason}");
    let scaled = super::metrics::possible(Value::new(-0.005, Validity::scaled(0.5)), UnitOfMeasure::Percent);
    assert!(scaled.validity().to_string().contains("took turns"), "{scaled:?}");
    assert_ne!(of(&possible).validity().grade(), Grade::Suspect);
}

/// A share of counts that take turns may be off by less than a thousandth, on either side; one of counts that do not may not.
#[test]
fn a_share_of_scaled_counts_ends_at_nothing_and_at_all() {
    let (turns, always) = (Validity::scaled(0.5), Validity::MEASURED);
    for (share, validity, shown, grade) in [
        (1.0005, &turns, 1.0, Grade::Scaled),
        (-0.0005, &turns, 0.0, Grade::Scaled),
        (1.002, &turns, 1.002, Grade::Suspect),
        (-0.002, &turns, -0.002, Grade::Suspect),
        (1.0005, &always, 1.0005, Grade::Suspect),
        (-0.0005, &always, -0.0005, Grade::Suspect),
    ] {
        let value = possible(Value::new(share, validity.clone()), UnitOfMeasure::Percent);
        assert_eq!((value.number(), value.validity().grade()), (Some(shown), grade), "{share}");
    }
}

/// After an overflow the counters stood until somebody looked: counts and their ratios are exact, rates too low.
#[test]
fn a_rate_over_time_in_which_the_counters_stood_is_suspect() {
    let plan = planned("MEM_READ_BANDWIDTH,PCT_REQUESTS_PAGE_HIT");
    let sample = Sample { stood_before_reading: true, ..sample(&plan) };
    let grade = |metric: usize| {
        metric_totals(&plan.layout(), &sample, &plan.selection.metrics[metric], Scope::System)[0]
            .value
            .validity()
            .grade()
    };
    assert_eq!([grade(0), grade(1)], [Grade::Suspect, Grade::Measured]);
}

#[test]
fn an_empty_interval_gives_no_bandwidth() {
    let plan = planned("MEM_READ_BANDWIDTH");
    let sample = Sample { seconds: 0.0, ..sample(&plan) };
    assert_eq!(numbers(&plan, &sample, 0, Scope::System), [None]);
}

/// Socket 0 is stopped after 0.4 s, socket 1 after 0.6 s: each has its own rates, and both together one over the mean, 0.5 s.
#[test]
fn rates_are_over_the_length_of_their_socket() {
    let plan = planned("MEM_READ_BANDWIDTH");
    let length = |seconds: f64| Length { seconds, tsc_cycles: 0 };
    let apart = Sample { sockets: [(0, length(0.4)), (1, length(0.6))].into(), ..sample(&plan) };
    assert_eq!(numbers(&plan, &apart, 0, Scope::Socket), [Some(400.0 * 64.0 / 0.4), Some(4000.0 * 64.0 / 0.6)]);
    assert_eq!(numbers(&plan, &apart, 0, Scope::System), [Some(4400.0 * 64.0 / 0.5)]);
    let event = plan.selection.events.iter().position(|event| event.label == "imc/CAS_COUNT.RD/").unwrap();
    let lengths =
        |scope| event_totals(&apart, event, scope).iter().map(|total| total.length.seconds).collect::<Vec<_>>();
    assert_eq!((lengths(Scope::Socket), lengths(Scope::System)), (vec![0.4, 0.6], vec![0.5]));
}

/// Two quarters of a second with 100 reads each stand for a whole one: 400 reads. They agree, so that their error is
/// the floor for 100 counted, sqrt(100 * 1 * 0.5) / 0.5 = sqrt(200) reads of 64 bytes.
#[test]
fn a_metric_of_scaled_counts_has_their_standard_error() {
    let plan = planned("MEM_READ_BANDWIDTH");
    let mut sample = Sample { seconds: 1.0, ..sample(&plan) };
    for count in &mut sample.counts {
        count.count = Some(400);
        count.validity = Validity::scaled(0.5);
        count.slices.push(0.25, 100);
        count.slices.push(0.25, 100);
        count.standard_error = Some(200_f64.sqrt());
    }
    let totals = metric_totals(&plan.layout(), &sample, &plan.selection.metrics[0], Scope::Instance);
    assert_eq!(totals.len(), 8);
    for total in totals {
        let error = total.standard_error.unwrap();
        assert!((error - 64.0 * 200_f64.sqrt()).abs() < 1e-6, "{error}");
    }
}
