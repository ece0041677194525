//! What the kernel is asked for: PMU, CPU and attributes, by hand from the drivers' source.

use super::*;

/// PMU, CPU, config, config1, config2 of each counter.
fn requests(events: &str) -> Vec<(String, u32, [u64; 3])> {
    let folder = tree(E5_2600);
    let plan = prepared(folder.path(), events).unwrap_or_else(|error| panic!("{events}: {error}"));
    let requested = plan.counters.iter().map(|counter| {
        let [config, config1, config2, 0] = counter.event.attributes.words else { panic!("{counter:?}") };
        (counter.pmu.clone(), counter.cpu, [config, config1, config2])
    });
    requested.collect()
}

/// The config words on the first PMU.
fn words(events: &str) -> [u64; 3] {
    requests(events)[0].2
}

#[test]
fn each_pmu_counts_on_the_cpus_of_its_mask() {
    let read = [0x304, 0, 0];
    let places: Vec<_> = requests("imc/CAS_COUNT.RD/");
    let expected = [("uncore_imc_0", 0), ("uncore_imc_3", 0), ("uncore_imc_0", 8), ("uncore_imc_3", 8)];
    assert_eq!(places, expected.map(|(pmu, cpu)| (pmu.to_owned(), cpu, read)));
    let folder = tree(E5_2600);
    let plan = prepared(folder.path(), "imc/CAS_COUNT.RD/,ha/CLOCKTICKS/").unwrap().plan;
    let names = |socket: usize| -> Vec<String> {
        plan.sockets[socket].instances.iter().map(|instance| instance.name()).collect()
    };
    // Numbers that are missing stay missing; the home agent's PMU counts in one socket only.
    assert_eq!(
        (names(0), names(1)),
        (["ha", "imc0", "imc3"].map(str::to_owned).to_vec(), ["imc0", "imc3"].map(str::to_owned).to_vec())
    );
    assert_eq!(plan.operations().count(), 0, "no register access");
    assert_eq!(plan.safe_interval(), f64::INFINITY);
}

/// Guide of the E5-2600 for the codes; the words' bits from the formats above.
#[test]
fn fields_and_filters_go_where_the_formats_place_them() {
    assert_eq!(words("cbo0/CLOCKTICKS/"), [0, 0, 0]);
    assert_eq!(words("cbo0/LLC_VICTIMS.M_STATE/"), [0x137, 0, 0]);
    assert_eq!(words("cbo0/TOR_OCCUPANCY.MISS_OPCODE,opc=0x182/"), [0x336, 0xc100_0000, 0]);
    assert_eq!(words("cbo0/RxR_INSERTS.IRQ,thresh=2,edge,invert/"), [0x0284_0113 | 1 << 23, 0, 0]);
    assert_eq!(words("cbo0/RxR_INSERTS.IRQ,tid=0x1f/"), [0x8_0113, 0x1f, 0]);
    // The second page of QPI events: bit 21.
    assert_eq!(words("qpi0/RxL_FLITS_G1.DRS_DATA/"), [0x20_0802, 0, 0]);
    // The kernel's format for this field names bits 14 to 51; its driver takes bit 31.
    assert_eq!(words("pcu/event=0x80,occ_sel=1,occ_edge_det=1/"), [0x8000_4080, 0, 0]);
    // The fixed counter.
    assert_eq!(words("imc0/DCLK_FIXED/"), [0xff, 0, 0]);
}

fn refusal(events: &str) -> String {
    let folder = tree(E5_2600);
    prepared(folder.path(), events).unwrap_err().to_string()
}

#[test]
fn what_a_pmu_cannot_express_is_refused_by_name() {
    let wide = refusal("pcu/event=0x80,ev_sel_ext=1/");
    assert!(
        wide.contains("uncore_pcu") && wide.contains("ev_sel+ev_sel_ext=0x180: format/event (config:0-7) has 8 bits"),
        "{wide}"
    );
    let filter = refusal("qpi0/event=0x38,match_dnid=3/");
    assert!(filter.contains("filter match_dnid=0x3") && filter.contains("format/match_dnid"), "{filter}");
    // The driver sets no filter for LLC_LOOKUP of any kind (umask 0x11).
    let dropped = refusal("cbo0/event=0x34,umask=0x11,state=0x1/");
    assert!(dropped.contains("takes filter_state for other events only"), "{dropped}");
    let absent = refusal("imc1/CAS_COUNT.RD/");
    assert!(absent.contains("no uncore_imc_1 in any socket; it has uncore_imc_0 uncore_imc_3"), "{absent}");
    let kind = refusal("r2pcie/CLOCKTICKS/");
    assert!(kind.contains("no uncore_r2pcie for r2pcie") && kind.contains("uncore_cbox uncore_ha"), "{kind}");
}

#[test]
fn without_a_driver_the_module_is_named() {
    let folder = tree(&[]);
    assert_eq!(prepared(folder.path(), "imc0/CAS_COUNT.RD/").unwrap_err(), KernelError::NoDriver);
    fs::remove_dir_all(folder.path().join("sys/bus")).unwrap();
    let error = pmus(folder.path()).unwrap_err().to_string();
    assert!(error.contains("mount sysfs"), "{error}");
}

#[test]
fn files_that_lie_are_named() {
    for (file, text, word) in [
        ("type", "x\n", "type"),
        ("cpumask", "\n", "cpumask"),
        ("cpumask", "0-70000\n", "cpumask"),
        ("cpumask", "31\n", "cpu 31"),
        ("format/umask", "config:15-8\n", "format/umask"),
        ("format/umask", "config:8-15,15\n", "bit 15 twice"),
        ("events/cas_count_read", "event=\n", "events/cas_count_read"),
        ("events/cas_count_read.scale", "NaN\n", "cas_count_read.scale"),
    ] {
        let folder = tree(E5_2600);
        put(folder.path(), &format!("sys/bus/event_source/devices/uncore_imc_0/{file}"), text);
        let error = prepared(folder.path(), "imc0/CAS_COUNT.RD/").unwrap_err().to_string();
        assert!(error.contains("uncore_imc_0") && error.contains(word), "{file} {text:?}: {error}");
        // Others count all the same.
        assert!(prepared(folder.path(), "cbo/CLOCKTICKS/").is_ok());
    }
}

#[test]
fn scales_and_units_of_named_events_are_read() {
    let folder = tree(E5_2600);
    let pmu = Pmu::read(&Root::at(folder.path()), "uncore_imc_0").unwrap();
    let named = pmu.event("cas_count_read").unwrap();
    assert_eq!((named.scale, named.unit.as_deref()), (Some(64.0 / 1_048_576.0), Some("MiB")));
    assert_eq!(named.terms, [("event".to_owned(), 4), ("umask".to_owned(), 3)]);
    let error = pmu.attributes([("event", 4), ("filter_opc", 1)]).unwrap_err().to_string();
    assert!(error.contains("no term filter_opc"), "{error}");
}

/// uncore_discovery.c and spr_uncore_* of Linux 6.1: types without a name, CHAs whose umask goes on at bit 32, and
/// free-running counters with PMUs of their own, one for each controller of two channels.
#[test]
fn emerald_rapids_has_nameless_types_and_free_running_pmus() {
    let cha: &[_] = &[
        ("event", "config:0-7"),
        ("umask", "config:8-15,32-55"),
        ("tid_en", "config:16"),
        ("edge", "config:18"),
        ("inv", "config:23"),
        ("thresh", "config:24-31"),
        ("filter_tid", "config1:0-9"),
    ];
    let free: &[_] = &[("event", "config:0-7"), ("umask", "config:8-15")];
    let clock: &[_] = &[("dclk", "event=0xff,umask=0x10")];
    for (ubox, cxl) in [("uncore_type_5", "uncore_type_12_1"), ("uncore_ubox", "uncore_cxlcm_1")] {
        let folder = tree(&[
            ("uncore_cha_0", "0", cha, &[]),
            ("uncore_imc_free_running_0", "0", free, clock),
            ("uncore_imc_free_running_1", "0", free, clock),
            (ubox, "0", PLAIN, &[]),
            (cxl, "0", PLAIN, &[]),
        ]);
        let events =
            "cha/event=0x35,umask=0xc817fe01/,imc/FRCTR_DCLK/,ubox/EVENT_MSG.DOORBELL_RCVD/,cxlcm/TxC_FLITS.PROT/";
        let plan = pmus(folder.path()).unwrap().prepare(selection("emerald-rapids", events)).unwrap();
        let requested: Vec<_> = plan
            .counters
            .iter()
            .map(|c| {
                (plan.plan.sockets[c.socket].instances[c.instance].name(), c.pmu.as_str(), c.event.attributes.words[0])
            })
            .collect();
        let expected = [
            ("ubox", ubox, 0x0842),
            ("cha0", "uncore_cha_0", 0x00c8_17fe_0000_0135),
            ("imc0", "uncore_imc_free_running_0", 0x10ff),
            ("imc2", "uncore_imc_free_running_1", 0x10ff),
            ("cxlcm1", cxl, 0x0205),
        ];
        let mut expected = expected.map(|(instance, pmu, config)| (instance.to_owned(), pmu, config)).to_vec();
        expected.sort();
        let mut requested = requested;
        requested.sort();
        assert_eq!(requested, expected);
    }
}

/// uncore_nhmex.c's neighbour uncore_nhm in uncore_snb.c: one PMU without a number, whose threshold is called cmask.
#[test]
fn nehalem_has_one_pmu_without_a_number() {
    let formats: &[_] = &[
        ("event", "config:0-7"),
        ("umask", "config:8-15"),
        ("edge", "config:18"),
        ("inv", "config:23"),
        ("cmask", "config:24-31"),
    ];
    let folder = tree(&[("uncore", "0,8", formats, &[("clockticks", "event=0xff,umask=0x00")])]);
    let events = "uncore/QMC_NORMAL_READS,umask=0x0f,thresh=3/";
    let plan = pmus(folder.path()).unwrap().prepare(selection("nehalem", events)).unwrap();
    let requested: Vec<_> =
        plan.counters.iter().map(|c| (c.pmu.as_str(), c.cpu, c.event.attributes.words[0])).collect();
    assert_eq!(requested, [("uncore", 0, 0x0300_0f2c), ("uncore", 8, 0x0300_0f2c)]);
}

/// As perf takes them (perf-list(1)): names have letters, digits and underscores, and a name alone stands for 1.
#[test]
fn terms_are_read_as_perf_writes_them() {
    let term = |name: &str, value| (name.to_owned(), value);
    let read = parse_terms("event=0x34,umask=17,filter_state=0X1f,edge\n");
    let expected = vec![term("event", 0x34), term("umask", 17), term("filter_state", 0x1f), term("edge", 1)];
    assert_eq!(read, Some(expected));
    for wrong in ["", "event=", "event=0x", "filter-state=1", "event=1,,edge", "=1", "thresh>=1"] {
        assert_eq!(parse_terms(wrong), None, "{wrong:?}");
    }
}
