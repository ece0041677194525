//! A row over time, as a chart.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::symbols::Marker;
use ratatui_core::text::Line;
use ratatui_core::widgets::Widget;
use ratatui_widgets::chart::{Axis, Chart, Dataset, GraphType};

use super::figures::span;
use super::line::{shortened, words};
use super::style::{COURSE, FAINT, LIMIT, STRONG};
use crate::path::RowTable;
use crate::state::State;
use crate::track::Track;

/// A chart that tells something has so many lines, with its title.
pub const LEAST_HEIGHT: usize = 6;
/// Points in a column of Braille.
const DOTS: usize = 2;
/// Columns of the numbers at the left.
const NUMBERS: usize = 9;
/// Points that a chart has room for at least.
const FEWEST: usize = 8;
/// The greatest number is so far below the upper edge.
const ABOVE: f64 = 1.05;

/// The row that a single chart is of: the chosen one, else what the summary begins with, else the first.
pub fn usual(state: &State) -> Option<&Track> {
    let rows = state.rows();
    state.chosen(&rows).or_else(|| {
        let headline = state.shown().summary.first().map(|figure| figure.metric);
        let all = state.shown().table(RowTable::System).iter();
        all.clone().find(|track| Some(track.name.as_str()) == headline).or_else(|| rows.first().copied())
    })
}

/// Means of so many samples each, the newest last, with how many such steps they lie before it.
fn points(track: &Track, back: usize, in_step: usize, steps: usize) -> Vec<(f64, f64)> {
    let until = track.recent.len().saturating_sub(back);
    let recent: Vec<Option<f64>> = track.recent.range(..until).copied().collect();
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (step, samples) in recent.rchunks(in_step).take(steps).enumerate() {
        let numbers: Vec<f64> = samples.iter().flatten().copied().collect();
        if !numbers.is_empty() {
            points.push((-(step as f64), numbers.iter().sum::<f64>() / numbers.len() as f64));
        }
    }
    points.reverse();
    points
}

/// Draws it.
pub fn draw(state: &State, track: &Track, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    let unicode = state.look.unicode;
    let title = words(STRONG, &shortened(&track.label, width, unicode), width);
    buffer.set_line(area.x, area.y, &title, area.width);
    let room = width.saturating_sub(NUMBERS).max(2) * if unicode { DOTS } else { 1 };
    let in_step = state.samples_a_column();
    let known = track.recent.len().saturating_sub(state.back).div_ceil(in_step);
    // What is short has all of the width.
    let steps = room.min(known.max(FEWEST)) - 1;
    let points = points(track, state.back, in_step, steps + 1);
    let greatest = points.iter().map(|(_, number)| *number).fold(0.0, f64::max);
    let upper = if greatest > 0.0 { greatest * ABOVE } else { 1.0 };
    let lower = points.iter().map(|(_, number)| *number).fold(0.0, f64::min);
    let scale = track.scale_of(greatest);
    let end = span(steps as f64 * in_step as f64 * state.interval);
    let last = if state.back == 0 { "now" } else { "then" };
    let limit = track.limit().filter(|limit| *limit < upper);
    let line = limit.map(|limit| [(-(steps as f64), limit), (0.0, limit)]);
    let marker = |sign| if unicode { Marker::Braille } else { Marker::Custom(sign) };
    let mut sets = Vec::new();
    if let Some(line) = &line {
        sets.push(Dataset::default().data(line).marker(marker('-')).graph_type(GraphType::Line).style(LIMIT));
    }
    sets.push(Dataset::default().data(&points).marker(marker('*')).graph_type(GraphType::Line).style(COURSE));
    let label = |number: f64| Line::styled(scale.short(number), FAINT);
    let x = Axis::default()
        .bounds([-(steps as f64), 0.0])
        .labels([Line::styled(format!("-{end}"), FAINT), Line::styled(last, FAINT)]);
    let top = if greatest > 0.0 { format!("{} {}", scale.short(upper), scale.symbol) } else { scale.symbol.to_owned() };
    let y = Axis::default().bounds([lower, upper]).labels([label(lower), Line::styled(top, FAINT)]);
    let below = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    Chart::new(sets).x_axis(x).y_axis(y).legend_position(None).render(below, buffer);
}
