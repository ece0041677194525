//! Sessions on a register space that only remembers: the test plays the counters.

mod allocations;
mod folder;
mod forged;
mod limits;
mod marks;
mod meeting;
mod others;
mod rounds;

use std::path::Path;

use pericore_metrics::{Grade, Validity};
use pericore_registers::{AccessError, Address, Bdf, Counting, Operation, Outcome, Width};

use super::*;
use crate::discover::discover;
use crate::selection::Selection;
use crate::testing::{CPUS, Fake, e5_2600};

fn plan(space: &mut Fake, events: &str) -> Plan {
    let topology = discover(space, e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut selection = Selection::new(e5_2600());
    selection.add_events(events).unwrap();
    space.reads.clear();
    Plan::new(&topology, selection).unwrap()
}

fn at(seconds: f64) -> impl FnMut(&mut Fake) -> Moment {
    move |_| Moment { seconds, tsc: (seconds * 1e9) as u64 }
}

fn start(events: &str) -> Session<Fake> {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, events);
    Session::start(space, plan, Options::default(), at(1.0)).unwrap()
}

/// The journals in a folder, of this machine and boot.
fn journals_in(folder: &Path) -> OtherSessions {
    OtherSessions::new(folder, "local", "boot")
}

fn counts(sample: &Sample) -> Vec<Option<u64>> {
    sample.counts.iter().map(|count| count.count).collect()
}

#[test]
fn counts_are_differences_and_survive_a_wrap() {
    let mut session = start("cbo0/LLC_VICTIMS.M_STATE/,imc0/CAS_COUNT.RD/");
    let space = session.space_mut();
    space.msrs.insert((0, 0xd16), 1000);
    space.msrs.insert((1, 0xd16), (1 << 44) - 10);
    space.set_pci((0xff, 16, 0), 0xa4, 1);
    let sample = session.sample(at(1.5));
    assert_eq!((sample.seconds, sample.tsc_cycles), (0.5, 500_000_000));
    assert_eq!(counts(&sample), [Some(1000), Some(1 << 32), Some((1 << 44) - 10), Some(0)]);
    session.space_mut().msrs.insert((1, 0xd16), 5);
    let mut total = sample;
    let sample = session.sample(at(2.0));
    assert_eq!(counts(&sample), [Some(0), Some(0), Some(15), Some(0)]);
    total.add(&sample);
    assert_eq!(total.counts[2].count, Some((1 << 44) + 5), "totals go beyond the counter's width");
    assert_eq!(total.seconds, 1.0);
}

#[test]
fn everything_overwritten_is_put_back_and_nothing_else() {
    let mut space = Fake::two_sockets();
    // Leftovers of another tool: a disabled control, a filter, freeze enabled, and reset bits that stayed readable.
    for (msr, value) in [(0xd10, 0x0000_0334), (0xd14, 0x007c_0000), (0xd04, 0x0001_0003)] {
        space.msrs.insert((0, msr), value);
    }
    let before = space.msrs.clone();
    let plan = plan(&mut space, "cbo0/TOR_OCCUPANCY.OPCODE,opc=DRd/");
    let session = Session::start(&mut space, plan, Options::default(), |_| Moment::default()).unwrap();
    assert_eq!(session.journal().len(), 2 * 3);
    session.stop().unwrap();
    for (place, value) in before {
        let expected = if place == (0, 0xd04) { 0x0001_0000 } else { value };
        assert_eq!(space.msrs[&place], expected, "{place:x?}");
    }
    let ours = ["d10", "d14", "d04"].map(|msr| format!("{msr}="));
    assert!(
        space.written().iter().all(|write| ours.iter().any(|ours| write.starts_with(ours))),
        "{:?}",
        space.written()
    );
}

#[test]
fn dropping_a_session_stops_its_counters() {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "cbo/CLOCKTICKS/,ubox/UCLK_FIXED/,imc/CAS_COUNT.RD/");
    drop(Session::start(&mut space, plan, Options::default(), |_| Moment::default()).unwrap());
    assert!(space.msrs.values().all(|value| *value == 0));
    assert!(space.functions.values().all(|dwords| dwords.get(&0xd8).is_none_or(|control| *control == 0)));
}

/// A defect of ours, while counters run: who catches the panic finds the registers as they were.
#[test]
fn a_panic_between_two_samples_puts_back() {
    let mut space = Fake::two_sockets();
    space.msrs.insert((0, 0xd10), 0x334);
    let plan = plan(&mut space, "cbo/CLOCKTICKS/");
    let crash = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut session = Session::start(&mut space, plan, Options::default(), |_| Moment::default()).unwrap();
        session.sample(|_| panic!("a clock that fails"));
    }));
    assert!(crash.is_err());
    assert!(space.msrs.iter().all(|(place, value)| *value == if *place == (0, 0xd10) { 0x334 } else { 0 }));
}

#[test]
fn an_instance_that_reads_all_ones_is_named_and_the_others_count() {
    let mut space = Fake::two_sockets();
    space.set_pci((0xff, 16, 1), 0xf4, 0xffff_ffff);
    let plan = plan(&mut space, "imc/CAS_COUNT.RD/");
    let mut session = Session::start(space, plan, Options::default(), at(0.0)).unwrap();
    let sample = session.sample(at(1.0));
    let unreadable: Vec<_> = sample.counts.iter().filter(|count| count.count.is_none()).collect();
    let [only] = unreadable[..] else { panic!("one instance") };
    assert_eq!((only.socket, only.instance, only.validity.grade()), (0, 1, Grade::Unreadable));
    assert!(only.validity.to_string().contains("imc1 in socket 0 unreadable: unit_ctl reads as all ones"));
    let touched =
        |(address, _): &(Address, u64)| matches!(address, Address::Pci { bdf, .. } if *bdf == Bdf::new(0xff, 16, 1));
    assert!(!session.space_mut().writes.iter().any(touched), "what does not answer is left alone");
}

#[test]
fn a_failed_reading_leaves_a_gap_and_counting_goes_on() {
    let mut session = start("cbo0/CLOCKTICKS/");
    let counter = Address::Msr { cpu: 0, msr: 0xd16 };
    session.space_mut().broken.push(counter);
    assert_eq!(counts(&session.sample(at(2.0))), [None, Some(0)]);
    session.space_mut().broken.clear();
    assert_eq!(counts(&session.sample(at(3.0))), [None, Some(0)], "nothing to compare with");
    session.space_mut().msrs.insert((0, 0xd16), 7);
    assert_eq!(counts(&session.sample(at(4.0))), [Some(7), Some(0)]);
}

#[test]
fn a_refused_set_up_is_undone() {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "cbo0/CLOCKTICKS/");
    let broken = Address::Msr { cpu: 2, msr: 0xd16 };
    space.broken.push(broken);
    // A counter that cannot be read is a gap; a control that refuses a value is an error.
    Session::start(&mut space, plan.clone(), Options::default(), |_| Moment::default()).unwrap().stop().unwrap();
    #[derive(Debug)]
    struct RefusesEvents<'a>(&'a mut Fake);
    impl RegisterSpace for RefusesEvents<'_> {
        fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
            self.0.read(address, width)
        }
        fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
            if address == (Address::Msr { cpu: 2, msr: 0xd10 }) && value != 0 {
                return Err(AccessError::GeneralProtection { address });
            }
            self.0.write(address, width, value)
        }
    }
    let error = Session::start(RefusesEvents(&mut space), plan, Options::default(), |_| Moment::default()).unwrap_err();
    assert!(error.to_string().contains("socket 1, cbo0: register ctl0 refused"), "{error}");
    assert!(space.msrs.values().all(|value| *value == 0), "all is as before");
}

#[test]
fn odd_and_overdue_readings_are_marked() {
    let mut session = start("cbo0/CLOCKTICKS/");
    session.space_mut().msrs.insert((0, 0xd16), 1 << 50 | 3);
    let sample = session.sample(at(2.0));
    assert_eq!((sample.counts[0].count, sample.counts[0].validity.grade()), (Some(3), Grade::Suspect));
    let sample = session.sample(at(1e6));
    assert!(sample.counts.iter().all(|count| count.count.is_none() && count.validity.grade() == Grade::WrappedUnknown));
}

#[test]
fn a_sample_costs_what_the_plan_says() {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/");
    let expected = plan.cost().accesses();
    let mut session = Session::start(Counting::new(space), plan, Options::default(), |_| Moment::default()).unwrap();
    let before = session.space_mut().counts();
    session.sample(|_| Moment::default());
    let after = session.space_mut().counts();
    // 16 counters, and what may have frozen each of 8 channels.
    assert_eq!((after.reads() - before.reads(), after.writes() - before.writes()), (24, 16));
    assert_eq!(expected, 32);
}

fn at_(seconds: f64) -> impl FnMut(&mut &mut Fake) -> Moment {
    move |_| Moment { seconds, tsc: 0 }
}

/// What opens all files for a plan's operations has opened them for the whole session.
#[test]
fn a_session_accesses_nothing_that_its_plan_does_not_list() {
    let mut space = Fake::two_sockets();
    let events = "cbo/LLC_LOOKUP.DATA_READ,state=0x1/,cbo/LLC_LOOKUP.DATA_READ,state=0x1F/,imc/CAS_COUNT.RD/";
    let plan = plan(&mut space, events);
    assert_eq!(plan.rounds(), 2);
    let (mut read, mut written) = (Vec::new(), Vec::new());
    for operation in plan.operations() {
        match operation {
            Operation::Read { address, .. } => read.push(address),
            Operation::Write { address, .. } => written.push(address),
        }
    }
    space.reads.clear();
    space.writes.clear();
    let mut session = Session::start(&mut space, plan, Options::default(), at_(0.0)).unwrap();
    for second in 1..4 {
        session.rotate(at_(f64::from(second) - 0.5));
        session.sample(at_(second.into()));
    }
    session.check_controls();
    session.stop().unwrap();
    // A file that is open to be written can be read.
    let strange = |address: &&Address| !read.contains(address) && !written.contains(address);
    assert_eq!(space.reads.iter().filter(strange).collect::<Vec<_>>(), [] as [&Address; 0]);
    let strange = space.writes.iter().filter(|(address, _)| !written.contains(address));
    assert_eq!(strange.collect::<Vec<_>>(), [] as [&(Address, u64); 0]);
    assert!(space.reads.len() > 100 && space.writes.len() > 100);
}

/// Time as a machine has it on which every access takes a second, and nothing else any.
fn by_accesses(space: &mut Fake) -> Moment {
    Moment { seconds: (space.reads.len() + space.writes.len()) as f64, tsc: 0 }
}

/// One slice in each of two sockets: a write each freezes them, a write each lets them go on. What is read in between
/// (counts, and a control that is looked at again) takes time in which nothing is counted: it belongs to no sample.
#[test]
fn time_in_which_the_counters_stand_is_not_measured() {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "cbo0/LLC_VICTIMS.M_STATE/");
    let options = Options { guard: Guard::All, ..Options::default() };
    let mut session = Session::start(space, plan, options, by_accesses).unwrap();
    // Six accesses set up the second slice while the first one counts already. Then the control of both is read again,
    // the unit control of both, and they are frozen: the first one has run for 6 + 4 + 1 seconds, the second for 4 + 2.
    // Each socket has its own length, and neither is in doubt.
    let sample = session.sample(by_accesses);
    assert_eq!([0, 1].map(|socket| sample.length_in(socket).seconds), [11.0, 6.0]);
    assert_eq!((sample.seconds, sample.counts[0].validity.grade()), (8.5, Grade::Measured));
    // From here on both are let go and frozen in the same order: both run for the same time.
    let sample = session.sample(by_accesses);
    assert_eq!((sample.seconds, sample.counts[0].validity.grade()), (4.0, Grade::Measured));
    session.space_mut().reads.extend([Address::Msr { cpu: 0, msr: 0 }; 10]);
    assert_eq!(session.sample(by_accesses).seconds, 4.0 + 10.0);
}

/// All units of socket 0 start at 0 s, and are stopped from 10 s to 11 s; those of socket 1 run from 1 s to 12 s.
#[test]
fn units_of_a_socket_that_do_not_stop_together_are_in_doubt_there() {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "cbo0/LLC_VICTIMS.M_STATE/,cbo1/LLC_VICTIMS.M_STATE/");
    let mut times = [0.0, 0.0, 1.0, 1.0, 10.0, 11.0, 12.0, 12.0, 13.0, 13.0, 14.0, 14.0].into_iter();
    let mut now = |_: &mut Fake| Moment { seconds: times.next().unwrap(), tsc: 0 };
    let mut session = Session::start(space, plan, Options::default(), &mut now).unwrap();
    let sample = session.sample(&mut now);
    assert_eq!([0, 1].map(|socket| sample.length_in(socket).seconds), [10.5, 11.0]);
    for count in &sample.counts {
        let doubt = count.validity.to_string();
        let said = doubt.contains("some ran 500.000 ms longer or shorter than 10500.000 ms");
        assert_eq!(said, count.socket == 0, "socket {}: {doubt}", count.socket);
    }
}

/// Units start within 0.1 s and stop within 0.1 s, 10 s later: all run equally long. Then both the start and the stop
/// are held up for 0.4 s, which takes them equally long, but nobody knows between which units.
#[test]
fn units_are_in_doubt_where_both_their_start_and_their_stop_were_held_up() {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "cbo0/LLC_VICTIMS.M_STATE/,cbo1/LLC_VICTIMS.M_STATE/");
    let both = |first: f64, last: f64| [first, last, first, last];
    let starts_and_stops = [
        both(0.0, 0.1),
        both(10.0, 10.1),
        both(11.0, 11.1),
        both(21.0, 21.1),
        both(22.0, 22.5),
        both(32.0, 32.5),
        both(33.0, 33.1),
    ];
    let mut times = starts_and_stops.concat().into_iter();
    let mut now = |_: &mut Fake| Moment { seconds: times.next().unwrap(), tsc: 0 };
    let mut session = Session::start(space, plan, Options::default(), &mut now).unwrap();
    let mut printed = || session.sample(&mut now).counts[0].validity.to_string();
    assert_eq!([printed(), printed()], ["measured", "measured"]);
    let doubt = printed();
    assert!(doubt.contains("some ran 400.000 ms longer or shorter than 10000.000 ms"), "{doubt}");
}

/// A journal of its own that cannot be written, after the one that others look at was: nothing was overwritten, and
/// nobody is told of a session that was killed.
#[test]
fn a_session_that_does_not_begin_leaves_no_journal() {
    let directory = tempfile::tempdir().unwrap();
    let journals = journals_in(directory.path());
    let entrance = journals.enter().unwrap();
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "cbo0/CLOCKTICKS/");
    let taken = directory.path().join("taken");
    std::fs::create_dir(&taken).unwrap();
    let journal = JournalFile { path: taken, ..journals.journal(1) };
    let options = Options { journal: Some(journal), other_sessions: Some(journals.clone()), ..Options::default() };
    let refused = Session::start(&mut space, plan, options, |_| Moment::default()).unwrap_err();
    drop(entrance);
    let left = journals.others().unwrap();
    assert!(matches!(refused, SessionError::Journal(JournalError::Taken { .. })), "{refused}");
    assert_eq!((left, space.written()), (vec![], vec![]));
}

/// One of four channels counted nothing: where the three others counted a thousand each, that is no chance. Two are
/// two.
#[test]
fn a_counter_that_stands_beside_others_is_doubted() {
    for (counts, doubted) in [
        ([1000, 0, 1000, 1000], true),
        ([1000, 0, 1000, 999], false),
        ([1000, 0, 0, 1000], false),
        ([0, 0, 0, 0], false),
    ] {
        let mut session = start("imc/CAS_COUNT.RD/");
        for (function, count) in [0, 1, 4, 5].into_iter().zip(counts) {
            session.space_mut().set_pci((0xff, 16, function), 0xa0, count);
        }
        let sample = session.sample(at(2.0));
        let doubts = sample.counts.iter().filter(|count| count.validity.grade() == Grade::Suspect);
        let doubts: Vec<_> = doubts.map(|count| (count.socket, count.instance, count.validity.to_string())).collect();
        let said = "suspect: imc1 in socket 0 counted nothing while its 3 neighbours counted at least 1000 each: stuck, or unused";
        let expected = if doubted { vec![(0, 1, said.to_owned())] } else { vec![] };
        assert_eq!(doubts, expected, "{counts:?}");
    }
}

/// A clock that stands is doubted, but for a sample in which none need tick.
#[test]
fn a_clock_that_stands_is_doubted() {
    for (seconds, tsc, doubted) in [(1.5, 1000, true), (1.5, 999, false), (1.0, 1000, false)] {
        let mut space = Fake::two_sockets();
        let plan = plan(&mut space, "cbo0/CLOCKTICKS/,cbo0/LLC_VICTIMS.M_STATE/");
        let begin = |_: &mut Fake| Moment { seconds: 1.0, tsc: 0 };
        let mut session = Session::start(space, plan, Options::default(), begin).unwrap();
        let sample = session.sample(|_| Moment { seconds, tsc });
        let said: Vec<_> =
            sample.counts.iter().filter(|count| count.socket == 0).map(|c| c.validity.to_string()).collect();
        assert_eq!(said[0].contains("the clock of cbo0 in socket 0 stands still"), doubted, "{said:?}");
        assert_eq!(said[1], "measured", "no line need leave");
    }
}

/// Who left a journal on another machine, or before this machine was started anew, is no neighbour.
#[test]
fn neighbours_are_on_this_machine_and_in_this_boot() {
    let directory = tempfile::tempdir().unwrap();
    for (pid, machine, boot) in [(1, "local", "this"), (2, "local", "before"), (3, "e5-2600", "this")] {
        let (machine, boot) = (machine.to_owned(), boot.to_owned());
        let path = directory.path().join(format!("{pid}.journal"));
        drop(Journal { pid, started: 0, boot, machine, saved: Vec::new() }.write(&path).unwrap());
    }
    let pids = |machine: &str, boot: &str| {
        let others = OtherSessions::new(directory.path(), machine, boot).others().unwrap();
        others.iter().map(|neighbour| (neighbour.pid, neighbour.runs)).collect::<Vec<_>>()
    };
    assert_eq!(pids("local", "this"), [(1, false)]);
    assert_eq!(pids("local", "before"), [(2, false)]);
    assert_eq!(pids("e5-2600", "this"), [(3, false)]);
    assert_eq!(pids("e5-2600", "before"), []);
}
