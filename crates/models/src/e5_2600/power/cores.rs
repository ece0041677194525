//! A core's C-states.

use pericore_engine::Tick;
use pericore_facts::e5_2600::{CoreState, E5Fact, E5Reader, PowerFact, PowerState};

use super::Out;
use pericore_workload::CoreSleep;

// Microseconds of the hardware's part in a change (assumption: the drivers' exit latencies of 80 and 104 us contain
// much software).
const ENTER_C3: u64 = 5;
const ENTER_C6: u64 = 10;
const LEAVE_C3: u64 = 10;
const LEAVE_C6: u64 = 20;
/// Microseconds that a core woken by its timer works.
const TIMER_WORK: u64 = 2;
/// A core that slept for less than so many microseconds gets a lighter state the next time (assumption: about the
/// driver's target residency for C6, which is 345 us, less than half of it).
const TOO_SHORT: u64 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    In(CoreState),
    MovingTo(CoreState),
}

/// A core as the power unit sees it.
#[derive(Debug)]
pub struct CoreUnit {
    number: u8,
    stage: Stage,
    until: Tick,
    request: CoreSleep,
    wake: Option<Tick>,
    busy: bool,
    /// When it fell asleep, and how long it slept the last time.
    asleep_since: Tick,
    last_sleep: Tick,
}

impl CoreUnit {
    /// A core that executes.
    pub const fn new(number: u8) -> Self {
        Self {
            number,
            stage: Stage::In(CoreState::C0),
            until: Tick::MAX,
            request: CoreSleep::Awake,
            wake: None,
            busy: true,
            asleep_since: 0,
            last_sleep: Tick::MAX,
        }
    }

    pub const fn number(&self) -> u8 {
        self.number
    }

    pub const fn next_tick(&self) -> Tick {
        self.until
    }

    pub const fn moves(&self) -> bool {
        matches!(self.stage, Stage::MovingTo(_))
    }

    pub const fn is_asleep(&self) -> bool {
        matches!(self.stage, Stage::In(CoreState::C3 | CoreState::C6))
    }

    /// When it executes, given that it has work.
    pub const fn awake_at(&self, microsecond: Tick) -> Tick {
        match self.stage {
            Stage::In(CoreState::C0) => 0,
            // What has begun to fall asleep does so first.
            Stage::MovingTo(CoreState::C3) => self.until + LEAVE_C3 * microsecond,
            Stage::MovingTo(CoreState::C6) => self.until + LEAVE_C6 * microsecond,
            _ => self.until,
        }
    }

    pub fn start<R: E5Reader>(&self, out: &mut Out<'_, R>) {
        out.switch(PowerState::Core(self.number, CoreState::C0), true);
    }

    /// What it is to do from now on. Changes begin with the next step.
    pub const fn plan(&mut self, request: CoreSleep, wake: Option<Tick>, busy: bool, now: Tick) {
        self.request = request;
        self.wake = wake;
        self.busy = busy;
        if !self.moves() {
            self.until = now;
        }
    }

    /// Makes the change that is due.
    pub fn step<R: E5Reader>(&mut self, microsecond: Tick, out: &mut Out<'_, R>) {
        while self.until <= out.now {
            match self.stage {
                Stage::MovingTo(state) => {
                    out.fact(PowerFact::CoreMoves(self.number), false);
                    out.switch(PowerState::Core(self.number, state), true);
                    self.stage = Stage::In(state);
                    if state == CoreState::C0 {
                        self.until = if self.busy { out.now } else { out.now + TIMER_WORK * microsecond };
                    } else {
                        self.asleep_since = out.now;
                        // Not all timers are set to the same instant.
                        let stagger = u64::from(self.number) * microsecond / 2;
                        let wakes = self.wake.map_or(Tick::MAX, |wake| out.now + wake + stagger);
                        self.until = if self.stays_awake() { out.now } else { wakes };
                    }
                }
                Stage::In(CoreState::C0) if self.stays_awake() => self.until = Tick::MAX,
                Stage::In(CoreState::C0) => {
                    let requested = if self.request == CoreSleep::C6 { CoreState::C6 } else { CoreState::C3 };
                    let demoted = requested == CoreState::C6 && self.last_sleep < TOO_SHORT * microsecond;
                    if demoted {
                        out.reader.read(out.now, E5Fact::Demotes(out.socket, self.number));
                    }
                    let state = if demoted { CoreState::C3 } else { requested };
                    let time = if state == CoreState::C3 { ENTER_C3 } else { ENTER_C6 };
                    self.leave(CoreState::C0, state, time * microsecond, out);
                }
                Stage::In(state) => {
                    self.last_sleep = out.now - self.asleep_since;
                    let time = if state == CoreState::C3 { LEAVE_C3 } else { LEAVE_C6 };
                    self.leave(state, CoreState::C0, time * microsecond, out);
                }
            }
        }
    }

    fn stays_awake(&self) -> bool {
        self.busy || matches!(self.request, CoreSleep::Unset | CoreSleep::Awake)
    }

    fn leave<R: E5Reader>(&mut self, from: CoreState, to: CoreState, ticks: Tick, out: &mut Out<'_, R>) {
        out.switch(PowerState::Core(self.number, from), false);
        out.fact(PowerFact::CoreMoves(self.number), true);
        self.stage = Stage::MovingTo(to);
        self.until = out.now + ticks;
    }
}
