//! The signals of links between sockets.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{
    ADDRESS_CLASSES, FLOW_ROOM, FlowRing, LinkClass, LinkFact, LinkMessage, LinkPacket, LinkWidth, NARROWING, NETWORKS,
    Paid, ReturnedCredits, SHARED_CREDITS, UnitInstance, WIDENING, flits as flits_of,
};
use pericore_hardware::signal::SignalSink;

use super::emitter::SignalMaker;
use super::lines::levels::LevelNumber;
use super::lines::{CREDIT, DATA, HEADER};

/// Shared credits below which a level holds, by the order of the levels.
const BELOW: [u32; 4] = [1, 4, 5, 10];
impl<S: SignalSink> SignalMaker<'_, S> {
    /// Something happens at one end of a link.
    #[inline(never)]
    pub(super) fn at_link(&mut self, link: UnitInstance, fact: LinkFact, at: Tick) {
        let lines = &self.signals.lines.links;
        match fact {
            LinkFact::Crosses(packet, received) => self.crosses(link, packet, received, at),
            LinkFact::Damaged => self.all(link, |lines| &lines.links.damaged, at),
            LinkFact::GivesCredits(credits) => self.gives_credits(link, &credits, at),
            LinkFact::GetsCredits(credits) => self.gets_credits(link, &credits, at),
            LinkFact::PassesReceiver(packet, waiting) => {
                let past = lines.received_past;
                self.comes_in(link, packet, true, at);
                // A slot without a flit has nothing to say, whose loss would not show.
                for (line, flits) in past.into_iter().zip(packet.flits()).filter(|&(_, flits)| flits > 0) {
                    self.repeats(link, line, flits, at);
                }
                for (other, _) in (0..3).zip(waiting).filter(|&(_, waits)| waits) {
                    let past = self.signals.lines.links.past_others[usize::from(packet.slot)][other];
                    past.into_iter().for_each(|line| self.happens(link, line, at));
                }
            }
            LinkFact::WaitsAtReceiver(packet, waiting, lane) => {
                let not_past = lines.not_past[lane as usize];
                self.comes_in(link, packet, false, at);
                if !waiting[usize::from(packet.slot)] {
                    self.happens(link, not_past, at);
                }
                self.received(link, packet, true, at);
            }
            LinkFact::LeavesReceiver(packet) => {
                self.received(link, packet, false, at);
            }
            LinkFact::FindsNoRoom(lane, little) => {
                let line = lines.no_room[lane as usize][usize::from(little)];
                line.into_iter().for_each(|line| self.happens(link, line, at));
            }
            LinkFact::PassesFlow(packet) => {
                let line = lines.passed_flow[usize::from(packet.slot)];
                self.frees(link, packet, at);
                self.happens(link, line, at);
            }
            LinkFact::EntersFlow(packet) => {
                self.frees(link, packet, at);
                self.flow(link, packet, true, at);
                let entered = &self.signals.lines.links.blocks_entered[usize::from(packet.network)];
                let entered = (packet.lane() == FlowRing::Block).then(|| entered[packet.class() - ADDRESS_CLASSES]);
                entered.into_iter().for_each(|line| self.happens(link, line, at));
                if packet.message.class() == LinkClass::Writeback {
                    self.holds(self.signals.lines.links.unfetched[usize::from(packet.network)], link, true, at);
                } else {
                    self.takes_place(link, packet.lane(), at);
                }
            }
            LinkFact::WordEnters(packet) => {
                self.holds(lines.words[usize::from(packet.network)], link, true, at);
                self.takes_place(link, FlowRing::Address, at);
            }
            LinkFact::WordStays(packet) => {
                self.happens(link, lines.addresses_stay[usize::from(packet.network)][ADDRESS_CLASSES], at);
            }
            LinkFact::WordLeaves(packet) => self.holds(lines.words[usize::from(packet.network)], link, false, at),
            LinkFact::Fetched(packet) => self.holds(lines.unfetched[usize::from(packet.network)], link, false, at),
            LinkFact::StaysInFlow(packet) => {
                let (network, class) = (usize::from(packet.network), packet.class());
                match packet.lane() {
                    FlowRing::Address => self.happens(link, lines.addresses_stay[network][class], at),
                    FlowRing::Block => self.happens(link, lines.blocks_stay[network][class - ADDRESS_CLASSES], at),
                    FlowRing::Acknowledge => {}
                }
            }
            LinkFact::LeavesFlow(packet) => self.flow(link, packet, false, at),
            LinkFact::GoesOn(packet) => {
                let busy = packet.taker_credit().map(|kind| lines.takers_busy[kind]);
                if packet.message.class() == LinkClass::Data && packet.taker.is_none() {
                    self.all(link, |lines| &lines.links.direct, at);
                }
                busy.into_iter().for_each(|level| self.level::<true>(level, link, at));
            }
            LinkFact::TakerReady(kind) => self.level::<false>(lines.takers_busy[usize::from(kind)], link, at),
            LinkFact::Width(from, to) => self.width(link, from, to, at),
            LinkFact::ShutsDown(granted) => {
                let line = lines.shut_down[usize::from(granted)];
                self.happens(link, line, at);
                self.happens((1 - link.0, link.1), line, at);
            }
            LinkFact::Trains(on) => self.holds(lines.trains, link, on, at),
            _ => self.at_gate(link, fact, at),
        }
    }
}

impl<S: SignalSink> SignalMaker<'_, S> {
    /// The flits of a message come into the receive queues, or leave them.
    fn received(&mut self, link: UnitInstance, packet: LinkPacket, enters: bool, at: Tick) {
        for (level, flits) in self.signals.lines.links.received.into_iter().zip(packet.flits()) {
            (0..flits).for_each(|_| self.holds(level, link, enters, at));
        }
    }

    /// So many of the shared credits are taken, or come back.
    pub(super) fn shares(&mut self, link: UnitInstance, count: u32, taken: bool, at: Tick) {
        let (used, below) = (self.signals.lines.links.shared_used, self.signals.lines.links.shared_below);
        let before = self.signals.levels.live(used, link);
        (0..count).for_each(|_| self.holds(used, link, taken, at));
        let after = self.signals.levels.live(used, link);
        for (level, left) in below.into_iter().zip(BELOW) {
            let is_below = |used: u32| used + left > u32::from(SHARED_CREDITS);
            if is_below(before) != is_below(after) {
                self.holds(level, link, taken, at);
            }
        }
    }

    /// A message's header goes over a link in a slot of a flit, and with data nine slots of a line.
    fn crosses(&mut self, link: UnitInstance, packet: LinkPacket, received: bool, at: Tick) {
        let lines = &self.signals.lines;
        let side = usize::from(received);
        let (flits, headers) = (lines.flits.flits[side], lines.flits.headers[side]);
        let tag = lines.flits.messages[packet.message as usize];
        let header = lines.flits.slot_tag(packet.slot.into(), HEADER);
        let data = [0, 1, 2].map(|slot| lines.flits.slot_tag(slot, DATA));
        let any = lines.links.any_flits[side];
        let consumed = match packet.paid {
            Paid::Own => lines.links.consumed[usize::from(packet.network)],
            Paid::Shared => lines.links.consumed[NETWORKS],
        };
        self.pulse(flits, header, link, 1, at);
        self.happens(link, any.headers[usize::from(packet.slot)], at);
        if packet.message.has_line() {
            data.into_iter().for_each(|tag| self.pulse(flits, tag, link, 3, at));
            any.lines.into_iter().for_each(|line| self.repeats(link, line, 3, at));
        }
        self.pulse(headers, tag, link, 1, at);
        if received {
            self.happens(link, consumed, at);
        }
    }

    /// Credits for the peer go out in slot 2: those of the networks first.
    fn gives_credits(&mut self, link: UnitInstance, credits: &ReturnedCredits, at: Tick) {
        let lines = &self.signals.lines.links;
        let (requested, returning, blocked) = (lines.requested, lines.returning, lines.blocked);
        if credits.are_own() {
            if self.signals.levels.live(returning, link) > 0 {
                self.happens(link, blocked, at);
            }
            for (line, own) in requested.into_iter().zip(credits.own) {
                if own.iter().any(|&count| count > 0) {
                    self.happens(link, line, at);
                }
            }
        } else {
            (0..credits.shared).for_each(|_| self.level::<false>(returning, link, at));
            self.happens(link, requested[NETWORKS], at);
        }
        self.credit_slot(link, false, at);
        self.keeps_clock(link, 2, 1, at);
    }

    /// Credits come back.
    fn gets_credits(&mut self, link: UnitInstance, credits: &ReturnedCredits, at: Tick) {
        self.credit_slot(link, true, at);
        self.shares(link, credits.shared.into(), false, at);
        for (levels, counts) in self.signals.lines.links.own_gone.into_iter().zip(credits.own) {
            for (level, count) in levels.into_iter().zip(counts) {
                (0..count).for_each(|_| self.level::<false>(level, link, at));
            }
        }
    }

    /// A slot with credits goes out, or comes in.
    fn credit_slot(&mut self, link: UnitInstance, received: bool, at: Tick) {
        let (lines, side) = (&self.signals.lines, usize::from(received));
        let (flits, tag) = (lines.flits.flits[side], lines.flits.slot_tag(2, CREDIT));
        let any = lines.links.any_flits[side].credits;
        self.pulse(flits, tag, link, 1, at);
        self.happens(link, any, at);
    }

    /// A message comes in to the link layer, past its receive queue or not.
    fn comes_in(&mut self, link: UnitInstance, packet: LinkPacket, past: bool, at: Tick) {
        let lines = &self.signals.lines.links;
        let slot = lines.in_slots[packet.lane() as usize][usize::from(packet.slot)];
        slot.into_iter().for_each(|line| self.happens(link, line, at));
        self.keeps_clock(link, usize::from(past), flits_of(packet.message.has_line()), at);
    }

    /// The clock goes on for so many flits while the own direction has few lanes.
    pub(super) fn keeps_clock(&mut self, link: UnitInstance, why: usize, flits: u32, at: Tick) {
        let lines = &self.signals.lines.links;
        let (half, wakeful) = (lines.half[0], lines.wakeful[why]);
        if self.signals.levels.live(half, link) > 0 {
            self.repeats(link, wakeful, flits, at);
        }
    }

    /// A message leaves the link layer: its shared credits are gathered.
    fn frees(&mut self, link: UnitInstance, packet: LinkPacket, at: Tick) {
        // A prefetch for the read goes ahead of it to memory.
        if packet.message == LinkMessage::ReadData {
            self.happens(link, self.signals.lines.links.spawned, at);
        }
        if packet.paid == Paid::Shared {
            let returning = self.signals.lines.links.returning;
            (0..packet.cost()).for_each(|_| self.level::<true>(returning, link, at));
        }
    }

    /// The level of the flow queue that a message waits in.
    fn flow_level(&self, packet: LinkPacket) -> LevelNumber {
        let (lines, network) = (&self.signals.lines.links, usize::from(packet.network));
        match packet.lane() {
            FlowRing::Address => lines.addresses[network][packet.class()],
            FlowRing::Block => lines.blocks[network][packet.class() - ADDRESS_CLASSES],
            FlowRing::Acknowledge => lines.acknowledgements,
        }
    }

    /// A message enters its flow queue, or leaves it.
    fn flow(&mut self, link: UnitInstance, packet: LinkPacket, enters: bool, at: Tick) {
        self.holds(self.flow_level(packet), link, enters, at);
        if packet.message.class() == LinkClass::Writeback {
            let lines = &self.signals.lines.links;
            let [level, none] = [lines.writebacks, lines.no_writebacks].map(|of| of[usize::from(packet.network)]);
            self.holds(level, link, enters, at);
            if self.signals.levels.live(level, link) == u32::from(enters) {
                self.holds(none, link, !enters, at);
            }
        }
    }

    /// A message takes a place of a ring's flow queues, and leaves few.
    fn takes_place(&mut self, link: UnitInstance, lane: FlowRing, at: Tick) {
        let left = u32::from(FLOW_ROOM[lane as usize]).saturating_sub(self.in_flow(link, lane));
        let line = self.signals.lines.links.last_places[lane as usize].get(left as usize).copied().flatten();
        line.into_iter().for_each(|line| self.happens(link, line, at));
    }

    /// Messages in the flow queues of a ring. Writebacks have places of their own, but word of them has not.
    fn in_flow(&self, link: UnitInstance, lane: FlowRing) -> u32 {
        let lines = &self.signals.lines.links;
        let live = |levels: &[LevelNumber]| levels.iter().map(|&level| self.signals.levels.live(level, link)).sum();
        match lane {
            FlowRing::Address => live(lines.addresses.as_flattened()) + live(&lines.words),
            FlowRing::Block => live(lines.blocks.as_flattened()) - live(&lines.writebacks),
            FlowRing::Acknowledge => live(&[lines.acknowledgements]),
        }
    }

    /// The direction from a link's end changes its width. What its sender does, its peer's receiver sees.
    fn width(&mut self, (sender, link): UnitInstance, from: Option<LinkWidth>, to: LinkWidth, at: Tick) {
        let lines = &self.signals.lines.links;
        let (full, half, off) = (lines.full, lines.half, lines.off);
        let (widens, narrows) = (lines.widens, lines.narrows);
        match (from, to) {
            (Some(LinkWidth::Half), LinkWidth::Full) => self.repeats((sender, link), widens, WIDENING, at),
            (Some(LinkWidth::Full), LinkWidth::Half) => self.repeats((sender, link), narrows, NARROWING, at),
            (None, _) => {
                let none = self.signals.lines.links.no_writebacks;
                none.into_iter().for_each(|level| self.level::<true>(level, (sender, link), at));
            }
            _ => {}
        }
        for (width, on) in from.map(|from| (from, false)).into_iter().chain([(to, true)]) {
            let [own, peer] = match width {
                LinkWidth::Full => full.map(Some),
                LinkWidth::Half => half.map(Some),
                LinkWidth::Off => [Some(off), None],
            };
            own.into_iter().for_each(|level| self.holds(level, (sender, link), on, at));
            peer.into_iter().for_each(|level| self.holds(level, (1 - sender, link), on, at));
        }
    }
}
