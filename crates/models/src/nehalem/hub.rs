//! The I/O hub: devices that read and write memory, and the cores' words to them.

use pericore_engine::Tick;

use super::Model;
use super::event::{Event, NOTHING};
use super::parameters::CORES;
use super::request::RequestId;
use pericore_facts::nehalem::{Class, Kind, NehalemReader as Facts, Priority, TO_HUB, TO_SOCKET};
use pericore_parts::core::{Buffer, Level};
use pericore_parts::line::LINE_BYTES;

/// Lines of a transfer: 1518 bytes, the longest frame of Ethernet, from a line's start on. The last of them is written
/// in part.
const TRANSFER: u64 = 24;

impl Model {
    /// A device asks for its next line, if it may have one more under way.
    pub(super) fn device<R: Facts>(&mut self, device: u16, reader: &mut R) {
        let most = self.parameters.device_requests;
        let state = &mut self.devices[usize::from(device)];
        if state.under_way == most {
            state.waits = true;
            return;
        }
        let Some(access) = state.generator.next_access() else {
            state.finished = true;
            return;
        };
        let address = state.placement.place(access.address);
        let within = state.lines % TRANSFER;
        state.lines += 1;
        state.under_way += 1;
        state.ready = self.now + self.times.device_interval;
        let (socket, isochronous) = (usize::from(state.socket), state.isochronous);
        let last = within == TRANSFER - 1;
        self.wheel.schedule(state.ready, Event::Device.of(device));
        if within == 0 {
            // A core has told the device of the transfer, and asks how the last one went.
            self.send(socket, TO_HUB, Class::Bypass, NOTHING, reader);
            self.send(socket, TO_HUB, Class::Standard, NOTHING, reader);
        }
        let kind = match (access.store, isochronous) {
            (true, _) => Kind::DeviceWrite { partial: last },
            // The whole transfer waits for its last line.
            (false, true) => Kind::DeviceRead(if last { Priority::Critical } else { Priority::High }),
            (false, false) => Kind::DeviceRead(Priority::Normal),
        };
        let line = (address / LINE_BYTES) as u32;
        let request = self.new_request(kind, 0, device as u8, line);
        self.requests[request].record.isochronous_write = access.store && isochronous;
        self.take_number(request, reader);
        if last {
            self.follow(device, socket, line, access.store, reader);
        }
    }

    /// Cores see to the end of a transfer: they look at a line that is being written, on every socket, since any of
    /// them may have asked for it, and mark one that has been read. A device interrupts a core of its own socket, which
    /// interrupts one of another that has the line in its memory.
    fn follow<R: Facts>(&mut self, device: u16, own: usize, line: u32, written: bool, reader: &mut R) {
        let sockets = if written { 0..self.sockets.len() } else { own..own + 1 };
        for socket in sockets {
            if socket != own && socket == usize::from(self.home_of(line)) {
                self.send(own, TO_SOCKET, Class::Bypass, NOTHING, reader);
            }
            let core = socket * CORES + usize::from(self.assignment.in_turn(device));
            let cache = &mut self.cores[core];
            let (level, evicted) = cache.access(line, !written);
            if level == Level::Miss && cache.take_buffer(line, !written) == Buffer::Taken {
                self.request(core as u8, line, !written);
            }
            self.write_back(core as u8, evicted);
        }
    }

    /// A device's request and its snoops leave the hub.
    pub(super) fn leave_hub(&mut self, request: RequestId) {
        for socket in 0..self.sockets.len() {
            let at = self.send_from_hub(socket, 1);
            let probe = self.new_probe(request, socket as u8, Some(TO_HUB as u8), false);
            self.wheel.schedule(at, Event::Probe.of(probe));
        }
        // To the line's home the snoop is the request itself; a line to be written comes right behind.
        let record = &self.requests[request].record;
        let (home, data) = (usize::from(record.home), if record.kind.reads() { 0 } else { Class::Data.flits() });
        let at = self.send_from_hub(home, data);
        self.wheel.schedule(at, Event::Home.of(request));
    }

    /// The hub sends so many flits to a socket, behind those that it sent before: when they are there.
    fn send_from_hub(&mut self, socket: usize, flits: u64) -> Tick {
        let free = &mut self.hub_free[socket];
        *free = (*free).max(self.now + self.times.hub) + flits * self.times.flit;
        *free + self.times.link
    }

    /// A part of the answer to a device's request is at the hub.
    pub(super) fn at_hub<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.requests[request];
        entry.parts -= 1;
        if entry.parts > 0 {
            return;
        }
        let device = u16::from(entry.agent);
        self.give_number(request, reader);
        self.close_at_home(request, reader);
        self.end(request, reader);
        self.work.done += 1;
        let state = &mut self.devices[usize::from(device)];
        state.under_way -= 1;
        if std::mem::take(&mut state.waits) {
            let at = state.ready.max(self.now);
            self.wheel.schedule(at, Event::Device.of(device));
        }
    }
}
