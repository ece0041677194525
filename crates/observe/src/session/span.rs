//! How long it takes to stop or start what cannot be stopped or started at once.

use std::collections::BTreeMap;

use pericore_metrics::Validity;

use super::length::Length;
use super::sample::Ran;
use super::{Count, Moment, Sample};
use crate::plan::Plan;

/// Counters that ran for so much longer or shorter than their sample lasted, as a share of it, are in doubt.
const LIMIT: f64 = 0.02;

/// From when the first unit of a socket stood, or ran, to when the last did.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) first: Moment,
    pub(super) last: Moment,
}

/// Since when a socket's counters run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Since {
    /// When the sample began.
    began: Moment,
    /// How the counters were started that run now.
    started: Span,
    /// When the current rounds began, and how long those before it ran, in seconds.
    turn_began: f64,
    turns_before: f64,
    /// How those were started that take turns, and how evenly they have run since the last sample.
    turn_started: Span,
    turns: Evenness,
}

impl Since {
    pub(super) fn new(started: Span) -> Self {
        let began = started.middle();
        let turns = Evenness::default();
        Self { began, started, turn_began: began.seconds, turns_before: 0.0, turn_started: started, turns }
    }

    /// The same for a sample that began at another time.
    pub(super) const fn but_from(self, began: Moment) -> Self {
        Self { began, turn_began: began.seconds, turns_before: 0.0, ..self }
    }

    /// How long the counters ran that are stopped to be read.
    pub(super) fn until(&self, stopped: &Span) -> (Length, Ran) {
        let ended = stopped.middle();
        let length = Length::between(self.began, ended);
        let turn = (ended.seconds - self.turn_began).max(0.0);
        (length, Ran { always: Some(length.seconds), in_all_turns: self.turns_before + turn, turn })
    }

    /// The same, of those that take turns: the others run on.
    pub(super) fn end_turn(&mut self, stopped: &Span) -> Ran {
        let ran = Ran { always: None, ..self.until(stopped).1 };
        self.turns.add(&self.turn_started, stopped, ran.turn);
        self.turns_before = ran.in_all_turns;
        ran
    }

    /// Those that take turns go on. If `all_stood`, so did the others, and that time is not the sample's.
    pub(super) fn begin_turn(&mut self, stopped: &Span, started: Span, all_stood: bool) {
        let (ended, goes_on) = (stopped.middle(), started.middle());
        (self.turn_started, self.turn_began) = (started, goes_on.seconds);
        if all_stood {
            self.began.seconds += (goes_on.seconds - ended.seconds).max(0.0);
            self.began.tsc = self.began.tsc.wrapping_add(goes_on.tsc.wrapping_sub(ended.tsc));
        }
    }

    /// What is to be said of counts of a sample: of those that run all the time, and of those that take turns.
    fn doubts(&self, stopped: &Span) -> [Option<Validity>; 2] {
        let (Length { seconds, .. }, Ran { turn, .. }) = self.until(stopped);
        let (mut evenly, mut evenly_in_turn) = (Evenness::default(), self.turns);
        evenly.add(&self.started, stopped, seconds);
        evenly_in_turn.add(&self.turn_started, stopped, turn);
        [evenly.doubt("a longer interval"), evenly_in_turn.doubt("longer rounds (--rotate)")]
    }
}

impl Span {
    /// When half of them did.
    pub(super) fn middle(&self) -> Moment {
        Moment {
            seconds: f64::midpoint(self.first.seconds, self.last.seconds),
            tsc: self.first.tsc.midpoint(self.last.tsc),
        }
    }

    fn seconds(&self) -> f64 {
        (self.last.seconds - self.first.seconds).max(0.0)
    }
}

/// How evenly units ran in the parts of a sample.
#[derive(Debug, Clone, Copy, Default)]
struct Evenness {
    /// Seconds that some unit ran longer or shorter than was reckoned.
    uneven: f64,
    /// Seconds in all.
    seconds: f64,
}

impl Evenness {
    /// A part from one start to the next stop. Units are stopped in the order in which they were started: where both take the same time, all have
    /// run equally long.
    fn add(&mut self, started: &Span, stopped: &Span, seconds: f64) {
        self.uneven += (stopped.seconds() - started.seconds()).abs() / 2.0;
        self.seconds += seconds;
    }

    /// What is to be said of counts, if anything; `longer` is what would help.
    fn doubt(&self, longer: &str) -> Option<Validity> {
        (self.uneven > LIMIT * self.seconds).then(|| {
            Validity::suspect(format!(
                "units were stopped one after the other, and some ran {:.3} ms longer or shorter than {:.3} ms; choose {longer}",
                self.uneven * 1e3,
                self.seconds * 1e3
            ))
        })
    }
}

/// When samples that begin socket by socket begin, in seconds: the mean.
#[expect(clippy::cast_precision_loss, reason = "sockets are few")]
pub(super) fn began(since: &[Since]) -> f64 {
    since.iter().map(|since| since.began.seconds).sum::<f64>() / since.len().max(1) as f64
}

/// Marks counts whose units may have run for another time than the sample says. There is one of `since` and of `stopped` for each socket of the
/// plan.
pub(super) fn mark(plan: &Plan, sample: &mut Sample, since: &[Since], stopped: &[Span]) {
    let sockets = plan.sockets.iter().map(|part| part.socket);
    let doubts = since.iter().zip(stopped).map(|(since, stopped)| since.doubts(stopped));
    let doubts: BTreeMap<u16, [Option<Validity>; 2]> = sockets.zip(doubts).collect();
    for Count { socket, validity, slices, .. } in &mut sample.counts {
        let [always, turns] = &doubts[socket];
        if let Some(doubt) = if slices.is_empty() { always } else { turns } {
            *validity = std::mem::take(validity).and(doubt);
        }
    }
}
