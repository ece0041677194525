//! What is near its limit: the figures of the summary beside the most that they can be, and the metrics with a limit.

use pericore_metrics::Grade;
use pericore_report::mark;
use pericore_report::summary::{digits, drawn};
use pericore_text::{columns, padded};
use ratatui_core::text::Line;

use super::line::{LineBuilder, shortened, words};
use super::style::{ALARM, BAR, FAINT, PLAIN, STRONG};
use crate::path::RowTable;
use crate::state::State;
use crate::track::Track;

/// Widest bar.
const BAR_WIDTH: usize = 60;
/// A name may take this part of the line.
const NAME: usize = 3;

/// A bar between nothing and all.
struct Gauge {
    name: String,
    words: String,
    /// 1 for all; none without a number.
    share: Option<f64>,
    /// From where on it tells a limit.
    limit: Option<f64>,
}

impl Gauge {
    /// How near its limit it is.
    fn nearness(&self) -> f64 {
        self.share.map_or(-1.0, |share| share / self.limit.unwrap_or(1.0))
    }

    fn is_reached(&self) -> bool {
        self.limit.zip(self.share).is_some_and(|(limit, share)| share > limit)
    }
}

/// At most so many lines: bars first, those nearest their limits, then what else the summary has.
pub fn lines(state: &State, width: usize, most: usize) -> Vec<Line<'static>> {
    let tracks = tracks(state);
    let mut all = of_summary(state, &tracks);
    let mut limits: Vec<Gauge> = tracks.iter().filter_map(|track| of_limit(state, track)).collect();
    limits.sort_by(|one, other| other.nearness().total_cmp(&one.nearness()));
    all.extend(limits);
    let others = figures_alone(state, &tracks, width);
    all.truncate(most.saturating_sub(others.len().min(most)));
    let name = all.iter().map(|gauge| columns(&gauge.name)).max().unwrap_or(0).min(width / NAME);
    let widest = all.iter().map(|gauge| columns(&gauge.words)).max().unwrap_or(0);
    let bars = all.iter().map(|gauge| bar(state, gauge, (name, widest), width));
    bars.chain(others).take(most).collect()
}

/// The rows that gauges are of: the sockets', unless the whole system is looked at.
fn tracks(state: &State) -> Vec<&Track> {
    let is_by_socket = state.sockets() > 1 && state.table() != RowTable::System;
    let table = if is_by_socket { RowTable::Socket } else { RowTable::System };
    state.shown().table(table).iter().collect()
}

fn placed(track: &Track, name: &str) -> String {
    track.socket.map_or_else(|| name.to_owned(), |socket| format!("S{socket} {name}"))
}

fn sign(grade: Grade) -> String {
    if grade == Grade::Measured { String::new() } else { format!(" {}", mark(grade)) }
}

fn of_summary(state: &State, tracks: &[&Track]) -> Vec<Gauge> {
    let mut gauges = Vec::new();
    for figure in state.shown().summary {
        let Some(peak) = figure.of else { continue };
        for track in tracks.iter().filter(|track| track.name == figure.metric) {
            let most = tracks.iter().find(|other| other.name == peak && other.socket == track.socket);
            let numbers = track.past(state.back).zip(most.and_then(|most| most.past(state.back)));
            let Some(((number, grade), (greatest, other))) = numbers.filter(|(_, (greatest, _))| *greatest > 0.0)
            else {
                continue;
            };
            let (shown, symbol) = track.unit().scaled(greatest);
            let share = number / greatest;
            let words = format!(
                "{} of {} {symbol} {:>3.0} %{}",
                digits(number * shown / greatest),
                digits(shown),
                share * 100.0,
                sign(grade.max(other))
            );
            gauges.push(Gauge { name: placed(track, figure.label), words, share: Some(share), limit: None });
        }
    }
    gauges
}

fn of_limit(state: &State, track: &Track) -> Option<Gauge> {
    let limit = Some(track.limit()?);
    let name = placed(track, &track.name);
    Some(match track.past(state.back) {
        Some((share, grade)) => {
            Gauge { name, words: format!("{:>3.0} %{}", share * 100.0, sign(grade)), share: Some(share), limit }
        }
        None => Gauge { name, words: format!("-{}", mark(track.past_grade(state.back))), share: None, limit },
    })
}

/// What has no bar, side by side.
fn figures_alone(state: &State, tracks: &[&Track], width: usize) -> Vec<Line<'static>> {
    let mut sockets: Vec<Option<u16>> = tracks.iter().map(|track| track.socket).collect();
    sockets.sort_unstable();
    sockets.dedup();
    let mut lines = Vec::new();
    for socket in sockets {
        let figures = state.shown().summary.iter().filter(|figure| figure.of.is_none()).filter_map(|figure| {
            let track = tracks.iter().find(|track| track.name == figure.metric && track.socket == socket)?;
            let (number, grade) = track.past(state.back)?;
            let (scaled, symbol) = track.unit().scaled(number);
            Some(format!("{} {} {symbol}{}", figure.label, digits(scaled), sign(grade)).trim_end().to_owned())
        });
        let figures: Vec<String> = figures.collect();
        if !figures.is_empty() {
            let place = socket.map_or_else(String::new, |socket| format!("S{socket} "));
            lines.push(words(PLAIN, &format!(" {place}{}", figures.join(" | ")), width));
        }
    }
    lines
}

fn bar(state: &State, gauge: &Gauge, (name, widest): (usize, usize), width: usize) -> Line<'static> {
    let unicode = state.look.unicode;
    let mut line = LineBuilder::new(width);
    line.push(STRONG, &format!(" {}", padded(&shortened(&gauge.name, name, unicode), name)));
    let of_words = if gauge.is_reached() { ALARM } else { PLAIN };
    let gap = " ".repeat(widest - columns(&gauge.words));
    line.push(of_words, &format!(" {gap}{} ", gauge.words));
    let room = line.left().saturating_sub(if unicode { 1 } else { 3 }).min(BAR_WIDTH);
    let Some(share) = gauge.share.filter(|_| room > 3) else { return line.finish() };
    let text = drawn(share, room, unicode);
    let style = if gauge.is_reached() { ALARM } else { BAR };
    match gauge.limit {
        None => line.push_block(style, &text),
        Some(limit) => {
            // The limit stands in the bar.
            let at = (limit * room as f64) as usize + usize::from(!unicode);
            let split = |skip, count| text.chars().skip(skip).take(count).collect::<String>();
            line.push_block(style, &split(0, at));
            line.push_block(FAINT, "|");
            line.push_block(style, &split(at + 1, usize::MAX));
        }
    }
    line.finish()
}
