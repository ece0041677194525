//! A picture of the state, as lines: what stands on the terminal.

use pericore_metrics::Grade;
use pericore_observe::results::Scope;
use pericore_report::{LIMIT, NO_NUMBER, mark};
use pericore_text::{Paint, beginning, padded, wrapped};

use super::columns::Columns;
use super::figures::NOTHING;
use super::line::{Brush, Line, plain, shortened};
use super::spark;
use super::state::State;
use super::track::{Extreme, Track};

/// What keys and marks mean.
const HELP: &str = "s: system, socket, instance   Space: pause   r: reset least, mean, most   arrows, PgUp, PgDn: look at a row   q: quit   \
                    ~ scaled   ? suspect   ! no number   ^ a limit; bars: 0 to the greatest of those shown; mean: over time";

/// What is said of rows takes this part of the height at most.
const FOOT: usize = 3;

/// A frame of at most `height` lines of at most `width` characters each.
pub fn frame(state: &State, width: usize, height: usize) -> Vec<String> {
    if width == 0 {
        return Vec::new();
    }
    let Parts { mut lines, room, foot } = parts(state, width, height);
    let rows = state.rows();
    if rows.is_empty() && room > 0 {
        lines.push(cut("waiting for the first sample", width));
    }
    let first = first_row(state, rows.len(), room);
    let columns = Columns::fit(&rows, width.saturating_sub(1));
    for (index, track) in rows.iter().enumerate().skip(first).take(room) {
        lines.push(row(state, &columns, track, state.cursor == Some(index), width));
    }
    if !foot.is_empty() && height != usize::MAX {
        // At the bottom, so that it stands still.
        lines.resize(height.saturating_sub(foot.len()).max(lines.len()), String::new());
    }
    lines.extend(foot);
    lines.truncate(height);
    lines
}

/// How many rows a frame of this size shows.
pub fn room(state: &State, width: usize, height: usize) -> usize {
    parts(state, width, height).room
}

/// A frame without its rows.
struct Parts {
    lines: Vec<String>,
    room: usize,
    foot: Vec<String>,
}

/// What is least needed goes first where there are few lines: what is said of rows, then the line of settings, then the headings.
fn parts(state: &State, width: usize, height: usize) -> Parts {
    let mut foot = if height >= 4 { foot(state, width) } else { Vec::new() };
    let most = (height / FOOT).max(1);
    if foot.len() > most {
        foot.truncate(most);
        if let Some(last) = foot.last_mut().filter(|_| state.cursor.is_none() && !state.help) {
            *last = cut("  and more: look at a row with the arrow keys", width);
        }
    }
    let mut lines = vec![title(state, width)];
    let count = state.rows().len();
    if height >= 6 {
        let room = height.saturating_sub(3 + foot.len());
        lines.push(settings(state, width, (first_row(state, count, room), room, count)));
    }
    if height >= 3 {
        lines.push(headings(state, width));
    }
    let room = height.saturating_sub(lines.len() + foot.len());
    Parts { lines, room, foot }
}

/// The row at the top, so that the cursor is in sight.
fn first_row(state: &State, count: usize, room: usize) -> usize {
    let cursor = state.cursor.unwrap_or(0);
    cursor.saturating_sub(room / 2).min(count.saturating_sub(room))
}

fn cut(words: &str, width: usize) -> String {
    let mut line = Line::new(width, Paint::default());
    line.push(plain, words);
    line.finish()
}

/// The machine, and what time it is.
fn title(state: &State, width: usize) -> String {
    let time = state.shown().at.map(|at| at.to_string()).unwrap_or_default();
    let time = if state.is_paused() { format!("PAUSED {time}") } else { time };
    // An emulated machine says so at the beginning, which is never cut off.
    let room = width.saturating_sub(time.len() + 1);
    let has_time = room >= width / 2;
    let title = beginning(&state.title, if has_time { room } else { width });
    let mut line = Line::new(width, state.look.paint);
    line.push(Paint::strong, title);
    if has_time {
        line.push_right(plain, &time);
    }
    line.finish()
}

/// How it is measured and shown.
fn settings(state: &State, width: usize, (first, room, count): (usize, usize, usize)) -> String {
    let view = state.shown();
    let scope = match state.scope() {
        Scope::System => "whole system",
        Scope::Socket => "by socket",
        Scope::Instance => "by instance",
    };
    let since = view.since.map_or_else(|| "anew".to_owned(), |since| format!("since {since}"));
    let mut words = vec![format!("every {} s", state.interval), scope.to_owned()];
    words.push(samples(view.samples));
    words.push(format!("least and most {since}"));
    if count > room {
        words.insert(0, format!("rows {} to {} of {count}", first + 1, (first + room).min(count)));
    }
    let mut line = Line::new(width, state.look.paint);
    // Half a word tells nothing.
    let mut used = 0;
    for (index, words) in words.iter().enumerate() {
        let words = if index == 0 { words.clone() } else { format!(", {words}") };
        used += words.len();
        if used > width {
            break;
        }
        line.push(Paint::faint, &words);
    }
    line.push_right(Paint::faint, "h: help");
    line.finish()
}

fn samples(count: u64) -> String {
    format!("{count} sample{}", if count == 1 { "" } else { "s" })
}

fn headings(state: &State, width: usize) -> String {
    let columns = Columns::fit(&state.rows(), width.saturating_sub(1));
    let mut line = Line::new(width, state.look.paint);
    line.push(plain, &" ".repeat(1 + columns.name));
    let number = |line: &mut Line, words: &str, column: usize| {
        if column > 0 {
            line.push(Paint::strong, &format!(" {words:>column$} "));
        }
    };
    number(&mut line, "now", columns.now);
    if columns.symbol > 0 {
        line.push(plain, &" ".repeat(1 + columns.symbol));
    }
    number(&mut line, "mean", columns.mean);
    number(&mut line, "least", columns.least);
    number(&mut line, "most", columns.most);
    if columns.at > 0 {
        line.push(Paint::strong, &format!(" {:<at$}", "at", at = columns.at));
    }
    if columns.bars > 0 {
        let seconds = columns.bars as f64 * state.interval;
        line.push(Paint::strong, &format!(" {:>bars$}", format!("last {seconds:.0} s"), bars = columns.bars));
    }
    line.finish()
}

fn row(state: &State, columns: &Columns, track: &Track, chosen: bool, width: usize) -> String {
    let look = state.look;
    let scale = track.scale();
    let mut line = Line::new(width, look.paint);
    let name_brush: Brush = if chosen { Paint::strong } else { plain };
    line.push(name_brush, if chosen { ">" } else { " " });
    line.push(name_brush, &padded(&shortened(&track.label, columns.name, look.unicode), columns.name));
    let number = |line: &mut Line, number: Option<(f64, Grade)>, none: char, column: usize| {
        if column == 0 {
            return;
        }
        let (text, mark) =
            number.map_or((NOTHING.to_owned(), none), |(number, grade)| (scale.text(number), mark(grade)));
        let brush: Brush = if matches!(mark, ' ' | '~') { plain } else { Paint::alarm };
        line.push(brush, &format!(" {text:>column$}{mark}"));
    };
    let now = track.now.number().map(|number| (number, track.now.validity().grade()));
    number(&mut line, now, mark(track.now.validity().grade()), columns.now);
    if columns.symbol > 0 {
        line.push(Paint::faint, &format!(" {:<symbol$}", scale.symbol, symbol = columns.symbol));
    }
    let extreme = |extreme: Option<Extreme>| extreme.map(|extreme| (extreme.number, extreme.grade));
    // That nothing was kept yet is no fault.
    let none = if track.samples == 0 { ' ' } else { NO_NUMBER };
    number(&mut line, track.mean(), none, columns.mean);
    number(&mut line, extreme(track.least), none, columns.least);
    number(&mut line, extreme(track.most), none, columns.most);
    if columns.at > 0 {
        let at = track.most.map(|most| most.at.to_string()).unwrap_or_default();
        line.push(Paint::faint, &format!(" {at:<width$}", width = columns.at));
    }
    if columns.bars > 0 {
        line.push(plain, &format!(" {}", spark::line(track.recent.iter(), columns.bars, look.unicode)));
    }
    line.finish()
}

/// What the keys do, if that was asked for; then all of the chosen row, or why numbers are not plainly measured.
fn foot(state: &State, width: usize) -> Vec<String> {
    let mut lines = if state.help { wrapped(HELP, width) } else { Vec::new() };
    let rows = state.rows();
    let words = match state.cursor.and_then(|cursor| rows.get(cursor)) {
        Some(track) => details(track),
        None => state.fewer.iter().cloned().chain(remarks(&rows)).collect(),
    };
    lines.extend(words.iter().flat_map(|words| wrapped(words, width)));
    lines
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
fn remarks(rows: &[&Track]) -> Vec<String> {
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
    let mut remarks: Vec<(char, String, String, &str, usize)> = Vec::new();
    for (mark, kind, why, label) in limits.chain(doubts) {
        match remarks.iter_mut().find(|(_, known, ..)| *known == kind) {
            Some((.., others)) => *others += 1,
            None => remarks.push((mark, kind, why, label, 0)),
        }
    }
    let words = |(mark, _, why, label, others): (char, String, String, &str, usize)| match others {
        0 => format!("{mark} {label}: {why}"),
        _ => format!("{mark} {label} and {others} more: {why}"),
    };
    remarks.into_iter().map(words).collect()
}
