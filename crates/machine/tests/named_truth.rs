//! Whatever a model counts has a name in the truth: who counts it is told what really happened.

use std::collections::BTreeSet;

use pericore_catalog::{FilterNeed, FilterUse};
use pericore_machine::ledger::Question;
use pericore_machine::workload::{Scenario, Workload};
use pericore_machine::{Machine, MachineSpec};

/// Selections that the truth has no figure for yet: matches of an address or an opcode that only the filter's value
/// names, halves of one count.
const UNNAMED: [&str; 3] =
    ["uncore/ADDR_OPCODE_MATCH.IOH", "uncore/ADDR_OPCODE_MATCH.LOCAL", "uncore/ADDR_OPCODE_MATCH.REMOTE"];

/// The truth has a figure of every event and subevent of the software machine, in the first instance of its unit.
#[test]
fn what_is_modelled_has_a_truth() {
    let mut unnamed = BTreeSet::new();
    for (name, least) in [("nehalem", 150), ("e5-2600:sockets=2", 400), ("emerald-rapids:sockets=2", 2900)] {
        let spec = MachineSpec::parse(name).expect("a machine");
        let scenario =
            Scenario::from(Workload::parse("stream:requests=64", &spec.limits().expect("limits")).expect("a workload"));
        let snapshot = Machine::for_scenario(&spec, &scenario).expect("it is built").snapshot();
        let family = spec.family();
        let modelled = pericore_machine::modelled(family).expect("it has a model");
        let mut requests = 0;
        for (index, unit) in family.units.iter().enumerate().filter(|(_, unit)| unit.instances > 0) {
            for event in unit.events.iter().filter(|event| event.signal.is_some()) {
                let own = event.subevents.is_empty().then_some((None, event.filters));
                let subevents = event.subevents.iter().map(|subevent| (Some(subevent), subevent.filters));
                for (subevent, filters) in own.into_iter().chain(subevents) {
                    if !modelled.is_modelled(index, event, subevent) {
                        continue;
                    }
                    requests += 1;
                    let of = subevent.map_or("", |subevent| subevent.name);
                    let filters: Vec<(&str, u64)> = filters.iter().filter_map(value).collect();
                    let question = Question::new(unit.name, event.name).subevent(Some(of)).filtered(&filters);
                    if snapshot.count(0, 0, question).is_none() {
                        unnamed.insert(format!("{}/{}.{of}", unit.name, event.name));
                    }
                }
            }
        }
        assert!(requests >= least, "{name}: {requests} selections");
    }
    assert_eq!(unnamed, UNNAMED.map(str::to_owned).into());
}

/// What a filter is set to that an event needs.
fn value(filter: &FilterUse) -> Option<(&'static str, u64)> {
    match filter.need {
        FilterNeed::Required => Some((filter.field, 1)),
        FilterNeed::Default(value) => Some((filter.field, value)),
        FilterNeed::Optional => None,
    }
}
