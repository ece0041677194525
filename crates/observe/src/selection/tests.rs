//! Tests of the whole selection, over the E5-2600's catalogue. Codes are those of the guide's tables.

use proptest::prelude::*;

use super::*;
use crate::testing::e5_2600;
use pericore_metrics::UnitOfMeasure;

fn select(text: &str) -> Selection {
    let mut selection = Selection::new(e5_2600());
    selection.add_events(text).unwrap_or_else(|error| panic!("{}\n{error}", error.caret()));
    selection
}

fn control(text: &str) -> u64 {
    select(text).events[0].programming().unwrap().control
}

fn refusal(text: &str) -> (usize, String) {
    let error = Selection::new(e5_2600()).add_events(text).unwrap_err();
    (error.spot.offset, error.to_string())
}

#[test]
fn the_same_event_in_everybodys_words() {
    for text in [
        "imc/CAS_COUNT.RD/",
        "imc/cas_count.rd/",
        "CAS_COUNT.RD",
        "UNC_M_CAS_COUNT.RD",
        "unc_m_cas_count.rd",
        "uncore_imc/event=0x4,umask=0x3/",
        "uncore_imc_*/event=0x4,umask=0x3/",
        "uncore_imc*/event=0x4,umask=0x3/",
        "imc/config=0x304/",
        "imc/config=0x400304/",
    ] {
        assert_eq!(control(text), 0x304, "{text}");
    }
    let both = select("imc/CAS_COUNT.RD/,uncore_imc/event=0x4,umask=0x3,name=reads/");
    assert_eq!(both.events.len(), 1, "equal counts are made once");
    assert_eq!(both.listed[1].label, "reads");
    assert_eq!(both.events[0].label, "imc/CAS_COUNT.RD/");
}

#[test]
fn instances_are_named_by_number() {
    let selection = select("imc2/CAS_COUNT.RD/,uncore_cbox_7/event=0x34,umask=0x3/,cbo/CLOCKTICKS/");
    let instances: Vec<_> = selection.events.iter().map(|event| (event.unit.name, event.instance)).collect();
    assert_eq!(instances, [("imc", Some(2)), ("cbo", Some(7)), ("cbo", None)]);
    assert_eq!(selection.events[1].programming().unwrap().counters, 0b0011, "raw events keep their restrictions");
    assert!(refusal("imc4/CAS_COUNT.RD/").1.contains("numbered from 0"));
}

#[test]
fn settings_reach_control_and_filter() {
    let selection = select("cbo/TOR_INSERTS.OPCODE,opc=DRd,tid=0x1E,thresh=1,edge_det/");
    let programming = selection.events[0].programming().unwrap();
    assert_eq!(programming.control, 0x0000_0135 | 1 << 24 | 1 << 18 | 1 << 19);
    let filters: Vec<_> = programming.filters.iter().map(|filter| (filter.field.name, filter.value)).collect();
    assert_eq!(filters, [("opc", 0x182), ("tid", 0x1e)]);
    let lookup = select("cbo/LLC_LOOKUP.DATA_READ/");
    assert_eq!(
        lookup.events[0].programming().unwrap().filters[0].value,
        0x1f,
        "the default of a filter that must be set"
    );
}

#[test]
fn errors_point_at_the_token_and_suggest() {
    let (offset, message) = refusal("imc/CAS_COUNT.RD/,cbo/LLC_VICTMS.M_STATE/");
    assert_eq!(offset, 22);
    assert!(message.contains("did you mean LLC_VICTIMS.M_STATE"), "{message}");
    let (offset, message) = refusal("cob/CLOCKTICKS/");
    assert_eq!(offset, 0);
    assert!(message.contains("did you mean cbo"), "{message}");
    let (offset, message) = refusal("cbo/CLOCKTICKS,treshold=1/");
    assert_eq!(offset, 15);
    assert!(message.contains("no field or filter \"treshold\""), "{message}");
    let (offset, message) = refusal("cbo/TOR_INSERTS.OPCODE,opc=DRdd/");
    assert_eq!(offset, 27);
    assert!(message.contains("did you mean DRd"), "{message}");
    assert_eq!(refusal("cbo/CLOCKTICKS,thresh=0x100/").0, 22);
    assert!(refusal("cbo/TOR_INSERTS.OPCODE/").1.contains("add opc="));
    assert!(refusal("cbo/CLOCKTICKS,opc=DRd/").1.contains("does not take the filter opc; it takes none"));
    assert!(refusal("CLOCKTICKS").1.contains("put the unit in front"));
    assert!(refusal("LLC_VICTIMS.M").1.contains("it has M_STATE"));
    assert!(refusal("cbo/LLC_VICTIMS/").1.contains("needs a subevent"));
    assert!(refusal("cbo/CLOCKTICKS,en=1/").1.contains("set by the session"));
    assert!(refusal("cbo/config=0x100000/").1.contains("reserved"));
    assert!(refusal("cbo/thresh=1/").1.contains("no event is chosen"));
}

#[test]
fn a_failed_addition_leaves_the_selection_as_it_was() {
    let mut selection = select("imc/CAS_COUNT.RD/");
    selection.add_events("imc/CAS_COUNT.WR/,imc/NOPE/").unwrap_err();
    assert_eq!((selection.events.len(), selection.listed.len()), (1, 1));
}

#[test]
fn counter_0s_echo_finds_its_companion() {
    let selection = select("{cbo/COUNTER0_OCCUPANCY,thresh=1/,cbo/RxR_OCCUPANCY.IRQ/},cbo/TOR_INSERTS.MISS_ALL/");
    let labels: Vec<&str> = selection.listed.iter().map(|listed| listed.label.as_str()).collect();
    assert_eq!(labels, ["cbo/COUNTER0_OCCUPANCY,thresh=1/", "cbo/RxR_OCCUPANCY.IRQ/", "cbo/TOR_INSERTS.MISS_ALL/"]);
    let echo = &selection.events[selection.listed[0].event];
    assert_eq!(echo.programming().unwrap().companion, Some(selection.listed[1].event));
    assert!(refusal("cbo/COUNTER0_OCCUPANCY,thresh=1/").1.contains("put it in a group"));
}

#[test]
fn metrics_bring_their_events_once() {
    let mut selection = select("imc/CAS_COUNT.RD/");
    selection.add_metrics("imc/MEM_BW_TOTAL, MEM_BW_READS").unwrap();
    let labels: Vec<&str> = selection.events.iter().map(|event| event.label.as_str()).collect();
    assert_eq!(labels, ["imc/CAS_COUNT.RD/", "imc/CAS_COUNT.WR/"]);
    let total = &selection.metrics[0];
    assert_eq!(total.expression.to_string(), "imc/CAS_COUNT.RD * 64 + imc/CAS_COUNT.WR * 64");
    assert_eq!(total.unit_of_measure, UnitOfMeasure::Bytes);
}

#[test]
fn metrics_reach_fixed_counters_and_companions() {
    let mut selection = Selection::new(e5_2600());
    selection.add_metrics("imc/PCT_CYCLES_PPD,AVG_INGRESS_LATENCY_WHEN_NE").unwrap();
    assert!(selection.events.iter().any(|event| matches!(event.source, EventSource::Fixed(_))));
    let echo = selection.events.iter().find(|event| event.measure() == Some(Measure::Counter0)).unwrap();
    let companion = echo.programming().unwrap().companion.unwrap();
    assert_eq!(selection.events[companion].label, "cbo/RxR_OCCUPANCY.IRQ/");
}

#[test]
fn metrics_of_our_own_and_unknown_ones() {
    let mut selection = Selection::new(e5_2600());
    let imc = e5_2600().unit("imc").unwrap();
    selection.add_expression("X", imc, "CAS_COUNT.RD / ha/REQUESTS.READS", UnitOfMeasure::Ratio).unwrap();
    assert_eq!(selection.events.len(), 2);
    let error = selection.add_expression("Y", imc, "CAS_COUNT.RD +", UnitOfMeasure::Ratio).unwrap_err();
    assert_eq!(error.spot.offset, 14);
    let error = selection.add_metrics("MEM_BW_TOTAL,MEM_BW_TOTALS").unwrap_err();
    assert_eq!(error.spot.offset, 13);
    assert!(error.to_string().contains("did you mean MEM_BW_TOTAL"), "{error}");
}

/// A name is looked for in both lists, and several units may have it: the message says what it is.
#[test]
fn a_metric_is_no_event_and_an_event_no_metric() {
    let family = pericore_catalog::family("emerald-rapids").unwrap();
    let metric = |text: &str| Selection::new(family).add_metrics(text).unwrap_err().to_string();
    let event = |text: &str| Selection::new(family).add_events(text).unwrap_err().to_string();
    let message = metric("IO_WRITE_BANDWIDTH");
    assert!(message.starts_with("IO_WRITE_BANDWIDTH is a metric of cha, iio;"), "{message}");
    assert!(event("CLOCKTICKS").starts_with("CLOCKTICKS is an event of "));
    for text in ["IO_WRITE_BANDWIDTH", "cha/IO_WRITE_BANDWIDTH/"] {
        let message = event(text);
        assert!(message.contains("is a metric, not an event: select it with -M cha/IO_WRITE_BANDWIDTH"), "{message}");
    }
    for text in ["imc/CAS_COUNT.RD", "CAS_COUNT.RD"] {
        let message = metric(text);
        assert!(
            message.contains("is an event, not a metric: select it with -e imc/CAS_COUNT.RD/"),
            "{text}: {message}"
        );
    }
}

#[test]
fn every_metric_of_the_family_resolves() {
    for unit in e5_2600().units {
        for metric in unit.metrics {
            let mut selection = Selection::new(e5_2600());
            let name = format!("{}/{}", unit.name, metric.name);
            // The frequency bands need bounds that only the user knows.
            if let Err(error) = selection.add_metrics(&name)
                && !matches!(&*error.problem, Problem::InMetric { problem, .. } if matches!(**problem, Problem::NeedsFilter { .. }))
            {
                panic!("{name}: {error}");
            }
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_selection_panic(text in "\\PC{0,40}|[a-z0-9_./{},= \n]{0,40}|(cbo|imc2|uncore_imc_1)/(CAS_COUNT.RD|event=0x[0-9]{1,9}|TOR_INSERTS.OPCODE|config=[0-9]{1,20})(,(opc|thresh|umask|edge|nid)(=[0-9a-zA-Z]{0,6})?){0,3}/?") {
        let mut selection = Selection::new(e5_2600());
        if let Err(error) = selection.add_events(&text) {
            prop_assert!(error.spot.offset + error.spot.length <= text.len());
            prop_assert!(error.caret().contains('^') && !error.to_string().is_empty());
            prop_assert!(selection.events.is_empty());
        }
        let _ = selection.add_metrics(&text);
    }
}

/// Tables 2-78 and 2-79 of the E5-2600 guide, Tables 1-9 to 1-12 of the Emerald Rapids guide: counters that only run have names too.
#[test]
fn free_running_counters_go_by_the_names_of_events() {
    let free = |family: &str, text: &str| {
        let mut selection = Selection::new(pericore_catalog::family(family).unwrap());
        selection.add_events(text).unwrap_or_else(|error| panic!("{}\n{error}", error.caret()));
        match selection.events[0].source {
            EventSource::FreeRunning { register, member } => (selection.events[0].label.clone(), register.name, member),
            _ => panic!("{text} is no free-running counter"),
        }
    };
    let c3 = ("pcu/CORE_C3_RESIDENCY/".to_owned(), "core_c3_ctr", 0);
    for text in ["pcu/CORE_C3_RESIDENCY/", "pcu/core_c3_residency/", "UNC_P_CORE_C3_RESIDENCY", "pcu/core_c3_ctr/"] {
        assert_eq!(free("e5-2600", text), c3, "{text}");
    }
    let port = ("iio/FRCTR_BW_IN_P3/".to_owned(), "free_bw_in", 3);
    for text in ["iio/FRCTR_BW_IN_P3/", "iio/free_bw_in3/", "FRCTR_BW_IN_P3"] {
        assert_eq!(free("emerald-rapids", text), port, "{text}");
    }
    assert_eq!(free("emerald-rapids", "imc2/FRCTR_DCLK/"), ("imc2/FRCTR_DCLK/".to_owned(), "free_dclk", 0));
    // Linux has PMUs of their own for them: one for each stack, and one for each memory controller, which has two channels.
    let named = |label: &str, register, member| (label.to_owned(), register, member);
    for (text, counter) in [
        ("uncore_iio_free_running_4/bw_in_port3/", named("iio4/FRCTR_BW_IN_P3/", "free_bw_in", 3)),
        ("uncore_iio_free_running/bw_out_port7/", named("iio/FRCTR_BW_OUT_P7/", "free_bw_out", 7)),
        ("uncore_iio_free_running_*/ioclk/", named("iio/FRCTR_IOCLK/", "free_ioclk", 0)),
        ("uncore_imc_free_running_0/dclk/", named("imc0/FRCTR_DCLK/", "free_dclk", 0)),
        ("uncore_imc_free_running_3/rpq_cycles/", named("imc6/FRCTR_RPQ_ACTIVE/", "free_rpq_active", 0)),
        ("UNCORE_IMC_free_running/wpq_cycles/", named("imc/FRCTR_WPQ_ACTIVE/", "free_wpq_active", 0)),
    ] {
        assert_eq!(free("emerald-rapids", text), counter, "{text}");
    }
    let emr = |text: &str| {
        let mut selection = Selection::new(pericore_catalog::family("emerald-rapids").unwrap());
        selection.add_events(text).unwrap_err().to_string()
    };
    for text in ["uncore_imc_free_running_0/event=0xff,umask=0x10/", "uncore_imc_free_running_0/CAS_COUNT.RD/"] {
        assert!(emr(text).ends_with("name one of them: dclk rpq_cycles wpq_cycles"), "{}", emr(text));
    }
    assert!(emr("uncore_imc_free_running_4/dclk/").contains("4"), "four controllers");
    assert!(emr("uncore_cha_free_running_0/dclk/").contains("no unit"));
    let (_, message) = refusal("pcu/CORE_C3_RESIDENSY/");
    assert!(message.contains("did you mean CORE_C3_RESIDENCY"), "{message}");
}

/// Table 2-161 of the Emerald Rapids guide: 0x03 is both pseudo-channels, each bit is one. Table 2-131 and the list of events: the two
/// clocks of the channel share code 0x01 and differ in the umask.
#[test]
fn an_event_whose_own_umask_counts_everything_needs_no_subevent() {
    let selected = |text: &str| {
        let mut selection = Selection::new(pericore_catalog::family("emerald-rapids").unwrap());
        selection.add_events(text).unwrap_or_else(|error| panic!("{}\n{error}", error.caret()));
        (selection.events[0].programming().unwrap().control, selection.events[0].label.clone())
    };
    assert_eq!(selected("imc/RDB_INSERTS/"), (0x317, "imc/RDB_INSERTS/".to_owned()));
    assert_eq!(selected("imc/RDB_INSERTS.PCH0/"), (0x117, "imc/RDB_INSERTS.PCH0/".to_owned()));
    assert_eq!(selected("imc/event=0x17,umask=0x2/"), (0x217, "imc/RDB_INSERTS.PCH1/".to_owned()));
    assert_eq!(selected("imc/event=0x1,umask=0x1/"), (0x101, "imc/CLOCKTICKS/".to_owned()));
    assert_eq!(selected("imc/event=0x1,umask=0x0/"), (0x1, "imc/HCLOCKTICKS/".to_owned()));
}

/// Table 2-76 of the E5-2600 guide: the frequency bands have bounds that only the user knows.
#[test]
fn metrics_take_the_filters_that_their_events_need() {
    let mut selection = Selection::new(e5_2600());
    selection.add_metrics("pcu/PCT_FREQ_BAND0{band0=0x12}, imc/MEM_BW_READS").unwrap();
    assert_eq!(selection.metrics.len(), 2);
    assert_eq!(selection.metrics[0].name, "PCT_FREQ_BAND0{band0=0x12}");
    let band = selection.events.iter().find(|event| event.label.contains("FREQ_BAND0")).unwrap();
    let filters: Vec<_> = band.programming().unwrap().filters.iter().map(|f| (f.field.name, f.value)).collect();
    assert_eq!(filters, [("band0", 0x12)]);
    let refusal = |text: &str| {
        let error = Selection::new(e5_2600()).add_metrics(text).unwrap_err();
        (error.spot.offset, error.to_string())
    };
    assert!(refusal("pcu/PCT_FREQ_BAND0").1.contains("needs the filter band0"));
    assert!(refusal("imc/MEM_BW_READS{band0=1}").1.contains("no field or filter \"band0\""));
    assert_eq!(refusal("MEM_BW_READS,pcu/PCT_FREQ_BAND0{band0=}").0, 38);
    assert_eq!(refusal("MEM_BW_READS{").0, 13);
    assert!(refusal("MEM_BW_READS}x").1.contains("no metric"));
}

/// The values that Linux's driver has behind its names (`uncore_snbep.c`, `uncore_snb.c`, in `event=…,umask=…`).
#[test]
fn names_of_the_linux_driver_count_what_they_count_there() {
    let control = |family: &str, text: &str| {
        let mut selection = Selection::new(pericore_catalog::family(family).unwrap());
        selection.add_events(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        // What only runs has none.
        selection.events[0].programming().map_or(0, |programming| programming.control)
    };
    for (family, text, value) in [
        ("e5-2600", "uncore_imc_0/cas_count_read/", 0x0304),
        ("e5-2600", "imc/cas_count_write/", 0x0c04),
        ("e5-2600", "uncore_qpi_1/txl_flits_active/", 0x0600),
        ("e5-2600", "uncore_qpi/drs_data,edge=1/", 1 << 21 | 1 << 18 | 0x0802),
        ("e5-2600", "uncore_qpi/ncb_data/", 1 << 21 | 0x0403),
        ("nehalem", "uncore/qmc_normal_reads_any/", 0x0f2c),
        ("nehalem", "uncore/qmc_writes_full_any/", 0x0f2f),
        ("nehalem", "uncore/qhl_request_remote_writes/", 0x0820),
        ("emerald-rapids", "uncore_imc_3/CAS_COUNT_READ/", 0xcf05),
        ("emerald-rapids", "uncore_imc/cas_count_write/", 0xf005),
    ] {
        assert_eq!(control(family, text), value, "{family} {text}");
    }
    let mut aliases = 0;
    for family in pericore_catalog::families() {
        for unit in family.units {
            for (alias, _) in unit.perf_events {
                control(family.name, &format!("{}/{alias}/", unit.name));
                aliases += 1;
            }
        }
    }
    // Sapphire Rapids has the 22 of the blocks that it shares with Emerald Rapids: five of imc, seventeen of iio.
    assert_eq!(aliases, 15 + 17 + 3 + 22);
}

/// perf's event numbers of QPI have nine bits: the ninth is the extension, bit 21 of the control (E5-2600 guide,
/// Table 2-95; `uncore_snbep.c`).
#[test]
fn an_event_number_reaches_its_extension_and_no_further() {
    for (text, value) in [
        ("uncore_qpi/event=0x38,umask=0x1/", 0x0138),
        ("uncore_qpi/event=0x102,umask=0x8/", 1 << 21 | 0x0802),
        ("uncore_qpi/event=0x1ff/", 1 << 21 | 0xff),
    ] {
        assert_eq!(control(text), value, "{text}");
    }
    for text in ["uncore_qpi/event=0x202/", "uncore_qpi/event=0x302/", "imc/event=0x104/", "imc/event=0x4,umask=0x103/"]
    {
        assert!(refusal(text).1.contains("too large") || refusal(text).1.contains("at most"), "{}", refusal(text).1);
    }
}

#[test]
fn a_mistaken_key_is_answered_with_all_keys() {
    let (_, message) = refusal("cbo/CLOCKTICKS,treshold=1/");
    for key in ["thresh", "edge_det", "invert"] {
        assert!(message.contains(key), "{key} is not in: {message}");
    }
}

/// The same row with another band, and rows of one name in two units, are metrics of their own; the same again is not.
#[test]
fn metrics_are_one_if_unit_name_and_filters_are() {
    let mut selection = Selection::new(e5_2600());
    let both = "pcu/PCT_FREQ_BAND0{band0=0x12},pcu/PCT_FREQ_BAND0{band0=0x14}";
    selection.add_metrics(both).unwrap();
    selection.add_metrics(both).unwrap();
    let names: Vec<&str> = selection.metrics.iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!(names, ["PCT_FREQ_BAND0{band0=0x12}", "PCT_FREQ_BAND0{band0=0x14}"]);
}

/// `limits` stands for all metrics that tell one, in any case of letters. It takes no settings: they would be of
/// different units.
#[test]
fn limits_are_selected_together_and_take_no_settings() {
    for text in ["limits", "Limits"] {
        let mut selection = Selection::new(e5_2600());
        selection.add_metrics(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(!selection.metrics.is_empty());
    }
    let mut selection = Selection::new(e5_2600());
    let refused = selection.add_metrics("limits{tid=1}").unwrap_err();
    assert!(refused.to_string().contains("limits without settings"), "{refused}");
    assert!(selection.metrics.is_empty() && selection.events.is_empty());
}

/// Table 2-17 of the guide: bits 0 and 1 of the umask of LLC_VICTIMS (0x37) are states M and E; both have no name.
#[test]
fn a_label_keeps_a_umask_that_has_no_name() {
    let label = |text: &str| select(text).events[0].label.clone();
    assert_eq!(label("cbo/event=0x37,umask=0x1/"), "cbo/LLC_VICTIMS.M_STATE/");
    assert_eq!(label("cbo/event=0x37,umask=0x3/"), "cbo/LLC_VICTIMS,umask=0x3/");
}
