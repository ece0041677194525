//! Rows as a table: the last number of each, mean, least and most, and the last samples as bars.

use pericore_metrics::Grade;
use pericore_report::{NO_NUMBER, mark};
use pericore_text::padded;
use ratatui_core::text::Line;

use super::columns::Columns;
use super::figures::{NOTHING, span};
use super::line::{LineBuilder, shortened, words};
use super::spark;
use super::style::{ALARM, FAINT, PLAIN, STRONG};
use crate::state::State;
use crate::track::{Extreme, Track};

/// Headings, unless there is no room for them, and as many rows as there is room for.
pub fn lines(state: &State, width: usize, room: usize, has_headings: bool) -> Vec<Line<'static>> {
    let rows = state.rows();
    let columns = Columns::fit(&rows, width.saturating_sub(1));
    let mut lines = Vec::new();
    if has_headings {
        lines.push(headings(state, &columns, width));
    }
    if rows.is_empty() && room > 0 {
        let is_waiting = state.shown().samples == 0;
        let why =
            if is_waiting { "waiting for the first sample" } else { "no row has these words; Esc ends the search" };
        lines.push(words(PLAIN, why, width));
    }
    let first = first_row(state, rows.len(), room);
    for (index, track) in rows.iter().enumerate().skip(first).take(room) {
        lines.push(row(state, &columns, track, state.cursor == Some(index), width));
    }
    lines
}

/// The row at the top, so that the cursor is in sight.
pub fn first_row(state: &State, count: usize, room: usize) -> usize {
    let cursor = state.cursor.unwrap_or(0);
    cursor.saturating_sub(room / 2).min(count.saturating_sub(room))
}

fn headings(state: &State, columns: &Columns, width: usize) -> Line<'static> {
    let mut line = LineBuilder::new(width);
    line.push(PLAIN, &" ".repeat(1 + columns.name));
    let number = |line: &mut LineBuilder, words: &str, column: usize| {
        if column > 0 {
            line.push(STRONG, &format!(" {words:>column$} "));
        }
    };
    number(&mut line, if state.back == 0 { "now" } else { "then" }, columns.now);
    if columns.symbol > 0 {
        line.push(PLAIN, &" ".repeat(1 + columns.symbol));
    }
    number(&mut line, "mean", columns.mean);
    number(&mut line, "least", columns.least);
    number(&mut line, "most", columns.most);
    if columns.at > 0 {
        line.push(STRONG, &format!(" {:<at$}", "at", at = columns.at));
    }
    if columns.bars > 0 {
        let length = span(columns.bars as f64 * state.interval);
        let words = format!("last {length}");
        let words = if words.len() > columns.bars { length } else { words };
        line.push(STRONG, &format!(" {words:>bars$}", bars = columns.bars));
    }
    line.finish()
}

fn row(state: &State, columns: &Columns, track: &Track, chosen: bool, width: usize) -> Line<'static> {
    let look = state.look;
    let scale = track.scale();
    let mut line = LineBuilder::new(width);
    let of_name = if chosen { STRONG } else { PLAIN };
    line.push(of_name, if chosen { ">" } else { " " });
    line.push(of_name, &padded(&shortened(&track.label, columns.name, look.unicode), columns.name));
    let number = |line: &mut LineBuilder, number: Option<(f64, Grade)>, none: char, column: usize| {
        if column == 0 {
            return;
        }
        let (text, mark) =
            number.map_or((NOTHING.to_owned(), none), |(number, grade)| (scale.text(number), mark(grade)));
        let style = if matches!(mark, ' ' | '~') { PLAIN } else { ALARM };
        line.push(style, &format!(" {text:>column$}{mark}"));
    };
    number(&mut line, track.past(state.back), mark(track.past_grade(state.back)), columns.now);
    if columns.symbol > 0 {
        line.push(FAINT, &format!(" {:<symbol$}", scale.symbol, symbol = columns.symbol));
    }
    let extreme = |extreme: Option<Extreme>| extreme.map(|extreme| (extreme.number, extreme.grade));
    // That nothing was kept yet is no fault.
    let none = if track.samples == 0 { ' ' } else { NO_NUMBER };
    number(&mut line, track.mean(), none, columns.mean);
    number(&mut line, extreme(track.least), none, columns.least);
    number(&mut line, extreme(track.most), none, columns.most);
    if columns.at > 0 {
        let at = track.most.map(|most| most.at.to_string()).unwrap_or_default();
        line.push(FAINT, &format!(" {at:<width$}", width = columns.at));
    }
    if columns.bars > 0 {
        let until = track.recent.len().saturating_sub(state.back);
        let recent = track.recent.range(..until);
        line.push(PLAIN, &format!(" {}", spark::line(recent, columns.bars, look.unicode)));
    }
    line.finish()
}
