//! Groups, and what each failure to open a counter means.

use super::super::counting::KernelCounters;
use super::*;

fn start(events: &str, refuses: Option<Refuses>) -> (Result<KernelCounters<Stand>, KernelError>, Stand) {
    let folder = tree(E5_2600);
    let stand = Stand::default();
    stand.0.borrow_mut().refuses = refuses;
    let plan = prepared(folder.path(), events).unwrap();
    (KernelCounters::start_with(stand.clone(), &Root::at(folder.path()), plan, at(0.0)), stand)
}

#[test]
fn groups_are_opened_as_groups_and_closed_with_the_counters() {
    let (counters, stand) = start("{imc0/CAS_COUNT.RD/,imc0/CAS_COUNT.WR/},imc0/CLOCKTICKS/", None);
    let opened: Vec<_> = stand
        .0
        .borrow()
        .opened
        .iter()
        .map(|(_, attributes, cpu, leader)| (*cpu, attributes.words[0], *leader))
        .collect();
    let of = |cpu, first| [(cpu, 0x304, None), (cpu, 0xc04, Some(first)), (cpu, 0, None)];
    assert_eq!(opened, [of(0, 0), of(8, 3)].concat());
    assert_eq!(stand.0.borrow().log, ["start 0", "start 2", "start 3", "start 5"]);
    drop(counters);
    assert_eq!(stand.0.borrow().open, 0);
}

#[test]
fn what_forbids_counting_has_a_text_of_its_own() {
    let refusal = |refuses: Refuses| {
        let (counters, stand) = start("imc0/CAS_COUNT.RD/", Some(refuses));
        assert_eq!(stand.0.borrow().open, 0, "nothing is left open");
        counters.err().expect("it is refused").to_string()
    };
    // perf_event_paranoid is 0 in the folder, so that the rule of the kernel is not the reason.
    for (refuses, words) in [
        ((|_, _| Some(libc::EPERM)) as Refuses, "seccomp profile"),
        (|_, _| Some(libc::EACCES), "a security module"),
        (|_, _| Some(libc::ENOSYS), "no perf_event_open"),
        (|_, _| Some(libc::EMFILE), "ulimit -Hn"),
        (|_, _| Some(libc::ENODEV), "cpu 0, which counts for uncore_imc_0, went offline"),
        (|_, _| Some(libc::EINVAL), "none of the terms alone is the reason"),
        (|_, _| Some(libc::ENFILE), "fs.file-max"),
        (|_, _| Some(libc::ENOMEM), "no memory for"),
        (|_, _| Some(libc::ENOENT), "nobody in the kernel counts for its type"),
        (|_, _| Some(libc::EBUSY), "held by others"),
        (|_, _| Some(libc::EOPNOTSUPP), "for the whole system"),
        (|_, _| Some(libc::EFAULT), "perf_event_open: "),
        // The umask, bits 8 to 15.
        (
            |attributes, _| (attributes.words[0] & 0xff00 != 0).then_some(libc::EINVAL),
            "it takes the event without umask=0x3 (format/umask says config:8-15)",
        ),
    ] {
        let text = refusal(refuses);
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_pmu_that_is_gone_and_a_rule_of_the_kernel_differ() {
    let folder = tree(E5_2600);
    let plan = prepared(folder.path(), "imc0/CAS_COUNT.RD/").unwrap();
    let stand = Stand::default();
    stand.0.borrow_mut().refuses = Some(|_, _| Some(libc::ENOENT));
    fs::remove_dir_all(folder.path().join("sys/bus/event_source/devices/uncore_imc_0")).unwrap();
    let error = KernelCounters::start_with(stand, &Root::at(folder.path()), plan, at(0.0)).err().unwrap();
    assert_eq!(error, KernelError::Disappeared { pmu: "uncore_imc_0".to_owned() });
}

#[test]
fn a_group_that_does_not_fit_is_refused_if_the_user_wrote_it_and_split_if_a_metric_did() {
    let no_members: Refuses = |_, leader| leader.map(|_| libc::EINVAL);
    let (refused, _) = start("{imc0/CAS_COUNT.RD/,imc0/CAS_COUNT.WR/}", Some(no_members));
    let text = refused.err().unwrap().to_string();
    assert!(text.contains("does not fit its counters together with the others of its group"), "{text}");
    let folder = tree(E5_2600);
    let mut wanted = Selection::new(pericore_catalog::family("e5-2600").unwrap());
    wanted.add_metrics("imc/MEM_BW_TOTAL").unwrap();
    let plan = pmus(folder.path()).unwrap().prepare(wanted).unwrap();
    let of_metric = plan.counters.len();
    for (refuses, leaders) in [(None, of_metric / 2), (Some(no_members), of_metric)] {
        let stand = Stand::default();
        stand.0.borrow_mut().refuses = refuses;
        let counters =
            KernelCounters::start_with(stand.clone(), &Root::at(folder.path()), plan.clone(), at(0.0)).unwrap();
        assert_eq!(stand.0.borrow().log.len(), leaders);
        drop(counters);
    }
}

/// A system call reads a group. Of two sockets each: a group of two and a lone event; one of two states at a time; and
/// the fixed counter beside five events on four counters, of which four or one are read.
#[test]
fn a_sample_costs_a_system_call_for_each_group() {
    let folder = tree(E5_2600);
    let cost = |events: &str| {
        let KernelCost { groups, counters, turning } = prepared(folder.path(), events).unwrap().cost();
        (groups, counters, turning)
    };
    assert_eq!(cost("{imc0/CAS_COUNT.RD/,imc0/CAS_COUNT.WR/},imc0/CLOCKTICKS/"), (4, 6, 0));
    assert_eq!(cost("imc0/CAS_COUNT.RD/,imc0/CAS_COUNT.WR/,imc3/CAS_COUNT.RD/"), (6, 6, 0));
    assert_eq!(cost("cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/"), (2, 2, 2));
    let five = "imc0/CAS_COUNT.RD/,imc0/CAS_COUNT.WR/,imc0/ACT_COUNT/,imc0/PRE_COUNT.PAGE_MISS/,imc0/RPQ_INSERTS/";
    assert_eq!(cost(&format!("{five},imc0/DCLK_FIXED/")), (10, 10, 8));
    assert_eq!(cost("ha/CLOCKTICKS/"), (1, 1, 0), "one socket has the PMU");
}
