//! `--events FILE`: Intel's public event files, read at run time.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use pericore_catalog::event_file::{
    EventFile, FileEvent, FileMetric, MAX_BYTES, Problem, Replaced, RowProblem, overlay, with_metrics,
};
use pericore_catalog::kernel::{family_of_file, family_of_names};
use pericore_catalog::{Family, lasting};

use crate::failure::Failure;
use crate::input;
use crate::notice;
use crate::refused_file;
use crate::terminal::counter_list;

/// Rows of a kind that are told one by one.
const SHOWN: usize = 6;

/// The option, for commands that look events up.
#[derive(Debug, Clone, Default, Args)]
pub struct EventFilesArg {
    /// Also take events and metrics from an Intel event file (JSON, github.com/intel/perfmon)
    #[arg(long = "events", value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl EventFilesArg {
    /// The files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }
}

/// A family, with the files' events in it.
#[derive(Debug)]
pub struct Extended {
    /// The family to look things up in: the built-in one if there are no files.
    pub family: &'static Family,
    /// The files' metrics that cannot be evaluated, with the file's name. They are listed only.
    pub metrics: Vec<(String, FileMetric<'static>)>,
    /// Built-in rows that the files' take the place of, with the file's name.
    pub replaced: Vec<(String, Replaced)>,
    /// Rows that cannot be used, with the file's name.
    pub problems: Vec<(String, RowProblem)>,
}

impl EventFilesArg {
    /// These files.
    pub fn of(files: &[PathBuf]) -> Self {
        Self { files: files.to_vec() }
    }

    /// True if no file is given.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The files as the user named them.
    pub fn names(&self) -> Vec<String> {
        self.files.iter().map(|path| path.display().to_string()).collect()
    }

    /// The refusal of an unknown family, with a word on what a file cannot do.
    pub fn on_unknown_family(&self, refusal: Failure) -> Failure {
        if self.is_empty() {
            return refusal;
        }
        refusal.with_advice("an event file adds events to a family that pericore knows; it cannot add a family")
    }

    /// The family with all files' events. What cannot be used is said on stderr.
    ///
    /// # Errors
    /// A file that cannot be read or is no event file, or that has nothing for the family.
    pub fn extend(&self, family: &'static Family) -> Result<Extended, Failure> {
        let mut extended = Extended { family, metrics: Vec::new(), replaced: Vec::new(), problems: Vec::new() };
        let mut metrics: Vec<(String, Vec<FileMetric<'static>>)> = Vec::new();
        for path in &self.files {
            let fail = |problem: String| Failure::failed(format!("event file {}: {problem}", path.display()));
            let text = read(path, fail)?;
            // Metrics that cannot be evaluated refer to it until they are listed.
            let text = lasting().text(&text);
            let file = EventFile::parse(text, extended.family).map_err(|error| fail(error.to_string()))?;
            let name =
                path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
            let of_header = family_of_file(file.header.as_deref(), &name);
            // A file without a header, under another name, is known by the names in it.
            let made_for = of_header.or_else(|| family_of_names(family, &names_in(&file)));
            if let Some(other) = made_for.filter(|other| other.name != family.name) {
                let other = other.name;
                return Err(fail(format!("it is for {other}, not for {}; add --machine {other}", family.name)));
            }
            if file.events.is_empty() && file.metrics.is_empty() {
                let first =
                    file.problems.first().map_or_else(String::new, |problem| format!("; the first row: {problem}"));
                return Err(fail(format!("nothing in it is for {}{first}", family.name)));
            }
            let merged = overlay(lasting(), extended.family, &file, &name);
            extended.family = merged.family;
            let mut problems = file.problems;
            problems.extend(merged.problems);
            problems.sort_by_key(|problem| problem.line);
            report_replaced(&name, &merged.replaced);
            report(&name, &problems);
            extended.problems.extend(problems.into_iter().map(|row| (name.clone(), row)));
            extended.replaced.extend(merged.replaced.into_iter().map(|row| (name.clone(), row)));
            metrics.push((name, file.metrics));
        }
        // After all events: the file with a metric's events may come behind the file with the metric.
        for (name, metrics) in metrics {
            let merged = with_metrics(lasting(), extended.family, &metrics, &name);
            extended.family = merged.family;
            report(&name, &merged.problems);
            let is_left = |metric: &FileMetric<'_>| merged.problems.iter().any(|problem| problem.line == metric.line);
            extended.metrics.extend(metrics.into_iter().filter(is_left).map(|metric| (name.clone(), metric)));
        }
        Ok(extended)
    }
}

/// Intel's names of the events that a file has, as they are there; of those that the family cannot count, too.
fn names_in(file: &EventFile<'_>) -> HashSet<String> {
    let full = |event: &FileEvent<'_>| {
        let subevent = event.subevent.as_ref().map_or_else(String::new, |name| format!(".{name}"));
        format!("{}{}{subevent}", event.unit.intel_prefix.unwrap_or(""), event.event)
    };
    let unusable = file.problems.iter().map(|problem| problem.name.clone()).filter(|name| name.starts_with("UNC_"));
    file.events.iter().map(full).chain(unusable).collect()
}

/// The file's text, or what is wrong with it.
fn read(path: &Path, fail: impl Fn(String) -> Failure) -> Result<String, Failure> {
    let refuse = |error| Failure::failed(refused_file::reading(path, &error));
    let file = input::open(path).map_err(refuse)?;
    let mut bytes = Vec::new();
    // One byte more than is allowed tells a file that is too large, even one that never ends.
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(refuse)?;
    if bytes.len() > MAX_BYTES {
        return Err(fail(format!("it has more than {} MB; is it an event file?", MAX_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..place].iter().filter(|byte| **byte == b'\n').count() + 1;
        fail(format!("line {line}: not UTF-8 text"))
    })
}

/// Says which built-in rows the file's take the place of.
fn report_replaced(name: &str, replaced: &[Replaced]) {
    let (configs, counters): (Vec<&Replaced>, Vec<&Replaced>) =
        replaced.iter().partition(|row| row.built_in.0 != row.file.0);
    for row in configs.iter().take(SHOWN) {
        notice::warn(format!(
            "{name}:{}: {} is {:#x} in the file and {:#x} built in",
            row.line, row.name, row.file.0, row.built_in.0
        ));
    }
    for row in counters.iter().take(SHOWN) {
        let (file, built_in) = (counter_list(row.file.1), counter_list(row.built_in.1));
        notice::warn(format!(
            "{name}:{}: {} takes counters {file} in the file and {built_in} built in",
            row.line, row.name
        ));
    }
    let hidden = configs.len().saturating_sub(SHOWN) + counters.len().saturating_sub(SHOWN);
    match (replaced.len(), hidden) {
        (0, _) => {}
        (_, 0) => notice::warn(format!("{name}: the file's value is used")),
        _ => notice::warn(format!("{name}: {hidden} more such rows; the file's values are used")),
    }
}

/// Says which rows cannot be used: rows of one missing unit together, metrics of the cores together, of the others
/// the first ones.
fn report(name: &str, problems: &[RowProblem]) {
    let mut units: Vec<(&str, usize, usize)> = Vec::new();
    let mut of_cores: Vec<&RowProblem> = Vec::new();
    let mut others: Vec<&RowProblem> = Vec::new();
    for problem in problems {
        match &problem.problem {
            Problem::UnknownUnit(unit) => match units.iter_mut().find(|(known, ..)| known == unit) {
                Some((_, count, _)) => *count += 1,
                None => units.push((unit, 1, problem.line)),
            },
            Problem::CoreMetric(_) => of_cores.push(problem),
            _ => others.push(problem),
        }
    }
    for (unit, count, line) in units {
        let rows = if count == 1 { "row" } else { "rows" };
        notice::warn(format!("{name}:{line}: {count} {rows} left out from here on: the family has no unit {unit:?}"));
    }
    if let Some(first) = of_cores.first() {
        let (count, line) = (of_cores.len(), first.line);
        let metrics = if count == 1 { "metric" } else { "metrics" };
        notice::warn(format!(
            "{name}:{line}: {count} {metrics} left out from here on: core events are not counted here"
        ));
    }
    for problem in others.iter().take(SHOWN) {
        notice::warn(format!("{name}:{}: {} left out: {}", problem.line, problem.name, problem.problem));
    }
    if others.len() > SHOWN {
        let more = others.len() - SHOWN;
        let rows = if more == 1 { "row" } else { "rows" };
        notice::warn(format!("{name}: {more} more {rows} left out"));
    }
}
