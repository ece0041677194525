//! Rows over time, in no more buckets than a page has room for.

use pericore_metrics::{Grade, UnitOfMeasure};

use crate::row::{NO_NUMBER, Place, Report, Row, mark};

/// Samples that have room one by one, and how many times the room is there for longer recordings.
const SHORT: usize = 3600;
const MOST_ROOM: usize = 4;

/// Fewer buckets than this tell nothing of the time.
pub(super) const FEWEST: usize = 16;

/// Numbers that a bucket of several samples has: mean, least, most.
const OF_BUCKET: usize = 3;

/// The rows of all samples so far. When there are more buckets than there is room for, each two become one.
#[derive(Debug)]
pub struct Timeline {
    /// Numbers that there is room for, in a recording that is short.
    room: usize,
    /// Start of the first sample, in seconds.
    pub begin: f64,
    /// Ends of the buckets, in seconds.
    pub ends: Vec<f64>,
    /// One for each row.
    pub rows: Vec<BucketRow>,
    /// Samples in each bucket but the last.
    pub in_bucket: usize,
    in_last: usize,
    samples: usize,
}

/// A row of the report, through time.
#[derive(Debug, Clone)]
pub struct BucketRow {
    /// Event or metric.
    pub name: String,
    /// Where it was counted, unless everything was added up.
    pub place: Option<Place>,
    /// Of a count, which is shown as a rate, that of rates.
    pub unit: UnitOfMeasure,
    /// One for each end.
    pub buckets: Vec<Bucket>,
}

/// A row's numbers in some samples.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bucket {
    weighted: f64,
    weight: f64,
    sum: f64,
    samples: usize,
    numbers: usize,
    extremes: Option<(f64, f64)>,
    worst: Option<Grade>,
}

impl Timeline {
    /// With room for so many numbers of a recording of an hour at a sample a second.
    pub const fn with_room(room: usize) -> Self {
        Self { room, begin: 0.0, ends: Vec::new(), rows: Vec::new(), in_bucket: 1, in_last: 0, samples: 0 }
    }

    /// Adds a sample's report.
    pub fn add(&mut self, report: &Report) {
        let end = report.interval_end.unwrap_or(report.seconds);
        if self.ends.is_empty() {
            self.begin = (end - report.seconds).max(0.0);
            self.rows = report.rows.iter().map(BucketRow::of).collect();
        }
        match self.ends.last_mut().filter(|_| self.in_last < self.in_bucket) {
            Some(last) => *last = end,
            None => {
                self.ends.push(end);
                self.rows.iter_mut().for_each(|row| row.buckets.push(Bucket::default()));
                self.in_last = 0;
            }
        }
        self.in_last += 1;
        self.samples += 1;
        for (known, row) in self.rows.iter_mut().zip(&report.rows) {
            if let Some(bucket) = known.buckets.last_mut() {
                bucket.add(row);
            }
        }
        while self.ends.len() > self.most_buckets() {
            self.halve();
        }
    }

    /// As many as there is room for. What is longer than usual has more of it, within bounds.
    fn most_buckets(&self) -> usize {
        let room = self.room * self.samples.clamp(SHORT, MOST_ROOM * SHORT) / SHORT;
        let of_bucket = if self.in_bucket > 1 { OF_BUCKET } else { 1 };
        (room / of_bucket / self.rows.len().max(1)).max(FEWEST)
    }

    fn halve(&mut self) {
        let is_even = self.ends.len().is_multiple_of(2);
        self.ends = self.ends.chunks(2).filter_map(|pair| pair.last().copied()).collect();
        for row in &mut self.rows {
            let pairs = row.buckets.chunks(2);
            row.buckets = pairs.filter_map(|pair| pair.iter().copied().reduce(Bucket::and)).collect();
        }
        if is_even {
            self.in_last += self.in_bucket;
        }
        self.in_bucket *= 2;
    }
}

impl BucketRow {
    pub(super) fn of(row: &Row) -> Self {
        Self {
            name: row.name.clone(),
            place: row.place.clone(),
            unit: row.unit_of_measure.unwrap_or(UnitOfMeasure::PerSecond),
            buckets: Vec::new(),
        }
    }

    /// The number furthest from 0.
    pub fn largest(&self) -> f64 {
        let ends = self.buckets.iter().filter_map(Bucket::extremes).flat_map(|(least, most)| [least.abs(), most.abs()]);
        ends.fold(0.0, f64::max)
    }
}

impl Bucket {
    pub(super) fn add(&mut self, row: &Row) {
        self.samples += 1;
        let Some(number) = row.value.number() else { return };
        let number = match row.unit_of_measure {
            Some(_) => number,
            None if row.seconds > 0.0 => number / row.seconds,
            None => return,
        };
        self.numbers += 1;
        self.sum += number;
        self.weighted += number * row.weight();
        self.weight += row.weight();
        let (least, most) = self.extremes.unwrap_or((number, number));
        self.extremes = Some((least.min(number), most.max(number)));
        self.worst = self.worst.max(Some(row.value.validity().grade()));
    }

    fn and(self, later: Self) -> Self {
        let extremes = match (self.extremes, later.extremes) {
            (Some((least, most)), Some((other_least, other_most))) => {
                Some((least.min(other_least), most.max(other_most)))
            }
            (one, other) => one.or(other),
        };
        Self {
            weighted: self.weighted + later.weighted,
            weight: self.weight + later.weight,
            sum: self.sum + later.sum,
            samples: self.samples + later.samples,
            numbers: self.numbers + later.numbers,
            extremes,
            worst: self.worst.max(later.worst),
        }
    }

    /// True before the first sample.
    pub(super) const fn is_empty(&self) -> bool {
        self.samples == 0
    }

    /// Each sample weighs as much as its time, or, of a quotient of counts, as much as its denominator.
    pub fn mean(&self) -> Option<f64> {
        let mean = if self.weight > 0.0 { self.weighted / self.weight } else { self.sum / self.numbers as f64 };
        Some(mean).filter(|mean| self.numbers > 0 && mean.is_finite())
    }

    /// Least and most.
    pub fn extremes(&self) -> Option<(f64, f64)> {
        self.extremes.filter(|(least, most)| least.is_finite() && most.is_finite())
    }

    /// The mark of the worst sample. Where some have no number, the mean is not that of all.
    pub fn mark(&self) -> char {
        match self.worst.filter(|_| self.mean().is_some()) {
            None => NO_NUMBER,
            Some(worst) if self.numbers < self.samples => mark(worst.max(Grade::Suspect)),
            Some(worst) => mark(worst),
        }
    }
}

#[cfg(test)]
mod tests;
