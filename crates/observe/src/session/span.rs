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

#[cfg(test)]
mod tests {
    use pericore_metrics::Grade;

    use super::*;

    const fn at(seconds: f64) -> Moment {
        Moment { seconds, tsc: (seconds * 1e3) as u64 }
    }

    const fn span(first: f64, last: f64) -> Span {
        Span { first: at(first), last: at(last) }
    }

    /// Counters ran from the middle of their start to the middle of their stop; if the sample began at another time,
    /// from then on, whatever turns there were before.
    #[test]
    fn a_sample_lasts_from_where_it_began() {
        let mut since = Since::new(span(1.0, 3.0));
        let (length, ran) = since.until(&span(6.0, 7.0));
        assert_eq!((length.seconds, length.tsc_cycles), (4.5, 4500));
        assert_eq!((ran.always, ran.in_all_turns, ran.turn), (Some(4.5), 4.5, 4.5));
        since.end_turn(&span(4.0, 4.0));
        let ran = since.until(&span(6.0, 7.0)).1;
        assert_eq!((ran.always, ran.in_all_turns, ran.turn), (Some(4.5), 6.5, 4.5));
        let (length, ran) = since.but_from(at(5.0)).until(&span(6.0, 7.0));
        assert_eq!((length.seconds, length.tsc_cycles), (1.5, 1500));
        assert_eq!((ran.always, ran.in_all_turns, ran.turn), (Some(1.5), 1.5, 1.5));
        let next = since.next(&span(6.0, 7.0), span(7.5, 8.5), None);
        assert_eq!((next.until(&span(9.0, 9.0)).0.seconds, next.paused()), (1.0, 0.0));
        let next = since.next(&span(6.0, 7.0), span(7.5, 8.5), Some(at(6.5)));
        assert_eq!(next.until(&span(9.0, 9.0)).0.seconds, 2.5);
        assert_eq!(began(&[next, Since::new(span(1.0, 2.0))]), 4.0);
        assert_eq!(began(&[]), 0.0);
    }

    /// A turn of two seconds, half a second for the change, a turn of one: 3 s in turns. If all counters stood
    /// meanwhile, the sample lasts 3 s, else 3.5 s.
    #[test]
    fn a_change_of_rounds_is_time_of_those_that_run_on() {
        for (all_stood, seconds, tsc_cycles) in [(false, 3.5, 3500), (true, 3.0, 3000)] {
            let mut since = Since::new(span(1.0, 1.0));
            let ran = since.end_turn(&span(3.0, 3.0));
            assert_eq!((ran.always, ran.in_all_turns, ran.turn), (None, 2.0, 2.0));
            since.begin_turn(&span(3.0, 3.0), span(3.5, 3.5), all_stood);
            let (length, ran) = since.until(&span(4.5, 4.5));
            assert_eq!((length.seconds, length.tsc_cycles), (seconds, tsc_cycles));
            assert_eq!((ran.always, ran.in_all_turns, ran.turn), (Some(seconds), 3.0, 1.0));
        }
    }

    #[test]
    fn pauses_add_up_and_are_never_negative() {
        let mut since = Since::new(span(0.0, 0.0));
        since.pause(&span(1.0, 2.0), &span(2.0, 2.5));
        since.pause(&span(5.0, 5.0), &span(5.0, 5.5));
        since.pause(&span(8.0, 8.0), &span(7.0, 7.0));
        assert_eq!(since.paused(), 0.75 + 0.25);
        // Half a second to start and a quarter to stop, of two seconds from middle to middle.
        assert_eq!(Since::new(span(0.0, 0.5)).apart(&span(2.125, 2.375)), 0.75 / 2.0);
        assert_eq!(Since::new(span(1.0, 1.0)).apart(&span(1.0, 2.0)), 2.0);
        assert_eq!(Since::new(span(1.0, 2.0)).apart(&span(1.0, 1.5)), 0.0, "no time, no share");
        assert_eq!(span(3.0, 2.0).seconds(), 0.0, "a clock may go back");
    }

    /// Doubts about what runs all the time: units are started in 10 ms and stopped in 10 ms, whenever nothing comes
    /// between; a held-up start of 110 ms moves half of what it took longer, 50 ms, away from the middle. That is more
    /// than 2 % of a second, and not of ten.
    #[test]
    fn a_start_that_was_held_up_is_doubted_on_short_samples() {
        let quick = Since::new(span(0.0, 0.01));
        let held_up = quick.next(&span(1.0, 1.01), span(2.0, 2.11), None);
        for (stopped, is_doubted) in [(span(3.05, 3.06), true), (span(12.05, 12.06), false)] {
            let Doubts { always, turns, running } = held_up.doubts(&stopped);
            assert_eq!(always.is_some(), is_doubted);
            assert!(turns.is_none_or(|_| is_doubted) && running.is_none());
        }
        let words = held_up.doubts(&span(3.05, 3.06)).always.unwrap();
        assert_eq!(words.grade(), Grade::Suspect);
        let words = words.to_string();
        assert!(
            words.contains("some ran 50.000 ms longer or shorter than 1000.000 ms; choose a longer interval"),
            "{words}"
        );
        // As long to stop as to start: all ran equally long.
        assert!(Since::new(span(0.0, 0.2)).doubts(&span(1.0, 1.2)).always.is_none());
        assert!(Since::new(span(0.0, 0.2)).doubts(&span(1.0, 1.0)).always.is_some());
    }

    /// Of counters that are read while they run: what a reading takes when nothing comes between shifts all alike; 100
    /// ms more than that, at either end, is too much for a second.
    #[test]
    fn a_reading_that_was_held_up_is_doubted() {
        let doubted = |lags: &[f64], seconds: f64| {
            let mut all = Lags::default();
            lags.iter().for_each(|&lag| all.add(lag));
            all.doubt(seconds).map(|doubt| doubt.to_string())
        };
        assert_eq!(doubted(&[], 1.0), None);
        for (lags, is_doubted) in [
            (&[0.03][..], true),
            (&[0.01], false),
            (&[0.03, 0.03], false),
            (&[0.03, 0.13], true),
            (&[0.13, 0.03], true),
            (&[0.13, 0.03, 0.03], false),
            (&[0.01, 0.13, 0.13], true),
            (&[-1.0], false),
        ] {
            assert_eq!(doubted(lags, 1.0).is_some(), is_doubted, "{lags:?}");
        }
        assert_eq!(doubted(&[0.03, 0.13], 10.0), None);
        let words = doubted(&[0.03, 0.13], 1.0).unwrap();
        assert!(words.contains("some ran up to 100.000 ms longer or shorter than 1000.000 ms"), "{words}");
    }
}
