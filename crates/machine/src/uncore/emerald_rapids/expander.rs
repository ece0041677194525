//! Memory of a CXL expander: read and written over the mesh, the CXL data path (CXLDP) and its transaction and link layer (CXLCM).
//!
//! Its lines are cached like others; only their own socket asks for them. A message without data takes a flit, a line another one that
//! has no header (CXL 2.0, flits of 68 bytes: four slots of which a line takes all); in the counts, messages share no flits
//! (assumption), in time they take their slots.

pub mod device;

use pericore_dram::{Arrival, Outcome, Pending};
use pericore_engine::NEVER;
use pericore_engine::Tick;

use self::device::{LINKS, SUBCHANNEL_BITS, SUBCHANNELS};
use super::Model;
use super::address::{among, target};
use super::event::Event;
use super::request::{Request, RequestId};
use super::subchannel::Unseen;
use pericore_facts::emerald_rapids::{ExpanderFact, Fact, Readers, Ring, Target};

/// Uncore cycles in which a message is unpacked, and messages for which the device returns its credits in a flit of their
/// own (assumptions).
const UNPACKING: Tick = 8;
const MESSAGES_OF_A_CREDIT: u32 = 8;
/// Slots of a message without data, and with a line: four of data and one of the header.
const SLOTS: [Tick; 2] = [1, 5];

impl Model {
    /// A read of an expander's memory (M2S Req), or a write (M2S RwD), leaves its agent after `wait`.
    pub(super) fn expander_access<R: Readers>(&mut self, request: RequestId, wait: Tick, reader: &mut R) {
        let Request { socket, cha, line, writes, partial, .. } = self.pool[request];
        let (at, port) = (u16::from(socket), self.expander_link(line));
        let from = self.places.cha[usize::from(cha)];
        // The CXL ports lie at the mesh stops of the first I/O stacks.
        let to = self.places.m2pcie[usize::from(port)];
        let ring = if writes { Ring::Block } else { Ring::Address };
        let arrives = self.mesh_send(socket, ring, 0, from, to, reader);
        reader.read(self.now, Fact::Expander((at, port), ExpanderFact::Sends { writes, partial }));
        if self.parameters.expander_dram.is_none() {
            let there_and_back = 2 * self.times.expander_way + self.times.uclk;
            self.wheel.schedule(arrives + wait + there_and_back, Event::ExpanderData.of(request));
            return;
        }
        let (slots, number) = (SLOTS[usize::from(writes)] * self.times.cxl_slot, at * LINKS + port);
        let sent = self.expanders[usize::from(number)].send(false, arrives + wait, slots);
        self.wheel.schedule(sent + self.times.expander_way, Event::AtExpander.of(request));
    }

    /// The CXL link of a line: they go round the devices.
    const fn expander_link(&self, line: u32) -> u16 {
        (line % self.parameters.expanders as u32) as u16
    }

    /// The memory of a line, and its socket. Of the devices behind CXL links the first are accelerators, if there are
    /// any.
    #[inline]
    pub(super) const fn target(&self, line: u32) -> (Target, u8) {
        let (target, home) = target(line);
        let is_accelerator = matches!(target, Target::Expander)
            && self.parameters.accelerators > 0
            && self.expander_link(line) < self.parameters.accelerators as u16;
        (if is_accelerator { Target::Accelerator } else { target }, home)
    }

    /// The device of a line, and the subchannel, bank and row there.
    fn expander_place(&self, request: RequestId) -> (u16, usize, u8, u32) {
        let Request { socket, line, .. } = self.pool[request];
        let (sub, bank, row) = among(line / u32::from(self.parameters.expanders), SUBCHANNEL_BITS);
        (u16::from(socket) * LINKS + self.expander_link(line), sub as usize, bank, row)
    }

    /// A request has come to a device's memory controller.
    pub(super) fn at_expander(&mut self, request: RequestId) {
        let (number, sub, ..) = self.expander_place(request);
        let queue = usize::from(self.pool[request].writes);
        let device = &mut self.expanders[usize::from(number)];
        if device.free[sub][queue] == 0 {
            device.waiting[sub][queue].push_back(request);
            return;
        }
        device.free[sub][queue] -= 1;
        self.expander_takes(request);
    }

    /// A request enters its queue, in which it has an entry.
    fn expander_takes(&mut self, request: RequestId) {
        let (number, sub, bank, row) = self.expander_place(request);
        let Request { line, writes, partial, .. } = self.pool[request];
        // What its channels did while no request came: they refreshed.
        self.advance_expander(number, sub, self.now);
        let device = &mut self.expanders[usize::from(number)];
        let earliest = device.clock.next_cycle(self.now) + 1;
        let cycle = device.channels[sub].last_arrival().map_or(earliest, |last| earliest.max(last + 1));
        let queue = if writes { Pending::Writes } else { Pending::Reads };
        device.channels[sub].announce(Arrival {
            cycle,
            owner: request,
            line,
            bank,
            row,
            queue,
            partial,
            isochronous: false,
        });
        self.plan_expander(number);
    }

    /// Sets the event of a device's channels.
    fn plan_expander(&mut self, number: u16) {
        let device = &mut self.expanders[usize::from(number)];
        // Events come at the edges of the uncore's clock.
        let next = self.clocks.uclk.align_up(device.next().max(self.now + 1));
        if next < device.step {
            device.step = next;
            self.wheel.schedule(next, Event::ExpanderStep.of(number));
        }
    }

    /// The channels of a device act, unless the event is stale.
    pub(super) fn step_expander(&mut self, number: u16) {
        if self.expanders[usize::from(number)].step != self.now {
            return;
        }
        self.expanders[usize::from(number)].step = NEVER;
        for sub in 0..SUBCHANNELS {
            self.advance_expander(number, sub, self.now + 1);
        }
        if self.expanders[usize::from(number)].channels.iter().any(|channel| !channel.is_idle()) {
            self.plan_expander(number);
        }
    }

    /// A device's channel does what is due before `until`.
    fn advance_expander(&mut self, number: u16, sub: usize, until: Tick) {
        loop {
            let channel = &mut self.expanders[usize::from(number)].channels[sub];
            if channel.next_tick() >= until {
                return;
            }
            channel.step(&mut Unseen, &mut self.outcomes);
            while let Some(outcome) = self.outcomes.pop() {
                self.expander_outcome(number, sub, outcome);
            }
        }
    }

    fn expander_outcome(&mut self, number: u16, sub: usize, outcome: Outcome) {
        let (slot, way) = (self.times.cxl_slot, self.times.expander_way);
        let device = &mut self.expanders[usize::from(number)];
        let freed = match outcome {
            Outcome::Data { owner, cycle } => {
                let sent = device.send(true, cycle * device.clock.ticks(), SLOTS[1] * slot);
                self.wheel.schedule(sent + way, Event::ExpanderData.of(owner));
                0
            }
            Outcome::Posted { owner } => {
                let sent = device.send(true, self.now, SLOTS[0] * slot);
                self.wheel.schedule(sent + way, Event::ExpanderData.of(owner));
                return;
            }
            Outcome::WriteCredit { .. } => 1,
        };
        match device.waiting[sub][freed].pop_front() {
            Some(next) => self.expander_takes(next),
            None => device.free[sub][freed] += 1,
        }
    }

    /// An expander's answer has come over its link, data (S2M DRS) or word of a write (S2M NDR): it is unpacked.
    pub(super) fn expander_data<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, line, writes, .. } = self.pool[request];
        let (at, port, now) = (u16::from(socket), self.expander_link(line), self.now);
        let credits = (line / u32::from(self.parameters.expanders)).is_multiple_of(MESSAGES_OF_A_CREDIT);
        reader.read(now, Fact::Expander((at, port), ExpanderFact::Comes { writes, credits }));
        self.wheel.schedule(now + UNPACKING * self.times.uclk, Event::ExpanderSent.of(request));
    }

    /// It goes back over the mesh: data to whoever asked, word of a write to the agent.
    pub(super) fn expander_sent<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, line, class, writes, .. } = self.pool[request];
        let port = self.expander_link(line);
        reader.read(self.now, Fact::Expander((socket.into(), port), ExpanderFact::Unpacked { writes }));
        let (from, agent) = (self.places.m2pcie[usize::from(port)], self.places.cha[usize::from(cha)]);
        if writes {
            self.write_is_done(request, from, 0, reader);
            return;
        }
        let to = if class.kind.keeps_data_at_agent() { agent } else { self.requester_tile(request) };
        let back = self.mesh_send(socket, Ring::Block, 0, from, to, reader);
        self.wheel.schedule(back, Event::Data.of(request));
    }
}
