//! The newest samples, as an open page of a server shows them: the last hour, in bounded memory.

use std::collections::VecDeque;

use super::drawn::Drawn;
use super::timeline::{Bucket, BucketRow, FEWEST};
use crate::row::Report;

/// Seconds that are kept.
const SPAN: f64 = 3600.0;

/// Numbers of an hour that there is room for, in rows of all together, and of instances: less than 4 MB.
const ROOM: (usize, usize) = (90_000, 120_000);

/// The last hour's rows of all together and of instances, over time.
#[derive(Debug)]
pub struct LiveCurves {
    pub(super) all: RecentRows,
    pub(super) units: RecentRows,
    /// Samples since the start.
    pub(super) samples: u64,
}

/// What a page shows beside the curves.
#[derive(Debug, Clone, Copy)]
pub struct Newest<'a> {
    /// Machine and workload.
    pub title: &'a str,
    /// The software machine, if it is one.
    pub emulated: Option<&'a str>,
    /// The machine's name.
    pub host: Option<&'a str>,
    /// When the server began, in seconds since the epoch.
    pub began: f64,
    /// Seconds between samples, when all is well.
    pub due: f64,
    /// The newest sample's rows of all together.
    pub report: &'a Report,
}

/// Rows over the last hour, in buckets of so many samples that there is room for the hour.
#[derive(Debug)]
pub(super) struct RecentRows {
    room: usize,
    /// Samples of an hour when all is well.
    of_hour: usize,
    /// Buckets at most.
    most: usize,
    /// Samples in each bucket.
    pub in_bucket: usize,
    /// Number of the oldest bucket that is kept, counted from the start.
    pub oldest: u64,
    /// Start of the oldest bucket, in seconds since the start of the measurement.
    pub begin: f64,
    /// Ends of the buckets that are whole, and of the newest one if it is not.
    ends: VecDeque<f64>,
    /// Samples in the newest bucket; 0 when it is whole.
    in_newest: usize,
    /// One for each row.
    pub rows: Vec<RecentRow>,
}

/// A row over the last hour.
#[derive(Debug)]
pub(super) struct RecentRow {
    /// What it is; its own buckets are not used.
    pub row: BucketRow,
    /// One for each bucket that is whole.
    points: VecDeque<Point>,
    /// The newest samples, until they fill a bucket.
    newest: Bucket,
}

/// What is kept of a bucket: seven digits, of which a page shows four. NaN is no number.
#[derive(Debug, Clone, Copy)]
struct Point {
    mean: f32,
    least: f32,
    most: f32,
    mark: char,
}

impl LiveCurves {
    /// Of samples that are due every so many seconds.
    pub fn of_interval(seconds: f64) -> Self {
        let of_hour = (SPAN / seconds).ceil().max(1.0) as usize;
        Self { all: RecentRows::with_room(ROOM.0, of_hour), units: RecentRows::with_room(ROOM.1, of_hour), samples: 0 }
    }

    /// Samples since the start.
    pub const fn samples(&self) -> u64 {
        self.samples
    }

    /// Adds a sample that ended so many seconds after the start: its rows of all together, and of instances.
    pub fn add(&mut self, end: f64, all: &Report, units: &Report) {
        self.samples += 1;
        self.all.add(end, all);
        self.units.add(end, units);
    }
}

impl RecentRows {
    const fn with_room(room: usize, of_hour: usize) -> Self {
        let rows = Vec::new();
        let ends = VecDeque::new();
        Self { room, of_hour, most: 0, in_bucket: 1, oldest: 0, begin: 0.0, ends, in_newest: 0, rows }
    }

    fn add(&mut self, end: f64, report: &Report) {
        if self.rows.is_empty() {
            let room = (self.room / report.rows.len().max(1)).max(FEWEST);
            self.in_bucket = self.of_hour.div_ceil(room);
            self.most = self.of_hour.div_ceil(self.in_bucket);
            self.begin = (end - report.seconds).max(0.0);
            self.rows = report.rows.iter().map(|row| RecentRow::of(BucketRow::of(row))).collect();
        }
        match self.ends.back_mut().filter(|_| self.in_newest > 0) {
            Some(newest) => *newest = end,
            None => self.ends.push_back(end),
        }
        for (known, row) in self.rows.iter_mut().zip(&report.rows) {
            known.newest.add(row);
        }
        self.in_newest += 1;
        if self.in_newest == self.in_bucket {
            self.in_newest = 0;
            self.rows.iter_mut().for_each(RecentRow::close);
        }
        while self.ends.len() > self.most || self.ends.front().is_some_and(|oldest| *oldest < end - SPAN) {
            self.forget();
        }
    }

    /// Drops the oldest bucket, unless it is the one that is being filled.
    fn forget(&mut self) {
        let Some(end) = self.ends.pop_front() else { return };
        (self.begin, self.oldest) = (end, self.oldest + 1);
        for row in &mut self.rows {
            row.points.pop_front();
        }
    }

    /// Where the bucket is that a sample went into, counted from the oldest that is kept, and the ends from there on.
    pub fn ends_from(&self, sample: u64) -> (usize, Vec<f64>) {
        let bucket = sample / self.in_bucket as u64;
        let first = usize::try_from(bucket.saturating_sub(self.oldest)).unwrap_or(usize::MAX).min(self.ends.len());
        (first, self.ends.iter().skip(first).copied().collect())
    }
}

impl RecentRow {
    fn of(row: BucketRow) -> Self {
        Self { row, points: VecDeque::new(), newest: Bucket::default() }
    }

    fn close(&mut self) {
        let drawn = Drawn::from(&std::mem::take(&mut self.newest));
        self.points.push_back(Point::of(drawn));
    }

    /// What is drawn from a bucket on, counted from the oldest that is kept.
    pub fn drawn_from(&self, first: usize) -> Vec<Drawn> {
        let newest = Some(&self.newest).filter(|newest| !newest.is_empty());
        let all = self.points.iter().map(|point| point.drawn()).chain(newest.map(Drawn::from));
        all.skip(first).collect()
    }

    /// The number furthest from 0.
    pub fn largest(&self) -> f64 {
        let newest = Point::of(Drawn::from(&self.newest));
        let points = self.points.iter().chain([&newest]);
        // The other of NaN and a number is the number.
        f64::from(points.fold(0.0, |most: f32, point| most.max(point.least.abs()).max(point.most.abs())))
    }
}

impl Point {
    fn of(drawn: Drawn) -> Self {
        let short = |number: Option<f64>| number.map_or(f32::NAN, |number| number as f32);
        let (least, most) = drawn.extremes.unzip();
        Self { mean: short(drawn.mean), least: short(least), most: short(most), mark: drawn.mark }
    }

    fn drawn(self) -> Drawn {
        let long = |number: f32| Some(f64::from(number)).filter(|number| number.is_finite());
        Drawn { mean: long(self.mean), extremes: long(self.least).zip(long(self.most)), mark: self.mark }
    }
}

#[cfg(test)]
mod tests;
