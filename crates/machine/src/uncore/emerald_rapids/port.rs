//! The coherent port of an I/O stack (IRP): queues that fill, credits towards the mesh that run out, lines that it owns for a while.

use std::collections::VecDeque;

use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::core::ThreadState;
use super::device::STACKS;
use super::event::Event;
use super::request::{Request, RequestId};
use crate::ledger::emerald_rapids::compiled::{deed, level};
use crate::ledger::emerald_rapids::deeds::LevelId;
use crate::ledger::emerald_rapids::{Kind, Lookup, Queue};

/// Reads that the queue of inbound reads holds (assumption: what a port of sixteen lanes has under way at 64 GB/s).
pub const READS: u16 = 192;
/// Data that the queue from the mesh holds, and uncore cycles for which each stays there (assumptions: 64 GB/s go through).
pub const DATA: u16 = 40;
const STAY: Tick = 100;
/// Messages that the mesh stop takes from each of the port's two address queues and from its data queue before it gives credits back,
/// and the uncore cycles that a credit takes (assumption: 80 GB/s of requests go out).
const CREDITS: u8 = 4;
const RETURN: Tick = 16;
/// Queues towards the mesh stop: two for addresses, one for data.
const QUEUES: usize = 3;
const DATA_QUEUE: usize = 2;
/// A snoop's answer: the line was there, exclusive, its data not yet written.
pub const HIT_EXCLUSIVE: u8 = 2;
/// Snoops that it answers: for code, for data, for ownership.
pub const SNOOPS: [u8; 3] = [0, 1, 2];

const STALLS: [LevelId; QUEUES] = [
    level!("irp/TxR2_AD0_STALL_CREDIT_CYCLES"),
    level!("irp/TxR2_AD1_STALL_CREDIT_CYCLES"),
    level!("irp/TxR2_BL_STALL_CREDIT_CYCLES"),
];
const EITHER_STALL: LevelId = level!("irp/TxR2_AD01_STALL_CREDIT_CYCLES");

/// A request that waits for a credit.
#[derive(Debug, Clone, Copy)]
struct Outbound {
    kind: Kind,
    line: u32,
    device: u16,
}

/// A stack's port.
#[derive(Debug)]
pub struct Port {
    reads: u16,
    /// Devices whose next read waits for room.
    held: VecDeque<u16>,
    /// Room left for data, and data that waits for it.
    data: u16,
    arrived: VecDeque<RequestId>,
    credits: [u8; QUEUES],
    waiting: [VecDeque<Outbound>; 2],
    /// Lines between devices wait for a credit of the data queue.
    lines_wait: bool,
    /// Lines that a write has been given and not yet written.
    owned: Vec<u32>,
}

impl Port {
    /// Nothing under way.
    pub fn new() -> Self {
        Self {
            reads: 0,
            held: VecDeque::new(),
            data: DATA,
            arrived: VecDeque::new(),
            credits: [CREDITS; QUEUES],
            waiting: Default::default(),
            lines_wait: false,
            owned: Vec::new(),
        }
    }
}

impl Model {
    fn port(&mut self, socket: u8, stack: u16) -> &mut Port {
        &mut self.ports[usize::from(u16::from(socket) * STACKS + stack)]
    }

    /// True if a device's next read has room; else the device waits for some.
    pub(super) fn read_has_room(&mut self, socket: u8, stack: u16, device: u16) -> bool {
        let port = self.port(socket, stack);
        let room = port.reads < READS;
        if !room && !port.held.contains(&device) {
            port.held.push_back(device);
        }
        room
    }

    /// A read enters the queue of inbound reads.
    pub(super) fn read_enters<S: SignalSink>(&mut self, socket: u8, stack: u16, sink: &mut S) {
        self.port(socket, stack).reads += 1;
        self.account.enter(level!("irp/FAF_INSERTS"), socket.into(), stack, self.now, sink);
    }

    /// A read leaves it: a device that waits for room goes on.
    fn read_leaves<S: SignalSink>(&mut self, socket: u8, stack: u16, sink: &mut S) {
        let port = self.port(socket, stack);
        port.reads -= 1;
        self.account.leave(level!("irp/FAF_INSERTS"), socket.into(), stack, self.now, sink);
        // Some may have gone on since, when another of their requests was done.
        while let Some(device) = self.port(socket, stack).held.pop_front() {
            let thread = &self.threads[usize::from(device)];
            if thread.held.is_some() && thread.state == ThreadState::ForBuffer {
                self.workload_device(device, sink);
                break;
            }
        }
    }

    /// A request of a stack goes to the mesh, when there is a credit.
    pub(super) fn onto_mesh<S: SignalSink>(
        &mut self,
        kind: Kind,
        socket: u8,
        stack: u16,
        line: u32,
        device: u16,
        sink: &mut S,
    ) {
        let queue = line as usize % 2;
        let port = self.port(socket, stack);
        if port.credits[queue] > 0 {
            self.take_credit(socket, stack, queue);
            self.leave_port(kind, socket, stack, line, device, sink);
            return;
        }
        let first = port.waiting[queue].is_empty();
        port.waiting[queue].push_back(Outbound { kind, line, device });
        if first {
            self.account.enter(STALLS[queue], socket.into(), stack, self.now, sink);
            self.account.enter(EITHER_STALL, socket.into(), stack, self.now, sink);
        }
    }

    /// True if a line between devices may go to the mesh; else it waits.
    pub(super) fn line_may_leave<S: SignalSink>(&mut self, socket: u8, stack: u16, sink: &mut S) -> bool {
        let port = self.port(socket, stack);
        if port.credits[DATA_QUEUE] > 0 {
            self.take_credit(socket, stack, DATA_QUEUE);
            return true;
        }
        if !std::mem::replace(&mut port.lines_wait, true) {
            self.account.enter(STALLS[DATA_QUEUE], socket.into(), stack, self.now, sink);
        }
        false
    }

    fn take_credit(&mut self, socket: u8, stack: u16, queue: usize) {
        self.port(socket, stack).credits[queue] -= 1;
        let number = u16::from(socket) * STACKS + stack;
        self.wheel.schedule(self.now + RETURN * self.times.uclk, Event::PortCredit.of(number | (queue as u16) << 8));
    }

    /// The mesh stop gives a credit back.
    pub(super) fn port_credit<S: SignalSink>(&mut self, subject: u16, sink: &mut S) {
        let (number, queue, now) = (subject & 0xFF, usize::from(subject >> 8), self.now);
        let (socket, stack) = ((number / STACKS) as u8, number % STACKS);
        let port = &mut self.ports[usize::from(number)];
        port.credits[queue] += 1;
        if queue == DATA_QUEUE {
            if std::mem::take(&mut port.lines_wait) {
                self.account.leave(STALLS[queue], socket.into(), stack, now, sink);
                self.send_peers(socket, stack as u8, sink);
            }
            return;
        }
        let Some(Outbound { kind, line, device }) = port.waiting[queue].pop_front() else { return };
        if port.waiting[queue].is_empty() {
            self.account.leave(STALLS[queue], socket.into(), stack, now, sink);
            self.account.leave(EITHER_STALL, socket.into(), stack, now, sink);
        }
        self.take_credit(socket, stack, queue);
        self.leave_port(kind, socket, stack, line, device, sink);
    }

    /// Data for a read has come to the stack's mesh stop, and goes into the port's queue when that has room.
    pub(super) fn data_arrives<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, origin: stack, .. } = self.pool[request];
        let (at, now) = (u16::from(socket), self.now);
        self.account.deed(deed!("irp/FAF_TRANSACTIONS"), at, stack, now, sink);
        self.account.enter(level!("m2pcie/RxC_INSERTS.CHA_IDI"), at, stack, now, sink);
        let port = self.port(socket, stack);
        if port.data == 0 {
            port.arrived.push_back(request);
            self.account.deed(deed!("m2pcie/IIO_CREDITS_REJECT.DRS"), at, stack, now, sink);
        } else {
            self.data_enters(request, sink);
        }
        self.read_leaves(socket, stack, sink);
    }

    fn data_enters<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, origin: stack, .. } = self.pool[request];
        let (at, now) = (u16::from(socket), self.now);
        self.port(socket, stack).data -= 1;
        self.account.deed(deed!("m2pcie/IIO_CREDITS_ACQUIRED.DRS_0"), at, stack, now, sink);
        self.account.enter(level!("m2pcie/IIO_CREDITS_USED.DRS_0"), at, stack, now, sink);
        self.account.enter(level!("irp/TxC_BL_DRS_INSERTS"), at, stack, now, sink);
        self.wheel.schedule(now + STAY * self.times.uclk, Event::PortData.of(request));
    }

    /// Data leaves the port's queue for the device.
    pub(super) fn port_data<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, origin: stack, .. } = self.pool[request];
        let (at, now) = (u16::from(socket), self.now);
        self.account.leave(level!("m2pcie/RxC_INSERTS.CHA_IDI"), at, stack, now, sink);
        self.account.leave(level!("m2pcie/IIO_CREDITS_USED.DRS_0"), at, stack, now, sink);
        self.account.leave(level!("irp/TxC_BL_DRS_INSERTS"), at, stack, now, sink);
        let port = self.port(socket, stack);
        port.data += 1;
        let next = port.arrived.pop_front();
        self.data_goes_up(request, sink);
        if let Some(next) = next {
            self.data_enters(next, sink);
        }
    }

    /// A write has been given its line, and will write it soon.
    pub(super) fn port_owns(&mut self, socket: u8, stack: u16, line: u32) {
        self.owned_lines += 1;
        self.port(socket, stack).owned.push(line);
    }

    /// A write is done with its line.
    pub(super) fn port_wrote(&mut self, socket: u8, stack: u16, line: u32) {
        let port = self.port(socket, stack);
        if let Some(index) = port.owned.iter().position(|&owned| owned == line) {
            port.owned.swap_remove(index);
            self.owned_lines -= 1;
        }
    }

    /// A request asks for a line that a port of its socket may own: the port gives it up.
    pub(super) fn snoop_ports<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, origin, line, class, .. } = self.pool[request];
        if class.kind.lookup() == Lookup::None || class.kind.is_writeback() || class.kind == Kind::DmaWriteback {
            return;
        }
        let own = if class.kind.queue() == Queue::Io { Some(origin) } else { None };
        let first = usize::from(u16::from(socket) * STACKS);
        let ports = self.ports[first..first + usize::from(STACKS)].iter().zip(0..);
        let owner = ports.filter(|&(_, stack)| Some(stack) != own).find(|(port, _)| port.owned.contains(&line));
        let Some(stack) = owner.map(|(_, stack)| stack) else { return };
        self.port_wrote(socket, stack, line);
        let (at, now) = (u16::from(socket), self.now);
        let snoop = match class.kind {
            kind if kind.owns() => SNOOPS[2],
            Kind::CodeRead | Kind::CodePrefetch | Kind::LlcCode => SNOOPS[0],
            _ => SNOOPS[1],
        };
        self.account.port_answers(at, stack, HIT_EXCLUSIVE, snoop, now, sink);
        self.account.deed(deed!("irp/MISC1.LOST_FWD"), at, stack, now, sink);
        self.account.deed(deed!("irp/MISC1.SLOW_I"), at, stack, now, sink);
    }
}
