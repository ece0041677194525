//! Plans for the E5-2600, checked against hand-written accesses from the guide's tables.

use pericore_registers::{Address, Operation};

use super::*;
use crate::discover::discover;
use crate::testing::{CPUS, Fake, e5_2600};

fn plan(events: &str) -> Result<Plan, PlanError> {
    let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut selection = Selection::new(e5_2600());
    selection.add_events(events).unwrap();
    Plan::new(&topology, selection)
}

fn accesses(steps: &[Step]) -> Vec<String> {
    let place = |address: Address| match address {
        Address::Msr { cpu, msr } => format!("{cpu}:{msr:03x}"),
        Address::Pci { bdf, offset } => format!("{:x}:{:x}.{:x}+{offset:x}", bdf.bus, bdf.device, bdf.function),
        Address::Mmio { physical } => format!("{physical:x}"),
    };
    let text = |step: &Step| match step.operation {
        Operation::Read { address, .. } => place(address),
        Operation::Write { address, value, .. } => format!("{}={value:x}", place(address)),
    };
    steps.iter().map(text).collect()
}

#[test]
fn a_cbo_follows_the_guides_letters() {
    let plan = plan("cbo0/LLC_VICTIMS.M_STATE/,cbo0/TOR_OCCUPANCY.OPCODE,opc=DRd/").unwrap();
    let socket = &plan.sockets[1];
    assert_eq!(accesses(&socket.inspect), ["2:d10", "2:d11", "2:d12", "2:d13", "2:d14", "2:d04"]);
    assert_eq!(
        accesses(&socket.setup),
        [
            "2:d04=10000",    // a
            "2:d04=10100",    // b
            "2:d14=c1000000", // the opcode filter
            "2:d11=400137",   // c and d: the occupancy needs counter 0
            "2:d10=400136",
            "2:d04=10102", // e
            "2:d17",       // baselines
            "2:d16",
            "2:d04=10000", // f
        ]
    );
    assert_eq!(accesses(&socket.freeze), ["2:d04=10100"]);
    assert_eq!(accesses(&socket.read), ["2:d17", "2:d16"]);
    assert_eq!(accesses(&socket.resume), ["2:d04=10000"]);
    assert_eq!(plan.cost().accesses(), 2 * 4);
}

#[test]
fn a_channel_is_zeroed_by_hand_and_its_fixed_counter_serves() {
    let plan = plan("imc1/CAS_COUNT.RD/,imc1/DCLK_FIXED/").unwrap();
    assert_eq!(
        accesses(&plan.sockets[0].setup),
        [
            "ff:10.1+f4=10000",
            "ff:10.1+f4=10100",
            "ff:10.1+f0=400000",
            "ff:10.1+d8=400304",
            "ff:10.1+d0=0",
            "ff:10.1+a0=0",
            "ff:10.1+d0",
            "ff:10.1+a0",
            "ff:10.1+f4=10000",
        ]
    );
    // A sample of each of two sockets: the freeze, two counters of 8 bytes, which are two cycles each, and the resume.
    let cost = plan.cost();
    assert_eq!((cost.pci_cycles, cost.system_calls), (2 * (1 + 2 * 2 + 1), 2 * 4));
}

#[test]
fn the_ubox_has_no_freeze_and_starts_right_before_the_others() {
    let plan = plan("ubox/UCLK_FIXED/,cbo0/CLOCKTICKS/").unwrap();
    let setup = accesses(&plan.sockets[0].setup);
    assert_eq!(setup[setup.len() - 2..], ["0:c08=400000", "0:d04=10000"]);
    assert!(setup.contains(&"0:c09=0".to_owned()));
    assert_eq!(accesses(&plan.sockets[0].freeze), ["0:d04=10100"]);
}

#[test]
fn events_for_all_and_for_one_instance_share_a_counter() {
    let plan = plan("imc/CAS_COUNT.RD/,imc2/CAS_COUNT.RD/").unwrap();
    let used: Vec<Vec<usize>> = plan.sockets[0].instances.iter().map(|i| i.counters[0].events.clone()).collect();
    assert_eq!(used, [vec![0], vec![0], vec![0, 1], vec![0]]);
    assert!(plan.sockets[0].instances.iter().all(|instance| instance.counters.len() == 1));
}

const VICTIMS: &str = "cbo0/LLC_VICTIMS.M_STATE/,cbo0/LLC_VICTIMS.E_STATE/,cbo0/LLC_VICTIMS.S_STATE/,cbo0/CLOCKTICKS/";

#[test]
fn too_much_takes_turns_with_the_bound_that_it_meets() {
    let plan = plan(VICTIMS).unwrap();
    let instance = &plan.sockets[0].instances[0];
    assert_eq!((plan.rounds(), instance.rounds, instance.bound.rounds), (2, 2, 2));
    assert_eq!(instance.bound.to_string(), "3 events count only on counters 0, 1");
    let mut served: Vec<usize> = instance.counters.iter().flat_map(|counter| counter.events.clone()).collect();
    served.sort_unstable();
    assert_eq!(served, [0, 1, 2, 3]);
}

#[test]
fn a_change_of_rounds_sets_what_differs_and_reads_where_counters_stand() {
    let plan = plan("cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/").unwrap();
    let socket = &plan.sockets[1];
    let instance = &socket.instances[0];
    assert_eq!(accesses(&socket.inspect), ["2:d10", "2:d11", "2:d12", "2:d13", "2:d14", "2:d04"]);
    let switches: Vec<Vec<String>> = instance.switch.iter().map(|steps| accesses(steps)).collect();
    // States 4:0 lie in bits 22:18 of the filter.
    assert_eq!(switches[0], ["2:d14=40000", "2:d10=400334", "2:d16"]);
    assert_eq!(switches[1], ["2:d14=7c0000", "2:d10=400334", "2:d16"]);
    assert_eq!(instance.bound.to_string(), "the filter state is needed with 2 values, by events on counters 0, 1");
    // Freeze, one counter, resume; and for a change the filter, the control and the new baseline as well: in two sockets.
    let costs = [plan.cost(), plan.switch_cost()].map(|cost| (cost.reads, cost.writes, cost.system_calls));
    assert_eq!(costs, [(2, 4, 6), (4, 8, 12)]);
}

#[test]
fn a_group_that_does_not_fit_is_refused_with_the_reason() {
    let message =
        plan("{cbo/LLC_LOOKUP.DATA_READ,state=0x1/,cbo/LLC_LOOKUP.DATA_READ,state=0x1F/}").unwrap_err().to_string();
    assert!(
        message.contains("it needs the filter state=0x1f, but cbo/LLC_LOOKUP.DATA_READ,state=0x1/ sets state=0x1"),
        "{message}"
    );
    assert!(message.contains("take events out of the group"), "{message}");
}

#[test]
fn why_not_names_the_constraint() {
    let conflicts = |events: &str| {
        let mut selection = Selection::new(e5_2600());
        selection.add_events(events).unwrap();
        why_not(&selection).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let [only] = &conflicts(VICTIMS)[..] else { panic!("one unit") };
    assert!(only.contains("LLC_VICTIMS.S_STATE/: it counts only on counters 0, 1, needed by"), "{only}");
    assert!(conflicts("cbo/CLOCKTICKS/,imc/CAS_COUNT.RD/").is_empty());
}

/// Table 2-13: LLC_VICTIMS counts on counters 0 and 1. With counter 1 another tool's, two of them do not fit.
/// That tool is named, too.
#[test]
fn a_counter_that_another_tool_uses_is_its_and_not_our_own_events() {
    let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut occupied = Occupied::default();
    occupied.note(0, e5_2600().unit("cbo").unwrap(), 0, Some(1));
    let mut selection = Selection::new(e5_2600());
    selection.add_events("{cbo/LLC_VICTIMS.M_STATE/,cbo/LLC_VICTIMS.E_STATE/}").unwrap();
    let message = Plan::beside(&topology, selection, &occupied).unwrap_err().to_string();
    let why = "it counts only on counters 0, 1: another tool uses counter 1 (--take-over takes them), and \
               cbo/LLC_VICTIMS.M_STATE/ needs counter 0";
    assert!(message.contains(why), "{message}");
}

#[test]
fn beside_others_nothing_is_frozen_or_reset() {
    let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut selection = Selection::new(e5_2600());
    selection.add_events("cbo0/LLC_VICTIMS.M_STATE/").unwrap();
    let mut occupied = Occupied::default();
    occupied.note(1, e5_2600().unit("cbo").unwrap(), 0, Some(0));
    let plan = Plan::beside(&topology, selection, &occupied).unwrap();
    assert_eq!(accesses(&plan.sockets[0].freeze), ["0:d04=10100"], "the other socket is ours");
    assert!(plan.sockets[1].freeze.is_empty() && plan.sockets[1].resume.is_empty());
    assert_eq!(accesses(&plan.sockets[1].setup), ["2:d11=0", "2:d17=0", "2:d17", "2:d11=400137"]);
}

#[test]
fn equal_filters_are_shared() {
    let plan =
        plan("cbo/TOR_OCCUPANCY.OPCODE,opc=DRd/,cbo/TOR_INSERTS.OPCODE,opc=DRd/,cbo/COUNTER0_OCCUPANCY,thresh=1/")
            .unwrap();
    let filters: Vec<_> = plan.sockets[0].setup.iter().filter(|step| step.purpose == Purpose::Filter).collect();
    assert_eq!(filters.len(), 8, "one write for each slice");
}

#[test]
fn a_unit_that_does_not_answer_is_named() {
    let error = plan("qpi/CLOCKTICKS/").unwrap_err();
    assert!(error.to_string().contains("no PCI function at 0000:ff:08.2"), "{error}");
}

#[test]
fn the_safe_interval_follows_width_and_increment() {
    let narrow = plan("cbo/TOR_OCCUPANCY.ALL/").unwrap().safe_interval();
    assert!((narrow - 2_f64.powi(44) / (20.0 * 5e9)).abs() < 1e-6);
}

#[test]
fn nehalem_counters_are_gated_by_the_global_control() {
    let family = pericore_catalog::family("nehalem").unwrap();
    let uncore = family.unit("uncore").unwrap();
    let mut socket = Socket::new(0, 0, None);
    socket.set_presence(uncore, vec![crate::discover::Presence::Present]);
    let topology = Topology { family, sockets: vec![socket] };
    let mut selection = Selection::new(family);
    selection.add_events("uncore/GQ_CYCLES_FULL.READ_TRACKER/,uncore/fixed_ctr/").unwrap();
    let plan = Plan::new(&topology, selection).unwrap();
    let socket = &plan.sockets[0];
    assert_eq!(
        accesses(&socket.setup),
        ["0:391=0", "0:395=1", "0:3c0=400100", "0:394=0", "0:3b0=0", "0:394", "0:3b0", "0:391=100000001"]
    );
    assert_eq!(accesses(&socket.freeze), ["0:391=0"]);
    assert_eq!(accesses(&socket.resume), ["0:391=100000001"]);
    assert_eq!(accesses(&socket.inspect)[8..], ["0:395", "0:391"]);
}

/// Five events on four counters, and the fixed counter, which never takes turns: a change of rounds costs no reading
/// of it. Freeze, at most four counts, then for each of four counters its control, its zero and its new baseline, and
/// the resume.
#[test]
fn a_change_of_rounds_costs_what_takes_turns_alone() {
    let events = "imc1/CAS_COUNT.RD/,imc1/CAS_COUNT.WR/,imc1/ACT_COUNT/,imc1/PRE_COUNT.PAGE_MISS/,imc1/RPQ_INSERTS/";
    let turns = |more: &str| plan(&format!("{events}{more}")).unwrap().switch_cost();
    let (alone, beside) = (turns(""), turns(",imc1/DCLK_FIXED/"));
    assert_eq!(alone, beside);
    assert_eq!(alone, turns(",imc2/CAS_COUNT.RD/,cbo0/CLOCKTICKS/"), "what is counted all the time runs on");
    // Two sockets.
    assert!(alone.reads >= 2 * (4 + 1) && alone.reads <= 2 * (4 + 4), "{alone}");
}

/// Table 2-13: RING_AD_USED counts on counters 2 and 3 only, and another tool has both.
#[test]
fn the_upper_counters_of_another_tool_are_named() {
    let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut occupied = Occupied::default();
    [2, 3].into_iter().for_each(|counter| occupied.note(0, e5_2600().unit("cbo").unwrap(), 0, Some(counter)));
    let mut selection = Selection::new(e5_2600());
    selection.add_events("cbo/RING_AD_USED.UP_EVEN/").unwrap();
    let message = Plan::beside(&topology, selection, &occupied).unwrap_err().to_string();
    let why = "it counts only on counters 2, 3, which another tool uses (--take-over takes them)";
    assert!(message.contains(why), "{message}");
    assert!(message.contains("cbo cannot count cbo/RING_AD_USED.UP_EVEN/ at the same time"), "{message}");
}

/// SDM 18.8.2: bit n of 0x391 enables counter n, bit 32 the fixed one. Of nine events one has a second turn on a
/// counter that has served already.
#[test]
fn nehalems_counters_stay_enabled_in_every_round() {
    let family = pericore_catalog::family("nehalem").unwrap();
    let uncore = family.unit("uncore").unwrap();
    let mut socket = Socket::new(0, 0, None);
    socket.set_presence(uncore, vec![crate::discover::Presence::Present]);
    let topology = Topology { family, sockets: vec![socket] };
    let mut selection = Selection::new(family);
    let of_the_cache = "LLC_HITS.READ LLC_HITS.WRITE LLC_HITS.PROBE LLC_MISS.READ LLC_MISS.WRITE LLC_MISS.PROBE";
    let others = "LLC_LINES_IN.ANY LLC_LINES_OUT.ANY QHL_REQUESTS.LOCAL_READS";
    let events = of_the_cache.split_whitespace().chain(others.split_whitespace());
    let events: Vec<String> = events.map(|event| format!("uncore/{event}/")).collect();
    selection.add_events(&events.join(",")).unwrap();
    let plan = Plan::new(&topology, selection).unwrap();
    assert_eq!(plan.rounds(), 2);
    assert_eq!(accesses(&plan.sockets[0].setup).last().map(String::as_str), Some("0:391=ff"));
    assert_eq!(accesses(&plan.sockets[0].resume), ["0:391=ff"]);
    // What `--dry-run` prints: the enables of others, bits 32 and 62:61 among them, are kept.
    let printed = plan.sockets[0].freeze[0].to_string();
    assert!(
        printed.starts_with("write ") && printed.contains("<- 0x0, keeps 0x") && printed.ends_with("(freeze)"),
        "{printed}"
    );
    let printed = plan.sockets[0].read[0].to_string();
    assert!(printed.starts_with("read  ctr") && !printed.contains("keeps"), "{printed}");
}

/// The unit has four counters, and an event of an own catalogue asks for the seventh: no other tool is to blame,
/// whether one counts there or not.
#[test]
fn an_event_for_a_counter_that_the_unit_lacks_blames_nobody() {
    use super::assign::{Demand, assign};
    let demand = Demand { label: "imc/odd/", counters: 1 << 6, filters: &[], companion: None };
    let imc = e5_2600().unit("imc").unwrap();
    for available in [0b1111, 0b1110] {
        let refused = assign(&[demand], available).unwrap_err();
        let message = PlanError::does_not_fit(imc, 0, &[demand], available, &refused).to_string();
        assert!(message.contains("imc/odd/: imc counts on none of its 4 counters; leave it out"), "{message}");
    }
}

/// A count on every counter, as `doctor --selfcheck` has it, leaves out the fixed counter (0xF0, 0xD0) where another
/// tool uses it, and has the one of the other socket.
#[test]
fn on_every_counter_leaves_out_the_fixed_one_of_others() {
    let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut occupied = Occupied::default();
    occupied.note(0, e5_2600().unit("imc").unwrap(), 1, None);
    let mut selection = Selection::new(e5_2600());
    selection.on_every_counter = true;
    selection.add_events("imc1/CLOCKTICKS/,imc1/DCLK_FIXED/").unwrap();
    let plan = Plan::beside(&topology, selection, &occupied).unwrap();
    let of_fixed = |socket: usize| {
        let accesses = accesses(&plan.sockets[socket].setup);
        accesses.into_iter().filter(|access| access.contains("+f0") || access.contains("+d0")).collect::<Vec<_>>()
    };
    assert_eq!(of_fixed(0), [""; 0]);
    assert_eq!(of_fixed(1), ["7f:10.1+f0=400000", "7f:10.1+d0=0", "7f:10.1+d0"]);
    assert_eq!(plan.sockets.iter().map(|part| part.instances[0].counters.len()).collect::<Vec<_>>(), [4, 5]);
}

/// Who looks twice knows what either look has found: programmable counters and the fixed one.
#[test]
fn what_two_looks_have_found_is_known_together() {
    let imc = e5_2600().unit("imc").unwrap();
    let found = |counters: &[Option<u8>]| {
        let mut occupied = Occupied::default();
        counters.iter().for_each(|&counter| occupied.note(0, imc, 1, counter));
        occupied
    };
    for (one, other) in [(&[Some(0)][..], &[Some(2), None][..]), (&[Some(0), None], &[Some(2)])] {
        let mut both = found(one);
        both.merge(&found(other));
        let taken = both.of(0, imc, 1);
        assert_eq!((taken.counters, taken.fixed), (0b101, true), "{one:?} and {other:?}");
    }
}

/// The socket's freeze is one register of a unit's first instance: a plan that counts in another instance of that unit
/// gets the first one beside it, without counters, and one that has it already gets no second.
#[test]
fn a_gate_is_in_the_first_instance_of_its_unit() {
    let [imc, cbo] = ["imc", "cbo"].map(|name| e5_2600().unit(name).unwrap());
    let mut instances =
        plan("imc1/CAS_COUNT.RD/,imc0/CAS_COUNT.RD/,cbo3/CLOCKTICKS/").unwrap().sockets[0].instances.clone();
    let names = |instances: &[InstancePlan]| instances.iter().map(InstancePlan::name).collect::<Vec<_>>();
    assert_eq!(names(&instances), ["cbo3", "imc0", "imc1"]);
    assert_eq!((index_of(&mut instances, imc), instances.len()), (1, 3));
    assert_eq!((index_of(&mut instances, cbo), index_of(&mut instances, cbo)), (3, 3));
    assert_eq!(names(&instances), ["cbo3", "imc0", "imc1", "cbo0"]);
    assert_eq!((instances[3].counters.len(), instances[3].rounds), (0, 1));
}

/// The E5-2600 has no freeze by overflow (guide, 2.1), and before that come reasons of the request itself. Channels
/// count 48 bits.
#[test]
fn samples_by_overflow_are_refused_with_the_first_reason() {
    let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let five = "imc1/CAS_COUNT.RD/,imc1/CAS_COUNT.WR/,imc1/ACT_COUNT/,imc1/PRE_COUNT.PAGE_MISS/,imc1/RPQ_INSERTS/";
    for (events, socket, event, period, words) in [
        ("imc1/CAS_COUNT.RD/", 2, 0, 1, "it is not counted in that socket"),
        (five, 0, 0, 1, "events take turns; ask for fewer"),
        ("imc/CAS_COUNT.RD/", 0, 0, 1, "name one instance of its unit"),
        ("imc1/CAS_COUNT.RD/", 0, 1, 1, "name one instance of its unit"),
        ("imc1/CAS_COUNT.RD/,imc1/DCLK_FIXED/", 0, 1, 1, "it is not counted by a programmable counter"),
        ("imc1/CAS_COUNT.RD/", 0, 0, 0, "the period does not fit the counter"),
        ("imc1/CAS_COUNT.RD/", 0, 0, 1 << 48, "the period does not fit the counter"),
        ("imc1/CAS_COUNT.RD/", 0, 0, (1 << 48) - 1, "its overflow cannot stop the counters"),
        ("imc1/CAS_COUNT.RD/,cbo0/CLOCKTICKS/", 1, 1, 1, "its overflow cannot stop the counters"),
    ] {
        let refused = plan(events).unwrap().sampled(&topology, Trigger { socket, event, period }).unwrap_err();
        assert!(refused.to_string().contains(words), "{events}, {event}: {refused}");
    }
}
