//! Measuring a software machine: discovery, plan and session as on a real one, with virtual time in between.

use std::cell::RefCell;
use std::fmt::Write;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use pericore_emulation::sampled::{Estimate, WindowCounts};
use pericore_emulation::silent::Silent;
use pericore_emulation::{POLL, TURN, VirtualClock, moment, start, truth};
use pericore_machine::signal::Tick;
use pericore_machine::workload::{Limits, Scenario};
use pericore_machine::{Machine, Progress, ReadLatencies, SharedMachine, Window};
use pericore_observe::plan::Plan;
use pericore_observe::run::{self, Passed, Schedule};
use pericore_observe::session::{Guard, JournalFile, Options, Session};
use pericore_report::figures;
use pericore_report::histogram::Histogram;

use super::begun;
use super::interrupt::Interrupt;
use super::progress::{ProgressLine, WorkDone};
use super::windows::{self, LengthOf, Widest};
use super::{Ender, MeasureArgs, Receiver, Subject, Taken, Task, preparation, say_nothing_was_measured};
use crate::failure::Failure;
use crate::input;
use crate::machine::opened;
use crate::program::Program;
use crate::refused_file;
use crate::restore;

/// What names of scenario files end with: so they are told from workloads.
const SCENARIO: &str = ".scenario";

/// True if a workload is a scenario in a file, by its name.
pub fn is_scenario(workload: &str) -> bool {
    workload.ends_with(SCENARIO)
}

/// Virtual seconds of a round.
fn turn(args: &MeasureArgs) -> f64 {
    args.rotate.map_or(TURN, |milliseconds| milliseconds / 1e3)
}

/// A named workload, warm unless it is to begin cold, or the scenario in a file.
fn load(text: &str, is_cold: bool, limits: &Limits) -> Result<Scenario, Failure> {
    if !is_scenario(text) {
        let scenario = Scenario::of(text, limits);
        return scenario.map(|scenario| if is_cold { scenario } else { scenario.warmed() }).map_err(|error| {
            let failure = Failure::usage(error);
            if !Path::new(text).is_file() {
                return failure;
            }
            failure.with_advice(&format!(
                "{text} is a file: if it is a scenario, give it a name that ends with {SCENARIO}"
            ))
        });
    }
    let read = input::text(Path::new(text), input::SCENARIO);
    let contents = read.map_err(|error| Failure::usage(refused_file::reading(Path::new(text), &error)))?;
    Scenario::parse(&contents, limits).map_err(|error| Failure::usage(format!("{text}, {error}")))
}

/// What the machine runs, and of a sampled workload how long it goes on.
fn scenario_of(task: Task<'_>, workload: &str, limits: &Limits) -> Result<(Scenario, Option<LengthOf>), Failure> {
    let args = task.args;
    let Some(request) = task.course.sampling else { return Ok((load(workload, args.cold, limits)?, None)) };
    let subject = match () {
        () if args.program.is_given() => windows::SampledWork::Program,
        () if is_scenario(workload) => windows::SampledWork::Scenario,
        () => windows::SampledWork::Workload(workload),
    };
    windows::check(subject, request, args.timeout, args.cold)?;
    if matches!(subject, windows::SampledWork::Program) {
        return Ok((load(workload, args.cold, limits)?, None));
    }
    let (scenario, length) = windows::extend(load(workload, true, limits)?, args.timeout)?;
    Ok((scenario.warmed(), Some(length)))
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
    let (scenario, length) = scenario_of(task, workload, &limits)?;
    let selection = args.wanted.selection(spec.family())?;
    receiver.open()?;
    // In windows of a program rounds change between these.
    let turn = if task.course.sampling.is_some() { f64::from(u32::MAX) } else { turn(args) };
    let schedule = task.schedule(turn, POLL);
    let ender = Ender::default();
    let mut interrupt: Option<Interrupt> = None;
    let mut status = ExitCode::SUCCESS;
    let keeps_truth = task.course.truth || receiver.takes_latencies();
    for run in 0..task.course.repeat {
        let program = Program::of(&args.program, &spec)?;
        let (machine, warm_up) = match &program {
            Some(program) => {
                let machine = Machine::for_program(&spec, program.source(), program.settings());
                let machine = machine.map_err(Failure::usage)?;
                let machine = match task.course.sampling {
                    Some(request) => machine.sampled(request.of_program()),
                    None => machine,
                };
                (if keeps_truth { machine } else { machine.without_truth() }, None)
            }
            None => begun::begin(&spec, &reseeded(&scenario, run), keeps_truth)?,
        };
        let mut machine = machine;
        if receiver.takes_latencies() {
            machine.keep_latencies();
        }
        let begun = machine.now();
        let machine = SharedMachine::new(machine);
        let cpus = start::cpus(machine.borrow().chassis().shape());
        let plan = preparation::plan(task, &mut machine.clone(), &cpus, selection.clone())?;
        let windows = match task.course.sampling {
            Some(request) => {
                Some(RefCell::new(windows::begin(&mut machine.borrow_mut(), request, (length, limits.caches), &plan)?))
            }
            None => None,
        };
        if run == 0 {
            preparation::warn_of_wraps(task, &schedule, &plan);
            preparation::warn_of_turns(task, &schedule, &plan);
        }
        // A program that runs gets the signals: this comes after, and so finds them taken.
        let watched = match &interrupt {
            Some(watched) => watched.clone(),
            None => interrupt.insert(Interrupt::watch()?).clone(),
        };
        let workload = match &program {
            Some(program) => program.start().map(|()| program.title())?,
            None => {
                let second = machine.borrow().clocks().ticks_per_second();
                format!("{workload}{}", start::words(&scenario, warm_up, second))
            }
        };
        if run == 0 {
            let title = start::title(&spec, machine_name, machine.borrow().chassis().shape(), &workload);
            receiver.begin(&Subject {
                title,
                emulated: Some(spec.preset().to_owned()),
                plan: &plan,
                cost: plan.cost(),
                kernel: None,
                ways: &[],
                stacks: None,
                host: None,
                ender: ender.clone(),
            })?;
        }
        let started = Instant::now();
        let measurement = Measurement {
            task,
            schedule: &schedule,
            machine,
            begun,
            machine_name,
            started,
            interrupt: watched,
            ender: ender.clone(),
            program,
            windows,
            silent: Silent::of(spec.family(), &plan.selection),
            receiver,
        };
        status = measurement.measure(plan)?;
        if interrupt.as_ref().is_some_and(|interrupt| interrupt.signal().is_some()) || ender.is_requested() {
            break;
        }
    }
    if let Some(signal) = interrupt.as_ref().and_then(Interrupt::signal) {
        receiver.interrupted(signal);
    }
    receiver.finish()?;
    Ok(interrupt.map_or(status, |interrupt| interrupt.exit(status)))
}

/// What a run would do: for that the hardware is enough, so that families without a model, and snapshots, will do.
///
/// # Errors
/// A machine that is not known, or events that cannot be counted on it.
pub fn plan(task: Task<'_>, machine: &str) -> Result<Plan, Failure> {
    let wanted = &task.args.wanted;
    let mut chassis = opened::machine(machine).map_err(|refusal| wanted.files.on_unknown_family(refusal))?;
    let selection = wanted.selection(chassis.shape().family)?;
    let cpus = start::cpus(chassis.shape());
    preparation::plan(task, &mut chassis, &cpus, selection)
}

/// One run of the command.
struct Measurement<'a> {
    task: Task<'a>,
    schedule: &'a Schedule,
    machine: SharedMachine,
    /// Virtual time at which the measurement begins, in ticks.
    begun: Tick,
    /// As the user wrote it.
    machine_name: &'a str,
    started: Instant,
    interrupt: Interrupt,
    ender: Ender,
    program: Option<Program>,
    /// Of a sampled run.
    windows: Option<RefCell<WindowCounts>>,
    silent: Silent,
    receiver: &'a mut dyn Receiver,
}

impl Measurement<'_> {
    fn measure(mut self, plan: Plan) -> Result<ExitCode, Failure> {
        let Task { args, course } = self.task;
        let guard = if args.guard { Guard::All } else { Guard::InTurn };
        let journal = match &args.journal {
            Some(path) => {
                Some(JournalFile { path: path.clone(), boot: restore::boot()?, machine: self.machine_name.to_owned() })
            }
            None => None,
        };
        let options = Options { take_over: args.take_over, guard, journal, other_sessions: None };
        let sampled_plan = course.sampling.map(|_| plan.clone());
        let mut session = Session::start(self.machine.clone(), plan, options, |space| moment(space, self.begun))
            .map_err(Failure::failed)?;
        let progress = RefCell::new(ProgressLine::new());
        let (interrupt, ender) = (&self.interrupt, &self.ender);
        let is_cut = || interrupt.signal().is_some() || ender.is_requested();
        let windows = self.windows.take();
        let watch = |machine: &Machine| {
            if let Some(program) = &self.program {
                program.check()?;
            }
            if let Some(far) = how_far(self.program.as_ref(), windows.as_ref(), machine) {
                progress.borrow_mut().show(far);
            }
            let seen = windows.as_ref().map_or(Passed::On, |windows| windows.borrow().look(machine));
            Ok::<_, Failure>(if is_cut() { Passed::Over } else { seen })
        };
        let mut clock = VirtualClock::new(self.machine.clone(), self.begun, course.period.is_some(), watch);
        if let Some(delay) = args.delay
            && run::skip(&mut session, &mut clock, delay / 1e3)? == Passed::Over
        {
            progress.borrow_mut().clear();
            say_nothing_was_measured(delay);
            session.stop()?;
            return self.conclude(None);
        }
        let snapshot = || course.truth.then(|| self.machine.borrow().snapshot());
        let mut before = snapshot();
        // Adds the model's own figures, and doubts what the model says nothing of.
        let sink = |taken: run::Taken<'_>| {
            progress.borrow_mut().clear();
            let after = snapshot();
            let sample = &*self.silent.doubt(taken.sample);
            let selection = &taken.plan.selection;
            let between = before.as_ref().zip(after.as_ref()).map(|(before, after)| Window::between(before, after));
            let truth = between.map(|window| truth::sample(selection, sample, &window));
            before = after;
            if let Some(windows) = &windows {
                let mut windows = windows.borrow_mut();
                windows.take(&self.machine.borrow(), sample, truth.as_ref());
                let due = windows.due(&self.machine.borrow());
                if let Some(estimate) = due {
                    let taken = estimated(taken.plan, &estimate, false);
                    let widest = self.receiver.widest(&taken).map(|widest| widest.half);
                    windows.set_pace(widest, &mut self.machine.borrow_mut());
                }
                return Ok(());
            }
            let (cut, estimate) = (is_cut(), None);
            self.receiver.take(Taken { plan: taken.plan, sample, truth: truth.as_ref(), end: taken.end, cut, estimate })
        };
        run::drive(session, &mut clock, self.schedule, sink)?;
        let Some((windows, plan)) = windows.zip(sampled_plan) else { return self.conclude(None) };
        let estimate = windows.into_inner().estimate(&self.machine.borrow()).map_err(Failure::failed)?;
        let taken = estimated(&plan, &estimate, is_cut());
        let widest = self.receiver.widest(&taken);
        self.receiver.take(taken)?;
        self.conclude(Some((&estimate, widest)))
    }

    /// What is to be said of the run at its end; the status to end with.
    fn conclude(&mut self, estimate: Option<(&Estimate, Option<Widest>)>) -> Result<ExitCode, Failure> {
        let said = self.program.as_ref().map(Program::end);
        let status = said.as_ref().map_or(ExitCode::SUCCESS, |said| said.exit());
        if let Some(said) = &said {
            said.warn();
        }
        let machine = self.machine.borrow();
        let run = machine.clocks().seconds(self.begun, machine.now());
        let seconds = estimate.as_ref().map_or(run, |(estimate, _)| estimate.sample.seconds);
        let real = self.started.elapsed().as_secs_f64();
        let progress = machine.progress();
        let slower = real / seconds.max(1e-12);
        let mut words = String::new();
        // A text takes whatever is written to it.
        let _ = match (&said, machine.program()) {
            (Some(said), Some(counts)) => said.print(&mut words, &counts),
            _ if estimate.is_some() => writeln!(words, " accesses: {} in detail", progress.done),
            _ => writeln!(words, " accesses: {} of {}", progress.done, progress.total),
        };
        if let Some(((estimate, widest), request)) = estimate.zip(self.task.course.sampling) {
            words += &windows::words(estimate, request, widest.as_ref(), self.program.is_some());
        }
        let time = figures::seconds(seconds);
        let _ = writeln!(words, " virtual time: {time} s; real time: {real:.2} s, {slower:.0} times as long");
        let latencies = machine.latencies().map(histogram);
        drop(machine);
        if let Some(latencies) = latencies {
            self.receiver.latencies(&latencies)?;
        }
        self.receiver.remark(&words)?;
        Ok(status)
    }
}

/// What windows say of a whole run, on its way to the receiver.
const fn estimated<'a>(plan: &'a Plan, estimate: &'a Estimate, cut: bool) -> Taken<'a> {
    let Estimate { sample, truth, .. } = estimate;
    Taken { plan, sample, truth: truth.as_ref(), end: None, cut, estimate: Some(estimate) }
}

/// How far a machine has come with its work. A program that has the terminal for itself is left alone with it.
fn how_far(program: Option<&Program>, windows: Option<&RefCell<WindowCounts>>, machine: &Machine) -> Option<WorkDone> {
    let Progress { done, total } = machine.progress();
    if let Some((done, total, what)) = windows.and_then(|windows| windows.borrow().progress(machine)) {
        return Some(WorkDone::Share { done, total, what });
    }
    match program {
        None => Some(WorkDone::Share { done, total, what: "accesses" }),
        Some(program) => match program.replayed() {
            Some((done, total)) => Some(WorkDone::Share { done, total, what: "bytes of the trace" }),
            None if io::stdout().is_terminal() => None,
            None => Some(WorkDone::Open { accesses: done, seconds: machine.seconds() }),
        },
    }
}

fn histogram(of: ReadLatencies<'_>) -> Histogram {
    let ReadLatencies { what, latencies, nanoseconds } = of;
    let mean = latencies.cycles() as f64 / latencies.reads().max(1) as f64 * nanoseconds;
    let counts = latencies.counts().map(|(cycles, reads)| (cycles as f64 * nanoseconds, reads)).collect();
    Histogram { what, counts, mean, most: latencies.most() as f64 * nanoseconds }
}
