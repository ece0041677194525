//! Measuring a software machine: discovery, plan and session as on a real one, with virtual time in between.

use std::cell::RefCell;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Instant;

use pericore_machine::chassis::Shape;
use pericore_machine::workload::{Limits, Scenario};
use pericore_machine::{Machine, MachineSpec, Snapshot, Window};
use pericore_observe::discover::Cpu;
use pericore_observe::plan::Plan;
use pericore_observe::session::{Guard, JournalFile, Moment, Options, Sample, Session};
use pericore_registers::{Address, Operation, Outcome, RegisterSpace, Width};

use super::interrupt::Interrupt;
use super::progress::ProgressLine;
use super::silent::Silent;
use super::{Ender, MeasureArgs, Receiver, Subject, Taken, Task, preparation, say_nothing_was_measured, truth};
use crate::failure::Failure;
use crate::machine::opened;
use crate::program::Program;
use crate::refused_file;
use crate::restore;
use crate::results::table;

/// Between two looks at signals, progress and the end of the workload lies a slice: this part of the time that the sample has taken so far.
/// What is measured ends at the first look after the end of the workload, so rates are too low by at most one slice.
const LOOKS_A_SAMPLE: u64 = 1000;

/// Virtual seconds of a slice at most: so soon a signal is obeyed.
const LONGEST: f64 = 100e-6;

/// Virtual seconds of a slice at least: shorter ones would cost more than what runs in them.
const SHORTEST: f64 = 10e-9;

/// Virtual seconds between two looks for an overflow: the counters stand until then.
const POLL: f64 = 1e-6;

/// Virtual seconds of a round, unless the user says: workloads often end within a virtual millisecond.
const TURN: f64 = 2e-6;

/// What names of scenario files end with: so they are told from workloads.
const SCENARIO: &str = ".scenario";

/// Virtual seconds of a round.
fn turn(args: &MeasureArgs) -> f64 {
    args.rotate.map_or(TURN, |milliseconds| milliseconds / 1e3)
}

/// A named workload, or the scenario in a file.
fn load(text: &str, limits: &Limits) -> Result<Scenario, Failure> {
    if !text.ends_with(SCENARIO) {
        return Scenario::of(text, limits).map_err(|error| {
            let failure = Failure::usage(error);
            if !Path::new(text).is_file() {
                return failure;
            }
            failure.with_advice(&format!(
                "{text} is a file: if it is a scenario, give it a name that ends with {SCENARIO}"
            ))
        });
    }
    let read = std::fs::read_to_string(text);
    let contents = read.map_err(|error| Failure::usage(refused_file::reading(Path::new(text), &error)))?;
    Scenario::parse(&contents, limits).map_err(|error| Failure::usage(format!("{text}, {error}")))
}

/// The scenario of a repetition: the same seeds would give the same run.
fn reseeded(scenario: &Scenario, run: u32) -> Scenario {
    let mut scenario = scenario.clone();
    for workload in scenario.phases.iter_mut().filter_map(|phase| phase.workload.as_mut()) {
        workload.seed = workload.seed.wrapping_add(run.into());
    }
    scenario
}

/// Measures a software machine.
///
/// # Errors
/// A command line that cannot be carried out, or a run that failed.
pub fn run(task: Task<'_>, machine_name: &str, receiver: &mut dyn Receiver) -> Result<ExitCode, Failure> {
    let args = task.args;
    let spec = opened::spec(machine_name).map_err(|refusal| args.wanted.files.on_unknown_family(refusal))?;
    let workload = args.workload.as_deref().unwrap_or(super::USUAL_WORKLOAD);
    let limits = spec.limits().map_err(Failure::usage)?;
    let scenario = load(workload, &limits)?;
    let selection = args.wanted.selection(spec.family())?;
    receiver.open()?;
    let ender = Ender::default();
    let mut interrupt: Option<Interrupt> = None;
    let mut status = ExitCode::SUCCESS;
    for run in 0..task.course.repeat {
        let program = Program::of(&args.program, &spec)?;
        let machine = match &program {
            Some(program) => Machine::for_program(&spec, program.source(), program.settings()),
            None => Machine::for_scenario(&spec, &reseeded(&scenario, run)),
        };
        let machine = Shared(Rc::new(RefCell::new(machine.map_err(Failure::usage)?)));
        let cpus = cpus(machine.0.borrow().chassis().shape());
        let plan = preparation::plan(task, &mut machine.clone(), &cpus, selection.clone())?;
        if run == 0 {
            preparation::warn_of_wraps(task, &plan);
            preparation::warn_of_turns(task, &plan, turn(args));
        }
        // A program that runs gets the signals: this comes after, and so finds them taken.
        let watched = match &interrupt {
            Some(watched) => watched.clone(),
            None => interrupt.insert(Interrupt::watch()?).clone(),
        };
        let workload = match &program {
            Some(program) => program.start().map(|()| program.title())?,
            None => workload.to_owned(),
        };
        if run == 0 {
            let title = title(&spec, machine_name, machine.0.borrow().chassis().shape(), &workload);
            receiver.begin(&Subject {
                title,
                emulated: Some(spec.preset().to_owned()),
                plan: &plan,
                ender: ender.clone(),
            })?;
        }
        let started = Instant::now();
        let mut measurement = Measurement {
            task,
            machine,
            machine_name,
            started,
            interrupt: watched,
            ender: ender.clone(),
            program,
            silent: Silent::of(spec.family(), &plan.selection),
            receiver,
        };
        status = measurement.measure(plan)?;
        if interrupt.as_ref().is_some_and(|interrupt| interrupt.signal().is_some()) || ender.is_asked() {
            break;
        }
    }
    if let Some(signal) = interrupt.as_ref().and_then(Interrupt::signal) {
        receiver.interrupted(signal);
    }
    receiver.finish()?;
    Ok(interrupt.map_or(status, |interrupt| interrupt.exit(status)))
}

/// What is measured, above the table.
fn title(spec: &MachineSpec, name: &str, shape: &Shape, workload: &str) -> String {
    let Shape { sockets, cores, built, .. } = *shape;
    let plural = if sockets == 1 { "" } else { "s" };
    let cores = if cores < built { format!(" of {cores} active cores") } else { String::new() };
    let registers = if spec.is_snapshot() { format!(", registers of {name}") } else { String::new() };
    let family = spec.family().name;
    format!("EMULATED {family} ({}), {sockets} socket{plural}{cores}{registers}: {workload}", spec.preset())
}

/// What a run would do: for that the hardware is enough, so that families without a model, and snapshots, will do.
///
/// # Errors
/// A machine that is not known, or events that cannot be counted on it.
pub fn plan(task: Task<'_>, machine: &str) -> Result<Plan, Failure> {
    let wanted = &task.args.wanted;
    let mut chassis = opened::machine(machine).map_err(|refusal| wanted.files.on_unknown_family(refusal))?;
    let selection = wanted.selection(chassis.shape().family)?;
    let cpus = cpus(chassis.shape());
    preparation::plan(task, &mut chassis, &cpus, selection)
}

/// The machine, shared by the session that reads its registers and the loop that runs its workload.
#[derive(Clone)]
struct Shared(Rc<RefCell<Machine>>);

impl RegisterSpace for Shared {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.0.borrow_mut().read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.0.borrow_mut().write(address, width, value)
    }

    fn batch(&mut self, operations: &[Operation], outcomes: &mut Vec<Outcome<u64>>) {
        self.0.borrow_mut().batch(operations, outcomes);
    }
}

impl Shared {
    fn moment(&self) -> Moment {
        let machine = self.0.borrow();
        let clocks = machine.clocks();
        Moment { seconds: clocks.seconds(0, machine.now()), tsc: clocks.timestamp(machine.now()) }
    }
}

/// The logical processors of a software machine.
pub fn cpus(shape: &Shape) -> Vec<Cpu> {
    let package = |number| shape.socket_of_cpu(number).map(|package| Cpu { number, package });
    (0..shape.cpus()).filter_map(package).collect()
}

/// One run of the command.
struct Measurement<'a> {
    task: Task<'a>,
    machine: Shared,
    /// As the user wrote it.
    machine_name: &'a str,
    started: Instant,
    interrupt: Interrupt,
    ender: Ender,
    program: Option<Program>,
    silent: Silent,
    receiver: &'a mut dyn Receiver,
}

impl Measurement<'_> {
    fn measure(&mut self, plan: Plan) -> Result<ExitCode, Failure> {
        let Task { args, course } = self.task;
        let ticks = |seconds: f64| {
            let per_second = self.machine.0.borrow().clocks().ticks_per_second() as f64;
            ((seconds * per_second) as u64).max(1)
        };
        let (longest, shortest) = (ticks(LONGEST), ticks(SHORTEST));
        let poll = course.period.map(|_| ticks(POLL));
        let interval = course.interval.map(|milliseconds| ticks(milliseconds / 1e3));
        let deadline = args.timeout.map(|milliseconds| ticks(milliseconds / 1e3));
        let rotation = (plan.rounds() > 1).then(|| ticks(turn(args)));
        let guard = if args.guard { Guard::All } else { Guard::InTurn };
        let journal = match &args.journal {
            Some(path) => {
                Some(JournalFile { path: path.clone(), boot: restore::boot()?, machine: self.machine_name.to_owned() })
            }
            None => None,
        };
        let options = Options { take_over: args.take_over, guard, journal, neighbourhood: None };
        let mut session =
            Session::start(self.machine.clone(), plan, options, |space| space.moment()).map_err(Failure::failed)?;
        let mut progress = ProgressLine::new();
        if let Some(delay) = args.delay
            && !self.sit_out(ticks(delay / 1e3), longest, &mut session, &mut progress)?
        {
            progress.clear();
            say_nothing_was_measured(delay);
            session.stop().map_err(Failure::failed)?;
            return self.remark();
        }
        let start = self.machine.0.borrow().now();
        let mut before = self.machine.0.borrow().snapshot();
        let (mut next_print, mut next_round, mut passed_on) = (interval, rotation, false);
        let (mut sample_began, mut intervals) = (0, 0);
        loop {
            let now = self.machine.0.borrow().now() - start;
            let slice = poll.unwrap_or_else(|| ((now - sample_began) / LOOKS_A_SAMPLE).clamp(shortest, longest));
            let ends = [Some(now + slice), next_print, next_round, deadline];
            let until = ends.into_iter().flatten().min().unwrap_or(now + slice);
            let done = self.run_for(until - now, &mut progress)?;
            if let Some(sample) = session.sample_on_overflow(|space| space.moment()) {
                progress.clear();
                let end = self.machine.0.borrow().clocks().seconds(0, until);
                before = self.pass_on(&session, &sample, &before, Some(end))?;
            }
            let is_due = next_print == Some(until);
            intervals += u64::from(is_due);
            let over = done
                || deadline.is_some_and(|deadline| until >= deadline)
                || course.intervals.is_some_and(|most| intervals >= most);
            if next_round == Some(until) && !over {
                session.rotate(|space| space.moment());
                next_round = rotation.map(|rotation| until + rotation);
            }
            if is_due || over {
                progress.clear();
                let goes_on = interval.is_some() || course.period.is_some();
                let end = goes_on.then(|| self.machine.0.borrow().clocks().seconds(0, until));
                if over {
                    session.check_controls();
                }
                let sample = session.sample(|space| space.moment());
                before = self.pass_on(&session, &sample, &before, end)?;
                passed_on = true;
                next_print = interval.map(|interval| until + interval);
                sample_began = until;
            }
            if over {
                break;
            }
        }
        debug_assert!(passed_on, "the last look passes a sample on");
        let status = self.remark()?;
        session.stop().map_err(Failure::failed)?;
        Ok(status)
    }

    /// Lets the workload run for the delay, and throws away what was counted until then. False if everything ends before.
    fn sit_out(
        &self,
        delay: u64,
        longest: u64,
        session: &mut Session<Shared>,
        progress: &mut ProgressLine,
    ) -> Result<bool, Failure> {
        let mut left = delay;
        while left > 0 {
            let slice = left.min(longest);
            if self.run_for(slice, progress)? {
                return Ok(false);
            }
            left -= slice;
        }
        session.sample(|space| space.moment());
        Ok(true)
    }

    /// Runs the machine; true if the workload is over, or the user wants an end.
    fn run_for(&self, ticks: u64, progress: &mut ProgressLine) -> Result<bool, Failure> {
        self.machine.0.borrow_mut().run_for(ticks);
        let machine = self.machine.0.borrow();
        match &self.program {
            Some(program) => program.check()?,
            None => progress.show(machine.progress().done, machine.progress().total),
        }
        Ok(machine.finished() || self.is_ended())
    }

    fn is_ended(&self) -> bool {
        self.interrupt.signal().is_some() || self.ender.is_asked()
    }

    /// Passes a sample on; returns the snapshot at its end.
    fn pass_on(
        &mut self,
        session: &Session<Shared>,
        sample: &Sample,
        before: &Snapshot,
        end: Option<f64>,
    ) -> Result<Snapshot, Failure> {
        let after = self.machine.0.borrow().snapshot();
        let plan = session.plan();
        let sample = &*self.silent.doubt(sample);
        let truth = self.task.course.truth;
        let truth = truth.then(|| truth::sample(&plan.selection, sample, &Window::between(before, &after)));
        let cut = self.is_ended();
        self.receiver.take(Taken { plan, sample, truth: truth.as_ref(), end, cut })?;
        Ok(after)
    }

    /// What is to be said of the run at its end; the status to end with.
    fn remark(&mut self) -> Result<ExitCode, Failure> {
        let said = self.program.as_ref().map(Program::end);
        let status = said.as_ref().map_or(ExitCode::SUCCESS, |said| said.exit());
        if let Some(said) = &said {
            said.warn();
        }
        let machine = self.machine.0.borrow();
        let seconds = machine.clocks().seconds(0, machine.now());
        let real = self.started.elapsed().as_secs_f64();
        let progress = machine.progress();
        let slower = real / seconds.max(1e-12);
        let mut words = String::new();
        // A text takes whatever is written to it.
        let _ = match (&said, machine.program()) {
            (Some(said), Some(counts)) => said.print(&mut words, &counts),
            _ => writeln!(words, " accesses: {} of {}", progress.done, progress.total),
        };
        let time = table::seconds(seconds);
        let _ = writeln!(words, " virtual time: {time} s; real time: {real:.2} s, {slower:.0} times as long");
        drop(machine);
        self.receiver.remark(&words)?;
        Ok(status)
    }
}
