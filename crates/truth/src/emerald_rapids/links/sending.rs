//! How header flits come about, and what they wait for (section 2.9: `RxC_FLIT_GEN_HDR1` to `RxC_CRD_OCC`).

use pericore_facts::emerald_rapids::{
    ADDRESS_CLASSES, BlockHalves, Bypass, COMPLETIONS, LINK_CLASSES, Limbo, LinkFact, LinkPacket, NETWORKS, Paid,
    RunAhead, SlotRequest,
};

use crate::emerald_rapids::gauge::Gauge;

/// A level that nothing fills.
const ENDLESS: u64 = u64::MAX;

/// Totals of flits that are put together for a link.
#[derive(Debug, Clone, Default)]
pub struct GateCells {
    /// Messages past the queues: into an idle link, beside an arbitration, by slot of a flit that others share.
    pub passed: [u64; 2],
    pub joined: [u64; 3],
    /// Flits by their messages; the first of one on a credit of its own.
    pub headers: [u64; 4],
    pub accumulated: u64,
    pub wasted: u64,
    pub begun_ahead: u64,
    pub first_ahead: u64,
    pub second_ahead: u64,
    pub sent_ahead: u64,
    pub too_late: u64,
    /// Cycles without room, of headers and lines; those in which the link could have taken them; of headers without
    /// another message.
    pub not_sent: [u64; 2],
    pub not_sent_valid: [u64; 2],
    pub without_more: u64,
    /// Classes that a flit had room for, by network; addresses, and data, as often as any was.
    pub missed: [[u64; LINK_CLASSES]; NETWORKS],
    pub cant_slot: [u64; 2],
    /// Messages of the block ring that came without a half that their header needs.
    pub no_first: u64,
    pub no_second: u64,
    /// Those whose header does not need the second; that wait all the same; that could not have had it.
    pub one_half: [u64; 3],
    /// Lines without their second half.
    pub half_lines: u64,
    pub limbo: Gauge,
    pub complete: Gauge,
    pub taken: u64,
    pub corrected: u64,
    /// Completions for memory; times in which fewer than two more could be outstanding.
    pub outstanding: Gauge,
    pub nearly: Gauge,
    pub requested: u64,
    pub withdrawn: u64,
    pub natural: u64,
    pub forced: u64,
}

impl GateCells {
    /// Something happens, in a cycle of the mesh.
    pub fn read(&mut self, fact: &LinkFact, cycle: u64) {
        match fact {
            LinkFact::PassesGate(packet, Bypass::Slotted) => self.joined[usize::from(packet.slot)] += 1,
            LinkFact::PassesGate(_, how) => self.passed[usize::from(*how == Bypass::Arbitrating)] += 1,
            LinkFact::Leaves { messages, alone, .. } => {
                // A message on a credit of its own has its flit to itself.
                self.headers[if *alone { 0 } else { usize::from(*messages) }] += 1;
            }
            LinkFact::Resumes { cycles, lines, valid, accumulating, joined } => {
                self.accumulated += u64::from(*accumulating);
                self.wasted += u64::from(accumulating.saturating_sub(*joined));
                self.without_more += u64::from(cycles.saturating_sub(*joined));
                for (all, more) in self.not_sent.iter_mut().zip([cycles, lines]) {
                    *all += u64::from(*more);
                }
                for (all, more) in self.not_sent_valid.iter_mut().zip(valid) {
                    *all += u64::from(*more);
                }
            }
            LinkFact::RunsAhead(how) => {
                *match how {
                    RunAhead::Begins => &mut self.begun_ahead,
                    RunAhead::First => &mut self.first_ahead,
                    RunAhead::Second => &mut self.second_ahead,
                    RunAhead::Pays => &mut self.sent_ahead,
                    RunAhead::TooLate => &mut self.too_late,
                } += 1;
            }
            LinkFact::Misses(missed) => {
                for (all, more) in self.missed.as_flattened_mut().iter_mut().zip(missed.as_flattened()) {
                    *all += u64::from(*more);
                }
                let any = |classes: std::ops::Range<usize>| missed.iter().any(|of| of[classes.clone()].contains(&true));
                self.cant_slot[0] += u64::from(any(0..ADDRESS_CLASSES));
                self.cant_slot[1] += u64::from(any(ADDRESS_CLASSES..LINK_CLASSES));
            }
            LinkFact::SlotsBlock(halves) => self.slots(*halves),
            LinkFact::Limbo(Limbo::Begins) => self.limbo.enter(cycle, ENDLESS),
            LinkFact::Limbo(Limbo::Completes) => self.complete.enter(cycle, ENDLESS),
            LinkFact::Limbo(Limbo::Ends) => {
                self.limbo.leave(cycle, ENDLESS);
                self.complete.leave(cycle, ENDLESS);
            }
            LinkFact::Pays(packet) => self.taken += shared(packet),
            LinkFact::Corrects(count) => self.corrected += u64::from(*count),
            LinkFact::Completion(true) => {
                self.outstanding.enter(cycle, COMPLETIONS.into());
                if self.outstanding.live + 1 == u64::from(COMPLETIONS) {
                    self.nearly.enter(cycle, ENDLESS);
                }
            }
            LinkFact::Completion(false) => {
                if self.outstanding.live + 1 == u64::from(COMPLETIONS) {
                    self.nearly.leave(cycle, ENDLESS);
                }
                self.outstanding.leave(cycle, COMPLETIONS.into());
            }
            LinkFact::SlotRequest(what) => {
                *match what {
                    SlotRequest::Comes => &mut self.requested,
                    SlotRequest::Withdrawn => &mut self.withdrawn,
                    SlotRequest::Natural => &mut self.natural,
                    SlotRequest::Forced => &mut self.forced,
                } += 1;
            }
            _ => {}
        }
    }

    fn slots(&mut self, BlockHalves { line, both, here: [first, second], delayed }: BlockHalves) {
        self.no_first += u64::from(!first);
        self.half_lines += u64::from(line && !second);
        if both {
            self.no_second += u64::from(!second);
        } else {
            for (all, counts) in self.one_half.iter_mut().zip([true, delayed, !second]) {
                *all += u64::from(counts);
            }
        }
    }

    /// Brings its sums up to a cycle.
    pub fn bring_up(&mut self, cycle: u64) {
        for gauge in [&mut self.limbo, &mut self.complete, &mut self.nearly] {
            *gauge = gauge.at(cycle, ENDLESS);
        }
        self.outstanding = self.outstanding.at(cycle, COMPLETIONS.into());
    }

    /// True if nothing is under way.
    pub fn is_at_rest(&self) -> bool {
        [&self.limbo, &self.complete, &self.nearly, &self.outstanding].iter().all(|gauge| gauge.live == 0)
    }

    /// The count of an event that is about flits, or what they take.
    pub fn value(&self, event: &str, subevent: &str) -> Option<u64> {
        let [headers, lines] = self.not_sent;
        let [headers_valid, lines_valid] = self.not_sent_valid;
        Some(match (event, subevent) {
            ("RxC_BYPASSED", "AD_S0_IDLE") => self.passed[0],
            ("RxC_BYPASSED", "AD_S0_BL_ARB") => self.passed[1],
            ("RxC_BYPASSED", "AD_S1_BL_SLOT") => self.joined[1],
            ("RxC_BYPASSED", "AD_S2_BL_SLOT") => self.joined[2],
            ("RxC_HELD", "CANT_SLOT_AD") => self.cant_slot[0],
            ("RxC_HELD", "CANT_SLOT_BL") => self.cant_slot[1],
            // Flits gather messages while the link layer has no room for them, and then alone.
            ("RxC_FLIT_GEN_HDR1", "ACCUM" | "ACCUM_READ") => self.accumulated,
            ("RxC_FLIT_GEN_HDR1", "ACCUM_WASTED") => self.wasted,
            ("RxC_FLIT_GEN_HDR1", "AHEAD_BLOCKED") => self.begun_ahead,
            ("RxC_FLIT_GEN_HDR1", "AHEAD_MSG1_DURING") => self.first_ahead,
            ("RxC_FLIT_GEN_HDR1", "AHEAD_MSG2_AFTER") => self.second_ahead,
            ("RxC_FLIT_GEN_HDR1", "AHEAD_MSG2_SENT") => self.sent_ahead,
            ("RxC_FLIT_GEN_HDR1", "AHEAD_MSG1_AFTER") => self.too_late,
            ("RxC_HDR_FLITS_SENT", "1_MSG_VNX") => self.headers[0],
            ("RxC_HDR_FLITS_SENT", "1_MSG" | "SLOTS_1") => self.headers[0] + self.headers[1],
            ("RxC_HDR_FLITS_SENT", "2_MSGS" | "SLOTS_2") => self.headers[2],
            ("RxC_HDR_FLITS_SENT", "3_MSGS" | "SLOTS_3") => self.headers[3],
            ("RxC_HDR_FLIT_NOT_SENT", "ALL" | "NO_TXQ_CRD") => headers,
            ("RxC_HDR_FLIT_NOT_SENT", "TSV_HI" | "VALID_FOR_FLIT") => headers_valid,
            ("RxC_HDR_FLIT_NOT_SENT", "NO_TXQ_NO_MSG") => self.without_more,
            ("RxC_DATA_FLITS_NOT_SENT", "ALL" | "NO_TXQ") => lines,
            ("RxC_DATA_FLITS_NOT_SENT", "TSV_HI" | "VALID_FOR_FLIT") => lines_valid,
            ("RxC_FLITS_SLOT_BL", "P0_WAIT") => self.no_first,
            ("RxC_FLITS_SLOT_BL", "P1_WAIT") => self.no_second,
            ("RxC_FLITS_SLOT_BL", "P1_NOT_REQ") => self.one_half[0],
            ("RxC_FLITS_SLOT_BL", "P1_NOT_REQ_BUT_BUBBLE") => self.one_half[1],
            ("RxC_FLITS_SLOT_BL", "P1_NOT_REQ_NOT_AVAIL") => self.one_half[2],
            ("RxC_FLITS_GEN_BL", "P1_WAIT") => self.half_lines,
            ("RxC_FLITS_GEN_BL", "P1P_TO_LIMBO") => self.limbo.entries,
            ("RxC_FLITS_GEN_BL", "P1P_BUSY") => self.limbo.nonempty,
            ("RxC_CRD_OCC", "P1P_TOTAL") => self.limbo.occupied,
            ("RxC_CRD_OCC", "P1P_FIFO") => self.complete.occupied,
            ("RxC_CRD_OCC", "CONSUMED") => self.taken,
            ("RxC_CRD_OCC", "D2K_CRD") => self.outstanding.occupied,
            ("RxC_CRD_MISC", "LT1_FOR_D2K") => self.outstanding.full,
            ("RxC_CRD_MISC", "LT2_FOR_D2K") => self.nearly.occupied,
            ("RxC_VNA_CRD", "CORRECTED") => self.corrected,
            ("RxC_FLITS_MISC", "S2REQ_RECEIVED") => self.requested,
            ("RxC_FLITS_MISC", "S2REQ_WITHDRAWN") => self.withdrawn,
            ("RxC_FLITS_MISC", "S2REQ_IN_HOLDOFF") => self.natural,
            ("RxC_FLITS_MISC", "S2REQ_IN_SERVICE") => self.forced,
            _ => return None,
        })
    }
}

/// Shared credits that a message is given: four where it may have a line, as all of its ring may.
fn shared(packet: &LinkPacket) -> u64 {
    match (packet.paid, packet.own()) {
        (Paid::Own, Some(_)) => 0,
        _ if packet.class() < ADDRESS_CLASSES => 1,
        _ => 4,
    }
}
