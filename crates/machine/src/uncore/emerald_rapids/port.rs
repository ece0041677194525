//! The coherent port of an I/O stack (IRP): queues that fill, credits towards the mesh that run out, lines that it owns for a while.

use std::collections::VecDeque;

use pericore_engine::Tick;

use super::Model;
use super::address::mesh_port;
use super::core::ThreadState;
use super::event::Event;
use super::request::{Request, RequestId};
use pericore_facts::emerald_rapids::{
    DeviceStation, Fact, INBOUND_DATA, INBOUND_READS, Kind, Lookup, Queue, Readers, Ring, StackFact,
};

/// Uncore cycles for which data stays in the queue from the mesh (assumption: 64 GB/s go through).
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
            data: INBOUND_DATA,
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
        let number = u16::from(socket) * self.places.stacks() + stack;
        &mut self.ports[usize::from(number)]
    }

    /// True if a device's next read has room; else the device waits for some.
    pub(super) fn read_has_room(&mut self, socket: u8, stack: u16, device: u16) -> bool {
        let port = self.port(socket, stack);
        let room = port.reads < INBOUND_READS;
        if !room && !port.held.contains(&device) {
            port.held.push_back(device);
        }
        room
    }

    /// A read enters the queue of inbound reads.
    pub(super) fn read_enters(&mut self, socket: u8, stack: u16) {
        self.port(socket, stack).reads += 1;
    }

    /// A read leaves it: a device that waits for room goes on.
    fn read_leaves<R: Readers>(&mut self, socket: u8, stack: u16, reader: &mut R) {
        self.port(socket, stack).reads -= 1;
        // Some may have gone on since, when another of their requests was done.
        while let Some(device) = self.port(socket, stack).held.pop_front() {
            let thread = &self.threads[usize::from(device)];
            if thread.held.is_some() && thread.state == ThreadState::ForBuffer {
                self.workload_device(device, reader);
                break;
            }
        }
    }

    /// A request of a stack goes to the mesh, when there is a credit.
    pub(super) fn onto_mesh<R: Readers>(
        &mut self,
        kind: Kind,
        socket: u8,
        stack: u16,
        line: u32,
        device: u16,
        reader: &mut R,
    ) {
        let queue = line as usize % 2;
        let port = self.port(socket, stack);
        if port.credits[queue] > 0 {
            self.take_credit(socket, stack, queue);
            self.leave_port(kind, socket, stack, line, device, reader);
            return;
        }
        let first = port.waiting[queue].is_empty();
        port.waiting[queue].push_back(Outbound { kind, line, device });
        if first {
            self.stalls(socket, stack, queue, true, reader);
        }
    }

    /// A queue of a port begins or ends to wait for a credit.
    fn stalls<R: Readers>(&self, socket: u8, stack: u16, queue: usize, on: bool, reader: &mut R) {
        reader.read(self.now, Fact::Stack((socket.into(), stack), StackFact::Stalls(queue as u8, on)));
    }

    /// True if a line between devices may go to the mesh; else it waits.
    pub(super) fn line_may_leave<R: Readers>(&mut self, socket: u8, stack: u16, reader: &mut R) -> bool {
        let port = self.port(socket, stack);
        if port.credits[DATA_QUEUE] > 0 {
            self.take_credit(socket, stack, DATA_QUEUE);
            return true;
        }
        if !std::mem::replace(&mut port.lines_wait, true) {
            self.stalls(socket, stack, DATA_QUEUE, true, reader);
        }
        false
    }

    fn take_credit(&mut self, socket: u8, stack: u16, queue: usize) {
        self.port(socket, stack).credits[queue] -= 1;
        let number = u16::from(socket) * self.places.stacks() + stack;
        self.wheel.schedule(self.now + RETURN * self.times.uclk, Event::PortCredit.of(number | (queue as u16) << 8));
    }

    /// The mesh stop gives a credit back.
    pub(super) fn port_credit<R: Readers>(&mut self, subject: u16, reader: &mut R) {
        let (number, queue) = (subject & 0xFF, usize::from(subject >> 8));
        let stacks = self.places.stacks();
        let (socket, stack) = ((number / stacks) as u8, number % stacks);
        let port = &mut self.ports[usize::from(number)];
        port.credits[queue] += 1;
        if queue == DATA_QUEUE {
            if std::mem::take(&mut port.lines_wait) {
                self.stalls(socket, stack, queue, false, reader);
                self.send_peers(socket, stack as u8, reader);
            }
            return;
        }
        let Some(Outbound { kind, line, device }) = port.waiting[queue].pop_front() else { return };
        if port.waiting[queue].is_empty() {
            self.stalls(socket, stack, queue, false, reader);
        }
        self.take_credit(socket, stack, queue);
        self.leave_port(kind, socket, stack, line, device, reader);
    }

    /// A line has come to the stack's mesh stop, and goes into the port's queue when that has room.
    pub(super) fn data_arrives<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, origin: stack, class, .. } = self.pool[request];
        let reads = class.kind == Kind::DmaRead;
        let port = self.port(socket, stack);
        let waits = port.data == 0;
        if waits {
            port.arrived.push_back(request);
        }
        self.device_at(DeviceStation::DataComes(waits), request, reader);
        if !waits {
            self.data_enters(request, reader);
        }
        if reads {
            self.read_leaves(socket, stack, reader);
        }
    }

    fn data_enters<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, origin: stack, .. } = self.pool[request];
        self.port(socket, stack).data -= 1;
        self.device_at(DeviceStation::DataEnters, request, reader);
        self.wheel.schedule(self.now + STAY * self.times.uclk, Event::PortData.of(request));
    }

    /// Data leaves the port's queue: of a read for its device; a line that is changed stays.
    pub(super) fn port_data<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, origin: stack, class, .. } = self.pool[request];
        let port = self.port(socket, stack);
        port.data += 1;
        let next = port.arrived.pop_front();
        if class.kind == Kind::DmaRead {
            self.data_goes_up(request, reader);
        } else {
            self.permitted(request, reader);
        }
        if let Some(next) = next {
            self.data_enters(next, reader);
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
    pub(super) fn snoop_ports<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, origin, line, class, .. } = self.pool[request];
        if class.kind.lookup() == Lookup::None || class.kind.is_writeback() || class.kind == Kind::DmaWriteback {
            return;
        }
        let own = if class.kind.queue() == Queue::Io { Some(origin) } else { None };
        let stacks = usize::from(self.places.stacks());
        let first = usize::from(socket) * stacks;
        let ports = self.ports[first..first + stacks].iter().zip(0..);
        let owner = ports.filter(|&(_, stack)| Some(stack) != own).find(|(port, _)| port.owned.contains(&line));
        let Some(stack) = owner.map(|(_, stack)| stack) else { return };
        self.port_wrote(socket, stack, line);
        let (at, now) = (u16::from(socket), self.now);
        let snoop = match class.kind {
            kind if kind.owns() => SNOOPS[2],
            Kind::CodeRead | Kind::CodePrefetch | Kind::LlcCode => SNOOPS[0],
            _ => SNOOPS[1],
        };
        reader.port_responds(at, stack, HIT_EXCLUSIVE, snoop, now);
        // The snoop, and the stack's answer to the agent.
        let (agent, tile) = (self.places.cha[usize::from(cha)], self.places.m2pcie[usize::from(stack)]);
        self.mesh_send(socket, Ring::Invalidate, 0, agent, tile, reader);
        self.mesh_send(socket, Ring::AcknowledgeAgents, mesh_port(line), tile, agent, reader);
    }
}
