//! What a row has shown so far.

use std::collections::VecDeque;

use pericore_catalog::Limit;
use pericore_metrics::{Grade, UnitOfMeasure, Validity, Value};
use pericore_report::{Row, figures};

use crate::clock::TimeOfDay;
use crate::picture::figures::Scale;

/// Most samples that are remembered one by one.
pub const REMEMBERED: usize = 600;

/// A row through time.
#[derive(Debug, Clone)]
pub struct Track {
    /// Socket or instance, and the event or metric.
    pub label: String,
    /// The event or metric.
    pub name: String,
    /// The instance, if rows are by instance.
    pub instance: Option<String>,
    /// The socket, unless everything is added up.
    pub socket: Option<u16>,
    unit: UnitOfMeasure,
    /// The last sample's number.
    pub now: Value,
    /// For a scaled number how precise it is, in words.
    pub precision: Option<String>,
    /// The last samples, the newest at the end; nothing for one without a number.
    pub recent: VecDeque<Option<f64>>,
    /// How far they can be trusted.
    grades: VecDeque<Grade>,
    /// The least number, unless there was none.
    pub least: Option<Extreme>,
    /// The greatest.
    pub most: Option<Extreme>,
    sum: f64,
    weight: f64,
    /// Samples since the last reset.
    pub samples: u64,
    /// Those of them that had a number.
    pub numbers: u64,
    worst: Grade,
    limit: Option<Limit>,
}

/// A number further out than all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extreme {
    /// In the row's unit of measure.
    pub number: f64,
    /// How far it can be trusted.
    pub grade: Grade,
    /// When the sample was taken.
    pub at: TimeOfDay,
}

impl Track {
    /// Of a row that has shown nothing yet.
    pub fn new(row: &Row) -> Self {
        let place = row.place.as_ref();
        let label = place.map_or_else(|| row.name.clone(), |place| format!("{place} {}", row.name));
        Self {
            // A name is the user's own: it must not move the cursor about.
            label: label.replace(char::is_control, "?"),
            name: row.name.replace(char::is_control, "?"),
            instance: place.and_then(|place| place.instance.clone()),
            socket: place.map(|place| place.socket),
            unit: row.unit_of_measure.unwrap_or(UnitOfMeasure::PerSecond),
            now: Value::missing(Validity::MEASURED),
            precision: None,
            recent: VecDeque::new(),
            grades: VecDeque::new(),
            least: None,
            most: None,
            sum: 0.0,
            weight: 0.0,
            samples: 0,
            numbers: 0,
            worst: Grade::Measured,
            limit: row.limit,
        }
    }

    /// Takes a sample. An event's count becomes a rate.
    pub fn take(&mut self, row: &Row, at: TimeOfDay) {
        let seconds = row.seconds;
        self.now = if row.unit_of_measure.is_some() { row.value.clone() } else { rate(&row.value, seconds) };
        self.precision = figures::precision(row);
        let number = self.now.number();
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
            self.grades.pop_front();
        }
        self.recent.push_back(number);
        self.grades.push_back(self.now.validity().grade());
        self.samples += 1;
        let Some(number) = number else { return };
        let grade = self.now.validity().grade();
        let here = Extreme { number, grade, at };
        if self.least.is_none_or(|least| number < least.number) {
            self.least = Some(here);
        }
        if self.most.is_none_or(|most| number > most.number) {
            self.most = Some(here);
        }
        self.numbers += 1;
        self.sum += number * row.weight();
        self.weight += row.weight();
        self.worst = self.worst.max(grade);
    }

    /// What its numbers are measured in; a count is shown as a rate.
    pub const fn unit(&self) -> UnitOfMeasure {
        self.unit
    }

    /// The share from which on it tells a limit, if it is one.
    pub fn limit(&self) -> Option<f64> {
        self.limit.map(|limit| f64::from(limit.above) / 100.0)
    }

    /// The number so many samples before the last, and how far it can be trusted.
    pub fn past(&self, back: usize) -> Option<(f64, Grade)> {
        Some((self.recent.iter().rev().nth(back).copied().flatten()?, self.past_grade(back)))
    }

    /// How far it can be trusted that there is that number, or none.
    pub fn past_grade(&self, back: usize) -> Grade {
        self.grades.iter().rev().nth(back).copied().unwrap_or(Grade::Measured)
    }

    /// What it means that the last number is above the row's limit, if it is.
    pub fn reached(&self) -> Option<String> {
        let limit = self.limit.filter(|limit| self.now.number().is_some_and(|share| limit.is_reached(share)))?;
        Some(format!("above {} %: {}", limit.above, limit.means))
    }

    /// Forgets least, most and mean; what was shown one by one stays.
    pub fn reset(&mut self) {
        (self.least, self.most) = (None, None);
        (self.sum, self.weight) = (0.0, 0.0);
        (self.samples, self.numbers) = (0, 0);
        self.worst = Grade::Measured;
    }

    /// The mean over time of all samples that had a number; quotients weigh as much as their denominators. One without
    /// a number makes it doubtful: it is not the mean of all.
    pub fn mean(&self) -> Option<(f64, Grade)> {
        let worst = if self.numbers < self.samples { self.worst.max(Grade::Suspect) } else { self.worst };
        (self.weight > 0.0).then(|| (self.sum / self.weight, worst))
    }

    /// How numbers of its kind are written if none is greater than this.
    pub fn scale_of(&self, greatest: f64) -> Scale {
        Scale::of(self.unit, greatest)
    }

    /// How its numbers are written.
    pub fn scale(&self) -> Scale {
        let ends = [self.least, self.most].into_iter().flatten().map(|extreme| extreme.number);
        let all = ends.chain(self.now.number());
        Scale::of(self.unit, all.max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0))
    }
}

/// A count a second.
fn rate(count: &Value, seconds: f64) -> Value {
    let validity = count.validity().clone();
    match count.number() {
        None => count.clone(),
        Some(number) if seconds > 0.0 => Value::new(number / seconds, validity),
        Some(_) => Value::missing(validity.and(&Validity::not_defined("no time has passed"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: Value, seconds: f64) -> Row {
        let name = "imc/X\x1b[2J/".to_owned();
        Row {
            name,
            place: None,
            value,
            seconds,
            unit_of_measure: None,
            standard_error: None,
            spread: None,
            interval: None,
            requested: None,
            truth: None,
            limit: None,
            nature: pericore_report::Nature::default(),
            answering: None,
            through: None,
        }
    }

    fn at(second: i32) -> TimeOfDay {
        TimeOfDay { second, ..TimeOfDay::default() }
    }

    fn none() -> Value {
        Value::missing(Validity::unreadable("imc0", "reads as all ones"))
    }

    /// A latency of 10 cycles over 30 requests, then of 90 over 10: the mean of the requests is 30.
    #[test]
    fn a_quotients_mean_is_weighted_by_its_denominator() {
        let latency = |cycles: f64, requests: f64| {
            let mut row = row(Value::measured(cycles), 1.0);
            row.unit_of_measure = Some(UnitOfMeasure::Cycles);
            row.nature.weight = Some(requests);
            row
        };
        let mut track = Track::new(&latency(0.0, 0.0));
        track.take(&latency(10.0, 30.0), at(0));
        track.take(&latency(90.0, 10.0), at(1));
        assert_eq!(track.mean(), Some((30.0, Grade::Measured)));
    }

    /// 100 in 1 s, 600 in 2 s, then 50 in 1 s: rates 100, 300 and 50, and 750 in 4 s.
    #[test]
    fn rates_and_their_ends_and_mean() {
        let mut track = Track::new(&row(Value::measured(0.0), 1.0));
        for (second, (count, seconds)) in [(100.0, 1.0), (600.0, 2.0), (50.0, 1.0)].into_iter().enumerate() {
            track.take(&row(Value::measured(count), seconds), at(i32::try_from(second).unwrap()));
        }
        assert_eq!(track.now.number(), Some(50.0));
        assert_eq!(track.most, Some(Extreme { number: 300.0, grade: Grade::Measured, at: at(1) }));
        assert_eq!(track.least, Some(Extreme { number: 50.0, grade: Grade::Measured, at: at(2) }));
        assert_eq!(track.mean(), Some((187.5, Grade::Measured)));
        assert_eq!(track.recent, [Some(100.0), Some(300.0), Some(50.0)]);
        assert_eq!(track.label, "imc/X?[2J/");
        track.reset();
        assert_eq!((track.least, track.most, track.mean()), (None, None, None));
        assert_eq!(track.recent.len(), 3);
    }

    #[test]
    fn a_sample_without_a_number_is_none_and_casts_doubt_on_the_mean() {
        let mut track = Track::new(&row(none(), 1.0));
        track.take(&row(none(), 1.0), at(0));
        assert_eq!((track.now.number(), track.mean(), track.most), (None, None, None));
        track.take(&row(Value::measured(10.0), 1.0), at(1));
        assert_eq!(track.mean(), Some((10.0, Grade::Suspect)));
        assert_eq!(track.recent, [None, Some(10.0)]);
        track.take(&row(Value::measured(10.0), 0.0), at(2));
        assert_eq!(track.now.number(), None);
        assert_eq!(track.now.validity().to_string(), "not defined: no time has passed");
    }

    #[test]
    fn doubt_stays_with_what_it_belongs_to() {
        let mut track = Track::new(&row(none(), 1.0));
        track.take(&row(Value::new(10.0, Validity::scaled(0.5)), 1.0), at(0));
        track.take(&row(Value::measured(5.0), 1.0), at(1));
        assert_eq!((track.most.unwrap().grade, track.least.unwrap().grade), (Grade::Scaled, Grade::Measured));
        assert_eq!(track.mean(), Some((7.5, Grade::Scaled)));
    }

    #[test]
    fn memory_is_bounded() {
        let mut track = Track::new(&row(none(), 1.0));
        for count in 0..1000_i32 {
            track.take(&row(Value::measured(count.into()), 1.0), at(0));
        }
        assert_eq!((track.recent.len(), track.recent.back(), track.samples), (REMEMBERED, Some(&Some(999.0)), 1000));
    }
}
