//! What there is to show, and what the user wants to see of it.

use pericore_observe::results::Scope;
use pericore_report::Report;
use pericore_text::Paint;

use super::clock::TimeOfDay;
use super::keys::Key;
use super::track::Track;

/// All ways to add up, in the order in which a key goes through them.
pub const SCOPES: [Scope; 3] = [Scope::System, Scope::Socket, Scope::Instance];

/// How frames look on this terminal.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look {
    /// It shows more than ASCII.
    pub unicode: bool,
    /// Colours, or none.
    pub paint: Paint,
}

/// All rows at one moment.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// One table for each of [`SCOPES`].
    tables: [Vec<Track>; 3],
    /// Samples so far.
    pub samples: u64,
    /// When the last one was taken.
    pub at: Option<TimeOfDay>,
    /// Since when least, mean and most are kept.
    pub since: Option<TimeOfDay>,
}

/// What a key asks for, beside another picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Nothing else.
    Nothing,
    /// The end.
    End,
    /// The shell, for a while.
    Suspend,
}

/// Everything that a frame is made of.
#[derive(Debug)]
pub struct State {
    /// What is measured.
    pub title: String,
    /// Of which units fewer answer than there can be, a line for each.
    pub fewer: Vec<String>,
    /// Seconds between two samples.
    pub interval: f64,
    /// The terminal's.
    pub look: Look,
    /// The keys are explained.
    pub help: bool,
    /// The row that the user has gone to.
    pub cursor: Option<usize>,
    /// Rows on a page: whoever draws says it.
    pub page: usize,
    /// Index in [`SCOPES`]; none until it is known how many sockets there are.
    scope: Option<usize>,
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
            interval,
            look,
            help: false,
            cursor: None,
            page: 1,
            scope: scope.and_then(place_of),
            live: View::default(),
            frozen: None,
        }
    }

    /// Says what is measured. On several sockets each has its rows, unless the user wants it otherwise.
    pub fn name(&mut self, title: String, sockets: usize) {
        // That is understood here.
        self.title = title.strip_suffix(": system wide").map_or(title.clone(), str::to_owned);
        let usual = if sockets > 1 { Scope::Socket } else { Scope::System };
        self.scope = self.scope.or(place_of(usual));
    }

    /// Takes a sample: a report for each of [`SCOPES`].
    pub fn take(&mut self, reports: &[Report; 3], at: TimeOfDay) {
        for (table, report) in self.live.tables.iter_mut().zip(reports) {
            if table.is_empty() {
                *table = report.rows.iter().map(Track::new).collect();
            }
            // What takes part is the plan's, and does not change: rows keep their places.
            debug_assert_eq!(table.len(), report.rows.len());
            for (track, row) in table.iter_mut().zip(&report.rows) {
                track.take(row, at);
            }
        }
        self.live.samples += 1;
        self.live.at = Some(at);
        self.live.since.get_or_insert(at);
    }

    /// What is shown: the last sample, or that at which the display was paused.
    pub fn shown(&self) -> &View {
        self.frozen.as_ref().unwrap_or(&self.live)
    }

    /// True if the display stands still.
    pub const fn is_paused(&self) -> bool {
        self.frozen.is_some()
    }

    /// What numbers are added up over.
    pub fn scope(&self) -> Scope {
        SCOPES[self.table()]
    }

    fn table(&self) -> usize {
        self.scope.unwrap_or(0)
    }

    /// The rows to show, socket by socket.
    pub fn rows(&self) -> Vec<&Track> {
        let mut rows: Vec<&Track> = self.shown().tables[self.table()].iter().collect();
        rows.sort_by_key(|track| track.socket);
        rows
    }

    /// Does what a key stands for.
    pub fn press(&mut self, key: Key) -> Wish {
        match key {
            Key::Char('q' | 'Q') | Key::Escape | Key::Interrupt => return Wish::End,
            Key::Suspend => return Wish::Suspend,
            Key::Char('s') => {
                self.scope = Some((self.table() + 1) % SCOPES.len());
                self.cursor = self.cursor.map(|_| 0);
            }
            Key::Char(' ') => {
                self.frozen = match self.frozen {
                    Some(_) => None,
                    None => Some(self.live.clone()),
                }
            }
            Key::Char('r') => self.reset(),
            Key::Char('h' | '?') => self.help = !self.help,
            Key::Up => self.go(-1),
            Key::Down => self.go(1),
            Key::PageUp => self.go(-self.page.max(1).cast_signed()),
            Key::PageDown => self.go(self.page.max(1).cast_signed()),
            Key::Home => self.go(isize::MIN),
            Key::End => self.go(isize::MAX),
            Key::Char(_) => {}
        }
        Wish::Nothing
    }

    /// Forgets least, mean and most, also of a display that stands still.
    fn reset(&mut self) {
        for view in std::iter::once(&mut self.live).chain(&mut self.frozen) {
            view.tables.iter_mut().flatten().for_each(Track::reset);
            view.since = None;
        }
    }

    /// Moves the cursor; the first move shows it where the table begins.
    fn go(&mut self, rows: isize) {
        let last = self.shown().tables[self.table()].len().saturating_sub(1);
        let from = match self.cursor {
            None if rows == 1 => return self.cursor = Some(0),
            cursor => cursor.unwrap_or(0),
        };
        self.cursor = Some(from.saturating_add_signed(rows).min(last));
    }
}

fn place_of(scope: Scope) -> Option<usize> {
    SCOPES.iter().position(|&known| known == scope)
}
