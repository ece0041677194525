use pericore_metrics::Validity;
use pericore_observe::session::{Count, Sample, Slices};

use super::block::{Figures, WindowBlock};
use super::{Estimate, ProgramWindows};

/// A window of these figures and counts.
fn window(figures: Figures, counts: &[u64]) -> WindowBlock {
    let count = |(event, &count): (usize, &u64)| Count {
        event,
        socket: 0,
        instance: 0,
        count: Some(count),
        validity: Validity::MEASURED,
        slices: Slices::default(),
        standard_error: None,
    };
    let counts = counts.iter().enumerate().map(count).collect();
    let sample = Sample { seconds: figures[0] * 1e-9, tsc_cycles: 1000, counts, ..Sample::default() };
    WindowBlock { sample, truth: None, figures, windows: 1 }
}

fn estimate(first: WindowBlock, windows: impl IntoIterator<Item = WindowBlock>, all: Figures) -> Estimate {
    let mut counted = ProgramWindows::new(1, None);
    counted.keep(first);
    windows.into_iter().for_each(|window| counted.keep(window));
    counted.estimate_of(all).expect("enough windows")
}

fn numbers(sample: &Sample) -> Vec<u64> {
    sample.counts.iter().map(|count| count.count.expect("a number")).collect()
}

/// 1,000 accesses at first with 70 of an event, then two windows of 100 accesses with 10 and 20 of it, in 10,000 more:
/// 70 and 15 for each hundred. Without one of them it would be 500 more or less, of which 472 are left, by the root of
/// what is not known: 9,800 of 11,000.
#[test]
fn without_figures_that_vary_it_goes_by_accesses() {
    let windows = [window([100.0, 50.0, 5.0], &[10]), window([100.0, 50.0, 5.0], &[20])];
    let of = estimate(window([1000.0, 500.0, 50.0], &[70]), windows, [11_000.0, 5500.0, 550.0]);
    assert_eq!(numbers(&of.sample), [70 + 1500]);
    assert_eq!((of.without.len(), numbers(&of.without[0]), numbers(&of.without[1])), (2, vec![2042], vec![1098]));
    assert!((of.share - 1200.0 / 11_000.0).abs() < 1e-12 && of.windows == 2);
    assert!((of.sample.seconds - 11_000e-9).abs() < 1e-12);
}

/// An event that comes once for each line from memory and twice for each request: windows met 12 lines in 400 accesses,
/// and so few are not what the rest has by its figures, 900 lines and 5,000 requests in 10,000 accesses.
///
/// By accesses it would be 25 times 12 and 155: 8,050 of the rest, where the figures say 10,900. Chance alone makes of
/// the windows' 322 a deviation by the root of 4/3 of 19.5, 48.5, 40.5 and 11.5 squared, each off the mean of 80.5: 25
/// times 77.5, less for the share that was counted, 1,898. A fortieth of 10,900 is 272: 98 % of 2,850 is believed.
#[test]
fn counts_follow_the_figures_that_they_depend_on() {
    let of = |accesses: f64, requests: f64, lines: f64| {
        window([accesses, requests, lines], &[(lines + 2.0 * requests) as u64, accesses as u64])
    };
    let windows = [of(100.0, 30.0, 1.0), of(100.0, 60.0, 9.0), of(100.0, 20.0, 0.0), of(100.0, 45.0, 2.0)];
    let of = estimate(of(1000.0, 600.0, 300.0), windows, [11_000.0, 5600.0, 1200.0]);
    let counts = numbers(&of.sample);
    assert!(counts[0].abs_diff(1500 + 8050 + 2790) < 10 && counts[1] == 11_000, "{counts:?}");
}

/// 400 windows with 4 lines in 100 accesses and a deviation of 2: 40,000 in 1,000,000, with a deviation of 2 /
/// sqrt(400) in 4, or 2.5 %, which is as much as is not to be believed of figures. They say 42,000, and half of the
/// rest is added.
#[test]
fn many_windows_know_better() {
    let windows = (0..400).map(|at| {
        let lines = if at % 2 == 0 { 2.0 } else { 6.0 };
        window([100.0, 0.0, lines], &[lines as u64])
    });
    let of = estimate(window([0.0; 3], &[0]), windows, [1_000_000.0, 0.0, 42_000.0]);
    let count = numbers(&of.sample)[0];
    assert!((40_900..=41_000).contains(&count), "{count}");
}

/// A program that ends within its first accesses was counted whole.
#[test]
fn a_short_program_is_counted_whole() {
    let of = estimate(window([9523.0, 80.0, 7.0], &[7]), [], [9523.0, 80.0, 7.0]);
    assert_eq!((numbers(&of.sample), of.share, of.without.len(), of.windows), (vec![7], 1.0, 0, 0));
    assert!(of.sample.counts[0].validity.reasons().is_empty());
}

#[test]
fn one_window_is_not_enough() {
    let mut counted = ProgramWindows::new(1, None);
    counted.keep(window([1000.0, 0.0, 0.0], &[1]));
    counted.keep(window([100.0, 0.0, 0.0], &[1]));
    let refusal = counted.estimate_of([5000.0, 0.0, 0.0]).expect_err("one window").to_string();
    assert!(refusal.contains("5000 accesses") && refusal.contains("first 1000 and 1 windows"), "{refusal}");
}

/// 3,000 windows are at most 512 blocks, none of which is lost.
#[test]
fn memory_is_bounded() {
    let windows = (0..3000).map(|_| window([100.0, 10.0, 1.0], &[3]));
    let of = estimate(window([1000.0, 100.0, 10.0], &[30]), windows, [3_001_000.0, 300_100.0, 30_010.0]);
    assert_eq!((numbers(&of.sample), of.windows, of.without.len()), (vec![90_030], 3000, 20));
}

/// Two events take turns, a window each: 3 of the first in each 100 accesses, and 7 of the second. Neither has more
/// windows than the other, and the first accesses have the first alone.
#[test]
fn events_that_take_turns_have_windows_of_their_own() {
    let mut first = window([1000.0, 0.0, 0.0], &[30, 70]);
    first.sample.counts[1].count = None;
    let windows = (0..2000).map(|at| {
        let mut window = window([100.0, 0.0, 0.0], &[3, 7]);
        window.sample.counts[at % 2].count = None;
        window
    });
    let of = estimate(first, windows, [1_001_000.0, 0.0, 0.0]);
    assert_eq!(numbers(&of.sample), [30_030, 70_070]);
    let duties: Vec<f64> = of.sample.counts.iter().map(|count| count.validity.duty()).collect();
    assert!((duties[0] - 101_000.0 / 1_001_000.0).abs() < 1e-9 && (duties[1] - 100_000.0 / 1_001_000.0).abs() < 1e-9);
}

#[test]
fn what_had_no_turn_has_no_number() {
    let mut blocks = [(); 3].map(|()| window([100.0, 0.0, 0.0], &[3]));
    for block in &mut blocks {
        block.sample.counts[0].count = None;
        block.sample.counts[0].validity = Validity::not_defined("its turn did not come");
    }
    let [first, one, other] = blocks;
    let of = estimate(first, [one, other], [1000.0, 0.0, 0.0]);
    assert_eq!(of.sample.counts[0].count, None);
    assert!(of.sample.counts[0].validity.to_string().contains("its turn did not come"));
}

/// Before the density changes, 2 of an event are in each 100 of 80,000 accesses, of which each second window of 100 is
/// counted; behind it 6 in each 100 of 800,000, of which one in 200 is. 1,600 and 48,000, with the 30 of the first
/// 1,000. Of all accesses 1,000, 40,000 and 4,000 were counted.
#[test]
fn stretches_of_other_densities_are_added_up() {
    let mut counted = ProgramWindows::new(1, Some(0.1));
    let keep = |counted: &mut ProgramWindows, windows: usize, count: u64| {
        (0..windows).for_each(|_| counted.keep(window([100.0, 0.0, 0.0], &[count])));
    };
    counted.keep(window([1000.0, 0.0, 0.0], &[30]));
    keep(&mut counted, 400, 2);
    assert_eq!(counted.one_in(), Some(2));
    counted.set_density(Some(0.01), [81_000.0, 0.0, 0.0]);
    assert_eq!(counted.one_in(), Some(4));
    keep(&mut counted, 40, 6);
    let all = [881_000.0, 0.0, 0.0];
    let of = counted.estimate_of(all).expect("enough windows");
    assert_eq!((numbers(&of.sample), of.windows), (vec![49_630], 440));
    assert!((of.share - 45_000.0 / 881_000.0).abs() < 1e-9 && of.without.len() == 20);
    assert!((of.sample.counts[0].validity.duty() - of.share).abs() < 1e-9);
    assert!((of.sample.seconds - 881_000e-9).abs() < 1e-12);
    // It changes again: the first stretch is only kept as a sum from now on, and one window says nothing by itself.
    counted.set_density(Some(0.2), all);
    keep(&mut counted, 1, 100);
    let of = counted.estimate_of([882_000.0, 0.0, 0.0]).expect("enough windows");
    assert_eq!(numbers(&of.sample), [1630 + (801_000.0 * (40.0 * 6.0 + 100.0) / 4100.0_f64).round() as u64]);
}

/// 20 windows with 20,000 and 40,000 of an event in turn, in 8,000 accesses of which half were counted. What is known
/// does not vary: half of the variance is left.
#[test]
fn what_was_counted_does_not_vary() {
    let windows = (0..20).map(|at| window([200.0, 0.0, 0.0], &[if at % 2 == 0 { 20_000 } else { 40_000 }]));
    let of = estimate(window([0.0; 3], &[0]), windows, [8000.0, 0.0, 0.0]);
    assert_eq!(numbers(&of.sample), [1_200_000]);
    // Without a window of 20,000 the mean of the others is 580,000 / 19.
    let off = (580_000.0 / 19.0 - 30_000.0) * 40.0 * 0.5_f64.sqrt();
    assert!((numbers(&of.without[0])[0] as f64 - 1_200_000.0 - off).abs() < 2.0, "{:?}", numbers(&of.without[0]));
}
