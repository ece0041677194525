//! The home side's memory: from the agent over the mesh to the memory controllers and back.

use pericore_dram::{Arrival, Outcome, Pending};
use pericore_engine::Tick;

mod ahead;
pub mod credits;
mod special;

use super::Model;
use super::address::{Place, SUBCHANNELS};
use super::event::Event;
use super::request::{NO_REQUEST, Request, RequestId};
use pericore_facts::emerald_rapids::{
    AgentFact, Fact, Found, HomeRequest, Kind, MemoryAction, MemoryRequest, MemoryUnitFact, Queue, Readers, Ring,
    UnitInstance,
};

/// Where a place's channel is seen: the mesh-to-memory unit and its half.
#[inline]
const fn seen(place: Place) -> (u16, usize) {
    (place.channel as u16 / 2, place.channel as usize % 2)
}

/// What memory is asked for by a request whose place there is known.
#[inline]
fn in_memory(request: &Request) -> MemoryRequest {
    let (unit, half) = seen(request.place);
    let action = match (request.writes, request.partial) {
        (true, true) => MemoryAction::PartialWrite,
        (true, false) => MemoryAction::Write,
        (false, _) => MemoryAction::Read,
    };
    MemoryRequest { unit, half: half as u8, action, ahead: request.ahead, isochronous: request.isochronous }
}

/// The same of a subchannel, by its number over the machine.
#[inline]
const fn seen_of(subchannel: usize) -> (UnitInstance, u8) {
    let (socket, channel) = (subchannel / SUBCHANNELS as usize, subchannel % SUBCHANNELS as usize / 2);
    ((socket as u16, channel as u16 / 2), channel as u8 % 2)
}

impl Model {
    /// Nobody in the socket has the line, or nobody who could send it.
    pub(super) fn miss<R: Readers>(&mut self, request: RequestId, wait: Tick, reader: &mut R) {
        let Request { socket, cha, line, class, origin, found, .. } = self.pool[request];
        let kind = class.kind;
        match kind {
            Kind::LlcData | Kind::LlcOwnership | Kind::LlcCode => {
                self.llc_insert(socket, cha, line, Found::Exclusive, false, reader);
            }
            Kind::DmaWrite | Kind::DmaWriteNear | Kind::DmaPartial | Kind::DmaAtomic => {
                self.llc_insert(socket, cha, line, Found::Modified, true, reader);
            }
            Kind::DmaRead => {}
            _ => {
                let grant = match found {
                    Found::FilterShared if !kind.owns() => super::core::SHARED,
                    _ => Self::sole_grant(kind),
                };
                if grant == super::core::SHARED {
                    self.keep_shared(request, reader);
                }
                let state = if grant == super::core::SHARED { Found::FilterShared } else { Found::FilterExclusive };
                let core = self.core_within(origin);
                if found == Found::Nothing {
                    self.filter_add(socket, cha, line, state as u8, core, reader);
                } else {
                    self.filter_insert(socket, cha, line, state as u8, core, reader);
                }
                self.pool[request].grant = grant;
            }
        }
        let claim = kind.needs_no_data();
        self.miss_home(request, wait, claim, reader);
    }

    /// Asks the line's home for it, or (`claim`) for the right to overwrite it.
    pub(super) fn miss_home<R: Readers>(&mut self, request: RequestId, wait: Tick, claim: bool, reader: &mut R) {
        let Request { socket, cha, home, class, .. } = self.pool[request];
        if home != socket {
            self.ask_remote(request, wait, claim, reader);
            return;
        }
        if claim && (self.sockets == 1 || class.target.is_cxl()) {
            // No other socket can have it: there is nothing to ask memory for.
            reader.read(self.now, Fact::Requested((socket.into(), cha.into()), HomeRequest::Claim, false));
            if class.kind.queue() == Queue::Core {
                self.go(request, reader);
            }
            self.acknowledge(request, wait, reader);
            return;
        }
        let requested = if claim { HomeRequest::Claim } else { HomeRequest::Read };
        reader.read(self.now, Fact::Requested((socket.into(), cha.into()), requested, false));
        self.read_memory(request, wait, reader);
    }

    /// Reads a line of this socket's memory, for a request at its agent.
    pub(super) fn read_memory<R: Readers>(&mut self, request: RequestId, wait: Tick, reader: &mut R) {
        let Request { socket, cha, line, class, .. } = self.pool[request];
        if class.target.is_cxl() {
            self.expander_access(request, wait + self.times.llc_miss, reader);
            return;
        }
        let place = self.map.place(line);
        let (unit, _) = seen(place);
        self.pool[request].place = place;
        let to_memory = in_memory(&self.pool[request]);
        // Under more load requests go through the home agent's pipe (2.2.6, BYPASS_CHA_IMC).
        let credits = &self.credits[self.subchannel(socket, place)];
        let (bypasses, has_credit) =
            (wait == 0 && credits.is_light_load(), credits.has_for(&self.pool[request], false));
        reader.read(self.now, Fact::Sends((socket.into(), cha.into()), to_memory, bypasses, has_credit));
        let from = self.places.cha[usize::from(cha)];
        let to = self.places.m2m[usize::from(unit)];
        let waits = self.mesh.waits_at(socket.into(), (Ring::Address, 0), from, self.now);
        let sent = self.mesh_send(socket, Ring::Address, 0, from, to, reader);
        let comes = sent + wait + self.times.llc_miss;
        self.run_ahead(request, waits, sent..comes, reader);
        self.wheel.schedule(comes, Event::AtMemory.of(request));
    }

    /// Sends a line to its home's memory.
    pub(super) fn write_home<R: Readers>(&mut self, request: RequestId, wait: Tick, reader: &mut R) {
        let Request { socket, home, .. } = self.pool[request];
        if home != socket {
            self.write_remote(request, wait, reader);
            return;
        }
        let Request { cha, .. } = self.pool[request];
        reader.read(self.now, Fact::Requested((socket.into(), cha.into()), HomeRequest::Write, false));
        self.write_memory(request, wait, reader);
    }

    /// True if a line's channel has so many reads to do that cores convert reads for ownership of lines that they
    /// overwrite whole: Intel's SpecI2M does so only while memory is heavily loaded (Hot Chips 2020; arXiv 2311.04797).
    pub(super) fn is_under_heavy_load(&self, line: u32) -> bool {
        let (target, home) = self.target(line);
        !target.is_cxl() && self.credits[self.subchannel(home, self.map.place(line))].is_heavy_load()
    }

    /// Writes a line of this socket's memory, for a request at its agent.
    pub(super) fn write_memory<R: Readers>(&mut self, request: RequestId, wait: Tick, reader: &mut R) {
        let Request { socket, cha, line, class, .. } = self.pool[request];
        if class.target.is_cxl() {
            self.expander_access(request, wait, reader);
            return;
        }
        let place = self.map.place(line);
        self.pool[request].place = place;
        let (unit, _) = seen(place);
        let has_credit = self.credits[self.subchannel(socket, place)].has_for(&self.pool[request], true);
        let to_memory = in_memory(&Request { writes: true, ..self.pool[request] });
        reader.read(self.now, Fact::Sends((socket.into(), cha.into()), to_memory, false, has_credit));
        let from = self.places.cha[usize::from(cha)];
        let to = self.places.m2m[usize::from(unit)];
        let at = self.mesh_send(socket, Ring::Block, 0, from, to, reader);
        self.wheel.schedule(at + wait, Event::AtMemory.of(request));
    }

    #[inline]
    pub(super) fn subchannel(&self, socket: u8, place: Place) -> usize {
        usize::from(socket) * SUBCHANNELS as usize + usize::from(place.channel) * 2 + usize::from(place.pseudo)
    }

    /// A request arrives where mesh and memory meet.
    pub(super) fn at_memory<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, place, writes, .. } = self.pool[request];
        let (unit, half) = seen(place);
        let (at, now) = (u16::from(socket), self.now);
        let number = self.subchannel(socket, place);
        reader.read(now, Fact::ComesToMemory((at, unit), in_memory(&self.pool[request])));
        if self.pool[request].isochronous {
            if self.take_special(request, reader) {
                self.announce(request);
            }
            return;
        }
        if writes {
            let credits = &mut self.credits[number];
            if credits.writes == 0 {
                credits.waiting_writes.push_back(request);
                credits.waiting_bits += u16::from(self.pool[request].only_bits);
                return;
            }
            credits.writes -= 1;
            if credits.writes == 0 && self.other_has_write_credit(number) {
                reader.read(now, Fact::MemoryUnit((at, unit), MemoryUnitFact::NoWriteCredit(half as u8, true)));
            }
        } else {
            if self.pool[request].ahead.is_some() {
                // Its prefetch reads memory already.
                return;
            }
            let credits = &mut self.credits[number];
            if !credits.takes_read() {
                credits.waiting_reads.push_back(request);
                reader.read(now, Fact::MemoryUnit((at, unit), MemoryUnitFact::ReadWaits(true)));
                return;
            }
            credits.reads -= 1;
        }
        self.announce(request);
    }

    /// True if the other subchannel of the channel has a credit for a write: the event is of the channel.
    fn other_has_write_credit(&self, number: usize) -> bool {
        self.credits[number ^ 1].writes > 0
    }

    /// A request with its credit goes to its subchannel.
    fn announce(&mut self, request: RequestId) {
        let Request { socket, line, place, writes, partial, isochronous, .. } = self.pool[request];
        self.lines_moved[usize::from(socket)] += 1;
        let number = self.subchannel(socket, place);
        let clock = self.clocks.dclk;
        let subchannel = &mut self.subchannels[number];
        let earliest = clock.next_cycle(self.now + self.times.mesh_to_memory);
        let cycle = subchannel.last_arrival().map_or(earliest, |last| earliest.max(last + 1));
        let Place { bank, row, .. } = place;
        let queue = if writes { Pending::Writes } else { Pending::Reads };
        subchannel.announce(Arrival { cycle, owner: request, line, bank, row, queue, partial, isochronous });
        self.channel_next.bring_forward(number, cycle * clock.ticks());
    }

    /// What a subchannel has just told.
    pub(super) fn take_outcomes<R: Readers>(&mut self, number: usize, reader: &mut R) {
        for index in 0..self.outcomes.len() {
            match self.outcomes[index] {
                Outcome::Data { owner, cycle } => {
                    let Request { socket, line, .. } = self.pool[owner];
                    self.directories[usize::from(socket)].prefetch(line);
                    let at = cycle * self.clocks.dclk.ticks() + self.times.memory_to_mesh;
                    self.wheel.schedule(at, Event::Answer.of(owner));
                    if self.pool[owner].isochronous {
                        self.give_special(number, Pending::Reads, reader);
                        continue;
                    }
                    self.credits[number].reads += 1;
                    self.send_waiting_reads(number, reader);
                }
                Outcome::Posted { owner } => {
                    self.wheel.schedule(self.now + self.times.memory_to_mesh, Event::Answer.of(owner));
                }
                Outcome::WriteCredit { isochronous: true, .. } => self.give_special(number, Pending::Writes, reader),
                Outcome::WriteCredit { .. } => match self.credits[number].waiting_writes.pop_front() {
                    Some(next) => {
                        self.announce(next);
                        if self.pool[next].only_bits {
                            self.credits[number].waiting_bits -= 1;
                            self.send_waiting_reads(number, reader);
                        }
                    }
                    None => {
                        self.credits[number].writes += 1;
                        if self.credits[number].writes == 1 && self.other_has_write_credit(number) {
                            let (unit, half) = seen_of(number);
                            let ends = MemoryUnitFact::NoWriteCredit(half, false);
                            reader.read(self.now, Fact::MemoryUnit(unit, ends));
                        }
                    }
                },
            }
        }
        self.outcomes.clear();
    }

    /// Reads that waited go to a subchannel for as long as it takes them.
    fn send_waiting_reads<R: Readers>(&mut self, number: usize, reader: &mut R) {
        while self.credits[number].takes_read() {
            let Some(next) = self.credits[number].waiting_reads.pop_front() else { return };
            self.credits[number].reads -= 1;
            let Request { socket, place, .. } = self.pool[next];
            let unit = (socket.into(), seen(place).0);
            reader.read(self.now, Fact::MemoryUnit(unit, MemoryUnitFact::ReadWaits(false)));
            self.announce(next);
        }
    }

    /// Memory answers where it meets the mesh.
    pub(super) fn answer<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, place, writes, class, parent, .. } = self.pool[request];
        let (unit, half) = seen(place);
        let (at, now) = (u16::from(socket), self.now);
        let here = self.places.m2m[usize::from(unit)];
        let agent = self.places.cha[usize::from(cha)];
        // Each channel has a port to the mesh.
        let port = half as u8;
        reader.read(now, Fact::LeavesMemory((at, unit), in_memory(&self.pool[request])));
        if self.pool[request].ahead.is_some() {
            let channel = self.subchannel(socket, place) / 2;
            self.prefetch_cams[channel].entries -= 1;
        }
        if self.pool[request].only_bits {
            self.pool.remove(request);
            return;
        }
        self.foresee_end(&self.pool[request], reader);
        if writes {
            self.write_is_done(request, here, port, reader);
            return;
        }
        if self.consult_directory(request, unit, reader) {
            // Another socket has the line: it is asked first.
            return;
        }
        if parent != NO_REQUEST {
            self.answer_remote(request, reader);
            return;
        }
        // Data goes straight to the requester, word of it to the agent; what the agent itself wants goes to it.
        let to_agent = class.kind.keeps_data_at_agent();
        if to_agent {
            self.at_agent(socket, cha, AgentFact::TakesData, reader);
        }
        let to = if to_agent { agent } else { self.requester_tile(request) };
        let told = self.mesh_send(socket, Ring::AcknowledgeAgents, port, here, agent, reader);
        let arrives = self.mesh_send(socket, Ring::Block, port, here, to, reader);
        let sends = MemoryUnitFact::Sends(self.mesh.last_waited());
        reader.read(now, Fact::MemoryUnit((at, unit), sends));
        self.wheel.schedule(Self::both(told, arrives), Event::Data.of(request));
    }

    /// Memory, from a tile and its port to the mesh, tells an agent that a line is written; the agent tells who waits
    /// for that.
    pub(super) fn write_is_done<R: Readers>(&mut self, request: RequestId, from: u8, port: u8, reader: &mut R) {
        let Request { socket, cha, class, parent, .. } = self.pool[request];
        let agent = self.places.cha[usize::from(cha)];
        let done = self.mesh_send(socket, Ring::AcknowledgeAgents, port, from, agent, reader);
        if parent != NO_REQUEST {
            self.wheel.schedule(done, Event::Release.of(request));
            self.answer_remote(request, reader);
        } else if class.kind.queue() == Queue::Core || class.kind == Kind::DmaWriteAround {
            let to = self.requester_tile(request);
            let told = self.mesh_send(socket, Ring::Acknowledge, 0, agent, to, reader);
            self.wheel.schedule(Self::both(told, done), Event::Data.of(request));
        } else {
            self.wheel.schedule(done, Event::Release.of(request));
        }
    }
}
