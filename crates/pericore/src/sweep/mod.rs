//! `pericore sweep`: many measurements of software machines, in worker processes.

mod pool;
mod progress;
mod worker;

use std::io::{self, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use pericore_sweep::{DataSet, DataSetError, PartitionState, Sweep};

use crate::failure::{FAILED, Failure};
use crate::measure::Interrupt;
use crate::notice;
use pool::{RunOutcome, WorkerPool};
use progress::SweepProgress;

/// Failed runs that are named one by one.
const SHOWN: usize = 5;

/// Arguments of `pericore sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// File with machines, workloads and parameters (TOML, docs/machine/sweeps.md)
    #[arg(value_name = "FILE", required_unless_present = "worker")]
    file: Option<PathBuf>,
    /// Write the data set into this folder; by default, `output` of the file, or the file's name without its ending
    #[arg(short = 'o', long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Number of worker processes; by default, one for each processor
    #[arg(short = 'j', long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// Run everything again, such as after a change of the model between two releases
    #[arg(long)]
    again: bool,
    /// Remove the tables of runs that the file no longer has
    #[arg(long)]
    prune: bool,
    /// List the runs with their state, and run nothing
    #[arg(long, conflicts_with_all = ["again", "prune", "jobs"])]
    dry_run: bool,
    /// Carry out the run on standard input: what the command starts
    #[arg(long, hide = true)]
    worker: bool,
}

/// Runs the command. The exit status is 255 if a run failed.
///
/// # Errors
/// A file with a mistake, or a folder that cannot be written.
pub fn run(args: &SweepArgs) -> Result<ExitCode, Failure> {
    let Some(file) = args.file.as_ref().filter(|_| !args.worker) else { return worker::run() };
    let sweep = Sweep::read(file).map_err(Failure::usage)?;
    let refused = |error: DataSetError| match &args.output {
        Some(_) => Failure::failed(error),
        None => Failure::failed(sweep.data_set_error(&error)),
    };
    let root = args.output.as_deref().unwrap_or(sweep.output());
    if args.dry_run {
        let data_set = root.exists().then(|| DataSet::open(root)).transpose().map_err(refused)?;
        return list(&sweep, data_set.as_ref())
            .map_err(refused)?
            .map_or_else(|error| Err(error.into()), |()| Ok(ExitCode::SUCCESS));
    }
    let data_set = DataSet::open(root).map_err(refused)?;
    let todo = find(&sweep, &data_set, args).map_err(refused)?;
    let others = data_set.others(sweep.runs()).map_err(refused)?;
    if args.prune {
        for path in &others {
            std::fs::remove_file(path)
                .map_err(|error| Failure::failed(format!("cannot remove {}: {error}", path.display())))?;
        }
    } else if let Some(first) = others.first() {
        notice::warn(format!(
            "{} tables in {} are of no run of this file, such as {}; --prune removes them",
            others.len(),
            data_set.root().display(),
            first.display()
        ));
    }
    carry_out(&sweep, &data_set, &todo, args, refused)
}

/// The runs whose tables are missing, with a line about each that is there and cannot be used.
fn find(sweep: &Sweep, data_set: &DataSet, args: &SweepArgs) -> Result<Vec<usize>, DataSetError> {
    let mut todo = Vec::new();
    for (index, run) in sweep.runs().iter().enumerate() {
        match data_set.state(run)? {
            PartitionState::Whole if !args.again => continue,
            PartitionState::Whole | PartitionState::Missing => {}
            PartitionState::Stale(path) => notice::warn(format!(
                "{}: stale, of other parameters or another version; it runs again",
                path.display()
            )),
            PartitionState::Damaged(path) => {
                notice::warn(format!("{}: damaged, its bytes were cut or changed; it runs again", path.display()));
            }
        }
        todo.push(index);
    }
    Ok(todo)
}

/// Prints each run with its state; without a data set all are missing.
fn list(sweep: &Sweep, data_set: Option<&DataSet>) -> Result<io::Result<()>, DataSetError> {
    let mut out = io::stdout().lock();
    for run in sweep.runs() {
        let state = match data_set.map_or(Ok(PartitionState::Missing), |data_set| data_set.state(run))? {
            PartitionState::Whole => "whole",
            PartitionState::Missing => "missing",
            PartitionState::Stale(_) => "stale",
            PartitionState::Damaged(_) => "damaged",
        };
        if let Err(error) = writeln!(out, "{state:<8}{}", run.partition) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

fn carry_out(
    sweep: &Sweep,
    data_set: &DataSet,
    todo: &[usize],
    args: &SweepArgs,
    refused: impl Fn(DataSetError) -> Failure,
) -> Result<ExitCode, Failure> {
    let interrupt = Interrupt::watch()?;
    let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZero::get);
    let (begun, mut progress) = (Instant::now(), SweepProgress::new(todo.len()));
    let (mut done, mut again, mut failed) = (0, 0, Vec::new());
    let pool = WorkerPool::start(sweep.runs(), todo, jobs.min(todo.len()));
    let outcome = pool.for_each(&interrupt, |outcome| {
        match outcome {
            RunOutcome::Done(index, table) => {
                data_set.put(&sweep.runs()[index], &table).map_err(&refused)?;
                done += 1;
            }
            RunOutcome::Again(index, why) => {
                again += 1;
                progress.clear();
                notice::warn(format!("{}: {why}; it runs again", sweep.runs()[index].partition));
            }
            RunOutcome::Failed(index, message) => failed.push((index, message)),
            RunOutcome::Nothing => {}
        }
        progress.show(done + failed.len(), jobs);
        Ok(())
    });
    progress.clear();
    let (total, there, root) = (sweep.runs().len(), sweep.runs().len() - todo.len(), data_set.root().display());
    let repeated = if again == 0 { String::new() } else { format!(", {again} attempts were repeated") };
    let words = format!(
        "{done} of {total} runs done in {:.1} s ({there} were there before){repeated}: {root}",
        begun.elapsed().as_secs_f64()
    );
    outcome.map_err(|failure| failure.with_advice(&words))?;
    if interrupt.signal().is_some() {
        notice::warn(format!("interrupted: {words}; run the same command to go on"));
        return Ok(interrupt.exit(ExitCode::from(FAILED)));
    }
    notice::warn(&words);
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    failed.sort();
    for (index, message) in failed.iter().take(SHOWN) {
        notice::warn(sweep.run_error(*index, message));
    }
    Err(Failure::failed(format!("{} of {total} runs failed; the others are kept", failed.len())))
}
