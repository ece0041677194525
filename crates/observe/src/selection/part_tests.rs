//! Parts of selections, and when counts and settings are the same. Codes are those of the guide's tables.

use super::*;
use crate::testing::e5_2600;

fn select(events: &str, metrics: &str) -> Selection {
    let mut selection = Selection::new(e5_2600());
    selection.add_events(events).unwrap();
    if !metrics.is_empty() {
        selection.add_metrics(metrics).unwrap();
    }
    selection
}

/// The events of one unit keep their names, their order, their groups and what they repeat; metrics go where their
/// events are.
#[test]
fn a_part_is_what_the_whole_counts_in_some_units() {
    let events = "imc/CAS_COUNT.RD/,{cbo/COUNTER0_OCCUPANCY,thresh=1/,cbo/RxR_OCCUPANCY.IRQ/},imc/ACT_COUNT/";
    let whole = select(events, "imc/MEM_BW_TOTAL,imc/MEM_BW_READS");
    let of = |unit: &'static str| whole.part(|known| known.name == unit);
    let listed = |part: &SelectionPart| {
        let listed = part.selection.listed.iter();
        listed.map(|listed| (listed.label.clone(), listed.event, listed.group)).collect::<Vec<_>>()
    };
    let labels = |part: &SelectionPart| {
        let whole: Vec<&str> = part.events.iter().map(|&event| whole.events[event].label.as_str()).collect();
        let own: Vec<&str> = part.selection.events.iter().map(|event| event.label.as_str()).collect();
        assert_eq!(own, whole);
        own.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let cbo = of("cbo");
    assert_eq!(labels(&cbo), ["cbo/RxR_OCCUPANCY.IRQ/", "cbo/COUNTER0_OCCUPANCY,thresh=1/"]);
    let [echo, occupancy] = ["cbo/COUNTER0_OCCUPANCY,thresh=1/", "cbo/RxR_OCCUPANCY.IRQ/"].map(str::to_owned);
    assert_eq!(listed(&cbo), [(echo, 1, Some(0)), (occupancy, 0, Some(0))]);
    assert_eq!(cbo.selection.events[1].programming().unwrap().companion, Some(0));
    assert!(cbo.selection.metrics.is_empty());
    let imc = of("imc");
    assert_eq!(labels(&imc), ["imc/CAS_COUNT.RD/", "imc/ACT_COUNT/", "imc/CAS_COUNT.WR/"]);
    let [reads, acts] = ["imc/CAS_COUNT.RD/", "imc/ACT_COUNT/"].map(str::to_owned);
    assert_eq!(listed(&imc), [(reads, 0, None), (acts, 1, None)]);
    let inputs: Vec<Vec<usize>> = imc
        .selection
        .metrics
        .iter()
        .map(|metric| {
            let mut inputs: Vec<usize> = metric.inputs.iter().map(|(_, event)| *event).collect();
            inputs.sort_unstable();
            inputs
        })
        .collect();
    assert_eq!(inputs, [vec![0, 2], vec![0]]);
    let none = of("qpi");
    assert!(none.events.is_empty() && none.selection.events.is_empty() && none.selection.listed.is_empty());
}

/// A filter is one field of a register with one value: opcode 0x182 is DRd, 0x187 another one, and the NID's 2 is not
/// the state's 2.
#[test]
fn settings_are_the_same_if_field_and_value_are() {
    let cbo = e5_2600().unit("cbo").unwrap();
    let setting = |name: &str, value| {
        let (register, field) = cbo.filter_field(name).unwrap();
        FilterSetting { register, field, value }
    };
    assert!(setting("opc", 0x182) == setting("opc", 0x182));
    for (one, other) in [
        (setting("opc", 0x182), setting("opc", 0x187)),
        (setting("nid", 2), setting("state", 2)),
        (setting("nid", 2), setting("state", 1)),
    ] {
        assert!(one != other, "{one:?} and {other:?}");
    }
}

/// What is the same count is made once, however it is written; what differs in one thing is another.
#[test]
fn equal_counts_are_made_once_and_others_are_not() {
    for (events, counts) in [
        ("cbo/TOR_INSERTS.OPCODE,opc=DRd/,cbo/TOR_INSERTS.OPCODE,opc=0x182/", 1),
        ("cbo/TOR_INSERTS.OPCODE,opc=DRd/,cbo/TOR_INSERTS.OPCODE,opc=0x187/", 2),
        ("cbo/TOR_INSERTS.OPCODE,opc=DRd/,cbo/TOR_OCCUPANCY.OPCODE,opc=DRd/", 2),
        ("cbo/LLC_LOOKUP.DATA_READ,state=0x1/,cbo/LLC_LOOKUP.DATA_READ,state=0x2/", 2),
        ("cbo/LLC_LOOKUP.DATA_READ,state=0x1/,cbo/LLC_LOOKUP.DATA_READ,state=0x1,tid=1/", 2),
        ("cbo/CLOCKTICKS/,cbo/CLOCKTICKS,thresh=1/", 2),
        ("cbo/CLOCKTICKS/,cbo1/CLOCKTICKS/,cbo2/CLOCKTICKS/,cbo1/CLOCKTICKS/", 3),
        ("cbo/CLOCKTICKS/,ha/CLOCKTICKS/,pcu/CLOCKTICKS/", 3),
        ("imc/DCLK_FIXED/,imc/DCLK_FIXED/,imc1/DCLK_FIXED/", 2),
        ("imc/DCLK_FIXED/,imc/CLOCKTICKS/,ubox/UCLK_FIXED/", 3),
    ] {
        assert_eq!(select(events, "").events.len(), counts, "{events}");
    }
}

/// Groups of a later addition get numbers of their own.
#[test]
fn groups_are_numbered_through_all_additions() {
    let mut selection = select("{imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/},imc/ACT_COUNT/,{ha/CLOCKTICKS/}", "");
    selection.add_events("cbo/CLOCKTICKS/,{imc/CAS_COUNT.RD/,cbo/CLOCKTICKS/}").unwrap();
    let groups: Vec<Option<usize>> = selection.listed.iter().map(|listed| listed.group).collect();
    assert_eq!(groups, [Some(0), Some(0), None, Some(1), None, Some(2), Some(2)]);
    let used = ["imc", "ha", "cbo", "qpi", "ubox"].map(|unit| selection.uses(e5_2600().unit(unit).unwrap()));
    assert_eq!(used, [true, true, true, false, false]);
}

/// An echo repeats an event of its group, or else the only occupancy of its unit; not that of another instance, and
/// none of several.
#[test]
fn an_echo_repeats_the_one_event_that_can_be_meant() {
    let companion = |events: &str| {
        let mut selection = Selection::new(e5_2600());
        selection.add_events(events).map_err(|error| error.to_string())?;
        let echo = selection.events.iter().find(|event| event.measure() == Some(Measure::Counter0)).unwrap();
        Ok::<String, String>(selection.events[echo.programming().unwrap().companion.unwrap()].label.clone())
    };
    let echo = "cbo/COUNTER0_OCCUPANCY,thresh=1/";
    for (events, repeated) in [
        (format!("cbo/RxR_OCCUPANCY.IRQ/,{echo}"), "cbo/RxR_OCCUPANCY.IRQ/"),
        (format!("{echo},cbo/RxR_OCCUPANCY.IRQ/,cbo/TOR_INSERTS.MISS_ALL/"), "cbo/RxR_OCCUPANCY.IRQ/"),
        (format!("cbo/TOR_OCCUPANCY.ALL/,{{cbo/RxR_OCCUPANCY.IRQ/,{echo}}}"), "cbo/RxR_OCCUPANCY.IRQ/"),
        // Of the group the occupancy, where there is one.
        (format!("{{cbo/CLOCKTICKS/,cbo/RxR_OCCUPANCY.IRQ/,{echo}}}"), "cbo/RxR_OCCUPANCY.IRQ/"),
        (format!("{{cbo/CLOCKTICKS/,{echo}}}"), "cbo/CLOCKTICKS/"),
        ("cbo/RxR_OCCUPANCY.IRQ/,cbo3/COUNTER0_OCCUPANCY,thresh=1/".to_owned(), "cbo/RxR_OCCUPANCY.IRQ/"),
    ] {
        assert_eq!(companion(&events).as_deref(), Ok(repeated), "{events}");
    }
    for (events, words) in [
        (format!("cbo/CLOCKTICKS/,{echo}"), "no event for it is chosen"),
        (format!("cbo3/RxR_OCCUPANCY.IRQ/,{echo}"), "no event for it is chosen"),
        (format!("cbo/RxR_OCCUPANCY.IRQ/,cbo/TOR_OCCUPANCY.ALL/,{echo}"), "several events could be meant"),
        (format!("{{cbo/RxR_OCCUPANCY.IRQ/,cbo/TOR_OCCUPANCY.ALL/,{echo}}}"), "several events could be meant"),
    ] {
        let refused = companion(&events).unwrap_err();
        assert!(refused.contains(words), "{events}: {refused}");
    }
}
