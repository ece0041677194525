use super::Wheel;
use crate::{NEVER, Period, Random};

#[test]
fn events_come_in_order_of_tick_then_of_scheduling() {
    let mut wheel = Wheel::new(Period::new(2));
    let mut random = Random::new(3, 0);
    let mut expected: Vec<(u64, u32)> = Vec::new();
    let mut got = Vec::new();
    let mut now = 0;
    for event in 0..5000 {
        let reach = if event % 7 == 0 { 200_000 } else { 5000 };
        let tick = now + random.below(reach);
        wheel.schedule(tick, event);
        // Between two edges: at the second.
        expected.push((tick.next_multiple_of(2), event));
        if event % 2 == 0 {
            now = wheel.next_tick();
            wheel.advance(now);
            while let Some(event) = wheel.pop() {
                got.push((now, event));
            }
        }
    }
    while wheel.next_tick() != NEVER {
        now = wheel.next_tick();
        wheel.advance(now);
        while let Some(event) = wheel.pop() {
            got.push((now, event));
        }
    }
    // A stable sort by tick keeps the order of scheduling.
    expected.sort_by_key(|&(tick, _)| tick);
    assert_eq!(got, expected);
}

#[test]
fn a_crowded_cycle_keeps_its_order_and_takes_more_while_it_lasts() {
    let mut wheel = Wheel::new(Period::new(2));
    (0..20).for_each(|event| wheel.schedule(6, event));
    wheel.schedule(8, 50);
    let mut got = Vec::new();
    while wheel.next_tick() == 6 {
        wheel.advance_to_next();
        while let Some(event) = wheel.pop() {
            got.push(event);
            if event < 3 {
                wheel.schedule(6, 20 + event);
            }
        }
    }
    assert_eq!(got, (0..23).collect::<Vec<_>>());
    assert_eq!(wheel.next_tick(), 8);
    wheel.advance_to_next();
    assert_eq!((wheel.pop(), wheel.pop(), wheel.next_tick()), (Some(50), None, NEVER));
}

#[test]
fn marks_come_after_all_events_of_their_cycle_and_once() {
    let mut wheel = Wheel::new(Period::new(2)).with_marks(100);
    assert_eq!([wheel.mark(4, 7), wheel.mark(4, 2), wheel.mark(4, 7), wheel.mark(8, 31)], [4, 4, 4, 8]);
    wheel.schedule(4, 1);
    let mut got = Vec::new();
    while wheel.next_tick() < 20 {
        wheel.advance_to_next();
        while let Some(event) = wheel.pop() {
            got.push((wheel.cycle(), event));
            // What comes in the cycle of the marks goes before the next of them.
            if event == 102 {
                wheel.schedule(4, 3);
                assert_eq!(wheel.mark(4, 5), 4);
            }
        }
    }
    assert_eq!(got, [(2, 1), (2, 102), (2, 3), (2, 105), (2, 107), (4, 131)]);
    assert_eq!(wheel.next_tick(), NEVER);
    // As far as the wheel reaches.
    assert_eq!(wheel.mark(1 << 20, 0), 8 + 2 * 1023);
}
