//! Measuring: from the command line's words to samples, on this machine or on a software one. What becomes of the
//! samples is the receiver's matter.

mod begun;
mod child;
pub mod emulated;
mod ender;
mod interrupt;
mod invoker;
mod local;
mod planned;
pub mod preparation;
mod progress;
mod through;
mod wakeup;
mod wanted;
mod windows;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use pericore_emulation::sampled::Estimate;
use pericore_machine::MachineSpec;
use pericore_machine::workload::SampleRequest;
use pericore_observe::kernel::KernelPlan;
use pericore_observe::linux::Host;
use pericore_observe::plan::{Cost, Plan};
use pericore_observe::run::Schedule;
use pericore_observe::session::Sample;
use pericore_report::histogram::Histogram;
use pericore_report::stacks::UnitStacks;

use crate::failure::Failure;
use crate::machine::opened;
use crate::machine::run::{again, is_within};
use crate::notice;
use crate::program::ProgramArgs;
use crate::warm::WarmArgs;
pub use ender::Ender;
pub use interrupt::{HoldsRegisters, Interrupt};
pub use local::{STANDS_IN, VIRTUAL, register_process, stand_in};
pub use planned::Planned;
pub use progress::WaitLine;
pub use through::ThroughArg;
pub use wakeup::Wakeup;
pub use wanted::SelectionArgs;
pub use windows::Widest;

/// A nanosecond: in what is shorter most clocks have no edge.
const LEAST_MILLISECONDS: f64 = 1e-6;
/// A year: longer intervals are a slip.
const MOST_MILLISECONDS: f64 = 365.0 * 86_400e3;

/// What a software machine runs, unless the user says.
const USUAL_WORKLOAD: &str = "stream";

/// What to measure, where, and with what manners.
#[derive(Debug, Args)]
pub struct MeasureArgs {
    /// Measure a software machine instead of this one: family, preset or snapshot file, `NAME[:sockets=N,cores=N,…]`
    #[arg(long, value_name = "MACHINE")]
    pub machine: Option<String>,
    /// What the software machine runs: `NAME[:key=value,…]` (stream copy triad random chase mixed ntstore dma-read
    /// dma-write idle), or a FILE.scenario
    #[arg(long, value_name = "WORKLOAD")]
    workload: Option<String>,
    /// Start the workload from reset with cold caches, without a warm-up (scenarios and programs always start cold)
    #[arg(long, requires = "machine")]
    pub cold: bool,
    #[command(flatten)]
    pub wanted: SelectionArgs,
    /// Always on: uncore counters are system-wide
    #[arg(short = 'a', long)]
    all_cpus: bool,
    /// Stop after this many milliseconds (virtual time on a software machine)
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    timeout: Option<f64>,
    /// Start measuring this many milliseconds into the program or workload (virtual time on a software machine); -I and
    /// --timeout count from there
    #[arg(short = 'D', long, value_name = "MS", allow_negative_numbers = true)]
    delay: Option<f64>,
    /// Multiplexing interval in milliseconds: 10 by default (0.002 of virtual time on a software machine, where
    /// register accesses take none)
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    rotate: Option<f64>,
    /// How to access this machine's counters
    #[arg(long, value_enum, value_name = "WAY", default_value_t)]
    pub through: ThroughArg,
    /// Re-read all controls in use with each sample, to notice changes by other tools at once
    #[arg(long)]
    guard: bool,
    /// Save overwritten registers in this file until they are restored; after a killed run, `pericore restore` restores
    /// them. By default a file in $XDG_STATE_HOME/pericore (~/.local/state/pericore), and none on a software machine
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Use counters even if another tool is using them
    #[arg(long)]
    take_over: bool,
    /// Read counters one by one without stopping them; several such runs can share a unit
    #[arg(long)]
    no_freeze: bool,
    /// Under sudo, run the program as root; otherwise it runs as the user who called sudo
    #[arg(long, conflicts_with = "machine")]
    as_root: bool,
    /// If another pericore run is in the way, wait until it ends
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    program: ProgramArgs,
}

/// When samples are taken.
#[derive(Debug, Clone, Copy, Default)]
pub struct Course {
    /// Milliseconds between two samples (virtual ones on a software machine); none for one sample at the end.
    pub interval: Option<f64>,
    /// The measurement ends after so many of these.
    pub intervals: Option<u64>,
    /// A sample each time when the first event has been counted so often.
    pub period: Option<u64>,
    /// Runs of the whole: at least 1.
    pub repeat: u32,
    /// The model's own figures go with each sample.
    pub truth: bool,
    /// It goes on all day beside the work of others: rounds change seldom.
    pub is_sparing: bool,
    /// Only windows of the run are modelled in detail.
    pub sampling: Option<SampleRequest>,
}

/// A machine without its keys.
fn before_keys(machine: &str) -> &str {
    machine.split_once(':').map_or(machine, |(name, _)| name)
}

/// What to do: the words of the command line, and when samples are taken.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// What to measure.
    pub args: &'a MeasureArgs,
    /// When.
    pub course: &'a Course,
}

/// What is measured.
#[derive(Debug)]
pub struct Subject<'a> {
    /// Machine and program or workload, in words; an emulated machine says so.
    pub title: String,
    /// The software machine's preset, if it is one.
    pub emulated: Option<String>,
    /// What is counted where.
    pub plan: &'a Plan,
    /// What a sample costs in registers; nothing where the kernel counts all of it.
    pub cost: Cost,
    /// What of it the kernel counts.
    pub kernel: Option<&'a KernelPlan>,
    /// In which way units are counted, and why: a line each. Nothing on a software machine.
    pub ways: &'a [String],
    /// The I/O stacks of a unit that has metrics, with the PCI devices behind them, on a real machine.
    pub stacks: Option<&'a UnitStacks>,
    /// The machine, if it is a real one.
    pub host: Option<&'a Host>,
    /// Ends the measurement.
    pub ender: Ender,
}

/// A sample on its way to the receiver.
#[derive(Debug, Clone, Copy)]
pub struct Taken<'a> {
    /// What was counted where.
    pub plan: &'a Plan,
    /// The counts.
    pub sample: &'a Sample,
    /// The same with the model's figures, if they were asked for.
    pub truth: Option<&'a Sample>,
    /// Seconds from the start of the measurement to the end of the sample, if it is one of several.
    pub end: Option<f64>,
    /// The user ended the measurement before its time.
    pub cut: bool,
    /// Of a sampled run: where `sample` comes from.
    pub estimate: Option<&'a Estimate>,
}

/// Whoever takes the samples.
pub trait Receiver {
    /// Nothing is started or written yet, and nobody is in the way any more: whoever cannot take results should say so
    /// now.
    ///
    /// # Errors
    /// What the receiver needs is not to be had.
    fn open(&mut self) -> Result<(), Failure>;

    /// The measurement begins. Called once, however many runs there are, before anything counts.
    ///
    /// # Errors
    /// As [`Receiver::take`].
    fn begin(&mut self, subject: &Subject<'_>) -> Result<(), Failure>;

    /// A sample.
    ///
    /// # Errors
    /// It cannot be passed on: the measurement ends.
    fn take(&mut self, taken: Taken<'_>) -> Result<(), Failure>;

    /// Of a sample's numbers the one that is known worst for its size; none if the receiver does not look at intervals.
    fn widest(&self, _taken: &Taken<'_>) -> Option<Widest> {
        None
    }

    /// True if the user sees that it goes on, and what ends it, without a word from us.
    fn is_seen(&self) -> bool {
        false
    }

    /// What a software machine has to say of a run at its end, in lines for people.
    ///
    /// # Errors
    /// As [`Receiver::take`].
    fn remark(&mut self, words: &str) -> Result<(), Failure>;

    /// True if it takes how long each read took, of a software machine.
    fn takes_latencies(&self) -> bool {
        false
    }

    /// How long the reads of a run took, by the model's records.
    ///
    /// # Errors
    /// As [`Receiver::take`].
    fn latencies(&mut self, _histogram: &Histogram) -> Result<(), Failure> {
        Ok(())
    }

    /// A signal has ended the measurement before its time. Comes before [`Receiver::finish`].
    fn interrupted(&mut self, _signal: i32) {}

    /// All runs are over.
    ///
    /// # Errors
    /// As [`Receiver::take`].
    fn finish(&mut self) -> Result<(), Failure>;

    /// The folders in which it makes or removes files after the measurement has begun. On this machine the right to do
    /// so is kept for no others.
    fn writes_in(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// True if a sample without a number would be missed later, as where counts are added up. Then samples in real time
    /// come more often than was asked for, if a counter could wrap twice in between.
    fn needs_every_sample(&self) -> bool {
        false
    }
}

impl Task<'_> {
    /// Measures. The exit status is the program's, if there is one.
    ///
    /// # Errors
    /// A command line that cannot be carried out, or a run that failed.
    pub fn run(self, receiver: &mut dyn Receiver) -> Result<ExitCode, Failure> {
        self.check()?;
        match &self.args.machine {
            Some(machine) => emulated::run(self, machine, receiver),
            None => local::run(self, receiver),
        }
    }

    /// Measures in real time: with `--machine` on a live machine, on which this command runs once more.
    ///
    /// # Errors
    /// As [`Task::run`].
    pub fn run_live(self, warm: &WarmArgs, receiver: &mut dyn Receiver) -> Result<ExitCode, Failure> {
        self.check()?;
        let Some(machine) = self.args.machine.as_deref().filter(|_| !is_within()) else {
            return local::run(self, receiver);
        };
        if let Some(what) = self.args.program.for_virtual_time() {
            return Err(Failure::usage(format!(
                "{what}: a program's accesses run in virtual time, which `pericore stat` and `record` measure; name a --workload"
            )));
        }
        begun::must_be_steady(self.args.cold)?;
        let spec = opened::spec(machine).map_err(|refusal| self.args.wanted.files.on_unknown_family(refusal))?;
        self.args.wanted.selection(spec.family())?;
        again(machine, Some(self.args.workload.as_deref().unwrap_or(USUAL_WORKLOAD)), warm)
    }

    /// What a run would do: nothing is written to any register.
    ///
    /// # Errors
    /// As [`Task::run`].
    pub fn plan(self) -> Result<Planned, Failure> {
        self.check()?;
        match &self.args.machine {
            Some(machine) => {
                let registers = Some(emulated::plan(self, machine)?);
                Ok(Planned { registers, kernel: None, reasons: Vec::new() })
            }
            None => local::plan(self),
        }
    }

    /// When samples are taken, with rounds of so many seconds, and so many between two looks for an overflow.
    fn schedule(self, turn: f64, poll: f64) -> Schedule {
        let Self { args, course } = self;
        let seconds = |milliseconds: Option<f64>| milliseconds.map(|milliseconds| milliseconds / 1e3);
        Schedule {
            interval: seconds(course.interval),
            intervals: course.intervals,
            timeout: seconds(args.timeout),
            turn,
            poll: course.period.map(|_| poll),
        }
    }

    fn check(self) -> Result<(), Failure> {
        let Self { args, course } = self;
        if args.machine.is_some() && args.through == ThroughArg::Kernel && !is_within() {
            return Err(Failure::usage(
                "--through kernel: a software machine has no kernel whose driver could count; leave it out, or count \
                 in `pericore machine boot`",
            ));
        }
        for (name, value) in
            [("-I", course.interval), ("--timeout", args.timeout), ("--delay", args.delay), ("--rotate", args.rotate)]
        {
            if value.is_some_and(|value| !(LEAST_MILLISECONDS..=MOST_MILLISECONDS).contains(&value)) {
                return Err(Failure::usage(format!(
                    "{name}: give a number of milliseconds above 0: from {LEAST_MILLISECONDS} to {MOST_MILLISECONDS}"
                )));
            }
        }
        Ok(())
    }
}

/// Says why there are no numbers: the end came before the delay was over.
fn say_nothing_was_measured(delay: f64) {
    notice::warn(format!("nothing was measured: the end came within the delay of {delay} ms; choose a shorter one"));
}

impl MeasureArgs {
    /// What the command line names that may be files which are read.
    pub fn inputs(&self) -> impl Iterator<Item = &Path> {
        // Keys may follow a snapshot's or a part's name. The names of families and presets are no files.
        let files = self.machine.iter().filter(|machine| MachineSpec::parse(machine).is_err());
        let machine = files.flat_map(|machine| [machine.as_str(), before_keys(machine)]);
        let scenario = self.workload.as_deref().filter(|workload| emulated::is_scenario(workload));
        let named = machine.chain(scenario).map(Path::new);
        named.chain(self.program.trace()).chain(self.wanted.files.paths())
    }

    /// True if a software machine is to do what is no steady workload: it has phases, or begins cold.
    pub fn is_course(&self) -> bool {
        let workload = self.workload.as_deref().unwrap_or_default();
        self.machine.is_some() && (self.cold || emulated::is_scenario(workload))
    }

    /// True if a program is to run while counting goes on.
    pub fn has_program(&self) -> bool {
        !self.program.words().is_empty()
    }

    /// True if a program is measured, or a trace of one.
    pub fn is_of_program(&self) -> bool {
        self.program.is_given()
    }

    /// The program and its arguments; empty without one.
    pub fn program_words(&self) -> &[std::ffi::OsString] {
        self.program.words()
    }

    /// An option that says nothing about a recording, if one is given.
    pub fn only_for_measurements(&self) -> Option<&'static str> {
        let given = [
            (self.machine.is_some(), "--machine"),
            (self.workload.is_some(), "--workload"),
            (self.timeout.is_some(), "--timeout"),
            (self.delay.is_some(), "--delay"),
            (self.rotate.is_some(), "--rotate"),
            (self.journal.is_some(), "--journal"),
            (self.take_over, "--take-over"),
            (self.no_freeze, "--no-freeze"),
            (self.guard, "--guard"),
            (self.wait, "--wait"),
        ];
        given.into_iter().find_map(|(is_given, option)| is_given.then_some(option))
    }

    /// An option that only makes sense on a software machine, if one is given.
    fn only_for_software(&self) -> Option<&'static str> {
        // A command that was started again on a live machine has been understood already.
        let workload = self.workload.is_some() && !is_within();
        if workload { Some("--workload") } else { self.program.only_for_software() }
    }
}
