//! The home side's memory: from the agent over the mesh to the memory controllers and back.

use std::collections::VecDeque;

use pericore_dram::{Arrival, Outcome, Pending};
use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::address::{Place, SUBCHANNELS};
use super::event::Event;
use super::request::{NO_REQUEST, Request, RequestId};
use crate::ledger::emerald_rapids::compiled::{deed, level};
use crate::ledger::emerald_rapids::deeds::Deed;
use crate::ledger::emerald_rapids::{Found, Kind, Queue, Ring, Target};

/// Credits of a subchannel's queues, and what waits for them.
#[derive(Debug)]
pub struct Credits {
    reads: u8,
    writes: u8,
    waiting_reads: VecDeque<RequestId>,
    waiting_writes: VecDeque<RequestId>,
}

impl Credits {
    /// All credits there.
    pub fn new(reads: u8, writes: u8) -> Self {
        Self {
            reads,
            writes,
            waiting_reads: VecDeque::with_capacity(256),
            waiting_writes: VecDeque::with_capacity(256),
        }
    }
}

type Halves = [u16; 2];
const READS: Halves = [deed!("m2m/IMC_READS.CH0_NORMAL"), deed!("m2m/IMC_READS.CH1_NORMAL")];
const FULL_WRITES: Halves = [deed!("m2m/IMC_WRITES.CH0_FULL"), deed!("m2m/IMC_WRITES.CH1_FULL")];
const PARTIAL_WRITES: Halves = [deed!("m2m/IMC_WRITES.CH0_PARTIAL"), deed!("m2m/IMC_WRITES.CH1_PARTIAL")];
/// Reads that wait for a credit; one that finds a credit stays for no time.
const INGRESS: u16 = level!("m2m/RxC_AD_OCCUPANCY");
const TRACKED: Halves = [deed!("m2m/TRACKER_INSERTS.CH0"), deed!("m2m/TRACKER_INSERTS.CH1")];
const TRACKER: Halves = [level!("m2m/TRACKER_OCCUPANCY.CH0"), level!("m2m/TRACKER_OCCUPANCY.CH1")];
const WRITES_TRACKED: Halves = [deed!("m2m/WR_TRACKER_INSERTS.CH0"), deed!("m2m/WR_TRACKER_INSERTS.CH1")];
const POSTED: Halves = [level!("m2m/WR_TRACKER_POSTED_INSERTS.CH0"), level!("m2m/WR_TRACKER_POSTED_INSERTS.CH1")];
const NONPOSTED: Halves =
    [level!("m2m/WR_TRACKER_NONPOSTED_INSERTS.CH0"), level!("m2m/WR_TRACKER_NONPOSTED_INSERTS.CH1")];
const NO_CREDIT: Halves = [level!("m2m/WPQ_NO_REG_CRD.CHN0"), level!("m2m/WPQ_NO_REG_CRD.CHN1")];
const PREFETCHED: Halves = [deed!("m2m/PREFCAM_INSERTS.CH0_XPT"), deed!("m2m/PREFCAM_INSERTS.CH1_XPT")];
const REMOTE_PREFETCHED: Halves = [deed!("m2m/PREFCAM_INSERTS.CH0_UPI"), deed!("m2m/PREFCAM_INSERTS.CH1_UPI")];
const PREFETCHES: Halves = [level!("m2m/PREFCAM_OCCUPANCY.CH0"), level!("m2m/PREFCAM_OCCUPANCY.CH1")];
const PREFETCH_DONE: Halves = [deed!("m2m/PREFCAM_DEALLOCS.RSP_CH0"), deed!("m2m/PREFCAM_DEALLOCS.RSP_CH1")];
const NOT_PREFETCHED: Halves = [deed!("m2m/PREFCAM_RESP_MISS.CH0"), deed!("m2m/PREFCAM_RESP_MISS.CH1")];
const PREFETCH_LOST: Halves = [deed!("m2m/PREFCAM_DEMAND_DROPS.CH0_XPT"), deed!("m2m/PREFCAM_DEMAND_DROPS.CH1_XPT")];
const NO_ROOM: Halves =
    [deed!("m2m/PREFCAM_DROP_REASONS_CH0.RPQ_PROXY"), deed!("m2m/PREFCAM_DROP_REASONS_CH1.RPQ_PROXY")];
const SENT: Halves = [deed!("cha/XPT_PREF.SENT0"), deed!("cha/XPT_PREF.SENT1")];
const DROPPED: Halves = [deed!("cha/XPT_PREF.DROP0"), deed!("cha/XPT_PREF.DROP1")];

/// True if a prefetch runs ahead of a request's read of memory, where there is room for it.
#[inline]
const fn is_prefetched(kind: Kind) -> bool {
    matches!(kind, Kind::DataRead | Kind::RemoteData)
}

/// Where a place's channel is seen: the mesh-to-memory unit and its half.
#[inline]
const fn seen(place: Place) -> (u16, usize) {
    (place.channel as u16 / 2, place.channel as usize % 2)
}

impl Model {
    /// Nobody in the socket has the line, or nobody who could send it.
    pub(super) fn miss<S: SignalSink>(&mut self, request: RequestId, wait: Tick, sink: &mut S) {
        let Request { socket, cha, line, class, origin, found, .. } = self.pool[request];
        let kind = class.kind;
        match kind {
            Kind::LlcData | Kind::LlcOwnership | Kind::LlcCode => {
                self.llc_insert(socket, cha, line, Found::Exclusive, false, sink);
            }
            Kind::DmaWrite | Kind::DmaWriteNear | Kind::DmaPartial => {
                self.llc_insert(socket, cha, line, Found::Modified, true, sink);
            }
            Kind::DmaRead => {}
            _ => {
                let grant = match found {
                    Found::FilterShared if !kind.owns() => super::core::SHARED,
                    _ => Self::sole_grant(kind),
                };
                if grant == super::core::SHARED {
                    self.keep_shared(request, sink);
                }
                let state = if grant == super::core::SHARED { Found::FilterShared } else { Found::FilterExclusive };
                let core = self.core_within(origin);
                if found == Found::Nothing {
                    self.filter_add(socket, cha, line, state as u8, core, sink);
                } else {
                    self.filter_insert(socket, cha, line, state as u8, core, sink);
                }
                self.pool[request].grant = grant;
            }
        }
        let claim = kind.needs_no_data();
        self.miss_home(request, wait, claim, sink);
    }

    /// Asks the line's home for it, or (`claim`) for the right to overwrite it.
    pub(super) fn miss_home<S: SignalSink>(&mut self, request: RequestId, wait: Tick, claim: bool, sink: &mut S) {
        let Request { socket, cha, home, class, .. } = self.pool[request];
        if home != socket {
            self.ask_remote(request, wait, claim, sink);
            return;
        }
        if claim && (self.sockets == 1 || class.target == Target::Expander) {
            // No other socket can have it: there is nothing to ask memory for.
            self.account.deed(deed!("cha/REQUESTS.INVITOE_LOCAL"), socket.into(), cha.into(), self.now, sink);
            if class.kind.queue() == Queue::Core {
                self.go(request, sink);
            }
            self.acknowledge(request, wait, sink);
            return;
        }
        let asked = if claim { deed!("cha/REQUESTS.INVITOE_LOCAL") } else { deed!("cha/REQUESTS.READS_LOCAL") };
        self.read_memory(request, asked, wait, sink);
    }

    /// Reads a line of this socket's memory, for a request at its agent that counts as `asked`.
    pub(super) fn read_memory<S: SignalSink>(&mut self, request: RequestId, asked: Deed, wait: Tick, sink: &mut S) {
        let Request { socket, cha, line, class, .. } = self.pool[request];
        let (at_socket, at_cha, now) = (u16::from(socket), u16::from(cha), self.now);
        if class.target == Target::Expander {
            self.account.deed(asked, at_socket, at_cha, now, sink);
            self.expander_access(request, wait + self.times.llc_miss, sink);
            return;
        }
        let place = self.map.place(line);
        let (unit, half) = seen(place);
        let credits = self.credits[self.subchannel(socket, place)].reads;
        let read = deed!("cha/IMC_READS_COUNT.NORMAL");
        let bypass = if wait == 0 { deed!("cha/BYPASS_CHA_IMC.TAKEN") } else { deed!("cha/BYPASS_CHA_IMC.NOT_TAKEN") };
        let mut prefetched = false;
        if is_prefetched(class.kind) {
            // A prefetch needs room in the queue to be of use.
            prefetched = credits > 8;
            let prefetch = if prefetched { SENT[half] } else { DROPPED[half] };
            self.account.together([asked, read, bypass, prefetch], at_socket, at_cha, now, sink);
        } else {
            self.account.together([asked, read, bypass], at_socket, at_cha, now, sink);
        }
        if credits == 0 {
            let what = deed!("cha/READ_NO_CREDITS.MC0") + unit;
            self.account.deed(what, at_socket, at_cha, now, sink);
        }
        let entry = &mut self.pool[request];
        (entry.place, entry.prefetched) = (place, prefetched);
        let from = self.places.cha[usize::from(cha)];
        let to = self.places.m2m[usize::from(unit)];
        let at = self.mesh_send(socket, Ring::Address, 0, from, to, sink);
        self.wheel.schedule(at + wait + self.times.llc_miss, Event::AtMemory.of(request));
    }

    /// Sends a line to its home's memory.
    pub(super) fn write_home<S: SignalSink>(&mut self, request: RequestId, wait: Tick, sink: &mut S) {
        let Request { socket, home, .. } = self.pool[request];
        if home != socket {
            self.write_remote(request, wait, sink);
            return;
        }
        let Request { cha, .. } = self.pool[request];
        self.account.deed(deed!("cha/REQUESTS.WRITES_LOCAL"), socket.into(), cha.into(), self.now, sink);
        self.write_memory(request, wait, sink);
    }

    /// Writes a line of this socket's memory, for a request at its agent.
    pub(super) fn write_memory<S: SignalSink>(&mut self, request: RequestId, wait: Tick, sink: &mut S) {
        let Request { socket, cha, line, partial, class, .. } = self.pool[request];
        if class.target == Target::Expander {
            self.expander_access(request, wait, sink);
            return;
        }
        let what = if partial { deed!("cha/IMC_WRITES_COUNT.PARTIAL") } else { deed!("cha/IMC_WRITES_COUNT.FULL") };
        self.account.deed(what, socket.into(), cha.into(), self.now, sink);
        let place = self.map.place(line);
        self.pool[request].place = place;
        let (unit, _) = seen(place);
        if self.credits[self.subchannel(socket, place)].writes == 0 {
            let what = deed!("cha/WRITE_NO_CREDITS.MC0") + unit;
            self.account.deed(what, socket.into(), cha.into(), self.now, sink);
        }
        let from = self.places.cha[usize::from(cha)];
        let to = self.places.m2m[usize::from(unit)];
        let at = self.mesh_send(socket, Ring::Block, 0, from, to, sink);
        self.wheel.schedule(at + wait, Event::AtMemory.of(request));
    }

    #[inline]
    pub(super) fn subchannel(&self, socket: u8, place: Place) -> usize {
        usize::from(socket) * SUBCHANNELS as usize + usize::from(place.channel) * 2 + usize::from(place.pseudo)
    }

    /// A request arrives where mesh and memory meet.
    pub(super) fn at_memory<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, place, writes, partial, prefetched, class, .. } = self.pool[request];
        let (unit, half) = seen(place);
        let (at, now) = (u16::from(socket), self.now);
        let number = self.subchannel(socket, place);
        let account = &mut self.account;
        if writes {
            account.deed(WRITES_TRACKED[half], at, unit, now, sink);
            account.enter(if partial { NONPOSTED[half] } else { POSTED[half] }, at, unit, now, sink);
            account.deed(if partial { PARTIAL_WRITES[half] } else { FULL_WRITES[half] }, at, unit, now, sink);
            let credits = &mut self.credits[number];
            if credits.writes == 0 {
                if credits.waiting_writes.is_empty() && !self.other_waits(number) {
                    self.account.enter(NO_CREDIT[half], at, unit, now, sink);
                }
                self.credits[number].waiting_writes.push_back(request);
                return;
            }
            credits.writes -= 1;
        } else {
            account.enter(TRACKER[half], at, unit, now, sink);
            let read = [deed!("m2m/RxC_AD_INSERTS"), TRACKED[half], READS[half]];
            account.together(read, at, unit, now, sink);
            if prefetched {
                let (inserted, merged) = if class.kind.queue() == Queue::Remote {
                    (REMOTE_PREFETCHED[half], deed!("m2m/PREFCAM_DEMAND_MERGE.UPI_ALLCH"))
                } else {
                    (PREFETCHED[half], deed!("m2m/PREFCAM_DEMAND_MERGE.XPT_ALLCH"))
                };
                account.enter(PREFETCHES[half], at, unit, now, sink);
                let taken = deed!("m2m/PREFCAM_RxC_DEALLOCS.1LM_POSTED");
                account.together([inserted, taken, merged], at, unit, now, sink);
            } else if is_prefetched(class.kind) {
                let lost = [PREFETCH_LOST[half], NO_ROOM[half], deed!("m2m/PREFCAM_RxC_DEALLOCS.SQUASHED")];
                account.together(lost, at, unit, now, sink);
            }
            let credits = &mut self.credits[number];
            if credits.reads == 0 {
                credits.waiting_reads.push_back(request);
                account.enter(INGRESS, at, unit, now, sink);
                return;
            }
            credits.reads -= 1;
        }
        self.announce(request);
    }

    /// True if the other subchannel of the channel has writes that wait: the event is of the channel.
    fn other_waits(&self, number: usize) -> bool {
        !self.credits[number ^ 1].waiting_writes.is_empty()
    }

    /// A request with its credit goes to its subchannel.
    fn announce(&mut self, request: RequestId) {
        let Request { socket, line, place, writes, partial, .. } = self.pool[request];
        let number = self.subchannel(socket, place);
        let clock = self.clocks.dclk;
        let subchannel = &mut self.subchannels[number];
        let earliest = clock.next_cycle(self.now + self.times.mesh_to_memory);
        let cycle = subchannel.last_arrival().map_or(earliest, |last| earliest.max(last + 1));
        let Place { bank, row, .. } = place;
        let queue = if writes { Pending::Writes } else { Pending::Reads };
        subchannel.announce(Arrival { cycle, owner: request, line, bank, row, queue, partial });
        self.channel_next.bring_forward(number, cycle * clock.ticks());
    }

    /// What a subchannel has just told.
    pub(super) fn take_outcomes<S: SignalSink>(&mut self, number: usize, sink: &mut S) {
        for index in 0..self.outcomes.len() {
            match self.outcomes[index] {
                Outcome::Data { owner, cycle } => {
                    let Request { socket, line, .. } = self.pool[owner];
                    self.directories[usize::from(socket)].prefetch(line);
                    let at = cycle * self.clocks.dclk.ticks() + self.times.memory_to_mesh;
                    self.wheel.schedule(at, Event::Answer.of(owner));
                    match self.credits[number].waiting_reads.pop_front() {
                        Some(next) => {
                            let Request { socket, place, .. } = self.pool[next];
                            self.account.leave(INGRESS, socket.into(), seen(place).0, self.now, sink);
                            self.announce(next);
                        }
                        None => self.credits[number].reads += 1,
                    }
                }
                Outcome::Posted { owner } => {
                    self.wheel.schedule(self.now + self.times.memory_to_mesh, Event::Answer.of(owner));
                }
                Outcome::WriteCredit => match self.credits[number].waiting_writes.pop_front() {
                    Some(next) => {
                        if self.credits[number].waiting_writes.is_empty() && !self.other_waits(number) {
                            let Request { socket, place, .. } = self.pool[next];
                            let (unit, half) = seen(place);
                            self.account.leave(NO_CREDIT[half], socket.into(), unit, self.now, sink);
                        }
                        self.announce(next);
                    }
                    None => self.credits[number].writes += 1,
                },
            }
        }
        self.outcomes.clear();
    }

    /// Memory answers where it meets the mesh.
    pub(super) fn answer<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, place, writes, partial, prefetched, class, parent, .. } = self.pool[request];
        let (unit, half) = seen(place);
        let (at, now) = (u16::from(socket), self.now);
        let here = self.places.m2m[usize::from(unit)];
        let agent = self.places.cha[usize::from(cha)];
        // Each channel has a port to the mesh.
        let port = half as u8;
        self.foresee_end(&self.pool[request]);
        if writes {
            self.account.leave(if partial { NONPOSTED[half] } else { POSTED[half] }, at, unit, now, sink);
            self.write_is_done(request, here, port, sink);
            return;
        }
        self.account.leave(TRACKER[half], at, unit, now, sink);
        let came = if prefetched {
            self.account.leave(PREFETCHES[half], at, unit, now, sink);
            PREFETCH_DONE[half]
        } else {
            NOT_PREFETCHED[half]
        };
        if self.consult_directory(request, came, unit, sink) {
            // Another socket has the line: it is asked first.
            return;
        }
        if parent != NO_REQUEST {
            self.answer_remote(request, sink);
            return;
        }
        // Data goes straight to the requester, word of it to the agent; what the agent itself wants goes to it.
        let kind = class.kind;
        let to = if kind.is_llc_prefetch() {
            self.account.deed(deed!("m2m/DIRECT2CORE_NOT_TAKEN_NOTFORKED"), at, unit, now, sink);
            self.account.deed(deed!("cha/DIRECT_GO.HA_SUPPRESS_NO_D2C"), at, cha.into(), now, sink);
            agent
        } else {
            self.requester_tile(request)
        };
        let told = self.mesh_send(socket, Ring::AcknowledgeAgents, port, here, agent, sink);
        let arrives = self.mesh_send(socket, Ring::Block, port, here, to, sink);
        let bypass = if self.mesh.last_waited() {
            deed!("m2m/BYPASS_M2M_EGRESS.NOT_TAKEN")
        } else {
            deed!("m2m/BYPASS_M2M_EGRESS.TAKEN")
        };
        self.account.deed(bypass, at, unit, now, sink);
        self.wheel.schedule(Self::both(told, arrives), Event::Data.of(request));
    }

    /// Memory, from a tile and its port to the mesh, tells an agent that a line is written; the agent tells who waits for that.
    pub(super) fn write_is_done<S: SignalSink>(&mut self, request: RequestId, from: u8, port: u8, sink: &mut S) {
        let Request { socket, cha, class, parent, .. } = self.pool[request];
        let agent = self.places.cha[usize::from(cha)];
        let done = self.mesh_send(socket, Ring::AcknowledgeAgents, port, from, agent, sink);
        if parent != NO_REQUEST {
            self.wheel.schedule(done, Event::Release.of(request));
            self.answer_remote(request, sink);
        } else if class.kind.queue() == Queue::Core {
            let to = self.requester_tile(request);
            let told = self.mesh_send(socket, Ring::Acknowledge, 0, agent, to, sink);
            self.wheel.schedule(Self::both(told, done), Event::Data.of(request));
        } else {
            self.wheel.schedule(done, Event::Release.of(request));
        }
    }
}
