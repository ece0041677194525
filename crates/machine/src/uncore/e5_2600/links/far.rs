//! What cores have to do with the devices and the processors of other sockets: writes and reads of devices' registers, and interrupts.
//!
//! Such a message is non-coherent: it goes from the core to its socket's links, over the data ring of the socket that it is for to the
//! input-output stop or the system agent, and is answered by a completion or by data.

use pericore_hardware::signal::{SignalSink, Tick};

use super::{Action, Letter, Origin, Waiting};
use crate::ledger::e5_2600::{IoClass, PacketKind, RingKind};
use crate::uncore::e5_2600::Model;
use crate::uncore::e5_2600::event::Event;

/// Index of an access.
pub type FarId = u16;

/// What a core wants of another socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FarKind {
    /// To write to a device's registers.
    Write,
    /// To read from them.
    Read,
    /// To interrupt a processor.
    Interrupt,
}

impl FarKind {
    const fn request(self) -> PacketKind {
        match self {
            Self::Write => PacketKind::NcWrPtl,
            Self::Read => PacketKind::NcRd,
            Self::Interrupt => PacketKind::IntPhysical,
        }
    }

    const fn answer(self) -> PacketKind {
        match self {
            Self::Read => PacketKind::DataNc,
            Self::Write | Self::Interrupt => PacketKind::Cmp,
        }
    }
}

/// An access under way.
#[derive(Debug, Clone, Copy)]
struct Access {
    kind: FarKind,
    /// From one socket to another.
    way: (u8, u8),
    /// The core within its socket.
    core: u8,
    live: bool,
}

/// The accesses under way in a machine. Slots are reused.
#[derive(Debug, Default)]
pub struct FarAccesses {
    slots: Vec<Access>,
}

impl FarAccesses {
    fn add(&mut self, access: Access) -> FarId {
        let free = self.slots.iter().position(|slot| !slot.live).unwrap_or(self.slots.len());
        if free == self.slots.len() {
            self.slots.push(access);
        } else {
            self.slots[free] = access;
        }
        free as FarId
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.iter().all(|slot| !slot.live)
    }

    fn waits(&self, socket: u8, core: u8) -> bool {
        self.slots.iter().any(|slot| slot.live && (slot.way.0, slot.core) == (socket, core))
    }
}

impl Model {
    /// A core begins an access to another socket, unless it still waits for its last one: such accesses are not reordered.
    pub(in crate::uncore::e5_2600) fn far_begins<S: SignalSink>(
        &mut self,
        socket: u8,
        kind: FarKind,
        turn: u8,
        sink: &mut S,
    ) {
        let (core, others) = (self.seats.in_turn(turn.into()) as u8, self.parameters.sockets - 1);
        if others == 0 || self.links.far.waits(socket, core) {
            return;
        }
        let to = (socket + 1 + turn / self.parameters.active_cores % others) % self.parameters.sockets;
        let access = self.links.far.add(Access { kind, way: (socket, to), core, live: true });
        let stop = self.map.first_stop(socket) + u16::from(core);
        self.travel(socket, RingKind::Block, core, self.rings.io(), sink);
        self.send_far(access, (socket, to), kind.request(), self.now + self.latency.to_io(stop), sink);
    }

    fn send_far<S: SignalSink>(&mut self, access: FarId, way: (u8, u8), kind: PacketKind, at: Tick, sink: &mut S) {
        let requester = self.links.far.slots[usize::from(access)].way.0;
        let letter = Letter { origin: Origin::Other, way, kind, requester, action: Action::Far, request: access };
        self.send_letter(letter, access.into(), at, sink);
    }

    /// A packet of such an access leaves a link in a socket.
    pub(super) fn far_delivered<S: SignalSink>(&mut self, access: FarId, kind: PacketKind, link: u16, sink: &mut S) {
        let Access { kind: wish, way, core, .. } = self.links.far.slots[usize::from(access)];
        let (here, io) = ((link / super::PORTS) as u8, self.rings.io());
        let going = kind == wish.request();
        let to = if going { way.1 } else { way.0 };
        if here != to {
            let at = self.now + self.latency.stop_to_stop;
            self.send_far(access, (here, to), kind, at, sink);
            return;
        }
        if !going {
            let ring = if kind.by_data_ring() { RingKind::Block } else { RingKind::Acknowledge };
            self.travel(here, ring, io, core, sink);
            self.links.far.slots[usize::from(access)].live = false;
            return;
        }
        match wish {
            FarKind::Write => self.begin_passage(link, IoClass::Write, Waiting::Far(access), sink),
            FarKind::Read => self.begin_passage(link, IoClass::Read, Waiting::Far(access), sink),
            FarKind::Interrupt => {
                let agent = &mut self.agents[usize::from(here)];
                let at = agent.reserve(self.now + self.latency.stop_to_stop);
                let own = agent.next_tick();
                self.wheel.schedule(at, Event::Far.of(access));
                // The agent's own errands may have to wait for it.
                if own != Tick::MAX {
                    self.wheel.schedule(own.max(self.now + 1), Event::Agent.of(here.into()));
                }
            }
        }
    }

    /// A device or a system agent has what was sent to it: it answers.
    pub(in crate::uncore::e5_2600) fn far_answers<S: SignalSink>(&mut self, access: FarId, sink: &mut S) {
        let Access { kind, way: (from, to), .. } = self.links.far.slots[usize::from(access)];
        if kind == FarKind::Interrupt {
            self.agents[usize::from(to)].interrupted(self.now, sink, &mut self.ledger);
        }
        let at = self.now + self.latency.stop_to_stop;
        self.send_far(access, (to, from), kind.answer(), at, sink);
    }
}
