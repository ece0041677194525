//! The power unit alone, against times worked out by hand.

use pericore_engine::Clocks;
use pericore_engine::Tick;
use pericore_models::e5_2600::power::{PowerUnit, Sensed};

use pericore_hardware::signal::Wiring;
use pericore_truth::Question;
use pericore_truth::e5_2600::{Ledger, Shape, Window};
use pericore_workload::{Conditions, CoreSleep, FrequencyBounds, MemoryConditions};

const MICROSECOND: Tick = 21_600;

/// The unit of eight cores at 2.7 GHz, which has just started, and what it writes to.
fn started() -> (Ledger, PowerUnit) {
    let family = pericore_catalog::family("e5-2600").unwrap();
    let clocks = Clocks::new(2700, 800).unwrap();
    let opcodes = super::super::opcodes(&Wiring::new(family, 1)).unwrap();
    let shape =
        Shape { sockets: 1, slices: 1, channels: 1, pending: [1; 2], special: 0, links: 0, flight: 0, shared: 0 };
    let mut ledger = Ledger::new(clocks, opcodes, shape);
    let mut unit = PowerUnit::new(0, 8, clocks.ticks_per_second);
    unit.start(&mut ledger);
    (ledger, unit)
}

/// Runs phases one after the other, each with its busy cores and microseconds, and gives what events count over all of
/// it.
fn counts(phases: &[(Conditions, u8, u64)], events: &[(&str, &str)]) -> Vec<u64> {
    let (mut ledger, mut unit) = started();
    let start = started().0.at(0);
    let mut now = 0;
    for (conditions, busy, microseconds) in phases {
        unit.begin(conditions, *busy, Sensed::default(), now, &mut ledger);
        let end = now + microseconds * MICROSECOND;
        while unit.next_tick() < end {
            now = unit.next_tick();
            unit.step(Sensed::default(), now, &mut ledger);
        }
        now = end;
    }
    unit.under_way(now, &mut ledger);
    let end = ledger.at(now);
    let window = Window::between(&start, &end);
    let value = |&(event, sub): &(&str, &str)| {
        let sub = Some(sub).filter(|sub| !sub.is_empty());
        window.truth(0, Question::new("pcu", event).subevent(sub).filtered(&[("band0", 20), ("band1", 28)])).unwrap()
    };
    events.iter().map(value).collect()
}

fn requested(ratio: u8) -> Conditions {
    Conditions { frequency: FrequencyBounds { request: Some(ratio), ..Default::default() }, ..Default::default() }
}

#[test]
fn up_the_voltage_goes_first_and_down_the_frequency() {
    // 2.7 to 3.1 GHz: four steps of 1 us of voltage, then 10 us of locking. Down by 1.9 GHz: 10 us, then 19 us. 800
    // cycles are 1 us.
    let phases = [(requested(31), 0, 100), (requested(12), 0, 100)];
    let events = [
        ("VOLT_TRANS_CYCLES_INCREASE", ""),
        ("VOLT_TRANS_CYCLES_DECREASE", ""),
        ("VOLT_TRANS_CYCLES_CHANGE", ""),
        ("FREQ_TRANS_CYCLES", ""),
        ("FREQ_BAND0_CYCLES", ""),
        ("FREQ_BAND1_CYCLES", ""),
        ("FREQ_MAX_OS_CYCLES", ""),
    ];
    // At 2 GHz or more: all of the first 100 us but the locking. At 2.8 or more: from 14 us to 100 us.
    assert_eq!(counts(&phases, &events), [3200, 15_200, 18_400, 16_000, 90 * 800, 86 * 800, 160_000]);
}

#[test]
fn a_core_that_was_woken_early_sleeps_less_deep() {
    let sleepy = Conditions { sleep: CoreSleep::C6, wake: Some(30_000), ..Default::default() };
    // One idle core, number 7. Asleep in C6 from 10 us; its timer, 30 us and 3.5 us of stagger later, wakes it at 43.5;
    // awake at 63.5, working until 65.5; then, having slept for 33.5 us only, in C3 from 70.5 to 104, awake at 114,
    // working until 116, C3 from 121.
    let events = [
        ("DEMOTIONS_CORE7", ""),
        ("DEMOTIONS_CORE6", ""),
        ("POWER_STATE_OCCUPANCY", "CORES_C6"),
        ("POWER_STATE_OCCUPANCY", "CORES_C3"),
        ("POWER_STATE_OCCUPANCY", "CORES_C0"),
        ("CORE7_TRANSITION_CYCLES", ""),
        ("TOTAL_TRANSITION_CYCLES", ""),
        ("MEMORY_PHASE_SHEDDING_CYCLES", ""),
    ];
    let (c6, c3, c0) = (33_500, 33_500 + 9_000, 7 * 130_000 + 4_000);
    let moving = 10_000 + 20_000 + 5_000 + 10_000 + 5_000;
    let cycles = |nanoseconds: u64| nanoseconds * 8 / 10;
    let expected = [2, 0, cycles(c6), cycles(c3), cycles(c0), cycles(moving), cycles(moving), 0];
    assert_eq!(counts(&[(sleepy, 0x7F, 130)], &events), expected);
}

#[test]
fn memory_sheds_phases_while_all_cores_sleep() {
    let asleep = Conditions { sleep: CoreSleep::C3, ..Default::default() };
    let phases = [(asleep, 0x00, 50), (Conditions::default(), 0x01, 50)];
    // Asleep from 5 us on; the next phase's work begins to wake core 0 at 50 us.
    assert_eq!(counts(&phases, &[("MEMORY_PHASE_SHEDDING_CYCLES", "")]), [45 * 800]);
}

/// Memory at its full rate, 3200 lines in 4 us, in phases of 3 us each and then in a long one: its modules come to
/// 25 + 38 + 19.8 degrees, which is below 85, however the looks at the sensors fall.
#[test]
fn memory_at_its_full_rate_is_not_hot_however_long_phases_are() {
    let (mut ledger, mut unit) = started();
    let usual = MemoryConditions::default();
    let sensed =
        |now: Tick| Sensed { carried: now * 800 / MICROSECOND, requested: 0, busy: 8, devices: false, works: true };
    let (mut now, mut begins) = (0, 0);
    for length in std::iter::repeat_n(3, 60).chain([400]) {
        begins += length * MICROSECOND;
        unit.begin(&Conditions::default(), 0xFF, sensed(now), now, &mut ledger);
        while unit.next_tick() < begins {
            now = unit.next_tick();
            unit.step(sensed(now), now, &mut ledger);
            assert_eq!(unit.memory(&usual, false), usual, "after {} us", now / MICROSECOND);
        }
        now = begins;
    }
}
