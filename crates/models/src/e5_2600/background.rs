//! What a system does besides its workload, where a phase has one: it wakes other cores, interrupts them, takes locks,
//! reads registers and looks at devices.

use pericore_engine::Tick;
use pericore_workload::MessageKind;

use crate::e5_2600::Model;
use crate::e5_2600::event::Event;

/// A thread does one of these for so many of its misses (assumption, low enough to leave bandwidth alone).
const EVERY: u32 = 16;
/// Lines of a page, after which a device interrupts a core.
const PAGE: u32 = 64;

impl Model {
    /// A thread of a core has missed its caches: perhaps its system has something to do.
    pub(in crate::e5_2600) fn background_traffic(&mut self, thread: u16) {
        let state = &mut self.threads[usize::from(thread)];
        state.accesses += 1;
        if state.accesses % EVERY != 5 {
            return;
        }
        let (turn, socket) = (state.accesses / EVERY, u16::from(self.map.socket(state.core.into())));
        let scattered = turn.wrapping_mul(0x9E37_79B1).wrapping_add(u32::from(thread) * 977);
        // Half of the interrupts of processors go to other sockets.
        let interrupt = if self.power.len() > 1 && scattered >> 31 == 1 {
            MessageKind::RemoteInterrupt
        } else {
            MessageKind::Processor
        };
        let kinds: &[MessageKind] = match turn % 16 {
            0 | 8 => &[MessageKind::DeviceWrite],
            2 => &[MessageKind::DeviceRead],
            1 | 9 => &[interrupt],
            3 | 11 => &[MessageKind::Priority],
            // An idle thread watches a line for what it is to do (MONITOR and MWAIT): a store there wakes it.
            5 | 13 if scattered >> 30 & 1 == 0 => &[MessageKind::MonitorFirst],
            5 | 13 => &[MessageKind::MonitorSecond],
            // A locked operation on a word that lies in two lines.
            7 => &[MessageKind::Lock],
            // A register is read over the message channel: four bytes of configuration space, eight of an MSR.
            10 => &[MessageKind::Register, MessageKind::ShortMessage],
            12 => &[MessageKind::Register, MessageKind::LongMessage],
            14 => &[MessageKind::Doorbell],
            _ => &[],
        };
        kinds.iter().for_each(|&kind| self.send_to_agent(socket, kind));
    }

    /// A device has had a line: one that is done with a page interrupts a core.
    pub(in crate::e5_2600) fn device_interrupts(&mut self, thread: u16) {
        let state = &mut self.threads[usize::from(thread)];
        state.accesses += 1;
        if state.accesses.is_multiple_of(PAGE) {
            let socket = self.map.socket(state.core.into());
            self.send_to_agent(socket.into(), MessageKind::Interrupt);
        }
    }

    /// A message goes to a socket's system agent.
    pub(in crate::e5_2600) fn send_to_agent(&mut self, socket: u16, kind: MessageKind) {
        let agent = &mut self.agents[usize::from(socket)];
        agent.comes(kind, self.now);
        let next: Tick = agent.next_tick();
        self.wheel.schedule(next.max(self.now + 1), Event::Agent.of(socket));
    }
}
