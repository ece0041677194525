//! Input-output of a socket: devices that read and write memory through the ring stop R2PCIe, and the stop's queues and
//! credits.
//!
//! A device's request waits in the stop's egress until its slice has room for it: the stop tries the oldest again and
//! again, and each try in vain is refused by the ring. Lines that come for reads wait in the stop's ingress until the
//! input-output side (IIO) takes them, for which they need a credit of their message class.

mod stop;

use pericore_engine::Tick;

use crate::e5_2600::Model;
use crate::e5_2600::cores::ThreadKind;
use crate::e5_2600::event::Event;
use crate::e5_2600::links::FROM_LINK;
use crate::e5_2600::request::RequestId;
use pericore_facts::e5_2600::{
    E5Fact, E5Reader, IO_THREAD, IoClass, IoQueue, Refused, RequestKind, RingKind, UncoreUse,
};
use pericore_parts::core::ThreadState;
use pericore_parts::line::LINE_BYTES;
pub use stop::Device;

/// Uncore cycles after which a refused request is tried again (assumption).
pub const TRY_AGAIN: u64 = 4;
/// Uncore cycles in which the IIO takes an access to registers of a device: about 150 ns (assumption). Lines go at the
/// lanes' rate.
const TAKE: u64 = 400;
/// Credits of a message class towards the IIO (assumption).
const CREDITS: u8 = 2;
/// No device thread waits for the packet.
pub const NO_DEVICE: u16 = u16::MAX;
/// Entries of the egress queues to the rings (assumption).
const EGRESS: usize = 8;

impl Model {
    /// Lets a device thread issue until it must wait.
    pub(in crate::e5_2600) fn issue_device<R: E5Reader>(&mut self, thread: u16, reader: &mut R) {
        let index = usize::from(thread);
        let socket = usize::from(self.map.socket(self.threads[index].core.into()));
        let state = &mut self.threads[index];
        if state.outstanding >= self.parameters.device_requests || self.devices[socket].egress.len() >= EGRESS {
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
        state.ready = self.now + self.latency.device_interval;
        if access.store {
            // Its next line goes when those of the other devices before it have gone.
            state.ready = self.clocks.uclk.align_up(self.devices[socket].lanes[0].carry(state.ready).0);
        }
        let (ready, first) = (state.ready, self.map.first_stop(socket as u8));
        // Devices read and write the memory of their own socket.
        let line = (state.placement.place(access.address) / LINE_BYTES) as u32;
        let isochronous = state.isochronous;
        let kind = match (access.store, access.whole) {
            (false, _) => RequestKind::IoRead,
            (true, true) if !isochronous => RequestKind::IoWrite,
            // What has a deadline goes to memory, past the caches (assumption).
            _ => RequestKind::IoWriteThrough,
        };
        let slice = self.map.slice(socket as u8, line);
        let mut record = self.record(kind, IO_THREAD, slice, line);
        record.isochronous = isochronous;
        let request = self.pool.add(record, line, first as u8);
        self.pool[request].thread = thread;
        self.begins(UncoreUse::IoEgress(socket as u8, IoQueue::Address), reader);
        if kind != RequestKind::IoRead {
            self.begins(UncoreUse::IoEgress(socket as u8, IoQueue::Block), reader);
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
    pub(in crate::e5_2600) fn pump_device<R: E5Reader>(&mut self, socket: u16, reader: &mut R) {
        let socket = usize::from(socket);
        if self.devices[socket].pump_at != self.now {
            return;
        }
        self.devices[socket].pump_at = Tick::MAX;
        let mut next = Tick::MAX;
        for class in IoClass::ALL {
            next = next.min(self.pump_class(socket, class, reader));
        }
        if let Some(&due) = self.devices[socket].acknowledgements.front() {
            if due <= self.now {
                self.devices[socket].acknowledgements.pop_front();
                self.ends(UncoreUse::IoEgress(socket as u8, IoQueue::Acknowledge), reader);
            }
            let due = self.devices[socket].acknowledgements.front();
            next = next.min(due.map_or(Tick::MAX, |&due| due.max(self.now + self.latency.uclk)));
        }
        next = next.min(self.pump_egress(socket, reader));
        if next != Tick::MAX {
            self.pump_device_at(socket, next);
        }
    }

    /// The oldest request goes to the rings if its slice has room for it. Gives the tick of the next try.
    fn pump_egress<R: E5Reader>(&mut self, socket: usize, reader: &mut R) -> Tick {
        let Some((ready, request)) = self.devices[socket].egress.front() else { return Tick::MAX };
        if ready > self.now {
            return ready;
        }
        let record = &self.pool[request].record;
        let (kind, slice) = (record.kind, record.slice);
        let writes = kind != RequestKind::IoRead;
        if self.slices[usize::from(slice)].credits == 0 {
            for queue in [Some(IoQueue::Address), writes.then_some(IoQueue::Block)].into_iter().flatten() {
                reader.read(self.now, E5Fact::Refuses(Refused::IoEgress(socket as u8, queue)));
            }
            return self.now + TRY_AGAIN * self.latency.uclk;
        }
        self.devices[socket].egress.pop();
        let to = self.map.within(slice);
        self.ends(UncoreUse::IoEgress(socket as u8, IoQueue::Address), reader);
        self.travel(socket as u8, RingKind::Address, self.rings.io(), to, reader);
        if writes {
            self.ends(UncoreUse::IoEgress(socket as u8, IoQueue::Block), reader);
            self.travel(socket as u8, RingKind::Block, self.rings.io(), to, reader);
        }
        self.slices[usize::from(slice)].credits -= 1;
        self.send_at(request, self.now + self.latency.to_io(slice));
        self.wake_devices(socket, reader);
        self.devices[socket].egress.front().map_or(Tick::MAX, |(ready, _)| ready.max(self.now + self.latency.uclk))
    }

    /// Device threads of a socket that waited go on.
    fn wake_devices<R: E5Reader>(&mut self, socket: usize, reader: &mut R) {
        for thread in 0..self.threads.len() as u16 {
            let state = &mut self.threads[usize::from(thread)];
            let here = usize::from(self.map.socket(state.core.into())) == socket;
            if here && state.kind == ThreadKind::Device && state.state == ThreadState::ForBuffer {
                state.state = ThreadState::Running;
                self.issue_device(thread, reader);
            }
        }
    }

    /// A packet of a class arrives at the stop for the IIO.
    pub(in crate::e5_2600) fn device_packet<R: E5Reader>(
        &mut self,
        socket: usize,
        class: IoClass,
        thread: u16,
        reader: &mut R,
    ) {
        self.begins(UncoreUse::IoIngress(socket as u8, class), reader);
        self.devices[socket].ingress[class as usize].push_back((self.now + self.latency.uclk, thread));
        self.pump_device_at(socket, self.now + self.latency.uclk);
    }

    /// Credits come back, and the oldest packet of a class takes one. Gives the tick of the next change.
    fn pump_class<R: E5Reader>(&mut self, socket: usize, class: IoClass, reader: &mut R) -> Tick {
        let (index, number) = (class as usize, socket as u8);
        while self.devices[socket].taking[index].front().is_some_and(|until| until <= self.now) {
            self.devices[socket].taking[index].pop();
            self.devices[socket].without_credit[index] = false;
            self.ends(UncoreUse::IoCredit(number, class), reader);
        }
        let device = &mut self.devices[socket];
        let mut next = device.taking[index].front().unwrap_or(Tick::MAX);
        let Some(&(ready, thread)) = device.ingress[index].front() else { return next };
        if ready > self.now {
            return next.min(ready);
        }
        if device.taking[index].len() == usize::from(CREDITS) {
            if !std::mem::replace(&mut device.without_credit[index], true) {
                reader.read(self.now, E5Fact::Refuses(Refused::Io(number, class)));
            }
            return next;
        }
        device.ingress[index].pop_front();
        let until = if class == IoClass::Data {
            self.clocks.uclk.align_up(device.lanes[1].carry(self.now).1)
        } else {
            device.taking[index].back().unwrap_or(0).max(self.now) + TAKE * self.latency.uclk
        };
        device.taking[index].push(until);
        let after = device.ingress[index].front().map_or(Tick::MAX, |&(ready, _)| ready);
        next = next.min(until).min(after);
        self.ends(UncoreUse::IoIngress(number, class), reader);
        self.begins(UncoreUse::IoCredit(number, class), reader);
        if thread != NO_DEVICE {
            if thread & FROM_LINK == 0 {
                self.device_done(socket, thread, reader);
            } else {
                self.passage_ends(thread & !FROM_LINK, until, reader);
            }
        }
        next
    }

    /// A device's request is answered: a line has come for a read, an acknowledgement for a write.
    #[inline(never)]
    pub(in crate::e5_2600) fn device_response<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &self.pool[request];
        let (kind, slice, thread) = (entry.record.kind, entry.record.slice, entry.thread);
        let socket = usize::from(self.map.socket(slice));
        let device = &mut self.devices[socket];
        if kind == RequestKind::IoRead {
            self.device_packet(socket, IoClass::Data, thread, reader);
            // The slice's credit for lines to the IIO goes back over the AK ring.
            self.begins(UncoreUse::IoEgress(socket as u8, IoQueue::Acknowledge), reader);
            let last = self.devices[socket].acknowledgements.back().copied().unwrap_or(0);
            let due = last.max(self.now) + self.latency.uclk;
            self.devices[socket].acknowledgements.push_back(due);
            self.pump_device_at(socket, due);
            self.leaves_io(socket as u8, RingKind::Acknowledge, self.map.within(slice), reader);
            self.end_step(request, reader);
        } else {
            if device.acknowledge_free > self.now {
                let from = self.map.within(slice);
                let came = self.route(RingKind::Acknowledge, from, self.rings.io());
                // It goes on as it came, and passes all stops.
                let direction = self.rings.direction_to_io(from);
                let steps = self.rings.steps_to_home(self.rings.io(), direction);
                self.passes_home_after(socket as u8, direction, steps, self.now);
                reader.read(self.now, E5Fact::Bounces(socket as u8, came));
                self.wheel.schedule(self.now + self.round(), Event::Data.of(request));
                return;
            }
            device.acknowledge_free = self.now + 2 * self.latency.uclk;
            self.end_step(request, reader);
            self.device_done(socket, thread, reader);
        }
    }

    /// A device thread's access is done.
    pub(in crate::e5_2600) fn device_done<R: E5Reader>(&mut self, socket: usize, thread: u16, reader: &mut R) {
        self.work.done += 1;
        self.threads[usize::from(thread)].outstanding -= 1;
        if self.system {
            self.device_interrupts(thread);
        }
        self.wake_devices(socket, reader);
    }
}
