//! Sessions on a register space that only remembers: the test plays the counters.

use pericore_metrics::Grade;
use pericore_registers::{Address, Bdf, Counting};

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

fn at(seconds: f64) -> impl FnOnce(&mut Fake) -> Moment {
    move |_| Moment { seconds, tsc: (seconds * 1e9) as u64 }
}

fn start(events: &str) -> Session<Fake> {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, events);
    Session::start(space, plan, Options::default(), at(1.0)).unwrap()
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

#[test]
fn counters_of_others_are_seen_before_the_first_write() {
    let mut space = Fake::two_sockets();
    space.msrs.insert((1, 0xd33), 0x0040_0134);
    let plan = plan(&mut space, "cbo/CLOCKTICKS/");
    let error = Session::start(&mut space, plan.clone(), Options::default(), |_| Moment::default()).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("counter 3 of cbo1 in socket 1 (ctl3 = 0x400134, counting LLC_LOOKUP)"), "{message}");
    assert!(space.writes.is_empty());
    let session = Session::start(&mut space, plan, Options { take_over: true }, |_| Moment::default()).unwrap();
    session.stop().unwrap();
    assert_eq!(space.msrs[&(1, 0xd33)], 0x0040_0134, "taken over, then given back");
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
    let expected = plan.accesses_per_sample();
    let mut session = Session::start(Counting::new(space), plan, Options::default(), |_| Moment::default()).unwrap();
    let before = session.space_mut().counts();
    session.sample(|_| Moment::default());
    let after = session.space_mut().counts();
    assert_eq!((after.reads() - before.reads(), after.writes() - before.writes()), (16, 16));
    assert_eq!(expected, 32);
}
