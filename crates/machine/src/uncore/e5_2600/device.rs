//! Input-output of a socket: devices that read and write memory through the ring stop R2PCIe, and the stop's queues and credits.
//!
//! A device's request waits in the stop's egress until its slice has room for it: the stop tries the oldest again and again, and each try in
//! vain is refused by the ring. Lines that come for reads wait in the stop's ingress until the input-output side (IIO) takes them, for which they need
//! a credit of their message class.

use std::collections::VecDeque;

use pericore_engine::Ring;
use pericore_hardware::signal::{SignalSink, Tick, Wire, Wiring, WiringError};

use super::Model;
use super::event::Event;
use super::links::FROM_LINK;
use super::request::RequestId;
use super::thread::ThreadKind;
use super::wires::Tagged;
use crate::ledger::e5_2600::{IO_THREAD, IoClass, IoQueue, RequestKind, RingKind};
use crate::uncore::core::ThreadState;
use crate::uncore::line::LINE_BYTES;

/// Requests that a device thread has under way at most (assumption: the tags of a device, shared by its queues).
const OUTSTANDING: u8 = 16;
/// Uncore cycles between two requests of a device: 64 bytes at the 16 GB/s of sixteen lanes of the third generation.
const INTERVAL: u64 = 11;
/// Uncore cycles after which a refused request is tried again (assumption).
pub const TRY_AGAIN: u64 = 4;
/// Uncore cycles in which the IIO takes a packet, by class: a line at the lanes' rate, accesses to registers of a device in about 150 ns
/// (assumption).
const TAKE: [u64; IoClass::COUNT] = [11, 400, 400];
/// Credits of a message class towards the IIO (assumption).
const CREDITS: u8 = 2;
/// Uncore cycles that a bounced acknowledgement needs for its way round the ring.
const ROUND: u64 = 10;
/// No device thread waits for the packet.
pub const NO_DEVICE: u16 = u16::MAX;
/// Packets of a class for the IIO that wait in the stop while cores go on to send others; there is room for them from the start.
const WAITING: usize = 256;
/// Entries of the egress queues to the rings (assumption).
const EGRESS: usize = 8;

/// Wires of R2PCIe, but for those of the rings.
#[derive(Debug, Clone, Copy)]
pub struct DeviceWires {
    /// Egress queues to the AD, AK and BL rings.
    egress: [Tagged; 3],
    /// AD and BL: acknowledgements never wait for long.
    full: [Tagged; 2],
    inserts: Wire,
    /// Tries that the rings refused, to AD and BL.
    refused: [Tagged; 2],
    /// Ingress queues, credits in use, credits taken and packets without a credit, by [`IoClass`].
    ingress: [Tagged; IoClass::COUNT],
    used: [Tagged; IoClass::COUNT],
    acquired: [Tagged; IoClass::COUNT],
    rejected: [Tagged; IoClass::COUNT],
    bounces: Wire,
}

impl DeviceWires {
    /// Where a full queue shows.
    const fn full(&self, queue: IoQueue) -> Option<Tagged> {
        match queue {
            IoQueue::Address => Some(self.full[0]),
            IoQueue::Acknowledge => None,
            IoQueue::Block => Some(self.full[1]),
        }
    }

    /// Binds a socket's stop.
    pub fn bind(wiring: &mut Wiring, socket: u16) -> Result<Self, WiringError> {
        let inserts = wiring.signal(socket, "r2pcie", 0, "TxR_INSERTS")?;
        let bounces = wiring.signal(socket, "r2pcie", 0, "RxR_AK_BOUNCES")?;
        let mut subevent = |event, name| wiring.subevent(socket, "r2pcie", 0, event, name);
        let mut rings =
            |event| Ok::<_, WiringError>([subevent(event, "AD")?, subevent(event, "AK")?, subevent(event, "BL")?]);
        let egress = rings("TxR_CYCLES_NE")?;
        let full = [subevent("TxR_CYCLES_FULL", "AD")?, subevent("TxR_CYCLES_FULL", "BL")?];
        let refused = [subevent("TxR_NACKS", "AD")?, subevent("TxR_NACKS", "BL")?];
        let mut classes =
            |event| Ok::<_, WiringError>([subevent(event, "DRS")?, subevent(event, "NCB")?, subevent(event, "NCS")?]);
        Ok(Self {
            egress,
            full,
            inserts,
            refused,
            ingress: classes("RxR_CYCLES_NE")?,
            used: classes("IIO_CREDITS_USED")?,
            acquired: classes("IIO_CREDITS_ACQUIRED")?,
            rejected: classes("IIO_CREDITS_REJECT")?,
            bounces,
        })
    }
}

/// The stop's queues and credits.
#[derive(Debug)]
pub struct Device {
    wires: DeviceWires,
    /// Requests that wait for the rings, with the tick from which they may go.
    egress: Ring<(Tick, RequestId), 16>,
    /// Acknowledgements that wait for the ring, by the tick at which they go.
    acknowledgements: VecDeque<Tick>,
    /// Packets that wait for the IIO, by class, with the tick from which they may go and the thread that waits for them.
    ingress: [VecDeque<(Tick, u16)>; IoClass::COUNT],
    /// Entries of the egress queues, by [`IoQueue`].
    entries: [usize; 3],
    /// Packets that the IIO takes now, by the tick at which it has them.
    taking: [Ring<Tick, 4>; IoClass::COUNT],
    /// The packet at the head was refused, so that it waits for a credit to come back.
    without_credit: [bool; IoClass::COUNT],
    /// When the stop can take the next acknowledgement.
    acknowledge_free: Tick,
    /// The tick of the event that counts; others are stale.
    pump_at: Tick,
}

impl Device {
    /// An idle stop.
    pub fn new(wires: DeviceWires) -> Self {
        Self {
            wires,
            egress: Ring::new((0, 0)),
            acknowledgements: VecDeque::with_capacity(WAITING),
            ingress: [(); IoClass::COUNT].map(|()| VecDeque::with_capacity(WAITING)),
            entries: [0; 3],
            taking: [(); IoClass::COUNT].map(|()| Ring::new(0)),
            without_credit: [false; IoClass::COUNT],
            acknowledge_free: 0,
            pump_at: Tick::MAX,
        }
    }

    /// True if nothing waits.
    pub fn is_idle(&self) -> bool {
        self.egress.is_empty()
            && self.acknowledgements.is_empty()
            && self.ingress.iter().all(VecDeque::is_empty)
            && self.taking.iter().all(Ring::is_empty)
    }

    /// True if cores may send another packet: while very many wait for the IIO, they wait, too.
    pub fn takes_more(&self) -> bool {
        self.ingress.iter().all(|queue| queue.len() < WAITING)
    }
}

impl Model {
    /// Lets a device thread issue until it must wait.
    pub(super) fn issue_device<S: SignalSink>(&mut self, thread: u16, sink: &mut S) {
        let index = usize::from(thread);
        let socket = usize::from(self.map.socket(self.threads[index].core.into()));
        let state = &mut self.threads[index];
        if state.outstanding >= OUTSTANDING || self.devices[socket].egress.len() >= EGRESS {
            state.state = ThreadState::ForBuffer;
            return;
        }
        if state.ready > self.now {
            self.wheel.schedule(state.ready, Event::Issue.of(thread));
            return;
        }
        let Some(access) = state.generator.next_access() else {
            state.state = ThreadState::Finished;
            return;
        };
        state.outstanding += 1;
        state.ready = self.now + INTERVAL * self.latency.uclk;
        let (ready, first) = (state.ready, self.map.first_stop(socket as u8));
        // Devices read and write the memory of their own socket.
        let line = (state.placement.place(access.address) / LINE_BYTES) as u32;
        let kind = match (access.store, access.whole) {
            (false, _) => RequestKind::IoRead,
            (true, true) => RequestKind::IoWrite,
            (true, false) => RequestKind::IoWriteThrough,
        };
        let slice = self.map.slice(socket as u8, line);
        let record = self.record(kind, IO_THREAD, slice, line);
        let request = self.pool.add(record, line, first as u8);
        self.pool[request].thread = thread;
        self.enter_egress(socket, IoQueue::Address, sink);
        if kind != RequestKind::IoRead {
            self.enter_egress(socket, IoQueue::Block, sink);
        }
        self.devices[socket].egress.push((self.now + self.latency.uclk, request));
        self.pump_device_at(socket, self.now + self.latency.uclk);
        self.wheel.schedule(ready, Event::Issue.of(thread));
    }

    fn pump_device_at(&mut self, socket: usize, at: Tick) {
        let at = at.max(self.now + self.latency.uclk);
        if at < self.devices[socket].pump_at {
            self.devices[socket].pump_at = at;
            self.wheel.schedule(at, Event::Device.of(socket as u16));
        }
    }

    /// Moves everything on that can move in the stop.
    pub(super) fn pump_device<S: SignalSink>(&mut self, socket: u16, sink: &mut S) {
        let socket = usize::from(socket);
        if self.devices[socket].pump_at != self.now {
            return;
        }
        self.devices[socket].pump_at = Tick::MAX;
        let mut next = Tick::MAX;
        for class in IoClass::ALL {
            next = next.min(self.pump_class(socket, class, sink));
        }
        if let Some(&due) = self.devices[socket].acknowledgements.front() {
            if due <= self.now {
                self.devices[socket].acknowledgements.pop_front();
                self.leave_egress(socket, IoQueue::Acknowledge, sink);
            }
            let due = self.devices[socket].acknowledgements.front();
            next = next.min(due.map_or(Tick::MAX, |&due| due.max(self.now + self.latency.uclk)));
        }
        next = next.min(self.pump_egress(socket, sink));
        if next != Tick::MAX {
            self.pump_device_at(socket, next);
        }
    }

    /// The oldest request goes to the rings if its slice has room for it. Gives the tick of the next try.
    fn pump_egress<S: SignalSink>(&mut self, socket: usize, sink: &mut S) -> Tick {
        let Some((ready, request)) = self.devices[socket].egress.front() else { return Tick::MAX };
        if ready > self.now {
            return ready;
        }
        let record = &self.pool[request].record;
        let (kind, slice) = (record.kind, record.slice);
        let writes = kind != RequestKind::IoRead;
        if self.slices[usize::from(slice)].credits == 0 {
            let wires = self.devices[socket].wires;
            sink.pulse(wires.refused[0].0, wires.refused[0].1, self.now, 1);
            self.ledger.io_refused(socket, IoQueue::Address);
            if writes {
                sink.pulse(wires.refused[1].0, wires.refused[1].1, self.now, 1);
                self.ledger.io_refused(socket, IoQueue::Block);
            }
            return self.now + TRY_AGAIN * self.latency.uclk;
        }
        self.devices[socket].egress.pop();
        let to = self.map.within(slice);
        self.leave_egress(socket, IoQueue::Address, sink);
        self.travel(socket as u8, RingKind::Address, self.rings.io(), to, sink);
        if writes {
            self.leave_egress(socket, IoQueue::Block, sink);
            self.travel(socket as u8, RingKind::Block, self.rings.io(), to, sink);
        }
        self.slices[usize::from(slice)].credits -= 1;
        self.send_at(request, self.now + self.latency.to_io(slice));
        self.wake_devices(socket, sink);
        self.devices[socket].egress.front().map_or(Tick::MAX, |(ready, _)| ready.max(self.now + self.latency.uclk))
    }

    /// Device threads of a socket that waited go on.
    fn wake_devices<S: SignalSink>(&mut self, socket: usize, sink: &mut S) {
        for thread in 0..self.threads.len() as u16 {
            let state = &mut self.threads[usize::from(thread)];
            let here = usize::from(self.map.socket(state.core.into())) == socket;
            if here && state.kind == ThreadKind::Device && state.state == ThreadState::ForBuffer {
                state.state = ThreadState::Running;
                self.issue_device(thread, sink);
            }
        }
    }

    /// A packet of a class arrives at the stop for the IIO.
    pub(super) fn device_packet<S: SignalSink>(&mut self, socket: usize, class: IoClass, thread: u16, sink: &mut S) {
        let (wire, tag) = self.devices[socket].wires.ingress[class as usize];
        sink.enter(wire, tag, self.now);
        self.ledger.io_ingress(socket, class, true, self.now);
        self.devices[socket].ingress[class as usize].push_back((self.now + self.latency.uclk, thread));
        self.pump_device_at(socket, self.now + self.latency.uclk);
    }

    /// Credits come back, and the oldest packet of a class takes one. Gives the tick of the next change.
    fn pump_class<S: SignalSink>(&mut self, socket: usize, class: IoClass, sink: &mut S) -> Tick {
        let index = class as usize;
        let wires = self.devices[socket].wires;
        while self.devices[socket].taking[index].front().is_some_and(|until| until <= self.now) {
            self.devices[socket].taking[index].pop();
            self.devices[socket].without_credit[index] = false;
            if self.devices[socket].taking[index].is_empty() {
                sink.leave(wires.used[index].0, wires.used[index].1, self.now);
            }
            self.ledger.io_credit(socket, class, false, self.now);
        }
        let device = &mut self.devices[socket];
        let mut next = device.taking[index].front().unwrap_or(Tick::MAX);
        let Some(&(ready, thread)) = device.ingress[index].front() else { return next };
        if ready > self.now {
            return next.min(ready);
        }
        if device.taking[index].len() == usize::from(CREDITS) {
            if !std::mem::replace(&mut device.without_credit[index], true) {
                sink.pulse(wires.rejected[index].0, wires.rejected[index].1, self.now, 1);
                self.ledger.io_rejected(socket, class);
            }
            return next;
        }
        device.ingress[index].pop_front();
        if device.taking[index].is_empty() {
            sink.enter(wires.used[index].0, wires.used[index].1, self.now);
        }
        let last = device.taking[index].back().unwrap_or(0);
        let until = last.max(self.now) + TAKE[index] * self.latency.uclk;
        device.taking[index].push(until);
        let after = device.ingress[index].front().map_or(Tick::MAX, |&(ready, _)| ready);
        next = next.min(until).min(after);
        sink.leave(wires.ingress[index].0, wires.ingress[index].1, self.now);
        sink.pulse(wires.acquired[index].0, wires.acquired[index].1, self.now, 1);
        self.ledger.io_ingress(socket, class, false, self.now);
        self.ledger.io_credit(socket, class, true, self.now);
        if thread != NO_DEVICE {
            if thread & FROM_LINK == 0 {
                self.device_done(socket, thread, sink);
            } else {
                self.passage_ends(thread & !FROM_LINK, until, sink);
            }
        }
        next
    }

    fn enter_egress<S: SignalSink>(&mut self, socket: usize, queue: IoQueue, sink: &mut S) {
        let wires = self.devices[socket].wires;
        let (wire, tag) = wires.egress[queue as usize];
        sink.enter(wire, tag, self.now);
        sink.pulse(wires.inserts, 0, self.now, 1);
        let entries = &mut self.devices[socket].entries[queue as usize];
        *entries += 1;
        if *entries == EGRESS
            && let Some((wire, tag)) = wires.full(queue)
        {
            sink.enter(wire, tag, self.now);
        }
        self.ledger.io_egress(socket, queue, true, self.now);
    }

    fn leave_egress<S: SignalSink>(&mut self, socket: usize, queue: IoQueue, sink: &mut S) {
        let wires = self.devices[socket].wires;
        let (wire, tag) = wires.egress[queue as usize];
        sink.leave(wire, tag, self.now);
        let entries = &mut self.devices[socket].entries[queue as usize];
        if *entries == EGRESS
            && let Some((wire, tag)) = wires.full(queue)
        {
            sink.leave(wire, tag, self.now);
        }
        *entries -= 1;
        self.ledger.io_egress(socket, queue, false, self.now);
    }

    /// A device's request is answered: a line has come for a read, an acknowledgement for a write.
    #[inline(never)]
    pub(super) fn device_answer<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &self.pool[request];
        let (kind, slice, thread) = (entry.record.kind, entry.record.slice, entry.thread);
        let socket = usize::from(self.map.socket(slice));
        let device = &mut self.devices[socket];
        if kind == RequestKind::IoRead {
            self.device_packet(socket, IoClass::Data, thread, sink);
            // The slice's credit for lines to the IIO goes back over the AK ring.
            self.enter_egress(socket, IoQueue::Acknowledge, sink);
            let last = self.devices[socket].acknowledgements.back().copied().unwrap_or(0);
            let due = last.max(self.now) + self.latency.uclk;
            self.devices[socket].acknowledgements.push_back(due);
            self.pump_device_at(socket, due);
            self.travel(socket as u8, RingKind::Acknowledge, self.rings.io(), self.map.within(slice), sink);
            self.end_step(request);
        } else {
            if device.acknowledge_free > self.now {
                sink.pulse(device.wires.bounces, 0, self.now, 1);
                self.ledger.io_bounced(socket);
                self.wheel.schedule(self.now + ROUND * self.latency.uclk, Event::Data.of(request));
                return;
            }
            device.acknowledge_free = self.now + 2 * self.latency.uclk;
            self.end_step(request);
            self.device_done(socket, thread, sink);
        }
    }

    /// A device thread's access is done.
    pub(super) fn device_done<S: SignalSink>(&mut self, socket: usize, thread: u16, sink: &mut S) {
        self.work.done += 1;
        self.threads[usize::from(thread)].outstanding -= 1;
        self.wake_devices(socket, sink);
    }
}
