//! Events that take turns.

use super::*;

#[test]
fn rounds_take_turns_and_counts_are_scaled_with_duty_and_error() {
    let mut session = start("cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/");
    let mut total = 0;
    let mut time = 1.0;
    // Counter 0 of socket 0 takes the look-ups in turn: 10 more in each slice of the first event, 30 and 50 in the second's.
    for added in [10, 30, 10, 50] {
        total += added;
        let space = session.space_mut();
        let filter = space.msrs[&(0, 0xd14)];
        assert_eq!(filter, if added == 10 { 0x1 << 18 } else { 0x1f << 18 });
        space.msrs.insert((0, 0xd16), total);
        time += 0.25;
        session.rotate(|_| Moment { seconds: time, tsc: 0 });
    }
    let sample = session.sample(at(2.0));
    let of = |event: usize| sample.counts.iter().find(|count| count.event == event && count.socket == 0).unwrap();
    assert_eq!((of(0).count, of(0).validity.duty()), (Some(40), 0.5));
    assert_eq!((of(1).count, of(1).validity.grade()), (Some(160), Grade::Scaled));
    // Its slices agree: the floor for 20 counted of half a second, sqrt(20) * sqrt(1 * 0.5) / 0.5.
    assert!((of(0).standard_error.unwrap() - 40_f64.sqrt()).abs() < 1e-6, "{:?}", of(0).standard_error);
    // Slices of 0.25 s with 30 and 50: residuals 10, variance 2 * 100 / 0.25 = 800 per second; 1 s of which half was counted; and
    // Student's 12.706 for one degree of freedom instead of 1.96.
    let expected = 800_f64.sqrt() * 12.706 / 1.959_964;
    assert!((of(1).standard_error.unwrap() - expected).abs() < 1e-6, "{:?}", of(1).standard_error);
    session.stop().unwrap();
}

#[test]
fn what_had_no_turn_has_no_number() {
    let mut session = start("cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/");
    let sample = session.sample(at(2.0));
    let grades: Vec<_> = sample.counts.iter().map(|count| count.validity.grade()).collect();
    assert!(grades.contains(&Grade::NotDefined) && grades.contains(&Grade::Measured), "{grades:?}");
}

#[test]
fn all_rounds_are_put_back() {
    let mut space = Fake::two_sockets();
    space.msrs.insert((1, 0xd14), 0x0012_0000);
    let before = space.msrs.clone();
    let plan = plan(&mut space, "cbo/LLC_LOOKUP.DATA_READ,state=0x1/,cbo/LLC_LOOKUP.DATA_READ,state=0x1F/");
    let mut session = Session::start(&mut space, plan, Options::default(), |_| Moment::default()).unwrap();
    session.rotate(|_| Moment::default());
    session.stop().unwrap();
    assert_eq!(space.msrs, before);
}

/// Rounds change in one socket after the other: what is scaled up is so by the time of its own socket.
#[test]
fn turns_are_scaled_up_by_the_time_of_their_socket() {
    let mut space = Fake::two_sockets();
    let events = "cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/";
    let plan = plan(&mut space, events);
    assert_eq!(plan.rounds(), 2);
    let mut session = Session::start(space, plan, Options::default(), by_accesses).unwrap();
    session.rotate(by_accesses);
    let sample = session.sample(by_accesses);
    let lengths = [0, 1].map(|socket| sample.length_in(socket).seconds);
    assert!(lengths[0] > lengths[1], "{lengths:?}");
    for (socket, length) in (0..).zip(lengths) {
        // Each of both events had one of two turns, which together make the whole.
        let own: Vec<&Count> = sample.counts.iter().filter(|count| count.socket == socket).collect();
        let turns: f64 = own.iter().map(|count| count.slices.seconds()).sum();
        let duties: f64 = own.iter().map(|count| count.validity.duty()).sum();
        assert_eq!((own.len(), turns, duties), (2, length, 1.0), "socket {socket}");
    }
}

/// Filter states 0x1, 0x1F, and 0x1 again: what is expected in the register is what was written last, and nothing of before.
#[test]
fn a_change_of_rounds_is_no_change_by_someone_else() {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/");
    let options = Options { guard: Guard::All, ..Options::default() };
    let mut session = Session::start(&mut space, plan, options, at_(0.0)).unwrap();
    session.rotate(at_(1.0));
    session.rotate(at_(2.0));
    let sample = session.sample(at_(3.0));
    assert_eq!(session.space_mut().msrs[&(0, 0xd14)], 0x1 << 18);
    let grades: Vec<_> = sample.counts.iter().map(|count| count.validity.grade()).collect();
    assert_eq!(grades, [Grade::Scaled; 4]);
}

/// A turn of no length has counted nothing, however often it came; and the truth of a scaled count is exact.
#[test]
fn a_turn_without_time_has_no_number() {
    let mut session = start("cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/");
    session.rotate(at(2.0));
    let sample = session.sample(at(2.0));
    let grades: Vec<_> = sample.counts.iter().map(|count| (count.event, count.validity.grade())).collect();
    let expected = [(0, Grade::Measured), (1, Grade::NotDefined)];
    assert_eq!(grades, [expected, expected].concat());
    session.rotate(at(2.5));
    session.rotate(at(3.0));
    let sample = session.sample(at(4.0));
    assert!(sample.counts.iter().all(|count| count.validity.grade() == Grade::Scaled));
    let truth = sample.with_truth([Some(4), None, Some(5), Some(6)]);
    let exact: Vec<_> = truth.counts.iter().map(|count| (count.count, count.validity.grade())).collect();
    let measured = |count| (Some(count), Grade::Measured);
    assert_eq!(exact, [measured(4), (None, Grade::Unreadable), measured(5), measured(6)]);
    assert!(truth.counts.iter().all(|count| count.standard_error.is_none() && count.slices.is_empty()));
}

/// A tool that joins takes the counter whose control our rounds write: it keeps it, we count there no more, and say
/// why.
#[test]
fn a_control_that_somebody_took_is_not_written_by_the_next_round() {
    let mut space = Fake::two_sockets();
    let events = "cbo/LLC_LOOKUP.DATA_READ,state=0x1/,cbo/LLC_LOOKUP.DATA_READ,state=0x1F/";
    let plan = plan(&mut space, events);
    let mut session = Session::start(&mut space, plan, Options::default(), at_(0.0)).unwrap();
    session.rotate(at_(0.1));
    // Counter 0 of CBo 3 in socket 1.
    session.space_mut().msrs.insert((1, 0xd70), 0x0040_0113);
    for turn in 2..6 {
        session.rotate(at_(0.1 * f64::from(turn)));
        assert_eq!(session.space_mut().msrs[&(1, 0xd70)], 0x0040_0113);
    }
    let sample = session.sample(at_(1.0));
    let lost: Vec<_> = sample.counts.iter().filter(|count| count.count.is_none()).collect();
    assert_eq!(lost.iter().map(|lost| (lost.socket, lost.instance)).collect::<Vec<_>>(), [(1, 3), (1, 3)]);
    assert!(lost[0].validity.to_string().contains("who has taken ctl0 (= 0x400113)"), "{}", lost[0].validity);
    session.stop().unwrap();
    assert_eq!(space.msrs[&(1, 0xd70)], 0x0040_0113);
    assert_eq!(space.msrs[&(1, 0xd64)] & 0x100, 0, "its unit runs");
}

/// Nobody knows whose it is by then. What can be read when asked again goes on.
#[test]
fn a_control_that_cannot_be_read_is_not_written_by_the_next_round() {
    let mut space = Fake::two_sockets();
    let events = "cbo/LLC_LOOKUP.DATA_READ,state=0x1/,cbo/LLC_LOOKUP.DATA_READ,state=0x1F/";
    let plan = plan(&mut space, events);
    let mut session = Session::start(&mut space, plan, Options::default(), at_(0.0)).unwrap();
    session.rotate(at_(0.1));
    // Counter 0 of CBo 3 in socket 1, which somebody takes.
    let control = Address::Msr { cpu: 2, msr: 0xd70 };
    session.space_mut().msrs.insert((1, 0xd70), 0x0040_0113);
    session.space_mut().broken.push(control);
    session.rotate(at_(0.2));
    session.space_mut().broken.clear();
    session.rotate(at_(0.3));
    assert_eq!(session.space_mut().msrs[&(1, 0xd70)], 0x0040_0113);
    let sample = session.sample(at_(1.0));
    let lost: Vec<_> = sample.counts.iter().filter(|count| count.count.is_none()).collect();
    assert_eq!(lost.iter().map(|lost| (lost.socket, lost.instance)).collect::<Vec<_>>(), [(1, 3), (1, 3)]);
    let reason = lost[0].validity.to_string();
    assert!(reason.contains("left alone before its next round: somebody else may have taken ctl0"), "{reason}");
    session.stop().unwrap();
    assert_eq!(space.msrs[&(1, 0xd70)], 0x0040_0113);
}

/// Of one slice in each of two sockets the control and the filter: four registers that a change of rounds writes, and
/// looks at before. What takes no turns is not looked at.
#[test]
fn a_change_of_rounds_looks_at_what_it_writes() {
    let mut space = Fake::two_sockets();
    let events = "cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/";
    let turning = plan(&mut space, &format!("{events},imc0/CAS_COUNT.RD/"));
    assert_eq!(looks_at_turns(&turning), 4);
    assert_eq!(looks_at_turns(&plan(&mut space, "cbo0/CLOCKTICKS/,imc0/CAS_COUNT.RD/")), 0);
    let mut session = Session::start(&mut space, turning, Options::default(), at_(0.0)).unwrap();
    session.space_mut().reads.clear();
    session.rotate(at_(0.1));
    let written = |address: &&Address| matches!(address, Address::Msr { msr: 0xd10 | 0xd14, .. });
    let mut looked: Vec<String> = session.space_mut().reads.iter().filter(written).map(ToString::to_string).collect();
    looked.sort();
    looked.dedup();
    assert_eq!(looked.len(), 4, "{looked:?}");
}

/// Counters that nothing stops are read at the end of their turn, one after the other. Where that reading was held up
/// for half a second, some have run for so much longer than their turn, of which all together last 19.5 s.
#[test]
fn turns_are_in_doubt_where_the_reading_that_ended_one_was_held_up() {
    use crate::plan::{Freeze, Occupied};
    for (held_up, doubted) in [(0.0, false), (0.1, false), (0.5, true)] {
        let mut space = Fake::two_sockets();
        let topology = discover(&mut space, e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
        let mut selection = Selection::new(e5_2600());
        let events = "cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/";
        selection.add_events(events).unwrap();
        let plan = Plan::with_freeze(&topology, selection, &Occupied::default(), Freeze::Never).unwrap();
        let end = 10.0 + held_up;
        // Started; a turn ends, is read and the next begins; the sample ends, is read, and the next begins: twice each,
        // in either socket.
        let turn = [[10.0; 4], [10.0, end, end, end], [end; 4]].concat();
        let mut times = [vec![0.0; 4], turn, vec![20.0; 12]].concat().into_iter();
        let mut now = |_: &mut Fake| Moment { seconds: times.next().unwrap(), tsc: 0 };
        let options = Options { guard: Guard::Off, ..Options::default() };
        let mut session = Session::start(space, plan, options, &mut now).unwrap();
        session.rotate(&mut now);
        let sample = session.sample(&mut now);
        let doubt = "some ran 500.000 ms longer or shorter than 19500.000 ms; choose longer rounds (--rotate)";
        for count in sample.counts.iter().filter(|count| count.socket == 0) {
            let printed = count.validity.to_string();
            assert_eq!(printed.contains(doubt), doubted, "held up for {held_up} s: {printed}");
            assert_eq!(printed.contains("ran"), doubted, "held up for {held_up} s: {printed}");
        }
    }
}
