//! Which columns there is room for, and how wide they are.

use pericore_text::columns;

use super::figures::NOTHING;
use crate::track::Track;

/// Least width of a number: they seldom need more, so columns seldom move.
const NUMBER: usize = 7;
/// Least width of a symbol.
const SYMBOL: usize = 4;
/// Least width of the bars, and the width from which they tell more than another column.
const BARS: [usize; 2] = [8, 20];
/// More bars than this tell no more.
const MOST_BARS: usize = 240;
/// Width of a time of day.
const TIME: usize = 8;
/// A terminal as narrow as this has no room to spare for numbers to come.
const NARROW: usize = 24;

/// Widths of the columns; 0 for one that is left out. Each but the first is behind a space, and a mark behind each
/// number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// Event or metric, and where.
    pub name: usize,
    /// The last number.
    pub now: usize,
    /// What numbers are of.
    pub symbol: usize,
    /// Mean.
    pub mean: usize,
    /// Least number.
    pub least: usize,
    /// Greatest number.
    pub most: usize,
    /// When that was.
    pub at: usize,
    /// Last samples.
    pub bars: usize,
}

impl Columns {
    /// For these rows in `width`.
    pub fn fit(rows: &[&Track], width: usize) -> Self {
        let longest = rows.iter().map(|track| columns(&track.label)).max().unwrap_or(0);
        let number = rows.iter().map(|track| widest(track)).max().unwrap_or(0);
        let symbol = rows.iter().map(|track| track.scale().symbol.len()).max().unwrap_or(0).max(SYMBOL);
        let number = number.max(if width < NARROW { 1 } else { NUMBER });
        let now = number.min(width.saturating_sub(1));
        let mut left = width.saturating_sub(now + 1);
        let name = longest.min((width / 3).max(3)).min(left.saturating_sub(1));
        left = left.saturating_sub(name + 1);
        let take = |left: &mut usize, width: usize, cost: usize| match left.checked_sub(cost) {
            Some(rest) => {
                *left = rest;
                width
            }
            None => 0,
        };
        let symbol = take(&mut left, symbol, symbol + 1);
        let most = take(&mut left, number, number + 2);
        let bars = take(&mut left, BARS[0], BARS[0] + 1);
        let mean = take(&mut left, number, number + 2);
        // A name that can be read is worth more than the rest.
        let more = left.min(longest - name);
        let (name, mut left) = (name + more, left - more);
        let wider = if bars > 0 { take(&mut left, BARS[1] - BARS[0], BARS[1] - BARS[0]) } else { 0 };
        let at = if wider > 0 { take(&mut left, TIME, TIME + 1) } else { 0 };
        let least = if at > 0 { take(&mut left, number, number + 2) } else { 0 };
        let bars = if bars > 0 { (bars + wider + left).min(MOST_BARS) } else { 0 };
        Self { name, now, symbol, mean, least, most, at, bars }
    }
}

/// The width that a row's numbers need.
fn widest(track: &Track) -> usize {
    let scale = track.scale();
    let ends = [track.least, track.most].into_iter().flatten().map(|extreme| extreme.number);
    let all = ends.chain(track.now.number()).chain(track.mean().map(|(mean, _)| mean));
    all.map(|number| scale.text(number).len()).max().unwrap_or(NOTHING.len())
}
