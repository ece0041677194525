//! What there is to show, and what the user wants to see of it.

use pericore_observe::results::Scope;
use pericore_report::Report;

use crate::clock::TimeOfDay;
use crate::keys::Key;
use crate::path::{PathStep, RowTable};
use crate::sorting::Order;
use crate::track::{REMEMBERED, Track};
use crate::view::View;

/// How pictures look on this terminal.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look {
    /// It shows more than ASCII.
    pub unicode: bool,
    /// Colours, or none.
    pub colors: bool,
}

/// What a key asks for, beside another picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyCommand {
    /// Nothing else.
    Nothing,
    /// The end.
    End,
    /// The shell, for a while.
    Suspend,
}

/// What fills the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ScreenPage {
    /// A little of everything.
    #[default]
    Overview,
    /// All rows, with all that there is of each.
    Rows,
    /// One event or metric in each unit instance.
    Units,
    /// Rows over time.
    History,
    /// What is behind the I/O stacks.
    Devices,
}

/// All pages, in the order of their keys.
pub const PAGES: [(ScreenPage, &str); 5] = [
    (ScreenPage::Overview, "Overview"),
    (ScreenPage::Rows, "Rows"),
    (ScreenPage::Units, "Units"),
    (ScreenPage::History, "History"),
    (ScreenPage::Devices, "Devices"),
];

/// Samples that a column of a chart may stand for.
const ZOOMS: [usize; 7] = [1, 2, 5, 10, 20, 50, 100];

/// Everything that a picture is made of.
#[derive(Debug)]
pub struct State {
    /// What is measured.
    pub title: String,
    /// Of which units fewer answer than there can be, a line for each.
    pub fewer: Vec<String>,
    /// Where unit instances are on the die, row by row, as the catalogue has it.
    pub floorplan: &'static [&'static str],
    /// What is behind the I/O stacks, in lines.
    pub devices: Vec<String>,
    /// Seconds between two samples.
    pub interval: f64,
    /// The terminal's.
    pub look: Look,
    /// The keys are explained.
    pub help: bool,
    /// What is open.
    pub page: ScreenPage,
    /// The row that the user has gone to.
    pub cursor: Option<usize>,
    /// Rows that the picture has room for, as the caller sets it.
    pub room: usize,
    /// The steps down to what is shown.
    pub steps: Vec<PathStep>,
    /// Rows with these words only.
    pub search: String,
    /// They are being typed.
    pub is_typing: bool,
    /// Which rows come first.
    pub order: Order,
    /// So many samples before the last of the view are shown.
    pub back: usize,
    /// Which of the events and metrics that have instances the map shows, if the user chose.
    pub map: Option<usize>,
    zoom: usize,
    /// None until it is known how many sockets there are.
    scope: Option<RowTable>,
    sockets: usize,
    live: View,
    /// What the display shows while it is paused.
    frozen: Option<View>,
}

impl State {
    /// Nothing measured yet.
    pub fn new(interval: f64, look: Look, scope: Option<Scope>) -> Self {
        Self {
            title: String::new(),
            fewer: Vec::new(),
            floorplan: &[],
            devices: Vec::new(),
            interval,
            look,
            help: false,
            page: ScreenPage::default(),
            cursor: None,
            room: 1,
            steps: Vec::new(),
            search: String::new(),
            is_typing: false,
            order: Order::default(),
            back: 0,
            map: None,
            zoom: 0,
            scope: scope.map(table_of),
            sockets: 1,
            live: View::default(),
            frozen: None,
        }
    }

    /// Says what is measured. On several sockets each has its rows, unless the user wants it otherwise.
    pub fn name(&mut self, title: String, sockets: usize) {
        // That is understood here.
        self.title = title.strip_suffix(": system wide").map_or(title.clone(), str::to_owned);
        self.sockets = sockets;
        let usual = if sockets > 1 { RowTable::Socket } else { RowTable::System };
        self.scope = self.scope.or(Some(usual));
    }

    /// Takes a sample: a report for each of [`crate::SCOPES`], and one of the counters.
    pub fn take(&mut self, reports: [&Report; 4], at: TimeOfDay) {
        self.live.take(reports, at);
    }

    /// What is shown: the samples so far, or those until the display was paused.
    pub fn shown(&self) -> &View {
        self.frozen.as_ref().unwrap_or(&self.live)
    }

    /// True if the display stands still.
    pub const fn is_paused(&self) -> bool {
        self.frozen.is_some()
    }

    /// The table that rows are of.
    pub fn table(&self) -> RowTable {
        self.steps.last().map_or(self.scope.unwrap_or(RowTable::System), |step| step.table)
    }

    /// Sockets of the machine.
    pub const fn sockets(&self) -> usize {
        self.sockets
    }

    /// Samples that a column of a chart stands for.
    pub fn samples_a_column(&self) -> usize {
        ZOOMS[self.zoom]
    }

    /// The rows to show, in the user's order.
    pub fn rows(&self) -> Vec<&Track> {
        let words = self.search.to_lowercase();
        let is_wanted = |track: &&Track| {
            let is_below = self.steps.last().is_none_or(|step| {
                step.name.as_ref().is_none_or(|name| *name == track.name)
                    && (step.socket.is_none() || step.socket == track.socket)
                    && (step.instance.is_none() || step.instance == track.instance)
            });
            is_below && words.split_whitespace().all(|word| track.label.to_lowercase().contains(word))
        };
        let mut rows: Vec<&Track> = self.shown().table(self.table()).iter().filter(is_wanted).collect();
        self.order.sort(&mut rows, self.back);
        rows
    }

    /// The row that the user has gone to.
    pub fn chosen<'s>(&self, rows: &[&'s Track]) -> Option<&'s Track> {
        self.cursor.and_then(|cursor| rows.get(cursor)).copied()
    }

    /// Does what a key stands for.
    pub fn press(&mut self, key: Key) -> KeyCommand {
        if self.is_typing && self.type_in(key) {
            return KeyCommand::Nothing;
        }
        match key {
            Key::Char('q' | 'Q') | Key::Interrupt => return KeyCommand::End,
            Key::Escape if !self.leave() => return KeyCommand::End,
            Key::Escape => {}
            Key::Suspend => return KeyCommand::Suspend,
            Key::Char('s') => self.next_scope(),
            Key::Char(' ') => {
                self.back = 0;
                self.frozen = if self.is_paused() { None } else { Some(self.live.clone()) };
            }
            Key::Char('r') => self.reset(),
            Key::Char('h' | '?') => self.help = !self.help,
            Key::Char('/') => self.is_typing = true,
            Key::Char('o') => self.order = self.order.next(),
            Key::Char('m') => self.map = Some(self.map.unwrap_or(0) + 1),
            Key::Char('+') => self.zoom = self.zoom.saturating_sub(1),
            Key::Char('-') => self.zoom = (self.zoom + 1).min(ZOOMS.len() - 1),
            Key::Char(number @ '1'..='5') => self.page = PAGES[number as usize - '1' as usize].0,
            Key::Tab => self.page = PAGES[(self.page as usize + 1) % PAGES.len()].0,
            Key::Enter => self.go_down(),
            Key::Backspace => {
                self.go_up();
            }
            Key::Left => self.go_back(1),
            Key::Right => self.back = self.back.saturating_sub(self.samples_a_column()),
            Key::Up => self.go(-1),
            Key::Down => self.go(1),
            Key::PageUp => self.go(-self.room.max(1).cast_signed()),
            Key::PageDown => self.go(self.room.max(1).cast_signed()),
            Key::Home => self.go(isize::MIN),
            Key::End => self.go(isize::MAX),
            Key::Char(_) => {}
        }
        KeyCommand::Nothing
    }

    /// A key of a search. False if it means what it always means.
    fn type_in(&mut self, key: Key) -> bool {
        match key {
            Key::Char(sign) => self.search.push(sign),
            Key::Backspace => {
                self.search.pop();
            }
            Key::Enter => self.is_typing = false,
            Key::Escape => {
                self.is_typing = false;
                self.search.clear();
            }
            _ => return false,
        }
        self.cursor = self.cursor.map(|_| 0);
        true
    }

    /// Leaves what was opened last. False if nothing was.
    fn leave(&mut self) -> bool {
        if self.help {
            self.help = false;
        } else if !self.search.is_empty() {
            self.search.clear();
        } else {
            return self.go_up();
        }
        true
    }

    fn next_scope(&mut self) {
        self.steps.clear();
        self.scope = Some(match self.table() {
            RowTable::System => RowTable::Socket,
            RowTable::Socket => RowTable::Instance,
            RowTable::Instance | RowTable::Counter => RowTable::System,
        });
        self.cursor = self.cursor.map(|_| 0);
    }

    /// Into the row that the user has gone to: its sockets, its instances, their counters.
    fn go_down(&mut self) {
        let rows = self.rows();
        let Some(track) = rows.get(self.cursor.unwrap_or(0)) else { return };
        let cursor = self.cursor.unwrap_or(0);
        let (name, socket) = (Some(track.name.clone()), track.socket);
        let step = match self.table() {
            RowTable::System if self.sockets > 1 => {
                PathStep { table: RowTable::Socket, name, socket, instance: None, cursor }
            }
            RowTable::System | RowTable::Socket => {
                PathStep { table: RowTable::Instance, name, socket, instance: None, cursor }
            }
            RowTable::Instance => {
                PathStep { table: RowTable::Counter, name: None, socket, instance: track.instance.clone(), cursor }
            }
            RowTable::Counter => return,
        };
        self.steps.push(step);
        self.search.clear();
        self.cursor = Some(0);
    }

    /// Back to where the last step began. False if there was none.
    fn go_up(&mut self) -> bool {
        let Some(step) = self.steps.pop() else { return false };
        self.cursor = Some(step.cursor);
        true
    }

    /// Back in time; the display stands still from then on.
    fn go_back(&mut self, columns: usize) {
        if self.frozen.is_none() {
            self.frozen = Some(self.live.clone());
        }
        let first = self.shown().times.len().min(REMEMBERED).saturating_sub(1);
        self.back = (self.back + columns * self.samples_a_column()).min(first);
    }

    /// Forgets least, mean and most, also of a display that stands still.
    fn reset(&mut self) {
        std::iter::once(&mut self.live).chain(&mut self.frozen).for_each(View::reset);
    }

    /// Moves the cursor; the first move shows it where the table begins.
    fn go(&mut self, rows: isize) {
        self.map = None;
        let last = self.rows().len().saturating_sub(1);
        let from = match self.cursor {
            None if rows == 1 => return self.cursor = Some(0),
            cursor => cursor.unwrap_or(0),
        };
        self.cursor = Some(from.saturating_add_signed(rows).min(last));
    }
}

const fn table_of(scope: Scope) -> RowTable {
    match scope {
        Scope::System => RowTable::System,
        Scope::Socket => RowTable::Socket,
        Scope::Instance => RowTable::Instance,
    }
}
