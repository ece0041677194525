//! All rows at one moment.

use std::collections::VecDeque;

use pericore_catalog::SummaryFigure;
use pericore_observe::results::Scope;
use pericore_report::Report;

use crate::clock::TimeOfDay;
use crate::path::RowTable;
use crate::track::{REMEMBERED, Track};

/// All ways to add up, in the order in which a key goes through them.
pub const SCOPES: [Scope; 3] = [Scope::System, Scope::Socket, Scope::Instance];

/// The rows that samples have shown so far.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// By [`RowTable`].
    tables: [Vec<Track>; 4],
    /// Samples so far.
    pub samples: u64,
    /// When the last ones were taken, the newest at the end.
    pub times: VecDeque<TimeOfDay>,
    /// Since when least, mean and most are kept.
    pub since: Option<TimeOfDay>,
    /// The figures that matter most.
    pub summary: &'static [SummaryFigure],
}

impl View {
    /// Takes a sample: a report for each of [`SCOPES`], and one of the counters.
    pub fn take(&mut self, reports: [&Report; 4], at: TimeOfDay) {
        for (table, report) in self.tables.iter_mut().zip(reports) {
            if table.is_empty() {
                *table = report.rows.iter().map(Track::new).collect();
            }
            // What takes part is the plan's, and does not change: rows keep their places.
            debug_assert_eq!(table.len(), report.rows.len());
            for (track, row) in table.iter_mut().zip(&report.rows) {
                track.take(row, at);
            }
        }
        self.summary = reports[0].summary;
        self.samples += 1;
        if self.times.len() == REMEMBERED {
            self.times.pop_front();
        }
        self.times.push_back(at);
        self.since.get_or_insert(at);
    }

    /// The rows of a table.
    pub const fn table(&self, table: RowTable) -> &Vec<Track> {
        &self.tables[table as usize]
    }

    /// Forgets least, mean and most.
    pub fn reset(&mut self) {
        self.tables.iter_mut().flatten().for_each(Track::reset);
        self.since = None;
    }

    /// When the sample was taken that lies so many before the last.
    pub fn at(&self, back: usize) -> Option<TimeOfDay> {
        self.times.iter().rev().nth(back).copied()
    }
}
