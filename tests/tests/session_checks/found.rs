//! Changes that are found, and what they spoil.

use pericore_observe::plan::Freeze;
use pericore_observe::session::{Manners, Options, Sample, Session, prepare};
use pericore_registers::{Address, Bdf, Outcome, RegisterSpace, Width};
use pericore_tests::session::shared::Shared;

use super::{after, at_the_end, doubts, measured, planned, start};

/// Somebody freezes the unit control of every caching agent, and leaves it so.
#[test]
fn frozen_agents_are_found() {
    let machine = Shared::new("emerald-rapids", 1);
    let mut session = start(&machine, "cha/CLOCKTICKS/");
    assert!(session.plan().sockets[0].gate.is_some(), "the socket's freeze is used: units are not written");
    let first = after(&mut session, &machine, 100);
    assert_eq!((measured(&first).len(), first.is_checked), (first.counts.len(), false));
    machine.run(100);
    for agent in 0..64 {
        machine.0.borrow_mut().wrmsr(0x2000 + 0x10 * agent, 1);
    }
    let last = at_the_end(&mut session, &machine, 200);
    assert!(last.counts.iter().all(|count| count.count == Some(100)), "a third");
    assert!(measured(&last).is_empty());
    assert!(doubts(&last)[0].contains("someone else stopped counters of cha0 in socket 0 (unit_ctl = 0x1)"));
    // What was told before is withdrawn: nobody knows since when.
    let withdrawn = last.withdrawn.expect("one sample had no check");
    assert_eq!((withdrawn.samples, withdrawn.doubts.len()), (1, first.counts.len()));
    let mut again = first;
    assert!(again.withdraw(&withdrawn));
    assert!(measured(&again).is_empty());
}

/// Within 20 samples without a word from us: those since the check before are withdrawn, and none earlier.
#[test]
fn a_control_that_somebody_takes_is_found_within_20_samples() {
    let machine = Shared::new("emerald-rapids", 1);
    let mut session = start(&machine, "cha/CLOCKTICKS/");
    let samples: Vec<Sample> = (1..=60)
        .map(|number| {
            if number == 27 {
                // Agent 5, control 0: TOR_OCCUPANCY.
                machine.0.borrow_mut().wrmsr(0x2052, 0x36);
            }
            after(&mut session, &machine, 50)
        })
        .collect();
    let checked: Vec<usize> = (1..).zip(&samples).filter(|(_, one)| one.is_checked).map(|(number, _)| number).collect();
    assert_eq!(checked, [20, 40, 60]);
    assert!(samples[..39].iter().all(|sample| sample.withdrawn.is_none() && measured(sample).len() == 64));
    let withdrawn = samples[39].withdrawn.as_ref().expect("it was changed since sample 20");
    let places: Vec<(u16, u16)> = withdrawn.doubts.iter().map(|doubt| (doubt.socket, doubt.instance)).collect();
    assert_eq!((withdrawn.samples, &places[..]), (19, &[(0, 5)][..]));
    assert!(withdrawn.doubts[0].why.contains("ctl0 of cha5 in socket 0 from 0x1 to 0x36"), "{withdrawn:?}");
    for sample in &samples[39..] {
        assert!(!measured(sample).contains(&5) && measured(sample).len() == 63);
    }
    let mut total = Sample::default();
    samples.iter().for_each(|sample| total.add(sample));
    assert!(!measured(&total).contains(&5) && measured(&total).len() == 63, "the sum says it, too");
}

/// MSR 0x391 is zeroed, as by a tool that begins or ends there. The next sample knows, and switches ours on again.
#[test]
fn enables_that_somebody_takes_are_found() {
    let machine = Shared::new("nehalem", 1);
    let mut session = start(&machine, "uncore/CLK_UNHALTED/,uncore/QHL_REQUESTS.LOCAL_READS/");
    assert_eq!(measured(&after(&mut session, &machine, 100)).len(), 2);
    machine.run(50);
    machine.0.borrow_mut().wrmsr(0x391, 0);
    let halved = after(&mut session, &machine, 50);
    assert_eq!((halved.counts[0].count, measured(&halved)), (Some(50), vec![]));
    assert!(doubts(&halved)[0].contains("global_ctl of uncore = 0x0"), "{:?}", doubts(&halved));
    let whole = after(&mut session, &machine, 100);
    assert_eq!((whole.counts[0].count, measured(&whole).len()), (Some(100), 2));
    assert!(whole.withdrawn.is_none());
}

/// A kernel that stops its last event leaves the box frozen: ours goes on with the next sample, whose write lifts that.
#[test]
fn a_channel_that_the_kernel_leaves_frozen_is_found() {
    let machine = Shared::new("e5-2600", 1);
    let mut session = start(&machine, "imc/CLOCKTICKS/");
    machine.run(100);
    machine.0.borrow_mut().pci_write(0xff, 16, 1, 0xf4, 0x0001_0100);
    let short = after(&mut session, &machine, 100);
    assert_eq!(short.counts.iter().map(|count| count.count).collect::<Vec<_>>(), [200, 100, 200, 200].map(Some));
    assert_eq!(measured(&short), [0, 2, 3]);
    assert!(doubts(&short)[0].contains("someone else stopped counters for a part of the time (unit_ctl of imc1"));
    assert_eq!(measured(&after(&mut session, &machine, 100)), [0, 1, 2, 3]);
}

/// The freeze of the socket, which the end of our own sample lifts.
#[test]
fn a_socket_that_somebody_froze_is_found() {
    let machine = Shared::new("emerald-rapids", 1);
    let mut session = start(&machine, "cha/CLOCKTICKS/");
    after(&mut session, &machine, 100);
    machine.0.borrow_mut().wrmsr(0x2ff0, 1);
    let frozen = after(&mut session, &machine, 100);
    assert!(measured(&frozen).is_empty());
    assert_eq!(measured(&after(&mut session, &machine, 100)).len(), 64);
}

/// A freeze that is not ours to lift, of a plan that does not use it.
#[test]
fn a_freeze_that_no_sample_lifts_is_found() {
    let machine = Shared::new("emerald-rapids", 1);
    let mut session = start(&machine, "pcu/CLOCKTICKS/");
    assert!(session.plan().sockets[0].gate.is_none());
    machine.run(100);
    machine.0.borrow_mut().wrmsr(0x2ff0, 1);
    let last = at_the_end(&mut session, &machine, 300);
    assert_eq!((last.counts[0].count, measured(&last)), (Some(100), vec![]));
}

/// A channel that stood for one cycle in a hundred, and is as it was by now: the clock that is counted beside tells,
/// of all that was counted there.
#[test]
fn a_freeze_that_came_and_went_shows_in_a_clock() {
    for (stood, found) in [(30, true), (29, false)] {
        let machine = Shared::new("e5-2600", 1);
        let mut session = start(&machine, "imc/CLOCKTICKS/,imc/CAS_COUNT.RD/");
        machine.run(1000);
        machine.0.borrow_mut().pci_write(0xff, 16, 4, 0xf4, 0x0001_0100);
        machine.run(stood);
        machine.0.borrow_mut().pci_write(0xff, 16, 4, 0xf4, 0x0001_0000);
        let last = at_the_end(&mut session, &machine, 3000 - 1000 - stood);
        let expected: Vec<u16> = if found { vec![0, 1, 3] } else { vec![0, 1, 2, 3] };
        assert_eq!(measured(&last), expected.iter().flat_map(|&one| [one; 2]).collect::<Vec<u16>>(), "{stood}");
        assert_eq!(doubts(&last).iter().any(|why| why.contains("the clock of imc2")), found);
    }
}

/// Clocks that nothing stops are read one after the other, on a busy machine with long waits between: those that
/// differ for it are not in doubt.
#[test]
fn clocks_that_run_on_while_they_are_read_are_not_compared() {
    let machine = Shared::new("e5-2600", 1);
    let sharing = Manners { freeze: Freeze::Never, take_over: false };
    let topology = machine.topology();
    let plan = prepare(&mut machine.clone(), &topology, machine.selection("imc/CLOCKTICKS/"), sharing, None);
    let mut session = machine.start(plan.expect("it fits"), Options::default());
    machine.run(1000);
    machine.0.borrow_mut().pci_write(0xff, 16, 4, 0xf4, 0x0001_0100);
    machine.run(200);
    machine.0.borrow_mut().pci_write(0xff, 16, 4, 0xf4, 0x0001_0000);
    let last = at_the_end(&mut session, &machine, 2000);
    assert_eq!(last.counts[2].count, Some(3000));
    assert_eq!(measured(&last), [0, 1, 2, 3], "{:?}", doubts(&last));
}

/// A machine whose host takes its CPU away for 200 cycles, right after the freeze of the first channel was written.
struct Busy(Shared);

impl RegisterSpace for Busy {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.0.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.0.write(address, width, value)?;
        let gate = Address::Pci { bdf: Bdf::new(0xff, 16, 0), offset: 0xf4 };
        if (address, value) == (gate, 0x0001_0100) {
            self.0.run(200);
        }
        Ok(())
    }
}

/// The other channels run on meanwhile: their clocks are ahead, and nobody else has a part in that.
#[test]
fn what_a_busy_host_does_is_laid_to_nobody() {
    let machine = Shared::new("e5-2600", 1);
    let plan = planned(&machine, "imc/CLOCKTICKS/");
    let moment = |space: &mut Busy| space.0.moment();
    let mut session = Session::start(Busy(machine.clone()), plan, Options::default(), moment).expect("it starts");
    machine.run(4000);
    let sample = session.sample(moment);
    let counts: Vec<_> = sample.counts.iter().map(|count| count.count).collect();
    assert_eq!(counts, [4000, 4200, 4200, 4200].map(Some));
    let reasons = doubts(&sample);
    assert!(measured(&sample).is_empty() && reasons.len() == 1, "{reasons:?}");
    assert!(reasons[0].contains("one after the other") && !reasons[0].contains("someone else"), "{reasons:?}");
}

/// A counter that somebody sets back: the difference would be nearly 2^48.
#[test]
fn a_counter_that_went_back_is_found() {
    let machine = Shared::new("e5-2600", 1);
    let mut session = start(&machine, "imc/CLOCKTICKS/");
    after(&mut session, &machine, 5000);
    machine.run(100);
    machine.0.borrow_mut().pci_write_long(0xff, 16, 0, 0xa0, 0);
    let last = at_the_end(&mut session, &machine, 100);
    assert_eq!(measured(&last), [1, 2, 3]);
    assert!(doubts(&last)[0].contains("someone else wrote it"), "{:?}", doubts(&last));
}
