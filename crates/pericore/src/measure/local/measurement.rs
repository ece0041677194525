//! One run: a session is begun, sampled when it is time, and ended.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use pericore_observe::by_socket::{SocketThreads, TurnLength, WorkerClock};
use pericore_observe::kernel::{KernelCounters, KernelPlan};
use pericore_observe::linux::privileges::{self, Needs};
use pericore_observe::linux::{Host, Stopwatch};
use pericore_observe::plan::Plan;
use pericore_observe::register_process::{RegisterProcess, RemoteSpace};
use pericore_observe::run::{self, Backend, Clock, Joined, JoinedPart, Passed, Schedule, Stretch};
use pericore_observe::selection::Selection;
use pericore_observe::session::{Entrance, Guard, JournalFile, Moment, Options, OtherSessions};

use super::dead_time::DeadTime;
use super::{TURN, elsewhere, is_ended, taint, ways};
use crate::confined::{ThreadPart, confine};
use crate::failure::Failure;
use crate::measure::child::Measured;
use crate::measure::interrupt::{HoldsRegisters, Interrupt};
use crate::measure::invoker::Invoker;
use crate::measure::wakeup::Wakeup;
use crate::measure::{Receiver, Taken, Task, say_nothing_was_measured};
use crate::{notice, restore};
use pericore_emulation::silent::Silent;

/// What is to be counted, and in which way.
pub struct ToCount {
    /// All of it.
    pub selection: Selection,
    /// What is counted by registers.
    pub registers: Option<ByRegisters>,
    /// What the kernel counts, and the index that each of its events has in the selection.
    pub kernel: Option<(KernelPlan, Vec<usize>)>,
}

/// A plan for registers. Nobody else may enter until its session has started.
pub struct ByRegisters {
    pub plan: Plan,
    /// The index that each of its events has in the whole selection.
    pub events: Vec<usize>,
    pub sessions: OtherSessions,
    pub entrance: Entrance,
}

impl ToCount {
    /// What is counted where.
    pub fn plan(&self) -> Plan {
        let registers = self.registers.iter().map(|part| (&part.plan, &part.events[..]));
        let kernel = self.kernel.iter().map(|(plan, events)| (&plan.plan, &events[..]));
        Plan::joined(self.selection.clone(), registers.chain(kernel))
    }
}

/// One run of the command.
pub struct Measurement<'a> {
    pub task: Task<'a>,
    pub schedule: Schedule,
    pub host: &'a Host,
    /// Which holds the registers.
    pub process: &'a Arc<RegisterProcess>,
    /// No run came before it.
    pub is_first: bool,
    /// No run follows, so that nothing has to be opened any more.
    pub is_last: bool,
    pub watch: Stopwatch,
    pub interrupt: &'a Interrupt,
    pub wakeup: &'a mut Wakeup,
    /// On a software machine that runs for us.
    pub silent: Silent,
    pub receiver: &'a mut dyn Receiver,
}

impl Measurement<'_> {
    /// Nobody else may enter until the session has started.
    pub fn measure(&mut self, prepared: ToCount) -> Result<ExitCode, Failure> {
        let Task { args, .. } = self.task;
        let watch = self.watch;
        let has_program = !args.program.words().is_empty();
        let user = Invoker::of_sudo().filter(|_| has_program && !args.as_root);
        if let Some(user) = user.as_ref().filter(|_| self.is_first) {
            notice::warn(format!("the program runs as {user}, who called sudo; --as-root runs it as root"));
        }
        // Declared first, so dropped last: an error in between puts the registers back before it waits for the program.
        let mut program;
        let holds = HoldsRegisters::begin();
        let ToCount { selection, registers, kernel } = prepared;
        let mut folders = Vec::new();
        let registers = registers.map(|registers| self.by_registers(registers, &mut folders)).transpose()?;
        let kernel = kernel.map(|(plan, events)| {
            let family = plan.plan.selection.family;
            let backend = KernelCounters::start(self.host.root(), plan, || watch.moment());
            backend
                .map(|backend| JoinedPart { backend, events })
                .map_err(|error| elsewhere(ways::failure(error, family), self.host))
        });
        let are_two = registers.is_some() && kernel.is_some();
        let mut counters = Joined::new(selection, registers, kernel.transpose()?);
        if are_two {
            // One began after the other: what was counted until here is nobody's.
            counters.sample(&|| watch.moment());
        }
        program = match Measured::start(args.program.words(), user.as_ref()) {
            Ok(program) => program,
            Err(failure) => {
                counters.stop().map_err(Failure::failed)?;
                return Err(failure);
            }
        };
        folders.extend(self.receiver.writes_in());
        if self.is_last {
            give_up_rights(counters.first_mut(), program.is_some(), &folders);
        }
        if program.is_none() && args.timeout.is_none() && !self.receiver.is_seen() && io::stderr().is_terminal() {
            notice::warn("counting until Ctrl-C");
        }
        let schedule = match self.receiver.needs_every_sample() {
            true => self.schedule.without_wraps(counters.plan()),
            false => self.schedule,
        };
        let mut clock = WallTime { watch, wakeup: self.wakeup, interrupt: self.interrupt, program: program.as_mut() };
        if let Some(delay) = args.delay
            && run::skip(&mut counters, &mut clock, delay / 1e3)? == Passed::Over
        {
            say_nothing_was_measured(delay);
            counters.stop()?;
            return program.map_or(Ok(ExitCode::SUCCESS), Measured::end);
        }
        let ender = clock.wakeup.ender().clone();
        let mut dead_time = DeadTime::default();
        // A screen that is drawn has no room for lines of others.
        let is_drawn = self.receiver.is_seen();
        // Doubts what the model of a software machine that we run on says nothing of.
        let sink = |taken: run::Taken<'_>| {
            let cut = self.interrupt.signal().is_some() || ender.is_requested();
            let sample = &*self.silent.doubt(taken.sample);
            if !is_drawn {
                dead_time.note(sample);
            }
            self.receiver.take(Taken { plan: taken.plan, sample, truth: None, end: taken.end, cut, estimate: None })
        };
        // The registers are put back here: a program that takes its time to end should not keep them.
        run::drive(counters, &mut clock, &schedule, sink)?;
        drop(holds);
        program.map_or(Ok(ExitCode::SUCCESS), Measured::end)
    }
}

impl Measurement<'_> {
    /// Sets up and starts the counters that are reached by registers. `folders` are those in which it makes and removes
    /// files.
    fn by_registers(
        &self,
        registers: ByRegisters,
        folders: &mut Vec<PathBuf>,
    ) -> Result<JoinedPart<SocketThreads<RemoteSpace>>, Failure> {
        let args = self.task.args;
        let ByRegisters { plan, events, sessions, entrance } = registers;
        // Before the journal is written: what forbids the first write leaves nothing behind.
        self.host.may_write(plan.operations()).map_err(Failure::failed)?;
        if self.is_first && taint::comes_with(self.host.root(), &plan) {
            notice::warn(taint::WARNING);
        }
        let guard = if args.guard { Guard::All } else { Guard::InTurn };
        let path = match &args.journal {
            Some(path) => path.clone(),
            None => restore::journal_of_this_process()?,
        };
        folders.extend([folder(&path), folder(&restore::journal_of_this_process()?)]);
        folders.extend(sessions.meeting_place().map(|place| place.path().to_owned()).filter(|path| path.exists()));
        let journal = JournalFile { path, boot: restore::boot()?, machine: restore::this_machine() };
        let take_over = args.take_over;
        let options = Options { take_over, guard, journal: Some(journal), other_sessions: Some(sessions) };
        let watch = self.watch;
        let turns = match args.rotate {
            Some(milliseconds) => TurnLength::fixed(milliseconds / 1e3),
            None => TurnLength::at_least(TURN).within(self.schedule.interval, plan.rounds()),
        };
        let turns = if self.task.course.is_sparing { turns.sparing() } else { turns };
        // If this process is killed, the other one puts back.
        for journal in options.journals() {
            let noted = self.process.note_journal(&journal.path);
            noted.map_err(|error| Failure::failed(format!("the process of the registers does not reply: {error}")))?;
        }
        let (host, process) = (self.host.clone(), Arc::clone(self.process));
        let clock = WorkerClock::new(move || watch.moment());
        let registers = move |socket| {
            host.stay_near(socket);
            process.connect(Some(socket))
        };
        let backend = SocketThreads::start(plan, options, turns, &clock, registers)
            .map_err(|error| elsewhere(Failure::failed(error), self.host))?;
        drop(entrance);
        Ok(JoinedPart { backend, events })
    }
}

/// The wall's time. It passes while we sleep.
struct WallTime<'a> {
    watch: Stopwatch,
    wakeup: &'a mut Wakeup,
    interrupt: &'a Interrupt,
    /// Its end is the end of the measurement.
    program: Option<&'a mut Measured>,
}

impl Clock for WallTime<'_> {
    type Error = Failure;

    fn moment(&self) -> Moment {
        self.watch.moment()
    }

    fn pass(&mut self, stretch: Stretch) -> Result<Passed, Failure> {
        let left = stretch.until.map(|until| until.saturating_sub(self.now()) as f64 / self.ticks_per_second() as f64);
        self.wakeup.sleep(left)?;
        let has_ended = self.program.as_mut().map_or(Ok(false), |program| program.has_ended())?;
        Ok(if has_ended || is_ended(self.interrupt, self.wakeup) { Passed::Over } else { Passed::On })
    }
}

/// The folder that a file is in.
fn folder(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Gives up every capability that neither measuring nor putting back takes, in this thread and in those of the sockets:
/// counters of the kernel take none once they are open. The program has been started: what it may do is its own matter.
fn give_up_rights(threads: Option<&mut SocketThreads<RemoteSpace>>, has_program: bool, folders: &[PathBuf]) {
    let of_sockets = threads.map_or_else(Vec::new, |threads| {
        threads.each(|session| {
            let operations: Vec<_> = session.plan().operations().collect();
            let space = session.space_mut();
            space.hold_open(operations)?;
            space.give_up_rights()?;
            privileges::keep_only(Needs::default())?;
            // It exchanges messages with the register process, and nothing else.
            confine(ThreadPart::Measuring, &[]);
            Ok(())
        })
    });
    let paths: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
    let own = privileges::keep_only(Needs { ends_a_program: has_program, folders: &paths, ..Needs::default() });
    confine(ThreadPart::Measuring, folders);
    if let Some(error) = of_sockets.into_iter().chain([own]).find_map(Result::err) {
        notice::warn(format!(
            "cannot drop capabilities that are no longer needed: {error}; measuring continues with them"
        ));
    }
}
