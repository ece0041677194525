//! What cores have to do with the devices and the processors of other sockets: writes and reads of devices' registers,
//! and interrupts.
//!
//! Such a message is non-coherent: it goes from the core to its socket's links, over the data ring of the socket that
//! it is for to the input-output stop or the system agent, and is answered by a completion or by data.

use pericore_engine::Tick;
use pericore_facts::e5_2600::E5Reader;

use super::far_access::{FarAccess, FarId, FarKind};
use super::io_side::Waiting;
use super::packet::{Action, NewPacket, Origin, PORTS};
use crate::e5_2600::Model;
use crate::e5_2600::event::Event;
use pericore_facts::e5_2600::{IoClass, PacketKind, RingKind};

impl Model {
    /// A core begins an access to another socket, unless it still waits for its last one: such accesses are not
    /// reordered.
    pub(in crate::e5_2600) fn far_begins<R: E5Reader>(&mut self, socket: u8, kind: FarKind, turn: u8, reader: &mut R) {
        let (core, others) = (self.assignment.in_turn(turn.into()) as u8, self.parameters.sockets - 1);
        if others == 0 || self.links.far.waits(socket, core) {
            return;
        }
        let to = (socket + 1 + turn / self.parameters.active_cores % others) % self.parameters.sockets;
        let access = self.links.far.add(FarAccess { kind, way: (socket, to), core, live: true });
        let stop = self.map.first_stop(socket) + u16::from(core);
        self.travel(socket, RingKind::Block, core, self.rings.io(), reader);
        self.send_far(access, (socket, to), kind.request(), self.now + self.latency.to_io(stop), reader);
    }

    fn send_far<R: E5Reader>(&mut self, access: FarId, way: (u8, u8), kind: PacketKind, at: Tick, reader: &mut R) {
        let requester = self.links.far.slots[usize::from(access)].way.0;
        let new = NewPacket { origin: Origin::Other, way, kind, requester, action: Action::Far, request: access };
        self.send_new_packet(new, access.into(), at, reader);
    }

    /// A packet of such an access leaves a link in a socket.
    pub(in crate::e5_2600) fn far_delivered<R: E5Reader>(
        &mut self,
        access: FarId,
        kind: PacketKind,
        link: u16,
        reader: &mut R,
    ) {
        let FarAccess { kind: requested, way, core, .. } = self.links.far.slots[usize::from(access)];
        let here = (link / PORTS) as u8;
        let going = kind == requested.request();
        let to = if going { way.1 } else { way.0 };
        if here != to {
            let at = self.now + self.latency.stop_to_stop;
            self.send_far(access, (here, to), kind, at, reader);
            return;
        }
        if !going {
            let ring = if kind.by_data_ring() { RingKind::Block } else { RingKind::Acknowledge };
            self.leaves_io(here, ring, core, reader);
            self.links.far.slots[usize::from(access)].live = false;
            return;
        }
        match requested {
            FarKind::Write => self.begin_passage(link, IoClass::Write, Waiting::Far(access), reader),
            FarKind::Read => self.begin_passage(link, IoClass::Read, Waiting::Far(access), reader),
            FarKind::Interrupt => {
                let agent = &mut self.agents[usize::from(here)];
                let at = agent.reserve(self.now + self.latency.stop_to_stop);
                let own = agent.next_tick();
                self.wheel.schedule(at, Event::Far.of(access));
                // The agent's own messages may have to wait for it.
                if own != Tick::MAX {
                    self.wheel.schedule(own.max(self.now + 1), Event::Agent.of(here.into()));
                }
            }
        }
    }

    /// A device or a system agent has what was sent to it: it answers.
    pub(in crate::e5_2600) fn far_responds<R: E5Reader>(&mut self, access: FarId, reader: &mut R) {
        let FarAccess { kind, way: (from, to), .. } = self.links.far.slots[usize::from(access)];
        if kind == FarKind::Interrupt {
            self.agents[usize::from(to)].interrupted(self.now, reader);
        }
        let at = self.now + self.latency.stop_to_stop;
        self.send_far(access, (to, from), kind.response(), at, reader);
    }
}
