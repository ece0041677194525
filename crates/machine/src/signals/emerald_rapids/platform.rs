//! The signals of power units and system agents.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{CState, SYSTEM_ROOM, SystemFact, SystemMessage};
use pericore_hardware::signal::SignalSink;

use super::emitter::SignalMaker;

const INGRESS: usize = 0;
const DATA: usize = 1;
const ACKNOWLEDGEMENTS: usize = 2;

impl<S: SignalSink> SignalMaker<'_, S> {
    /// A core of a socket changes its state.
    pub(super) fn core(&mut self, socket: u16, from: Option<CState>, to: CState, demoted: bool, at: Tick) {
        let lines = &self.signals.lines.power;
        let (cores, sent_lighter) = (lines.cores, lines.demoted);
        if let Some(from) = from {
            self.level::<false>(cores[from as usize], (socket, 0), at);
        }
        self.level::<true>(cores[to as usize], (socket, 0), at);
        if demoted {
            self.happens((socket, 0), sent_lighter, at);
        }
    }

    /// A core of a socket begins or ends to change its state.
    pub(super) fn core_changes(&mut self, socket: u16, begins: bool, at: Tick) {
        let changing = self.signals.lines.power.changing;
        changing.into_iter().for_each(|level| self.holds(level, (socket, 0), begins, at));
    }

    /// Something happens in a socket's system agent.
    pub(super) fn system(&mut self, socket: u16, fact: SystemFact, at: Tick) {
        let lines = &self.signals.lines.system;
        let agent = (socket, 0);
        let waits_in = |message: SystemMessage, linked: bool| {
            let queue = if linked { 2 } else { usize::from(message.wants_data()) };
            lines.queues[queue]
        };
        match fact {
            SystemFact::Starts => lines.empty.into_iter().for_each(|level| self.level::<true>(level, agent, at)),
            SystemFact::Comes(message, linked) => {
                let level = waits_in(message, linked);
                self.level::<true>(level, agent, at);
                self.system_queue(socket, INGRESS, true, at);
            }
            SystemFact::Taken(message, linked, ready) => {
                let (level, taken, none) = (waits_in(message, linked), lines.taken[message as usize], lines.none_ready);
                if !ready {
                    self.happens(agent, none, at);
                }
                self.level::<false>(level, agent, at);
                self.happens(agent, taken, at);
                self.system_queue(socket, INGRESS, false, at);
                if !linked {
                    self.system_queue(socket, egress_of(message), true, at);
                }
            }
            SystemFact::Answered(message) => self.system_queue(socket, egress_of(message), false, at),
            SystemFact::Holds(on) => self.holds(lines.holds, agent, on, at),
        }
    }

    /// A queue of a system agent has one message more or less.
    fn system_queue(&mut self, socket: u16, queue: usize, comes: bool, at: Tick) {
        let lines = &self.signals.lines.system;
        let (empty, full) = (lines.empty[queue], lines.full);
        let count = &mut self.signals.systems[usize::from(socket)].0[queue];
        // The larger of before and after.
        let most = *count + usize::from(comes);
        *count = if comes { most } else { most.wrapping_sub(1) };
        if most == 1 {
            self.holds(empty, (socket, 0), !comes, at);
        }
        let full = match queue {
            INGRESS => full[0],
            ACKNOWLEDGEMENTS => full[1],
            _ => return,
        };
        if most == SYSTEM_ROOM {
            self.holds(full, (socket, 0), comes, at);
        }
    }
}

/// The queue that the answer to a message leaves through.
const fn egress_of(message: SystemMessage) -> usize {
    if message.wants_data() { DATA } else { ACKNOWLEDGEMENTS }
}
