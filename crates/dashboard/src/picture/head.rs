//! The first two lines: the machine and the time; the pages, and how it is measured and shown.

use pericore_text::{beginning, columns};
use ratatui_core::text::Line;

use super::figures::span;
use super::line::LineBuilder;
use super::style::{CHOSEN, FAINT, PLAIN, STRONG};
use crate::path::RowTable;
use crate::state::{PAGES, State};

/// The machine, and what time it is.
pub fn title(state: &State, width: usize) -> Line<'static> {
    let time = state.shown().at(state.back).map(|at| at.to_string()).unwrap_or_default();
    let time = match state.back {
        0 if state.is_paused() => format!("PAUSED {time}"),
        0 => time,
        1 => format!("1 SAMPLE BACK {time}"),
        back => format!("{back} SAMPLES BACK {time}"),
    };
    // An emulated machine says so at the beginning, which is never cut off.
    let room = width.saturating_sub(time.len() + 1);
    let has_time = room >= width / 2;
    let title = beginning(&state.title, if has_time { room } else { width });
    let mut line = LineBuilder::new(width);
    line.push(STRONG, title);
    if has_time {
        line.push_right(PLAIN, &time);
    }
    line.finish()
}

/// The pages, the open one marked.
pub fn pages(state: &State, width: usize) -> Line<'static> {
    let mut line = LineBuilder::new(width);
    for (index, (page, name)) in PAGES.into_iter().enumerate() {
        let words = format!(
            "{}{} {name}{}",
            if page == state.page { "[" } else { " " },
            index + 1,
            if page == state.page { "]" } else { " " }
        );
        line.push_block(if page == state.page { CHOSEN } else { PLAIN }, &words);
    }
    line.push_right(FAINT, "?: help");
    line.finish()
}

/// What is being searched for, where rows come from, how it is measured; the first of the hints that there is room for.
pub fn settings(
    state: &State,
    width: usize,
    (first, room, count): (usize, usize, usize),
    hints: &[&str],
) -> Line<'static> {
    let mut line = LineBuilder::new(width);
    if state.is_typing {
        line.push(STRONG, &format!("/{}_", state.search));
        line.push_right(FAINT, "Return: keep, Esc: drop");
        return line.finish();
    }
    let view = state.shown();
    let scope = match state.table() {
        RowTable::System => "whole system",
        RowTable::Socket => "by socket",
        RowTable::Instance => "by instance",
        RowTable::Counter => "by counter",
    };
    let since = view.since.map_or_else(|| "anew".to_owned(), |since| format!("since {since}"));
    let mut words = vec![format!("every {}", span(state.interval)), scope.to_owned()];
    words.push(samples(view.samples));
    words.push(format!("least and most {since}"));
    words.splice(0..0, state.order.words().map(str::to_owned));
    if !state.search.is_empty() {
        words.insert(0, format!("with {:?}", state.search));
    }
    if !state.steps.is_empty() {
        let steps: Vec<String> = state.steps.iter().map(crate::path::PathStep::words).collect();
        words.insert(0, format!("all > {}", steps.join(" > ")));
    }
    if count > room {
        words.insert(0, format!("rows {} to {} of {count}", first + 1, (first + room).min(count)));
    }
    // Half a word tells nothing.
    let mut used = 0;
    for (index, words) in words.iter().enumerate() {
        let words = if index == 0 { words.clone() } else { format!(", {words}") };
        used += columns(&words);
        if used > width {
            break;
        }
        line.push(FAINT, &words);
    }
    if let Some(hint) = hints.iter().find(|hint| columns(hint) < line.left()) {
        line.push_right(FAINT, hint);
    }
    line.finish()
}

/// So many samples, in words.
pub fn samples(count: u64) -> String {
    format!("{count} sample{}", if count == 1 { "" } else { "s" })
}
