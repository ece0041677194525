//! What checks cost.

use pericore_observe::session::{Guard, Options, Session};
use pericore_registers::Counting;
use pericore_tests::session::shared::Shared;

use super::planned;

/// 16 counters and the socket's freeze: 18 accesses. The freeze is looked at every second time, and with every 20th
/// sample 16 controls and the 8 unit controls of the channels are.
#[test]
fn memory_bandwidth_of_emerald_rapids_takes_less_than_20_accesses_a_sample() {
    let machine = Shared::new("emerald-rapids", 1);
    let plan = planned(&machine, "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/");
    let space = Counting::new(machine.clone());
    let mut session =
        Session::start(space, plan, Options::default(), |_| machine.moment()).expect("nobody else is there");
    let accesses = |session: &mut Session<Counting<Shared>>| {
        let counts = session.space_mut().counts();
        counts.reads() + counts.writes()
    };
    let before = accesses(&mut session);
    let mut checked = Vec::new();
    for number in 1..=100 {
        machine.run(50);
        let sample = session.sample(|_| machine.moment());
        checked.extend(sample.is_checked.then_some(number));
    }
    assert_eq!(checked, [20, 40, 60, 80, 100]);
    assert_eq!(accesses(&mut session) - before, 100 * 18 + 50 + 5 * 24);
    let before = accesses(&mut session);
    session.check_controls();
    assert!(session.sample(|_| machine.moment()).is_checked);
    assert_eq!(accesses(&mut session) - before, 18 + 1 + 24, "at the end all are looked at");
}

/// With the guard each sample is checked.
#[test]
fn the_guard_checks_each_sample() {
    let machine = Shared::new("e5-2600", 1);
    let plan = planned(&machine, "cbo0/CLOCKTICKS/");
    let options = Options { guard: Guard::All, ..Options::default() };
    let mut session = machine.start(plan, options);
    for _ in 0..3 {
        machine.run(10);
        assert!(session.sample(|space| space.moment()).is_checked);
    }
}
