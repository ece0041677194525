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

/// Counters that run on are read within 0.1 s in socket 0, and 0.1 s later in socket 1: with 10 s between, each count
/// is of 10 s. A reading that is held up for half a second in a socket makes some count in it be of 10.5 s, and the
/// next of 9.5 s. What holds up socket 0 makes socket 1 wait, too.
#[test]
fn counters_that_run_on_are_in_doubt_where_their_reading_was_held_up() {
    let mut space = Fake::two_sockets();
    let topology = discover(&mut space, e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut selection = Selection::new(e5_2600());
    selection.add_events("cbo0/LLC_VICTIMS.M_STATE/").unwrap();
    let plan = Plan::with_freeze(&topology, selection, &Occupied::default(), Freeze::Never).unwrap();
    let mut times: Vec<f64> = vec![0.0; 4];
    // The last but one is held up for 1 % of its sample, which is no matter.
    let held_up = [[0.0, 0.0], [0.0, 0.5], [0.0, 0.0], [0.0, 0.0], [0.5, 0.0], [0.0, 0.0], [0.1, 0.0], [0.0, 0.0]];
    for (sample, held_up) in (1..).zip(held_up) {
        let due = 10.0 * f64::from(sample);
        let (first, second) = (due + 0.1 + held_up[0], due + 0.2 + held_up[0] + held_up[1]);
        // They would be stopped, they are read, they would go on.
        times.extend([due; 4]);
        times.extend([due, first, first, second]);
        times.extend([second; 4]);
    }
    let mut times = times.into_iter();
    let mut now = |_: &mut Fake| Moment { seconds: times.next().unwrap(), tsc: 0 };
    let options = Options { guard: Guard::Off, ..Options::default() };
    let mut session = Session::start(space, plan, options, &mut now).unwrap();
    let mut printed = |_| {
        let sample = session.sample(&mut now);
        [0, 1].map(|socket| sample.counts.iter().find(|count| count.socket == socket).unwrap().validity.to_string())
    };
    let printed: Vec<[String; 2]> = (0..8).map(&mut printed).collect();
    let is_held_up =
        |printed: &String| printed.contains("some ran up to 500.000 ms longer or shorter than 10000.000 ms");
    let doubted: Vec<[bool; 2]> =
        printed.iter().map(|printed| [is_held_up(&printed[0]), is_held_up(&printed[1])]).collect();
    let (fine, held_up) = ([false; 2], [true; 2]);
    assert_eq!(doubted, [fine, [false, true], [false, true], fine, held_up, held_up, fine, fine], "{printed:#?}");
    for sample in [3, 6, 7] {
        assert_eq!(printed[sample], ["measured", "measured"], "sample {sample}");
    }
}

/// One write stops the only unit of each socket, and takes a second, as all accesses do. In the second sample that
/// of socket 0 is held up for 100 s more: it took effect at any time in these, and the unit ran for 50 s more or
/// less than up to the middle of them. Socket 1, which is stopped after that, is only stopped later.
#[test]
fn units_are_in_doubt_where_the_one_write_that_stops_them_was_held_up() {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "cbo0/LLC_VICTIMS.M_STATE/");
    let options = Options { guard: Guard::Off, ..Options::default() };
    let mut session = Session::start(space, plan, options, by_accesses).unwrap();
    // A sample writes four times: each socket stops, and goes on.
    let held_up = session.space_mut().writes.len() + 4;
    let mut printed = |samples: f64| {
        let sample = session.sample(|space: &mut Fake| {
            let Moment { seconds, tsc } = by_accesses(space);
            let delay = if space.writes.len() > held_up { 100.0 } else { 0.0 };
            Moment { seconds: seconds + 1000.0 * samples + delay, tsc }
        });
        [0, 1].map(|socket| sample.counts.iter().find(|count| count.socket == socket).unwrap().validity.to_string())
    };
    assert_eq!(printed(1.0), ["measured", "measured"]);
    let [first, second] = printed(2.0);
    assert!(first.contains("some ran 50000.000 ms longer or shorter than 105"), "{first}");
    assert_eq!(second, "measured");
}

/// Channels that are frozen each by itself, with 0.1 s between the first and the last where the machine was busy: in 10
/// s the last may have ticked 1 % more often. So 1.5 % are an accusation only where they were stopped together.
#[test]
fn clocks_that_were_stopped_one_after_the_other_may_differ_by_that() {
    for (apart, doubted) in [(0.0, true), (0.1, false)] {
        let mut space = Fake::two_sockets();
        let plan = plan(&mut space, "imc/CLOCKTICKS/");
        let mut times = [[0.0; 4], [10.0, 10.0 + apart, 11.0, 11.0 + apart], [12.0; 4]].concat().into_iter();
        let mut now = |_: &mut Fake| Moment { seconds: times.next().unwrap(), tsc: 0 };
        let mut session = Session::start(space, plan, Options::default(), &mut now).unwrap();
        for (function, ticks) in [(0, 10_000), (1, 10_000), (4, 10_000), (5, 10_150)] {
            session.space_mut().set_pci((0xff, 16, function), 0xa0, ticks);
        }
        let sample = session.sample(&mut now);
        let printed = |instance| {
            sample.counts.iter().find(|c| (c.socket, c.instance) == (0, instance)).unwrap().validity.to_string()
        };
        assert_eq!(printed(3).contains("the clock of imc3 in socket 0 ticked 10150 times"), doubted, "{}", printed(3));
        assert_eq!(printed(2), "measured");
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
        let count = &sample.counts[0];
        assert_eq!(count.count, Some(counted), "{}", count.validity);
        // The guide calls it the socket's, and the SDM (table of the 06_2DH's MSRs) the core's.
        assert_eq!(count.validity.grade(), Grade::Suspect);
        assert!(count.validity.to_string().starts_with("suspect: one core's alone"), "{}", count.validity);
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

/// A control of 8 bytes in PCI space (0xD8) is written in two cycles, the upper half first beside a lower half of 0. A
/// process that was killed between them, while putting back, has left it so: it is the session's, and gets its old
/// value. Another upper half is somebody else's.
#[test]
fn a_register_that_is_half_put_back_is_put_back() {
    use super::super::leave::Leaving;
    use super::super::ours::Ours;
    const OLD: u64 = 0x0000_0021_0000_0304;
    let bdf = Bdf::new(0xff, 16, 1);
    let saved = Saved {
        socket: 0,
        instance: "imc1".to_owned(),
        register: "ctl0".to_owned(),
        address: Address::Pci { bdf, offset: 0xd8 },
        width: Width::B8,
        value: OLD,
        written: vec![0x40_0c04],
    };
    let ours = Ours::Setting { bits: u64::MAX, values: vec![0x40_0c04], is_filter: false };
    let all = [(saved.clone(), ours)];
    for (held, expected, others) in [
        (0x0000_0021_0000_0000_u64, OLD, vec![]),
        (0x0040_0c04, OLD, vec![]),
        (0x0000_0022_0000_0000, 0x0000_0022_0000_0000, vec![saved]),
    ] {
        let mut space = Fake::two_sockets();
        space.set_pci((0xff, 16, 1), 0xd8, held as u32);
        space.set_pci((0xff, 16, 1), 0xdc, (held >> 32) as u32);
        let leaving = Leaving { saved: &all, controls: &[], before: &[] };
        assert_eq!(leaving.put_back(&mut space), Ok(others), "{held:#x}");
        let now = space.read(Address::Pci { bdf, offset: 0xd8 }, Width::B8);
        assert_eq!(now, Ok(expected), "{held:#x}");
    }
}

/// A tenth of a second of a whole second was not counted; where no time has passed there is no share of it.
#[test]
fn the_share_of_paused_time_is_that_of_the_whole() {
    let share = |seconds, paused| Sample { seconds, paused, ..Sample::default() }.share_paused();
    assert!((share(0.9, 0.1) - 0.1).abs() < 1e-12 && (share(3.0, 1.0) - 0.25).abs() < 1e-12);
    assert_eq!([share(2.0, 0.0), share(0.0, 0.0), share(0.0, 0.5)], [0.0, 0.0, 1.0]);
}
