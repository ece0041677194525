//! The truth about an E5-2600.
//!
//! A request's record is added up when it has ended ([`cells`]), and so is a packet's; what comes and goes without a
//! record is counted as it does. The meaning of the event names is written in [`names`] by hand from the guide's event
//! texts, and never from the catalogue.

mod agent;
mod cells;
mod device;
mod egress;
mod home;
mod links;
mod names;
mod physical;
mod power;
mod reader;
mod ring;
mod shape;
mod slice;
mod snapshot;
mod stay;
mod stays;
mod window;

use cells::Cells;
use pericore_engine::{Clocks, Tick};
use pericore_facts::{CommandLog, CommandRecord};
use stays::Stays;

use crate::{Latencies, Question, Shaped};
pub use names::NAMES;
pub use physical::{ChannelBytes, DataReads};
pub use shape::{Opcodes, PacketCodes, Shape};
pub use snapshot::Snapshot;
pub use window::Window;

/// The running account of a machine.
#[derive(Debug)]
pub struct Ledger {
    clocks: Clocks,
    opcodes: Opcodes,
    shape: Shape,
    cells: Cells,
    log: CommandLog,
    stays: Option<Stays>,
    latencies: Option<Box<Latencies>>,
}

impl Ledger {
    /// An empty account.
    pub fn new(clocks: Clocks, opcodes: Opcodes, shape: Shape) -> Self {
        Self {
            clocks,
            opcodes,
            shape,
            cells: Cells::new(&shape),
            log: CommandLog::default(),
            stays: None,
            latencies: None,
        }
    }

    /// Keeps how long each read takes from now on, for [`Ledger::latencies`].
    pub fn keep_latencies(&mut self) {
        self.latencies = Some(Box::default());
    }

    /// How long the reads took that have ended since [`Ledger::keep_latencies`], of cores' loads that missed the LLC in
    /// the table of requests, in cycles of so many ticks; `None` without it.
    pub fn latencies(&self) -> Option<(&Latencies, u64)> {
        Some((self.latencies.as_deref()?, self.clocks.uclk.ticks()))
    }

    /// Keeps every DRAM command from now on, for checkers.
    pub fn keep_commands(&mut self) {
        self.log.keep();
    }

    /// The DRAM commands kept since [`Ledger::keep_commands`], with their channel.
    pub fn commands(&self) -> &[(u16, CommandRecord)] {
        self.log.commands()
    }

    /// Keeps every request's stays from now on, for [`Ledger::shaped`].
    pub fn keep_stays(&mut self) {
        self.stays = Some(Stays::default());
    }

    /// What an occupancy event of an instance gives behind a threshold, over the requests that have ended since
    /// [`Ledger::keep_stays`]; `None` without it, or if the event has no stays. Of the filters only the opcode counts.
    pub fn shaped(&self, socket: u16, instance: u16, question: Question<'_>, threshold: u64) -> Option<Shaped> {
        let per_socket = (self.shape.slices / self.shape.sockets) as u16;
        if question.unit != "cbo" || instance >= per_socket {
            return None;
        }
        let slice = socket * per_socket + instance;
        self.stays.as_ref()?.shaped(slice, question, &self.opcodes, threshold)
    }

    /// A copy to which what is under way can be added, for [`Ledger::at`].
    pub fn so_far(&self) -> Self {
        let Self { clocks, opcodes, shape, ref cells, .. } = *self;
        Self { clocks, opcodes, shape, cells: cells.clone(), log: CommandLog::default(), stays: None, latencies: None }
    }

    /// The account at a tick, to which the part so far of what is under way has been added.
    pub fn at(mut self, now: Tick) -> Snapshot {
        self.cells.settle(now, &self.clocks, &self.shape);
        let Self { clocks, opcodes, shape, cells, .. } = self;
        Snapshot { now, clocks, opcodes, shape, cells }
    }
}
