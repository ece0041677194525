//! Where a text leads, and what is printed.

use pericore_catalog::decode::register;
use pericore_catalog::{Family, Register, families};
use pericore_text::{Paint, WIDTH};

use super::report::Report;
use super::{locate, place_name};

fn all() -> Vec<&'static Family> {
    families().collect()
}

fn e5_2600() -> &'static Family {
    pericore_catalog::family("e5-2600").unwrap()
}

fn printed(place: &str, value: u64, filter: Option<u64>) -> String {
    let located = locate(&[e5_2600()], place).unwrap();
    let place = located.place;
    let decoded = register(located.family, place.unit, place.register, place.member, value).unwrap();
    let report = Report::new(&decoded, &located, |register: &Register| filter.filter(|_| register.name == "filter"));
    let mut out = Vec::new();
    report.write(&mut out, Paint::default()).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn places_are_found_by_name_and_address() {
    let name = |text: &str| {
        locate(&[e5_2600()], text).map(|located| place_name(&located.place)).map_err(|error| error.to_string())
    };
    assert_eq!(name("0xd31").as_deref(), Ok("cbo1.ctl1"));
    assert_eq!(name("cbo1.ctl1").as_deref(), Ok("cbo1.ctl1"));
    assert_eq!(name("cbo[1].ctl1").as_deref(), Ok("cbo1.ctl1"));
    assert_eq!(name("cbo1/ctl1").as_deref(), Ok("cbo1.ctl1"));
    assert_eq!(name("0/cbo1/ctl1").as_deref(), Ok("cbo1.ctl1"));
    assert_eq!(name("C1_MSR_PMON_CTL1").as_deref(), Ok("cbo1.ctl1"));
    assert_eq!(name("pci:10.5+0xdc").as_deref(), Ok("imc3.ctl1"));
    assert_eq!(name("imc.unit_ctl").as_deref(), Ok("imc.unit_ctl"));
}

#[test]
fn places_that_are_none_say_what_to_do() {
    let error = |text: &str| locate(&all(), text).unwrap_err().to_string();
    assert!(
        error("0x99999").contains("belongs to no register of any family; `pericore list --registers"),
        "{}",
        error("0x99999")
    );
    assert!(error("pci:10.9+0").contains("is no address"), "{}", error("pci:10.9+0"));
    let of_e5 = |text: &str| locate(&[e5_2600()], text).unwrap_err().to_string();
    assert_eq!(of_e5("cbo.ctl"), "cbo.ctl is an array; name one of ctl0 to ctl3");
    assert_eq!(of_e5("cbo8.ctl0"), "cbo has 8 instances in a socket, numbered from 0; 8 is too high");
    assert!(of_e5("cbx.ctl0").contains("did you mean cbo?"), "{}", of_e5("cbx.ctl0"));
    assert!(of_e5("cbo.filtr").contains("did you mean filter?"), "{}", of_e5("cbo.filtr"));
}

#[test]
fn a_control_is_told_in_words() {
    let text = printed("0xd11", 0x01C0_0335, Some(0xC100_0000));
    let parts = [
        "cbo0.ctl1",
        "0x1c00335",
        "Counts cbo/TOR_INSERTS.MISS_OPCODE",
        "opc fits 0x182 (DRd).",
        "an increment below 1.",
    ];
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    assert!(printed("0xd10", 0x335, None).contains("give its value with --filter"));
    assert!(printed("0xd10", 0x335, None).contains("the counter is not enabled"));
    assert!(printed("0xd13", 0x40_0036, None).contains("counter 3 cannot take this event: it needs one of 0."));
    assert!(printed("0xd10", 0x71_0135, None).contains("rsv            0x3      Reserved: must be left as it is."));
    assert!(printed("0xd10", 0x40_00FE, None).contains("no event of the unit has this code"));
}

#[test]
fn half_a_counter_says_so() {
    let located = locate(&[e5_2600()], "pci:10.0+0xa4").unwrap();
    assert_eq!((place_name(&located.place), located.place.byte), ("imc0.ctr0".to_owned(), 4));
}

#[test]
fn everything_printed_fits_the_terminal() {
    for family in all() {
        for unit in family.units {
            for register in unit.registers {
                let place = pericore_catalog::decode::Place { unit, instance: None, register, member: 0, byte: 0 };
                let located = super::Located { family, place };
                let largest = if register.width == 64 { u64::MAX } else { (1 << register.width) - 1 };
                for value in [0, register.reset, largest, 0x5555_5555_5555_5555 & largest] {
                    let decoded = pericore_catalog::decode::register(family, unit, register, 0, value).unwrap();
                    let report = Report::new(&decoded, &located, |_| Some(largest));
                    let mut out = Vec::new();
                    report.write(&mut out, Paint::default()).unwrap();
                    let text = String::from_utf8(out).unwrap();
                    for line in text.lines() {
                        assert!(line.chars().count() <= WIDTH, "{line:?}");
                    }
                    let mut out = Vec::new();
                    report.write_json(&mut out).unwrap();
                    assert!(serde_json::from_slice::<serde_json::Value>(&out).is_ok());
                }
            }
        }
    }
}

/// Table 1-12: each memory controller has the same registers in a window of its own, and which one does not matter to
/// a value.
#[test]
fn a_register_of_every_memory_window_is_one() {
    let emerald_rapids = pericore_catalog::family("emerald-rapids").unwrap();
    let located = locate(&[emerald_rapids], "mmio:0x22840").unwrap();
    assert_eq!(place_name(&located.place), "imc.ctl0");
}
