//! Everything that has a name can be explained, within the width of a terminal.

use pericore_catalog::search::{FieldHome, Found, Topic, resolve};
use pericore_catalog::{Family, families};
use pericore_text::{Paint, WIDTH};

use super::{sheet_of, the_one};

/// All that the catalogue has.
fn everything() -> Vec<Found> {
    let mut all = Vec::new();
    for family in families() {
        for unit in family.units.iter().copied() {
            let mut push = |topic| all.push(Found { family, unit: Some(unit), topic });
            push(Topic::Unit);
            for event in unit.events {
                push(Topic::Event(event));
                event.subevents.iter().for_each(|subevent| push(Topic::Subevent(event, subevent)));
            }
            unit.metrics.iter().for_each(|metric| push(Topic::Metric(metric)));
            for register in unit.registers {
                push(Topic::Register(register, None));
                register.fields.iter().for_each(|field| push(Topic::Field(FieldHome::Register(register), field)));
            }
            for set in unit.field_sets {
                set.fields.iter().for_each(|field| push(Topic::Field(FieldHome::Set(set.name, set.source), field)));
            }
        }
        for set in family.value_sets {
            all.extend(set.values.iter().map(|value| Found { family, unit: None, topic: Topic::Value(set, value) }));
        }
    }
    all
}

fn text(found: &Found) -> String {
    let mut out = Vec::new();
    sheet_of(found).write(&mut out, Paint::default()).unwrap();
    String::from_utf8(out).unwrap()
}

/// Of all that the catalogue has, the part that the gate looks at; the long form looks at all.
fn a_seventh() -> Vec<Found> {
    everything().into_iter().step_by(7).collect()
}

#[test]
fn a_seventh_has_sheets_that_fit_and_have_name_and_source() {
    sheets_fit(&a_seventh());
}

#[test]
#[ignore = "40 s: the long form"]
fn everything_has_a_sheet_that_fits_and_says_its_name_and_source() {
    sheets_fit(&everything());
}

fn sheets_fit(all: &[Found]) {
    assert!(all.len() > 300, "only {} things", all.len());
    for found in all {
        let text = text(found);
        assert!(
            text.starts_with(&found.name().replace(".rsv", "")) || matches!(found.topic, Topic::Register(..)),
            "{text}"
        );
        assert!(text.contains("\nSource"), "{text}");
        let mut copied = false;
        for line in text.lines() {
            // Command lines are to be copied whole.
            assert!(copied || line.chars().count() <= WIDTH, "{}: {line:?}", found.name());
            copied = line == "Try";
            assert_eq!(line.trim_end(), line, "{}: {line:?} ends in spaces", found.name());
        }
    }
}

#[test]
fn a_seventh_of_the_sheets_is_json_too() {
    sheets_are_json(&a_seventh());
}

#[test]
#[ignore = "40 s: the long form"]
fn every_sheet_is_json_too() {
    sheets_are_json(&everything());
}

fn sheets_are_json(all: &[Found]) {
    for found in all {
        let mut out = Vec::new();
        sheet_of(found).write_json(&mut out).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!((json["kind"].as_str(), json["family"].as_str()), (Some(found.kind()), Some(found.family.name)));
        let has_command = json["command"].as_str().is_some_and(|command| command.starts_with("pericore "));
        let needs_command =
            matches!(found.topic, Topic::Event(_) | Topic::Subevent(..) | Topic::Metric(_) | Topic::Register(..));
        assert!(has_command || !needs_command, "{}", found.name());
    }
}

/// The name that a sheet carries, and that ambiguous names are told apart by, leads back to it.
#[test]
fn full_names_lead_back() {
    for found in everything() {
        if matches!(found.topic, Topic::Field(_, field) if matches!(field.name, "rsv" | "ig")) {
            continue;
        }
        let name = found.name();
        let back = resolve(&[found.family], &name);
        assert!(back.iter().any(|other| other.kind() == found.kind() && other.name() == name), "{name}: {back:?}");
    }
}

fn e5_2600() -> &'static Family {
    pericore_catalog::family("e5-2600").unwrap()
}

#[test]
fn names_are_found_in_every_spelling() {
    let named = |text: &str| the_one(&[e5_2600()], text).map(|found| (found.kind(), found.name())).unwrap();
    let event = ("subevent", "imc/CAS_COUNT.RD".to_owned());
    for text in [
        "CAS_COUNT.RD",
        "cas_count.rd",
        "imc/CAS_COUNT.RD",
        "imc/CAS_COUNT.RD,thresh=1/",
        "UNC_M_CAS_COUNT.RD",
        "uncore_imc_0/cas_count.rd/",
        "uncore_imc/cas_count_read/",
        "uncore_imc_*/CAS_COUNT_READ/",
        "cas_count_read",
    ] {
        assert_eq!(named(text), event, "{text}");
    }
    assert_eq!(named("cbo.ctl2"), ("register", "cbo.ctl2".to_owned()));
    assert_eq!(named("C3_MSR_PMON_CTL2"), ("register", "cbo.ctl2".to_owned()));
    assert_eq!(named("cbo.ctl.umask"), ("field", "cbo.ctl.umask".to_owned()));
    assert_eq!(named("opc=0x182"), ("value", "idi-opcodes.DRd".to_owned()));
    assert_eq!(named("imc"), ("unit", "imc".to_owned()));
    assert_eq!(named("imc3"), ("unit", "imc".to_owned()));
    assert_eq!(named("MEM_BW_READS"), ("metric", "imc/MEM_BW_READS".to_owned()));
    let emerald_rapids = pericore_catalog::family("emerald-rapids").unwrap();
    let port = the_one(&[emerald_rapids], "uncore_iio_free_running_2/bw_in_port3/").unwrap();
    assert_eq!(port.name(), "iio.free_bw_in3");
}

#[test]
fn unknown_names_suggest_and_ambiguous_ones_list() {
    let error = |text: &str| the_one(&[e5_2600()], text).unwrap_err().to_string();
    assert_eq!(error("LLC_LOKUP"), "e5-2600 has no \"LLC_LOKUP\"; did you mean LLC_LOOKUP?");
    assert!(error("cas_cuont_read").contains("did you mean cas_count_read"));
    assert!(error("qqqqqqqq").contains("pericore list WORD"), "{}", error("qqqqqqqq"));
    let ambiguous = error("umask");
    assert!(ambiguous.contains("cbo.ctl.umask") && ambiguous.contains("imc.ctl.umask"), "{ambiguous}");
}

/// Table 2-13 and 2.3.8: an event that needs an opcode says so, names the opcodes, and proposes demand reads.
#[test]
fn a_sheet_tells_what_one_needs_to_know() {
    let found = the_one(&[e5_2600()], "cbo/TOR_INSERTS.OPCODE").unwrap();
    let text = text(&found);
    for part in [
        "code 0x35, umask 0x01",
        "opc  required; filter 31:23",
        "DRd 0x182",
        "TOR_OCCUPANCY",
        "-e 'cbo/TOR_INSERTS.OPCODE,opc=0x182/'",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

/// Table 2-8 of the E5-2600 guide: control 0 of CBo 0 is MSR 0xD10, that of CBo 7 is 0xDF0, and each has four in a row.
#[test]
fn the_sheet_of_a_register_has_its_addresses() {
    let sheet = text(&the_one(&[e5_2600()], "cbo.ctl").unwrap());
    let addresses = "msr:0xd10 in cbo0, to msr:0xdf0 in cbo7; members 1 MSR apart";
    assert!(sheet.contains(addresses), "{sheet}");
}
