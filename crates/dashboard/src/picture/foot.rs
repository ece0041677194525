//! The last lines: all of the row that the user has gone to, or why numbers are not plainly measured.

use pericore_metrics::Grade;
use pericore_report::{LIMIT, mark};
use pericore_text::wrapped;
use ratatui_core::text::Line;

use super::head::samples;
use super::help;
use super::line::words;
use super::style::{FAINT, PLAIN};
use crate::state::State;
use crate::track::Track;

/// At most so many lines.
pub fn lines(state: &State, width: usize, most: usize) -> Vec<Line<'static>> {
    let mut lines = all(state, width);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut().filter(|_| state.cursor.is_none()) {
            *last = words(FAINT, "  and more: look at a row with the arrow keys", width);
        }
    }
    lines
}

/// What the keys do, if that was asked for where there is no room for more than lines; then all of the chosen row, or
/// why numbers are not plainly measured.
fn all(state: &State, width: usize) -> Vec<Line<'static>> {
    let rows = state.rows();
    let text = match state.chosen(&rows) {
        Some(track) => details(track),
        None => state.fewer.iter().cloned().chain(notes(&rows)).collect(),
    };
    text.iter().flat_map(|text| wrapped(text, width)).map(|line| words(PLAIN, &line, width)).collect()
}

/// What the keys do, in lines.
pub fn keys(state: &State, width: usize, most: usize) -> Vec<Line<'static>> {
    let lines = if state.help { wrapped(help::SHORT, width) } else { Vec::new() };
    lines.iter().take(most).map(|line| words(PLAIN, line, width)).collect()
}

/// All that there is to say of a row.
fn details(track: &Track) -> Vec<String> {
    let scale = track.scale();
    let of = |number: f64| format!("{} {}", scale.text(number), scale.symbol).trim_end().to_owned();
    let mut words = format!("{}:", track.label);
    if let (Some(least), Some(most), Some((mean, _))) = (track.least, track.most, track.mean()) {
        let some = if track.numbers < track.samples { format!("{} of ", track.numbers) } else { String::new() };
        let numbers = format!("{some}{}", samples(track.samples));
        let (least_is, most_is) = (of(least.number), of(most.number));
        words += &format!(
            " least {least_is} at {}, most {most_is} at {}, mean {} of {numbers}",
            least.at,
            most.at,
            of(mean)
        );
    }
    let mut words = vec![words];
    words.extend(track.reached().map(|limit| format!("{LIMIT} {limit}")));
    words.push(format!("{} {}", mark(track.now.validity().grade()), reason(track)).trim_start().to_owned());
    words
}

/// Why the last number is not plainly measured.
fn reason(track: &Track) -> String {
    let precision = track.precision.as_ref().map_or_else(String::new, |precision| format!(", {precision}"));
    format!("{}{precision}", track.now.validity())
}

/// Each limit that is reached, then each reason for doubt, once, with the first row that it is about; the same of
/// another instance is no other reason.
fn notes(rows: &[&Track]) -> Vec<String> {
    let shown = || rows.iter().filter(|track| !track.recent.is_empty());
    let limits = shown().filter_map(|track| {
        let limit = track.reached()?;
        Some((LIMIT, limit.clone(), limit, &track.label))
    });
    let doubts = shown().filter_map(|track| {
        let validity = track.now.validity();
        let grade = validity.grade();
        (grade != Grade::Measured).then(|| (mark(grade), validity.kind(), validity.to_string(), &track.label))
    });
    let mut notes: Vec<(char, String, String, &str, usize)> = Vec::new();
    for (mark, kind, why, label) in limits.chain(doubts) {
        match notes.iter_mut().find(|(_, known, ..)| *known == kind) {
            Some((.., others)) => *others += 1,
            None => notes.push((mark, kind, why, label, 0)),
        }
    }
    let words = |(mark, _, why, label, others): (char, String, String, &str, usize)| match others {
        0 => format!("{mark} {label}: {why}"),
        _ => format!("{mark} {label} and {others} more: {why}"),
    };
    notes.into_iter().map(words).collect()
}
