//! CXL links with memory behind them, and what their events mean (Intel's event file).

use pericore_facts::emerald_rapids::ExpanderFact;

use super::gauge::Gauge;

/// Totals of a link.
#[derive(Debug, Clone, Default)]
pub struct ExpanderCells {
    reads: u64,
    /// Of lines, of parts.
    writes: [u64; 2],
    /// Answers to reads, to writes: as they come, and while they are unpacked.
    unpacked: [Gauge; 2],
    credits: u64,
}

impl ExpanderCells {
    /// Something happens, in a cycle of the link.
    pub fn read(&mut self, fact: ExpanderFact, cycle: u64) {
        match fact {
            ExpanderFact::Sends { writes: false, .. } => self.reads += 1,
            ExpanderFact::Sends { partial, .. } => self.writes[usize::from(partial)] += 1,
            ExpanderFact::Comes { writes, credits } => {
                self.unpacked[usize::from(writes)].enter(cycle, u64::MAX);
                self.credits += u64::from(credits);
            }
            ExpanderFact::Unpacked { writes } => self.unpacked[usize::from(writes)].leave(cycle, u64::MAX),
        }
    }

    /// Brings its sums up to a cycle.
    pub fn bring_up(&mut self, cycle: u64) {
        self.unpacked.iter_mut().for_each(|gauge| *gauge = gauge.at(cycle, u64::MAX));
    }

    /// True if nothing is under way.
    pub fn is_at_rest(&self) -> bool {
        let replies = self.unpacked.iter().map(|gauge| gauge.entries).sum::<u64>();
        replies == self.reads + self.writes[0] + self.writes[1] && self.unpacked.iter().all(|gauge| gauge.live == 0)
    }

    /// What the mesh stop of a link's stack sends on (Tables 2-365 and 2-366): data, and word of a write. A stack
    /// without a link sends none.
    pub fn sent_on(link: Option<&Self>, event: &str, subevent: &str) -> Option<u64> {
        let through = |gauge: &Gauge| gauge.entries - gauge.live;
        let [data, words] = link.map_or([0; 2], |link| link.unpacked.each_ref().map(through));
        match (event, subevent) {
            ("TxC_INSERTS_AK", "AGT_5") => Some(words),
            ("TxC_INSERTS_BL", "AGT_4") => Some(data),
            _ => None,
        }
    }

    /// The count of an event. A read is a flit, with a header that is not counted apart; a write two: its header, of a
    /// line or with byte enables, and a flit of data without a header. An answer with data is two flits, too.
    pub fn value(&self, event: &str, subevent: &str) -> Option<u64> {
        let [lines, parts] = self.writes;
        let [data, words] = self.unpacked.each_ref().map(|gauge| gauge.entries);
        Some(match (event, subevent) {
            ("TxC_AGF_INSERTS", "M2S_REQ") | ("TxC_PACK_BUF_INSERTS", "MEM_REQ") => self.reads,
            ("TxC_AGF_INSERTS", "M2S_DATA") | ("TxC_PACK_BUF_INSERTS", "MEM_DATA") => lines + parts,
            // Flits by their headers: none of them tells of credits alone.
            ("TxC_FLITS", "VALID" | "PROT") => self.reads + 2 * (lines + parts),
            ("TxC_FLITS", "NO_HDR" | "SZ_HDR") => lines + parts,
            ("TxC_FLITS", "BE_HDR") => parts,
            ("RxC_FLITS", "VALID" | "PROT") => 2 * data + words,
            ("RxC_FLITS", "NO_HDR" | "SZ_HDR") => data,
            ("RxC_FLITS", "VALID_MSG") => data + words,
            ("RxC_PACK_BUF_INSERTS" | "RxC_AGF_INSERTS", "MEM_DATA") => data,
            ("RxC_PACK_BUF_INSERTS" | "RxC_AGF_INSERTS", "MEM_REQ") => words,
            ("RxC_PACK_BUF_NE", "MEM_DATA") => self.unpacked[0].nonempty,
            ("RxC_PACK_BUF_NE", "MEM_REQ") => self.unpacked[1].nonempty,
            ("RxC_MISC", "LLCRD") => self.credits,
            _ => return None,
        })
    }
}
