//! Settings, labels and refusals of events, by the fields of the guide's tables: en 22, invert 23, thresh 31:24,
//! edge_det 18, tid_en 19, umask 15:8, ev_sel 7:0.

use super::*;
use crate::testing::e5_2600;

fn select(text: &str) -> Selection {
    let mut selection = Selection::new(e5_2600());
    selection.add_events(text).unwrap_or_else(|error| panic!("{}\n{error}", error.caret()));
    selection
}

/// Where the carets of an error begin, and how many there are.
fn mark(error: &SelectionError) -> (usize, usize) {
    let printed = error.caret();
    let carets = printed.lines().last().unwrap();
    (carets.find('^').unwrap(), carets.matches('^').count())
}

#[test]
fn perfs_words_set_the_fields_that_they_mean() {
    for (text, control) in [
        ("cbo/CLOCKTICKS,edge/", 1 << 18),
        ("cbo/CLOCKTICKS,edge_det=1/", 1 << 18),
        ("cbo/CLOCKTICKS,edge=0/", 0),
        ("cbo/CLOCKTICKS,inv,cmask=3/", 1 << 23 | 3 << 24),
        ("cbo/CLOCKTICKS,invert=1,thresh=0xff/", 1 << 23 | 0xff << 24),
        ("cbo/CLOCKTICKS,inv,invert=1/", 1 << 23),
        ("cbo/event=0x34,umask=0x11,filter_state=0x1F/", 0x1134),
        ("cbo/LLC_LOOKUP,umask=0x3,state=1/", 0x334),
        ("imc/config=0x400304/", 0x304),
        ("imc/config=0x84000304/", 0x8400_0304),
        ("imc/config=0x304,thresh=2/", 0x200_0304),
        ("cbo/TOR_INSERTS.OPCODE,opc=DRd,tid=3/", 0x8_0135),
    ] {
        assert_eq!(select(text).events[0].programming().unwrap().control, control, "{text}");
    }
}

/// A filter that the event may have and the user did not set is set to 0; one with a switch of its own stays off.
#[test]
fn filters_that_are_not_set_have_their_values() {
    for (text, filters) in [
        ("cbo/LLC_LOOKUP.DATA_READ/", &[("state", 0x1f)][..]),
        ("cbo/LLC_LOOKUP.DATA_READ,state=0x3/", &[("state", 3)]),
        ("cbo/LLC_LOOKUP.DATA_READ,state=0x3,tid=5/", &[("state", 3), ("tid", 5)]),
        ("cbo/TOR_INSERTS.OPCODE,opc=0x187/", &[("opc", 0x187)]),
        ("cbo/TOR_INSERTS.OPCODE,filter_opc=0x187,opc=0x187/", &[("opc", 0x187)]),
        ("cbo/CLOCKTICKS/", &[]),
    ] {
        let selection = select(text);
        let found = &selection.events[0].programming().unwrap().filters;
        let found: Vec<_> = found.iter().map(|filter| (filter.field.name, filter.value)).collect();
        assert_eq!(found, filters, "{text}");
    }
}

/// The mark stands under what is wrong: the value or the key.
#[test]
fn a_setting_that_cannot_be_is_marked_in_its_place() {
    for (text, marked, words) in [
        ("cbo/CLOCKTICKS,thresh=0x100/", "0x100", "0x100 does not fit thresh, which holds at most 0xff"),
        ("cbo/CLOCKTICKS,thresh=many/", "many", "thresh has no value \"many\"; write a number"),
        ("cbo/CLOCKTICKS,thresh=1,cmask=2/", "2", "thresh is set to 0x1 and to 0x2; keep one"),
        ("cbo/TOR_INSERTS.OPCODE,opc=DRd,opc=0x1/", "0x1", "opc is set to 0x182 and to 0x1; keep one"),
        ("cbo/CLOCKTICKS,rst=1/", "rst", "rst is set by the session itself"),
        ("cbo/CLOCKTICKS,en=1/", "en", "en is set by the session itself"),
        ("cbo/CLOCKTICKS,nothing=1/", "nothing", "cbo has no field or filter \"nothing\""),
        ("cbo/event=x/", "x", "event has no value \"x\""),
        ("imc/config=0x100304/", "0x100304", "config=0x100304 sets bits 0x100000 of the control register of imc"),
        ("imc/event=0x104/", "0x104", "0x104 does not fit event, which holds at most 0xff"),
        ("imc/DCLK_FIXED,thresh=1/", "thresh", "imc has no field or filter \"thresh\"; its keys are none here"),
        ("imc/CAS_COUNT.RD,ACT_COUNT/", "ACT_COUNT", "one event is chosen already"),
        ("imc/thresh=1/", "imc/thresh=1/", "no event is chosen"),
        ("imc/CAS_COUNT/", "imc/CAS_COUNT/", "CAS_COUNT needs a subevent or a umask; it has"),
        ("cbo/TOR_INSERTS.OPCODE/", "cbo/TOR_INSERTS.OPCODE/", "TOR_INSERTS.OPCODE needs the filter opc; add opc="),
        ("imc/CLOCKTICKS,opc=1/", "opc", "imc has no field or filter \"opc\""),
        ("cbo/CLOCKTICKS,opc=1/", "opc", "CLOCKTICKS does not take the filter opc; it takes none"),
        ("cbo9/CLOCKTICKS/", "cbo9", "cbo has 8 instances in a socket, numbered from 0; 9 is too high"),
        ("nobody/CLOCKTICKS/", "nobody", "e5-2600 has no unit \"nobody\""),
        ("imc/CAS_*.NOPE/", "CAS_*.NOPE", "imc has no event \"CAS_*.NOPE\""),
        ("ha/CLOCKTICKS/,imc/NOPE/", "NOPE", "imc has no event \"NOPE\""),
    ] {
        let error = Selection::new(e5_2600()).add_events(text).unwrap_err();
        let (offset, length) = mark(&error);
        assert_eq!(&text[offset..offset + length], marked, "{text}: {error}");
        assert!(error.to_string().contains(words), "{text}: {error}");
    }
}

/// A label says everything once, and what a code means where the guide has a name for it.
#[test]
fn labels_name_what_is_counted() {
    for (text, label) in [
        ("UNC_M_CAS_COUNT.RD", "imc/CAS_COUNT.RD/"),
        ("uncore_imc_2/event=0x4,umask=0x3/", "imc2/CAS_COUNT.RD/"),
        ("imc/config=0x304/", "imc/CAS_COUNT.RD/"),
        ("imc/config=0x2000304/", "imc/CAS_COUNT.RD,config=0x2000304/"),
        ("imc/event=0xee,umask=0x1/", "imc/event=0xee,umask=0x1/"),
        ("imc/CAS_COUNT,umask=0x3/", "imc/CAS_COUNT,umask=0x3/"),
        ("cbo3/CLOCKTICKS,edge,thresh=0x1/", "cbo3/CLOCKTICKS,edge=0x1,thresh=0x1/"),
        ("cbo/TOR_INSERTS.OPCODE,opc=DRd/", "cbo/TOR_INSERTS.OPCODE,opc=DRd/"),
        ("imc1/dclk_fixed/", "imc1/DCLK_FIXED/"),
    ] {
        assert_eq!(select(text).events[0].label, label, "{text}");
    }
    let named = select("imc/CAS_COUNT.RD,name=reads/,imc/ACT_COUNT/");
    let labels: Vec<&str> = named.listed.iter().map(|listed| listed.label.as_str()).collect();
    assert_eq!(labels, ["reads", "imc/ACT_COUNT/"]);
}

/// `*` stands for events whose names fit, with subevents where they have any, and what stands around it for each.
#[test]
fn a_pattern_is_all_events_that_fit() {
    let labels = |text: &str| select(text).listed.iter().map(|listed| listed.label.clone()).collect::<Vec<_>>();
    let reads = labels("imc/CAS_COUNT.RD*/");
    assert!(reads.contains(&"imc/CAS_COUNT.RD/".to_owned()) && reads.len() > 1, "{reads:?}");
    assert!(reads.iter().all(|label| label.starts_with("imc/CAS_COUNT.RD")), "{reads:?}");
    assert_eq!(labels("imc2/ACT_C*,thresh=0x1/"), ["imc2/ACT_COUNT,thresh=0x1/"]);
    let around = labels("ha/CLOCKTICKS/,imc/ACT_*/,cbo/CLOCKT*/");
    assert_eq!(around, ["ha/CLOCKTICKS/", "imc/ACT_COUNT/", "cbo/CLOCKTICKS/"]);
    // What needs a filter is left out unless the text gives it.
    assert!(labels("cbo/TOR_INSERTS.*/").iter().all(|label| !label.contains(".OPCODE")));
    let given = labels("cbo/TOR_INSERTS.OPC*,opc=DRd/");
    assert_eq!(given, ["cbo/TOR_INSERTS.OPCODE,opc=DRd/"]);
}

/// The places of metrics in a list: spaces do not count, and commas in braces separate settings.
#[test]
fn a_list_of_metrics_has_its_places() {
    let mut selection = Selection::new(e5_2600());
    selection.add_metrics(" imc/MEM_BW_READS ,\tMEM_BW_WRITES").unwrap();
    let names: Vec<&str> = selection.metrics.iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!(names, ["MEM_BW_READS", "MEM_BW_WRITES"]);
    for (text, offset, length) in [
        ("imc/MEM_BW_READS ,  NOPE ", 20, 4),
        ("NOPE", 0, 4),
        ("MEM_BW_READS,,MEM_BW_WRITES", 13, 1),
        ("pcu/PCT_FREQ_BAND0{band0=1,tid=2},NOPE", 0, 33),
        ("MEM_BW_READS+1", 0, 14),
    ] {
        let error = Selection::new(e5_2600()).add_metrics(text).unwrap_err();
        assert_eq!(mark(&error), (offset, length), "{text}: {error}");
    }
}
