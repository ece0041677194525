//! Measuring this machine: its own registers, wall time, and a program as a child, or everything until the end is asked for.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use pericore_observe::linux::{Host, LinuxSpace, Stopwatch};
use pericore_observe::plan::Plan;
use pericore_observe::session::{Entrance, Guard, JournalFile, Neighbourhood, Options, Sample, Session};

use super::child::Measured;
use super::interrupt::Interrupt;
use super::repeat::Runs;
use super::wakeup::Wakeup;
use super::{StatArgs, preparation, rows, say_nothing_was_measured};
use crate::failure::Failure;
use crate::notice;
use crate::{restore, target};

/// Seconds of a round, unless the user says.
const TURN: f64 = 10e-3;

/// Seconds between two looks for an overflow: the counters stand until then.
const POLL: f64 = 1e-3;

/// Names the software machine to the programs that `pericore machine run` and `machine boot` start. To us its registers are like a Xeon's: only
/// this tells.
pub const STANDS_IN: &str = "PERICORE_EMULATED";

/// The software machine that we are on, if it said so.
fn stand_in() -> Option<String> {
    std::env::var(STANDS_IN).ok().filter(|name| !name.is_empty())
}

/// Runs `pericore stat` without `--machine`.
///
/// # Errors
/// A machine whose uncore is not known or not reachable, a command line that cannot be carried out, or a run that failed.
pub fn run(args: &StatArgs) -> Result<ExitCode, Failure> {
    on(args, &target::host()?)
}

/// The same on a host that is known.
fn on(args: &StatArgs, host: &Host) -> Result<ExitCode, Failure> {
    let family = host.family().map_err(Failure::failed)?;
    if args.repeat > 1 && args.program.words().is_empty() && args.timeout.is_none() {
        return Err(Failure::usage("-r repeats a program: name one, or give each run an end with --timeout"));
    }
    if let Some(what) = args.only_for_software() {
        return Err(Failure::usage(format!(
            "{what} is for software machines; add --machine {}, or leave it out",
            family.name
        )));
    }
    let selection = args.selection(family)?;
    let mut space = host.space();
    let elsewhere = |failure: Failure| {
        failure.with_advice(&format!(
            "`pericore doctor` says what else is missing; --machine {} counts on a software machine instead",
            family.name
        ))
    };
    if args.is_forecast() {
        let plan = preparation::plan(args, &mut space, &host.cpus, selection).map_err(elsewhere)?;
        preparation::forecast(args, &plan)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = args.open_output()?;
    let mut runs = Runs::new(args.repeat);
    let mut watching: Option<(Interrupt, Wakeup)> = None;
    let mut status = ExitCode::SUCCESS;
    for run in 0..args.repeat {
        let neighbourhood = restore::neighbourhood()?;
        let (plan, entrance) =
            preparation::plan_among(args, &mut space, &host.cpus, &selection, &neighbourhood).map_err(elsewhere)?;
        if run == 0 {
            preparation::warn_of_wraps(args, &plan);
        }
        // Before the first write to a register: from here on signals end the measurement, and everything is put back.
        let (interrupt, wakeup) = match &mut watching {
            Some(watching) => watching,
            None => watching.insert((Interrupt::watch()?, Wakeup::new()?)),
        };
        if run == 0 && !args.json && args.separator.is_none() {
            writeln!(out, "\n {}", title(args, host, &plan))?;
        }
        let mut measurement = Measurement { args, watch: Stopwatch::default(), interrupt, wakeup, runs: &mut runs };
        let place = (neighbourhood, entrance);
        status = measurement.measure(host.space(), plan, place, elsewhere, &mut out)?;
        if interrupt.signal().is_some() {
            break;
        }
    }
    if let Some(report) = runs.finish() {
        args.print(&mut out, &report, stand_in().as_deref())?;
    }
    out.flush()?;
    Ok(watching.map_or(status, |(interrupt, _)| interrupt.exit(status)))
}

/// What is measured, above the table.
fn title(args: &StatArgs, host: &Host, plan: &Plan) -> String {
    let processor = &host.processor.brand;
    let name = if processor.is_empty() { plan.selection.family.name } else { processor.as_str() };
    let sockets = plan.sockets.len();
    let plural = if sockets == 1 { "" } else { "s" };
    let words: Vec<_> = args.program.words().iter().map(|word| word.to_string_lossy()).collect();
    let what = if words.is_empty() { "system wide".to_owned() } else { words.join(" ") };
    let emulated = stand_in().map_or_else(String::new, |machine| format!("EMULATED {machine}: "));
    format!("{emulated}{name}, {sockets} socket{plural}: {what}")
}

/// One run of the command.
struct Measurement<'a> {
    args: &'a StatArgs,
    watch: Stopwatch,
    interrupt: &'a Interrupt,
    wakeup: &'a mut Wakeup,
    runs: &'a mut Runs,
}

impl Measurement<'_> {
    fn measure(
        &mut self,
        space: LinuxSpace,
        plan: Plan,
        (neighbourhood, entrance): (Neighbourhood, Entrance),
        elsewhere: impl Fn(Failure) -> Failure,
        out: &mut dyn Write,
    ) -> Result<ExitCode, Failure> {
        let takes_turns = plan.rounds() > 1;
        let guard = if self.args.guard { Guard::All } else { Guard::InTurn };
        let path = match &self.args.journal {
            Some(path) => path.clone(),
            None => restore::journal_of_this_process()?,
        };
        let journal = JournalFile { path, boot: restore::boot()?, machine: restore::LOCAL.to_owned() };
        let take_over = self.args.take_over;
        let options = Options { take_over, guard, journal: Some(journal), neighbourhood: Some(neighbourhood) };
        let watch = self.watch;
        let mut session =
            Session::start(space, plan, options, |_| watch.moment()).map_err(Failure::failed).map_err(elsewhere)?;
        drop(entrance);
        let program = Measured::start(self.args.program.words());
        let mut program = match program {
            Ok(program) => program,
            Err(failure) => {
                session.stop().map_err(Failure::failed)?;
                return Err(failure);
            }
        };
        if program.is_none() && self.args.timeout.is_none() && io::stderr().is_terminal() {
            notice::say("counting until Ctrl-C");
        }
        if let Some(delay) = self.args.delay
            && !self.sit_out(delay, &mut session, program.as_mut())?
        {
            say_nothing_was_measured(delay);
            session.stop().map_err(Failure::failed)?;
            return program.map_or(Ok(ExitCode::SUCCESS), Measured::end);
        }
        let start = watch.moment().seconds;
        let seconds = |milliseconds: Option<f64>| milliseconds.map(|milliseconds| milliseconds / 1e3);
        let interval = seconds(self.args.interval);
        let deadline = seconds(self.args.timeout);
        let turn = takes_turns.then(|| seconds(self.args.rotate).unwrap_or(TURN));
        let (mut next_print, mut next_turn) = (interval, turn);
        loop {
            let now = watch.moment().seconds - start;
            let look = self.args.period.map(|_| now + POLL);
            let next = [next_print, next_turn, deadline, look].into_iter().flatten().reduce(f64::min);
            self.wakeup.sleep(next.map(|next| next - now))?;
            let now = watch.moment().seconds - start;
            let has_ended = program.as_mut().map_or(Ok(false), Measured::has_ended)?;
            let over = has_ended || self.interrupt.signal().is_some() || deadline.is_some_and(|end| now >= end);
            if !over && next_turn.is_some_and(|next| now >= next) {
                session.rotate(|_| watch.moment());
                next_turn = after(now, next_turn, turn);
            }
            if let Some(sample) = session.sample_on_overflow(|_| watch.moment()) {
                self.print(&session, &sample, Some(watch.moment().seconds - start), out)?;
            }
            if over || next_print.is_some_and(|next| now >= next) {
                if over {
                    session.check_controls();
                }
                let sample = session.sample(|_| watch.moment());
                let goes_on = interval.is_some() || self.args.period.is_some();
                self.print(&session, &sample, goes_on.then(|| watch.moment().seconds - start), out)?;
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
            if program.as_mut().map_or(Ok(false), |program| program.has_ended())? || self.interrupt.signal().is_some() {
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

    fn print(
        &mut self,
        session: &Session<LinuxSpace>,
        sample: &Sample,
        interval_end: Option<f64>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let report = rows::report(session.plan(), sample, None, self.args.scope(), interval_end);
        match self.runs.take(report) {
            Some(report) => self.args.print(out, &report, stand_in().as_deref()),
            None => Ok(()),
        }
    }
}

/// The next time on a grid that does not drift; times that were missed are left out.
fn after(now: f64, due: Option<f64>, step: Option<f64>) -> Option<f64> {
    let (due, step) = (due?, step?);
    Some(due + step * (((now - due) / step).floor() + 1.0).max(1.0))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use pericore_observe::linux::{Processor, Root};

    use super::*;
    use crate::failure::FAILED;
    use crate::stat::tests::parsed;

    /// What running on a machine of this processor comes to, whose files are in `folder`.
    fn refusal(folder: &Path, model: u16, line: &[&str]) -> Failure {
        let put = |path: &str, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("sys/devices/system/cpu/online", "0\n");
        put("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
        let processor = Processor { vendor: "GenuineIntel".to_owned(), family: 6, model, ..Processor::default() };
        let host = Host::new(Root::at(folder), processor).unwrap();
        on(&parsed(line), &host).unwrap_err()
    }

    /// Model 45 is the E5-2600; nothing of its registers can be reached here.
    #[test]
    fn what_is_missing_is_said_with_what_to_do() {
        let folder = std::env::temp_dir().join(format!("pericore-local-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let unknown = refusal(&folder, 1, &["-e", "cbo/CLOCKTICKS/"]);
        let absent = refusal(&folder, 45, &["-e", "cbo/CLOCKTICKS/"]);
        let misplaced = refusal(&folder, 45, &["--workload", "stream"]);
        fs::remove_dir_all(&folder).unwrap();
        assert!(unknown.to_string().contains("no uncore that pericore knows"), "{unknown}");
        assert!(unknown.to_string().contains("--machine e5-2600"), "{unknown}");
        for part in ["modprobe msr", "pericore doctor", "--machine e5-2600"] {
            assert!(absent.to_string().contains(part), "{part}: {absent}");
        }
        assert_eq!(absent.status(), FAILED);
        assert!(misplaced.to_string().contains("--workload is for software machines"), "{misplaced}");
    }

    #[test]
    fn times_stay_on_their_grid_and_missed_ones_are_left_out() {
        assert_eq!(after(1.0, Some(1.0), Some(1.0)), Some(2.0));
        assert_eq!(after(1.25, Some(1.0), Some(1.0)), Some(2.0));
        assert_eq!(after(4.5, Some(1.0), Some(1.0)), Some(5.0));
        assert_eq!(after(4.5, None, None), None);
    }
}
