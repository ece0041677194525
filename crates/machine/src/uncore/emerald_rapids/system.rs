//! The system agent (U-Box): messages for cores, bus holds, register accesses, random numbers.
//!
//! A message comes over the mesh, waits in the agent's ingress, is taken, and is answered: with data if it asks for some, else with an
//! acknowledgement. Interrupts for the other socket go there over a link, and are not answered.

use std::collections::VecDeque;

use pericore_engine::Tick;

use super::Model;
use super::event::Event;
use super::link::Packet;
use pericore_facts::emerald_rapids::{Fact, LinkMessage, Readers, Ring, StackFact, SystemFact, SystemMessage, Taker};
use pericore_workload::MessageKind;

/// Uncore cycles that the agent takes for a message, and that an answer stays in its egress (assumptions).
const SERVICE: Tick = 2;
const LEAVING: Tick = 4;
/// Nanoseconds from a bus hold's request until all agents have acknowledged it (assumption: a few trips over the mesh).
const HOLD_GRANT: u64 = 200;
/// Random numbers that are kept ready, and nanoseconds in which one more is made (assumptions).
const NUMBERS: u64 = 8;
const NUMBER_TIME: u64 = 500;

/// A message, packed into an event's subject: the socket that gets it, its kind, whether it came over a link, and the tile it is from.
#[derive(Debug, Clone, Copy)]
struct Message {
    socket: u16,
    kind: MessageKind,
    linked: bool,
    from: u8,
}

impl Message {
    const fn pack(self) -> u16 {
        self.socket | (self.kind as u16) << 1 | (self.linked as u16) << 6 | (self.from as u16) << 7
    }

    const fn unpack(packed: u16) -> Self {
        let kind = MessageKind::ALL[(packed >> 1 & 0x1F) as usize];
        Self { socket: packed & 1, kind, linked: packed >> 6 & 1 == 1, from: (packed >> 7) as u8 }
    }

    /// What it is for the system agent.
    const fn what(self) -> SystemMessage {
        match self.kind {
            MessageKind::LegacyWire => SystemMessage::LegacyWire,
            MessageKind::Interrupt => SystemMessage::Interrupt,
            MessageKind::Processor => SystemMessage::Processor,
            MessageKind::Doorbell => SystemMessage::Doorbell,
            MessageKind::RandomNumber => SystemMessage::RandomNumber,
            MessageKind::RandomSeed => SystemMessage::RandomSeed,
            MessageKind::Register => SystemMessage::Register,
            _ => SystemMessage::Priority,
        }
    }
}

/// A socket's system agent.
#[derive(Debug)]
pub struct System {
    ingress: VecDeque<u16>,
    held: bool,
    /// Random numbers that are ready, and when the last one was made.
    numbers: u64,
    made: Tick,
}

impl System {
    /// Nothing to do.
    pub fn new() -> Self {
        Self { ingress: VecDeque::new(), held: false, numbers: NUMBERS, made: 0 }
    }

    /// Takes a random number. False if none was ready.
    fn take_number(&mut self, now: Tick, time: Tick) -> bool {
        let made = (now - self.made) / time;
        self.made += made * time;
        self.numbers = (self.numbers + made).min(NUMBERS);
        let ready = self.numbers > 0;
        self.numbers -= u64::from(ready);
        ready
    }
}

impl Model {
    /// Emits what holds from the start: queues are empty.
    pub(super) fn start_systems<R: Readers>(&mut self, reader: &mut R) {
        for socket in 0..u16::from(self.sockets) {
            reader.read(0, Fact::System(socket, SystemFact::Starts));
        }
    }

    /// A message starts on its way, or a device asks for a hold of the bus.
    pub(super) fn send_to_system<R: Readers>(&mut self, socket: u16, kind: MessageKind, turn: u32, reader: &mut R) {
        let now = self.now;
        if kind == MessageKind::Hold {
            // One at a time: a second one is asked for later.
            if !std::mem::replace(&mut self.systems[usize::from(socket)].held, true) {
                reader.read(now, Fact::System(socket, SystemFact::Holds(true)));
                self.wheel.schedule(now + self.work.course.ticks(HOLD_GRANT), Event::HoldGranted.of(socket));
            }
            return;
        }
        // Devices interrupt, everything else comes from cores; both take turns.
        let core = (turn % u32::from(self.parameters.active_cores)) as u8;
        let from = match kind {
            MessageKind::LegacyWire | MessageKind::Interrupt => {
                self.places.m2pcie[turn as usize % self.places.m2pcie.len()]
            }
            _ => self.places.cha[usize::from(core)],
        };
        let to = self.places.ubox;
        if kind == MessageKind::Processor && self.sockets == 2 && turn % 2 == 1 {
            let message = Message { socket: 1 - socket, kind, linked: true, from };
            let packet = Packet::new(LinkMessage::Interrupt).for_taker(Some(Taker::System));
            self.send_packet(socket as u8, core, packet, from, to, 0, Event::SystemMessage.of(message.pack()), reader);
            return;
        }
        if kind == MessageKind::Interrupt {
            // Its entry of the interrupt table is always cached.
            let stack = turn as u16 % self.places.m2pcie.len() as u16;
            reader.read(now, Fact::Stack((socket, stack), StackFact::TranslatesInterrupt));
        }
        let message = Message { socket, kind, linked: false, from };
        let arrives = self.mesh_send(socket as u8, Ring::Block, 0, from, to, reader);
        self.wheel.schedule(arrives, Event::SystemMessage.of(message.pack()));
    }

    /// A hold is granted.
    pub(super) fn hold_granted<R: Readers>(&mut self, socket: u16, reader: &mut R) {
        self.systems[usize::from(socket)].held = false;
        reader.read(self.now, Fact::System(socket, SystemFact::Holds(false)));
    }

    /// A message has come to the system agent.
    pub(super) fn system_message<R: Readers>(&mut self, packed: u16, reader: &mut R) {
        let message = Message::unpack(packed);
        let (socket, now) = (message.socket, self.now);
        let system = &mut self.systems[usize::from(socket)];
        system.ingress.push_back(packed);
        let alone = system.ingress.len() == 1;
        reader.read(now, Fact::System(socket, SystemFact::Comes(message.what(), message.linked)));
        if alone {
            self.wheel.schedule(now + SERVICE * self.times.uclk, Event::SystemServe.of(socket));
        }
    }

    /// The system agent takes its next message.
    pub(super) fn system_serves<R: Readers>(&mut self, socket: u16, reader: &mut R) {
        let (now, number_time) = (self.now, self.work.course.ticks(NUMBER_TIME));
        let system = &mut self.systems[usize::from(socket)];
        let Some(packed) = system.ingress.pop_front() else { return };
        let (message, waits) = (Message::unpack(packed), !system.ingress.is_empty());
        let random = matches!(message.kind, MessageKind::RandomNumber | MessageKind::RandomSeed);
        let ready = !random || system.take_number(now, number_time);
        reader.read(now, Fact::System(socket, SystemFact::Taken(message.what(), message.linked, ready)));
        if waits {
            self.wheel.schedule(now + SERVICE * self.times.uclk, Event::SystemServe.of(socket));
        }
        if message.linked {
            return;
        }
        self.wheel.schedule(now + LEAVING * self.times.uclk, Event::SystemSent.of(packed));
    }

    /// An answer leaves the system agent.
    pub(super) fn system_answers<R: Readers>(&mut self, packed: u16, reader: &mut R) {
        let message = Message::unpack(packed);
        let (socket, what) = (message.socket, message.what());
        reader.read(self.now, Fact::System(socket, SystemFact::Answered(what)));
        let ring = if what.wants_data() { Ring::Block } else { Ring::Acknowledge };
        // Nothing waits for it but the core.
        self.mesh_send(socket as u8, ring, 0, self.places.ubox, message.from, reader);
    }
}

#[cfg(test)]
mod tests {
    use super::{Message, NUMBERS, System};
    use pericore_workload::MessageKind;

    #[test]
    fn a_message_survives_packing() {
        for &kind in MessageKind::ALL {
            for (socket, linked, from) in [(0, true, 0), (1, false, 83)] {
                let message = Message::unpack(Message { socket, kind, linked, from }.pack());
                assert_eq!((message.socket, message.kind, message.linked, message.from), (socket, kind, linked, from));
            }
        }
    }

    #[test]
    fn random_numbers_run_out_and_are_made_anew() {
        let mut system = System::new();
        assert!((0..NUMBERS).all(|_| system.take_number(0, 500)));
        assert!(!system.take_number(499, 500));
        // Two have been made by 1100, and the second by 1000.
        assert!(system.take_number(1100, 500) && system.take_number(1100, 500));
        assert!(!system.take_number(1499, 500) && system.take_number(1500, 500));
    }
}
