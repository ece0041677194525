//! I/O stacks: accesses of cores to devices, and of devices to memory.
//!
//! A stack is a traffic controller (IIO) with eight ports, its way into the coherent mesh (IRP) and its mesh stop (M2PCIe).

use pericore_engine::Tick;

use super::Model;
use super::address::{self, PORTS, mesh_port, port};
use super::core::ThreadState;
use super::event::Event;
use super::request::{Request, RequestId};
use pericore_facts::emerald_rapids::{
    DeviceRequest, DeviceStation, Fact, Kind, Readers, Ring, StackFact, UnitInstance,
};
use pericore_parts::lanes::IoLanes;
use pericore_workload::{DeviceAim, MessageKind};

/// Uncore cycles between the requests of a stack: 64 bytes each 160 ns, 0.4 GB/s (assumption: a device at work, far below a port's
/// bandwidth).
const INTERVAL: Tick = 400;
/// Requests that a device of a workload has under way at most, and the uncore cycles between two of them: 64 bytes at the 64 GB/s of
/// sixteen lanes of the fifth generation (the number under way is an assumption).
const OUTSTANDING: u64 = 64;
const PACE: Tick = 3;
/// Vendor's product data: 80 lanes of PCI Express 5.0; its specification has rate, encoding and what is around a
/// packet's data, and packets of 256 bytes are the largest that such hosts take (assumption).
pub const LANES: IoLanes =
    IoLanes { lanes: 80, device_lanes: 16, megatransfers: 32_000, encoding: [128, 130], payload: 256, overhead: 24 };
/// Uncore cycles from the mesh stop through the stack to the port, and back.
pub const THROUGH: Tick = 250;
/// Of these, those from the coherent port's queue to the device.
const UP: Tick = 150;
/// Uncore cycles that a device takes to answer a read (assumption: 400 ns with the port's way).
pub const DEVICE: Tick = 750;
/// Translations that the IOMMU keeps: one request in so many needs another page (assumption: sequential buffers of 4 KiB pages).
const REQUESTS_OF_A_PAGE: u32 = 64;
/// Lines for which an entry of a page table's lowest three levels stands: 4 KiB, 2 MiB, 1 GiB.
const WALKED: [u32; 3] = [REQUESTS_OF_A_PAGE, 1 << 15, 1 << 24];

/// A stack's devices.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stack {
    turn: u32,
    /// The line that it writes, or wrote last.
    pub written: u32,
}

impl Model {
    /// A request of a device is somewhere.
    pub(super) fn device_at<R: Readers>(&self, station: DeviceStation, request: RequestId, reader: &mut R) {
        let Request { socket, origin, line, class, .. } = self.pool[request];
        self.line_at(station, class.kind, socket, origin, line, reader);
    }

    fn line_at<R: Readers>(
        &self,
        station: DeviceStation,
        kind: Kind,
        socket: u8,
        stack: u16,
        line: u32,
        reader: &mut R,
    ) {
        // Of the levels of a page table, a walk reads those whose entry is another one than for the page before.
        let walk = WALKED.iter().take_while(|&&lines| line.is_multiple_of(lines)).count() as u8;
        let request = DeviceRequest { kind, port: port(line), walk };
        reader.read(self.now, Fact::Device((socket.into(), stack), station, request));
    }

    /// A device of a workload of devices sends its next request, if one of those that it can have under way is free.
    pub(super) fn workload_device<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let device = &mut self.threads[usize::from(number)];
        if device.accesses >= OUTSTANDING {
            device.state = ThreadState::ForBuffer;
            return;
        }
        let core = device.core;
        let Some((access, line)) = self.next_access(number) else {
            self.threads[usize::from(number)].state = ThreadState::Finished;
            return;
        };
        let socket = self.socket_of(core);
        let stack = number / self.around % self.places.stacks();
        if access.aim == DeviceAim::Device {
            let device = &mut self.threads[usize::from(number)];
            device.accesses += 1;
            device.state = ThreadState::Running;
            self.peer_access((socket, stack), number, (line, access.store), reader);
            self.wheel.schedule(self.now + PACE * self.times.uclk, Event::Device.of(number));
            return;
        }
        let goes = access.store || self.read_has_room(socket, stack, number);
        let device = &mut self.threads[usize::from(number)];
        if !goes {
            (device.held, device.state) = (Some((access, line)), ThreadState::ForBuffer);
            return;
        }
        device.accesses += 1;
        device.state = ThreadState::Running;
        // What a device must write by a time does not stay in the LLC.
        let around = !access.whole || self.threads[usize::from(number)].isochronous;
        let kind = match (access.store, around) {
            _ if access.aim == DeviceAim::Atomic => Kind::DmaAtomic,
            _ if access.aim == DeviceAim::Part => Kind::DmaWriteNear,
            (false, _) => Kind::DmaRead,
            (true, false) => Kind::DmaWrite,
            (true, true) => Kind::DmaWriteAround,
        };
        self.inbound(kind, socket, stack, line, number, reader);
        // Its next line goes when those of the other devices before it have gone; data of reads comes as often.
        let lanes = &mut self.lanes[usize::from(socket)][usize::from(access.store)];
        let next = lanes.carry(self.now + PACE * self.times.uclk).0;
        self.wheel.schedule(self.clocks.uclk.align_up(next), Event::Device.of(number));
    }

    /// Devices of a workload begin (true) or end to work. Each tells what latency it bears (PCIe's LTR message), and
    /// one that begins also that it is there (MCTP's Discovery Notify, of one double word, as DSP0238 has it). A stack
    /// has devices on all its ports.
    pub(super) fn announce_devices<R: Readers>(&mut self, begin: bool, reader: &mut R) {
        if !self.devices_only {
            return;
        }
        let stacks = self.places.stacks();
        let mut of_workload: Vec<UnitInstance> = (0..self.threads.len() as u16)
            .map(|number| {
                (self.socket_of(self.threads[usize::from(number)].core).into(), number / self.around % stacks)
            })
            .collect();
        of_workload.sort_unstable();
        of_workload.dedup();
        for (stack, port) in of_workload.into_iter().flat_map(|stack| (0..PORTS as u8).map(move |port| (stack, port))) {
            reader.read(self.now, Fact::Stack(stack, StackFact::Message { port, words: 0 }));
            if begin {
                reader.read(self.now, Fact::Stack(stack, StackFact::Message { port, words: 1 }));
            }
        }
    }

    /// A request of a workload's device is done: its place is free.
    pub(super) fn device_done<R: Readers>(&mut self, number: u16, reader: &mut R) {
        self.work.done += 1;
        let device = &mut self.threads[usize::from(number)];
        device.accesses -= 1;
        if device.state == ThreadState::ForBuffer {
            self.workload_device(number, reader);
        }
    }

    /// A device of a stack sends its next request, as long as cores are at work.
    pub(super) fn device<R: Readers>(&mut self, number: u16, reader: &mut R) {
        if self.devices_only {
            self.workload_device(number, reader);
            return;
        }
        if self.work.done >= self.goal {
            self.at_work -= 1;
            return;
        }
        self.wheel.schedule(self.now + INTERVAL * self.times.uclk, Event::Device.of(number));
        let stack = &mut self.stacks[usize::from(number)];
        stack.turn += 1;
        let turn = stack.turn;
        let stacks = self.places.stacks();
        let (socket, index) = ((number / stacks) as u8, number % stacks);
        let kind = match turn % 8 {
            0..=3 => Kind::DmaRead,
            4 | 5 => Kind::DmaWrite,
            6 => Kind::DmaWriteNear,
            _ => Kind::DmaPartial,
        };
        // Buffers of 1 MB for each stack, below the page tables.
        let top = (u32::from(socket) + 1) << address::REGION_BITS;
        let line = top - 1 - (1 << 18) - u32::from(index) * (1 << 14) - turn % (1 << 14);
        let line = if self.sockets == 2 && turn % 4 == 3 { line ^ 1 << address::REGION_BITS } else { line };
        if kind != Kind::DmaRead {
            self.stacks[usize::from(number)].written = line;
        }
        self.inbound(kind, socket, index, line, u16::MAX, reader);
    }

    /// A request of a device enters the stack and goes out on the mesh.
    fn inbound<R: Readers>(&mut self, kind: Kind, socket: u8, stack: u16, line: u32, device: u16, reader: &mut R) {
        self.devices_request(socket, reader);
        self.line_at(DeviceStation::Enters, kind, socket, stack, line, reader);
        if kind == Kind::DmaRead {
            self.read_enters(socket, stack);
        }
        self.onto_mesh(kind, socket, stack, line, device, reader);
    }

    /// A request of a stack goes to its agent.
    pub(super) fn leave_port<R: Readers>(
        &mut self,
        kind: Kind,
        socket: u8,
        stack: u16,
        line: u32,
        device: u16,
        reader: &mut R,
    ) {
        let (target, home) = self.target(line);
        let cha = self.map.agent(line);
        let mut request = Request::new(kind, socket, cha, home, stack, line, target);
        request.thread = device;
        request.isochronous = self.threads.get(usize::from(device)).is_some_and(|device| device.isochronous);
        self.foresee_arrival(&request, reader);
        let request = self.pool.add(request);
        self.device_at(DeviceStation::Leaves, request, reader);
        let from = self.places.m2pcie[usize::from(stack)];
        let to = self.places.cha[usize::from(cha)];
        let mut arrives = self.mesh_send(socket, Ring::Address, mesh_port(line), from, to, reader);
        if kind == Kind::DmaWriteback {
            arrives = arrives.max(self.mesh_send(socket, Ring::Block, mesh_port(line), from, to, reader));
        }
        self.wheel.schedule(arrives + THROUGH * self.times.uclk, Event::Arrive.of(request));
    }

    /// Data or permission has come back to the stack's mesh stop.
    pub(super) fn device_data<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        self.end_entry(request, reader);
        let Request { socket, origin: stack, line, class, .. } = self.pool[request];
        if !matches!(class.kind, Kind::DmaRead | Kind::DmaWriteback | Kind::DmaWriteAround | Kind::DmaWriteNear) {
            // From here on a snoop finds the line; what goes to memory or is merged at the agent is there already.
            self.port_owns(socket, stack, line);
        }
        if class.kind.brings_data() {
            self.data_arrives(request, reader);
        } else {
            self.permitted(request, reader);
        }
    }

    /// A request has all that it needs to write its line.
    pub(super) fn permitted<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, origin: stack, line, .. } = self.pool[request];
        self.device_at(DeviceStation::Permitted, request, reader);
        // The agent hears that the stack has its permission.
        let (from, to) = (self.places.m2pcie[usize::from(stack)], self.places.cha[usize::from(cha)]);
        self.mesh_send(socket, Ring::AcknowledgeAgents, mesh_port(line), from, to, reader);
        self.wheel.schedule(self.now + THROUGH * self.times.uclk, Event::Completed.of(request));
    }

    /// Data for a read goes through the stack to its device.
    pub(super) fn data_goes_up<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        self.device_at(DeviceStation::DataGoesUp, request, reader);
        self.wheel.schedule(self.now + UP * self.times.uclk, Event::Completed.of(request));
    }

    /// The stack is done with a request of a device.
    pub(super) fn completed<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, origin: stack, line, class, thread, .. } = self.pool[request];
        self.device_at(DeviceStation::Completes, request, reader);
        self.pool.remove(request);
        if !matches!(class.kind, Kind::DmaRead | Kind::DmaWriteback | Kind::DmaWriteAround | Kind::DmaWriteNear) {
            self.port_wrote(socket, stack, line);
        }
        // What a system does beside its devices: it has them interrupt a core for each page that they are done with.
        if self.system && line.is_multiple_of(REQUESTS_OF_A_PAGE) {
            self.send_to_system(socket.into(), MessageKind::Interrupt, stack.into(), reader);
        }
        if thread != u16::MAX {
            self.device_done(thread, reader);
        }
        if matches!(class.kind, Kind::DmaPartial | Kind::DmaAtomic) {
            // Its data, merged into the line, goes to the slice.
            self.onto_mesh(Kind::DmaWriteback, socket, stack, line, u16::MAX, reader);
        }
    }

    /// The stack of a device's line.
    fn stack_of(&self, line: u32) -> u16 {
        (line % u32::from(self.places.stacks())) as u16
    }

    /// A core's access to a device: over the mesh to the stack.
    pub(super) fn device_access<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, line, .. } = self.pool[request];
        let from = self.places.cha[usize::from(cha)];
        let to = self.places.m2pcie[usize::from(self.stack_of(line))];
        // Reads and writes alike (2.8.4: NCS and NCB are classes of BL).
        let at = self.mesh_send(socket, Ring::Block, 0, from, to, reader);
        self.go(request, reader);
        self.wheel.schedule(at, Event::AtDevice.of(request));
    }

    /// A core's access arrives at the stack.
    pub(super) fn at_device<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, line, class, .. } = self.pool[request];
        let (at, stack, now) = (u16::from(socket), self.stack_of(line), self.now);
        let reads = class.kind == Kind::DeviceRead;
        reader.read(now, Fact::Stack((at, stack), StackFact::CoreComes { port: port(line), reads }));
        self.wheel.schedule(now + THROUGH * self.times.uclk, Event::PastPort.of(request));
    }

    /// A core's access has gone through the stack: a write is done, a read waits for the device.
    pub(super) fn past_port<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, line, class, .. } = self.pool[request];
        let (at, stack, now) = (u16::from(socket), self.stack_of(line), self.now);
        let reads = class.kind == Kind::DeviceRead;
        reader.read(now, Fact::Stack((at, stack), StackFact::CorePasses { port: port(line), reads }));
        if reads {
            self.wheel.schedule(now + (DEVICE - THROUGH) * self.times.uclk, Event::FromDevice.of(request));
        } else {
            self.device_responds(request, reader);
        }
    }

    /// The stack answers a core's access.
    pub(super) fn device_responds<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, line, class, .. } = self.pool[request];
        let (at, stack) = (u16::from(socket), self.stack_of(line));
        let reads = class.kind == Kind::DeviceRead;
        reader.read(self.now, Fact::Stack((at, stack), StackFact::CoreAnswered { port: port(line), reads }));
        let ring = if reads { Ring::Block } else { Ring::Acknowledge };
        let from = self.places.m2pcie[usize::from(stack)];
        let to = self.requester_tile(request);
        let back = self.mesh_send(socket, ring, mesh_port(line), from, to, reader);
        self.wheel.schedule(back, Event::Data.of(request));
    }
}
