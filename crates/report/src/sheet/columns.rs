//! The columns of a sheet: names in several lines, so that six metrics have room beside each other in 80 columns, and
//! numbers of one column in one unit of measure, so that they compare.

use std::ops::Range;

use pericore_text::columns as text_width;

use crate::figures::{Digits, four_digits};
use crate::row::{Place, Row, mark};

/// Narrowest columns of metrics, in three or four digits, and of counts.
const METRIC: usize = 9;
const COUNT: usize = 13;
/// In front of a number.
const BETWEEN: usize = 1;
/// Behind a number.
const MARK: usize = 1;
/// Lines of a name: so few, unless with some more there is room for more columns beside each other.
const LINES: Range<usize> = 3..5;
/// From here on a number is too long for its column's unit of measure.
const TOO_LARGE: f64 = 100_000.0;

/// SheetColumns under the same headings.
#[derive(Debug, Default)]
pub(super) struct SheetColumns {
    columns: Vec<Column>,
    /// The first of them among all.
    start: usize,
}

#[derive(Debug)]
struct Column {
    /// The name, in lines, and what the numbers are in.
    heading: Vec<String>,
    width: usize,
    /// For metrics: what a number is multiplied by to be in the heading's unit of measure.
    factor: Option<f64>,
}

/// Columns beside each other, block below block.
#[derive(Debug)]
pub(super) struct ColumnBlocks {
    pub blocks: Vec<Range<usize>>,
    /// Lines of each name, at most.
    lines: usize,
}

/// SheetColumns that have room beside each other in so many signs: what is left comes below them. `usual` is the room
/// of a terminal, for which names have as many lines as they need.
pub(super) fn side_by_side(rows: &[&Row], room: usize, usual: usize) -> ColumnBlocks {
    // Of as few blocks the one with fewer lines.
    let lines = LINES.min_by_key(|lines| blocks(rows, room.min(usual), *lines).len()).unwrap_or(LINES.start);
    ColumnBlocks { blocks: blocks(rows, room, lines), lines }
}

fn blocks(rows: &[&Row], room: usize, lines: usize) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut left = 0;
    for (index, row) in rows.iter().enumerate() {
        let needed = BETWEEN + width(row, &name(row, lines)) + MARK;
        match blocks.last_mut() {
            Some(block) if needed <= left => block.end = index + 1,
            _ => {
                blocks.push(index..index + 1);
                left = room;
            }
        }
        left = left.saturating_sub(needed);
    }
    blocks
}

const fn narrowest(row: &Row) -> usize {
    if row.unit_of_measure.is_some() { METRIC } else { COUNT }
}

fn width(row: &Row, name: &[String]) -> usize {
    name.iter().map(|line| text_width(line)).max().unwrap_or(0).max(narrowest(row))
}

/// A name in so many lines at most, as narrow as that can be: the unit, with a line of its own if there is one to
/// spare, and the words.
fn name(row: &Row, most: usize) -> Vec<String> {
    let (unit, rest) = row.name.split_once('/').unwrap_or(("", &row.name));
    let rest = if unit.is_empty() { rest } else { rest.trim_end_matches('/') };
    let unit = if unit.is_empty() { String::new() } else { format!("{unit}/") };
    let words: Vec<&str> = rest.split_inclusive(['_', '.', ',']).collect();
    let of_width = |width: usize| {
        let apart = Some(unit.clone()).filter(|unit| !unit.is_empty()).into_iter();
        let apart: Vec<String> = apart.chain(lines(&words, width)).collect();
        let together = lines(&[&[unit.as_str()], &words[..]].concat(), width);
        [apart, together].into_iter().find(|lines| lines.len() <= most)
    };
    let all = narrowest(row).max(text_width(&unit) + text_width(rest));
    (narrowest(row)..=all).find_map(of_width).unwrap_or_else(|| vec![unit.clone() + rest])
}

/// Words in lines of a width, unless one is longer than that.
fn lines(words: &[&str], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.iter().filter(|word| !word.is_empty()) {
        match lines.last_mut().filter(|line| text_width(line) + text_width(word) <= width) {
            Some(line) => *line += word,
            None => lines.push((*word).to_owned()),
        }
    }
    lines
}

impl SheetColumns {
    /// Those of metrics and events by their first rows, the first of which is the one of that number among all, with
    /// units of measure that suit the numbers.
    pub(super) fn of(
        rows: &[&Row],
        blocks: &ColumnBlocks,
        start: usize,
        lines: &[(Option<&Place>, Vec<Option<&Row>>)],
    ) -> Self {
        let column = |(index, row): (usize, &&Row)| {
            let mut heading = name(row, blocks.lines);
            let numbers = lines.iter().filter_map(|(_, cells)| cells[start + index]?.value.number());
            let most = numbers.map(f64::abs).fold(0.0, f64::max);
            let reference = if most > 0.0 { most } else { 1.0 };
            let scaled = row.unit_of_measure.map(|unit| unit.scaled(reference));
            heading.push(scaled.map_or("", |(_, symbol)| symbol).to_owned());
            let (width, factor) = (width(row, &heading), scaled.map(|(scaled, _)| scaled / reference));
            Column { heading, width, factor }
        };
        Self { columns: rows.iter().enumerate().map(column).collect(), start }
    }

    /// Lines of the headings.
    pub(super) fn height(&self) -> usize {
        self.columns.iter().map(|column| column.heading.len()).max().unwrap_or(0)
    }

    /// The headings, line by line, on the right and at the bottom of each column.
    pub(super) fn headings(&self) -> impl Iterator<Item = String> {
        let height = self.height();
        (0..height).map(move |line| {
            let cell = |column: &Column| {
                let text = (line + column.heading.len()).checked_sub(height).map_or("", |line| &column.heading[line]);
                format!("{:BETWEEN$}{text:>width$}{:MARK$}", "", "", width = column.width)
            };
            self.columns.iter().map(cell).collect()
        })
    }

    /// True if each number has room in its column's unit of measure.
    pub(super) fn fit(&self, lines: &[(Option<&Place>, Vec<Option<&Row>>)]) -> bool {
        lines.iter().all(|(_, cells)| {
            let of_columns = self.columns.iter().zip(&cells[self.start.min(cells.len())..]);
            of_columns
                .filter_map(|(column, cell)| Some((column.factor?, (*cell)?.value.number()?)))
                .all(|(factor, number)| (number * factor).abs() < TOO_LARGE)
        })
    }

    /// A line of numbers, each with its mark; a dash where there is none.
    pub(super) fn line(&self, cells: &[Option<&Row>], digits: Digits) -> String {
        let cell = |(column, cell): (&Column, &Option<&Row>)| {
            let (text, mark) = cell.map_or_else(
                || (String::new(), ' '),
                |row| (column.number(row, digits), mark(row.value.validity().grade())),
            );
            format!("{:BETWEEN$}{text:>width$}{mark}", "", width = column.width)
        };
        self.columns.iter().zip(cells).map(cell).collect()
    }
}

impl Column {
    fn number(&self, row: &Row, whole: Digits) -> String {
        match (row.value.number(), self.factor) {
            (None, _) => "-".to_owned(),
            (Some(number), Some(factor)) => four_digits(number * factor, whole),
            (Some(number), None) => whole.whole(number),
        }
    }
}
