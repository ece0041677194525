//! What a control value counts and how it shapes the count.

use pericore_catalog::decode::{self, Counted, Decoded, selecting_bits};
use pericore_catalog::{Event, Family, Role, encode};

use crate::{e5_2600, emerald_rapids, register_of};

fn decoded(family: &'static Family, unit: &str, value: u64) -> Decoded {
    let (unit, control) = register_of(family, unit, "ctl");
    decode::register(family, unit, control, 0, value).unwrap()
}

fn counted(family: &'static Family, unit: &str, value: u64) -> Counted {
    decoded(family, unit, value).counts(|_| None).unwrap_or_else(|| panic!("{unit} {value:#x} counts nothing"))
}

/// `EVENT.SUBEVENT+SUBEVENT`, `(…)` if inexact, `&CONDITION`.
fn text(family: &'static Family, unit: &str, value: u64) -> String {
    let Some(counted) = decoded(family, unit, value).counts(|_| None) else { return "-".to_owned() };
    let subevents: Vec<&str> = counted.subevents.iter().map(|subevent| subevent.name).collect();
    let condition = counted.condition.map_or_else(String::new, |event: &Event| format!("&{}", event.name));
    let text = format!("{}.{}{condition}", counted.event.name, subevents.join("+"));
    if counted.is_exact { text } else { format!("({text})") }
}

/// Tables 2-10, 2-17 and 2-30 of the E5-2600's guide; Table 2-75 for the power unit, Table 2-86 for the link's bit 21.
#[test]
fn bits_select_events_and_their_subevents() {
    for (unit, value, selected) in [
        ("cbo", 0x40_0137, "LLC_VICTIMS.M_STATE"),
        ("cbo", 0x40_0237, "LLC_VICTIMS.E_STATE"),
        // Shape, enable and reset do not select.
        ("cbo", 0xffce_0137, "LLC_VICTIMS.M_STATE"),
        ("cbo", 0x40_0737, "(LLC_VICTIMS.M_STATE+E_STATE+S_STATE)"),
        ("cbo", 0x40_0037, "(LLC_VICTIMS.)"),
        ("cbo", 0x40_8037, "(LLC_VICTIMS.)"),
        ("cbo", 0x40_0000, "CLOCKTICKS."),
        // MISS_OPCODE has both its bits: OPCODE, which is a part of it, is not told beside it.
        ("cbo", 0x40_0335, "TOR_INSERTS.MISS_OPCODE"),
        ("cbo", 0x40_1335, "(TOR_INSERTS.WB+MISS_OPCODE)"),
        ("cbo", 0x40_00ee, "-"),
        ("pcu", 0x0140_4080, "POWER_STATE_OCCUPANCY.CORES_C0"),
        ("pcu", 0x0140_8080, "POWER_STATE_OCCUPANCY.CORES_C3"),
        ("pcu", 0x0140_0080, "(POWER_STATE_OCCUPANCY.)"),
        ("pcu", 0x0140_c08b, "(POWER_STATE_OCCUPANCY.CORES_C6&FREQ_BAND0_CYCLES)"),
        ("pcu", 0x40_000b, "FREQ_BAND0_CYCLES."),
        ("qpi", 0x60_0802, "RxL_FLITS_G1.DRS_DATA"),
        ("qpi", 0x40_0801, "(RxL_FLITS_G0.)"),
        ("qpi", 0x40_0001, "(RxL_FLITS_G0.)"),
    ] {
        assert_eq!(text(e5_2600(), unit, value), selected, "{unit} {value:#x}");
    }
    assert!(!text(e5_2600(), "qpi", 0x40_0802).contains("RxL_FLITS_G1"), "bit 21 is part of the code");
    let (unit, counter) = register_of(e5_2600(), "cbo", "ctr");
    assert!(decode::register(e5_2600(), unit, counter, 0, 0x137).unwrap().counts(|_| None).is_none());
}

/// Intel's event file of Emerald Rapids, 1.24: TOR_INSERTS.IA_MISS_DRD is umask 0x01 with extension 0xC817FE, opcode 0x02 of 53:43 in it.
#[test]
fn fields_of_an_event_are_told_with_it() {
    let value = 0x00c8_17fe_0000_0135;
    assert_eq!(text(emerald_rapids(), "cha", value), "TOR_INSERTS.IA_MISS_DRD");
    let found = counted(emerald_rapids(), "cha", value);
    let field = |name: &str| found.overlaid.iter().find(|field| field.field.name == name).map(|field| field.value);
    // 0xC817FE is 1100_1000_0001_0111_1111_1110: bits 33 to 42 but 40 (remote) and 43 are 1.
    let wanted = [("hit", 0), ("miss", 1), ("ddr", 1), ("loc", 1), ("rem", 0), ("match_opc", 0), ("premorph_opc", 0)];
    let bits = |name: &str| match name {
        "hit" => value >> 32 & 1,
        "miss" => value >> 33 & 1,
        "ddr" => value >> 34 & 1,
        "loc" => value >> 39 & 1,
        "rem" => value >> 40 & 1,
        "match_opc" => value >> 41 & 1,
        _ => value >> 42 & 1,
    };
    for (name, _) in wanted {
        assert_eq!(field(name), Some(bits(name)), "{name}");
    }
    assert_eq!(field("opc"), Some(value >> 43 & 0x7ff));
    assert_eq!((found.unnamed, field("nothing")), (0, None));
    // Another opcode is no row's; its bits are the event's fields, and so are known.
    let other = counted(emerald_rapids(), "cha", value ^ 1 << 50);
    assert_eq!((other.is_exact, other.unnamed, other.event.name), (false, 0, "TOR_INSERTS"));
}

#[test]
fn counters_and_unnamed_bits_are_told() {
    // 2.3.7: LLC_VICTIMS on counters 0 and 1, TOR_OCCUPANCY on 0 alone, the repeated occupancy on 1 to 3.
    for (value, counters) in [(0x137, 0b11), (0x737, 0b11), (0x336, 0b1), (0x1f, 0b1110), (0x00, 0b1111)] {
        assert_eq!(counted(e5_2600(), "cbo", value).counters, counters, "{value:#x}");
    }
    for (value, unnamed) in [(0x137, 0), (0x8037, 0x8000), (0x8137, 0x8000), (0xa037, 0xa000)] {
        assert_eq!(counted(e5_2600(), "cbo", value).unnamed, unnamed, "{value:#x}");
    }
    assert_eq!(counted(e5_2600(), "pcu", 0x0140_408b).unnamed, 0);
}

/// Table 2-12: opc 31:23, nid 17:10, tid 4:0. The thread's counts only with bit 19 of the control (Table 2-10).
#[test]
fn filters_have_the_values_of_their_register() {
    let values = |value, filter: Option<u64>| {
        let counted = decoded(e5_2600(), "cbo", value).counts(|register| filter.filter(|_| register.name == "filter"));
        let filters = counted.unwrap().filters.into_iter();
        filters.map(|filter| (filter.register.name, filter.field.name, filter.value)).collect::<Vec<_>>()
    };
    let filter = Some(0x182 << 23 | 0x05 << 10 | 0x1e);
    assert_eq!(
        values(0x0008_4135, filter),
        [("filter", "opc", Some(0x182)), ("filter", "nid", Some(5)), ("filter", "tid", Some(0x1e))]
    );
    assert_eq!(values(0x4135, filter), [("filter", "opc", Some(0x182)), ("filter", "nid", Some(5))]);
    assert_eq!(values(0x0135, None), [("filter", "opc", None)]);
    assert_eq!(values(0x0037, filter), []);
}

#[test]
fn a_control_value_shapes_its_count() {
    let shape = |family, unit, value| {
        let shape = decoded(family, unit, value).shape();
        (shape.enabled, shape.threshold, shape.invert, shape.edge, shape.one_thread)
    };
    assert_eq!(shape(e5_2600(), "cbo", 0x0000_0037), (false, 0, false, false, false));
    assert_eq!(shape(e5_2600(), "cbo", 0x0040_0000), (true, 0, false, false, false));
    assert_eq!(shape(e5_2600(), "cbo", 0x0100_0037), (false, 1, false, false, false));
    assert_eq!(shape(e5_2600(), "cbo", 0x0080_0037), (false, 0, true, false, false));
    assert_eq!(shape(e5_2600(), "cbo", 0x0004_0037), (false, 0, false, true, false));
    assert_eq!(shape(e5_2600(), "cbo", 0x0008_0037), (false, 0, false, false, true));
    assert_eq!(shape(e5_2600(), "cbo", 0xffc0_0037), (true, 0xff, true, false, false));
    // Without an enable bit whatever selects an event counts.
    assert_eq!(shape(emerald_rapids(), "cha", 0x0000_0135), (true, 0, false, false, false));
    assert_eq!(shape(emerald_rapids(), "cha", 0x0001_0100), (false, 0, false, false, true));
}

/// Tables 2-10 and 2-75 of the E5-2600's guide, Table 2-73 of Emerald Rapids'.
#[test]
fn the_bits_that_select_are_those_of_event_umask_and_extension() {
    let bits = |family, unit| selecting_bits(register_of(family, unit, "ctl").1);
    assert_eq!(bits(e5_2600(), "cbo"), 0xffff);
    assert_eq!(bits(e5_2600(), "pcu"), 0x20_c0ff);
    assert_eq!(bits(e5_2600(), "qpi"), 0x20_ffff);
    assert_eq!(bits(emerald_rapids(), "cha"), 0xffff_ffff_0000_ffff);
}

/// What a user can copy to the command line.
#[test]
fn texts_of_events_have_what_they_need() {
    let text = |unit: &str, event: &str, subevent: &str| {
        let unit = e5_2600().unit(unit).unwrap();
        let event = unit.event(event).unwrap();
        encode::event_text(unit, event, event.subevent(subevent))
    };
    assert_eq!(text("cbo", "CLOCKTICKS", ""), "cbo/CLOCKTICKS/");
    assert_eq!(text("cbo", "LLC_VICTIMS", "E_STATE"), "cbo/LLC_VICTIMS.E_STATE/");
    assert_eq!(text("cbo", "LLC_VICTIMS", ""), "cbo/LLC_VICTIMS.M_STATE/");
    // The first subevent that needs no filter.
    assert_eq!(text("cbo", "TOR_INSERTS", ""), "cbo/TOR_INSERTS.EVICTION/");
    assert_eq!(text("cbo", "TOR_INSERTS", "NID_ALL"), "cbo/TOR_INSERTS.NID_ALL,nid=0x1/");
    // 2.3.2.1: counter 0 has an occupancy.
    let pair = text("cbo", "COUNTER0_OCCUPANCY", "");
    assert!(
        pair.starts_with("{cbo/") && pair.contains("OCCUPANCY") && pair.ends_with("/,cbo/COUNTER0_OCCUPANCY/}"),
        "{pair}"
    );
    let imc = e5_2600().unit("imc").unwrap();
    let fixed = imc.register(Role::FixedCounter).unwrap();
    assert_eq!(encode::fixed_text(imc, fixed, 0), "imc/DCLK_FIXED/");
    let cbo = e5_2600().unit("cbo").unwrap();
    assert_eq!(
        encode::metric_event_texts(
            cbo,
            "TOR_INSERTS.OPCODE{opc=DRd,nid=0x1f} / imc/CAS_COUNT.RD * seconds + CLOCKTICKS"
        ),
        ["cbo/TOR_INSERTS.OPCODE,opc=DRd,nid=0x1f/", "imc/CAS_COUNT.RD/", "cbo/CLOCKTICKS/"]
    );
    assert_eq!(encode::metric_event_texts(cbo, "1 +"), Vec::<String>::new());
    let settings = |expression: &str| encode::metric_settings(cbo, expression);
    assert_eq!(settings("TOR_INSERTS.OPCODE / seconds"), ["opc=0x182"]);
    assert_eq!(settings("TOR_INSERTS.NID_OPCODE{opc=RFO} + TOR_INSERTS.NID_ALL"), ["nid=0x1"]);
    assert_eq!(settings("TOR_INSERTS.OPCODE{opc=RFO} + CLOCKTICKS"), Vec::<String>::new());
    // Another unit's event is another unit's matter.
    assert_eq!(settings("ha/TOR_INSERTS.OPCODE"), Vec::<String>::new());
    assert_eq!(settings("("), Vec::<String>::new());
}

/// What `explain` proposes counts as it is: a filter that the event needs has a value, and a repeated occupancy is on
/// counter 0.
#[test]
fn proposed_events_have_their_filters_and_companions() {
    let text = |unit: &str, event: &str| {
        let unit = e5_2600().unit(unit).expect("the unit");
        encode::event_text(unit, unit.event(event).expect("the event"), None)
    };
    // Table 2-76: the bounds of the bands are filters.
    assert!(
        text("pcu", "FREQ_BAND0_CYCLES").starts_with("pcu/FREQ_BAND0_CYCLES,band0="),
        "{}",
        text("pcu", "FREQ_BAND0_CYCLES")
    );
    assert_eq!(text("imc", "ACT_COUNT"), "imc/ACT_COUNT/");
    let repeated = text("cbo", "COUNTER0_OCCUPANCY");
    let (companion, own) = repeated.strip_prefix('{').and_then(|text| text.split_once(',')).expect("a group");
    assert_eq!(own, "cbo/COUNTER0_OCCUPANCY/}");
    // Table 2-14: of the occupancies of entries, each of which can be larger than 1.
    let known = ["ISMQ_DRD_MISS_OCC", "RxR_OCCUPANCY", "TOR_OCCUPANCY"];
    assert!(known.iter().any(|name| companion.starts_with(&format!("cbo/{name}"))), "{companion}");
}

/// Numbers as people and tools write them.
#[test]
fn numbers_are_decimal_hexadecimal_or_binary() {
    for (text, number) in [
        ("0", Some(0)),
        ("0x0", Some(0)),
        ("0XfF", Some(255)),
        ("0B11", Some(3)),
        ("18446744073709551615", Some(u64::MAX)),
        ("0xffffffffffffffff", Some(u64::MAX)),
        ("18446744073709551616", None),
        ("0x10000000000000000", None),
        ("0b2", None),
        ("0x", None),
        ("0x+1", None),
        ("-1", None),
        ("", None),
        ("ff", None),
        ("1 ", None),
    ] {
        assert_eq!(encode::parse_number(text), number, "{text:?}");
    }
}
