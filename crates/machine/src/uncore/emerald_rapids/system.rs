//! The system agent (U-Box): messages for cores, bus holds, register accesses, random numbers.
//!
//! A message comes over the mesh, waits in the agent's ingress, is taken, and is answered: with data if it asks for some, else with an
//! acknowledgement. Interrupts for the other socket go there over a link, and are not answered.

use std::collections::VecDeque;

use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::event::Event;
use super::link::{Packet, Taker};
use crate::ledger::emerald_rapids::compiled::{deed, level};
use crate::ledger::emerald_rapids::deeds::{Deed, LevelId};
use crate::ledger::emerald_rapids::{LinkMessage, Ring};
use crate::workload::MessageKind;

/// Uncore cycles that the agent takes for a message, and that an answer stays in its egress (assumptions).
const SERVICE: Tick = 2;
const LEAVING: Tick = 4;
/// Messages that the ingress, and acknowledgements that the egress holds (assumptions).
const ROOM: usize = 2;
/// Nanoseconds from a bus hold's request until all agents have acknowledged it (assumption: a few trips over the mesh).
const HOLD_GRANT: u64 = 200;
/// Random numbers that are kept ready, and nanoseconds in which one more is made (assumptions).
const NUMBERS: u64 = 8;
const NUMBER_TIME: u64 = 500;

const HELD: LevelId = level!("ubox/PHOLD_CYCLES.ASSERT_TO_ACK");
const INGRESS_EMPTY: LevelId = level!("ubox/M2U_MISC2.RxC_CYCLES_EMPTY_BL");
const INGRESS_FULL: LevelId = level!("ubox/M2U_MISC2.RxC_CYCLES_FULL_BL");
const DATA_EMPTY: LevelId = level!("ubox/M2U_MISC2.TxC_CYCLES_EMPTY_BL");
const ACKS_EMPTY: LevelId = level!("ubox/M2U_MISC2.TxC_CYCLES_EMPTY_AK");
const ACKS_FULL: LevelId = level!("ubox/M2U_MISC3.TxC_CYCLES_FULL_AK");

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

    /// True if it asks for data.
    const fn asks(self) -> bool {
        matches!(self.kind, MessageKind::Register | MessageKind::RandomNumber | MessageKind::RandomSeed)
    }

    const fn queue(self) -> LevelId {
        match (self.linked, self.asks()) {
            (true, _) => level!("ubox/M2U_MISC1.RxC_CYCLES_NE_UPI_NCB"),
            (false, false) => level!("ubox/M2U_MISC1.RxC_CYCLES_NE_CBO_NCB"),
            (false, true) => level!("ubox/M2U_MISC1.RxC_CYCLES_NE_CBO_NCS"),
        }
    }

    /// What it counts as.
    const fn deed(self) -> Deed {
        match self.kind {
            MessageKind::LegacyWire => deed!("ubox/EVENT_MSG.VLW_RCVD"),
            MessageKind::Interrupt => deed!("ubox/EVENT_MSG.MSI_RCVD"),
            MessageKind::Processor => deed!("ubox/EVENT_MSG.IPI_RCVD"),
            MessageKind::Doorbell => deed!("ubox/EVENT_MSG.DOORBELL_RCVD"),
            MessageKind::RandomNumber => deed!("ubox/RACU_DRNG.RDRAND"),
            MessageKind::RandomSeed => deed!("ubox/RACU_DRNG.RDSEED"),
            MessageKind::Register => deed!("ubox/RACU_REQUESTS"),
            _ => deed!("ubox/EVENT_MSG.INT_PRIO"),
        }
    }
}

/// A socket's system agent.
#[derive(Debug)]
pub struct System {
    ingress: VecDeque<u16>,
    data: u16,
    acknowledgements: u16,
    held: bool,
    /// Random numbers that are ready, and when the last one was made.
    numbers: u64,
    made: Tick,
}

impl System {
    /// Nothing to do.
    pub fn new() -> Self {
        Self { ingress: VecDeque::new(), data: 0, acknowledgements: 0, held: false, numbers: NUMBERS, made: 0 }
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
    pub(super) fn start_systems<S: SignalSink>(&mut self, sink: &mut S) {
        for socket in 0..u16::from(self.sockets) {
            [INGRESS_EMPTY, DATA_EMPTY, ACKS_EMPTY]
                .into_iter()
                .for_each(|level| self.account.enter(level, socket, 0, 0, sink));
        }
    }

    /// A message starts on its way, or a device asks for a hold of the bus.
    pub(super) fn send_to_system<S: SignalSink>(&mut self, socket: u16, kind: MessageKind, turn: u32, sink: &mut S) {
        let now = self.now;
        if kind == MessageKind::Hold {
            // One at a time: a second one is asked for later.
            if !std::mem::replace(&mut self.systems[usize::from(socket)].held, true) {
                self.account.enter(HELD, socket, 0, now, sink);
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
            let packet = Packet::new(LinkMessage::Interrupt).taken_by(Taker::System);
            self.send_packet(socket as u8, core, packet, from, to, 0, Event::SystemMessage.of(message.pack()), sink);
            return;
        }
        if kind == MessageKind::Interrupt {
            // Its entry of the interrupt table is always cached.
            let stack = turn as u16 % self.places.m2pcie.len() as u16;
            let remapped = [
                deed!("iio/NUM_REQ_OF_CPU_BY_TGT.UBOX"),
                deed!("iio/IOMMU3.INT_CACHE_LOOKUPS"),
                deed!("iio/IOMMU3.INT_CACHE_HITS"),
            ];
            remapped.into_iter().for_each(|what| self.account.deed(what, socket, stack, now, sink));
        }
        let message = Message { socket, kind, linked: false, from };
        let arrives = self.mesh_send(socket as u8, Ring::Block, 0, from, to, sink);
        self.wheel.schedule(arrives, Event::SystemMessage.of(message.pack()));
    }

    /// A hold is granted.
    pub(super) fn hold_granted<S: SignalSink>(&mut self, socket: u16, sink: &mut S) {
        self.systems[usize::from(socket)].held = false;
        self.account.leave(HELD, socket, 0, self.now, sink);
    }

    /// A message has come to the system agent.
    pub(super) fn system_message<S: SignalSink>(&mut self, packed: u16, sink: &mut S) {
        let message = Message::unpack(packed);
        let (socket, now) = (message.socket, self.now);
        let system = &mut self.systems[usize::from(socket)];
        system.ingress.push_back(packed);
        let waiting = system.ingress.len();
        self.account.enter(message.queue(), socket, 0, now, sink);
        if waiting == 1 {
            self.account.leave(INGRESS_EMPTY, socket, 0, now, sink);
            self.wheel.schedule(now + SERVICE * self.times.uclk, Event::SystemServe.of(socket));
        }
        if waiting == ROOM {
            self.account.enter(INGRESS_FULL, socket, 0, now, sink);
        }
    }

    /// The system agent takes its next message.
    pub(super) fn system_serves<S: SignalSink>(&mut self, socket: u16, sink: &mut S) {
        let (now, number_time) = (self.now, self.work.course.ticks(NUMBER_TIME));
        let system = &mut self.systems[usize::from(socket)];
        let Some(packed) = system.ingress.pop_front() else { return };
        let (message, waiting) = (Message::unpack(packed), system.ingress.len());
        let random = matches!(message.kind, MessageKind::RandomNumber | MessageKind::RandomSeed);
        if random && !system.take_number(now, number_time) {
            self.account.deed(deed!("ubox/RACU_DRNG.PFTCH_BUF_EMPTY"), socket, 0, now, sink);
        }
        self.account.leave(message.queue(), socket, 0, now, sink);
        self.account.deed(message.deed(), socket, 0, now, sink);
        if waiting + 1 == ROOM {
            self.account.leave(INGRESS_FULL, socket, 0, now, sink);
        }
        if waiting == 0 {
            self.account.enter(INGRESS_EMPTY, socket, 0, now, sink);
        } else {
            self.wheel.schedule(now + SERVICE * self.times.uclk, Event::SystemServe.of(socket));
        }
        if message.linked {
            return;
        }
        let system = &mut self.systems[usize::from(socket)];
        let (count, empty) =
            if message.asks() { (&mut system.data, DATA_EMPTY) } else { (&mut system.acknowledgements, ACKS_EMPTY) };
        *count += 1;
        let count = *count;
        if count == 1 {
            self.account.leave(empty, socket, 0, now, sink);
        }
        if !message.asks() && usize::from(count) == ROOM {
            self.account.enter(ACKS_FULL, socket, 0, now, sink);
        }
        self.wheel.schedule(now + LEAVING * self.times.uclk, Event::SystemSent.of(packed));
    }

    /// An answer leaves the system agent.
    pub(super) fn system_answers<S: SignalSink>(&mut self, packed: u16, sink: &mut S) {
        let message = Message::unpack(packed);
        let (socket, now) = (message.socket, self.now);
        let system = &mut self.systems[usize::from(socket)];
        let (count, empty, ring) = if message.asks() {
            (&mut system.data, DATA_EMPTY, Ring::Block)
        } else {
            (&mut system.acknowledgements, ACKS_EMPTY, Ring::Acknowledge)
        };
        *count -= 1;
        let count = *count;
        if !message.asks() && usize::from(count) + 1 == ROOM {
            self.account.leave(ACKS_FULL, socket, 0, now, sink);
        }
        if count == 0 {
            self.account.enter(empty, socket, 0, now, sink);
        }
        // Nothing waits for it but the core.
        self.mesh_send(socket as u8, ring, 0, self.places.ubox, message.from, sink);
    }
}

#[cfg(test)]
mod tests {
    use super::{Message, NUMBERS, System};
    use crate::workload::MessageKind;

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
