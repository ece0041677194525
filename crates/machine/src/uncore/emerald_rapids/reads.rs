//! Reads and claims of this socket at an agent: from the slice, from another core, or from memory.

use pericore_engine::Tick;

use super::Model;
use super::agent::{FILTER_EXCLUSIVE, FILTER_SHARED};
use super::core::{EXCLUSIVE, MODIFIED, SHARED};
use super::event::Event;
use super::request::{Request, RequestId};
use super::tags::Way;
use pericore_facts::emerald_rapids::{AgentFact, Found, Kind, Queue, Readers, Ring, SnoopCause};

/// Why a request of this socket makes cores be snooped.
const fn cause_of(kind: Kind) -> SnoopCause {
    if matches!(kind.queue(), Queue::Io) { SnoopCause::External } else { SnoopCause::Core }
}

impl Model {
    /// A read of this socket's core or I/O stack, whose line its look-up has found in a way of slice or snoop filter.
    pub(super) fn read<R: Readers>(&mut self, request: RequestId, way: Option<Way>, reader: &mut R) {
        let Request { socket, cha, line, class, found, origin, .. } = self.pool[request];
        let kind = class.kind;
        let device = kind.queue() == Queue::Io;
        let core = if device { u8::MAX } else { self.core_within(origin) };
        let keeps_no_copy = device || kind.is_llc_prefetch();
        // Other cores' shared copies must go before somebody writes.
        let copies = if kind.owns() { self.drop_sharers(socket, cha, line, origin, device, reader) } else { 0 };
        let others = copies > 0;
        if others {
            self.at_agent(socket, cha, AgentFact::SnoopsCores(cause_of(kind), copies > 1), reader);
        }
        let wait = if others { self.times.core_snoop } else { 0 };
        match found {
            Found::Shared | Found::Forward if kind.owns() && !keeps_no_copy && self.sockets > 1 => {
                // The slice has the data; the right to write is its home's to give.
                if let Some(way) = way {
                    self.slice(socket, cha).clear(way);
                }
                if !kind.needs_no_data() && !self.has_copy(origin, line) {
                    let (from, to) = (self.places.cha[usize::from(cha)], self.requester_tile(request));
                    self.mesh_send(socket, Ring::Block, 0, from, to, reader);
                }
                self.claim_only(request, wait, reader);
            }
            Found::Shared | Found::Forward | Found::Exclusive | Found::Modified => {
                let modified = found == Found::Modified;
                // What an owner gave up to a reader is modified in the slice, and both share it.
                let sole = matches!(found, Found::Exclusive | Found::Modified);
                let unlisted = sole && !kind.owns() && self.filter(socket, cha).find(line).is_none();
                let alone = unlisted || sole && kind.owns();
                let mut slice = self.slice(socket, cha);
                let Some(way) = way else { return };
                let grant = if kind.owns() || (alone && modified) {
                    MODIFIED
                } else if alone {
                    EXCLUSIVE
                } else {
                    SHARED
                };
                if device && kind.owns() {
                    slice.set(way, Found::Modified as u8, 0);
                    slice.touch(way);
                } else if keeps_no_copy || grant == SHARED {
                    slice.touch(way);
                } else {
                    // The slice is not inclusive: what one core has alone leaves it.
                    slice.clear(way);
                }
                if !keeps_no_copy {
                    let state = if grant == SHARED { FILTER_SHARED } else { FILTER_EXCLUSIVE };
                    if unlisted {
                        self.filter_add(socket, cha, line, state, core, reader);
                    } else {
                        self.filter_insert(socket, cha, line, state, core, reader);
                    }
                }
                self.pool[request].grant = if keeps_no_copy { 0 } else { grant };
                if kind.owns() && kind.queue() == Queue::Core {
                    self.go(request, reader);
                }
                self.deliver(request, self.times.llc_data + wait, reader);
            }
            Found::FilterExclusive if class.hit => self.snoop_owner(request, reader),
            _ if kind.owns()
                && found == Found::FilterShared
                && kind == Kind::Ownership
                && self.has_copy(origin, line) =>
            {
                // An upgrade: the core has the data already and needs the others' copies gone.
                self.claim_only(request, wait, reader);
            }
            _ => self.miss(request, wait, reader),
        }
    }

    pub(super) fn has_copy(&mut self, core: u16, line: u32) -> bool {
        self.l2s.at(core).find(line).is_some()
    }

    /// Cores answer no snoops for what they share: the slice keeps it for them.
    pub(super) fn keep_shared<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, line, .. } = self.pool[request];
        let state = Self::shared_state(&self.pool[request]);
        self.llc_insert(socket, cha, line, state, false, reader);
    }

    /// The state of a shared line in a slice: who forwards lines of another socket's memory, that socket says.
    pub(super) const fn shared_state(request: &Request) -> Found {
        if request.class.remote { Found::Shared } else { Found::Forward }
    }

    /// A core that holds a shared line becomes its owner.
    pub(super) fn claim_only<R: Readers>(&mut self, request: RequestId, wait: Tick, reader: &mut R) {
        let Request { socket, cha, line, origin, .. } = self.pool[request];
        let core = self.core_within(origin);
        self.filter_insert(socket, cha, line, FILTER_EXCLUSIVE, core, reader);
        self.pool[request].grant = MODIFIED;
        self.miss_home(request, wait, true, reader);
    }

    /// One core has the line: it sends it on.
    pub(super) fn snoop_owner<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, line, class, origin, .. } = self.pool[request];
        let kind = class.kind;
        let filter = self.filter(socket, cha);
        let Some(way) = filter.find(line) else { return };
        let owner = filter.get(way).owner;
        let owner_core = self.core_number(socket, owner);
        let own = owner_core == origin && kind.queue() == Queue::Core;
        let takes = kind.owns();
        let state = if own { None } else { self.l2s.at(owner_core).snoop(line, takes) };
        if !own {
            self.at_agent(socket, cha, AgentFact::SnoopsCores(cause_of(kind), false), reader);
        }
        let keeps_no_copy = kind.queue() == Queue::Io || kind.is_llc_prefetch();
        let modified = state == Some(MODIFIED);
        let requester = self.core_within(origin);
        let mut filter = self.filter(socket, cha);
        if takes {
            let Some(way) = filter.find(line) else { return };
            if keeps_no_copy {
                filter.clear(way);
                self.llc_insert(socket, cha, line, Found::Modified, kind.queue() == Queue::Io, reader);
            } else {
                filter.set(way, FILTER_EXCLUSIVE, requester);
            }
        } else if own {
            // The core has lost sight of its own line: nothing changes.
        } else {
            filter.set(way, FILTER_SHARED, owner);
            if modified {
                self.llc_insert(socket, cha, line, Found::Modified, false, reader);
            } else {
                self.keep_shared(request, reader);
            }
        }
        self.pool[request].grant = match () {
            () if keeps_no_copy => 0,
            () if takes => MODIFIED,
            () if own => EXCLUSIVE,
            () => SHARED,
        };
        let from = self.places.cha[usize::from(cha)];
        let at = self.mesh_send(socket, Ring::Invalidate, 0, from, self.core_tile(owner_core), reader);
        self.pool[request].answers = owner_core;
        self.wheel.schedule(at + self.times.core_snoop, Event::Snooped.of(request));
    }

    /// The owner has answered: data goes to the requester, word of it to the agent.
    pub(super) fn snooped<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, answers, .. } = self.pool[request];
        let from = self.core_tile(answers);
        let to = self.places.cha[usize::from(cha)];
        self.mesh_send(socket, Ring::AcknowledgeAgents, 1, from, to, reader);
        let goal = self.requester_tile(request);
        let at = self.mesh_send(socket, Ring::Block, 1, from, goal, reader);
        self.wheel.schedule(at, Event::Data.of(request));
    }

    /// Takes other cores' shared copies of a line away; how many there were.
    pub(super) fn drop_sharers<R: Readers>(
        &mut self,
        socket: u8,
        cha: u8,
        line: u32,
        origin: u16,
        device: bool,
        reader: &mut R,
    ) -> u32 {
        let mut filter = self.filter(socket, cha);
        let Some(way) = filter.find(line).filter(|&way| filter.get(way).state == FILTER_SHARED) else {
            return 0;
        };
        filter.clear(way);
        let mut dropped = 0;
        for core in 0..self.parameters.cores {
            let core = self.core_number(socket, core);
            if (device || core != origin) && self.invalidate_sharer((socket, cha), core, line, reader).is_some() {
                dropped += 1;
            }
        }
        dropped
    }

    /// Sends data from the slice to the requester.
    pub(super) fn deliver<R: Readers>(&mut self, request: RequestId, wait: Tick, reader: &mut R) {
        let Request { socket, cha, .. } = self.pool[request];
        let from = self.places.cha[usize::from(cha)];
        let to = self.requester_tile(request);
        let at = self.mesh_send(socket, Ring::Block, 0, from, to, reader) + wait;
        self.wheel.schedule(at, Event::Data.of(request));
    }
}
