//! The wall's time, and traffic of our own threads on a real machine: a stream and a chase of known size.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use pericore_doctor::selfcheck::{KnownTraffic, TestTime};
use pericore_observe::linux::Stopwatch;
use pericore_observe::selection::SelectedEvent;
use pericore_observe::session::Moment;

use crate::own_memory::{CacheLine, LINE, available_bytes, cache_bytes};

/// Seconds in which the time that a start or stop takes does not matter.
const WINDOW: f64 = 10e-3;

/// Seconds for which traffic is counted that is not ours.
const WATCHED: f64 = 0.2;

/// Bytes of what is read at least: some caches.
const LEAST: usize = 256 << 20;
/// A stream over so many times the caches finds little in them.
const CACHES: usize = 4;
/// Times that the stream reads all.
const PASSES: usize = 2;
/// One line in so many is in the chase.
const CHASED: usize = 8;

/// The wall's time.
#[derive(Debug, Default)]
pub struct WallTime(Stopwatch);

impl<S> TestTime<S> for WallTime {
    fn now(&mut self, _: &mut S) -> Moment {
        self.0.moment()
    }

    fn pass(&mut self, _: &mut S, seconds: f64) {
        std::thread::sleep(Duration::from_secs_f64(seconds));
    }

    fn window(&self) -> f64 {
        WINDOW
    }
}

/// What runs while counts are held against each other.
#[derive(Debug)]
pub enum RealTraffic {
    /// Reads of our own.
    Own(OwnTraffic),
    /// Whatever runs on a live software machine, whose memory our threads do not reach.
    Others,
}

impl<S> KnownTraffic<S> for RealTraffic {
    fn name(&self) -> String {
        match self {
            Self::Own(own) => own.name(),
            Self::Others => "what runs on this machine".to_owned(),
        }
    }

    fn make(&mut self, _: &mut S) {
        match self {
            Self::Own(own) => own.read(),
            Self::Others => std::thread::sleep(Duration::from_secs_f64(WATCHED)),
        }
    }

    fn count(&self, _: &SelectedEvent, _: u16, _: u16) -> Option<u64> {
        None
    }

    fn lines(&self) -> Option<(f64, f64)> {
        match self {
            Self::Own(own) => Some(own.lines()),
            Self::Others => None,
        }
    }

    fn is_among_others(&self) -> bool {
        matches!(self, Self::Own(_))
    }
}

/// Reads of our own.
#[derive(Debug)]
pub struct OwnTraffic {
    caches: usize,
    lines: Vec<CacheLine>,
}

impl OwnTraffic {
    /// Memory of some times the size of the caches that CPUs share.
    ///
    /// # Errors
    /// Why the system has not so much to spare.
    pub fn new(root: &Path, sockets: usize) -> Result<Self, String> {
        let caches = sockets.max(1) * cache_bytes(root).unwrap_or(LEAST / CACHES);
        let bytes = LEAST.max(CACHES * caches);
        let available = available_bytes(root).ok_or("/proc/meminfo does not show how much memory is free")?;
        if available / 2 < bytes {
            let [needed, free] = [bytes, available].map(|bytes| bytes >> 20);
            return Err(format!("it takes {needed} MiB, more than half of the {free} MiB that are free"));
        }
        Ok(Self::of_lines(bytes / LINE, caches))
    }

    fn of_lines(count: usize, caches: usize) -> Self {
        let mut own = Self { caches, lines: vec![CacheLine([1; LINE / 8]); count] };
        // One round through all: the step is odd, and the factor leaves 1 when it is divided by 4.
        let chased = own.chased();
        for at in 0..chased {
            let next = (at.wrapping_mul(0x9e37_79b1).wrapping_add(0x3c6e_f35f)) % chased;
            own.lines[at * CHASED].0[0] = (next * CHASED) as u64;
        }
        own
    }

    fn chased(&self) -> usize {
        (self.lines.len() / CHASED).next_power_of_two() / 2
    }
}

impl OwnTraffic {
    fn name(&self) -> String {
        let megabytes = (self.lines.len() * LINE) >> 20;
        format!("a stream over {megabytes} MiB and a chase through {} lines of it", self.chased())
    }

    fn read(&self) {
        for _ in 0..PASSES {
            let sum: u64 = self.lines.iter().fold(0, |sum: u64, line| sum.wrapping_add(line.0[1]));
            black_box(sum);
        }
        let mut at = 0;
        for _ in 0..self.chased() {
            at = self.lines[at].0[0] as usize;
        }
        black_box(at);
    }

    /// What the caches may hold of it is not read; a chase may bring the line beside each.
    fn lines(&self) -> (f64, f64) {
        let (stream, chase) = ((PASSES * self.lines.len()) as f64, self.chased() as f64);
        let share = self.caches as f64 / (self.lines.len() * LINE) as f64;
        ((stream + chase) * (1.0 - share) * 0.9, (stream + 2.0 * chase) * 1.1)
    }
}

#[cfg(test)]
mod tests {
    use pericore_observe::selection::Selection;

    use super::*;

    /// A window is long enough for 100,000 cycles of a clock of 100 MHz, and short enough for hundreds in a minute.
    /// What an event will count on a real machine is not known.
    #[test]
    fn a_real_machine_has_short_windows_and_no_known_counts() {
        let window = TestTime::<()>::window(&WallTime::default());
        assert!((1e-3..0.1).contains(&window), "{window}");
        let mut selection = Selection::new(pericore_catalog::family("e5-2600").unwrap());
        selection.add_events("cbo/CLOCKTICKS/").unwrap();
        assert_eq!(KnownTraffic::<()>::count(&RealTraffic::Others, &selection.events[0], 0, 0), None);
    }

    /// Of reads of our own the size is known, and a finding says what they were; of what else runs there is none.
    /// 32,768 lines are 2 MiB, of which 4,096 in eighths are two powers down 2,048.
    #[test]
    fn only_reads_of_our_own_have_a_size() {
        let own = RealTraffic::Own(OwnTraffic::of_lines(32_768, 64 << 10));
        let seen = |traffic: &RealTraffic| (KnownTraffic::<()>::name(traffic), KnownTraffic::<()>::lines(traffic));
        let (name, lines) = seen(&own);
        assert_eq!(name, "a stream over 2 MiB and a chase through 2048 lines of it");
        assert!(lines.is_some_and(|(least, most)| 0.0 < least && 65_536.0 < most && least < most), "{lines:?}");
        assert_eq!(seen(&RealTraffic::Others), ("what runs on this machine".to_owned(), None));
    }

    /// 8,192 lines: 1,024 in eighths are two powers down 512. A round that left one out would come back early.
    #[test]
    fn a_chase_comes_by_each_of_its_lines_once() {
        let own = OwnTraffic::of_lines(8192, 64 << 10);
        assert_eq!(own.chased(), 512);
        let mut seen = std::collections::BTreeSet::new();
        let mut at = 0;
        for _ in 0..512 {
            assert!(seen.insert(at) && at % CHASED == 0, "{at}");
            at = own.lines[at].0[0] as usize;
        }
        assert_eq!(at, 0);
        // Two passes over 8,192 lines and 512: an eighth of it may be in caches of 64 KiB, and a tenth is room.
        let (least, most) = own.lines();
        assert!((least - 16_896.0 * 0.875 * 0.9).abs() < 1.0 && (most - 17_408.0 * 1.1).abs() < 1.0, "{least} {most}");
    }
}
