//! Between two sockets: directory, requests, snoops and writebacks of the other socket.
//!
//! A request for the other socket's memory keeps its entry at its own agent and has a child at the agent of the line's home, which
//! reads memory, asks the requester's socket or its own caches first if the directory says so, and answers over the link.

use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::address;
use super::agent::FILTER_SHARED;
use super::core::{EXCLUSIVE, MODIFIED, SHARED};
use super::event::Event;
use super::link::Packet;
use super::request::{NO_REQUEST, Request, RequestId};
use crate::host::{large_pages, prefetch};
use crate::ledger::emerald_rapids::compiled::deed;
use crate::ledger::emerald_rapids::deeds::Deed;
use crate::ledger::emerald_rapids::{Found, Kind, LinkMessage, Queue, Reason, Ring};

/// States of the directory bits that memory keeps with each line: no other socket has it, others share it, another may own it.
pub const NOWHERE: u8 = 0;
const ELSEWHERE_SHARED: u8 = 1;
pub const ELSEWHERE: u8 = 2;

/// Directory bits of all lines of a socket's memory, two for each line. The host gives memory only to what is written.
#[derive(Debug)]
pub struct Directory {
    bits: Vec<u64>,
}

impl Directory {
    /// No other socket has anything. A machine of one socket needs no bits.
    pub fn new(sockets: u8) -> Self {
        let words = if sockets > 1 { 1 << (address::REGION_BITS - 5) } else { 0 };
        let bits = vec![0; words];
        large_pages(&bits);
        Self { bits }
    }

    fn get(&self, line: u32) -> u8 {
        let line = line & ((1 << address::REGION_BITS) - 1);
        self.bits.get(line as usize / 32).map_or(NOWHERE, |word| (word >> (line % 32 * 2) & 3) as u8)
    }

    /// Tells the host that a line's bits are about to be looked at.
    pub fn prefetch(&self, line: u32) {
        let line = line & ((1 << address::REGION_BITS) - 1);
        if let Some(word) = self.bits.get(line as usize / 32) {
            prefetch(word);
        }
    }

    /// Changes a line's bits.
    pub fn set(&mut self, line: u32, state: u8) {
        let line = line & ((1 << address::REGION_BITS) - 1);
        if let Some(word) = self.bits.get_mut(line as usize / 32) {
            *word = *word & !(3 << (line % 32 * 2)) | u64::from(state) << (line % 32 * 2);
        }
    }
}

impl Model {
    /// The directory's state of a line changes; memory is written with the next data, or at once.
    fn update_directory<S: SignalSink>(&mut self, request: RequestId, to: u8, sink: &mut S) {
        let Request { socket, cha, line, .. } = self.pool[request];
        let (at, now) = (u16::from(socket), self.now);
        let unit = u16::from(self.map.place(line).channel) / 2;
        let directory = &mut self.directories[usize::from(socket)];
        let from = directory.get(line);
        if from == to {
            return;
        }
        directory.set(line, to);
        let what = match (from, to) {
            (NOWHERE, ELSEWHERE_SHARED) => deed!("m2m/DIRECTORY_UPDATE.I_TO_S_HIT_NON_PMM"),
            (NOWHERE, _) => deed!("m2m/DIRECTORY_UPDATE.I_TO_A_HIT_NON_PMM"),
            (ELSEWHERE_SHARED, ELSEWHERE) => deed!("m2m/DIRECTORY_UPDATE.S_TO_A_HIT_NON_PMM"),
            (ELSEWHERE_SHARED, _) => deed!("m2m/DIRECTORY_UPDATE.S_TO_I_HIT_NON_PMM"),
            (_, ELSEWHERE_SHARED) => deed!("m2m/DIRECTORY_UPDATE.A_TO_S_HIT_NON_PMM"),
            _ => deed!("m2m/DIRECTORY_UPDATE.A_TO_I_HIT_NON_PMM"),
        };
        self.account.deed(what, at, unit, now, sink);
        let by = if self.pool[request].writes { deed!("cha/DIR_UPDATE.TOR") } else { deed!("cha/DIR_UPDATE.HA") };
        self.account.deed(by, at, cha.into(), now, sink);
    }

    /// Looks at the directory bits that came with a line, whose coming counts as `came`. True if another socket is asked first.
    pub(super) fn consult_directory<S: SignalSink>(
        &mut self,
        request: RequestId,
        came: Deed,
        unit: u16,
        sink: &mut S,
    ) -> bool {
        let Request { socket, cha, line, class, parent, .. } = self.pool[request];
        let (at, at_cha, now) = (u16::from(socket), u16::from(cha), self.now);
        let state = self.directories[usize::from(socket)].get(line);
        let (looked, found) = match state {
            NOWHERE => (deed!("m2m/DIRECTORY_LOOKUP.STATE_I"), deed!("m2m/DIRECTORY_HIT.CLEAN_I")),
            ELSEWHERE_SHARED => (deed!("m2m/DIRECTORY_LOOKUP.STATE_S"), deed!("m2m/DIRECTORY_HIT.CLEAN_S")),
            _ => (deed!("m2m/DIRECTORY_LOOKUP.STATE_A"), deed!("m2m/DIRECTORY_HIT.CLEAN_A")),
        };
        self.account.together([came, looked, found], at, unit, now, sink);
        let owns = class.kind.owns();
        // The requester's own socket need not be asked.
        let asks = parent == NO_REQUEST && (state == ELSEWHERE || (state == ELSEWHERE_SHARED && owns));
        let what = if asks { deed!("cha/DIR_LOOKUP.SNP") } else { deed!("cha/DIR_LOOKUP.NO_SNP") };
        self.account.deed(what, at, at_cha, now, sink);
        if parent != NO_REQUEST {
            let gives = if owns || self.pool[request].grant != SHARED { ELSEWHERE } else { ELSEWHERE_SHARED };
            let gives = if class.kind == Kind::RemoteCurrent { state } else { gives };
            self.update_directory(request, gives, sink);
            return false;
        }
        if !asks {
            if state == ELSEWHERE_SHARED {
                self.share(request, sink);
            }
            return false;
        }
        self.account.deed(deed!("m2m/DIRECT2CORE_NOT_TAKEN_DIRSTATE.NON_CISGRESS"), at, unit, now, sink);
        self.account.deed(deed!("cha/SNOOPS_SENT.DIRECT_LOCAL"), at, at_cha, now, sink);
        let leaves = if owns { NOWHERE } else { ELSEWHERE_SHARED };
        self.update_directory(request, leaves, sink);
        let (kind, message) = if owns {
            (Kind::SnoopOwnership, LinkMessage::SnoopOwn)
        } else {
            (Kind::SnoopData, LinkMessage::SnoopData)
        };
        self.send_child(request, kind, Packet::new(message), 0, sink);
        true
    }

    /// A core that reads a line of its socket's memory does not get it alone: the other socket has it, too.
    fn share<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, line, origin, grant, .. } = self.pool[request];
        if grant == EXCLUSIVE {
            self.pool[request].grant = SHARED;
            self.filter_insert(socket, cha, line, FILTER_SHARED, self.core_within(origin), sink);
            self.keep_shared(request, sink);
        }
    }

    /// Sends a child of a request to the other socket's agent.
    fn send_child<S: SignalSink>(&mut self, request: RequestId, kind: Kind, packet: Packet, wait: Tick, sink: &mut S) {
        let Request { socket, cha, home, line, class, partial, writes, grant, .. } = self.pool[request];
        let mut child = Request::new(kind, 1 - socket, cha, home, 0, line, class.target);
        child.parent = request;
        child.partial = partial;
        child.writes = writes;
        child.grant = grant;
        self.foresee_arrival(&child);
        let child = self.pool.add(child);
        let from = self.places.cha[usize::from(cha)];
        let to = self.places.cha[usize::from(cha)];
        self.send_packet(socket, cha, packet, from, to, wait, Event::Arrive.of(child), sink);
    }

    /// Asks the other socket, the line's home.
    pub(super) fn ask_remote<S: SignalSink>(&mut self, request: RequestId, wait: Tick, claim: bool, sink: &mut S) {
        let Request { class, grant, .. } = self.pool[request];
        let (kind, message) = match class.kind {
            Kind::DmaRead => (Kind::RemoteCurrent, LinkMessage::ReadCurrent),
            _ if claim => (Kind::RemoteClaim, LinkMessage::Claim),
            Kind::CodeRead | Kind::CodePrefetch | Kind::LlcCode => (Kind::RemoteCode, LinkMessage::ReadCode),
            kind if kind.owns() => (Kind::RemoteOwnership, LinkMessage::ReadOwn),
            _ if grant == SHARED => (Kind::RemoteCode, LinkMessage::ReadCode),
            _ => (Kind::RemoteData, LinkMessage::ReadData),
        };
        let Request { socket, cha, .. } = self.pool[request];
        self.spend(socket, cha, Reason::Request);
        let packet = Packet::new(message).on(Reason::Request);
        self.send_child(request, kind, packet, wait + self.times.llc_miss, sink);
    }

    /// Writes a line to the other socket's memory.
    pub(super) fn write_remote<S: SignalSink>(&mut self, request: RequestId, wait: Tick, sink: &mut S) {
        let Request { socket, cha, class, grant, .. } = self.pool[request];
        let (kind, message) = match class.kind {
            Kind::Victim => (Kind::RemoteWriteback, LinkMessage::Writeback),
            Kind::Clean if grant == SHARED => (Kind::RemoteWritebackShared, LinkMessage::WritebackShared),
            Kind::Clean => (Kind::RemoteWritebackExclusive, LinkMessage::WritebackExclusive),
            _ => (Kind::RemoteWrite, LinkMessage::Write),
        };
        self.spend(socket, cha, Reason::Writeback);
        self.send_child(request, kind, Packet::new(message).on(Reason::Writeback), wait, sink);
    }

    /// A request or snoop of the other socket, looked up at its agent here.
    pub(super) fn serve_remote<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, class, .. } = self.pool[request];
        let (at, at_cha, now) = (u16::from(socket), u16::from(cha), self.now);
        if class.kind.queue() == Queue::RemoteWriteback || class.kind == Kind::RemoteClaim {
            // The credit for the response is kept until that has gone.
            self.spend(socket, cha, Reason::Response);
        }
        match class.kind.queue() {
            Queue::Snoop => self.serve_snoop(request, sink),
            Queue::RemoteWriteback => {
                self.account.deed(deed!("cha/REQUESTS.WRITES_REMOTE"), at, at_cha, now, sink);
                self.account.deed(deed!("cha/HITME_LOOKUP.WRITE"), at, at_cha, now, sink);
                let (hit, stays) = match class.kind {
                    Kind::RemoteWritebackExclusive => (deed!("cha/HITME_HIT.WBMTOE"), ELSEWHERE),
                    Kind::RemoteWritebackShared => (deed!("cha/HITME_HIT.WBMTOI_OR_S"), ELSEWHERE_SHARED),
                    _ => (deed!("cha/HITME_HIT.WBMTOI_OR_S"), NOWHERE),
                };
                self.account.deed(hit, at, at_cha, now, sink);
                self.update_directory(request, stays, sink);
                self.write_memory(request, self.times.llc_quick, sink);
            }
            _ => self.serve_read(request, sink),
        }
    }

    fn serve_read<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, line, class, found, .. } = self.pool[request];
        let (at, at_cha, now) = (u16::from(socket), u16::from(cha), self.now);
        let owns = class.kind.owns();
        let asked = if class.kind == Kind::RemoteClaim {
            deed!("cha/REQUESTS.INVITOE_REMOTE")
        } else {
            deed!("cha/REQUESTS.READS_REMOTE")
        };
        let shared = matches!(found, Found::Shared | Found::Forward | Found::FilterShared);
        let missed = match (owns, shared) {
            (true, true) => deed!("cha/HITME_MISS.SHARED_RDINVOWN"),
            (true, false) => deed!("cha/HITME_MISS.NOTSHARED_RDINVOWN"),
            (false, _) => deed!("cha/HITME_MISS.READ_OR_INV"),
        };
        self.account.together([deed!("cha/HITME_LOOKUP.READ"), missed], at, at_cha, now, sink);
        if owns {
            self.account.deed(deed!("cha/HITME_UPDATE.RDINVOWN"), at, at_cha, now, sink);
        }
        if found == Found::Nothing {
            self.read_memory(request, asked, 0, sink);
            return;
        }
        // Somebody in this socket has it: they give it up, or share it.
        let modified = if class.kind == Kind::RemoteCurrent { false } else { self.purge(socket, cha, line, sink) };
        self.account.deed(deed!("cha/CORE_SNP.REMOTE_ONE"), at, at_cha, now, sink);
        self.pool[request].grant = if modified || owns { MODIFIED } else { EXCLUSIVE };
        self.read_memory(request, asked, self.times.core_snoop, sink);
    }

    /// The home answers the other socket: what it asked for is on its way.
    pub(super) fn answer_remote<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, place, class, parent, writes, .. } = self.pool[request];
        let (at, now) = (u16::from(socket), self.now);
        let unit = u16::from(place.channel) / 2;
        let here = self.places.m2m[usize::from(unit)];
        let agent = self.places.cha[usize::from(cha)];
        let port = place.channel % 2;
        if writes || class.kind == Kind::RemoteClaim {
            let packet = Packet::new(LinkMessage::Completion).on(Reason::Response);
            let to = self.asker_tile(parent);
            let released = writes && self.pool[parent].kind() == Kind::Victim;
            let then = if released { Event::Release } else { Event::Data };
            self.send_packet(socket, cha, packet, here, to, 0, then.of(parent), sink);
            if writes {
                return;
            }
        } else if self.agent(socket, cha).links.is_short(Reason::Data) {
            // It goes to its agent, and from there when there is room at the link.
            self.account.deed(deed!("m2m/DIRECT2UPI_NOT_TAKEN_CREDITS.EGRESS"), at, unit, now, sink);
            let arrives = self.mesh_send(socket, Ring::Block, port, here, agent, sink);
            self.hold_answer(request, arrives, sink);
            return;
        } else {
            self.account.deed(deed!("m2m/DIRECT2UPI_TAKEN"), at, unit, now, sink);
            self.send_answer(request, here, 0, sink);
        }
        let told = self.mesh_send(socket, Ring::AcknowledgeAgents, port, here, agent, sink);
        self.wheel.schedule(told, Event::Release.of(request));
    }

    /// Where the answer to a request of the other socket goes.
    fn asker_tile(&self, parent: RequestId) -> u8 {
        let asker = &self.pool[parent];
        if asker.kind().is_llc_prefetch() || asker.kind() == Kind::Victim {
            self.places.cha[usize::from(asker.cha)]
        } else {
            self.requester_tile(parent)
        }
    }

    /// Sends the data that the other socket asked for, on a credit of the agent; `wait` is how long it takes to be there.
    pub(super) fn send_answer<S: SignalSink>(&mut self, request: RequestId, from: u8, wait: Tick, sink: &mut S) {
        let Request { socket, cha, class, parent, grant, .. } = self.pool[request];
        let message = match class.kind {
            Kind::RemoteCode | Kind::RemoteCurrent => LinkMessage::SharedDone,
            kind if grant == MODIFIED && !kind.owns() => LinkMessage::ModifiedDone,
            _ => LinkMessage::ExclusiveDone,
        };
        self.spend(socket, cha, Reason::Data);
        let packet = Packet::new(message).on(Reason::Data);
        let to = self.asker_tile(parent);
        self.send_packet(socket, cha, packet, from, to, wait, Event::Data.of(parent), sink);
    }

    /// Snoops do not wait: a line that this socket has given to a core and that has not come yet is used once there, and not kept. True if it
    /// will be written.
    fn take_on_its_way(&mut self, socket: u8, cha: u8, line: u32) -> bool {
        let number = self.agent_number(socket, cha);
        let mut of_cores = self.agents[usize::from(number)].all_for(line);
        let Some(coming) = of_cores.find(|&request| self.pool[request].kind().queue() == Queue::Core) else {
            return false;
        };
        let request = &mut self.pool[coming];
        let granted = std::mem::take(&mut request.grant);
        // What misses has nothing yet but its place in the filter.
        request.class.hit && granted == MODIFIED
    }

    /// A snoop of the line's home.
    fn serve_snoop<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, line, class, found, parent, .. } = self.pool[request];
        let (at, at_cha, now) = (u16::from(socket), u16::from(cha), self.now);
        let asker = self.pool[parent];
        let (home, home_cha) = (u16::from(asker.socket), u16::from(asker.cha));
        let owns = class.kind.owns();
        let had = found != Found::Nothing;
        let on_its_way = self.take_on_its_way(socket, cha, line);
        let modified = had && self.purge(socket, cha, line, sink) || on_its_way;
        if had {
            self.account.deed(deed!("cha/CORE_SNP.REMOTE_GTONE"), at, at_cha, now, sink);
        }
        if had && !owns {
            // A shared copy stays.
            self.llc_insert(socket, cha, line, Found::Shared, false, sink);
            self.share(parent, sink);
        }
        let (answer, local, message) = match (had, owns, modified) {
            (false, _, _) => (deed!("cha/SNOOP_RESP.RSPI"), deed!("cha/SNOOP_RESP_LOCAL.RSPI"), LinkMessage::Nothing),
            (true, true, _) => {
                (deed!("cha/SNOOP_RESP.RSPIFWD"), deed!("cha/SNOOP_RESP_LOCAL.RSPIFWD"), LinkMessage::Modified)
            }
            (true, false, true) => {
                (deed!("cha/SNOOP_RESP.RSPFWDWB"), deed!("cha/SNOOP_RESP_LOCAL.RSPFWDWB"), LinkMessage::SharedWritten)
            }
            (true, false, false) => {
                (deed!("cha/SNOOP_RESP.RSPSFWD"), deed!("cha/SNOOP_RESP_LOCAL.RSPSFWD"), LinkMessage::Exclusive)
            }
        };
        self.account.deed(answer, home, home_cha, now, sink);
        self.account.deed(local, home, home_cha, now, sink);
        let here = self.places.cha[usize::from(cha)];
        let to = if asker.kind().is_llc_prefetch() {
            self.places.cha[usize::from(asker.cha)]
        } else {
            self.requester_tile(parent)
        };
        let wait = if had { self.times.core_snoop } else { 0 };
        let credit = if had { Reason::Data } else { Reason::Response };
        self.spend(socket, cha, credit);
        self.send_packet(socket, cha, Packet::new(message).on(credit), here, to, wait, Event::Data.of(parent), sink);
        self.wheel.schedule(now + wait.max(self.times.llc_quick), Event::Release.of(request));
    }
}
