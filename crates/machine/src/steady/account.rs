//! The truth of a live machine: the ledger's account of the window, as often as it went by.

use std::collections::{BTreeMap, BTreeSet};

use pericore_engine::Tick;

use crate::machine::{Machine, Snapshot};

/// The ledger's account at chosen times of a live machine.
#[derive(Debug)]
pub struct Account {
    window: Tick,
    /// By time since the start of a window; the first and the last are the window's ends.
    snapshots: BTreeMap<Tick, Snapshot>,
}

impl Account {
    /// Runs a machine that is at the start of the window through it.
    pub(super) fn of(machine: &mut Machine, window: Tick, ticks: impl IntoIterator<Item = Tick>) -> Self {
        let start = machine.now();
        let mut phases: BTreeSet<Tick> = ticks.into_iter().map(|tick| tick % window).collect();
        phases.extend([0, window]);
        let snapshots = phases.into_iter().map(|phase| {
            machine.run_for(start + phase - machine.now());
            (phase, machine.snapshot())
        });
        Self { window, snapshots: snapshots.collect() }
    }

    /// What `count` gives between two times of the live machine: it is asked for parts of the window and for the whole, between two
    /// snapshots of the model, the earlier one first. `None` if it gives none, or a time is not among those that the account
    /// was made for.
    pub fn between(&self, from: Tick, to: Tick, count: impl Fn(&Snapshot, &Snapshot) -> Option<u64>) -> Option<u64> {
        let start = self.snapshots.get(&0)?;
        let whole = count(start, self.snapshots.get(&self.window)?)?;
        let until =
            |tick: Tick| Some(tick / self.window * whole + count(start, self.snapshots.get(&(tick % self.window))?)?);
        until(to)?.checked_sub(until(from)?)
    }
}
