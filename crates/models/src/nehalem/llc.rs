//! The LLC of a socket: look-ups, what its cores are asked, fills and what they drive out.

use super::Model;
use super::event::{Event, NOTHING};
use super::parameters::CORES;
use super::request::RequestId;

use pericore_facts::LineState;
use pericore_facts::nehalem::{Kind, NehalemReader as Facts, Port, Station};
use pericore_parts::llc::{Victim, Way, bits};

impl Model {
    /// A request is looked up, and other cores are asked if they must be.
    pub(super) fn look_up<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.requests[request];
        let (kind, line, agent) = (entry.record.kind, entry.line, entry.agent);
        let socket = usize::from(entry.record.socket);
        let llc = &self.sockets[socket].llc;
        let way = llc.find(line);
        // A line that the other socket may have too must not be written to: that is a miss of the right.
        let writes = matches!(kind, Kind::Own | Kind::WriteBack);
        let usable = way.filter(|&way| !writes || matches!(llc.state(way), LineState::Exclusive | LineState::Modified));
        entry.record.looked_up = self.now;
        // What is written around the caches goes to memory, whatever the LLC has.
        entry.record.hit = usable.is_some() && !matches!(kind, Kind::Around { .. });
        self.report(request, Station::LookedUp, reader);
        match (kind, usable) {
            (Kind::WriteBack, Some(way)) => {
                let llc = &mut self.sockets[socket].llc;
                llc.set_state(way, LineState::Modified);
                llc.touch(way);
                if !self.cores[usize::from(agent)].keeps(line) {
                    llc.set_cores(way, llc.cores(way) & !own_bit(agent));
                }
                self.carry(socket, Port::ToLlc, Event::Written.of(request), reader);
            }
            (Kind::WriteBack, None) => self.take_number(request, reader),
            (Kind::Around { .. }, _) => {
                if let Some(way) = way {
                    self.drop_line(socket, way, line);
                }
                self.take_number(request, reader);
            }
            _ => {
                let snooped = match usable {
                    Some(way) => self.grant(request, way),
                    None => {
                        if let Some(way) = way {
                            self.snoop_cores(socket, way, line, true, Some(agent));
                        }
                        false
                    }
                };
                let delay = self.times.llc_answer + if snooped { self.times.core_snoop } else { 0 };
                self.wheel.schedule(self.now + delay, Event::Replied.of(request));
            }
        }
    }

    /// A read hits: asks other cores if they may have the line modified, or must give it up. True if any was asked.
    fn grant(&mut self, request: RequestId, way: Way) -> bool {
        let entry = &self.requests[request];
        let (line, agent, own) = (entry.line, entry.agent, entry.record.kind == Kind::Own);
        let socket = usize::from(entry.record.socket);
        let llc = &mut self.sockets[socket].llc;
        let cores = llc.cores(way);
        let others = cores & !own_bit(agent);
        let state = llc.state(way);
        llc.touch(way);
        // When several cores share the line, none of them can have written it.
        let snooped = own && others != 0 || others.count_ones() == 1;
        let dirty = if snooped { self.snoop_cores(socket, way, line, own, Some(agent)) } else { None };
        let llc = &mut self.sockets[socket].llc;
        llc.set_cores(way, if own { own_bit(agent) } else { cores | own_bit(agent) });
        let entry = &mut self.requests[request];
        entry.shared = others != 0 || matches!(state, LineState::Shared | LineState::Forward);
        entry.from_core = dirty;
        snooped
    }

    /// Takes a line from a socket's cores, or leaves it to them for reading; not from `but`. Gives the core that had it
    /// modified; the LLC has the data then.
    pub(super) fn snoop_cores(
        &mut self,
        socket: usize,
        way: Way,
        line: u32,
        take: bool,
        but: Option<u8>,
    ) -> Option<u8> {
        let llc = &mut self.sockets[socket].llc;
        let kept = but.map_or(0, own_bit);
        let mut dirty = None;
        for core in bits(llc.cores(way) & !kept) {
            let number = socket * CORES + core;
            let core = &mut self.cores[number];
            if if take { core.invalidate(line) } else { core.share(line) } {
                dirty = Some(number as u8);
            }
        }
        if take {
            llc.set_cores(way, llc.cores(way) & kept);
        }
        if dirty.is_some() {
            llc.set_state(way, LineState::Modified);
        }
        dirty
    }

    /// A line leaves a socket for good; its data is not wanted.
    pub(super) fn drop_line(&mut self, socket: usize, way: Way, line: u32) {
        self.snoop_cores(socket, way, line, true, None);
        self.sockets[socket].llc.remove(way);
    }

    /// The LLC has answered.
    pub(super) fn replied<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.requests[request];
        entry.record.replied = self.now;
        let (socket, hit, from_core) = (usize::from(entry.record.socket), entry.record.hit, entry.from_core);
        self.report(request, Station::Replied, reader);
        if !hit {
            self.take_number(request, reader);
            return;
        }
        let port = from_core.map_or(Port::FromLlc, |core| Port::from_core(core.into()));
        self.carry(socket, port, Event::ToCore.of(request), reader);
    }

    /// A line goes on to the core that asked, and to the LLC if it is new there.
    pub(super) fn pass_to_core<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &self.requests[request];
        let (socket, new) = (usize::from(entry.record.socket), !entry.record.hit || entry.from_core.is_some());
        if new {
            self.carry(socket, Port::ToLlc, NOTHING, reader);
        }
        self.carry(socket, Port::ToCores, Event::Data.of(request), reader);
    }

    /// A line comes into the LLC.
    pub(super) fn fill<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.requests[request];
        let (line, agent, kind) = (entry.line, entry.agent, entry.record.kind);
        let socket = usize::from(entry.record.socket);
        let state = match (kind, entry.forwarded) {
            (Kind::Own, Some(LineState::Modified)) => LineState::Modified,
            (Kind::Own, _) => LineState::Exclusive,
            (_, Some(_)) => LineState::Forward,
            _ if entry.shared => LineState::Shared,
            _ => LineState::Exclusive,
        };
        entry.shared = matches!(state, LineState::Forward | LineState::Shared);
        let llc = &mut self.sockets[socket].llc;
        if let Some(way) = llc.find(line) {
            // Only the right was missing.
            llc.set_state(way, state);
            llc.set_cores(way, own_bit(agent));
            llc.touch(way);
            return;
        }
        let (way, victim) = llc.victim(line);
        llc.fill(way, line, state, own_bit(agent));
        entry.record.filled = Some((state, victim.state));
        self.report(request, Station::Filled, reader);
        if victim.state != LineState::Invalid {
            self.evict(socket, victim, reader);
        }
    }

    /// A line gives way to another; the cores lose it too.
    fn evict<R: Facts>(&mut self, socket: usize, victim: Victim, reader: &mut R) {
        let mut from_core = None;
        for core in bits(victim.cores).map(|core| socket * CORES + core) {
            if self.cores[core].invalidate(victim.line) {
                from_core = Some(core as u8);
            }
        }
        if from_core.is_some() || victim.state == LineState::Modified {
            let request = self.new_request(Kind::Evict, socket as u8, 0, victim.line);
            self.requests[request].from_core = from_core;
            self.claim(request, reader);
        }
    }
}

const fn own_bit(core: u8) -> u8 {
    1 << (core as usize % CORES)
}
