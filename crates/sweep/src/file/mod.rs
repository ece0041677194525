//! A sweep's file: its runs, all of them checked, and errors that point into it.

mod grid;
mod partition;
mod read;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use pericore_emulation::{Experiment, ExperimentError, FaultyPart, part_file};

use crate::data_set::DataSetError;
use crate::key::Keys;
use crate::run::SweepRun;
use crate::source::{Mistake, SweepError, SweepText, text_of};
use grid::{Combination, Grid, GridCounting};

/// Runs of a sweep at most.
const MOST_RUNS: u64 = 1_000_000;

/// Bytes at most: of a scenario, and of a snapshot or a part.
const MOST: (u64, u64) = (1 << 20, 64 << 20);

/// What names of scenario files end with.
const SCENARIO: &str = ".scenario";

/// A sweep that was read and checked.
#[derive(Debug)]
pub struct Sweep {
    source: SweepText,
    output: PathBuf,
    /// Where the file names the output; 0 if it does not.
    output_at: usize,
    runs: Vec<SweepRun>,
    /// Where the grid of each run begins in the text.
    grids: Vec<usize>,
}

/// Files that the sweep names, each read once.
#[derive(Debug, Default)]
struct Files(HashMap<PathBuf, String>);

impl Sweep {
    /// Reads a file, and checks all of its runs.
    ///
    /// # Errors
    /// [`SweepError`] with line and column of the first mistake: TOML, names of machines, workloads, events and
    /// metrics, values, files that cannot be read.
    pub fn read(path: &Path) -> Result<Self, SweepError> {
        Self::checked(&SweepText::read(path)?, MOST_RUNS)
    }

    /// Checks the text of a file that lies at `path`, with `most` runs at most. Files that it names are read.
    ///
    /// # Errors
    /// As [`Sweep::read`].
    pub fn parse(path: &Path, text: &str, most: u64) -> Result<Self, SweepError> {
        Self::checked(&SweepText { path: path.to_owned(), text: text.to_owned() }, most)
    }

    fn checked(source: &SweepText, most: u64) -> Result<Self, SweepError> {
        Self::of(source, most).map_err(|mistake| source.error(&mistake))
    }

    fn of(source: &SweepText, most: u64) -> Result<Self, Mistake> {
        let contents = read::read(&source.text)?;
        let size = contents.grids.iter().fold(0, |sum: u64, grid| sum.saturating_add(grid.size()));
        if size > most {
            let at = contents.grids.first().map_or(0, |grid| grid.at);
            return Err(Mistake::new(at, format!("{size} runs, and {most} are the most; split the file")));
        }
        let columns = partition::columns(&contents.grids);
        let (mut files, mut keys) = (Files::default(), Keys::default());
        let (mut runs, mut grids, mut seen, mut planned) = (Vec::new(), Vec::new(), HashMap::new(), HashSet::new());
        for grid in &contents.grids {
            for choice in grid.choices() {
                let experiment = files.experiment(source, &choice, &grid.counting)?;
                check(&experiment, &choice, grid, &mut planned)?;
                let partition = partition::folder(&columns, &choice);
                if let Some(first) = seen.insert(partition.clone(), grid.at) {
                    let line = source.text[..first].matches('\n').count() + 1;
                    let what = format!("this grid has a run that the grid of line {line} has, too: {partition}");
                    return Err(Mistake::new(grid.at, format!("{what}; leave it out of one of them")));
                }
                let key = keys.key(&experiment).map_err(|error| Mistake::new(choice.machine.at, error.message))?;
                runs.push(SweepRun { partition, key, experiment });
                grids.push(grid.at);
            }
        }
        let named = contents.output.as_ref();
        let output = named.map_or_else(|| source.path.with_extension(""), |output| source.beside(&output.value));
        if output == source.path {
            return Err(Mistake::new(0, "the file's name has no ending: name the folder with output = \"NAME\""));
        }
        Ok(Self { source: source.clone(), output, output_at: named.map_or(0, |output| output.at), runs, grids })
    }

    /// The folder of its data set: that of `output`, or the file's name without its ending.
    pub fn output(&self) -> &Path {
        &self.output
    }

    /// All runs, in the order of the file.
    pub fn runs(&self) -> &[SweepRun] {
        &self.runs
    }

    /// An error of the data set, which points at the line with `output`.
    pub fn data_set_error(&self, error: &DataSetError) -> SweepError {
        self.source.error(&Mistake::new(self.output_at, error.to_string()))
    }

    /// What a run reported when it failed, with the line of its grid.
    pub fn run_error(&self, index: usize, message: &str) -> SweepError {
        let partition = self.runs.get(index).map_or("", |run| &*run.partition);
        let at = self.grids.get(index).copied().unwrap_or(0);
        self.source.error(&Mistake::new(at, format!("{partition}: {message}")))
    }
}

/// Checks a run. Whether units can count what is selected depends on machine and selection alone, and is checked once
/// for each pair of them.
fn check(
    experiment: &Experiment,
    choice: &Combination<'_>,
    grid: &Grid,
    planned: &mut HashSet<(String, Vec<String>, Vec<String>)>,
) -> Result<(), Mistake> {
    let pair = (experiment.machine.clone(), experiment.events.clone(), experiment.metrics.clone());
    let checked = if planned.contains(&pair) { experiment.check_names() } else { experiment.check() };
    checked.map_err(|error| Mistake::new(place(experiment, choice, &grid.counting, grid.at, &error), error.message))?;
    planned.insert(pair);
    Ok(())
}

/// Where in the text a fault is.
fn place(
    experiment: &Experiment,
    choice: &Combination<'_>,
    counting: &GridCounting,
    grid: usize,
    error: &ExperimentError,
) -> usize {
    let time = |value: &Option<grid::InText<f64>>| value.as_ref().map_or(grid, |value| value.at);
    match error.fault {
        // The shortest beginning of the parameters that has the fault ends with the one that is wrong.
        FaultyPart::Machine if experiment.snapshot.is_none() => {
            let fails = |count: usize| {
                let machine = with(&choice.machine.value, &choice.of_machine[..count]);
                let part = experiment.part.clone();
                Experiment { machine, part, ..Experiment::new("", "idle") }.family_and_size().is_err()
            };
            last_of(fails, &choice.of_machine).unwrap_or(choice.machine.at)
        }
        FaultyPart::Workload if experiment.scenario.is_none() => {
            let fails = |count: usize| {
                let workload = with(&choice.workload.value, &choice.of_workload[..count]);
                let tried = Experiment { workload, ..experiment.clone() };
                tried.check_names().is_err_and(|error| error.fault == FaultyPart::Workload)
            };
            last_of(fails, &choice.of_workload).unwrap_or(choice.workload.at)
        }
        FaultyPart::Machine | FaultyPart::Run => choice.machine.at,
        FaultyPart::Workload => choice.workload.at,
        FaultyPart::Event(index) => counting.events.get(index).map_or(grid, |event| event.at),
        FaultyPart::Metric(index) => counting.metrics.get(index).map_or(grid, |metric| metric.at),
        FaultyPart::Selection => counting.events.first().or(counting.metrics.first()).map_or(grid, |first| first.at),
        FaultyPart::Interval => time(&counting.interval),
        FaultyPart::Timeout => time(&counting.timeout),
        FaultyPart::Rotate => time(&counting.rotate),
    }
}

/// The place of the parameter with which it begins to fail; `None` if it fails without any, or never.
fn last_of(fails: impl Fn(usize) -> bool, chosen: &[(&str, &grid::InText<String>)]) -> Option<usize> {
    let count = (0..=chosen.len()).find(|&count| fails(count))?;
    Some(chosen[count.checked_sub(1)?].1.at)
}

/// `NAME:key=value,…` with more keys.
fn with(name: &str, chosen: &[(&str, &grid::InText<String>)]) -> String {
    let mut text = name.to_owned();
    for (key, value) in chosen {
        text.push(if text.contains(':') { ',' } else { ':' });
        text.push_str(&format!("{key}={}", value.value));
    }
    text
}

impl Files {
    /// The experiment of a combination, with the files that it names.
    fn experiment(
        &mut self,
        source: &SweepText,
        choice: &Combination<'_>,
        counting: &GridCounting,
    ) -> Result<Experiment, Mistake> {
        let name = &choice.workload.value;
        let scenario = match name.ends_with(SCENARIO) {
            true => {
                if let Some((key, value)) = choice.of_workload.first() {
                    let what = format!("{name} is a scenario, which takes no {key}; put it into a grid of its own");
                    return Err(Mistake::new(value.at, what));
                }
                Some(self.text(source, name, MOST.0, choice.workload.at)?)
            }
            false => None,
        };
        let of_part =
            part_file(&choice.machine.value).map(|(file, _)| file).filter(|file| source.beside(file).is_file());
        let part = of_part.map(|file| self.text(source, file, MOST.1, choice.machine.at)).transpose()?;
        let is_known = part.is_some() || Experiment::new(&*choice.machine.value, "idle").family().is_ok();
        let snapshot = match !is_known && source.beside(&choice.machine.value).is_file() {
            true => {
                if let Some((key, value)) = choice.of_machine.first() {
                    let what = format!(
                        "{} is a snapshot, which takes no {key}; put it into a grid of its own",
                        choice.machine.value
                    );
                    return Err(Mistake::new(value.at, what));
                }
                Some(self.text(source, &choice.machine.value, MOST.1, choice.machine.at)?)
            }
            false => None,
        };
        let values = |list: &[grid::InText<String>]| list.iter().map(|item| item.value.clone()).collect();
        let time = |value: &Option<grid::InText<f64>>| value.as_ref().map(|value| value.value);
        Ok(Experiment {
            machine: with(&choice.machine.value, &choice.of_machine),
            part,
            snapshot,
            workload: with(name, &choice.of_workload),
            scenario,
            cold: counting.cold,
            events: values(&counting.events),
            metrics: values(&counting.metrics),
            interval: time(&counting.interval),
            timeout: time(&counting.timeout),
            rotate: time(&counting.rotate),
            truth: counting.truth,
        })
    }

    fn text(&mut self, source: &SweepText, name: &str, most: u64, at: usize) -> Result<String, Mistake> {
        let path = source.beside(name);
        if let Some(known) = self.0.get(&path) {
            return Ok(known.clone());
        }
        let read = text_of(&path, most);
        let text = read.map_err(|error| Mistake::new(at, format!("cannot read {}: {error}", path.display())))?;
        self.0.insert(path, text.clone());
        Ok(text)
    }
}
