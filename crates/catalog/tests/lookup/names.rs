//! Names of units and registers.

use pericore_catalog::decode::{guide_name_fits, parse_name, parse_unit};

use crate::{e5_2600, emerald_rapids, register_of};

fn place(text: &str) -> String {
    match parse_name(e5_2600(), text) {
        Ok(place) => {
            let instance = place.instance.map_or_else(|| "*".to_owned(), |instance| instance.to_string());
            format!("{} {instance} {} {} +{}", place.unit.name, place.register.name, place.member, place.byte)
        }
        Err(error) => error.to_string(),
    }
}

/// Ours, with brackets or without, and the guide's (2.3.4): `Cn_MSR_PMON_CTL{3-0}` of slice 3.
#[test]
fn registers_go_by_several_names() {
    for text in
        ["cbo3.ctl1", "CBO3.CTL1", "cbo[3].ctl1", "C3_MSR_PMON_CTL1", "c3_msr_pmon_ctl1", "cbo3.C3_MSR_PMON_CTL1"]
    {
        assert_eq!(place(text), "cbo 3 ctl 1 +0", "{text}");
    }
    for text in ["cbo.filter", "Cn_MSR_PMON_BOX_FILTER", "cbo.Cn_MSR_PMON_BOX_FILTER"] {
        assert_eq!(place(text), "cbo * filter 0 +0", "{text}");
    }
    assert_eq!(place("cbo0.ctl0"), "cbo 0 ctl 0 +0");
    assert_eq!(place("cbo7.ctr3"), "cbo 7 ctr 3 +0");
    // The number that the guide writes belongs to a slice only if there is one.
    assert_eq!(place("C7_MSR_PMON_CTL3"), "cbo 7 ctl 3 +0");
    assert_eq!(place("C8_MSR_PMON_CTL3"), "cbo * ctl 3 +0");
    assert_eq!(place("ha.HA_PCI_PMON_CTL2"), "ha * ctl 2 +0");
    // A controller and its channel: two numbers, which make no instance.
    assert_eq!(place("MC_CH2_PCI_PMON_CTL1"), "imc 2 ctl 1 +0");
}

#[test]
fn names_of_nothing_say_what_there_is() {
    let units = "ubox cbo ha imc pcu qpi r2pcie r3qpi";
    for (text, said) in [
        ("cbo8.ctl0", "cbo has 8 instances in a socket, numbered from 0; 8 is too high".to_owned()),
        ("cbo[70000].ctl0", "cbo has 8 instances in a socket, numbered from 0; 70000 is too high".to_owned()),
        ("cbox.ctl0", format!("e5-2600 has no unit \"cbox\"; did you mean cbo or ubox?; its units are {units}")),
        ("cbox3.ctl0", format!("e5-2600 has no unit \"cbox3\"; did you mean cbo or ubox?; its units are {units}")),
        ("xyz[.ctl0", format!("e5-2600 has no unit \"xyz[\"; its units are {units}")),
        ("cbo[].ctl0", format!("e5-2600 has no unit \"cbo[]\"; did you mean cbo?; its units are {units}")),
        (".ctl0", format!("e5-2600 has no unit \"\"; its units are {units}")),
        ("cbo.ctl", "cbo.ctl is an array; name one of ctl0 to ctl3".to_owned()),
        (
            "cbo.ctl4",
            "cbo has no register \"ctl4\"; did you mean ctl or unit_ctl or ctr?; its registers are unit_ctl ctl filter ctr"
                .to_owned(),
        ),
        (
            "cbo.C3_MSR_PMON_CTL4",
            "cbo has no register \"C3_MSR_PMON_CTL4\"; its registers are unit_ctl ctl filter ctr".to_owned(),
        ),
        ("nothing", "e5-2600 has no register \"nothing\"; write UNIT.REGISTER, such as ubox.fixed_ctl".to_owned()),
        (
            "C3_MSR_PMON_CTL",
            "e5-2600 has no register \"C3_MSR_PMON_CTL\"; write UNIT.REGISTER, such as ubox.fixed_ctl".to_owned(),
        ),
    ] {
        assert_eq!(place(text), said, "{text}");
    }
}

#[test]
fn a_unit_may_have_the_number_of_an_instance() {
    let unit = |text: &str| parse_unit(e5_2600(), text).ok().map(|(unit, instance)| (unit.name, instance));
    assert_eq!(unit("imc"), Some(("imc", None)));
    assert_eq!(unit("IMC3"), Some(("imc", Some(3))));
    assert_eq!(unit("imc[0]"), Some(("imc", Some(0))));
    assert_eq!(unit("imc4"), None);
    // Names with digits of their own.
    assert_eq!(unit("r2pcie"), Some(("r2pcie", None)));
    assert_eq!(unit("r3qpi1"), Some(("r3qpi", Some(1))));
    assert_eq!(unit("r3qpi"), Some(("r3qpi", None)));
    assert_eq!(unit("3"), None);
    let of_emerald = |text: &str| parse_unit(emerald_rapids(), text).ok().map(|(unit, instance)| (unit.name, instance));
    assert_eq!(of_emerald("m3upi2"), Some(("m3upi", Some(2))));
    assert_eq!(of_emerald("cbo"), None);
}

#[test]
fn the_guides_names_have_places_for_numbers() {
    let (_, control) = register_of(e5_2600(), "cbo", "ctl");
    assert_eq!(guide_name_fits(control, "C12_MSR_PMON_CTL0"), Some((Some(12), 0)));
    assert_eq!(guide_name_fits(control, "Cn_MSR_PMON_CTL3"), Some((None, 3)));
    for text in
        ["C1_MSR_PMON_CTL4", "C1_MSR_PMON_CTL", "C1_MSR_PMON_CTL0x", "C1_MSR_PMON_CT0", "D1_MSR_PMON_CTL0", "", "C"]
    {
        assert_eq!(guide_name_fits(control, text), None, "{text:?}");
    }
    let (_, filter) = register_of(e5_2600(), "cbo", "filter");
    assert_eq!(guide_name_fits(filter, "C2_MSR_PMON_BOX_FILTER"), Some((Some(2), 0)));
    assert_eq!(guide_name_fits(filter, "C2_MSR_PMON_BOX_FILTER0"), None);
    // "MCn_CHy_MMIO_PMON_UNIT_CTL": of two places in one name neither is the instance.
    let (_, channel) = register_of(emerald_rapids(), "imc", "unit_ctl");
    assert_eq!(guide_name_fits(channel, "MC1_CH1_MMIO_PMON_UNIT_CTL"), Some((None, 0)));
}
