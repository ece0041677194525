//! Limits of time, time-stamp counters, and journals of what could not be put back.

use super::*;
use crate::plan::{Freeze, Occupied};

/// 44 bits at one increment a cycle of at most 5 GHz: 3518.4 s. After a longer interval the counter may have wrapped
/// twice.
#[test]
fn a_count_is_known_as_long_as_its_counter_cannot_wrap_unseen() {
    let mut session = start("cbo0/CLOCKTICKS/");
    let grades = |sample: Sample| sample.counts.iter().map(|count| count.validity.grade()).collect::<Vec<_>>();
    session.space_mut().msrs.extend([((0, 0xd16), 5), ((1, 0xd16), 5)]);
    assert_eq!(grades(session.sample(at(1.0 + 3518.0))), [Grade::Measured; 2]);
    assert_eq!(grades(session.sample(at(1.0 + 3518.0 + 3519.0))), [Grade::WrappedUnknown; 2]);
}

/// Time on which every access takes a second of 1000 cycles.
fn with_cycles(space: &mut Fake) -> Moment {
    let accesses = space.reads.len() + space.writes.len();
    Moment { seconds: accesses as f64, tsc: 1000 * accesses as u64 }
}

/// Cycles of the time-stamp counter are those of the sample's seconds, also when all counters stood to change rounds.
#[test]
fn cycles_and_seconds_leave_out_the_same_time() {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/");
    assert_eq!(plan.rounds(), 2);
    let mut session = Session::start(space, plan, Options::default(), with_cycles).unwrap();
    session.rotate(with_cycles);
    session.rotate(with_cycles);
    let sample = session.sample(with_cycles);
    for socket in 0..2 {
        let length = sample.length_in(socket);
        let expected = length.seconds * 1000.0;
        assert!(length.seconds > 0.0 && (length.tsc_cycles as f64 - expected).abs() <= 2.0, "{length:?}");
    }
}

/// What does not take its old value is left to `restore`: the journal stays until then.
#[test]
fn a_journal_stays_while_a_register_is_not_put_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("session.journal");
    let journal = JournalFile { path: path.clone(), boot: "boot".to_owned(), machine: "local".to_owned() };
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "cbo0/CLOCKTICKS/");
    let options = Options { journal: Some(journal), ..Options::default() };
    let mut session = Session::start(&mut space, plan, options, at_(0.0)).unwrap();
    session.sample(at_(1.0));
    session.space_mut().broken.extend((0xd10..=0xd13).map(|msr| Address::Msr { cpu: 2, msr }));
    let refused = session.stop().unwrap_err();
    assert!(refused.to_string().contains("cbo0 in socket 1"), "{refused}");
    let left = std::fs::read_to_string(&path).expect("the journal is still there");
    assert!(left.contains("cbo0"), "{left}");
    assert!((0xd10..=0xd13).all(|msr| space.msrs[&(0, msr)] == 0), "the other socket is as before");
}

/// Without a freeze counters run on while they are read: each sample begins where the one before it ended. Two
/// slices, so two readings of a second each, and nothing else takes any time.
#[test]
fn without_a_freeze_the_time_of_reading_belongs_to_the_next_sample() {
    let mut space = Fake::two_sockets();
    let topology = discover(&mut space, e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut selection = Selection::new(e5_2600());
    selection.add_events("cbo0/LLC_VICTIMS.M_STATE/").unwrap();
    let plan = Plan::with_freeze(&topology, selection, &Occupied::default(), Freeze::Never).unwrap();
    let options = Options { guard: Guard::Off, ..Options::default() };
    let mut session = Session::start(space, plan, options, with_cycles).unwrap();
    session.sample(with_cycles);
    for _ in 0..3 {
        let sample = session.sample(with_cycles);
        assert_eq!((sample.seconds, sample.tsc_cycles), (2.0, 2000));
    }
}

/// MSR 0x3FC (guide, Tables 2-73 and 2-79) has 64 bits: all ones are a count there. One increment later it is 0.
#[test]
fn a_count_of_64_bits_may_be_all_ones() {
    let mut space = Fake::two_sockets();
    for (socket, msr) in (0..2).flat_map(|socket| (0xc24..=0xc39).chain(0x3fc..=0x3fd).map(move |msr| (socket, msr))) {
        space.msrs.insert((socket, msr), 0);
    }
    let topology = discover(&mut space, e5_2600(), &CPUS, |unit| unit.name == "pcu").unwrap();
    let mut selection = Selection::new(e5_2600());
    selection.add_events("pcu/CORE_C3_RESIDENCY/").unwrap();
    let plan = Plan::new(&topology, selection).unwrap();
    space.msrs.insert((0, 0x3fc), u64::MAX - 5);
    let mut session = Session::start(space, plan, Options::default(), at(0.0)).unwrap();
    for (second, (value, counted)) in (1_u8..).zip([(u64::MAX, 5), (0, 1), (u64::MAX, u64::MAX)]) {
        session.space_mut().msrs.insert((0, 0x3fc), value);
        let sample = session.sample(at(second.into()));
        assert_eq!(sample.counts[0].count, Some(counted), "{}", sample.counts[0].validity);
    }
}

/// Before a sample the freeze of each of four channels in two sockets is read; a check reads their controls.
#[test]
fn a_plan_knows_what_its_session_looks_at() {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "imc/CAS_COUNT.RD/");
    assert_eq!(looks(&plan), (8, 8));
}

/// Activates (0x01) have no umask and may not occur for a while; only a clock cannot.
#[test]
fn an_event_that_did_not_occur_is_no_stopped_clock() {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "imc0/ACT_COUNT/,imc0/CLOCKTICKS/");
    let mut session = Session::start(space, plan, Options::default(), at(1.0)).unwrap();
    let sample = session.sample(at(2.0));
    let grades = |event: usize| {
        let counts = sample.counts.iter().filter(|count| count.event == event);
        counts.map(|count| (count.count, count.validity.grade())).collect::<Vec<_>>()
    };
    assert_eq!(grades(0), [(Some(0), Grade::Measured); 2]);
    assert_eq!(grades(1), [(Some(0), Grade::Suspect); 2]);
}
