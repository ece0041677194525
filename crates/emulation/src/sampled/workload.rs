//! A generated workload of which only a part is run in detail: what was counted in it, and what that says of all of it.
//!
//! A workload that goes on for long is steady. So nothing has to be run between two windows: the time between them is
//! left out, and each window goes on where the one before has ended, with caches, queues and rows as they are. What is
//! counted in all of them, over their length, is the rate of the rest.
//!
//! A machine that begins is not quite steady yet: its caches were filled by function, and are those of a detailed run
//! only when all of their lines have come anew. So the first quarter of what is run in detail stands for itself alone,
//! or up to half of it if they have come by then, and only the windows behind it stand for the rest. If not all lines
//! have come by then, the numbers may be off ([`Estimate::by_function`]), as far as they will come in the rest.

use pericore_machine::workload::SampleSize;
use pericore_machine::{Machine, MemoryKind};
use pericore_metrics::Validity;
use pericore_observe::run::Passed;
use pericore_observe::session::{Count, Sample, Slices};

use super::block::{WindowBlock, WindowBlocks};
use super::estimate::{Estimate, TooFewWindows};
use super::extent::Extent;
use super::numbers::{damp, float, whole_number};
use super::pace::ErrorPace;

/// The windows that stand for the rest come in so many parts, one behind the other: the error follows from what would
/// be said without each.
const PARTS: usize = 20;
/// Windows of each round of events: three for each part, and a third of that before them.
const WINDOWS: u64 = 80;
/// What is counted first, as a share of all that is, stands for itself alone: so much at least, and at most.
const EARLY: [f64; 2] = [0.25, 0.5];

/// Nanoseconds of a window, at least, and accesses.
const LEAST: [u64; 2] = [200, 250];
/// Nanoseconds of a window where an error is requested, and accesses: all rounds of them see some refreshes of each
/// rank.
const OF_ERROR: [u64; 2] = [5000, 5000];

/// How far counts are off at the most while the lines are in caches that they were filled with by function: writes of
/// modified lines, by 3 to 4 %.
const FILLED: f64 = 0.04;
/// Bytes of a line.
const LINE: u64 = 64;

/// What has been counted in windows of a workload so far.
#[derive(Debug)]
pub struct WorkloadWindows {
    extent: Extent,
    ticks_per_second: u64,
    /// Of a window.
    length: u64,
    /// Where the first window begins, where the next one does, and where the last one ends at the latest.
    start: u64,
    began: u64,
    end: u64,
    blocks: WindowBlocks,
    pace: Option<ErrorPace>,
    /// Lines that all caches hold, and lines that came from memory or went there since they were filled by function:
    /// before the first window, and until now.
    cached: f64,
    brought: [f64; 2],
}

impl WorkloadWindows {
    /// Before the first window of a workload of this length, whose events take so many rounds on the counters, on a
    /// machine whose caches have so many bytes.
    ///
    /// # Errors
    /// So little is to be counted that the windows would be too short.
    pub fn new(
        machine: &Machine,
        extent: Extent,
        size: SampleSize,
        rounds: usize,
        caches: u64,
    ) -> Result<Self, TooFewWindows> {
        let ticks_per_second = machine.clocks().ticks_per_second();
        let windows = WINDOWS * (rounds as u64).max(1);
        let counted = match size {
            SampleSize::OneIn(one_in) => extent.whole() / u64::from(one_in),
            SampleSize::Error(_) => extent.whole(),
        };
        let least = extent.of(LEAST, ticks_per_second);
        if counted / windows < least {
            let words = |part| extent.words(part, ticks_per_second);
            return Err(TooFewWindows::Workload { counted: words(counted), windows, least: words(least) });
        }
        let (length, pace) = match size {
            SampleSize::OneIn(_) => (counted / windows, None),
            SampleSize::Error(error) => {
                let usual = extent.of(OF_ERROR, ticks_per_second);
                (usual.min(counted / windows), Some(ErrorPace::new(error, windows)))
            }
        };
        let start = extent.place(machine);
        let (began, end) = (start, start + counted);
        let (blocks, cached, brought) = (WindowBlocks::new(), float(caches / LINE), [brought(machine); 2]);
        Ok(Self { extent, ticks_per_second, length, start, began, end, blocks, pace, cached, brought })
    }

    /// What the driver is to do now that the machine has come so far.
    pub fn look(&self, machine: &Machine) -> Passed {
        let place = self.extent.place(machine);
        if place >= self.end || self.pace.as_ref().is_some_and(ErrorPace::is_reached) {
            return Passed::Over;
        }
        if place - self.began >= self.length { Passed::Turn } else { Passed::On }
    }

    /// A sample that ends where the machine is now.
    pub fn take(&mut self, machine: &Machine, sample: &Sample, truth: Option<&Sample>) {
        let place = self.extent.place(machine);
        let began = std::mem::replace(&mut self.began, place);
        let brought = brought(machine);
        let before = std::mem::replace(&mut self.brought[1], brought);
        if place > began {
            let figures = [float(place - began), brought - before, 0.0];
            self.blocks.keep(WindowBlock { sample: sample.clone(), truth: truth.cloned(), figures, windows: 1 });
        }
    }

    /// True if it is time to see whether windows are enough for the error that is requested.
    pub fn is_due(&self) -> bool {
        self.pace.as_ref().is_some_and(|pace| pace.is_due(self.blocks.windows()))
    }

    /// Half of the widest interval is such a share of its number by now.
    pub fn set_pace(&mut self, widest: Option<f64>) {
        if let Some(pace) = &mut self.pace {
            pace.look(widest, self.blocks.windows());
        }
    }

    /// How much is done of what is to be counted at the most, in microseconds or accesses.
    pub fn progress(&self, machine: &Machine) -> (u64, u64, &'static str) {
        let (done, all) = (self.extent.place(machine) - self.start, self.end - self.start);
        match self.extent {
            Extent::Accesses(_) => (done, all, "accesses"),
            Extent::Time(_) => {
                let microseconds = |ticks: u64| ticks / (self.ticks_per_second / 1_000_000).max(1);
                (microseconds(done), microseconds(all), "microseconds")
            }
        }
    }

    /// What the windows say of the whole workload.
    ///
    /// # Errors
    /// There are too few.
    pub fn estimate(&self) -> Result<Estimate, TooFewWindows> {
        let blocks = self.blocks.all();
        let counted: f64 = blocks.iter().map(|block| block.figures[0]).sum();
        let placed = Placed::of(blocks, counted, self.early(counted));
        let (early, late): (Vec<_>, Vec<_>) = placed.into_iter().partition(|placed| placed.part.is_none());
        let parts = PARTS.min(late.len());
        if parts < PARTS {
            return Err(TooFewWindows::Cut { windows: self.blocks.windows() });
        }
        let extent = float(self.extent.whole());
        let estimated = |without: Option<usize>, of: &dyn Fn(&WindowBlock) -> Option<&Sample>| {
            let stand_for_the_rest = late.iter().filter(|placed| without.is_none() || placed.part != without);
            let late: Vec<&WindowBlock> = stand_for_the_rest.map(|placed| placed.block).collect();
            let early: Vec<&WindowBlock> = early.iter().map(|placed| placed.block).collect();
            whole(&early, &late, extent, of)
        };
        let has_truth = blocks.iter().any(|block| block.truth.is_some());
        let sample = estimated(None, &|block| Some(&block.sample));
        let share = (counted / extent).min(1.0);
        let without = |part| damp(estimated(Some(part), &|block| Some(&block.sample)), &sample, share);
        Ok(Estimate {
            truth: has_truth.then(|| estimated(None, &|block| block.truth.as_ref())),
            without: (0..parts).map(without).collect(),
            share,
            windows: self.blocks.windows(),
            by_function: FILLED * (1.0 - share) * self.unsettled(&early, &late),
            sample,
        })
    }

    /// How much of what was counted stands for itself alone: a quarter, or up to half of it if all lines in caches have
    /// come anew by then.
    fn early(&self, counted: f64) -> f64 {
        let [least, most] = EARLY.map(|share| share * counted);
        let (mut length, mut brought) = (0.0, self.brought[0]);
        for block in self.blocks.all() {
            if brought >= self.cached {
                break;
            }
            length += block.figures[0];
            brought += block.figures[1];
        }
        if length <= most { length.max(least) } else { least }
    }

    /// Which share of the lines in caches will come anew in the rest of the run, and has not yet when the windows began
    /// that stand for it.
    fn unsettled(&self, early: &[Placed<'_>], late: &[Placed<'_>]) -> f64 {
        let sum = |of: &[Placed<'_>], index: usize| of.iter().map(|placed| placed.block.figures[index]).sum::<f64>();
        let then = self.brought[0] + sum(early, 1);
        let rate = sum(late, 1) / sum(late, 0);
        let end = then + rate * (float(self.extent.whole()) - sum(early, 0));
        let settled = |brought: f64| (brought / self.cached.max(1.0)).min(1.0);
        (settled(end) - settled(then)).max(0.0)
    }
}

/// Lines that memory has read since reset, or written if those are more.
fn brought(machine: &Machine) -> f64 {
    let of = [MemoryKind::Dram, MemoryKind::Expander].map(|kind| machine.memory_lines(kind));
    float((of[0][0] + of[1][0]).max(of[0][1] + of[1][1]))
}

/// A block, and which of the parts it belongs to; none of those that stand for themselves alone.
struct Placed<'a> {
    block: &'a WindowBlock,
    part: Option<usize>,
}

impl<'a> Placed<'a> {
    /// WindowBlocks in their order, over so much that they have counted in all, of which so much stands for itself
    /// alone.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number above 0")]
    fn of(blocks: &'a [WindowBlock], counted: f64, early: f64) -> Vec<Self> {
        let mut before = 0.0;
        let place = |block: &'a WindowBlock| {
            let middle = before + block.figures[0] / 2.0;
            before += block.figures[0];
            let part = (middle - early) / (counted - early) * float(PARTS as u64);
            Self { block, part: (middle >= early).then_some((part as usize).min(PARTS - 1)) }
        };
        blocks.iter().map(place).collect()
    }
}

/// Numbers of all of a workload of such a length: what its first windows have counted, and the rate of the later ones
/// for the rest; `of` says which sample of a block.
fn whole(
    early: &[&WindowBlock],
    late: &[&WindowBlock],
    extent: f64,
    of: &dyn Fn(&WindowBlock) -> Option<&Sample>,
) -> Sample {
    let sums = |blocks: &[&WindowBlock], number: &dyn Fn(&WindowBlock) -> Option<f64>| {
        let numbers = blocks.iter().filter_map(|block| Some((number(block)?, block.figures[0])));
        numbers.fold((0.0, 0.0), |(sum, length), (number, of)| (sum + number, length + of))
    };
    let estimate = |number: &dyn Fn(&WindowBlock) -> Option<f64>| {
        let ((first, of_first), (rest, of_rest)) = (sums(early, number), sums(late, number));
        let all = first + rest / of_rest * (extent - of_first).max(of_rest);
        (of_rest > 0.0).then_some((all, (of_first + of_rest) / extent))
    };
    let seconds = estimate(&|block| Some(of(block)?.seconds)).map_or(0.0, |(seconds, _)| seconds);
    let cycles = estimate(&|block| Some(float(of(block)?.tsc_cycles))).map_or(0.0, |(cycles, _)| cycles);
    let Some(template) = late.iter().chain(early).find_map(|block| of(block)) else { return Sample::default() };
    let counts = template.counts.iter().enumerate().map(|(index, template)| {
        // A truth is known of windows, too, in which it was not an event's turn: they are left out with the event.
        let had_turn = |block: &WindowBlock| block.sample.counts.get(index).is_some_and(|count| count.count.is_some());
        let estimate = estimate(&|block| of(block)?.counts.get(index).filter(|_| had_turn(block))?.count.map(float));
        let validity = early.iter().chain(late).filter_map(|block| of(block)?.counts.get(index));
        let validity = validity
            .filter(|count| count.count.is_some() || estimate.is_none())
            .fold(Validity::MEASURED, |validity, count| validity.and(&count.validity));
        let (count, validity) = match estimate {
            Some((number, share)) => (Some(whole_number(number)), Validity::scaled(share).and(&validity)),
            None => (None, validity),
        };
        Count { count, validity, slices: Slices::default(), standard_error: None, ..*template }
    });
    let counts = counts.collect();
    Sample { seconds, tsc_cycles: whole_number(cycles), counts, is_checked: true, ..Sample::default() }
}

#[cfg(test)]
mod tests {
    use pericore_metrics::Validity;
    use pericore_observe::session::{Count, Sample, Slices};

    use super::super::block::{WindowBlock, WindowBlocks};
    use super::super::extent::Extent;
    use super::WorkloadWindows;

    /// So long a window with these counts, in nanoseconds; none of an event whose turn it was not.
    fn window(length: f64, counts: &[Option<u64>]) -> WindowBlock {
        let count = |(event, &count): (usize, &Option<u64>)| Count {
            event,
            socket: 0,
            instance: 0,
            count,
            validity: count.map_or_else(|| Validity::not_defined("its turn did not come"), |_| Validity::MEASURED),
            slices: Slices::default(),
            standard_error: None,
        };
        let counts = counts.iter().enumerate().map(count).collect();
        let sample = Sample { seconds: length * 1e-9, tsc_cycles: 2 * length as u64, counts, ..Sample::default() };
        WindowBlock { sample, truth: None, figures: [length, 0.0, 0.0], windows: 1 }
    }

    fn windows(extent: u64, all: impl IntoIterator<Item = WindowBlock>) -> WorkloadWindows {
        let mut blocks = WindowBlocks::new();
        all.into_iter().for_each(|window| blocks.keep(window));
        WorkloadWindows {
            extent: Extent::Time(extent),
            ticks_per_second: 1_000_000_000,
            length: 100,
            start: 0,
            began: 0,
            end: extent,
            blocks,
            pace: None,
            cached: 1000.0,
            brought: [100.0; 2],
        }
    }

    fn numbers(sample: &Sample) -> Vec<u64> {
        sample.counts.iter().map(|count| count.count.expect("a number")).collect()
    }

    /// 80 windows of 100 ns in 800,000. In the first 20 an event comes 9 times each, then 3 times: 180, and 3 in each
    /// of the other 7,980. A clock of 2 GHz has 200 cycles in each window, and in all of it 1,600,000, with no
    /// deviation.
    #[test]
    fn the_first_quarter_counts_for_itself_alone() {
        let of = |at| window(100.0, &[Some(if at < 20 { 9 } else { 3 }), Some(200)]);
        let estimate = windows(800_000, (0..80).map(of)).estimate().expect("enough");
        assert_eq!(numbers(&estimate.sample), [180 + 7980 * 3, 1_600_000]);
        assert_eq!((estimate.share, estimate.windows, estimate.without.len()), (0.01, 80, 20));
        assert!(estimate.without.iter().all(|without| numbers(without) == numbers(&estimate.sample)));
        assert_eq!(estimate.sample.tsc_cycles, 1_600_000);
        assert!((estimate.sample.seconds - 800e-6).abs() < 1e-12);
        assert_eq!(estimate.sample.counts[0].validity, Validity::scaled(0.01));
    }

    /// Parts follow each other: what changes slowly is in the error, though neighbours are alike. An event that rises
    /// from 0 to 59 in the windows that stand for the rest has 29.5 on the average; without the first three, of 0, 1
    /// and 2, 1767 / 57.
    #[test]
    fn parts_are_stretches_of_time() {
        let of = |at: u64| window(100.0, &[Some(at.saturating_sub(20))]);
        let estimate = windows(800_000, (0..80).map(of)).estimate().expect("enough");
        assert_eq!(numbers(&estimate.sample), [7980 * 59 / 2]);
        let without = 7980.0 * (29.5 + 0.99_f64.sqrt() * (1767.0 / 57.0 - 29.5));
        assert!((numbers(&estimate.without[0])[0] as f64 - without).abs() < 1.0, "{without}");
    }

    /// Two events in turn: 5 of one in each window of its own, and 7 of the other, at half of the duty.
    #[test]
    fn events_in_turn_have_the_rates_of_their_windows() {
        let of = |at: u64| window(100.0, &if at.is_multiple_of(2) { [Some(5), None] } else { [None, Some(7)] });
        let estimate = windows(1_600_000, (0..160).map(of)).estimate().expect("enough");
        assert_eq!(numbers(&estimate.sample), [16_000 * 5, 16_000 * 7]);
        assert!(estimate.sample.counts.iter().all(|count| count.validity == Validity::scaled(0.005)));
        assert!(estimate.without.iter().all(|without| numbers(without) == numbers(&estimate.sample)));
    }

    /// All of it was counted: nothing is scaled, and nothing varies.
    #[test]
    fn a_workload_that_was_run_whole_is_known() {
        let of = |at: u64| window(100.0, &[Some(at)]);
        let estimate = windows(8000, (0..80).map(of)).estimate().expect("enough");
        assert_eq!((numbers(&estimate.sample), estimate.share), (vec![79 * 40], 1.0));
        assert!(estimate.without.iter().all(|without| numbers(without) == [79 * 40]));
        assert_eq!(estimate.sample.counts[0].validity, Validity::MEASURED);
    }

    /// 1,000 lines are in caches, of which 100 have come anew before the first window, and one more comes in each: 120
    /// when those begin that stand for the rest, and all of them before it ends. Of a workload that brings none, none
    /// is missing; with 45 in each all have come after 20 windows, and with 30 after 30.
    #[test]
    fn what_caches_were_filled_with_is_not_known_to_be_right() {
        let of = |lines: f64| WindowBlock { figures: [100.0, lines, 0.0], ..window(100.0, &[Some(1)]) };
        let by_function =
            |lines: f64| windows(800_000, (0..80).map(|_| of(lines))).estimate().expect("enough").by_function;
        assert!((by_function(1.0) - 0.04 * 0.99 * 0.88).abs() < 1e-9, "{}", by_function(1.0));
        assert_eq!([by_function(0.0), by_function(45.0), by_function(30.0)], [0.0; 3]);
    }

    #[test]
    fn what_was_cut_short_is_refused() {
        let error = windows(8000, (0..5).map(|_| window(100.0, &[Some(1)]))).estimate().expect_err("too few");
        assert!(error.to_string().contains("5 windows were counted"), "{error}");
    }
}
