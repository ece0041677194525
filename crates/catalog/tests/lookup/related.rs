//! What stands beside an event: others of its queue, deviations, choices. Names are those of the guide of the E5-2600.

use pericore_catalog::search::related::{choices_about, deviations_about, events, metrics};
use pericore_catalog::search::resolve;
use pericore_catalog::{Family, family};

fn e5_2600() -> &'static Family {
    family("e5-2600").expect("the family is in the catalogue")
}

/// 2.5.8: the queue of pending reads has inserts, cycles not empty and an occupancy; others are of its category.
#[test]
fn events_of_the_same_queue_come_first_and_once() {
    let imc = e5_2600().unit("imc").expect("the unit");
    let inserts = imc.event("RPQ_INSERTS").expect("the event");
    let names = |most| events(imc, inserts, most).iter().map(|event| event.name).collect::<Vec<_>>();
    assert_eq!(names(2), ["RPQ_CYCLES_NE", "RPQ_OCCUPANCY"]);
    let mut all = names(100);
    let found = all.len();
    assert!(found >= 3 && all.contains(&"RPQ_CYCLES_FULL") && !all.contains(&"RPQ_INSERTS"), "{all:?}");
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), found, "each once");
    // Activates have a signal, too, but neither this one nor this category.
    assert!(!all.contains(&"ACT_COUNT") && !all.contains(&"WPQ_INSERTS"), "{all:?}");
}

/// 2.1.1 d of the guide prints another code and another counter in its example than its tables.
#[test]
fn deviations_are_those_of_the_event_and_of_its_subevents() {
    let of = |unit, subject| {
        let rows = deviations_about(e5_2600(), unit, subject);
        rows.iter().map(|row| (row.subject, row.field)).collect::<Vec<_>>()
    };
    let all = of("cbo", "LLC_VICTIMS");
    for field in ["example code", "example counters"] {
        assert!(all.contains(&("LLC_VICTIMS.M_STATE", field)), "{all:?}");
    }
    assert!(of("cbo", "LLC_VICTIMS.M_STATE").contains(&("LLC_VICTIMS.M_STATE", "example code")));
    assert_eq!(of("cbo", "LLC_VICTIM"), [], "no whole name");
    assert_eq!(of("imc", "LLC_VICTIMS"), [], "another unit");
}

/// Choices of all families come with each, those of a unit with that unit only.
#[test]
fn choices_are_those_that_name_the_subject_in_this_unit() {
    let nehalem = family("nehalem").expect("the family is in the catalogue");
    let of =
        |family, unit, subject| choices_about(family, unit, subject).iter().map(|row| row.subject).collect::<Vec<_>>();
    let victims = of(e5_2600(), "cbo", "LLC_VICTIMS");
    assert!(
        victims.contains(&"LLC_VICTIMS.MISS") && victims.contains(&"LLC_VICTIMS and lines in state F"),
        "{victims:?}"
    );
    assert_eq!(of(e5_2600(), "ubox", "LLC_VICTIMS"), [] as [&str; 0], "another unit");
    assert_eq!(of(nehalem, "cbo", "LLC_VICTIMS"), [] as [&str; 0], "another family");
    let edge = "threshold 0 with edge detect or invert";
    assert!(of(nehalem, "uncore", "edge_det").contains(&edge) && of(e5_2600(), "imc", "edge_det").contains(&edge));
}

/// Families that share a block have the same events; equal names of other blocks, and other kinds of thing, are not the
/// same.
#[test]
fn the_same_thing_in_two_families_is_of_one_block_kind_and_name() {
    let of = |name: &str, text: &str| {
        let family = family(name).expect("the family is in the catalogue");
        resolve(&[family], text).into_iter().next().expect("it is found")
    };
    let reads = of("emerald-rapids", "imc/CAS_COUNT.RD/");
    assert!(reads.is_same_as(&of("sapphire-rapids", "imc/CAS_COUNT.RD/")));
    assert!(!reads.is_same_as(&of("e5-2600", "imc/CAS_COUNT.RD/")), "another block");
    assert!(!reads.is_same_as(&of("emerald-rapids", "imc/CAS_COUNT.WR/")), "another name");
    let (unit, register) = (of("emerald-rapids", "imc"), of("emerald-rapids", "imc.ctl0"));
    assert!(!unit.is_same_as(&register) && !reads.is_same_as(&register), "another kind");
}

/// The metrics of a channel's bandwidth are made of its transfers, and nothing of a slice is.
#[test]
fn metrics_of_an_event_name_it() {
    let imc = e5_2600().unit("imc").expect("the unit");
    let of = |event: &str, subevent: &str| {
        let event = imc.event(event).expect("the event");
        let found = metrics(e5_2600(), imc, event, event.subevent(subevent));
        found.iter().map(|(unit, metric)| format!("{}/{}", unit.name, metric.name)).collect::<Vec<_>>()
    };
    let reads = of("CAS_COUNT", "RD");
    assert!(reads.contains(&"imc/MEM_BW_READS".to_owned()), "{reads:?}");
    assert!(!of("CAS_COUNT", "WR").contains(&"imc/MEM_BW_READS".to_owned()));
    let cbo = e5_2600().unit("cbo").expect("the unit");
    let clock = cbo.event("CLOCKTICKS").expect("the event");
    assert!(metrics(e5_2600(), cbo, clock, None).iter().all(|(_, metric)| metric.expression.contains("CLOCKTICKS")));
}
