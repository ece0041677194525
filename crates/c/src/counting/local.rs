//! Counting on this machine, in wall time: through the kernel's driver if it counts all that is wanted, else by
//! registers.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::Duration;

use pericore_catalog::kernel::{self, ShippedKernel};
use pericore_observe::by_socket::{SocketThreads, TurnLength, WorkerClock};
use pericore_observe::discover::discover;
use pericore_observe::kernel::{KernelCounters, KernelPlan, KernelPmus, LinuxPerf};
use pericore_observe::linux::{Host, LinuxSpace, Processor, Root, Stopwatch, sessions};
use pericore_observe::plan::freezes_sockets;
use pericore_observe::run::{self, Backend, Clock, Joined, JoinedPart, Passed, Schedule, Stretch};
use pericore_observe::selection::Selection;
use pericore_observe::session::{Guard, JournalFile, Moment, Options, prepare};

use super::desk::{Desk, Next, OrderReply, OrderRequest};
use super::wanted::{CountedEvents, Sizes};
use crate::code::{CallFailure, Code};

/// Seconds of a round where events take turns.
const TURN: f64 = 10e-3;

/// Seconds between two samples at most, beside those at markers.
const LONGEST: f64 = 600.0;

type Counters = Joined<SocketThreads<LinuxSpace>, KernelCounters>;

/// Counts until nobody can order anything any more. `begun` hears when the counters run.
pub(super) fn count(
    wanted: &CountedEvents,
    orders: Receiver<OrderRequest>,
    begun: &Sender<Sizes>,
) -> Result<(), CallFailure> {
    let host = Host::new(Root::default(), Processor::here()).map_err(CallFailure::unavailable)?;
    let family = host.family().map_err(CallFailure::unavailable)?;
    let driven = kernel::of(family).map_or(family, ShippedKernel::driven_family);
    let mut selection = wanted.selection(driven)?;
    selection.threads_per_core = Some(host.threads_per_core());
    let sizes = Sizes::of(&selection);
    let watch = Stopwatch::default();
    let counters = start(&host, selection, watch)?;
    let desk = Desk::new(counters.plan().clone());
    let schedule = Schedule { interval: Some(LONGEST), ..Schedule::until_the_end(TURN) }.without_wraps(counters.plan());
    let mut clock = WallTime { watch, desk: &desk, orders, sleeping: Vec::new() };
    // The caller waits for it.
    let _ = begun.send(sizes);
    run::drive(counters, &mut clock, &schedule, |taken| {
        desk.take(taken.sample);
        Ok(())
    })
}

fn start(host: &Host, selection: Selection, watch: Stopwatch) -> Result<Counters, CallFailure> {
    let events: Vec<usize> = (0..selection.events.len()).collect();
    match through_kernel(host, &selection) {
        Ok(plan) => {
            let backend =
                KernelCounters::start(host.root(), plan, || watch.moment()).map_err(CallFailure::unavailable)?;
            Ok(Joined::new(selection, None, Some(JoinedPart { backend, events })))
        }
        Err(why) if kernel::counts_alone(selection.family) => Err(CallFailure::unavailable(why)),
        Err(why) => {
            let beside = |fault: CallFailure| CallFailure {
                text: format!("{}; through the kernel: {why}", fault.text),
                ..fault
            };
            let backend = by_registers(host, &selection, watch).map_err(beside)?;
            Ok(Joined::new(selection, Some(JoinedPart { backend, events }), None))
        }
    }
}

/// What the kernel is asked for, or why it does not count all of it.
fn through_kernel(host: &Host, selection: &Selection) -> Result<KernelPlan, String> {
    if sessions::emulated().is_some() || host.is_stood_in_for() {
        return Err("a program stands in for this machine's registers".to_owned());
    }
    let directory = sessions::state_directory();
    let seen = directory.and_then(|directory| sessions::other_sessions(directory).ok()?.look().ok());
    if seen.is_some_and(|seen| !seen.sessions.is_empty()) {
        // The driver does not know of them, and would take their counters.
        return Err("another session of pericore counts by registers".to_owned());
    }
    let plan = KernelPmus::of(host).and_then(|pmus| pmus.prepare(selection.clone()));
    let plan = plan.and_then(|plan| plan.probe(&mut LinuxPerf, host.root()).map(|()| plan));
    plan.map_err(|error| error.to_string())
}

fn by_registers(
    host: &Host,
    selection: &Selection,
    watch: Stopwatch,
) -> Result<SocketThreads<LinuxSpace>, CallFailure> {
    let no_state = "neither XDG_STATE_HOME nor HOME names a folder by an absolute path; sessions find each other there";
    let directory = sessions::state_directory().ok_or_else(|| CallFailure::unavailable(no_state))?;
    let others = sessions::other_sessions(directory.clone()).map_err(CallFailure::unavailable)?;
    // Until the session has started nobody else may set up.
    let entrance = others.enter().map_err(CallFailure::unavailable)?;
    let mut space = host.space();
    let whole = freezes_sockets(selection.family);
    let topology = discover(&mut space, selection.family, &host.cpus, |unit| whole || selection.uses(unit));
    let topology = topology.map_err(CallFailure::unavailable)?;
    let plan = prepare(&mut space, &topology, selection.clone(), Default::default(), Some(&others));
    let plan = plan.map_err(CallFailure::unavailable)?;
    // Before the journal is written: what forbids the first write leaves nothing behind.
    host.may_write(plan.operations()).map_err(CallFailure::unavailable)?;
    let journal = JournalFile {
        path: sessions::journal_of_this_process(&directory, next_number()),
        boot: sessions::boot().map_err(CallFailure::unavailable)?,
        machine: sessions::this_machine(),
    };
    let options =
        Options { take_over: false, guard: Guard::InTurn, journal: Some(journal), other_sessions: Some(others) };
    let host = host.clone();
    let registers = move |socket| host.space_of(socket);
    let clock = WorkerClock::new(move || watch.moment());
    let counters = SocketThreads::start(plan, options, TurnLength::at_least(TURN), &clock, registers)?;
    drop(entrance);
    Ok(counters)
}

/// Tells the journals of one process apart.
fn next_number() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static SESSIONS: AtomicU32 = AtomicU32::new(0);
    SESSIONS.fetch_add(1, Ordering::Relaxed)
}

/// The wall's time. It passes while orders are waited for.
struct WallTime<'a> {
    watch: Stopwatch,
    desk: &'a Desk,
    orders: Receiver<OrderRequest>,
    /// Callers that sleep, and until when.
    sleeping: Vec<(u64, SyncSender<Result<OrderReply, CallFailure>>)>,
}

impl WallTime<'_> {
    fn wake(&mut self) {
        let now = self.now();
        self.sleeping.retain(|(until, reply)| {
            if *until > now {
                return true;
            }
            let _ = reply.send(Ok(OrderReply::Code(Code::Ok)));
            false
        });
    }
}

impl Clock for WallTime<'_> {
    type Error = CallFailure;

    fn moment(&self) -> Moment {
        self.watch.moment()
    }

    fn pass(&mut self, stretch: Stretch) -> Result<Passed, CallFailure> {
        loop {
            self.wake();
            let now = self.now();
            if stretch.until.is_some_and(|until| until <= now) {
                return Ok(Passed::On);
            }
            let next = self.sleeping.iter().map(|(until, _)| *until).chain(stretch.until).min();
            let received = match next {
                Some(next) => self.orders.recv_timeout(Duration::from_nanos(next - now)),
                None => self.orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let request = match received {
                Ok(request) => request,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(Passed::Over),
            };
            match self.desk.receive(request) {
                Next::Nothing => {}
                Next::Sample => return Ok(Passed::Marked),
                Next::Run(length, reply) => {
                    let length = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
                    self.sleeping.push((now.saturating_add(length), reply));
                }
            }
        }
    }
}
