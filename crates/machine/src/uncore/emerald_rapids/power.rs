//! The power control unit: which cores run, and whether the package does.

use super::account::Account;
use crate::ledger::emerald_rapids::deeds::level;
use crate::signal::{SignalSink, Tick};

const ACTIVE: u16 = level("pcu/POWER_STATE_OCCUPANCY_CORES_C0");
const ASLEEP: u16 = level("pcu/POWER_STATE_OCCUPANCY_CORES_C6");
const PACKAGE: u16 = level("pcu/PKG_RESIDENCY_C0_CYCLES");

/// Cores of each socket by state.
#[derive(Debug)]
pub struct Power {
    active: Vec<u16>,
}

impl Power {
    /// Sockets with so many running cores each.
    pub const fn new(active: Vec<u16>) -> Self {
        Self { active }
    }

    /// Emits what holds from the start.
    pub fn start<S: SignalSink>(&self, cores: u16, account: &mut Account, sink: &mut S) {
        for (socket, &active) in self.active.iter().enumerate() {
            (0..active).for_each(|_| account.enter(ACTIVE, socket as u16, 0, 0, sink));
            (active..cores).for_each(|_| account.enter(ASLEEP, socket as u16, 0, 0, sink));
            if active > 0 {
                account.enter(PACKAGE, socket as u16, 0, 0, sink);
            }
        }
    }

    /// A core has nothing more to do.
    pub fn core_sleeps<S: SignalSink>(&mut self, socket: u16, now: Tick, account: &mut Account, sink: &mut S) {
        account.leave(ACTIVE, socket, 0, now, sink);
        account.enter(ASLEEP, socket, 0, now, sink);
        self.active[usize::from(socket)] -= 1;
        if self.active[usize::from(socket)] == 0 {
            account.leave(PACKAGE, socket, 0, now, sink);
        }
    }
}
