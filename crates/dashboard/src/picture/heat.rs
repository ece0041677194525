//! One event or metric in each instance of a unit, as a map: what is hot stands out.

use std::cmp::Reverse;

use pericore_metrics::UnitOfMeasure;
use pericore_report::mark;
use pericore_text::columns;
use ratatui_core::text::Line;

use super::floorplan::Floorplan;
use super::line::{LineBuilder, words};
use super::style::{FAINT, PLAIN, STRONG, heat};
use crate::path::RowTable;
use crate::state::State;
use crate::track::Track;

/// Columns between two sockets.
const BETWEEN: usize = 2;
/// Lines beside those of cells: title, sockets, what 100 is, the extremes.
const OTHERS: usize = 4;
/// Columns of a number with its mark, and the space behind it.
const NUMBER: usize = 5;

/// An event or metric that several instances have.
struct Map<'s> {
    name: &'s str,
    tracks: Vec<&'s Track>,
}

/// Which events and metrics there is a map of: those with most instances first.
fn names(state: &State) -> Vec<&str> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for track in state.shown().table(RowTable::Instance) {
        match counts.iter_mut().find(|(name, _)| *name == track.name) {
            Some((_, count)) => *count += 1,
            None => counts.push((&track.name, 1)),
        }
    }
    counts.retain(|(_, count)| *count > 1);
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts.into_iter().map(|(name, _)| name).collect()
}

fn map(state: &State) -> Option<Map<'_>> {
    let names = names(state);
    let rows = state.rows();
    let of_chosen = state.chosen(&rows).filter(|_| state.map.is_none()).map(|track| track.name.as_str());
    let usual = || names.get(state.map.unwrap_or(0) % names.len().max(1)).copied();
    let name = of_chosen.filter(|name| names.contains(name)).or_else(usual)?;
    let tracks = state.shown().table(RowTable::Instance).iter().filter(|track| track.name == name).collect();
    Some(Map { name, tracks })
}

/// True if there is a map.
pub fn is_there(state: &State) -> bool {
    !names(state).is_empty()
}

/// The map, in at most so many lines.
pub fn lines(state: &State, width: usize, height: usize) -> Vec<Line<'static>> {
    let Some(map) = map(state) else { return Vec::new() };
    let mut sockets: Vec<u16> = map.tracks.iter().filter_map(|track| track.socket).collect();
    sockets.dedup();
    let of = |socket: u16| map.tracks.iter().copied().filter(|track| track.socket == Some(socket)).collect::<Vec<_>>();
    let most = sockets.iter().map(|socket| of(*socket).len()).max().unwrap_or(0);
    let room = height.saturating_sub(OTHERS);
    if room == 0 || most == 0 {
        return Vec::new();
    }
    let mut instances: Vec<&str> = map.tracks.iter().filter_map(|track| track.instance.as_deref()).collect();
    instances.sort_unstable();
    instances.dedup();
    let plan = Floorplan::of(state.floorplan, &instances);
    let grid = Grid::fit(&map, plan.as_ref(), most, sockets.len(), (width, room));
    let shown: Vec<u16> = sockets.iter().copied().take(grid.sockets).collect();
    let mut lines =
        vec![words(STRONG, &format!("{} {}", map.name, if grid.is_plan { "on the die" } else { "by unit" }), width)];
    let mut heading = LineBuilder::new(width);
    heading.push_block(PLAIN, &" ".repeat(grid.label()));
    for socket in &shown {
        heading.push_block(FAINT, &format!("{:<width$}", format!("S{socket}"), width = grid.width() + BETWEEN));
    }
    lines.push(heading.finish());
    let scale = MapScale::of(state, &map);
    for line_of_cells in 0..grid.rows {
        let mut line = LineBuilder::new(width);
        if grid.label() > 0 {
            let first = map.tracks.get(line_of_cells * grid.columns).and_then(|track| track.instance.as_deref());
            line.push_block(FAINT, &format!("{:>width$} ", first.unwrap_or_default(), width = grid.name));
        }
        for socket in &shown {
            let tracks = of(*socket);
            for column in 0..grid.columns {
                let track = match plan.as_ref().filter(|_| grid.is_plan) {
                    None => tracks.get(line_of_cells * grid.columns + column),
                    Some(plan) => plan
                        .at(column, line_of_cells)
                        .and_then(|name| tracks.iter().find(|track| track.instance.as_deref() == Some(name))),
                };
                match track {
                    Some(track) => cell(state, &mut line, track, &scale, &grid),
                    None => line.push_block(PLAIN, &" ".repeat(grid.of_cell())),
                }
            }
            line.push_block(PLAIN, &" ".repeat(BETWEEN));
        }
        lines.push(line.finish());
    }
    lines.extend(
        scale
            .words(state, &map, &grid, (sockets.len() - shown.len(), width))
            .iter()
            .map(|text| words(FAINT, text, width)),
    );
    lines
}

/// What a cell shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    /// The instance's name, and per cent.
    Named,
    /// Per cent.
    Number,
    /// Tenths.
    Digit,
}

/// How cells lie.
struct Grid {
    cell: Cell,
    /// Cells beside each other, in a socket.
    columns: usize,
    rows: usize,
    /// They are where the die has them.
    is_plan: bool,
    /// Columns of the longest name.
    name: usize,
    /// Sockets that there is room for.
    sockets: usize,
}

impl Grid {
    /// As many sockets as there is room for, one at least; their cells with as much as there is room for.
    fn fit(map: &Map<'_>, plan: Option<&Floorplan<'_>>, most: usize, sockets: usize, place: (usize, usize)) -> Self {
        let (width, room) = place;
        let instance = |track: &&Track| track.instance.as_ref().map_or(0, |instance| columns(instance));
        let name = map.tracks.iter().map(instance).max().unwrap_or(0);
        let least = most.div_ceil(room);
        // Wider than high, as dies are.
        let square = ((most as f64).sqrt().ceil() as usize).max(least);
        let of = |cell, columns: usize, sockets| {
            let columns = columns.clamp(1, most);
            Self { cell, columns, rows: most.div_ceil(columns), is_plan: false, name, sockets }
        };
        let mut kinds: Vec<Self> = Vec::new();
        for sockets in (1..=sockets).rev() {
            if let Some((columns, rows)) = plan.map(Floorplan::size) {
                let on_die = |cell| Self { cell, columns, rows, is_plan: true, name, sockets };
                kinds.extend([Cell::Named, Cell::Number, Cell::Digit].map(on_die));
            }
            kinds.extend([Cell::Named, Cell::Number].map(|cell| of(cell, square, sockets)));
            kinds.extend([Cell::Named, Cell::Number, Cell::Digit].map(|cell| of(cell, least, sockets)));
        }
        let fits = |grid: &Self| {
            grid.rows <= room && grid.label() + (grid.width() + BETWEEN) * grid.sockets <= width + BETWEEN
        };
        let at = kinds.iter().position(fits).unwrap_or(kinds.len() - 1);
        kinds.swap_remove(at)
    }

    /// Columns in front of a line of cells: where cells have no names, the line has that of its first.
    fn label(&self) -> usize {
        if self.cell == Cell::Named || self.is_plan { 0 } else { self.name + 1 }
    }

    const fn of_cell(&self) -> usize {
        match self.cell {
            Cell::Named => self.name + 1 + NUMBER,
            Cell::Number => NUMBER,
            Cell::Digit => 1,
        }
    }

    const fn width(&self) -> usize {
        self.columns * self.of_cell()
    }
}

fn cell(state: &State, line: &mut LineBuilder, track: &Track, scale: &MapScale<'_>, grid: &Grid) {
    let past = track.past(state.back);
    if grid.cell == Cell::Digit {
        let tenths = |share: f64| format!("{:.0}", (share * 10.0).floor().clamp(0.0, 9.0));
        return match past {
            Some((number, _)) => line.push_block(heat(scale.share(number)), &tenths(scale.share(number))),
            None => line.push_block(PLAIN, &mark(track.past_grade(state.back)).to_string()),
        };
    }
    if grid.cell == Cell::Named {
        let name = track.instance.as_deref().unwrap_or_default();
        line.push_block(FAINT, &format!("{name:>width$} ", width = grid.name));
    }
    match past {
        Some((number, grade)) => {
            let share = scale.share(number);
            line.push_block(heat(share), &format!("{:>3.0}{}", share * 100.0, mark(grade)));
        }
        None => line.push_block(PLAIN, &format!("  -{}", mark(track.past_grade(state.back)))),
    }
    line.push_block(PLAIN, " ");
}

/// What the numbers in the cells are.
struct MapScale<'s> {
    /// Of a share of something: it is shown as it is.
    is_share: bool,
    greatest: f64,
    most: Option<&'s Track>,
    least: Option<&'s Track>,
}

impl<'s> MapScale<'s> {
    fn of(state: &State, map: &Map<'s>) -> Self {
        let number = |track: &&Track| track.past(state.back).map(|(number, _)| number);
        let known = || map.tracks.iter().copied().filter(|track| number(track).is_some());
        let compare =
            |one: &&Track, other: &&Track| number(one).unwrap_or(0.0).total_cmp(&number(other).unwrap_or(0.0));
        let (most, least) = (known().max_by(compare), known().min_by(compare));
        let greatest = most.as_ref().and_then(number).unwrap_or(0.0);
        let is_share = map.tracks.first().is_some_and(|track| track.unit() == UnitOfMeasure::Percent);
        Self { is_share, greatest, most, least }
    }

    fn share(&self, number: f64) -> f64 {
        match (self.is_share, self.greatest > 0.0) {
            (true, _) => number,
            (false, true) => number / self.greatest,
            (false, false) => 0.0,
        }
    }

    /// Two lines.
    fn words(&self, state: &State, map: &Map<'_>, grid: &Grid, (hidden, width): (usize, usize)) -> Vec<String> {
        let Some(scale) = map.tracks.first().map(|track| track.scale_of(self.greatest)) else { return Vec::new() };
        let of = |number: f64| format!("{} {}", scale.short(number), scale.symbol).trim_end().to_owned();
        let all = if self.is_share { "100 %".to_owned() } else { of(self.greatest) };
        let unit = match (grid.cell, self.is_share) {
            (Cell::Digit, _) => format!("0 to 9: tenths of {all}"),
            (_, true) => "in per cent".to_owned(),
            (_, false) => format!("100 is {all}"),
        };
        let hidden = if hidden > 0 { "; all: key 3".to_owned() } else { String::new() };
        let at = |track: &Track| {
            let number = track.past(state.back).map_or(0.0, |(number, _)| number);
            format!("{} {}", place(track), of(number))
        };
        let Some((most, least)) = self.most.zip(self.least) else {
            return vec!["no unit has a number".to_owned()];
        };
        let both = format!("most {}, least {}", at(most), at(least));
        vec![format!("{unit}{hidden}"), if columns(&both) <= width { both } else { format!("most {}", at(most)) }]
    }
}

fn place(track: &Track) -> String {
    let instance = track.instance.as_deref().unwrap_or_default();
    track.socket.map_or_else(|| instance.to_owned(), |socket| format!("S{socket} {instance}"))
}
