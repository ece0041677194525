//! What Linux's driver offers. Expectations are by hand from Intel's event files and from the driver's source.

use pericore_catalog::FilterNeed;
use pericore_catalog::kernel::{self, IntelNames, NotOffered, ShippedKernel};

fn family(code: &str) -> &'static ShippedKernel {
    kernel::family(code).unwrap()
}

/// What perf takes for an event, by Intel's name.
fn perf(code: &str, name: &str) -> Result<String, NotOffered> {
    let mut found: Vec<_> = kernel::intel_events(family(code)).filter(|event| event.name == name).collect();
    assert_eq!(found.len(), 1, "{code}: {name}");
    found.remove(0).perf.map(|perf| perf.to_string())
}

#[test]
fn every_row_of_intels_files_is_there() {
    // Counted in the files themselves, of the versions that the tables name.
    let rows = [
        ("jkt", 540),
        ("ivt", 1074),
        ("hsx", 1278),
        ("bdx", 1284),
        ("bdw-de", 900),
        ("knl", 459),
        ("skx", 3308),
        ("clx", 3419),
        ("icx", 3987),
        ("snr", 2520),
        ("spr", 2282),
        ("emr", 2304),
        ("gnr", 848),
        ("srf", 776),
        ("grr", 438),
        ("cwf", 776),
    ]; // rustfmt keeps pairs together
    for (code, count) in rows {
        let of_uncore = kernel::intel_events(family(code)).filter(|event| event.unit.name != "cpu");
        assert_eq!(of_uncore.count(), count, "{code}");
    }
    assert_eq!(rows.iter().map(|(_, count)| count).sum::<usize>(), 26_193);
}

#[test]
fn events_are_selected_as_the_driver_names_their_fields() {
    let same = [
        // The extension of the umask is above its eight bits, in one number.
        ("icx", "UNC_CHA_TOR_INSERTS.IA_MISS_DRD", "uncore_cha/event=0x35,umask=0xc817fe01/"),
        // QPI has an extended event select: format event=config:0-7,21.
        ("jkt", "UNC_Q_CTO_COUNT", "uncore_qpi/event=0x138/"),
        // The old power units have no umask; its upper bits choose an occupancy.
        ("ivt", "UNC_P_POWER_STATE_OCCUPANCY.CORES_C6", "uncore_pcu/event=0x80,occ_sel=0x3/"),
        ("skx", "UNC_P_POWER_STATE_OCCUPANCY.CORES_C6", "uncore_pcu/event=0x80,umask=0xc0/"),
        ("skx", "UNC_IIO_DATA_REQ_OF_CPU.MEM_WRITE.PART0", "uncore_iio/event=0x83,umask=0x1,ch_mask=0x1,fc_mask=0x7/"),
        ("gnr", "UNC_IIO_DATA_REQ_OF_CPU.MEM_WRITE.PART0", "uncore_iio/event=0x83,umask=0x1,ch_mask=0x1,fc_mask=0x7/"),
        // Here Intel gives the class only as an extension: bits 50:48 of the control register.
        ("spr", "UNC_IIO_NUM_TGT_MATCHED_REQ_OF_CPU", "uncore_iio/event=0x8f,fc_mask=0x7/"),
        // 0x40433 in filter 1: remote, local, near memory and not, opcode 0x202 (bits 18:9).
        (
            "skx",
            "UNC_CHA_TOR_INSERTS.IA_HIT_DRD",
            "uncore_cha/event=0x35,umask=0x11,filter_rem=0x1,filter_loc=0x1,filter_nm=0x1,filter_not_nm=0x1,\
             filter_opc0=0x202/",
        ),
        // The driver's own codes of fixed and free-running counters.
        ("skx", "UNC_M_CLOCKTICKS_F", "uncore_imc/event=0xff/"),
        ("icx", "UNC_M_CLOCKTICKS_FREERUN", "uncore_imc_free_running/event=0xff,umask=0x10/"),
        ("emr", "UNC_IIO_BANDWIDTH_OUT.PART7_FREERUN", "uncore_iio_free_running/event=0xff,umask=0x37/"),
        // The driver's name for the channels of Knights Landing is that of all memory controllers.
        ("knl", "UNC_M_CAS_COUNT.RD", "uncore_imc/event=0x3,umask=0x1/"),
        ("emr", "UNC_MCHBM_CAS_COUNT.RD", "uncore_hbm/event=0x5,umask=0xcf/"),
        // Only on Emerald Rapids, whose table is one of differences.
        ("emr", "UNC_CHA_TOR_INSERTS.IA_MISS_DRD_CXL_EXP_LOCAL", "uncore_cha/event=0x35,umask=0x20c8168201/"),
    ];
    for (code, name, expected) in same {
        assert_eq!(perf(code, name).as_deref(), Ok(expected), "{code}: {name}");
    }
}

#[test]
fn what_the_driver_cannot_do_is_refused_with_the_reason() {
    // SNBEP_PCU_MSR_PMON_RAW_EVENT_MASK lacks bit 21, the extension of the event select.
    let bits = NotOffered::NoField { pmu: "uncore_pcu", bits: 1 << 21 };
    assert_eq!(perf("jkt", "UNC_P_CORE0_TRANSITION_CYCLES"), Err(bits));
    assert_eq!(perf("jkt", "UNC_I_CLOCKTICKS"), Err(NotOffered::NoPmu { family: "e5-2600", unit: "irp" }));
    // icx_iio_freerunning has clocks and what comes in.
    let counter = NotOffered::NoCounter { pmu: "uncore_iio_free_running" };
    assert_eq!(perf("icx", "UNC_IIO_BANDWIDTH_OUT.PART0_FREERUN"), Err(counter));
    assert!(perf("icx", "UNC_IIO_BANDWIDTH_IN.PART0_FREERUN").is_ok());
    let ice_lake = family("icx").family();
    let filter = kernel::perf_event(ice_lake, "cha", 0x35, &[("opc", 0x182)]);
    assert_eq!(filter, Err(NotOffered::NoFilter { pmu: "uncore_cha", filter: "opc".to_owned() }));
}

#[test]
fn families_go_by_intels_codes_and_by_their_processors() {
    let named = [
        ("ICX", "ice-lake"),
        ("icelakex", "ice-lake"),
        ("gnr", "granite-rapids"),
        ("spr", "sapphire-rapids"),
        ("emr", "emerald-rapids"),
        ("jkt", "e5-2600"),
        ("bdw-de", "broadwell-de"),
        ("nhm", "nehalem"),
        ("cwf", "clearwater-forest"),
        ("srf", "sierra-forest"),
    ];
    for (name, expected) in named {
        assert_eq!(family(name).name, expected);
    }
    assert!(kernel::family("rpl").is_none());
    // mapfile.csv: model 0x55 is Skylake up to stepping 4, Cascade Lake from 5 on; AD and AE are both Granite Rapids.
    let of_cpu = |model, stepping| kernel::family_of_cpu(6, model, stepping).map(|family| family.code);
    assert_eq!([of_cpu(0x55, 4), of_cpu(0x55, 5), of_cpu(0x55, 15)], [Some("skx"), Some("clx"), Some("clx")]);
    assert_eq!(
        [of_cpu(0xae, 1), of_cpu(0xcf, 2), of_cpu(0x6c, 0), of_cpu(0x8c, 1)],
        [Some("gnr"), Some("emr"), Some("icx"), None]
    );
    assert!(family("icx").is_without_registers() && !family("emr").is_without_registers());
}

#[test]
fn a_file_is_of_the_family_that_its_header_names() {
    let of = |header, file| kernel::family_of_file(header, file).map(|family| family.code);
    let events = "Performance Monitoring Events for Intel(R) Xeon(R) 6 Processor with P-cores - V1.20";
    // The headers of metric files end in a stray 0.
    let metrics = "Performance Monitoring Metrics for Intel(R) Xeon(R) 6 Processor with P-cores0";
    assert_eq!((of(Some(events), "mine.json"), of(Some(metrics), "mine.json")), (Some("gnr"), Some("gnr")));
    let plus = "Performance Monitoring Events for Intel(R) Xeon(R) 6+ (codenamed Clearwater Forest) - V1.04";
    assert_eq!(of(Some(plus), "graniterapids_uncore.json"), Some("cwf"));
    // Without a header, such as Linux's lists, the name says it; other names and headers nothing.
    assert_eq!((of(None, "emeraldrapids_uncore.json"), of(None, "Jaketown_uncore.json")), (Some("emr"), Some("jkt")));
    assert_eq!(
        (of(None, "mine.json"), of(Some("Performance Monitoring Events for X"), "uncore-cache.json")),
        (None, None)
    );
}

#[test]
fn a_family_without_registers_has_units_fields_and_events_as_others_have() {
    let skylake = family("skx").family();
    let cha = skylake.unit("cha").unwrap();
    let (event, code) = (cha.event("TOR_INSERTS").unwrap(), 0x35);
    let subevent = event.subevent("IA_HIT_DRD").unwrap();
    assert_eq!((event.code, subevent.config, subevent.counters), (code, 0x1135, 0xf));
    let control = cha.register(pericore_catalog::Role::Control).unwrap();
    let bits = |name: &str| control.field(name).map(|field| (field.bits.msb(), field.bits.lsb));
    assert_eq!((bits("ev_sel"), bits("thresh"), bits("tid_en")), (Some((7, 0)), Some((31, 24)), Some((19, 19))));
    assert_eq!((bits("invert"), bits("edge_det"), cha.counters), (Some((23, 23)), Some((18, 18)), 4));
    let (_, opcode) = cha.filter_field("opc0").unwrap();
    assert_eq!((opcode.bits.msb(), opcode.bits.lsb), (50, 41));
    // The driver drops bit 21 of Ivy Bridge's power unit: the field is there, so that it can be refused by its name.
    let control_of = |unit: &str| {
        let unit = family("ivt").family().unit(unit).unwrap();
        unit.register(pericore_catalog::Role::Control).unwrap().field("ev_sel_ext").map(|field| field.bits.lsb)
    };
    assert_eq!((control_of("pcu"), control_of("qpi"), control_of("ha")), (Some(21), Some(21), None));
    let names = IntelNames::new(skylake, "cha");
    assert_eq!(names.of(event, Some(subevent)).as_deref(), Some("UNC_CHA_TOR_INSERTS.IA_HIT_DRD"));
    // A deprecated name keeps its own; Intel's names there do not begin as the unit's others do.
    let old = cha.event("UNC_H_CLOCK").unwrap();
    assert_eq!(names.of(old, None).as_deref(), Some("UNC_H_CLOCK"));
}

#[test]
fn families_with_registers_have_intels_names_too() {
    let emerald = pericore_catalog::family("emerald-rapids").unwrap();
    let imc = emerald.unit("imc").unwrap();
    let names = IntelNames::new(emerald, "imc");
    let event = imc.event("CAS_COUNT").unwrap();
    let reads = event.subevent("RD").unwrap();
    assert_eq!(names.of(event, Some(reads)).as_deref(), Some("UNC_M_CAS_COUNT.RD"));
    let perf = names.perf(emerald, "imc", event, Some(reads)).unwrap();
    assert_eq!(perf.to_string(), "uncore_imc/event=0x5,umask=0xcf/");
    // A driver that does not know the type calls it by its number in the discovery table.
    assert_eq!(perf.pmus, ["uncore_imc", "uncore_type_6"]);
}

/// Intel's files name the filters of an event: one field, which it needs, or a whole register, each of whose fields
/// narrows the count. A value that they give is set: 0x40433 in filter 1, as above.
#[test]
fn events_have_the_filters_that_intels_files_name() {
    let skylake = family("skx").family();
    let cha = skylake.unit("cha").unwrap();
    let requests = cha.event("TOR_INSERTS").unwrap();
    let hits = requests.subevent("IA_HIT_DRD").unwrap();
    let need = |field: &str| hits.filters.iter().find(|used| used.field == field).map(|used| used.need);
    assert_eq!([need("opc0"), need("rem")], [Some(FilterNeed::Default(0x202)), Some(FilterNeed::Default(1))]);
    assert_eq!(need("opc1"), Some(FilterNeed::Optional));
    let lookups = cha.event("LLC_LOOKUP").unwrap().subevent("ANY").unwrap();
    let state = lookups.filters.iter().find(|used| used.field == "state").map(|used| used.need);
    assert_eq!(state, Some(FilterNeed::Required));
    // QPI's match and mask registers.
    let packets = family("ivt").family().unit("qpi").unwrap().event("CTO_COUNT").unwrap();
    for field in ["match_opc", "mask_opc", "match_rds"] {
        let need = packets.filters.iter().find(|used| used.field == field).map(|used| used.need);
        assert_eq!(need, Some(FilterNeed::Optional), "{field}");
    }
    let perf = IntelNames::new(skylake, "cha").perf(skylake, "cha", requests, Some(hits)).unwrap();
    let filters = "filter_rem=0x1,filter_loc=0x1,filter_nm=0x1,filter_not_nm=0x1,filter_opc0=0x202";
    assert_eq!(perf.to_string(), format!("uncore_cha/event=0x35,umask=0x11,{filters}/"));
}
