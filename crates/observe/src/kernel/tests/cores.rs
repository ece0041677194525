//! Events of the cores: each CPU counts for itself.

use super::super::counting::KernelCounters;
use super::*;
use crate::run::Backend;

/// arch/x86/events/intel/core.c of Linux 6.12, of Ice Lake.
const FORMATS: &[(&str, &str)] = &[
    ("event", "config:0-7"),
    ("umask", "config:8-15"),
    ("edge", "config:18"),
    ("pc", "config:19"),
    ("inv", "config:23"),
    ("cmask", "config:24-31"),
    ("offcore_rsp", "config1:0-63"),
    ("frontend", "config1:0-23"),
];

/// Two packages of eight CPUs, and the cores' PMU, which has no mask of CPUs. Its events are of forms of their own.
fn cores() -> tempfile::TempDir {
    let folder = tree(&[]);
    let of = |file: &str| format!("sys/bus/event_source/devices/cpu/{file}");
    FORMATS.iter().for_each(|(term, text)| put(folder.path(), &of(&format!("format/{term}")), &format!("{text}\n")));
    put(folder.path(), &of("events/mem-loads"), "event=0xcd,umask=0x1,ldlat=3\n");
    put(folder.path(), &of("events/topdown-total-slots.snapshot"), "1\n");
    folder
}

fn of_ice_lake(folder: &Path, events: &str) -> Result<KernelPlan, KernelError> {
    let mut selection = Selection::new(pericore_catalog::kernel::family("icx").unwrap().family());
    selection.add_events(events).unwrap();
    pmus(folder)?.prepare(selection)
}

/// INST_RETIRED.ANY is 0xc0 for the kernel's fixed counter 0; UOPS_ISSUED.ANY is 0x0e/0x01.
#[test]
fn each_cpu_is_an_instance_of_its_package() {
    let folder = cores();
    let plan = of_ice_lake(folder.path(), "cpu/INST_RETIRED.ANY/,cpu9/UOPS_ISSUED.ANY,cmask=1/").unwrap();
    let fixed: Vec<_> = plan.counters.iter().filter(|counter| counter.event.attributes.words[0] == 0xc0).collect();
    assert_eq!(fixed.iter().map(|counter| counter.cpu).collect::<Vec<_>>(), (0..16).collect::<Vec<_>>());
    assert!(fixed.iter().all(|counter| (counter.pmu.as_str(), counter.kind) == ("cpu", 4)));
    let numbers = |socket: usize| plan.plan.sockets[socket].instances.iter().map(|instance| instance.number);
    assert!(numbers(0).eq(0..8) && numbers(1).eq(8..16));
    let others: Vec<_> = plan.counters.iter().filter(|counter| counter.event.attributes.words[0] != 0xc0).collect();
    let [other] = others[..] else { panic!("{others:?}") };
    assert_eq!((other.cpu, other.event.attributes.words), (9, [0x0100_010e, 0, 0, 0]));
}

/// OCR.DEMAND_RFO.L3_HIT.SNOOP_HITM of Intel's file: 0xb7/0x01 with the response 0x10003c0002.
#[test]
fn details_go_into_the_second_word_and_privileges_into_none() {
    let folder = cores();
    let events = "cpu0/OCR.DEMAND_RFO.L3_HIT.SNOOP_HITM/,cpu1/INST_RETIRED.ANY,os=1/,cpu2/INST_RETIRED.ANY,usr=1/,\
                  cpu3/INST_RETIRED.ANY,usr=1,os=1/";
    let plan = of_ice_lake(folder.path(), events).unwrap();
    let found: Vec<_> = plan
        .counters
        .iter()
        .map(|counter| (counter.cpu, counter.event.attributes.words, counter.event.attributes.privilege))
        .collect();
    let of_instructions = |cpu, privilege| (cpu, [0xc0, 0, 0, 0], privilege);
    assert_eq!(
        found,
        [
            (0, [0x01b7, 0x10_003c_0002, 0, 0], Privilege::All),
            of_instructions(1, Privilege::Kernel),
            of_instructions(2, Privilege::User),
            of_instructions(3, Privilege::All),
        ]
    );
    assert_eq!(plan.counters[1].event.to_string(), "event=0xc0:k");
}

/// Linux counts the shares of the slots (0x8000 and on) behind the slots (0x0400) alone.
#[test]
fn shares_of_the_slots_are_counted_behind_the_slots() {
    let folder = cores();
    let shares = "cpu5/PERF_METRICS.RETIRING/,cpu5/PERF_METRICS.BACKEND_BOUND/";
    for (events, wanted) in [
        (shares.to_owned(), vec![Some(200), Some(300)]),
        (
            format!("{shares},cpu5/TOPDOWN.SLOTS/,cpu5/INST_RETIRED.ANY/"),
            vec![Some(200), Some(300), Some(100), Some(7)],
        ),
    ] {
        let stand = Stand::default();
        let plan = of_ice_lake(folder.path(), &events).unwrap();
        let mut counters = KernelCounters::start_with(stand.clone(), &Root::at(folder.path()), plan, at(0.0)).unwrap();
        let opened: Vec<_> =
            stand.0.borrow().opened.iter().map(|(_, attributes, _, leader)| (attributes.words[0], *leader)).collect();
        let slots = opened.iter().position(|(config, _)| *config == 0x0400).expect("the slots");
        let led: Vec<_> =
            opened.iter().filter(|(_, leader)| *leader == Some(slots)).map(|(config, _)| *config).collect();
        assert_eq!((opened[slots].1, led), (None, vec![0x8000, 0x8300]), "{events}");
        assert_eq!(opened.len(), wanted.len() + usize::from(wanted.len() == 2));
        // The stand-in's leader counts once, its members twice and three times as much.
        let second = 1_000_000_000;
        let rates = (0..opened.len()).map(|leader| (leader, (second, second, if leader == slots { 100 } else { 7 })));
        stand.0.borrow_mut().rates = rates.collect();
        let mut counts: Vec<_> =
            counters.sample(&at(1.0)).counts.into_iter().map(|count| (count.event, count.count)).collect();
        counts.sort_unstable();
        assert_eq!(counts.into_iter().map(|(_, count)| count).collect::<Vec<_>>(), wanted, "{events}");
    }
}

#[test]
fn the_cores_pmu_is_no_driver_of_the_uncore() {
    let folder = cores();
    assert_eq!(of_ice_lake(folder.path(), "imc/CAS_COUNT.RD/").unwrap_err(), KernelError::NoDriver);
    let none = tree(&[]);
    fs::remove_dir_all(none.path().join("sys/bus/event_source/devices/cpu")).unwrap();
    assert_eq!(pmus(none.path()).unwrap_err(), KernelError::NoDriver);
}
