//! The truth of the Emerald Rapids model: what really happened, kept apart from the signals that counters see.
//!
//! The ledger reads facts ([`reading`]): requests (look-ups, stays in the table of requests, victims), messages on the
//! mesh and on links, what memory channels did ([`memory`]), and what has no record of its own yet. Nothing here reads
//! a signal, a wire or a tag. What the names of events mean is written in [`names`], [`memory`] and [`requests`] by
//! hand from the guide's texts.

mod agent_names;
mod caching;
mod cells;
mod changes;
mod early;
mod expanders;
mod gauge;
mod home;
mod links;
mod memory;
mod mesh;
mod mesh_names;
mod names;
mod platform;
mod reading;
mod rejects;
mod requests;
mod snapshot;
mod stacks;
#[cfg(test)]
mod tests;

use cells::Cells;
use changes::Changes;
use pericore_dram::{CommandLog, CommandRecord};
use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{Clocks, Shape};
use stacks::StackCycles;

use crate::{Latencies, Question, Shaped};
pub use snapshot::Snapshot;

/// The running account.
#[derive(Debug)]
pub struct Ledger {
    clocks: Clocks,
    shape: Shape,
    agents_of_socket: u16,
    channels_of_socket: u16,
    units_of_socket: u16,
    links_of_socket: u16,
    stacks_of_socket: u16,
    expanders_of_socket: u16,
    cells: Cells,
    log: CommandLog,
    changes: Option<Changes>,
    latencies: Option<Box<Latencies>>,
}

impl Ledger {
    /// An empty account.
    pub fn new(clocks: Clocks, shape: Shape) -> Self {
        let cells = Cells::new(&shape);
        let of_socket = ["cha", "imc", "m2m", "upi", "irp", "cxlcm"].map(|unit| shape.instances(unit));
        let [
            agents_of_socket,
            channels_of_socket,
            units_of_socket,
            links_of_socket,
            stacks_of_socket,
            expanders_of_socket,
        ] = of_socket;
        Self {
            clocks,
            shape,
            agents_of_socket,
            channels_of_socket,
            units_of_socket,
            links_of_socket,
            stacks_of_socket,
            expanders_of_socket,
            cells,
            log: CommandLog::default(),
            changes: None,
            latencies: None,
        }
    }

    /// True if the arrivals of cores' requests are wanted when they happen.
    #[inline]
    pub const fn keeps_changes(&self) -> bool {
        self.changes.is_some()
    }

    /// Keeps every change of the agents' queues and tables from now on, for [`Ledger::shaped`].
    pub fn keep_changes(&mut self) {
        self.changes = Some(Changes::default());
    }

    /// What an occupancy event of an instance gives behind a threshold, since [`Ledger::keep_changes`]; `None` without
    /// it, or for events whose changes are not kept.
    pub fn shaped(&self, socket: u16, instance: u16, question: Question<'_>, threshold: u64) -> Option<Shaped> {
        let per_socket = self.shape.instances("cha");
        if question.unit != "cha" || instance >= per_socket {
            return None;
        }
        self.changes.as_ref()?.shaped(socket * per_socket + instance, question, threshold)
    }

    /// Keeps how long each read takes from now on, for [`Ledger::latencies`].
    pub fn keep_latencies(&mut self) {
        self.latencies = Some(Box::default());
    }

    /// How long the reads took that have ended since [`Ledger::keep_latencies`], of cores' demand
    /// loads that missed the LLC in the table of requests, in cycles of so many ticks; `None` without it.
    pub fn latencies(&self) -> Option<(&Latencies, u64)> {
        Some((self.latencies.as_deref()?, self.clocks.uclk.ticks()))
    }

    /// Keeps every DRAM command from now on, for checkers.
    pub fn keep_commands(&mut self) {
        self.log.keep();
    }

    /// The DRAM commands kept since [`Ledger::keep_commands`].
    pub fn commands(&self) -> &[(u16, CommandRecord)] {
        self.log.commands()
    }

    /// The account as of `now`. `in_ingress` are cores' requests in ingress queues: socket and agent, and when they
    /// came.
    pub fn snapshot(&self, now: Tick, in_ingress: impl Iterator<Item = (u16, u16, Tick)>) -> Snapshot {
        let mut cells = self.cells.clone();
        let Clocks { uclk, ioclk, upiclk, pclk, cxlclk, .. } = self.clocks;
        for (socket, cha, came) in in_ingress {
            let agent = &mut cells.agents[usize::from(socket * self.agents_of_socket + cha)];
            agent.caching.ingress.enter(uclk.cycles(came), u64::MAX);
        }
        let cycle = uclk.cycles(now);
        cells.agents.iter_mut().for_each(|agent| agent.caching.bring_up(cycle));
        cells.links.iter_mut().for_each(|link| link.bring_up(cycle, upiclk.cycles(now)));
        let of_stacks = StackCycles { ioclk: ioclk.cycles(now), uclk: cycle };
        cells.stacks.iter_mut().for_each(|stack| stack.bring_up(of_stacks));
        cells.expanders.iter_mut().for_each(|link| link.bring_up(cxlclk.cycles(now)));
        cells.power.iter_mut().for_each(|package| package.bring_up(pclk.cycles(now)));
        cells.systems.iter_mut().for_each(|system| system.bring_up(cycle));
        let (cycle, room) = (self.clocks.dclk.cycles(now), self.shape.pending);
        cells.channels.iter_mut().for_each(|channel| channel.bring_up(cycle, room));
        let cycle = uclk.cycles(now);
        cells.memory_units.iter_mut().for_each(|unit| unit.bring_up(cycle));
        Snapshot { now, clocks: self.clocks, shape: self.shape.clone(), cells }
    }
}
