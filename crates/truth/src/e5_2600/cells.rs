//! The totals of a machine, and what records add to them.

use pericore_engine::{Clocks, NEVER, Tick};
use pericore_facts::e5_2600::{Rare, Record, RequestKind, Sending, UncoreUse};

use super::agent::AgentCells;
use super::device::{DeviceCells, EGRESS};
use super::home::HomeCells;
use super::links::LinkCells;
use super::power::PowerCells;
use super::ring::{MessageCells, RingCells};
use super::shape::Shape;
use super::slice::SliceCells;
use crate::ChannelCells;
use crate::census::NO_LIMIT;

/// Cycles that a message waits for its ring until its stop counts as starved: the model's assumption, written again.
const STARVED: u64 = 3;

/// All totals of a machine.
#[derive(Debug, Clone)]
pub struct Cells {
    pub slices: Vec<SliceCells>,
    pub homes: Vec<HomeCells>,
    pub channels: Vec<ChannelCells>,
    pub links: Vec<LinkCells>,
    /// By socket.
    pub power: Vec<PowerCells>,
    pub agents: Vec<AgentCells>,
    pub rings: Vec<RingCells>,
    pub messages: MessageCells,
    pub devices: Vec<DeviceCells>,
}

impl Cells {
    pub fn new(shape: &Shape) -> Self {
        let Shape { sockets, slices, channels, links, .. } = *shape;
        let each = slices / sockets;
        Self {
            slices: vec![SliceCells::new(sockets); slices],
            homes: vec![HomeCells::default(); sockets],
            channels: vec![ChannelCells::default(); channels],
            links: vec![LinkCells::new(); links],
            power: vec![PowerCells::default(); sockets],
            agents: vec![AgentCells::default(); sockets],
            devices: vec![DeviceCells::default(); sockets],
            rings: (0..sockets).map(|socket| RingCells::new(each * socket..each * (socket + 1))).collect(),
            messages: MessageCells::new(),
        }
    }

    /// Adds what has happened to a request before the cycle `now`.
    pub fn fold(&mut self, record: &Record, now: u64) {
        self.fold_stay(record, now);
        self.fold_more(record, now);
    }

    /// Adds its stay in its slice.
    // Its hot caller says that nothing is under way: inlined, most comparisons go.
    #[inline(always)]
    pub fn fold_stay(&mut self, record: &Record, now: u64) {
        self.slices[usize::from(record.slice)].fold(record, now);
    }

    /// Adds what happens to some requests only: see [`Record::has_more`].
    #[inline(always)]
    pub fn fold_more(&mut self, record: &Record, now: u64) {
        if let Some(state) = record.victim {
            self.slices[usize::from(record.slice)].fold_victim(record.nid, state);
        }
        if record.is_rare() {
            self.fold_rare(record, now);
        }
        if record.tracker_in != NEVER {
            self.homes[usize::from(record.nid)].fold(record, now);
        }
    }

    /// Adds what happens to few requests only.
    #[cold]
    fn fold_rare(&mut self, record: &Record, now: u64) {
        self.slices[usize::from(record.slice)].fold_rare(record, now);
        let home = &mut self.homes[usize::from(record.nid)];
        if record.has(Rare::SnoopWritten) {
            home.writes[usize::from(record.remote)] += 1;
            home.snoop_writes += 1;
            home.regions[usize::from(record.region)] += 1;
            home.written += u64::from(record.written != NEVER);
        }
        if let Some(bit) = record.directory {
            if record.kind == RequestKind::DirectoryWrite {
                home.directory_updates[usize::from(bit)] += 1;
                home.written += u64::from(record.written != NEVER);
            } else {
                home.directory_lookups[usize::from(bit)] += 1;
            }
        }
        home.direct_overridden += u64::from(record.has(Rare::DirectOverridden));
        home.snoops += u64::from(record.has(Rare::Snooped));
        home.completions_remote += u64::from(record.has(Rare::CompletedElsewhere));
    }

    /// The stop of a slice and its core sends a message.
    #[inline(always)]
    pub fn sends(&mut self, sending: Sending) {
        self.messages.add(sending);
        if sending.waited > 0 {
            let cells = &mut self.slices[usize::from(sending.stop)];
            cells.waited += 1;
            cells.starved[sending.message.ring() as usize] += u64::from(sending.waited >= STARVED);
        }
    }

    /// An entry comes to something, or leaves it.
    #[inline(always)]
    pub fn uses(&mut self, what: UncoreUse, comes: bool, at: Tick, clocks: &Clocks, shape: &Shape) {
        let cycle = clocks.uclk.cycles(at);
        let (census, room) = match what {
            UncoreUse::Credit(home, queue, channel) => {
                let credits = &mut self.homes[usize::from(home)].credits[queue as usize];
                (&mut credits[usize::from(channel)], shape.pending[queue as usize] - shape.special)
            }
            UncoreUse::SpecialCredit(home, queue, channel) => {
                let credits = &mut self.homes[usize::from(home)].special_credits[queue as usize];
                (&mut credits[usize::from(channel)], shape.special)
            }
            UncoreUse::HomeEgress(home, ring, bank) => {
                return self.homes[usize::from(home)].egress[ring as usize].change(bank, comes, cycle);
            }
            UncoreUse::IoEgress(socket, queue) => {
                (&mut self.devices[usize::from(socket)].egress[queue as usize], EGRESS)
            }
            UncoreUse::Slice(slice, state) => (&mut self.slices[usize::from(slice)].states[state as usize], NO_LIMIT),
            UncoreUse::Throttle(slice) => (&mut self.slices[usize::from(slice)].throttle, NO_LIMIT),
            UncoreUse::Conflict(home) => (&mut self.homes[usize::from(home)].conflicts, NO_LIMIT),
            UncoreUse::DirectDisabled(home) => (&mut self.homes[usize::from(home)].direct_disabled, NO_LIMIT),
            UncoreUse::NoLink(home, way) => (&mut self.homes[usize::from(home)].no_link[usize::from(way)], NO_LIMIT),
            UncoreUse::IoIngress(socket, class) => {
                (&mut self.devices[usize::from(socket)].ingress[class as usize], NO_LIMIT)
            }
            UncoreUse::IoCredit(socket, class) => {
                (&mut self.devices[usize::from(socket)].credits[class as usize], NO_LIMIT)
            }
            UncoreUse::LinkIoCredit(link, class) => (&mut self.links[usize::from(link)].io[class as usize], NO_LIMIT),
            UncoreUse::Link(link, state) => {
                let census = &mut self.links[usize::from(link)].power[state as usize];
                return census.change(comes, clocks.qclk.cycles(at), NO_LIMIT);
            }
            UncoreUse::Stall(link, stall) => {
                let census = &mut self.links[usize::from(link)].stalls[stall.index()];
                return census.change(comes, clocks.qclk.cycles(at), NO_LIMIT);
            }
            UncoreUse::Hold(socket, stage) => (&mut self.agents[usize::from(socket)].holds[stage as usize], NO_LIMIT),
        };
        census.change(comes, cycle, room);
    }

    /// Brings the running sums up to a tick.
    pub fn settle(&mut self, now: Tick, clocks: &Clocks, shape: &Shape) {
        let (uclk, dclk) = (clocks.uclk.cycles(now), clocks.dclk.cycles(now));
        self.links.iter_mut().for_each(|cells| cells.settle(uclk, clocks.qclk.cycles(now), shape.shared));
        self.homes.iter_mut().for_each(|cells| cells.settle(uclk, shape.pending, shape.special));
        self.channels.iter_mut().for_each(|cells| cells.settle(dclk, shape.pending));
        let slices = self.slices.iter_mut().flat_map(|cells| cells.states.iter_mut().chain([&mut cells.throttle]));
        let holds = self.agents.iter_mut().flat_map(|cells| &mut cells.holds);
        slices.chain(holds).for_each(|census| census.settle(uclk, NO_LIMIT));
        for cells in &mut self.devices {
            cells.egress.iter_mut().for_each(|census| census.settle(uclk, EGRESS));
            cells.ingress.iter_mut().chain(&mut cells.credits).for_each(|census| census.settle(uclk, NO_LIMIT));
        }
    }
}
