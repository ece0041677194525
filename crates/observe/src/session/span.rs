//! How long it takes to stop or start a socket's units: one after the other, or by one write that may be held up.

use std::collections::BTreeMap;

use pericore_metrics::Validity;

use super::length::Length;
use super::sample::Ran;
use super::{Moment, Sample};
use crate::plan::Plan;

/// Counters that ran for so much longer or shorter than their sample lasted, as a share of it, are in doubt.
const LIMIT: f64 = 0.02;

/// From right before the first unit of a socket stood, or ran, to right after the last did.
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
    /// How the counters were started that run now, and how quickly that is done.
    started: Span,
    quickest: Quickest,
    /// When the current rounds began, and how long those before it ran, in seconds.
    turn_began: f64,
    turns_before: f64,
    /// How those were started that take turns, and how evenly they have run since the last sample.
    turn_started: Span,
    turn_quickest: Quickest,
    turns: Evenness,
    /// How those were read that run on meanwhile.
    lags: Lags,
    /// For how long counters were paused, in seconds.
    paused: f64,
}

impl Since {
    pub(super) fn new(started: Span) -> Self {
        let began = started.middle();
        let turns = Evenness::default();
        let lags = Lags::default();
        Self {
            began,
            started,
            quickest: Quickest::default().with_start(started),
            turn_began: began.seconds,
            turns_before: 0.0,
            turn_started: started,
            turn_quickest: Quickest::default(),
            turns,
            lags,
            paused: 0.0,
        }
    }

    /// The sample that begins after this one, whose counters stopped and went on as the spans say.
    pub(super) fn next(&self, stopped: &Span, started: Span, began: Option<Moment>) -> Self {
        let quickest = self.quickest.with_stop(*stopped).with_start(started);
        let new = Self { lags: self.lags, quickest, turn_quickest: self.turn_quickest, ..Self::new(started) };
        began.map_or(new, |began| new.but_from(began))
    }

    /// Counters were paused from this stop to this start.
    pub(super) fn pause(&mut self, stopped: &Span, started: &Span) {
        self.paused += (started.middle().seconds - stopped.middle().seconds).max(0.0);
    }

    /// For how long they were since the last sample began, in seconds.
    pub(super) const fn paused(&self) -> f64 {
        self.paused
    }

    /// Counters that were not stopped with the others were read up to this moment, for a sample.
    pub(super) fn read_until(&mut self, stopped: &Span, read: Moment) {
        self.lags.add(read.seconds - stopped.last.seconds);
    }

    /// The same for the end of a turn.
    pub(super) fn turn_read_until(&mut self, stopped: &Span, read: Moment) {
        self.turns.uneven += (read.seconds - stopped.last.seconds).max(0.0);
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
        self.turn_quickest = self.turn_quickest.with_start(self.turn_started).with_stop(*stopped);
        self.turns.add((&self.turn_started, stopped), self.turn_quickest, ran.turn);
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

    /// For what share of a sample one unit may have run longer than another, since they were started and stopped one
    /// after the other.
    pub(super) fn apart(&self, stopped: &Span) -> f64 {
        let seconds = self.until(stopped).0.seconds;
        if seconds > 0.0 { (self.started.seconds() + stopped.seconds()) / seconds } else { 0.0 }
    }

    /// What is to be said of counts of a sample: of those that run all the time, of those that take turns, and of those
    /// that run on while they are read.
    fn doubts(&self, stopped: &Span) -> Doubts {
        let (Length { seconds, .. }, Ran { turn, .. }) = self.until(stopped);
        let (mut evenly, mut evenly_in_turn) = (Evenness::default(), self.turns);
        evenly.add((&self.started, stopped), self.quickest.with_stop(*stopped), seconds);
        let turn_quickest = self.turn_quickest.with_start(self.turn_started).with_stop(*stopped);
        evenly_in_turn.add((&self.turn_started, stopped), turn_quickest, turn);
        Doubts {
            always: evenly.doubt("a longer interval"),
            turns: evenly_in_turn.doubt("longer rounds (--rotate)"),
            running: self.lags.doubt(seconds),
        }
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

/// What starting and stopping a socket's units takes when nothing comes between, in seconds: the least that was seen.
#[derive(Debug, Clone, Copy, Default)]
struct Quickest {
    start: Option<f64>,
    stop: Option<f64>,
}

impl Quickest {
    fn with_start(self, started: Span) -> Self {
        Self { start: Some(self.start.map_or(started.seconds(), |least| least.min(started.seconds()))), ..self }
    }

    fn with_stop(self, stopped: Span) -> Self {
        Self { stop: Some(self.stop.map_or(stopped.seconds(), |least| least.min(stopped.seconds()))), ..self }
    }

    /// By how many seconds a start and a stop took longer than that.
    fn delay(&self, started: &Span, stopped: &Span) -> f64 {
        let beyond = |span: &Span, least: Option<f64>| least.map_or(0.0, |least| (span.seconds() - least).max(0.0));
        beyond(started, self.start) + beyond(stopped, self.stop)
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
    /// A part from one start to the next stop. Units are stopped in the order in which they were started: where both
    /// take the same time, all have run equally long. Of what came between two units nobody knows where: at either end
    /// of a span, it moves half of it away from the span's middle.
    fn add(&mut self, (started, stopped): (&Span, &Span), quickest: Quickest, seconds: f64) {
        let between = quickest.delay(started, stopped) / 2.0;
        self.uneven += between.max((stopped.seconds() - started.seconds()).abs() / 2.0);
        self.seconds += seconds;
    }

    /// What is to be said of counts, if anything; `longer` is what would help.
    fn doubt(&self, longer: &str) -> Option<Validity> {
        (self.uneven > LIMIT * self.seconds).then(|| {
            Validity::suspect(format!(
                "units were started or stopped one after the other, or held up, and some ran {:.3} ms longer or shorter than {:.3} ms; choose {longer}",
                self.uneven * 1e3,
                self.seconds * 1e3
            ))
        })
    }
}

/// What is to be said of a socket's counts.
struct Doubts {
    always: Option<Validity>,
    turns: Option<Validity>,
    running: Option<Validity>,
}

/// How long the readings of counters took that run on meanwhile: from when the others stood to the end of the reading,
/// in seconds.
#[derive(Debug, Clone, Copy, Default)]
struct Lags {
    /// The one that began the sample, and the one that ended it.
    before: Option<f64>,
    last: Option<f64>,
    /// The least of all: what readings take when nothing comes between.
    least: Option<f64>,
}

impl Lags {
    fn add(&mut self, lag: f64) {
        let lag = lag.max(0.0);
        (self.before, self.last) = (self.last, Some(lag));
        self.least = Some(self.least.map_or(lag, |least| least.min(lag)));
    }

    /// What readings take when nothing comes between shifts each counter's interval by the same time, and spoils
    /// nothing. By how much more one of the two readings took, counters ran longer or shorter. Of the first reading
    /// nobody knows what it takes.
    fn doubt(&self, seconds: f64) -> Option<Validity> {
        let (last, least) = (self.last?, self.least?);
        let uneven = self.before.map_or(last, |before| (last - least).max(before - least));
        (uneven > LIMIT * seconds).then(|| {
            Validity::suspect(format!(
                "counters that are not stopped were read one after the other, and some ran up to {:.3} ms longer or shorter than {:.3} ms; choose a \
                 longer interval",
                uneven * 1e3,
                seconds * 1e3
            ))
        })
    }
}

/// When samples that begin socket by socket begin, in seconds: the mean.
#[expect(clippy::cast_precision_loss, reason = "sockets are few")]
pub(super) fn began(since: &[Since]) -> f64 {
    since.iter().map(|since| since.began.seconds).sum::<f64>() / since.len().max(1) as f64
}

/// Marks counts whose units may have run for another time than the sample says. There is one of `since` and of
/// `stopped` for each socket of the plan.
pub(super) fn mark(plan: &Plan, sample: &mut Sample, since: &[Since], stopped: &[Span]) {
    let sockets = plan.sockets.iter().map(|part| part.socket);
    let doubts = since.iter().zip(stopped).map(|(since, stopped)| since.doubts(stopped));
    let doubts: BTreeMap<u16, Doubts> = sockets.zip(doubts).collect();
    for count in &mut sample.counts {
        let Doubts { always, turns, running } = &doubts[&count.socket];
        let running = running.as_ref().filter(|_| !plan.stops_to_read(count.event, count.socket, count.instance));
        let started = if count.slices.is_empty() { always } else { turns };
        for doubt in started.iter().chain(running) {
            count.validity = std::mem::take(&mut count.validity).and(doubt);
        }
    }
}
