//! Sessions beside others: our own on the same machine, and counters of other tools. Nobody disturbs anybody, and every number is right.
//!
//! Addresses stand here by hand: E5-2600 327043-001, Tables 2-8 and 2-58; Emerald Rapids Table 1-8; Nehalem SDM 18.8.2.

use pericore_metrics::Grade;
use pericore_observe::discover::Topology;
use pericore_observe::plan::{Freeze, Occupied, Plan, Purpose};
use pericore_observe::session::{
    Journal, JournalError, Left, Manners, Options, OtherSessions, Refusal, Sample, Session, prepare, survey,
    survey_sockets,
};
use pericore_registers::{Address, RegisterSpace, Width};
use pericore_tests::pmon::raw::CYCLE;
use pericore_tests::session::shared::Shared;

fn sample(session: &mut Session<Shared>) -> Sample {
    session.sample(|space| space.moment())
}

/// Everything that a session of ours does, one at a time: enter, prepare, start, leave.
fn join(
    machine: &Shared,
    topology: &Topology,
    events: &str,
    freeze: Freeze,
    journals: &OtherSessions,
    number: u32,
) -> Result<Session<Shared>, Refusal> {
    let entrance = journals.enter().expect("the directory can be written");
    let manners = Manners { freeze, take_over: false };
    let plan = prepare(&mut machine.clone(), topology, machine.selection(events), manners, Some(journals))?;
    let options = Options {
        journal: Some(journals.journal(number)),
        other_sessions: Some(journals.clone()),
        ..Options::default()
    };
    let session = machine.start(plan, options);
    drop(entrance);
    Ok(session)
}

/// The journals in a directory, of sessions on this machine since it was started.
fn in_this_boot(directory: &tempfile::TempDir) -> OtherSessions {
    OtherSessions::new(directory.path(), "local", "this boot")
}

fn assert_all(sample: &Sample, expected: u64) {
    assert!(!sample.counts.is_empty());
    for count in &sample.counts {
        assert_eq!((count.count, count.validity.grade()), (Some(expected), Grade::Measured), "{}", count.validity);
    }
}

#[test]
fn a_second_session_is_refused_with_the_process_and_may_wait() {
    let machine = Shared::new("e5-2600", 1);
    let topology = machine.topology();
    let directory = tempfile::tempdir().expect("a directory");
    let journals = in_this_boot(&directory);
    let mut first =
        join(&machine, &topology, "cbo/CLOCKTICKS/", Freeze::Cheapest, &journals, 1).expect("nobody is there");
    let refused = join(&machine, &topology, "cbo/LLC_VICTIMS.M_STATE/", Freeze::Cheapest, &journals, 2);
    let Err(refusal @ Refusal::Busy { .. }) = refused else { panic!("the units are taken") };
    let text = refusal.to_string();
    assert!(text.contains(&format!("in process {}", std::process::id())) && text.contains("--wait"), "{text}");
    // The fixed counter of a unit that somebody freezes would stand with it.
    let mut channels =
        join(&machine, &topology, "imc/CAS_COUNT.RD/", Freeze::Cheapest, &journals, 4).expect("free units");
    let fixed = join(&machine, &topology, "imc/DCLK_FIXED/", Freeze::Cheapest, &journals, 5);
    assert!(matches!(fixed, Err(Refusal::Busy { .. })), "the channels are frozen by another");
    assert_all(&sample(&mut channels), 0);
    channels.stop().expect("all is put back");
    // Other units are free, and neither sees the other.
    let mut second = join(&machine, &topology, "imc/DCLK_FIXED/", Freeze::Cheapest, &journals, 2).expect("free units");
    for _ in 0..3 {
        machine.run(100);
        assert_all(&sample(&mut first), 100);
        assert_all(&sample(&mut second), 100);
    }
    // `restore` leaves sessions alone that run.
    let [one, other] = &journals.others().expect("readable")[..] else { panic!("two sessions") };
    assert!(one.runs && other.runs);
    assert!(matches!(Left::open(&one.path), Err(JournalError::Runs { .. })));
    // One waits for the first; it ends, and its units are free.
    let Refusal::Busy { neighbours, .. } = refusal else { unreachable!() };
    let waiting =
        std::thread::spawn(move || neighbours.iter().try_for_each(pericore_observe::session::Neighbour::wait));
    first.stop().expect("all is put back");
    waiting.join().expect("no panic").expect("it waited");
    let mut third = join(&machine, &topology, "cbo/CLOCKTICKS/", Freeze::Cheapest, &journals, 3).expect("free again");
    machine.run(50);
    assert_all(&sample(&mut third), 50);
    assert_all(&sample(&mut second), 50);
    second.stop().and(third.stop()).expect("all is put back");
    assert!(journals.others().expect("readable").is_empty(), "no journal is left");
}

#[test]
fn sessions_that_never_freeze_share_units() {
    for (family, events) in [
        ("e5-2600", ["cbo/CLOCKTICKS/,imc/CAS_COUNT.RD/", "cbo/CLOCKTICKS/"]),
        ("emerald-rapids", ["cha/CLOCKTICKS/", "cha/CLOCKTICKS/,upi/CLOCKTICKS/"]),
    ] {
        let machine = Shared::new(family, 2);
        let topology = machine.topology();
        let directory = tempfile::tempdir().expect("a directory");
        let journals = in_this_boot(&directory);
        let mut first = join(&machine, &topology, events[0], Freeze::Never, &journals, 1).expect("nobody is there");
        machine.run(10);
        let mut second = join(&machine, &topology, events[1], Freeze::Never, &journals, 2).expect("counters are left");
        let clocks = |session: &mut Session<Shared>, expected: u64| {
            let sample = sample(session);
            let clock = |event: usize| session.plan().selection.events[event].label.contains("CLOCKTICKS");
            let counts = sample.counts.iter().filter(|count| clock(count.event));
            counts.for_each(|count| assert_eq!(count.count, Some(expected), "{family}: {}", count.validity));
        };
        machine.run(30);
        clocks(&mut second, 30);
        clocks(&mut first, 40);
        machine.run(5);
        second.stop().expect("all is put back");
        machine.run(5);
        clocks(&mut first, 10);
        // One that freezes leaves their units unfrozen.
        let third = join(&machine, &topology, events[1], Freeze::Cheapest, &journals, 3).expect("counters are left");
        assert!(third.plan().sockets.iter().all(|part| part.gate.is_none()));
        machine.run(20);
        drop(third);
        machine.run(20);
        clocks(&mut first, 40);
        first.stop().expect("all is put back");
    }
}

#[test]
fn what_a_killed_session_left_is_named() {
    let machine = Shared::new("e5-2600", 1);
    let topology = machine.topology();
    let directory = tempfile::tempdir().expect("a directory");
    let journals = in_this_boot(&directory);
    // As a session does, which so makes the folder.
    drop(journals.enter().expect("nobody else is there"));
    let entry = journals.journal(7);
    let left = Journal { pid: 4242, started: 0, boot: entry.boot, machine: entry.machine, saved: Vec::new() };
    drop(left.write(&entry.path).expect("written"));
    let refused = join(&machine, &topology, "cbo/CLOCKTICKS/", Freeze::Cheapest, &journals, 1);
    let Err(refusal @ Refusal::Left { pid: 4242, .. }) = refused else { panic!("it is seen") };
    assert!(refusal.to_string().contains("pericore restore --journal"), "{refusal}");
    // Another boot's journal says nothing about these registers.
    let later = OtherSessions::new(entry.path.parent().expect("a directory"), "local", "the next boot");
    join(&machine, &topology, "cbo/CLOCKTICKS/", Freeze::Cheapest, &later, 1).expect("free").stop().expect("put back");
}

/// Somebody's control in the MDF block of socket 0 (a unit that we do not use) keeps that socket from being frozen as a whole.
#[test]
fn the_socket_is_frozen_only_where_nobody_else_counts() {
    let machine = Shared::new("emerald-rapids", 2);
    let topology = machine.topology();
    let events = "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/";
    let gates = |occupied: &Occupied| {
        let plan = Plan::beside(&topology, machine.selection(events), occupied).expect("it fits");
        let writes = |part: &pericore_observe::plan::SocketPlan| {
            part.freeze.iter().filter(|step| step.purpose == Purpose::Freeze).count()
        };
        plan.sockets.iter().map(|part| (part.gate.is_some(), writes(part))).collect::<Vec<_>>()
    };
    assert_eq!(gates(&Occupied::default()), [(false, 8), (false, 8)], "nobody has looked");
    let free = survey_sockets(&mut machine.clone(), &topology).expect("readable");
    assert!(free.is_empty());
    assert_eq!(gates(&free), [(true, 1), (true, 1)]);
    // CHA 5 of socket 0, control 2 (Table 1-9: 0x2000 + 0x10 n): clocks.
    machine.0.borrow_mut().wrmsr(0x2054, 0x01);
    let occupied = survey_sockets(&mut machine.clone(), &topology).expect("readable");
    assert_eq!(gates(&occupied), [(false, 8), (true, 1)]);
    assert!(!occupied.is_empty());
    // And in a unit that is used, that unit is not frozen either: channel 3 of socket 0, control 3.
    let channel = Address::Mmio { physical: imc(&machine, &topology, 3) + 0x4c };
    machine.clone().write(channel, Width::B4, 0x0101).expect("a channel");
    let occupied = survey_sockets(&mut machine.clone(), &topology).expect("readable");
    assert_eq!(gates(&occupied), [(false, 7), (true, 1)]);
    let plan =
        Plan::beside(&topology, machine.selection("imc/CLOCKTICKS/,imc/CAS_COUNT.RD/"), &occupied).expect("it fits");
    let before = (
        machine.msr(0x205a),
        machine.clone().read(Address::Mmio { physical: imc(&machine, &topology, 3) + 0x20 }, Width::B8),
    );
    let mut session = machine.start(plan, Options::default());
    for _ in 0..4 {
        machine.run(25);
        let sample = sample(&mut session);
        let clocks = sample.counts.iter().filter(|count| count.event == 0);
        clocks.for_each(|count| assert_eq!(count.count, Some(25), "{}", count.validity));
    }
    session.stop().expect("all is put back");
    let after = (
        machine.msr(0x205a),
        machine.clone().read(Address::Mmio { physical: imc(&machine, &topology, 3) + 0x20 }, Width::B8),
    );
    assert_eq!(
        (after.0 - before.0, after.1.expect("a count") - before.1.expect("a count")),
        (100, 100),
        "they never stood"
    );
}

/// A session that stops a whole socket by its one freeze (Emerald Rapids, Table 1-8) stops every unit of it: units
/// that it does not count itself are free in the other socket alone, and again when it has ended.
#[test]
fn who_freezes_a_socket_keeps_every_unit_of_it() {
    let machine = Shared::new("emerald-rapids", 2);
    let whole = machine.topology();
    let directory = tempfile::tempdir().expect("a directory");
    let journals = in_this_boot(&directory);
    let part = |socket: usize| Topology { family: whole.family, sockets: vec![whole.sockets[socket].clone()] };
    let first = join(&machine, &part(0), "cha/CLOCKTICKS/", Freeze::Cheapest, &journals, 1).expect("free");
    assert!(first.plan().sockets[0].gate.is_some());
    for freeze in [Freeze::Cheapest, Freeze::Never] {
        let refused = join(&machine, &part(0), "pcu/CLOCKTICKS/", freeze, &journals, 2);
        assert!(matches!(refused, Err(Refusal::Busy { .. })), "{freeze:?}: its counter would stand with the socket");
    }
    let mut other =
        join(&machine, &part(1), "pcu/CLOCKTICKS/", Freeze::Cheapest, &journals, 3).expect("another socket");
    machine.run(40);
    assert_all(&sample(&mut other), 40);
    first.stop().and(other.stop()).expect("all is put back");
    join(&machine, &part(0), "pcu/CLOCKTICKS/", Freeze::Never, &journals, 4).expect("free again");
}

/// A session that counts with the fixed counters, and never freezes, uses nothing else of their units.
#[test]
fn who_uses_a_fixed_counter_leaves_the_others() {
    let machine = Shared::new("e5-2600", 1);
    let topology = machine.topology();
    let directory = tempfile::tempdir().expect("a directory");
    let journals = in_this_boot(&directory);
    let mut first = join(&machine, &topology, "imc/DCLK_FIXED/", Freeze::Never, &journals, 1).expect("free");
    let mut second = join(&machine, &topology, "imc/CLOCKTICKS/", Freeze::Never, &journals, 2).expect("free");
    machine.run(60);
    assert_all(&sample(&mut first), 60);
    assert_all(&sample(&mut second), 60);
    let third = join(&machine, &topology, "imc/DCLK_FIXED/", Freeze::Never, &journals, 3);
    assert!(third.is_err(), "there is one of them in each unit");
    first.stop().and(second.stop()).expect("all is put back");
}

/// The unit control of a memory channel of socket 0, as discovered; 1.10.3.
fn imc(machine: &Shared, topology: &Topology, channel: u16) -> u64 {
    let unit = topology.family.unit("imc").expect("the unit");
    let register = unit.register(pericore_catalog::Role::UnitControl).expect("its control");
    let place = topology.sockets[0].locate(unit, channel, register, 0).expect("a place");
    let Address::Mmio { physical } = place.address else { panic!("memory") };
    assert!(machine.clone().read(place.address, Width::B4).is_ok());
    physical
}

/// A foreign counter 3 of clocks (0x40_0000 in 0x3C3, enabled in 0x391) beside ours: it runs on, and ours count.
#[test]
fn nehalems_foreign_counters_run_on() {
    let machine = Shared::new("nehalem", 2);
    let topology = machine.topology();
    // GQ_CYCLES_NOT_EMPTY.READ_TRACKER is 0x01 with mask 0x01; the tracker is never empty here.
    machine.0.borrow_mut().wrmsr(0x3c3, 0x0040_0101);
    machine.0.borrow_mut().wrmsr(0x391, 1 << 3);
    let selection = machine.selection("uncore/CLK_UNHALTED/,uncore/QHL_REQUESTS.LOCAL_READS/");
    let alone = Plan::new(&topology, selection.clone()).expect("it fits");
    let occupied = survey(&mut machine.clone(), &alone).expect("readable");
    let plan = Plan::beside(&topology, selection, &occupied).expect("it fits beside");
    let writes: Vec<_> =
        plan.sockets[0].setup.iter().chain(&plan.sockets[0].freeze).map(|step| step.operation.address()).collect();
    assert!(!writes.contains(&Address::Msr { cpu: 0, msr: 0x3c3 }), "the foreign control is not touched");
    let wire = machine.0.borrow_mut().wire_of(0, "uncore", 0, "GQ_CYCLES_NOT_EMPTY");
    let tag = machine.0.borrow().tag("uncore", "GQ_CYCLES_NOT_EMPTY", &[("sub", 0x01)]);
    let begin = machine.0.borrow().machine.now() / CYCLE;
    machine.0.borrow_mut().enter(wire, tag, begin);
    let mut session = machine.start(plan, Options::default());
    for _ in 0..4 {
        assert_eq!(machine.msr(0x391) & 1 << 3, 1 << 3, "enabled all the time");
        machine.run(25);
        let sample = sample(&mut session);
        let clocks = sample.counts.iter().filter(|count| count.event == 0);
        clocks.for_each(|count| assert_eq!(count.count, Some(25), "{}", count.validity));
    }
    session.stop().expect("all is put back");
    assert_eq!((machine.msr(0x391), machine.msr(0x3c3)), (1 << 3, 0x0040_0101), "as before");
    assert_eq!(machine.msr(0x3b3), 100, "and it counted in every cycle");
}
