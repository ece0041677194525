//! Values put together and taken apart.

use pericore_catalog::decode::{self, names_of};
use pericore_catalog::{NamedValue, encode};

use crate::{e5_2600, emerald_rapids, register_of};

fn encoded(unit: &str, register: &str, settings: &[(&str, &str)]) -> Result<u64, String> {
    let (_, register) = register_of(e5_2600(), unit, register);
    encode::register(register, &[], settings.iter().copied()).map_err(|error| error.to_string())
}

/// Table 2-10, bit by bit, and Tables 2-12 and 2-13 for the filter.
#[test]
fn fields_land_on_their_bits() {
    for (settings, value) in [
        (&[][..], 0),
        (&[("ev_sel", "0x37")], 0x37),
        (&[("umask", "0xff")], 0xff00),
        (&[("rst", "1")], 1 << 17),
        (&[("edge_det", "1")], 1 << 18),
        (&[("tid_en", "1")], 1 << 19),
        (&[("en", "1")], 1 << 22),
        (&[("invert", "1")], 1 << 23),
        (&[("thresh", "255")], 0xff00_0000),
        (&[("EV_SEL", "0b110111"), ("Umask", "1"), ("en", "1")], 0x40_0137),
        (
            &[
                ("thresh", "1"),
                ("invert", "1"),
                ("en", "1"),
                ("tid_en", "1"),
                ("edge_det", "1"),
                ("umask", "1"),
                ("ev_sel", "0x37"),
            ],
            0x01cc_0137,
        ),
        (&[("en", "0"), ("umask", "0")], 0),
    ] {
        assert_eq!(encoded("cbo", "ctl", settings), Ok(value), "{settings:?}");
    }
    for (settings, value) in [
        (&[("opc", "DRd")][..], 0x182 << 23),
        (&[("opc", "drd"), ("tid", "PCIE")], 0x182 << 23 | 0x1e),
        (&[("nid", "0x80")], 0x80 << 10),
        // States are bits: I, S, E, M, F from bit 18 on.
        (&[("state", "I+S+F")], 0x13 << 18),
        (&[("state", "m + e")], 0x0c << 18),
        (&[("state", "F")], 0x10 << 18),
    ] {
        assert_eq!(encoded("cbo", "filter", settings), Ok(value), "{settings:?}");
    }
    // A link starts at 6.4 GT/s, which is 3: what is not set stays as after a reset.
    assert_eq!(encoded("qpi", "rate_status", &[]), Ok(3));
    assert_eq!(encoded("qpi", "rate_status", &[("slow_mode", "1")]), Ok(0x13));
    assert_eq!(encoded("qpi", "rate_status", &[("qpi_rate", "4")]), Ok(4));
}

#[test]
fn what_a_register_cannot_take_is_said() {
    let all = "its fields are thresh invert en tid_en edge_det rst umask ev_sel";
    for (settings, said) in [
        (&[("tresh", "1")][..], format!("ctl has no field \"tresh\"; did you mean thresh?; {all}")),
        (&[("zzz", "1")], format!("ctl has no field \"zzz\"; {all}")),
        (&[("rsv", "1")], "ctl.rsv is no field to set: its bits are reserved or ignored; leave it out".to_owned()),
        (&[("umask", "0x100")], "0x100 does not fit ctl.umask, bits 15:8, which holds at most 0xff".to_owned()),
        (&[("en", "2")], "0x2 does not fit ctl.en, bits 22, which holds at most 0x1".to_owned()),
        (&[("en", "yes")], "ctl.en has no value \"yes\"; write a number up to 0x1".to_owned()),
        (&[("en", "-1")], "ctl.en has no value \"-1\"; write a number up to 0x1".to_owned()),
        (
            &[("en", "1"), ("EN", "1")],
            "ctl.en is set twice, or shares bits with another field that is set; keep one".to_owned(),
        ),
    ] {
        assert_eq!(encoded("cbo", "ctl", settings), Err(said), "{settings:?}");
    }
    let examples = "or a name such as RFO CRd DRd PRd WCiLF WCiL PrefRFO PrefCode";
    assert_eq!(
        encoded("cbo", "filter", &[("opc", "DRdd")]),
        Err(format!("filter.opc has no value \"DRdd\"; did you mean DRd?; write a number up to 0x1ff, {examples}"))
    );
    assert!(encoded("cbo", "filter", &[("state", "I+Q")]).unwrap_err().contains("has no value \"I+Q\""));
    assert!(encoded("cbo", "filter", &[("state", "I+")]).unwrap_err().contains("has no value \"I+\""));
}

/// Table 2-73: an event's own fields lie over the control register's extension; either is set, not both.
#[test]
fn an_events_own_fields_go_before_the_registers() {
    let (unit, control) = register_of(emerald_rapids(), "cha", "ctl");
    let event = unit.event("TOR_INSERTS").unwrap();
    let own = unit.field_sets[usize::from(event.field_set.unwrap())].fields;
    let encoded = |settings: &[(&str, &str)]| {
        encode::register(control, own, settings.iter().copied()).map_err(|error| error.to_string())
    };
    assert_eq!(encoded(&[("hit", "1"), ("ev_sel", "0x35")]), Ok(1 << 32 | 0x35));
    assert_eq!(encoded(&[("rem", "1"), ("loc", "0")]), Ok(1 << 40));
    assert_eq!(encoded(&[("umask_ext", "0xc817fe"), ("umask", "1"), ("ev_sel", "0x35")]), Ok(0x00c8_17fe_0000_0135));
    let twice = "ctl.umask_ext is set twice, or shares bits with another field that is set; keep one";
    assert_eq!(encoded(&[("miss", "1"), ("umask_ext", "2")]), Err(twice.to_owned()));
    let said = encoded(&[("mis", "1")]).unwrap_err();
    assert!(said.starts_with("ctl has no field \"mis\"; did you mean miss"), "{said}");
    assert!(
        said.contains("its fields are crababort cxl_exp ia_mem_acc ") && said.ends_with(" tid_en umask ev_sel"),
        "{said}"
    );
    // Without the event they are no fields.
    assert!(encode::register(control, &[], [("miss", "1")]).is_err());
}

#[test]
fn values_that_a_register_cannot_hold_are_refused() {
    let (unit, control) = register_of(e5_2600(), "cbo", "ctl");
    let decoded = |member, value| decode::register(e5_2600(), unit, control, member, value);
    let said = |member, value| decoded(member, value).unwrap_err().to_string();
    assert_eq!(said(0, 1 << 32), "0x100000000 does not fit cbo.ctl, which has 32 bits; give at most 0xffffffff");
    assert_eq!(said(4, 0), "cbo.ctl has 4 members, numbered from 0; 4 is too high");
    let whole = decoded(3, 0xffff_ffff).unwrap();
    assert_eq!((whole.member, whole.value, whole.unit.name, whole.register.name), (3, 0xffff_ffff, "cbo", "ctl"));
    let (unit, counter) = register_of(e5_2600(), "cbo", "ctr");
    assert!(decode::register(e5_2600(), unit, counter, 0, u64::MAX).is_ok());
    assert_eq!(decode::largest(counter), u64::MAX);
    assert_eq!(decode::largest(control), 0xffff_ffff);
}

/// Bits 21:20 and 16 are reserved (Table 2-10); in the rate's register they keep what a reset leaves.
#[test]
fn reserved_bits_are_told_and_fields_come_from_above() {
    let (unit, control) = register_of(e5_2600(), "cbo", "ctl");
    let decoded = decode::register(e5_2600(), unit, control, 0, 0x8031_0037).unwrap();
    assert_eq!(decoded.reserved_bits(), 0x31_0000);
    assert_eq!(
        (decoded.field("thresh"), decoded.field("ev_sel"), decoded.field("nothing")),
        (Some(0x80), Some(0x37), None)
    );
    let fields = decoded.fields().map(|field| (field.field.name, field.value, field.is_meaningful()));
    assert_eq!(
        fields.collect::<Vec<_>>(),
        [
            ("thresh", 0x80, true),
            ("invert", 0, true),
            ("en", 0, true),
            ("rsv", 3, false),
            ("tid_en", 0, true),
            ("edge_det", 0, true),
            ("rst", 0, true),
            ("rsv", 1, false),
            ("umask", 0, true),
            ("ev_sel", 0x37, true),
        ]
    );
    let (unit, rate) = register_of(e5_2600(), "qpi", "rate_status");
    let reserved = |value| decode::register(e5_2600(), unit, rate, 0, value).unwrap().reserved_bits();
    assert_eq!([reserved(3), reserved(0), reserved(0x0b), reserved(0x8000_0013)], [0, 0, 8, 0x8000_0000]);
}

const fn named(name: &'static str, value: u64) -> NamedValue {
    NamedValue { name, value, description: "" }
}

/// A mask has names for its bits; an enumeration for whole values, and none for what is between.
#[test]
fn values_are_named_whole_or_bit_by_bit() {
    static MASK: [NamedValue; 5] = [named("NONE", 0), named("A", 1), named("B", 2), named("C", 8), named("AC", 9)];
    static LIST: [NamedValue; 3] = [named("ONE", 1), named("TWO", 2), named("SEVEN", 7)];
    static SINGLE: [NamedValue; 1] = [named("ON", 1)];
    let names = |values, value| names_of(values, value).iter().map(|value| value.name).collect::<Vec<_>>();
    assert_eq!(names(&MASK, 1), ["A"]);
    assert_eq!(names(&MASK, 3), ["A", "B"]);
    assert_eq!(names(&MASK, 9), ["AC"]);
    assert_eq!(names(&MASK, 11), ["A", "B", "C"]);
    assert_eq!(names(&MASK, 0), ["NONE"]);
    assert!(names(&MASK, 4).is_empty() && names(&MASK, 5).is_empty());
    assert_eq!(names(&LIST, 7), ["SEVEN"]);
    assert!(names(&LIST, 3).is_empty() && names(&LIST, 4).is_empty());
    assert!(names(&SINGLE, 3).is_empty() && names(&[], 1).is_empty());
}
