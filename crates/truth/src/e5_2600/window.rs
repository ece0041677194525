//! Questions to the ledger about a span of virtual time.

use pericore_engine::Tick;

use super::names;
use super::snapshot::Snapshot;
use crate::Question;

impl Snapshot {
    /// What an event of an instance of a socket has counted since reset, as [`Window::truth`] has it for a span.
    pub fn count(&self, socket: u16, instance: u16, question: Question<'_>) -> Option<u64> {
        let instance = self.instance(socket, question.unit, instance)?;
        names::value(self, instance, question)
    }

    /// The number over the machine's sockets of an instance within a socket.
    fn instance(&self, socket: u16, unit: &str, within: u16) -> Option<u16> {
        let of_socket = names::instances(self, unit)? / self.shape.sockets;
        (usize::from(within) < of_socket).then(|| socket * of_socket as u16 + within)
    }
}

/// The span `[from, to)` between two snapshots of one machine.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    pub(super) from: &'a Snapshot,
    pub(super) to: &'a Snapshot,
}

impl<'a> Window<'a> {
    /// The span between two snapshots; `from` must be the earlier one.
    pub const fn between(from: &'a Snapshot, to: &'a Snapshot) -> Self {
        Self { from, to }
    }

    /// Length in ticks.
    pub const fn ticks(&self) -> Tick {
        self.to.now - self.from.now
    }

    /// Length in virtual seconds.
    pub fn seconds(&self) -> f64 {
        self.to.clocks.seconds(self.from.now, self.to.now)
    }

    /// What an event's counter of an instance, numbered over the machine's sockets, must read after the window.
    ///
    /// Of the filters, `state` and `nid` are bit masks, `opc` and `tid` values; a missing `state` means every state.
    /// `None` if the ledger has no truth for the event, or no such instance.
    pub fn truth(&self, instance: u16, question: Question<'_>) -> Option<u64> {
        let before = names::value(self.from, instance, question)?;
        Some(names::value(self.to, instance, question)? - before)
    }
}
