//! What a name stands for, and what belongs with it.

use pericore_catalog::search::{Query, Topic, hint, known_names, nearest, resolve};

use crate::{e5_2600, emerald_rapids};

fn found(text: &str) -> Vec<String> {
    resolve(&[e5_2600()], text).iter().map(|found| format!("{} {}", found.kind(), found.name())).collect()
}

/// Ours, Intel's (2.3.7 and the event file of the E5-2600), Linux's, with a unit in front or not.
#[test]
fn things_go_by_all_their_names() {
    for (text, wanted) in [
        ("cbo", "unit cbo"),
        ("cbo3", "unit cbo"),
        ("LLC_VICTIMS", "event cbo/LLC_VICTIMS"),
        ("llc_victims", "event cbo/LLC_VICTIMS"),
        ("cbo/LLC_VICTIMS", "event cbo/LLC_VICTIMS"),
        ("cbo.LLC_VICTIMS", "event cbo/LLC_VICTIMS"),
        ("cbo7/LLC_VICTIMS,thresh=1/", "event cbo/LLC_VICTIMS"),
        ("{cbo/LLC_VICTIMS/}", "event cbo/LLC_VICTIMS"),
        ("UNC_C_LLC_VICTIMS", "event cbo/LLC_VICTIMS"),
        ("LLC_VICTIMS.M_STATE", "subevent cbo/LLC_VICTIMS.M_STATE"),
        ("unc_c_llc_victims.m_state", "subevent cbo/LLC_VICTIMS.M_STATE"),
        (" cbo/LLC_VICTIMS.M_STATE/ ", "subevent cbo/LLC_VICTIMS.M_STATE"),
        ("uncore_cbox/LLC_VICTIMS/", "event cbo/LLC_VICTIMS"),
        ("uncore_cbox_7/LLC_VICTIMS/", "event cbo/LLC_VICTIMS"),
        ("uncore_cbox_*/LLC_VICTIMS/", "event cbo/LLC_VICTIMS"),
        ("uncore_imc_0/cas_count_read/", "subevent imc/CAS_COUNT.RD"),
        ("uncore_qpi_1/txl_flits_active/", "event qpi/TxL_FLITS_G0"),
        ("MEM_WB_BYTES", "metric cbo/MEM_WB_BYTES"),
        ("cbo/mem_wb_bytes", "metric cbo/MEM_WB_BYTES"),
        ("cbo.ctl0", "register cbo.ctl0"),
        ("cbo.ctl", "register cbo.ctl"),
        ("C3_MSR_PMON_CTL2", "register cbo.ctl2"),
        ("Cn_MSR_PMON_CTL{3-0}", "register cbo.ctl"),
        ("C3_MSR_PMON_BOX_FILTER", "register cbo.filter"),
        ("cbo.filter", "register cbo.filter"),
        ("DCLK_FIXED", "register imc.fixed_ctr"),
        ("cbo.ctl0.thresh", "field cbo.ctl.thresh"),
        ("cbo.ctl.THRESH", "field cbo.ctl.thresh"),
        ("filter.opc", "field cbo.filter.opc"),
        ("DRd", "value idi-opcodes.DRd"),
        ("idi-opcodes.drd", "value idi-opcodes.DRd"),
        ("opc=0x182", "value idi-opcodes.DRd"),
        ("opc=386", "value idi-opcodes.DRd"),
        ("OPC=drd", "value idi-opcodes.DRd"),
    ] {
        assert_eq!(found(text), [wanted], "{text}");
    }
    for text in [
        "",
        "cbo/NOTHING",
        "cbo8",
        "nid=DRd",
        "opc=0x183",
        "0x182",
        "rsv",
        "cbo.ctl.rsv",
        "LLC_VICTIMS.NOTHING",
        "UNC_C_",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
}

/// The more important comes first, and each has a name that stands for it alone.
#[test]
fn a_name_of_several_things_gives_them_all_in_order() {
    let clocks = found("CLOCKTICKS");
    assert!(clocks.len() > 3 && clocks.iter().all(|name| name.ends_with("/CLOCKTICKS")), "{clocks:?}");
    let thresholds = found("thresh");
    assert!(thresholds.len() >= 8 && thresholds.contains(&"field pcu.ctl.thresh".to_owned()), "{thresholds:?}");
    let everything: Vec<_> =
        known_names(&[e5_2600()], "a.b").iter().flat_map(|name| resolve(&[e5_2600()], name)).collect();
    assert!(everything.len() > 500);
    for one in &everything {
        let again = resolve(&[e5_2600()], &one.name());
        assert!(again.iter().any(|other| (other.kind(), other.name()) == (one.kind(), one.name())), "{}", one.name());
        let order = |topic: &Topic| match topic {
            Topic::Unit => 0,
            Topic::Event(_) | Topic::Subevent(..) => 1,
            Topic::Metric(_) => 2,
            Topic::Register(..) => 3,
            Topic::Field(..) => 4,
            Topic::Value(..) => 5,
        };
        assert!(again.is_sorted_by_key(|found| order(&found.topic)), "{}", one.name());
    }
    let both = resolve(&[e5_2600(), emerald_rapids()], "TOR_INSERTS");
    assert_eq!(
        both.iter().map(|found| (found.family.name, found.name())).collect::<Vec<_>>(),
        [("e5-2600", "cbo/TOR_INSERTS".to_owned()), ("emerald-rapids", "cha/TOR_INSERTS".to_owned())]
    );
    // 2-73: fields that an event lays over the control register.
    let own = resolve(&[emerald_rapids()], "tor_ext.premorph_opc");
    assert_eq!(own.iter().map(|found| found.name()).collect::<Vec<_>>(), ["cha.tor_ext.premorph_opc"]);
}

#[test]
fn names_to_suggest_from_are_of_every_kind_once() {
    let names = known_names(&[e5_2600()], "x");
    for name in ["cbo", "LLC_VICTIMS", "cas_count_read", "MEM_WB_BYTES", "filter", "DCLK_FIXED", "thresh", "opc", "DRd"]
    {
        assert_eq!(names.iter().filter(|known| *known == name).count(), 1, "{name}");
    }
    assert!(!names.iter().any(|name| name == "rsv" || name == "ig" || name.starts_with("LLC_VICTIMS.")));
    let with_subevents = known_names(&[e5_2600()], "x.y");
    assert!(with_subevents.contains(&"LLC_VICTIMS.M_STATE".to_owned()) && with_subevents.is_sorted());
    assert!(known_names(&[emerald_rapids()], "x").contains(&"premorph_opc".to_owned()));
}

#[test]
fn suggestions_are_alike_few_and_in_order() {
    let names = ["LLC_LOOKUP", "LOOKUP", "TOR_INSERTS", "TOR_OCCUPANCY", "CAS_COUNT"];
    assert_eq!(hint("lookpu", names), "; did you mean LOOKUP or LLC_LOOKUP?");
    assert_eq!(hint("tor_insert", names), "; did you mean TOR_INSERTS?");
    assert_eq!(hint("zzzz", names), "");
    assert_eq!(nearest("CAS", names), ["CAS_COUNT"]);
    assert_eq!(nearest("ca", names), Vec::<&str>::new(), "two letters begin too many words");
    assert_eq!(nearest("occupnacy", names), ["TOR_OCCUPANCY"]);
    assert_eq!(nearest("a", ["a", "a", "b"]), ["a"], "each once");
}

#[test]
fn words_are_searched_for_in_names_and_texts() {
    let matches = |words: &str| {
        Query::new([words]).matches(&["TOR_INSERTS.MISS_ALL", "UNC_C_TOR_INSERTS.MISS_ALL"], &["Misses of the slice."])
    };
    for words in [
        "",
        "tor",
        "TOR_INS",
        "slice",
        "miss slice",
        "tor_*",
        "unc_c_*",
        "*all",
        "*miss*",
        "tor*.miss_all",
        "t*s.*_a*l",
        "**",
    ] {
        assert!(matches(words), "{words}");
    }
    for words in
        ["tors", "slices", "tor memory", "tor", "*tor", "miss*", "slice*", "tor_*x", "tor_inserts.miss_al", "t*z*"]
    {
        assert!(words == "tor" || words == "tor_inserts.miss_al" || !matches(words), "{words}");
    }
    let query = Query::new(["UNC_C_Tor  x", "y"]);
    assert_eq!((query.text().as_str(), query.is_empty(), query.has_dot()), ("unc_c_tor x y", false, false));
    assert_eq!(query.without_prefix("UNC_C_").text(), "tor x y");
    assert_eq!(query.without_prefix("UNC_H_").text(), "unc_c_tor x y");
    assert!(Query::new(["a.b"]).has_dot() && Query::new([" ", ""]).is_empty());
    assert!(Query::new(["é"]).without_prefix("UNC_C_").text() == "é");
}

/// 100 a word that stands there, nine tenths of that in a text, less for each wrong letter; nothing if a word is nowhere.
#[test]
fn rows_are_ranked_by_likeness() {
    let rank = |words: &str| Query::new([words]).rank(&["TOR_INSERTS"], &["Entries of the table."]);
    assert_eq!(rank("inserts"), Some(100));
    assert_eq!(rank("tor inserts"), Some(100));
    assert_eq!(rank("table"), Some(90));
    assert_eq!(rank("tor table"), Some(95));
    assert_eq!(rank("tor_inserts"), Some(100), "each part for itself");
    // One letter of seven is lost: 100 / 7 is 14.
    assert_eq!(rank("insetts"), Some(86));
    assert_eq!(rank("insert"), Some(86));
    assert_eq!(rank("ins"), Some(70), "a beginning");
    assert_eq!(rank("tor memory"), None);
    assert_eq!(rank(""), None);
}
