//! The power control unit: which cores run, and whether the package does.

use super::account::Account;
use crate::ledger::emerald_rapids::deeds::{deed, level};
use crate::signal::{SignalSink, Tick};

const ACTIVE: u16 = level("pcu/POWER_STATE_OCCUPANCY_CORES_C0");
const ASLEEP: u16 = level("pcu/POWER_STATE_OCCUPANCY_CORES_C6");
const PACKAGE: u16 = level("pcu/PKG_RESIDENCY_C0_CYCLES");

const PACKAGE_SLEEPS: u16 = level("pcu/PKG_RESIDENCY_C6_CYCLES");
const LIMITED: u16 = level("pcu/FREQ_MAX_POWER_CYCLES");
/// The regulators' states: full and light load.
const FULL_LOAD: u16 = level("pcu/FIVR_PS_PS0_CYCLES");
const LIGHT_LOAD: u16 = level("pcu/FIVR_PS_PS1_CYCLES");
/// Running cores from which power limits the frequency (assumption: three quarters of them).
const MANY: u16 = 48;
/// Cycles of the power unit that a core's way into C6 takes (assumption: 10 us).
const TRANSITION: u32 = 10_000;

/// Cores of each socket by state.
#[derive(Debug)]
pub struct Power {
    active: Vec<u16>,
}

impl Power {
    /// Sockets on which no core runs.
    pub fn new(sockets: u8) -> Self {
        Self { active: vec![0; sockets.into()] }
    }

    /// Emits what holds from the start, with so many running cores on each socket.
    pub fn start<S: SignalSink>(&mut self, active: Vec<u16>, cores: u16, account: &mut Account, sink: &mut S) {
        self.active = active;
        for (socket, &active) in self.active.iter().enumerate() {
            (0..active).for_each(|_| account.enter(ACTIVE, socket as u16, 0, 0, sink));
            (active..cores).for_each(|_| account.enter(ASLEEP, socket as u16, 0, 0, sink));
            let holds = if active > 0 { [PACKAGE, FULL_LOAD] } else { [PACKAGE_SLEEPS, LIGHT_LOAD] };
            holds.into_iter().for_each(|level| account.enter(level, socket as u16, 0, 0, sink));
            if active >= MANY {
                account.enter(LIMITED, socket as u16, 0, 0, sink);
            }
        }
    }

    /// A core has something to do again.
    pub fn core_wakes<S: SignalSink>(&mut self, socket: u16, now: Tick, account: &mut Account, sink: &mut S) {
        account.leave(ASLEEP, socket, 0, now, sink);
        account.enter(ACTIVE, socket, 0, now, sink);
        account.deeds(deed("pcu/TOTAL_TRANSITION_CYCLES"), socket, 0, now, TRANSITION, sink);
        let active = &mut self.active[usize::from(socket)];
        *active += 1;
        if *active == MANY {
            account.enter(LIMITED, socket, 0, now, sink);
        }
        if *active == 1 {
            account.leave(PACKAGE_SLEEPS, socket, 0, now, sink);
            account.leave(LIGHT_LOAD, socket, 0, now, sink);
            account.enter(PACKAGE, socket, 0, now, sink);
            account.enter(FULL_LOAD, socket, 0, now, sink);
        }
    }

    /// A core has nothing more to do.
    pub fn core_sleeps<S: SignalSink>(&mut self, socket: u16, now: Tick, account: &mut Account, sink: &mut S) {
        account.leave(ACTIVE, socket, 0, now, sink);
        account.enter(ASLEEP, socket, 0, now, sink);
        account.deeds(deed("pcu/CORE_TRANSITION_CYCLES"), socket, 0, now, TRANSITION, sink);
        account.deeds(deed("pcu/TOTAL_TRANSITION_CYCLES"), socket, 0, now, TRANSITION, sink);
        let active = &mut self.active[usize::from(socket)];
        *active -= 1;
        if *active == MANY - 1 {
            account.leave(LIMITED, socket, 0, now, sink);
        }
        if *active == 0 {
            account.leave(PACKAGE, socket, 0, now, sink);
            account.leave(FULL_LOAD, socket, 0, now, sink);
            account.enter(PACKAGE_SLEEPS, socket, 0, now, sink);
            account.enter(LIGHT_LOAD, socket, 0, now, sink);
        }
    }
}
