//! Virtual time: it passes while a software machine runs.

use pericore_machine::signal::Tick;
use pericore_machine::{Machine, SharedMachine};
use pericore_observe::run::{Clock, Passed, Stretch};
use pericore_observe::session::{Moment, SessionError};

/// Between two looks at signals, progress and the end of the workload lies a slice: this part of the time that the
/// sample has taken so far. What is measured ends at the first look after the end of the workload, so rates are too
/// low by at most one slice.
const LOOKS_A_SAMPLE: u64 = 1000;

/// Virtual seconds of a slice at most: so soon a signal is obeyed.
const LONGEST: f64 = 100e-6;

/// Virtual seconds of a slice at least: shorter ones would cost more than what runs in them.
const SHORTEST: f64 = 10e-9;

/// The machine's time, from the tick at which the measurement has begun.
pub fn moment(machine: &SharedMachine, begun: Tick) -> Moment {
    let machine = machine.borrow();
    let clocks = machine.clocks();
    Moment { seconds: clocks.seconds(begun, machine.now()), tsc: clocks.timestamp(machine.now()) }
}

/// The clock of a software machine. After each slice `watch` looks at the machine, and ends the measurement with
/// [`Passed::Over`]; the end of the workload ends it, too.
#[derive(Debug)]
pub struct VirtualClock<W> {
    machine: SharedMachine,
    begun: Tick,
    /// An overflow is waited for: the driver looks so often that nothing else has to.
    is_polled: bool,
    watch: W,
}

impl<W> VirtualClock<W> {
    /// The clock of a measurement that begins at a tick.
    pub fn new<E>(machine: SharedMachine, begun: Tick, is_polled: bool, watch: W) -> Self
    where
        W: FnMut(&Machine) -> Result<Passed, E>,
    {
        Self { machine, begun, is_polled, watch }
    }
}

impl<E, W> Clock for VirtualClock<W>
where
    E: From<SessionError>,
    W: FnMut(&Machine) -> Result<Passed, E>,
{
    type Error = E;

    fn ticks_per_second(&self) -> u64 {
        self.machine.borrow().clocks().ticks_per_second()
    }

    fn now(&self) -> u64 {
        self.machine.borrow().now() - self.begun
    }

    fn moment(&self) -> Moment {
        moment(&self.machine, self.begun)
    }

    fn pass(&mut self, stretch: Stretch) -> Result<Passed, E> {
        let second = self.ticks_per_second();
        let ticks = |seconds: f64| ((seconds * second as f64) as u64).max(1);
        let (shortest, longest) = (ticks(SHORTEST), ticks(LONGEST));
        loop {
            let now = self.now();
            let left = stretch.until.map(|until| until.saturating_sub(now));
            let slice = ((now - stretch.sample_began) / LOOKS_A_SAMPLE).clamp(shortest, longest);
            let slice = match left {
                Some(left) if self.is_polled => left,
                Some(left) => slice.min(left),
                None => slice,
            };
            self.machine.borrow_mut().run_for(slice);
            let machine = self.machine.borrow();
            let seen = (self.watch)(&machine)?;
            if seen == Passed::Over || machine.finished() {
                return Ok(Passed::Over);
            }
            if seen != Passed::On {
                return Ok(seen);
            }
            if left == Some(slice) {
                return Ok(Passed::On);
            }
        }
    }
}
