//! The I/O hub: devices that read and write memory, and the cores' words to them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::event::{Event, NOTHING};
use super::parameters::CORES;
use super::request::RequestId;
use crate::ledger::nehalem::{Class, Kind, Priority, TO_HUB};
use crate::uncore::core::{Buffer, Level};
use crate::uncore::line::LINE_BYTES;
use crate::workload::{Generator, Placement};

/// Lines of a transfer: 1518 bytes, the longest frame of Ethernet, from a line's start on. The last of them is written in part.
const TRANSFER: u64 = 24;

/// A device with its share of the workload.
#[derive(Debug)]
pub struct Device {
    generator: Generator,
    placement: Placement,
    /// Socket whose cores speak to it.
    socket: u8,
    under_way: u8,
    lines: u64,
    ready: Tick,
    waits: bool,
    /// It has asked for all its lines.
    finished: bool,
    /// Its reads have deadlines.
    isochronous: bool,
}

impl Device {
    /// A device that has done nothing.
    pub const fn new(generator: Generator, placement: Placement, socket: u8, isochronous: bool) -> Self {
        Self {
            generator,
            placement,
            socket,
            under_way: 0,
            lines: 0,
            ready: 0,
            waits: false,
            finished: false,
            isochronous,
        }
    }

    /// True if it has all its lines.
    pub const fn is_idle(&self) -> bool {
        self.finished && self.under_way == 0
    }

    /// Asks for no more lines, and says how many it would have asked for.
    pub fn stop(&mut self) -> u64 {
        self.generator.stop()
    }

    /// Requests more lines, of those that are common to all devices.
    pub fn go_on(&mut self, left: &Arc<AtomicU64>) {
        self.generator.go_on(left);
        (self.finished, self.waits) = (false, false);
    }
}

impl Model {
    /// A device asks for its next line, if it may have one more under way.
    pub(super) fn device<S: SignalSink>(&mut self, device: u16, sink: &mut S) {
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
            self.send(socket, TO_HUB, Class::Bypass, NOTHING, sink);
            self.send(socket, TO_HUB, Class::Standard, NOTHING, sink);
        }
        let kind = match (access.store, isochronous) {
            (true, _) => Kind::DeviceWrite { partial: last },
            // The deadline of a transfer's last line is the nearest.
            (false, true) => Kind::DeviceRead(if last { Priority::Critical } else { Priority::High }),
            (false, false) => Kind::DeviceRead(Priority::Normal),
        };
        let line = (address / LINE_BYTES) as u32;
        let request = self.new_request(kind, 0, device as u8, line);
        self.take_number(request, sink);
        if last {
            self.follow(device, socket, line, access.store);
        }
    }

    /// Cores see to the end of a transfer: they look at a line that is being written, on every socket, since any of them may have asked
    /// for it; and mark one that has been read.
    fn follow(&mut self, device: u16, socket: usize, line: u32, written: bool) {
        let sockets = if written { 0..self.sockets.len() } else { socket..socket + 1 };
        for socket in sockets {
            let core = socket * CORES + usize::from(self.seats.in_turn(device));
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
        let flit = self.times.flit;
        let at = self.now + self.times.hub + flit + self.times.link;
        for socket in 0..self.sockets.len() {
            let probe = self.new_probe(request, socket as u8, Some(TO_HUB as u8), false);
            self.wheel.schedule(at, Event::Probe.of(probe));
        }
        // A line to be written comes right behind.
        let data = if self.requests[request].record.kind.reads() { 0 } else { Class::Data.flits() * flit };
        self.wheel.schedule(at + data, Event::Home.of(request));
    }

    /// A part of the answer to a device's request is at the hub.
    pub(super) fn at_hub<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.requests[request];
        entry.parts -= 1;
        if entry.parts > 0 {
            return;
        }
        let device = u16::from(entry.agent);
        self.give_number(request, sink);
        self.close_at_home(request, sink);
        self.end(request);
        self.work.done += 1;
        let state = &mut self.devices[usize::from(device)];
        state.under_way -= 1;
        if std::mem::take(&mut state.waits) {
            let at = state.ready.max(self.now);
            self.wheel.schedule(at, Event::Device.of(device));
        }
    }
}
