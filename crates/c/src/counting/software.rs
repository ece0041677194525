//! Counting on a software machine: virtual time passes while an order to run is carried out.

use std::sync::mpsc::{Receiver, Sender, SyncSender};

use pericore_emulation::silent::Silent;
use pericore_emulation::{TURN, moment, plan, start};
use pericore_machine::signal::Tick;
use pericore_machine::workload::Scenario;
use pericore_machine::{MachineSpec, SharedMachine};
use pericore_observe::run::{self, Clock, Passed, Schedule, Stretch};
use pericore_observe::session::{Moment, Options, Session};

use super::desk::{Desk, Next, OrderReply, OrderRequest};
use super::wanted::{CountedEvents, Sizes};
use crate::code::{CallFailure, Code};

/// Virtual seconds between two looks for the end of the workload.
const LOOK: f64 = 100e-9;

/// Counts until nobody can order anything any more. `begun` hears when the counters run.
pub(super) fn count(
    machine: &str,
    workload: &str,
    wanted: &CountedEvents,
    orders: Receiver<OrderRequest>,
    begun: &Sender<Sizes>,
) -> Result<(), CallFailure> {
    let spec = MachineSpec::parse(machine).map_err(CallFailure::unknown)?;
    let limits = spec.limits().map_err(CallFailure::invalid)?;
    let scenario = Scenario::of(workload, &limits).map_err(CallFailure::unknown)?.warmed();
    let selection = wanted.selection(spec.family())?;
    let sizes = Sizes::of(&selection);
    let (machine, _) = start::begin(&spec, &scenario, false).map_err(CallFailure::invalid)?;
    let began = machine.now();
    let cpus = start::cpus(machine.chassis().shape());
    let mut machine = SharedMachine::new(machine);
    let plan = plan(&mut machine, &cpus, selection).map_err(CallFailure::invalid)?;
    let silent = Silent::of(spec.family(), &plan.selection);
    let desk = Desk::new(plan.clone());
    let mut clock = VirtualTime { machine: machine.clone(), began, desk: &desk, orders, running: None };
    let session = Session::start(machine, plan, Options::default(), |_| clock.moment())?;
    let schedule = Schedule { interval: Some(f64::MAX), ..Schedule::until_the_end(TURN) }.without_wraps(session.plan());
    // The caller waits for it.
    let _ = begun.send(sizes);
    run::drive(session, &mut clock, &schedule, |taken| {
        desk.take(&silent.doubt(taken.sample));
        Ok(())
    })
}

/// Virtual time. It stands still until it is ordered to pass.
struct VirtualTime<'a> {
    machine: SharedMachine,
    /// When counting begins, in ticks.
    began: Tick,
    desk: &'a Desk,
    orders: Receiver<OrderRequest>,
    /// Until when time passes, and who waits for it.
    running: Option<(u64, SyncSender<Result<OrderReply, CallFailure>>)>,
}

impl VirtualTime<'_> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "casts saturate, and no length is known to 53 bits"
    )]
    fn ticks(&self, seconds: f64) -> u64 {
        (seconds * self.ticks_per_second() as f64) as u64
    }

    /// Runs to a time, or to the end of the workload; true if that has come.
    fn run_to(&self, until: u64) -> bool {
        let look = self.ticks(LOOK).max(1);
        let mut machine = self.machine.borrow_mut();
        while !machine.finished() {
            let left = until.saturating_sub(machine.now() - self.began);
            if left == 0 {
                return false;
            }
            machine.run_for(left.min(look));
        }
        true
    }
}

impl Clock for VirtualTime<'_> {
    type Error = CallFailure;

    fn ticks_per_second(&self) -> u64 {
        self.machine.borrow().clocks().ticks_per_second()
    }

    fn now(&self) -> u64 {
        self.machine.borrow().now() - self.began
    }

    fn moment(&self) -> Moment {
        moment(&self.machine, self.began)
    }

    fn pass(&mut self, stretch: Stretch) -> Result<Passed, CallFailure> {
        loop {
            if let Some((target, reply)) = self.running.take() {
                let until = stretch.until.map_or(target, |until| until.min(target));
                if self.run_to(until) {
                    let _ = reply.send(Ok(OrderReply::Code(Code::Ended)));
                } else if until == target {
                    let _ = reply.send(Ok(OrderReply::Code(Code::Ok)));
                } else {
                    self.running = Some((target, reply));
                    return Ok(Passed::On);
                }
            }
            let Ok(request) = self.orders.recv() else { return Ok(Passed::Over) };
            match self.desk.receive(request) {
                Next::Nothing => {}
                Next::Sample => return Ok(Passed::Marked),
                Next::Run(length, reply) => {
                    self.running = Some((self.now().saturating_add(self.ticks(length.as_secs_f64())), reply));
                }
            }
        }
    }
}
