//! A picture of the state: what stands on the terminal.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::text::Line;

use super::line::words;
use super::list::first_row;
use super::style::PLAIN;
use super::{foot, gauges, head, heat, help, history, list, plain};
use crate::state::{ScreenPage, State};

/// On smaller terminals there are rows alone.
const LEAST: (usize, usize) = (80, 24);
/// The foot takes this part of the height at most.
const FOOT: usize = 3;
/// On the overview, where it competes with more.
const OVERVIEW_FOOT: usize = 8;
/// Gauges take this part of it.
const GAUGES: usize = 4;
/// Map and chart have so many lines at least.
const MIDDLE: usize = 7;
/// On larger terminals they have this part of the height.
const MIDDLE_PART: usize = 5;
/// A chart that has the page for itself and others has so many.
const CHART: usize = 9;
/// Lines of text for people: as many as it takes.
const UNBOUNDED: usize = 10_000;
/// What is below has all numbers again.
const GAUGES_OF_TEXT: usize = 8;
/// Charts beside each other from this width on.
const TWO: usize = 120;

/// A picture of this size.
pub fn picture(state: &State, width: usize, height: usize) -> Buffer {
    let area = Rect::new(0, 0, width.min(usize::from(u16::MAX)) as u16, height.min(usize::from(u16::MAX)) as u16);
    let mut buffer = Buffer::empty(area);
    if area.area() == 0 {
        return buffer;
    }
    let parts = Parts::of(state, width, height);
    let mut place = Place { buffer: &mut buffer, y: 0 };
    place.add(&parts.head);
    match parts.page {
        ScreenPage::Overview => {
            place.add(&gauges::lines(state, width, parts.gauges));
            place.middle(state, width, parts.middle);
            place.rows(state, width, &parts);
        }
        ScreenPage::Rows => place.rows(state, width, &parts),
        ScreenPage::Units if !heat::is_there(state) => {
            place.add(&[words(PLAIN, "No event or metric of this selection has several unit instances.", width)]);
        }
        ScreenPage::Units => place.add(&heat::lines(state, width, height - parts.head.len())),
        ScreenPage::History => place.charts(state, width, height - parts.head.len()),
        ScreenPage::Devices => place.devices(state, width),
    }
    if height > parts.foot.len() {
        // At the bottom, so that it stands still.
        place.y = (height - parts.foot.len()) as u16;
        place.add(&parts.foot);
    }
    if state.help && parts.is_large {
        help::draw(area, place.buffer);
    }
    plain::fit(&mut buffer, state.look.colors, state.look.unicode);
    buffer
}

/// How many rows a picture of this size shows.
pub fn room(state: &State, width: usize, height: usize) -> usize {
    Parts::of(state, width, height).room
}

/// A picture as lines of text, with all rows.
pub fn text(state: &State, width: usize) -> Vec<String> {
    let count = state.rows().len();
    let mut lines = vec![head::title(state, width), head::settings(state, width, (0, count, count), &[])];
    lines.extend(gauges::lines(state, width, GAUGES_OF_TEXT));
    lines.extend(list::lines(state, width, UNBOUNDED, true));
    lines.extend(foot::lines(state, width, UNBOUNDED));
    let area = Rect::new(0, 0, width as u16, lines.len() as u16);
    let mut buffer = Buffer::empty(area);
    Place { buffer: &mut buffer, y: 0 }.add(&lines);
    plain::fit(&mut buffer, state.look.colors, state.look.unicode);
    plain::lines(&buffer)
}

/// What the parts of a picture take.
struct Parts {
    /// It has room for more than rows.
    is_large: bool,
    page: ScreenPage,
    head: Vec<Line<'static>>,
    gauges: usize,
    middle: usize,
    has_headings: bool,
    room: usize,
    foot: Vec<Line<'static>>,
}

impl Parts {
    fn of(state: &State, width: usize, height: usize) -> Self {
        if width < LEAST.0 || height < LEAST.1 {
            Self::small(state, width, height)
        } else {
            Self::large(state, width, height)
        }
    }

    /// What is least needed goes first where there are few lines: what is said of rows, then the line of settings, then
    /// the headings.
    fn small(state: &State, width: usize, height: usize) -> Self {
        let most = if height >= 4 { (height / FOOT).max(1) } else { 0 };
        let mut foot = foot::keys(state, width, most);
        foot.extend(foot::lines(state, width, most - foot.len()));
        let mut head = vec![head::title(state, width)];
        let count = state.rows().len();
        if height >= 6 {
            let room = height.saturating_sub(3 + foot.len());
            head.push(head::settings(state, width, (first_row(state, count, room), room, count), &SMALL));
        }
        let has_headings = height >= 3;
        let room = height.saturating_sub(head.len() + usize::from(has_headings) + foot.len());
        Self { is_large: false, page: ScreenPage::Rows, head, gauges: 0, middle: 0, has_headings, room, foot }
    }

    fn large(state: &State, width: usize, height: usize) -> Self {
        let has_rows = matches!(state.page, ScreenPage::Overview | ScreenPage::Rows);
        let most = if state.page == ScreenPage::Overview { height / OVERVIEW_FOOT } else { height / FOOT };
        let foot = if has_rows { foot::lines(state, width, most) } else { Vec::new() };
        let mut head = vec![head::title(state, width), head::pages(state, width)];
        let count = state.rows().len();
        let mut parts = Self {
            is_large: true,
            page: state.page,
            head: Vec::new(),
            gauges: 0,
            middle: 0,
            has_headings: true,
            room: height.saturating_sub(head.len() + 2 + foot.len()),
            foot,
        };
        if state.page == ScreenPage::Overview {
            parts.gauges = gauges::lines(state, width, height / GAUGES).len();
            let left = parts.room.saturating_sub(parts.gauges);
            parts.room = count.clamp(1, left.saturating_sub(MIDDLE.max(height / MIDDLE_PART)).max(1));
            parts.middle = left.saturating_sub(parts.room);
        }
        let room = parts.room;
        let settings = head::settings(state, width, (first_row(state, count, room), room, count), &[]);
        if !matches!(state.page, ScreenPage::Overview | ScreenPage::Devices) {
            head.push(settings);
        }
        parts.head = head;
        parts
    }
}

/// Said where there is no room for more than rows.
const SMALL: [&str; 2] = ["h: help; more from 80x24 on", "h: help"];

/// Where the next part goes.
struct Place<'b> {
    buffer: &'b mut Buffer,
    y: u16,
}

impl Place<'_> {
    fn add(&mut self, lines: &[Line<'_>]) {
        let area = self.buffer.area;
        for line in lines {
            if self.y < area.height {
                self.buffer.set_line(0, self.y, line, area.width);
            }
            self.y = self.y.saturating_add(1);
        }
    }

    fn rows(&mut self, state: &State, width: usize, parts: &Parts) {
        if parts.page == ScreenPage::Overview {
            let count = state.rows().len();
            let settings = head::settings(state, width, (first_row(state, count, parts.room), parts.room, count), &[]);
            self.add(&[settings]);
        }
        self.add(&list::lines(state, width, parts.room, parts.has_headings));
    }

    /// Map and chart beside each other.
    fn middle(&mut self, state: &State, width: usize, height: usize) {
        let (top, mut left) = (self.y, 0);
        if heat::is_there(state) {
            let lines = heat::lines(state, width / 2 - 1, height);
            self.add(&lines);
            left = width / 2;
        }
        if let Some(track) = history::usual(state).filter(|_| height >= history::LEAST_HEIGHT) {
            let area = Rect::new(left as u16, top, (width - left) as u16, height as u16 - 1);
            history::draw(state, track, area, self.buffer);
        }
        self.y = top + height as u16;
    }

    /// A chart for each row that there is room for.
    fn charts(&mut self, state: &State, width: usize, height: usize) {
        let rows = state.rows();
        let across = if width >= TWO { 2 } else { 1 };
        let down = (height / CHART).clamp(1, rows.len().div_ceil(across).max(1));
        let each = (height / down) as u16;
        let first = first_row(state, rows.len(), down * across);
        let column = (width / across) as u16;
        for (index, track) in rows.iter().skip(first).take(down * across).enumerate() {
            let (x, y) = ((index % across) as u16 * column, self.y + (index / across) as u16 * each);
            history::draw(state, track, Rect::new(x, y, column - 1, each - 1), self.buffer);
        }
    }

    fn devices(&mut self, state: &State, width: usize) {
        if state.devices.is_empty() {
            let why = "PCI devices by I/O stack: on a real machine, where metrics of I/O stacks are counted (-M pcie).";
            let lines = pericore_text::wrapped(why, width);
            return self.add(&lines.iter().map(|line| words(PLAIN, line, width)).collect::<Vec<_>>());
        }
        self.add(&state.devices.iter().map(|line| words(PLAIN, line, width)).collect::<Vec<_>>());
    }
}
