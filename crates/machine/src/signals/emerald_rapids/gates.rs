//! The signals of what goes from the mesh to a link between sockets, and of what the link sends.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{
    ADDRESS_CLASSES, BlockHalves, Bypass, COMPLETIONS, LINK_CLASSES, Limbo, LinkFact, LinkMessage, LinkPacket,
    NETWORKS, Paid, UnitInstance, flits as flits_of,
};
use pericore_hardware::signal::SignalSink;

use super::emitter::SignalMaker;
use super::lines::{EMPTY, IDLE};

impl<S: SignalSink> SignalMaker<'_, S> {
    /// Something happens between the mesh and the link.
    pub(super) fn at_gate(&mut self, link: UnitInstance, fact: LinkFact, at: Tick) {
        let lines = &self.signals.lines.links;
        match fact {
            LinkFact::PassesGate(packet, how) => {
                let passed = match how {
                    Bypass::Idle => 0,
                    Bypass::Arbitrating => 1,
                    Bypass::Slotted => 1 + usize::from(packet.slot),
                };
                self.happens(link, lines.passed_gate[passed], at);
                self.prefetches(link, packet, at);
                if packet.message == LinkMessage::ReadData {
                    self.happens(link, self.signals.lines.links.prefetches_past, at);
                }
            }
            LinkFact::WaitsAtGate(packet) => {
                let level = lines.ingress[usize::from(packet.network)][packet.class()];
                self.level::<true>(level, link, at);
                self.prefetches(link, packet, at);
            }
            LinkFact::LeavesGate(packet) => {
                let (slotted, block) = (lines.prefetches_slotted, lines.slots_block);
                if packet.message == LinkMessage::ReadData {
                    self.happens(link, slotted, at);
                }
                if packet.class() >= ADDRESS_CLASSES {
                    self.happens(link, block, at);
                }
                let lines = &self.signals.lines.links;
                self.level::<false>(lines.ingress[usize::from(packet.network)][packet.class()], link, at);
            }
            LinkFact::SlotsBlock(halves) => self.slots_halves(link, halves, at),
            LinkFact::Limbo(limbo) => {
                let (all, complete, begins) = (lines.limbo, lines.complete, lines.to_limbo);
                match limbo {
                    Limbo::Begins => {
                        self.happens(link, begins, at);
                        self.level::<true>(all, link, at);
                    }
                    Limbo::Completes => self.level::<true>(complete, link, at),
                    Limbo::Ends => {
                        self.level::<false>(complete, link, at);
                        self.level::<false>(all, link, at);
                    }
                }
            }
            LinkFact::Pays(packet) => self.pays(link, packet, at),
            LinkFact::Corrects(count) => {
                self.repeats(link, lines.corrected, count.into(), at);
                self.shares(link, count.into(), false, at);
            }
            LinkFact::Completion(more) => {
                let (outstanding, almost) = (lines.outstanding, lines.almost_outstanding);
                self.holds(outstanding, link, more, at);
                // With one more there is none left: fewer than two are.
                if self.signals.levels.live(outstanding, link) == u32::from(COMPLETIONS) - 2 + u32::from(more) {
                    self.holds(almost, link, more, at);
                }
            }
            LinkFact::Arbitrates(arbitration) => self.arbitrates(link, &arbitration, at),
            LinkFact::Misses(missed) => self.misses(link, &missed, at),
            LinkFact::RunsAhead(how) => self.happens(link, lines.runs_ahead[how as usize], at),
            LinkFact::MadeNoProgress { network, ring, cycles } => {
                let line = lines.no_progress[usize::from(ring) % 2][usize::from(network) % NETWORKS];
                self.repeats(link, line, cycles, at);
            }
            LinkFact::Resumes { cycles, lines: of_lines, valid, accumulating, joined } => {
                let ([headers, data], [headers_valid, data_valid]) = (lines.not_sent, lines.not_sent_valid);
                let counts = [
                    (headers, cycles),
                    (data, of_lines),
                    (headers_valid, valid[0]),
                    (data_valid, valid[1]),
                    (lines.none_joins, cycles.saturating_sub(joined)),
                    (lines.accumulates, accumulating),
                    (lines.wasted, accumulating.saturating_sub(joined)),
                ];
                for (line, count) in counts.into_iter().filter(|&(_, count)| count > 0) {
                    self.repeats(link, line, count, at);
                }
            }
            LinkFact::Ships { lines: has_line, beside_line, queued } => {
                let (with_line, waits, past) = (lines.with_line, lines.waits_for_line, lines.sent_past);
                let (in_path, queue) = (lines.in_path, lines.sent_queue);
                let [flits, _] = lines.beside_line;
                self.keeps_clock(link, 3, flits_of(has_line), at);
                if beside_line {
                    self.happens(link, flits, at);
                }
                if has_line {
                    self.happens(link, with_line, at);
                    if beside_line {
                        self.happens(link, waits, at);
                    }
                }
                if queued {
                    (0..flits_of(has_line)).for_each(|_| self.level::<true>(queue, link, at));
                } else {
                    self.repeats(link, past, flits_of(has_line), at);
                }
                (0..flits_of(has_line)).for_each(|_| self.level::<true>(in_path, link, at));
            }
            LinkFact::Leaves { messages, alone, queued, lines: has_line, beside_line } => {
                let (in_path, queue) = (lines.in_path, lines.sent_queue);
                let [_, in_flits] = lines.beside_line;
                self.happens(link, lines.headers[if alone { 0 } else { usize::from(messages) }], at);
                if beside_line {
                    self.repeats(link, in_flits, messages.into(), at);
                }
                (0..flits_of(has_line)).for_each(|_| self.level::<false>(in_path, link, at));
                if queued {
                    (0..flits_of(has_line)).for_each(|_| self.level::<false>(queue, link, at));
                }
            }
            LinkFact::Idles { empty, flits, received } => self.idles(link, (empty, flits), received, at),
            LinkFact::SlotRequest(what) => self.happens(link, lines.slot_requests[what as usize], at),
            _ => {}
        }
    }

    /// A read that comes off the mesh starts a prefetch in the other socket.
    fn prefetches(&mut self, link: UnitInstance, packet: LinkPacket, at: Tick) {
        if packet.message == LinkMessage::ReadData {
            self.happens(link, self.signals.lines.links.prefetches, at);
        }
    }

    /// A message of the block ring goes into a flit: what it needs of its halves.
    fn slots_halves(&mut self, link: UnitInstance, halves: BlockHalves, at: Tick) {
        let BlockHalves { line, both, here: [first, second], delayed } = halves;
        let of_line = self.signals.lines.links.line_halves;
        let holds = [!first, both && !second, !both, !both && delayed, !both && !second];
        for (number, _) in (0..).zip(holds).filter(|&(_, holds)| holds) {
            self.happens(link, self.signals.lines.links.halves[number], at);
        }
        if line && !second {
            self.happens(link, of_line, at);
        }
    }

    /// A message takes its credits.
    fn pays(&mut self, link: UnitInstance, packet: LinkPacket, at: Tick) {
        let lines = &self.signals.lines.links;
        let network = usize::from(packet.network);
        if let (Paid::Own, Some(own)) = (packet.paid, packet.own()) {
            let (used, gone) = (lines.own_used[network][own], lines.own_gone[network][own]);
            self.happens(link, used, at);
            self.level::<true>(gone, link, at);
        } else {
            let count = packet.allotted().into();
            self.repeats(link, lines.taken, count, at);
            self.shares(link, count, true, at);
        }
    }

    /// A flit goes without some that could pay, and that it had room for.
    fn misses(&mut self, link: UnitInstance, missed: &[[bool; LINK_CLASSES]; NETWORKS], at: Tick) {
        for (ring, classes) in [0..ADDRESS_CLASSES, ADDRESS_CLASSES..LINK_CLASSES].into_iter().enumerate() {
            if missed.iter().any(|of| of[classes.clone()].contains(&true)) {
                self.happens(link, self.signals.lines.links.cant_slot[ring], at);
            }
        }
        for (network, classes) in (0..).zip(missed) {
            for (class, _) in (0..).zip(classes).filter(|&(_, missed)| *missed) {
                self.happens(link, self.signals.lines.links.missed[network][class], at);
            }
        }
    }

    /// A direction has had nothing to send: empty slots end a flit, idle flits follow.
    fn idles(&mut self, link: UnitInstance, (empty, flits): (u8, u32), received: bool, at: Tick) {
        let side = usize::from(received);
        let (lines, any) = (&self.signals.lines.flits, self.signals.lines.links.any_flits[side]);
        let (slots, idle) = (lines.flits[side], lines.slot_tag(0, IDLE));
        let tags = [1, 2].map(|slot| lines.slot_tag(slot, EMPTY));
        // The last ones of the flit.
        for (tag, line) in tags.into_iter().zip(any.empty).skip(2 - usize::from(empty).min(2)) {
            self.pulse(slots, tag, link, 1, at);
            self.happens(link, line, at);
        }
        if flits > 0 {
            self.pulse(slots, idle, link, flits, at);
            self.repeats(link, any.idle, flits, at);
        }
    }
}
