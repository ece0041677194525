//! The closed-form counter against a reference that goes cycle by cycle, written from the guides' text
//! (E5-2600 1.4: threshold, then invert, then edge detect).

use pericore_hardware::pmon::{Conditioning, Counter, GateCondition};
use proptest::prelude::*;

/// What happens to the input, by cycle.
#[derive(Debug, Clone, Copy)]
enum Step {
    Pulse(u64),
    Level(i64),
    Run(bool),
    /// Nothing for that many cycles.
    Quiet(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1u64..40).prop_map(Step::Pulse),
        4 => (-6i64..7).prop_map(Step::Level),
        1 => any::<bool>().prop_map(Step::Run),
        6 => (1u64..300).prop_map(Step::Quiet),
    ];
    prop::collection::vec(step, 0..120)
}

/// One cycle at a time: the increment is compared, the comparison inverted, its rising edge taken.
struct Naive {
    conditioning: Conditioning,
    value: u64,
    level: u64,
    this_cycle: u64,
    running: bool,
    before: bool,
}

impl Naive {
    fn clock(&mut self) {
        let increment = self.level + self.this_cycle;
        self.this_cycle = 0;
        let at_least = increment >= u64::from(self.conditioning.thresh);
        let asserted = if self.conditioning.invert { !at_least } else { at_least };
        let counts = if self.conditioning.edge { asserted && !self.before } else { asserted };
        self.before = asserted;
        if counts && self.running {
            self.value = (self.value + 1) % (1 << 44);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn closed_form_equals_cycle_by_cycle(
        steps in steps(),
        thresh in 1u32..48,
        invert: bool,
        edge: bool,
        start in prop_oneof![Just(0u64), (1u64 << 44) - 50..(1 << 44)],
    ) {
        let conditioning = Conditioning { thresh, invert, edge, gate: None, halves: false };
        let mut counter = Counter::new(44);
        counter.set_value(start, 0);
        counter.program(conditioning, 0, 0, 0);
        counter.set_running(true, 0);
        // Before the first cycle the input was zero, which reaches no threshold.
        let before = invert;
        let mut naive = Naive { conditioning, value: start, level: 0, this_cycle: 0, running: true, before };
        let mut cycle = 0;
        for step in steps {
            match step {
                Step::Pulse(count) => {
                    counter.pulse(count, cycle);
                    naive.this_cycle += count;
                }
                Step::Level(delta) => {
                    let delta = delta.max(-(naive.level as i64));
                    counter.change_level(delta, cycle);
                    naive.level = naive.level.saturating_add_signed(delta);
                }
                Step::Run(running) => {
                    // Software stops and starts counters between cycles.
                    cycle += 1;
                    naive.clock();
                    counter.set_running(running, cycle);
                    naive.running = running;
                }
                Step::Quiet(cycles) => {
                    cycle += cycles;
                    (0..cycles).for_each(|_| naive.clock());
                }
            }
            prop_assert_eq!(counter.value(cycle), naive.value);
        }
    }

    /// Two conditions in one counter (E5-2600 Table 2-80, cases 5 and 6; catalog/undefined.toml), cycle by cycle.
    #[test]
    fn joint_conditions_equal_cycle_by_cycle(
        steps in prop::collection::vec((0u64..3, -3i64..4, 0u64..60), 0..80),
        thresh in 0u32..5,
        gate_invert: bool,
        gate_edge: bool,
        invert: bool,
        edge: bool,
    ) {
        let gate = GateCondition { thresh, invert: gate_invert, edge: gate_edge };
        let mut counter = Counter::new(48);
        counter.program(Conditioning { thresh: 1, invert, edge, gate: Some(gate), halves: false }, 0, 0, 0);
        counter.set_running(true, 0);
        let open = |cores: u64| (cores >= u64::from(thresh.max(1))) != gate_invert;
        let asserted = |event: u64| (event >= 1) != invert;
        let (mut event, mut cores, mut cycle, mut expected) = (0u64, 0u64, 0u64, 0u64);
        let (mut was_open, mut was_both) = (open(0), open(0) && asserted(0));
        for (new_event, change, cycles) in steps {
            counter.change_level(new_event as i64 - event as i64, cycle);
            event = new_event;
            let change = change.max(-(cores as i64));
            counter.change_gate(change, cycle);
            cores = cores.saturating_add_signed(change);
            for _ in 0..cycles {
                let (now_open, both) = (open(cores), open(cores) && asserted(event));
                expected += match (thresh, gate_edge, edge) {
                    (0, false, false) if asserted(event) => cores,
                    (0, false, false) => 0,
                    (_, true, _) => u64::from(now_open && !was_open && asserted(event)),
                    (_, false, true) => u64::from(both && !was_both),
                    (_, false, false) => u64::from(both),
                };
                (was_open, was_both) = (now_open, both);
            }
            cycle += cycles;
            prop_assert_eq!(counter.value(cycle), expected);
        }
    }

    /// A clock at half the rate has an increment of 1 in each second cycle, read at any cycles.
    #[test]
    fn a_clock_at_half_the_rate_goes_cycle_by_cycle(
        gaps in prop::collection::vec(1u64..9, 1..40),
        thresh in 0u32..3,
        invert: bool,
        edge: bool,
    ) {
        let mut counter = Counter::new(48);
        counter.set_running(true, 0);
        counter.program(Conditioning { thresh, invert, edge, gate: None, halves: true }, 1, 0, 0);
        let holds = |cycle: u64| (u64::from(cycle.is_multiple_of(2)) >= u64::from(thresh.max(1))) != invert;
        let (mut at, mut expected) = (0, 0);
        for gap in gaps {
            for cycle in at..at + gap {
                expected += match (thresh, edge) {
                    (0, false) => u64::from(cycle.is_multiple_of(2)),
                    (_, false) => u64::from(holds(cycle)),
                    // What stood before the first cycle made no edge.
                    (_, true) => u64::from(holds(cycle) && !holds(cycle + 1)),
                };
            }
            at += gap;
            prop_assert_eq!(counter.value(at), expected);
        }
    }

    /// Threshold 0 (catalog/undefined.toml): increments add up, invert has no effect; edge works as with threshold 1.
    #[test]
    fn threshold_zero_adds_up_or_detects_any_increment(
        pulses in prop::collection::vec((1u64..20, 0u64..9), 0..60),
        invert: bool,
    ) {
        let mut raw = Counter::new(48);
        let mut edge_zero = Counter::new(48);
        let mut edge_one = Counter::new(48);
        raw.program(Conditioning { thresh: 0, invert, edge: false, gate: None, halves: false }, 0, 0, 0);
        edge_zero.program(Conditioning { thresh: 0, invert, edge: true, gate: None, halves: false }, 0, 0, 0);
        edge_one.program(Conditioning { thresh: 1, invert, edge: true, gate: None, halves: false }, 0, 0, 0);
        let mut sum = 0;
        let mut cycle = 0;
        for counter in [&mut raw, &mut edge_zero, &mut edge_one] {
            counter.set_running(true, 0);
        }
        for (gap, count) in pulses {
            cycle += gap;
            sum += count;
            for counter in [&mut raw, &mut edge_zero, &mut edge_one] {
                counter.pulse(count, cycle);
            }
        }
        prop_assert_eq!(raw.value(cycle + 1), sum);
        prop_assert_eq!(edge_zero.value(cycle + 1), edge_one.value(cycle + 1));
    }
}

/// A counter wraps at its width and goes on (E5-2600 2.3.3.2: a carry out of bit 43).
#[test]
fn a_44_bit_counter_wraps() {
    let mut counter = Counter::new(44);
    counter.set_value((1 << 44) - 3, 0);
    counter.program(Conditioning::default(), 0, 0, 0);
    counter.set_running(true, 0);
    counter.pulse(5, 1);
    assert_eq!(counter.value(2), 2);
    assert!(counter.take_overflow());
    assert!(!counter.take_overflow());
}
