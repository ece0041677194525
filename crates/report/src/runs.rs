//! `-r`: several runs of the same, shown as one with means and how far the runs lie apart.

use pericore_metrics::{Validity, Value};

use crate::row::{Report, Row};

/// The reports of all runs so far.
#[derive(Debug)]
pub struct Runs {
    wanted: u32,
    reports: Vec<Report>,
}

impl Runs {
    /// For so many runs.
    pub const fn new(wanted: u32) -> Self {
        Self { wanted, reports: Vec::new() }
    }

    /// True if there is more than one run.
    pub const fn are_several(&self) -> bool {
        self.wanted > 1
    }

    /// True if a run has been kept already.
    pub const fn have_any(&self) -> bool {
        !self.reports.is_empty()
    }

    /// Takes a run's report; gives it back at once if it is to be printed for itself.
    pub fn take(&mut self, report: Report) -> Option<Report> {
        if !self.are_several() {
            return Some(report);
        }
        self.reports.push(report);
        None
    }

    /// The report of each run.
    pub fn each(&self) -> &[Report] {
        &self.reports
    }

    /// One report of all runs that came about; nothing if they were printed already.
    pub fn finish(&self) -> Option<Report> {
        let first = self.reports.first()?;
        let runs = self.reports.len();
        let seconds = mean(self.reports.iter().map(|report| report.seconds), runs);
        let row = |index: usize| {
            let rows: Vec<&Row> = self.reports.iter().filter_map(|report| report.rows.get(index)).collect();
            together(&first.rows[index], &rows)
        };
        let rows = (0..first.rows.len()).map(row).collect();
        let stood = self.reports.iter().any(|report| report.stood);
        Some(Report {
            interval_end: None,
            is_summary: false,
            seconds,
            stood,
            paused: mean(self.reports.iter().map(|report| report.paused), runs),
            is_withdrawn: false,
            runs: Some(runs),
            rows,
            summary: first.summary,
            floorplan: first.floorplan,
        })
    }
}

fn mean(numbers: impl Iterator<Item = f64>, count: usize) -> f64 {
    numbers.sum::<f64>() / count.max(1) as f64
}

/// A row over all runs. Without a number in one of them there is none: a mean of the others would be of other runs.
fn together(first: &Row, rows: &[&Row]) -> Row {
    let validity = rows.iter().fold(Validity::MEASURED, |validity, row| validity.and(row.value.validity()));
    let numbers: Option<Vec<f64>> = rows.iter().map(|row| row.value.number()).collect();
    let truths: Option<Vec<f64>> = rows.iter().map(|row| row.truth).collect();
    let average = |numbers: &[f64]| mean(numbers.iter().copied(), numbers.len());
    let value = match &numbers {
        Some(numbers) => Value::new(average(numbers), validity),
        None => Value::missing(validity),
    };
    Row {
        name: first.name.clone(),
        place: first.place.clone(),
        value,
        seconds: mean(rows.iter().map(|row| row.seconds), rows.len()),
        unit_of_measure: first.unit_of_measure,
        standard_error: None,
        spread: numbers.as_deref().and_then(spread),
        interval: None,
        requested: None,
        truth: truths.as_deref().map(average),
        limit: first.limit,
        nature: first.nature,
        answering: first.answering,
        through: first.through,
    }
}

/// The standard error of the mean, as a share of it; nothing for a single run or a mean of 0.
fn spread(numbers: &[f64]) -> Option<f64> {
    let count = numbers.len() as f64;
    let mean = mean(numbers.iter().copied(), numbers.len());
    if numbers.len() < 2 || mean == 0.0 {
        return None;
    }
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    Some((squares / (count - 1.0) / count).sqrt() / mean.abs())
}

#[cfg(test)]
mod tests {
    use pericore_metrics::Grade;

    use super::*;

    fn report(counts: [Option<f64>; 2], seconds: f64) -> Report {
        let row = |count: Option<f64>| {
            let value = count.map_or_else(|| Value::missing(Validity::not_defined("no turn")), Value::measured);
            Row { seconds, truth: count, ..Row::named("x", value) }
        };
        Report { seconds, ..Report::of(counts.map(row).into()) }
    }

    #[test]
    fn one_run_is_printed_as_it_is() {
        let mut runs = Runs::new(1);
        let shown = runs.take(report([Some(3.0), None], 1.0)).unwrap();
        assert_eq!((shown.rows[0].value.number(), shown.runs), (Some(3.0), None));
        assert!(runs.finish().is_none());
    }

    /// 90, 100 and 110: mean 100, deviation 10, standard error of the mean 10 / sqrt(3).
    #[test]
    fn several_runs_have_a_mean_and_a_spread() {
        let mut runs = Runs::new(3);
        for (count, other) in [(90.0, Some(5.0)), (100.0, None), (110.0, Some(5.0))] {
            assert!(runs.take(report([Some(count), other], 2.0)).is_none());
        }
        let shown = runs.finish().unwrap();
        assert_eq!((shown.runs, shown.seconds), (Some(3), 2.0));
        let row = &shown.rows[0];
        assert_eq!((row.value.number(), row.truth), (Some(100.0), Some(100.0)));
        assert!((row.spread.unwrap() - 0.1 / 3_f64.sqrt()).abs() < 1e-12);
        assert_eq!((shown.rows[1].value.number(), shown.rows[1].spread), (None, None));
        assert_eq!(spread(&[7.0]), None);
        assert_eq!(spread(&[0.0, 0.0]), None);
    }

    /// One of three runs was counted for half of its time, or another tool has changed a control in it: so it is said
    /// of the mean.
    #[test]
    fn a_mean_is_as_doubtful_as_each_of_its_runs() {
        let shown = |validities: [Validity; 3]| {
            let mut runs = Runs::new(3);
            for validity in validities {
                let mut one = report([Some(8.0), None], 1.0);
                one.rows[0].value = Value::new(8.0, validity);
                assert!(runs.take(one).is_none());
            }
            let value = &runs.finish().unwrap().rows[0].value;
            (value.number(), value.validity().grade(), value.validity().to_string())
        };
        let whole = || Validity::MEASURED;
        assert_eq!(shown([whole(), whole(), whole()]), (Some(8.0), Grade::Measured, "measured".to_owned()));
        let (number, grade, text) = shown([whole(), Validity::scaled(0.5), Validity::scaled(0.25)]);
        assert_eq!((number, grade), (Some(8.0), Grade::Scaled));
        assert!(text.contains("25"), "the least of the shares: {text}");
        let (number, grade, text) = shown([whole(), whole(), Validity::suspect("someone else changed ctl1")]);
        assert_eq!((number, grade), (Some(8.0), Grade::Suspect));
        assert!(text.contains("someone else changed ctl1"), "{text}");
    }
}
