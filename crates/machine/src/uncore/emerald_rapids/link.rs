//! The socket links: the mesh side (M3UPI) and the link layer (UPI).
//!
//! A message goes over its own socket's mesh to the link, waits until the link has sent what came before, crosses, and goes over the
//! other socket's mesh to where it is wanted. A header takes one slot of a flit, a line nine more.

use super::Model;
use crate::engine::NEVER;
use crate::ledger::emerald_rapids::Ring;
use crate::ledger::emerald_rapids::deeds::{deed, level};
use crate::signal::{SignalSink, Tick};
use crate::uncore::emerald_rapids::event::Event;

/// Links between two sockets.
pub const LINKS: u8 = 4;
/// Ticks of a slot on the link: a third of a flit's cycle of 28 ticks, and what credits and retries cost on top (fitted: 35.8 GB/s of
/// data a link, published-numbers: ten slots a line then take 1.79 ns, 125 ticks).
const SLOT: Tick = 12;
/// Uncore cycles across the link and through both link layers (assumption: a remote read takes about 70 ns more than a local one).
const CROSSING: Tick = 60;
/// Uncore cycles that a message stays in the receiver's queues.
const RECEIVING: Tick = 8;
const SLOTS_OF_A_LINE: Tick = 9;

/// What a message is, and where it is on its way.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    class: u8,
    opcode: u8,
    data: bool,
    from: u8,
    link: u8,
    stage: u8,
    /// Tile that it goes to in the other socket.
    to: u8,
    /// What happens when it has arrived.
    then: u32,
    next: u16,
}

impl Packet {
    /// A message of a class, with its opcode, with or without a line.
    pub const fn new(class: u8, opcode: u8, data: bool) -> Self {
        Self { class, opcode, data, from: 0, link: 0, stage: 0, to: 0, then: 0, next: u16::MAX }
    }

    const fn ring(self) -> Ring {
        if self.data { Ring::Block } else { Ring::Address }
    }
}

/// Messages under way between sockets.
#[derive(Debug)]
pub struct Links {
    packets: Vec<Packet>,
    free: u16,
    /// By socket and link: when it can send the next message.
    ready: [[Tick; LINKS as usize]; 2],
}

impl Links {
    /// Quiet links.
    pub fn new(sockets: u8) -> Self {
        let room = if sockets > 1 { 4096 } else { 0 };
        Self { packets: Vec::with_capacity(room), free: u16::MAX, ready: [[0; LINKS as usize]; 2] }
    }

    fn add(&mut self, packet: Packet) -> u16 {
        if self.free == u16::MAX {
            self.packets.push(packet);
            return (self.packets.len() - 1) as u16;
        }
        let id = self.free;
        self.free = self.packets[usize::from(id)].next;
        self.packets[usize::from(id)] = packet;
        id
    }
}

/// The mesh side's ingress level of a message class.
const fn ingress(class: u8) -> u16 {
    match class {
        0 => level("m3upi/RxC_INSERTS_VN0.AD_REQ"),
        1 => level("m3upi/RxC_INSERTS_VN0.AD_SNP"),
        2 => level("m3upi/RxC_INSERTS_VN0.AD_RSP"),
        4 => level("m3upi/RxC_INSERTS_VN0.BL_RSP"),
        _ => level("m3upi/RxC_INSERTS_VN0.BL_WB"),
    }
}

/// The flow queue of a message class on its way out; data classes count as they pass.
const fn flow(class: u8) -> Option<u16> {
    match class {
        0 => Some(level("m3upi/TxC_AD_FLQ_INSERTS.VN0_REQ")),
        1 => Some(level("m3upi/TxC_AD_FLQ_INSERTS.VN0_SNP")),
        2 => Some(level("m3upi/TxC_AD_FLQ_INSERTS.VN0_RSP")),
        _ => None,
    }
}

impl Model {
    /// Sends a message of an agent's line to the other socket, `wait` after now; `then` happens when it has arrived at tile `to`.
    #[expect(clippy::too_many_arguments, reason = "a message is its parts")]
    pub(super) fn send_packet<S: SignalSink>(
        &mut self,
        socket: u8,
        cha: u8,
        packet: Packet,
        from: u8,
        to: u8,
        wait: Tick,
        then: u32,
        sink: &mut S,
    ) {
        let link = cha % LINKS;
        let gate = self.places.m3upi[usize::from(link)];
        let at = self.mesh_send(socket, packet.ring(), 0, from, gate, sink) + wait;
        let id = self.links.add(Packet { from: socket, link, to, then, ..packet });
        self.wheel.schedule(at, Event::Linked.of(id));
    }

    /// The next step of a message between sockets.
    pub(super) fn linked<S: SignalSink>(&mut self, id: u16, sink: &mut S) {
        let packet = self.links.packets[usize::from(id)];
        let Packet { class, opcode, data, from, link, stage, to, then, .. } = packet;
        let (here, there, index, now) = (u16::from(from), 1 - u16::from(from), u16::from(link), self.now);
        let account = &mut self.account;
        let uclk = self.times.uclk;
        let at = match stage {
            // It comes off the mesh and waits for the link.
            0 => {
                account.enter(ingress(class), here, index, now, sink);
                account.enter(level("upi/TxL_INSERTS"), here, index, now, sink);
                if let Some(flow) = flow(class) {
                    account.enter(flow, here, index, now, sink);
                } else {
                    let (inserts, occupancy) = if class == 5 {
                        (deed("m3upi/TxC_BL_FLQ_INSERTS.VN0_WB"), deed("m3upi/TxC_BL_FLQ_OCCUPANCY.VN0_WB"))
                    } else {
                        (deed("m3upi/TxC_BL_FLQ_INSERTS.VN0_RSP"), deed("m3upi/TxC_BL_FLQ_OCCUPANCY.VN0_RSP"))
                    };
                    account.deed(inserts, here, index, now, sink);
                    // One cycle in the queue.
                    account.deed(occupancy, here, index, now, sink);
                    account.deed(deed("m3upi/RxC_FLITS_SLOT_BL.ALL"), here, index, now, sink);
                }
                let ready = &mut self.links.ready[usize::from(from)][usize::from(link)];
                let leaves = now.max(*ready);
                let slots = if data { 1 + SLOTS_OF_A_LINE } else { 1 };
                *ready = leaves + slots * SLOT;
                leaves.max(now + uclk)
            }
            // It is sent.
            1 => {
                account.leave(ingress(class), here, index, now, sink);
                account.leave(level("upi/TxL_INSERTS"), here, index, now, sink);
                if let Some(flow) = flow(class) {
                    account.leave(flow, here, index, now, sink);
                }
                account.deed(deed("m3upi/RxC_HDR_FLITS_SENT.1_MSG"), here, index, now, sink);
                account.flits(here, index, class, opcode, data, false, now, sink);
                now + CROSSING * uclk
            }
            // It is received.
            2 => {
                account.flits(there, index, class, opcode, data, true, now, sink);
                account.deed(deed("upi/RxL_CREDITS_CONSUMED_VNA"), there, index, now, sink);
                account.enter(level("upi/RxL_INSERTS.SLOT0"), there, index, now, sink);
                if data {
                    account.enter(level("upi/RxL_INSERTS.SLOT1"), there, index, now, sink);
                    account.enter(level("upi/RxL_INSERTS.SLOT2"), there, index, now, sink);
                }
                now + RECEIVING * uclk
            }
            // It goes onto the other socket's mesh.
            _ => {
                account.leave(level("upi/RxL_INSERTS.SLOT0"), there, index, now, sink);
                if data {
                    account.leave(level("upi/RxL_INSERTS.SLOT1"), there, index, now, sink);
                    account.leave(level("upi/RxL_INSERTS.SLOT2"), there, index, now, sink);
                    account.deed(deed("m3upi/MULTI_SLOT_RCVD.BL_SLOT0"), there, index, now, sink);
                    account.deed(deed("m3upi/D2C_SENT"), there, index, now, sink);
                    account.deed(deed("upi/DIRECT_ATTEMPTS.D2C"), there, index, now, sink);
                } else {
                    account.deed(deed("m3upi/MULTI_SLOT_RCVD.AD_SLOT0"), there, index, now, sink);
                }
                let gate = self.places.m3upi[usize::from(link)];
                let arrives = self.mesh_send(there as u8, packet.ring(), 0, gate, to, sink);
                self.wheel.schedule(arrives, then);
                self.links.packets[usize::from(id)].next = self.links.free;
                self.links.free = id;
                NEVER
            }
        };
        if at != NEVER {
            self.links.packets[usize::from(id)].stage += 1;
            self.wheel.schedule(at, Event::Linked.of(id));
        }
    }

    /// Emits what holds of the links from the start: all at full power.
    pub(super) fn start_links<S: SignalSink>(&mut self, sink: &mut S) {
        if self.sockets < 2 {
            return;
        }
        for socket in 0..u16::from(self.sockets) {
            for link in 0..u16::from(LINKS) {
                self.account.enter(level("upi/RxL0_POWER_CYCLES"), socket, link, 0, sink);
                self.account.enter(level("upi/TxL0_POWER_CYCLES"), socket, link, 0, sink);
            }
        }
    }
}
