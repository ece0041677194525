//! The command lines that `explain` proposes are ones that `stat` takes: every event's text parses, with all that it needs.

use pericore_catalog::{Event, Family, FilterNeed, Role, Subevent, Unit, encode, families};
use pericore_observe::selection::{EventSource, Selection};

fn events() -> impl Iterator<Item = (&'static Family, &'static Unit, &'static Event, Option<&'static Subevent>)> {
    families().flat_map(|family| {
        family.units.iter().flat_map(move |unit| {
            unit.events.iter().flat_map(move |event| {
                let subevents = event.subevents.iter().map(move |subevent| (family, *unit, event, Some(subevent)));
                std::iter::once((family, *unit, event, None)).chain(subevents)
            })
        })
    })
}

#[test]
fn every_events_text_selects_it() {
    let mut wrong = Vec::new();
    for (family, unit, event, subevent) in events() {
        let text = encode::event_text(unit, event, subevent);
        let mut selection = Selection::new(family);
        if let Err(error) = selection.add_events(&text) {
            wrong.push(format!("{} {text}: {error}", family.name));
            continue;
        }
        let wanted = subevent.map(|subevent| subevent.name);
        let is_it = |source: &EventSource| match source {
            EventSource::Programmed(programming) => {
                let same_event = programming.event.is_some_and(|found| found.name == event.name);
                same_event && (wanted.is_none() || programming.subevent.map(|found| found.name) == wanted)
            }
            EventSource::Fixed(_) | EventSource::FreeRunning { .. } => false,
        };
        if !selection.events.iter().any(|selected| is_it(&selected.source)) {
            wrong.push(format!("{} {text} selects something else", family.name));
        }
    }
    assert!(wrong.is_empty(), "{} texts are wrong:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

#[test]
fn fixed_and_free_running_counters_have_texts_too() {
    for family in families() {
        for unit in family.units {
            let registers = unit.with_role(Role::FixedCounter).chain(unit.with_role(Role::FreeRunning));
            for register in registers {
                for member in 0..register.count {
                    let text = encode::fixed_text(unit, register, member);
                    let mut selection = Selection::new(family);
                    selection.add_events(&text).unwrap_or_else(|error| panic!("{} {text}: {error}", family.name));
                }
            }
        }
    }
}

/// A required filter gets the value that the unit's metrics use, where they use one: 2.3.8 of the E5-2600 guide counts
/// demand reads, 0x182 in Table 2-13.
#[test]
fn required_filters_get_a_sensible_value() {
    let family = pericore_catalog::family("e5-2600").unwrap();
    let cbo = family.unit("cbo").unwrap();
    let event = cbo.event("TOR_INSERTS").unwrap();
    assert_eq!(encode::event_text(cbo, event, event.subevent("OPCODE")), "cbo/TOR_INSERTS.OPCODE,opc=0x182/");
    let both = encode::event_text(cbo, event, event.subevent("NID_OPCODE"));
    assert_eq!(both, "cbo/TOR_INSERTS.NID_OPCODE,opc=0x182,nid=0x1/");
    let repeated = cbo.event("COUNTER0_OCCUPANCY").unwrap();
    assert!(encode::event_text(cbo, repeated, None).starts_with('{'), "it needs a companion");
    let needs = |subevent: &&Subevent| subevent.filters.iter().any(|used| used.need == FilterNeed::Required);
    assert!(event.subevents.iter().filter(needs).count() > 3);
}
