//! I/O stacks: accesses of cores to devices, and of devices to memory.
//!
//! A stack is a traffic controller (IIO) with eight ports, its way into the coherent mesh (IRP) and its mesh stop (M2PCIe).

use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::address;
use super::core::ThreadState;
use super::event::Event;
use super::request::{Request, RequestId};
use crate::ledger::emerald_rapids::compiled::{deed, level};
use crate::ledger::emerald_rapids::{Kind, Ring};

/// Stacks of a socket.
pub const STACKS: u16 = 10;
/// Ports of a stack.
pub const PORTS: u16 = 8;
/// Double words of a line.
pub const LINE_DWS: u32 = 16;
/// Double words of a doorbell.
const DOORBELL_DWS: u32 = 2;
/// Uncore cycles between the requests of a stack: 64 bytes each 160 ns, 0.4 GB/s (assumption: a device at work, far below a port's
/// bandwidth).
const INTERVAL: Tick = 400;
/// Requests that a device of a workload has under way at most, and the uncore cycles between two of them: 64 bytes at the 64 GB/s of
/// sixteen lanes of the fifth generation (the number under way is an assumption).
const OUTSTANDING: u64 = 64;
const PACE: Tick = 3;
/// Uncore cycles from the mesh stop through the stack to the port, and back.
pub const THROUGH: Tick = 250;
/// Of these, those from the coherent port's queue to the device.
const UP: Tick = 150;
/// Uncore cycles that a device takes to answer a read (assumption: 400 ns with the port's way).
pub const DEVICE: Tick = 750;
/// Translations that the IOMMU keeps: one request in so many needs another page (assumption: sequential buffers of 4 KiB pages).
const REQUESTS_OF_A_PAGE: u32 = 64;

/// A stack's devices.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stack {
    turn: u32,
    /// The line that it writes, or wrote last.
    pub written: u32,
}

/// The port to the mesh of what a stack sends about a line: its lower four ports share one, the upper four the other.
const fn mesh_port(line: u32) -> u8 {
    (line as u16 / 8 % PORTS / (PORTS / 2)) as u8
}

impl Model {
    /// A device of a workload of devices sends its next request, if one of those that it can have under way is free.
    pub(super) fn workload_device<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
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
        let stack = number / self.around % STACKS;
        let goes = access.store || self.read_has_room(socket, stack, number);
        let device = &mut self.threads[usize::from(number)];
        if !goes {
            (device.held, device.state) = (Some((access, line)), ThreadState::ForBuffer);
            return;
        }
        device.accesses += 1;
        device.state = ThreadState::Running;
        let kind = match (access.store, access.whole) {
            (false, _) => Kind::DmaRead,
            (true, true) => Kind::DmaWrite,
            // What need not stay in the cache.
            (true, false) => Kind::DmaWriteNear,
        };
        self.inbound(kind, socket, stack, line, number, sink);
        self.wheel.schedule(self.now + PACE * self.times.uclk, Event::Device.of(number));
    }

    /// A request of a workload's device is done: its place is free.
    fn device_done<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        self.work.done += 1;
        let device = &mut self.threads[usize::from(number)];
        device.accesses -= 1;
        if device.state == ThreadState::ForBuffer {
            self.workload_device(number, sink);
        }
    }

    /// A device of a stack sends its next request, as long as cores are at work.
    pub(super) fn device<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        if self.devices_only {
            self.workload_device(number, sink);
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
        let (socket, index) = ((number / STACKS) as u8, number % STACKS);
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
        self.inbound(kind, socket, index, line, u16::MAX, sink);
    }

    /// A request of a device enters the stack and goes out on the mesh.
    fn inbound<S: SignalSink>(&mut self, kind: Kind, socket: u8, stack: u16, line: u32, device: u16, sink: &mut S) {
        let (at, now) = (u16::from(socket), self.now);
        let port = line as u16 / 8 % PORTS;
        let account = &mut self.account;
        let read = kind == Kind::DmaRead;
        let (dws, txns) = if read {
            (deed!("iio/DATA_REQ_OF_CPU.MEM_READ.PART0"), deed!("iio/TXN_REQ_OF_CPU.MEM_READ.PART0"))
        } else {
            (deed!("iio/DATA_REQ_OF_CPU.MEM_WRITE.PART0"), deed!("iio/TXN_REQ_OF_CPU.MEM_WRITE.PART0"))
        };
        account.deeds(dws + port, at, stack, now, LINE_DWS, sink);
        account.deed(txns + port, at, stack, now, sink);
        let happens = [
            deed!("iio/NUM_REQ_OF_CPU.COMMIT.ALL"),
            deed!("iio/NUM_REQ_OF_CPU_BY_TGT.MEM"),
            deed!("iio/INBOUND_ARB_REQ.IOMMU_REQ"),
            deed!("iio/INBOUND_ARB_WON.IOMMU_REQ"),
            deed!("iio/IOMMU0.FIRST_LOOKUPS"),
            deed!("iio/INBOUND_ARB_REQ.FINAL_RD_WR"),
            deed!("iio/INBOUND_ARB_WON.FINAL_RD_WR"),
            deed!("iio/REQ_FROM_PCIE_PASS_CMPL.FINAL_RD_WR"),
        ];
        happens.into_iter().for_each(|what| account.deed(what, at, stack, now, sink));
        if line.is_multiple_of(REQUESTS_OF_A_PAGE) {
            let walk = [
                deed!("iio/IOMMU0.MISSES"),
                deed!("iio/IOMMU0.CTXT_CACHE_LOOKUPS"),
                deed!("iio/IOMMU0.CTXT_CACHE_HITS"),
                deed!("iio/IOMMU1.PWC_CACHE_FILLS"),
                deed!("iio/IOMMU1.NUM_MEM_ACCESSES"),
                deed!("iio/FASTPATH.REJECT"),
                // The translation of the page before is taken back when its buffer has been used.
                deed!("iio/IOMMU3.NUM_INVAL_IOTLB"),
            ];
            walk.into_iter().for_each(|what| account.deed(what, at, stack, now, sink));
            // The walk's reads hit caches: it is over when the request goes on.
            account.enter(level!("iio/PWT_OCCUPANCY"), at, stack, now, sink);
        } else {
            let hit = [
                deed!("iio/IOMMU0.4K_HITS"),
                deed!("iio/INBOUND_ARB_REQ.IOMMU_HIT"),
                deed!("iio/INBOUND_ARB_WON.IOMMU_HIT"),
                deed!("iio/FASTPATH.ACCEPT"),
            ];
            hit.into_iter().for_each(|what| account.deed(what, at, stack, now, sink));
        }
        account.enter(level!("irp/CACHE_TOTAL_OCCUPANCY.MEM"), at, stack, now, sink);
        account.deed(deed!("irp/IRP_ALL.INBOUND_INSERTS"), at, stack, now, sink);
        account.deed(deed!("irp/MISC0.FAST_REQ"), at, stack, now, sink);
        if read {
            account.deed(deed!("irp/TRANSACTIONS.OTHER"), at, stack, now, sink);
            account.deed(deed!("iio/REQ_FROM_PCIE_CL_CMPL.NP"), at, stack, now, sink);
            self.read_enters(socket, stack, sink);
        } else {
            let writes = [
                deed!("iio/INBOUND_ARB_REQ.REQ_OWN"),
                deed!("iio/INBOUND_ARB_WON.REQ_OWN"),
                deed!("iio/REQ_FROM_PCIE_PASS_CMPL.REQ_OWN"),
                deed!("iio/REQ_FROM_PCIE_CMPL.REQ_OWN"),
            ];
            writes.into_iter().for_each(|what| account.deed(what, at, stack, now, sink));
            account.deed(deed!("irp/TRANSACTIONS.WRITES"), at, stack, now, sink);
            account.deed(deed!("irp/TRANSACTIONS.WR_PREF"), at, stack, now, sink);
        }
        self.onto_mesh(kind, socket, stack, line, device, sink);
    }

    /// A request of a stack goes to its agent.
    pub(super) fn leave_port<S: SignalSink>(
        &mut self,
        kind: Kind,
        socket: u8,
        stack: u16,
        line: u32,
        device: u16,
        sink: &mut S,
    ) {
        let at = u16::from(socket);
        let (target, home) = address::target(line);
        let cha = self.map.agent(line);
        let mut request = Request::new(kind, socket, cha, home, stack, line, target);
        request.thread = device;
        self.foresee_arrival(&request);
        let request = self.pool.add(request);
        self.account.deed(deed!("m2pcie/TxC_INSERTS_AD.AGT_0"), at, stack, self.now, sink);
        self.account.deed(deed!("m2pcie/TxC_CREDITS.PRQ"), at, stack, self.now, sink);
        let from = self.places.m2pcie[usize::from(stack)];
        let to = self.places.cha[usize::from(cha)];
        let mut arrives = self.mesh_send(socket, Ring::Address, mesh_port(line), from, to, sink);
        if kind == Kind::DmaWriteback {
            self.account.deed(deed!("m2pcie/TxC_INSERTS_BL.AGT_0"), at, stack, self.now, sink);
            arrives = arrives.max(self.mesh_send(socket, Ring::Block, mesh_port(line), from, to, sink));
        }
        self.wheel.schedule(arrives + THROUGH * self.times.uclk, Event::Arrive.of(request));
    }

    /// Data or permission has come back to the stack's mesh stop.
    pub(super) fn device_data<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, origin, line, class, .. } = self.pool[request];
        let (at, stack, now) = (u16::from(socket), origin, self.now);
        self.end_entry(request, sink);
        if class.kind == Kind::DmaRead {
            self.data_arrives(request, sink);
            return;
        }
        let account = &mut self.account;
        account.deed(deed!("irp/TxC_AK_INSERTS"), at, stack, now, sink);
        account.deed(deed!("m2pcie/TxC_INSERTS_AK.AGT_0"), at, stack, now, sink);
        // The agent hears that the stack has its permission.
        let (from, to) = (self.places.m2pcie[usize::from(stack)], self.places.cha[usize::from(cha)]);
        self.mesh_send(socket, Ring::AcknowledgeAgents, mesh_port(line), from, to, sink);
        if class.kind != Kind::DmaWriteback {
            self.port_owns(socket, stack, line);
        }
        self.wheel.schedule(now + THROUGH * self.times.uclk, Event::Completed.of(request));
    }

    /// Data for a read goes through the stack to its device.
    pub(super) fn data_goes_up<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, origin, line, .. } = self.pool[request];
        let (at, stack, now) = (u16::from(socket), origin, self.now);
        let port = line as u16 / 8 % PORTS;
        self.account.deed(deed!("iio/COMP_BUF_INSERTS.CMPD.PART0") + port, at, stack, now, sink);
        self.account.enter(level!("iio/COMP_BUF_OCCUPANCY.CMPD.PART0") + port, at, stack, now, sink);
        self.wheel.schedule(now + UP * self.times.uclk, Event::Completed.of(request));
    }

    /// The stack is done with a request of a device.
    pub(super) fn completed<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, origin, line, class, thread, .. } = self.pool[request];
        let (at, stack, now) = (u16::from(socket), origin, self.now);
        let account = &mut self.account;
        if class.kind == Kind::DmaRead {
            let port = line as u16 / 8 % PORTS;
            account.leave(level!("iio/COMP_BUF_OCCUPANCY.CMPD.PART0") + port, at, stack, now, sink);
        } else {
            let data = [
                deed!("iio/INBOUND_ARB_REQ.WR"),
                deed!("iio/INBOUND_ARB_WON.WR"),
                deed!("iio/INBOUND_ARB_REQ.DATA"),
                deed!("iio/INBOUND_ARB_WON.DATA"),
                deed!("iio/REQ_FROM_PCIE_PASS_CMPL.WR"),
                deed!("iio/REQ_FROM_PCIE_PASS_CMPL.DATA"),
                deed!("iio/REQ_FROM_PCIE_CL_CMPL.WR"),
                deed!("iio/REQ_FROM_PCIE_CL_CMPL.DATA"),
            ];
            data.into_iter().for_each(|what| account.deed(what, at, stack, now, sink));
        }
        if line.is_multiple_of(REQUESTS_OF_A_PAGE) && class.kind != Kind::DmaWriteback {
            account.leave(level!("iio/PWT_OCCUPANCY"), at, stack, now, sink);
        }
        account.deed(deed!("iio/REQ_FROM_PCIE_CL_CMPL.FINAL_RD_WR"), at, stack, now, sink);
        account.deed(deed!("iio/REQ_FROM_PCIE_CMPL.FINAL_RD_WR"), at, stack, now, sink);
        account.leave(level!("irp/CACHE_TOTAL_OCCUPANCY.MEM"), at, stack, now, sink);
        account.deed(deed!("irp/IRP_ALL.EVICTS"), at, stack, now, sink);
        self.pool.remove(request);
        if class.kind != Kind::DmaRead && class.kind != Kind::DmaWriteback {
            self.port_wrote(socket, stack, line);
        }
        if thread != u16::MAX {
            self.device_done(thread, sink);
        }
        if class.kind == Kind::DmaPartial {
            // Its data, merged into the line, goes to the slice.
            self.onto_mesh(Kind::DmaWriteback, socket, stack, line, u16::MAX, sink);
        }
    }

    /// A core's access to a device: over the mesh to the stack.
    pub(super) fn device_access<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, line, class, .. } = self.pool[request];
        let from = self.places.cha[usize::from(cha)];
        let to = self.places.m2pcie[(line % u32::from(STACKS)) as usize];
        let ring = if class.kind == Kind::DeviceRead { Ring::Address } else { Ring::Block };
        let at = self.mesh_send(socket, ring, 0, from, to, sink);
        self.go(request, sink);
        self.wheel.schedule(at, Event::AtDevice.of(request));
    }

    /// A core's access arrives at the stack.
    pub(super) fn at_device<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, line, class, .. } = self.pool[request];
        let (at, stack, now) = (u16::from(socket), (line % u32::from(STACKS)) as u16, self.now);
        let port = line as u16 / 8 % PORTS;
        let account = &mut self.account;
        account.deed(deed!("irp/IRP_ALL.OUTBOUND_INSERTS"), at, stack, now, sink);
        account.enter(level!("irp/TxS_REQUEST_OCCUPANCY"), at, stack, now, sink);
        account.enter(level!("iio/NUM_OUSTANDING_REQ_FROM_CPU.TO_IO"), at, stack, now, sink);
        if class.kind == Kind::DeviceRead {
            account.deeds(deed!("iio/DATA_REQ_BY_CPU.MEM_READ.PART0") + port, at, stack, now, LINE_DWS, sink);
            account.deed(deed!("iio/TXN_REQ_BY_CPU.MEM_READ.PART0") + port, at, stack, now, sink);
            account.deed(deed!("irp/TxS_DATA_INSERTS_NCS"), at, stack, now, sink);
            account.enter(level!("irp/TxC_BL_NCS_INSERTS"), at, stack, now, sink);
            account.enter(level!("m2pcie/RxC_INSERTS.CHA_NCS"), at, stack, now, sink);
            account.deed(deed!("m2pcie/IIO_CREDITS_ACQUIRED.NCS_0"), at, stack, now, sink);
            account.enter(level!("m2pcie/IIO_CREDITS_USED.NCS_0"), at, stack, now, sink);
        } else {
            account.deeds(deed!("iio/DATA_REQ_BY_CPU.MEM_WRITE.PART0") + port, at, stack, now, DOORBELL_DWS, sink);
            account.deed(deed!("iio/TXN_REQ_BY_CPU.MEM_WRITE.PART0") + port, at, stack, now, sink);
            account.deed(deed!("irp/TxS_DATA_INSERTS_NCB"), at, stack, now, sink);
            account.enter(level!("irp/TxC_BL_NCB_INSERTS"), at, stack, now, sink);
            account.enter(level!("m2pcie/RxC_INSERTS.CHA_NCB"), at, stack, now, sink);
            account.deed(deed!("m2pcie/IIO_CREDITS_ACQUIRED.NCB_0"), at, stack, now, sink);
            account.enter(level!("m2pcie/IIO_CREDITS_USED.NCB_0"), at, stack, now, sink);
        }
        let takes = if class.kind == Kind::DeviceRead { DEVICE } else { THROUGH };
        self.wheel.schedule(now + takes * self.times.uclk, Event::FromDevice.of(request));
    }

    /// The stack answers a core's access.
    pub(super) fn device_answers<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, line, class, .. } = self.pool[request];
        let (at, stack, now) = (u16::from(socket), (line % u32::from(STACKS)) as u16, self.now);
        let account = &mut self.account;
        account.leave(level!("irp/TxS_REQUEST_OCCUPANCY"), at, stack, now, sink);
        account.leave(level!("iio/NUM_OUSTANDING_REQ_FROM_CPU.TO_IO"), at, stack, now, sink);
        account.deed(deed!("iio/OUTBOUND_CL_REQS_ISSUED.TO_IO"), at, stack, now, sink);
        account.deed(deed!("iio/OUTBOUND_TLP_REQS_ISSUED.TO_IO"), at, stack, now, sink);
        let ring = if class.kind == Kind::DeviceRead {
            account.leave(level!("irp/TxC_BL_NCS_INSERTS"), at, stack, now, sink);
            account.leave(level!("m2pcie/RxC_INSERTS.CHA_NCS"), at, stack, now, sink);
            account.leave(level!("m2pcie/IIO_CREDITS_USED.NCS_0"), at, stack, now, sink);
            account.deed(deed!("m2pcie/TxC_INSERTS_BL.AGT_0"), at, stack, now, sink);
            Ring::Block
        } else {
            account.leave(level!("irp/TxC_BL_NCB_INSERTS"), at, stack, now, sink);
            account.leave(level!("m2pcie/RxC_INSERTS.CHA_NCB"), at, stack, now, sink);
            account.leave(level!("m2pcie/IIO_CREDITS_USED.NCB_0"), at, stack, now, sink);
            account.deed(deed!("m2pcie/TxC_INSERTS_AK.AGT_0"), at, stack, now, sink);
            Ring::Acknowledge
        };
        let from = self.places.m2pcie[usize::from(stack)];
        let to = self.requester_tile(request);
        let back = self.mesh_send(socket, ring, mesh_port(line), from, to, sink);
        self.wheel.schedule(back, Event::Data.of(request));
    }
}
