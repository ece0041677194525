//! When each request was in a slice's queue and in its table: the truth of counts that are shaped by a threshold or by
//! edges.
//!
//! Such a count needs the level of a queue in every cycle, which sums of stays do not give. So the stays themselves are
//! kept, but only when asked for: they grow with the run.

use pericore_engine::NEVER;
use pericore_facts::e5_2600::{Record, RequestKind};

use super::shape::Opcodes;
use crate::{Question, Shaped};

/// From one cycle on, up to another and without it.
type Stay = (u64, u64);

#[derive(Debug, Clone, Copy)]
struct Kept {
    slice: u16,
    kind: RequestKind,
    missed: bool,
    queue: Option<Stay>,
    table: Option<Stay>,
}

/// The stays of all requests that have ended.
#[derive(Debug, Clone, Default)]
pub struct Stays(Vec<Kept>);

impl Stays {
    /// Adds those of a request that has ended.
    pub fn add(&mut self, record: &Record) {
        let cycles = |from: u64, to: u64| (from != NEVER && to != NEVER && from < to).then_some((from, to));
        let queue = cycles(record.ingress_in, record.ingress_out).filter(|_| record.kind != RequestKind::Snoop);
        let table = cycles(record.tor_in, record.tor_out);
        self.0.push(Kept { slice: record.slice, kind: record.kind, missed: record.miss, queue, table });
    }

    /// What an occupancy event of a slice, by the guide's names, gives behind a threshold; `None` for events without
    /// stays.
    pub fn shaped(&self, slice: u16, question: Question<'_>, opcodes: &Opcodes, threshold: u64) -> Option<Shaped> {
        let opcode = question.filter("opc");
        let of_opcode = |kept: &Kept| kept.table.filter(|_| opcode.is_some() && opcodes.of(kept.kind) == opcode);
        let stay = |kept: &Kept| match (question.event, question.subevent) {
            ("RxR_OCCUPANCY", "IRQ") => Some(kept.queue),
            ("TOR_OCCUPANCY", "OPCODE") => Some(of_opcode(kept)),
            ("TOR_OCCUPANCY", "MISS_OPCODE") => Some(of_opcode(kept).filter(|_| kept.missed)),
            _ => None,
        };
        let of_slice = self.0.iter().filter(|kept| kept.slice == slice);
        let stays = of_slice.map(stay).collect::<Option<Vec<_>>>()?;
        Some(Shaped::of(stays.into_iter().flatten().flat_map(|(from, to)| [(from, 1), (to, -1)]), threshold))
    }
}
