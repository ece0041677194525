//! Links between sockets, and what the guide's events of their mesh side (M3UPI) and their link layer (UPI) mean
//! (sections 2.6 and 2.9).

mod arbitrations;
pub mod names;
mod sending;

use arbitrations::Arbitrations;
use pericore_facts::emerald_rapids::{
    ADDRESS_CLASSES, FLOW_ROOM, FlowRing, LINK_CLASSES, LinkClass, LinkFact, LinkMessage, LinkPacket, LinkWidth,
    NETWORKS, OWN_CLASSES, OWN_CREDITS, Paid, ReturnedCredits, SHARED_CREDITS, TAKER_CREDITS, TAKERS, flits,
};
use sending::GateCells;

use super::gauge::Gauge;

/// A level that nothing fills.
const ENDLESS: u64 = u64::MAX;

/// What went over a link in one direction: messages by kind, and by the slot of their header; slots with credits.
#[derive(Debug, Clone, Default)]
pub struct WayCells {
    pub messages: [u64; LinkMessage::COUNT],
    pub slots: [u64; 3],
    pub credits: u64,
    /// Empty slots, by their slot; idle flits.
    pub empty: [u64; 3],
    pub idle: u64,
}

/// Totals of one end of a link.
#[derive(Debug, Clone, Default)]
pub struct LinkCells {
    pub sent: WayCells,
    pub received: WayCells,
    // M3UPI, from the mesh to the link.
    pub(super) ingress: [[Gauge; LINK_CLASSES]; NETWORKS],
    pub(super) sending: GateCells,
    pub(super) prefetches: u64,
    /// Of reads that came off the mesh: those that went past the queues, and those slotted from there.
    pub(super) prefetches_past: u64,
    pub(super) prefetches_slotted: u64,
    /// Prefetches of memory for reads that came in.
    pub(super) spawned: u64,
    pub(super) arbitrations: Arbitrations,
    /// Cycles in which messages wait while the link layer has no room, by ring and network.
    pub(super) stuck: [[u64; NETWORKS]; 2],
    /// Credits of the peer in use.
    pub(super) own: [[Gauge; OWN_CLASSES]; NETWORKS],
    pub(super) shared: Gauge,
    /// Times in which fewer than 1, 4, 5 and 10 are left.
    pub(super) below: [Gauge; 4],
    pub(super) flits_with_line: u64,
    /// Messages of the data ring that were slotted.
    pub(super) slotted_blocks: u64,
    pub(super) flits_beside_line: [u64; 2],
    pub(super) messages_beside_line: u64,
    pub(super) in_path: Gauge,
    // M3UPI, from the link to the mesh.
    pub(super) seen: [[u64; 3]; 3],
    pub(super) passed_flow: [u64; 3],
    pub(super) flows: [[Gauge; LINK_CLASSES]; NETWORKS],
    /// Word of writebacks for their home; writebacks that it has not fetched.
    pub(super) words: [Gauge; NETWORKS],
    pub(super) words_stayed: [u64; NETWORKS],
    pub(super) unfetched: [Gauge; NETWORKS],
    pub(super) acknowledgements: Gauge,
    pub(super) stayed: [[u64; LINK_CLASSES]; NETWORKS],
    pub(super) direct: u64,
    pub(super) takers: [Gauge; TAKERS],
    // UPI.
    pub(super) sent_past: u64,
    pub(super) sent_queue: Gauge,
    pub(super) damaged: u64,
    /// Of the two networks, shared.
    pub(super) consumed: [u64; NETWORKS + 1],
    pub(super) requested: [u64; NETWORKS + 1],
    pub(super) blocked: u64,
    pub(super) returning: Gauge,
    pub(super) received_past: [u64; 3],
    pub(super) past_others: [[u64; 3]; 3],
    pub(super) not_past: [u64; 3],
    pub(super) queues: [Gauge; 3],
    /// By ring: none, too little.
    pub(super) no_room: [[u64; 2]; 3],
    /// By ring and places that are left.
    pub(super) last_places: [[u64; 9]; 3],
    /// At full width and at half: sender, receiver.
    pub(super) widths: [[Gauge; 2]; 2],
    pub(super) off: Gauge,
    /// The link is there, and the mesh's cycle that its sums are brought up to.
    is_built: bool,
    cycle: u64,
    pub(super) trains: Gauge,
    /// Goes over to fewer lanes, and back.
    pub(super) changes: [u64; 2],
    /// Flits that keep the clock going: that wait, that go past the queue, credits, and those that go out.
    pub(super) wakeful: [u64; 4],
    pub(super) shut_downs: [u64; 2],
}

/// Shared credits below which times are kept.
const BELOW: [u64; 4] = [1, 4, 5, 10];

fn switch(gauge: &mut Gauge, on: bool, cycle: u64) {
    if on { gauge.enter(cycle, ENDLESS) } else { gauge.leave(cycle, ENDLESS) }
}

impl LinkCells {
    /// Something happens at this end, in a cycle of the mesh and in one of the link.
    pub fn read(&mut self, fact: LinkFact, uclk: u64, upiclk: u64) {
        self.sending.read(&fact, uclk);
        match fact {
            LinkFact::PassesGate(packet, _) => {
                self.prefetches_past += u64::from(packet.message == LinkMessage::ReadData);
                self.prefetches += u64::from(packet.message == LinkMessage::ReadData);
            }
            LinkFact::WaitsAtGate(packet) => {
                self.ingress[usize::from(packet.network)][packet.class()].enter(uclk, ENDLESS);
                self.prefetches += u64::from(packet.message == LinkMessage::ReadData);
            }
            LinkFact::LeavesGate(packet) => {
                self.prefetches_slotted += u64::from(packet.message == LinkMessage::ReadData);
                self.slotted_blocks += u64::from(packet.class() >= ADDRESS_CLASSES);
                self.ingress[usize::from(packet.network)][packet.class()].leave(uclk, ENDLESS);
            }
            LinkFact::Pays(packet) => match (packet.paid, packet.own()) {
                (Paid::Own, Some(own)) => {
                    self.own[usize::from(packet.network)][own].enter(uclk, OWN_CREDITS.into());
                }
                _ => self.take_shared(if packet.class() < ADDRESS_CLASSES { 1 } else { 4 }, uclk),
            },
            LinkFact::Corrects(count) => self.return_shared(count.into(), uclk),
            LinkFact::Arbitrates(arbitration) => self.arbitrations.add(&arbitration),
            LinkFact::MadeNoProgress { network, ring, cycles } => {
                self.stuck[usize::from(ring) % 2][usize::from(network) % NETWORKS] += u64::from(cycles);
            }
            LinkFact::Ships { lines, beside_line, queued } => {
                // What is in the send queue keeps the clock going.
                self.keep_clock(3, flits(lines));
                self.flits_with_line += u64::from(lines);
                self.flits_beside_line[usize::from(lines)] += u64::from(beside_line);
                if queued {
                    (0..flits(lines)).for_each(|_| self.sent_queue.enter(upiclk, ENDLESS));
                } else {
                    self.sent_past += u64::from(flits(lines));
                }
                (0..flits(lines)).for_each(|_| self.in_path.enter(uclk, ENDLESS));
            }
            LinkFact::Leaves { messages, queued, lines, beside_line, .. } => {
                self.messages_beside_line += u64::from(beside_line) * u64::from(messages);
                (0..flits(lines)).for_each(|_| self.in_path.leave(uclk, ENDLESS));
                if queued {
                    (0..flits(lines)).for_each(|_| self.sent_queue.leave(upiclk, ENDLESS));
                }
            }
            LinkFact::Idles { empty, flits, received } => {
                let way = if received { &mut self.received } else { &mut self.sent };
                // A flit's last slots stay empty.
                way.empty.iter_mut().skip(3 - usize::from(empty)).for_each(|slot| *slot += 1);
                way.idle += u64::from(flits);
            }
            LinkFact::Crosses(packet, received) => {
                let way = if received { &mut self.received } else { &mut self.sent };
                way.messages[packet.message as usize] += 1;
                way.slots[usize::from(packet.slot)] += 1;
                if received {
                    let pool = if packet.paid == Paid::Shared { NETWORKS } else { packet.network.into() };
                    self.consumed[pool] += 1;
                }
            }
            LinkFact::Damaged => self.damaged += 1,
            LinkFact::GivesCredits(credits) => self.give(&credits, upiclk),
            LinkFact::GetsCredits(credits) => self.get(&credits, uclk),
            LinkFact::PassesReceiver(packet, waiting) => {
                self.comes_in(packet, true);
                for (past, flits) in self.received_past.iter_mut().zip(packet.flits()) {
                    *past += u64::from(flits);
                }
                for (past, waits) in self.past_others[usize::from(packet.slot)].iter_mut().zip(waiting) {
                    *past += u64::from(waits);
                }
            }
            LinkFact::WaitsAtReceiver(packet, waiting, lane) => {
                self.comes_in(packet, false);
                self.not_past[lane as usize] += u64::from(!waiting[usize::from(packet.slot)]);
                for (queue, flits) in self.queues.iter_mut().zip(packet.flits()) {
                    (0..flits).for_each(|_| queue.enter(upiclk, ENDLESS));
                }
            }
            LinkFact::LeavesReceiver(packet) => {
                for (queue, flits) in self.queues.iter_mut().zip(packet.flits()) {
                    (0..flits).for_each(|_| queue.leave(upiclk, ENDLESS));
                }
            }
            LinkFact::FindsNoRoom(lane, little) => self.no_room[lane as usize][usize::from(little)] += 1,
            LinkFact::PassesFlow(packet) => {
                self.free(packet, upiclk);
                self.passed_flow[usize::from(packet.slot)] += 1;
            }
            LinkFact::EntersFlow(packet) => {
                self.free(packet, upiclk);
                self.flow(packet).enter(uclk, ENDLESS);
                if packet.message.class() == LinkClass::Writeback {
                    self.unfetched[usize::from(packet.network)].enter(uclk, ENDLESS);
                } else {
                    self.takes_place(packet.lane());
                }
            }
            LinkFact::WordEnters(packet) => {
                self.words[usize::from(packet.network)].enter(uclk, ENDLESS);
                self.takes_place(FlowRing::Address);
            }
            LinkFact::WordStays(packet) => self.words_stayed[usize::from(packet.network)] += 1,
            LinkFact::WordLeaves(packet) => self.words[usize::from(packet.network)].leave(uclk, ENDLESS),
            LinkFact::Fetched(packet) => self.unfetched[usize::from(packet.network)].leave(uclk, ENDLESS),
            // No event counts completions that stay.
            LinkFact::StaysInFlow(packet) if packet.lane() == FlowRing::Acknowledge => {}
            LinkFact::StaysInFlow(packet) => self.stayed[usize::from(packet.network)][packet.class()] += 1,
            LinkFact::LeavesFlow(packet) => self.flow(packet).leave(uclk, ENDLESS),
            LinkFact::GoesOn(packet) => {
                let direct = packet.message.class() == LinkClass::Data && packet.taker.is_none();
                self.direct += u64::from(direct);
                if let Some(kind) = packet.taker_credit() {
                    self.takers[kind].enter(uclk, TAKER_CREDITS[kind].into());
                }
            }
            LinkFact::TakerReady(kind) => {
                let kind = usize::from(kind);
                self.takers[kind].leave(uclk, TAKER_CREDITS[kind].into());
            }
            LinkFact::Width(from, to) => {
                self.is_built = true;
                match (from, to) {
                    (Some(LinkWidth::Full), LinkWidth::Half) => self.changes[0] += 1,
                    (Some(LinkWidth::Half), LinkWidth::Full) => self.changes[1] += 1,
                    _ => {}
                }
                self.set_width(from, to, 0, upiclk);
            }
            LinkFact::ShutsDown(granted) => self.shut_downs[usize::from(granted)] += 1,
            LinkFact::Trains(on) => switch(&mut self.trains, on, upiclk),
            _ => {}
        }
    }

    /// A direction changes its width, of which this end is the sender (0) or the receiver (1).
    pub fn set_width(&mut self, from: Option<LinkWidth>, to: LinkWidth, end: usize, upiclk: u64) {
        for (width, on) in from.map(|from| (from, false)).into_iter().chain([(to, true)]) {
            match width {
                LinkWidth::Full => switch(&mut self.widths[0][end], on, upiclk),
                LinkWidth::Half => switch(&mut self.widths[1][end], on, upiclk),
                // The sender's end of either direction says that the link is off.
                LinkWidth::Off if end == 0 => switch(&mut self.off, on, upiclk),
                LinkWidth::Off => {}
            }
        }
    }

    fn take_shared(&mut self, count: u64, cycle: u64) {
        let before = u64::from(SHARED_CREDITS) - self.shared.live;
        (0..count).for_each(|_| self.shared.enter(cycle, ENDLESS));
        for (time, least) in self.below.iter_mut().zip(BELOW) {
            if before >= least && before.saturating_sub(count) < least {
                time.enter(cycle, ENDLESS);
            }
        }
    }

    /// Something for which the clock goes on while the own direction has few lanes, in so many flits.
    fn keep_clock(&mut self, why: usize, flits: u32) {
        self.wakeful[why] += self.widths[1][0].live.min(1) * u64::from(flits);
    }

    fn get(&mut self, credits: &ReturnedCredits, cycle: u64) {
        self.received.credits += 1;
        self.return_shared(credits.shared.into(), cycle);
        for (gauge, &count) in self.own.as_flattened_mut().iter_mut().zip(credits.own.as_flattened()) {
            (0..count).for_each(|_| gauge.leave(cycle, OWN_CREDITS.into()));
        }
    }

    fn return_shared(&mut self, count: u64, cycle: u64) {
        let before = u64::from(SHARED_CREDITS).saturating_sub(self.shared.live);
        (0..count).for_each(|_| self.shared.leave(cycle, ENDLESS));
        for (time, least) in self.below.iter_mut().zip(BELOW) {
            if before < least && before + count >= least {
                time.leave(cycle, ENDLESS);
            }
        }
    }

    /// A message takes a place of a ring's flow queues.
    fn takes_place(&mut self, lane: FlowRing) {
        let left = u64::from(FLOW_ROOM[lane as usize]).saturating_sub(self.in_flow(lane));
        self.last_places[lane as usize][left as usize] += 1;
    }

    /// Credits of the receive queue go out, those of the networks first: shared ones that wait then are blocked.
    fn give(&mut self, credits: &ReturnedCredits, cycle: u64) {
        self.keep_clock(2, 1);
        self.sent.credits += 1;
        if credits.are_own() {
            self.blocked += u64::from(self.returning.live > 0);
            for (requested, own) in self.requested.iter_mut().zip(credits.own) {
                *requested += u64::from(own.iter().any(|&count| count > 0));
            }
        } else {
            self.requested[NETWORKS] += 1;
            (0..credits.shared).for_each(|_| self.returning.leave(cycle, ENDLESS));
        }
    }

    fn comes_in(&mut self, packet: LinkPacket, past: bool) {
        self.seen[packet.lane() as usize][usize::from(packet.slot)] += 1;
        self.keep_clock(usize::from(past), flits(packet.message.has_line()));
    }

    /// A message leaves the buffers of the link layer: their credits are free.
    fn free(&mut self, packet: LinkPacket, cycle: u64) {
        // A prefetch for a read goes ahead of it to memory.
        self.spawned += u64::from(packet.message == LinkMessage::ReadData);
        if packet.paid == Paid::Shared {
            (0..packet.cost()).for_each(|_| self.returning.enter(cycle, ENDLESS));
        }
    }

    fn flow(&mut self, packet: LinkPacket) -> &mut Gauge {
        match packet.lane() {
            FlowRing::Acknowledge => &mut self.acknowledgements,
            _ => &mut self.flows[usize::from(packet.network)][packet.class()],
        }
    }

    fn in_flow(&self, lane: FlowRing) -> u64 {
        let of = |classes: std::ops::Range<usize>| {
            self.flows
                .iter()
                .map(|flows| flows[classes.clone()].iter().map(|gauge| gauge.live).sum::<u64>())
                .sum::<u64>()
        };
        match lane {
            // Word of writebacks lies among addresses; they themselves have places of their own.
            FlowRing::Address => of(0..ADDRESS_CLASSES) + self.words.iter().map(|words| words.live).sum::<u64>(),
            FlowRing::Block => {
                let writebacks = LinkClass::Writeback as usize;
                of(ADDRESS_CLASSES..writebacks) + of(writebacks + 1..LINK_CLASSES)
            }
            FlowRing::Acknowledge => self.acknowledgements.live,
        }
    }

    /// Brings its sums up to cycles of the mesh and of the link.
    pub fn bring_up(&mut self, uclk: u64, upiclk: u64) {
        let all = |gauges: &mut [Gauge], room: u64, cycle: u64| {
            gauges.iter_mut().for_each(|gauge| *gauge = gauge.at(cycle, room));
        };
        self.cycle = uclk;
        self.sending.bring_up(uclk);
        all(&mut self.words, ENDLESS, uclk);
        all(&mut self.unfetched, ENDLESS, uclk);
        all(self.ingress.as_flattened_mut(), ENDLESS, uclk);
        all(self.own.as_flattened_mut(), OWN_CREDITS.into(), uclk);
        all(self.flows.as_flattened_mut(), ENDLESS, uclk);
        all(&mut self.below, ENDLESS, uclk);
        for gauge in [&mut self.shared, &mut self.in_path, &mut self.acknowledgements] {
            *gauge = gauge.at(uclk, ENDLESS);
        }
        for (gauge, credits) in self.takers.iter_mut().zip(TAKER_CREDITS) {
            *gauge = gauge.at(uclk, credits.into());
        }
        all(self.widths.as_flattened_mut(), ENDLESS, upiclk);
        all(&mut self.queues, ENDLESS, upiclk);
        for gauge in [&mut self.sent_queue, &mut self.returning, &mut self.off, &mut self.trains] {
            *gauge = gauge.at(upiclk, ENDLESS);
        }
    }

    /// Cycles since it began to work; none if the machine does not have it.
    pub(super) fn age(&self) -> u64 {
        if self.is_built { self.cycle } else { 0 }
    }

    /// True if nothing is under way: of queues and credits. The link's width holds on.
    pub fn is_at_rest(&self) -> bool {
        let all = self.ingress.as_flattened().iter().chain(self.own.as_flattened()).chain(self.flows.as_flattened());
        let others = [&self.shared, &self.in_path, &self.acknowledgements, &self.sent_queue, &self.returning];
        let all = all.chain(&self.words).chain(&self.unfetched);
        self.sending.is_at_rest()
            && all.chain(others).chain(&self.takers).chain(&self.queues).chain(&self.below).all(|gauge| gauge.live == 0)
    }
}
