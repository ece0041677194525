//! The socket links: the mesh side (M3UPI) and the link layer (UPI).
//!
//! A message goes over its own socket's mesh to the link, waits until the link has sent what came before, crosses, and goes over the
//! other socket's mesh to where it is wanted. A header takes one slot of a flit, a line nine more.

use super::Model;
use crate::engine::NEVER;
use crate::ledger::emerald_rapids::deeds::{deed, level};
use crate::ledger::emerald_rapids::{Reason, Ring};
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
/// Messages of which one is damaged on its way, and sent again (assumption: far more than on a real link, so that retries are seen).
const ERROR_INTERVAL: u64 = 1024;
/// Uncore cycles that sending it again takes.
const RETRY: Tick = 100;
/// Uncore cycles without a message after which a link rests some of its lanes, and all of them (assumptions: 1 us, 4 us).
const REST: Tick = 2_500;
const SHUT_DOWN: Tick = 10_000;
/// Uncore cycles to come back from either (assumption).
const WAKE: [Tick; 3] = [0, 50, 500];

/// The number of a message class among those that the mesh side tells apart: requests, snoops, responses, data, writebacks.
const fn order(class: u8) -> u16 {
    match class {
        0 => 0,
        1 => 1,
        2 => 2,
        4 => 3,
        _ => 4,
    }
}

/// The levels of a power state, seen by receiver and sender.
const fn states(width: Width) -> [Option<u16>; 2] {
    match width {
        Width::Full => [Some(level("upi/RxL0_POWER_CYCLES")), Some(level("upi/TxL0_POWER_CYCLES"))],
        Width::Half => [Some(level("upi/RxL0P_POWER_CYCLES")), Some(level("upi/TxL0P_POWER_CYCLES"))],
        Width::Off => [Some(level("upi/L1_POWER_CYCLES")), None],
    }
}

/// What a message is, and where it is on its way.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    class: u8,
    opcode: u8,
    data: bool,
    from: u8,
    link: u8,
    stage: u8,
    /// Agent whose credit it holds until it has left the mesh side, and which.
    cha: u8,
    credit: Option<Reason>,
    /// It waits in the link's send queue.
    queued: bool,
    /// Tile that it goes to in the other socket.
    to: u8,
    /// What happens when it has arrived.
    then: u32,
    next: u16,
}

impl Packet {
    /// A message of a class, with its opcode, with or without a line.
    pub const fn new(class: u8, opcode: u8, data: bool) -> Self {
        let (cha, credit) = (0, None);
        Self {
            class,
            opcode,
            data,
            from: 0,
            link: 0,
            stage: 0,
            cha,
            credit,
            queued: false,
            to: 0,
            then: 0,
            next: u16::MAX,
        }
    }

    /// The message holds a credit of its agent.
    pub const fn on(self, credit: Reason) -> Self {
        Self { credit: Some(credit), ..self }
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
    /// By socket and link: messages sent, when the last one was, and the power state.
    sent: [[u64; LINKS as usize]; 2],
    used: [[Tick; LINKS as usize]; 2],
    power: [[Width; LINKS as usize]; 2],
    /// By socket and link: the tick of the look at it that counts; others are stale.
    watched: [[Tick; LINKS as usize]; 2],
}

/// Power states of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Width {
    /// All lanes work.
    Full,
    /// Some lanes rest.
    Half,
    /// The link is shut down.
    Off,
}

impl Links {
    /// Quiet links.
    pub fn new(sockets: u8) -> Self {
        let room = if sockets > 1 { 4096 } else { 0 };
        Self {
            packets: Vec::with_capacity(room),
            free: u16::MAX,
            ready: [[0; LINKS as usize]; 2],
            sent: [[0; LINKS as usize]; 2],
            used: [[0; LINKS as usize]; 2],
            power: [[Width::Full; LINKS as usize]; 2],
            watched: [[0; LINKS as usize]; 2],
        }
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
        let id = self.links.add(Packet { from: socket, cha, link, to, then, ..packet });
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
                account.enter(level("m3upi/RxC_CRD_OCC.VNA_IN_USE"), here, index, now, sink);
                if let Some(flow) = flow(class) {
                    account.enter(flow, here, index, now, sink);
                } else {
                    let writeback = u16::from(class == 5);
                    let counts = [
                        deed("m3upi/TxC_BL_FLQ_INSERTS.VN0_RSP") + writeback,
                        // One cycle in the queue.
                        deed("m3upi/TxC_BL_FLQ_OCCUPANCY.VN0_RSP") + writeback,
                        deed("m3upi/TxC_BL_FLQ_CYCLES_NE.VN0_RSP") + writeback,
                        deed("m3upi/RxC_FLITS_SLOT_BL.ALL"),
                    ];
                    counts.into_iter().for_each(|what| account.deed(what, here, index, now, sink));
                }
                if class == 0 && opcode == 2 {
                    account.deed(deed("m3upi/XPT_PFTCH.ARRIVED"), here, index, now, sink);
                    account.deed(deed("m3upi/UPI_PREFETCH_SPAWN"), here, index, now, sink);
                }
                let (from, link) = (usize::from(from), usize::from(link));
                let width = self.links.power[from][link];
                let mut leaves = now.max(self.links.ready[from][link]) + WAKE[width as usize] * uclk;
                self.links.sent[from][link] += 1;
                if self.links.sent[from][link].is_multiple_of(ERROR_INTERVAL) {
                    // The peer finds it damaged and asks for it again.
                    account.deed(deed("upi/RxL_CRC_ERRORS"), there, index, now, sink);
                    account.deed(deed("upi/RxL_CRC_LLR_REQ_TRANSMIT"), there, index, now, sink);
                    leaves += RETRY * uclk;
                }
                let slots = if data { 1 + SLOTS_OF_A_LINE } else { 1 };
                self.links.ready[from][link] = leaves + slots * SLOT;
                let waits = ((leaves - now) / uclk) as u32;
                let queued = waits > 0;
                self.links.packets[usize::from(id)].queued = queued;
                if queued {
                    account.enter(level("upi/TxL_INSERTS"), here, index, now, sink);
                    let lost = if class < 4 {
                        deed("m3upi/TxC_AD_ARB_FAIL.VN0_REQ") + order(class)
                    } else {
                        deed("m3upi/TxC_BL_ARB_FAIL.VN0_RSP") + order(class) - 3
                    };
                    account.deed(lost, here, index, now, sink);
                    account.deed(deed("m3upi/RxC_ARB_LOST_VN0.AD_REQ") + order(class), here, index, now, sink);
                    let idle = if data {
                        deed("m3upi/RxC_DATA_FLITS_NOT_SENT.ALL")
                    } else {
                        deed("m3upi/RxC_HDR_FLIT_NOT_SENT.ALL")
                    };
                    account.deeds(idle, here, index, now, waits, sink);
                    // After so long the shared credits are spent, and the class's own is used.
                    if waits > 64 && class != 4 {
                        let own = deed("m3upi/VN0_CREDITS_USED.REQ") + if class == 5 { 3 } else { order(class) };
                        account.deed(own, here, index, now, sink);
                    }
                } else {
                    account.deed(deed("upi/TxL_BYPASSED"), here, index, now, sink);
                    if class < 4 {
                        account.deed(deed("m3upi/RxC_BYPASSED.AD_S0_IDLE"), here, index, now, sink);
                    }
                }
                account.deed(deed("m3upi/RxC_PACKING_MISS_VN0.AD_REQ") + order(class), here, index, now, sink);
                self.wake_link(from, link, sink);
                leaves.max(now + uclk)
            }
            // It is sent.
            1 => {
                account.leave(ingress(class), here, index, now, sink);
                account.leave(level("m3upi/RxC_CRD_OCC.VNA_IN_USE"), here, index, now, sink);
                if packet.queued {
                    account.leave(level("upi/TxL_INSERTS"), here, index, now, sink);
                }
                account.deed(deed("upi/TxL_ANY_FLITS.PROTHDR"), here, index, now, sink);
                if data {
                    account.deed(deed("upi/TxL_ANY_FLITS.DATA"), here, index, now, sink);
                    account.deed(deed("upi/REQ_SLOT2_FROM_M3.VNA"), here, index, now, sink);
                }
                if let Some(flow) = flow(class) {
                    account.leave(flow, here, index, now, sink);
                }
                account.deed(deed("m3upi/RxC_HDR_FLITS_SENT.1_MSG"), here, index, now, sink);
                account.flits(here, index, class, opcode, data, false, now, sink);
                if let Some(of) = packet.credit {
                    self.give_credit(from, packet.cha, of, sink);
                }
                now + CROSSING * uclk
            }
            // It is received.
            2 => {
                account.flits(there, index, class, opcode, data, true, now, sink);
                account.deed(deed("upi/RxL_CREDITS_CONSUMED_VNA"), there, index, now, sink);
                account.enter(level("upi/VNA_CREDIT_RETURN_OCCUPANCY"), there, index, now, sink);
                account.deed(deed("upi/RxL_ANY_FLITS.PROTHDR"), there, index, now, sink);
                if data {
                    account.deed(deed("upi/RxL_ANY_FLITS.DATA"), there, index, now, sink);
                }
                account.enter(level("upi/RxL_INSERTS.SLOT0"), there, index, now, sink);
                if data {
                    account.enter(level("upi/RxL_INSERTS.SLOT1"), there, index, now, sink);
                    account.enter(level("upi/RxL_INSERTS.SLOT2"), there, index, now, sink);
                }
                now + RECEIVING * uclk
            }
            // It goes onto the other socket's mesh.
            _ => {
                account.leave(level("upi/VNA_CREDIT_RETURN_OCCUPANCY"), there, index, now, sink);
                account.leave(level("upi/RxL_INSERTS.SLOT0"), there, index, now, sink);
                if data {
                    account.leave(level("upi/RxL_INSERTS.SLOT1"), there, index, now, sink);
                    account.leave(level("upi/RxL_INSERTS.SLOT2"), there, index, now, sink);
                    account.deed(deed("m3upi/MULTI_SLOT_RCVD.BL_SLOT0"), there, index, now, sink);
                    account.deed(deed("m3upi/D2C_SENT"), there, index, now, sink);
                    account.deed(deed("upi/DIRECT_ATTEMPTS.D2C"), there, index, now, sink);
                } else {
                    account.deed(deed("m3upi/MULTI_SLOT_RCVD.AD_SLOT0"), there, index, now, sink);
                    account.deed(deed("m3upi/TxC_AD_FLQ_BYPASS.AD_SLOT0"), there, index, now, sink);
                }
                let gate = self.places.m3upi[usize::from(link)];
                // Responses without data are for the caching agent. The link deals out what comes to its two ports.
                let ring = if class == 2 { Ring::AcknowledgeAgents } else { packet.ring() };
                let arrives = self.mesh_send(there as u8, ring, to % 2, gate, to, sink);
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

    /// Changes a link's power state. What its sender does, its peer's receiver sees.
    fn set_width<S: SignalSink>(&mut self, socket: usize, link: usize, to: Width, sink: &mut S) {
        let from = std::mem::replace(&mut self.links.power[socket][link], to);
        let (peer, own, index) = (1 - socket as u16, socket as u16, link as u16);
        let sides = states(from).into_iter().zip(states(to)).zip([peer, own]);
        for ((before, after), side) in sides {
            if let Some(before) = before {
                self.account.leave(before, side, index, self.now, sink);
            }
            if let Some(after) = after {
                self.account.enter(after, side, index, self.now, sink);
            }
        }
    }

    /// A link is used: it wakes, and is looked at again when it may rest.
    fn wake_link<S: SignalSink>(&mut self, socket: usize, link: usize, sink: &mut S) {
        self.links.used[socket][link] = self.now;
        if self.links.power[socket][link] != Width::Full {
            self.set_width(socket, link, Width::Full, sink);
            self.watch_link(socket, link, REST);
        }
    }

    fn watch_link(&mut self, socket: usize, link: usize, cycles: Tick) {
        let number = (socket * usize::from(LINKS) + link) as u16;
        let at = self.now + cycles * self.times.uclk;
        self.links.watched[socket][link] = at;
        self.wheel.schedule(at, Event::LinkIdle.of(number));
    }

    /// A link may have been idle for long enough to rest. A link that is off is not looked at any more.
    pub(super) fn link_idle<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        let (socket, link) = (usize::from(number / u16::from(LINKS)), usize::from(number % u16::from(LINKS)));
        if self.links.watched[socket][link] != self.now {
            return;
        }
        let idle = (self.now - self.links.used[socket][link]) / self.times.uclk;
        match self.links.power[socket][link] {
            Width::Full if idle >= REST => {
                self.set_width(socket, link, Width::Half, sink);
                self.watch_link(socket, link, SHUT_DOWN - REST);
            }
            Width::Full => self.watch_link(socket, link, REST - idle),
            Width::Half if idle >= SHUT_DOWN => {
                self.account.deed(deed("upi/POWER_L1_REQ"), socket as u16, link as u16, self.now, sink);
                self.set_width(socket, link, Width::Off, sink);
            }
            // It has been used since and has its own watch.
            Width::Half | Width::Off => {}
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
                self.watch_link(socket.into(), link.into(), REST);
            }
        }
    }
}
