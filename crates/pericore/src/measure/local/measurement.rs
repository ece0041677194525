//! One run: a session is begun, sampled when it is time, and ended.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pericore_observe::linux::privileges::{self, Needs};
use pericore_observe::linux::{Host, LinuxSpace, Stopwatch};
use pericore_observe::plan::Plan;
use pericore_observe::session::{Entrance, Guard, JournalFile, Neighbourhood, Options, Sample, Session};

use super::{elsewhere, is_ended, turn};
use crate::failure::Failure;
use crate::measure::child::Measured;
use crate::measure::interrupt::Interrupt;
use crate::measure::silent::Silent;
use crate::measure::wakeup::Wakeup;
use crate::measure::{Receiver, Taken, Task, preparation, say_nothing_was_measured};
use crate::{notice, restore};

/// Seconds between two looks for an overflow: the counters stand until then.
const POLL: f64 = 1e-3;
/// One run of the command.
pub struct Measurement<'a> {
    pub task: Task<'a>,
    pub host: &'a Host,
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
    pub fn measure(
        &mut self,
        plan: Plan,
        neighbourhood: Neighbourhood,
        entrance: Entrance,
    ) -> Result<ExitCode, Failure> {
        let Task { args, course } = self.task;
        let takes_turns = plan.rounds() > 1;
        let guard = if args.guard { Guard::All } else { Guard::InTurn };
        let path = match &args.journal {
            Some(path) => path.clone(),
            None => restore::journal_of_this_process()?,
        };
        let mut folders = vec![folder(&path), folder(&restore::journal_of_this_process()?)];
        let journal = JournalFile { path, boot: restore::boot()?, machine: restore::this_machine() };
        let take_over = args.take_over;
        let options = Options { take_over, guard, journal: Some(journal), neighbourhood: Some(neighbourhood) };
        let watch = self.watch;
        // Declared first, so dropped last: an error in between puts the registers back before it waits for the program.
        let mut program;
        let mut session = Session::start(self.host.space(), plan, options, |_| watch.moment())
            .map_err(|error| elsewhere(Failure::failed(error), self.host))?;
        drop(entrance);
        program = match Measured::start(args.program.words()) {
            Ok(program) => program,
            Err(failure) => {
                session.stop().map_err(Failure::failed)?;
                return Err(failure);
            }
        };
        folders.extend(self.receiver.clears_up_in());
        if self.is_last {
            give_up_rights(&mut session, program.is_some(), &folders);
        }
        if program.is_none() && args.timeout.is_none() && !self.receiver.is_seen() && io::stderr().is_terminal() {
            notice::say("counting until Ctrl-C");
        }
        if let Some(delay) = args.delay
            && !self.sit_out(delay, &mut session, program.as_mut())?
        {
            say_nothing_was_measured(delay);
            session.stop().map_err(Failure::failed)?;
            return program.map_or(Ok(ExitCode::SUCCESS), Measured::end);
        }
        // Where the first sample begins: no sample is longer than the time that its end tells.
        let start = session.counts_since();
        let seconds = |milliseconds: Option<f64>| milliseconds.map(|milliseconds| milliseconds / 1e3);
        let interval = seconds(course.interval).map(|asked| match self.receiver.needs_every_sample() {
            true => preparation::without_wraps(asked, session.plan()),
            false => asked,
        });
        let deadline = seconds(args.timeout);
        let turn = takes_turns.then(|| turn(args));
        let (mut next_print, mut next_turn) = (interval, turn);
        let mut intervals = 0;
        loop {
            let now = watch.moment().seconds - start;
            let look = course.period.map(|_| now + POLL);
            let next = [next_print, next_turn, deadline, look].into_iter().flatten().reduce(f64::min);
            self.wakeup.sleep(next.map(|next| next - now))?;
            let now = watch.moment().seconds - start;
            let has_ended = program.as_mut().map_or(Ok(false), Measured::has_ended)?;
            let is_due = next_print.is_some_and(|next| now >= next);
            intervals += u64::from(is_due);
            let over = has_ended
                || self.is_ended()
                || deadline.is_some_and(|end| now >= end)
                || course.intervals.is_some_and(|most| intervals >= most);
            if !over && next_turn.is_some_and(|next| now >= next) {
                session.rotate(|_| watch.moment());
                next_turn = after(now, next_turn, turn);
            }
            if let Some(sample) = session.sample_on_overflow(|_| watch.moment()) {
                self.pass_on(&session, &sample, Some(watch.moment().seconds - start))?;
            }
            if over || is_due {
                if over {
                    session.check_controls();
                }
                let sample = session.sample(|_| watch.moment());
                let goes_on = interval.is_some() || course.period.is_some();
                self.pass_on(&session, &sample, goes_on.then(|| watch.moment().seconds - start))?;
                next_print = after(now, next_print, interval);
            }
            if over {
                break;
            }
        }
        // The registers first: a program that takes its time to end should not keep them.
        session.stop().map_err(Failure::failed)?;
        program.map_or(Ok(ExitCode::SUCCESS), Measured::end)
    }

    /// Waits for the end of the delay, and throws away what was counted until then. False if everything ends before.
    fn sit_out(
        &mut self,
        delay: f64,
        session: &mut Session<LinuxSpace>,
        mut program: Option<&mut Measured>,
    ) -> Result<bool, Failure> {
        let watch = self.watch;
        let end = watch.moment().seconds + delay / 1e3;
        loop {
            if program.as_mut().map_or(Ok(false), |program| program.has_ended())? || self.is_ended() {
                return Ok(false);
            }
            let left = end - watch.moment().seconds;
            if left <= 0.0 {
                session.sample(|_| watch.moment());
                return Ok(true);
            }
            self.wakeup.sleep(Some(left))?;
        }
    }

    fn is_ended(&self) -> bool {
        is_ended(self.interrupt, self.wakeup)
    }

    fn pass_on(&mut self, session: &Session<LinuxSpace>, sample: &Sample, end: Option<f64>) -> Result<(), Failure> {
        let cut = self.is_ended();
        let sample = &*self.silent.doubt(sample);
        self.receiver.take(Taken { plan: session.plan(), sample, truth: None, end, cut })
    }
}

/// The folder that a file is in.
fn folder(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Gives up every capability that neither measuring nor putting back takes. The program has been started: what it may do is its own matter.
fn give_up_rights(session: &mut Session<LinuxSpace>, has_program: bool, folders: &[PathBuf]) {
    let operations: Vec<_> = session.plan().operations().collect();
    let space = session.space_mut();
    space.hold_open(operations);
    let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
    let needs =
        Needs { reads_through_proc: space.reads_through_proc(), ends_a_program: has_program, folders: &folders };
    if let Err(error) = privileges::keep_only(needs) {
        notice::say(format!(
            "rights that are not needed any more cannot be given up: {error}; measuring goes on with them"
        ));
    }
}

/// The next time on a grid that does not drift; times that were missed are left out.
fn after(now: f64, due: Option<f64>, step: Option<f64>) -> Option<f64> {
    let (due, step) = (due?, step?);
    Some(due + step * (((now - due) / step).floor() + 1.0).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::after;

    #[test]
    fn times_stay_on_their_grid_and_missed_ones_are_left_out() {
        assert_eq!(after(1.0, Some(1.0), Some(1.0)), Some(2.0));
        assert_eq!(after(1.25, Some(1.0), Some(1.0)), Some(2.0));
        assert_eq!(after(4.5, Some(1.0), Some(1.0)), Some(5.0));
        assert_eq!(after(4.5, None, None), None);
    }
}
