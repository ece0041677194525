//! The lines of links between sockets.

use pericore_facts::emerald_rapids::{LINK_CLASSES, NETWORKS, OWN_CLASSES, TAKERS};

use pericore_hardware::signal::WiringError;

use super::binding::Line;
use super::levels::{LevelNumber, LevelRow};
use crate::signals::table::{Binder, FromRow, lines};

/// By network and class.
type ByClass<T> = [[T; LINK_CLASSES]; NETWORKS];
/// What is in slots of flits, for events that count any.
#[derive(Debug, Clone, Copy)]
pub struct AnySlots {
    pub headers: [Line; 3],
    pub lines: [Line; 3],
    pub credits: Line,
    /// In slots 1 and 2.
    pub empty: [Line; 2],
    pub idle: Line,
}

impl FromRow<LevelRow> for AnySlots {
    fn bind(
        binder: &mut Binder<'_, LevelRow>,
        names: &mut std::vec::IntoIter<String>,
    ) -> Result<Option<Self>, WiringError> {
        let Some([a, b, c, d, e, f, credits, g, h, idle]) = <[Line; 10]>::bind(binder, names)? else {
            return Ok(None);
        };
        Ok(Some(Self { headers: [a, b, c], lines: [d, e, f], credits, empty: [g, h], idle }))
    }
}

/// By network and class that has credits of its own.
type ByOwn<T> = [[T; OWN_CLASSES]; NETWORKS];

lines! {
    /// Links.
    LinkLines<LevelRow> in "links" {
        /// Into an idle link, beside an arbitration, into slots 1 and 2.
        passed_gate: [Line; 4],
        prefetches: Line,
        prefetches_past: Line,
        prefetches_slotted: Line,
        spawned: Line,
        accumulates: Line,
        /// Cycles in which nothing joins.
        wasted: Line,
        /// Begun, with a message, a second one, sent so, too late.
        runs_ahead: [Line; 5],
        ingress: ByClass<LevelNumber>,
        poor: ByClass<Line>,
        silent: ByClass<Line>,
        lost: ByClass<Line>,
        missed: ByClass<Line>,
        own_used: ByOwn<Line>,
        /// No credit is left.
        own_gone: ByOwn<LevelNumber>,
        taken: Line,
        corrected: Line,
        outstanding: LevelNumber,
        /// Fewer than two credits for completions are left.
        almost_outstanding: LevelNumber,
        incomplete: [Line; NETWORKS],
        shared_used: LevelNumber,
        /// Fewer shared credits than 1, 4, 5 and 10 are left.
        shared_below: [LevelNumber; 4],
        /// Both rings of one network or the other, both networks, all.
        wins: [Line; 4],
        /// By ring, network.
        no_progress: [[Line; NETWORKS]; 2],
        /// For both networks, for both rings.
        scarce: [Line; 2],
        alone: [Line; NETWORKS],
        /// By network, ring.
        one_ring: [[Line; 2]; NETWORKS],
        held: [Line; NETWORKS],
        attempted: Line,
        slotted: Line,
        /// Addresses, data.
        cant_slot: [Line; 2],
        /// One message on a credit of its own; one to three.
        headers: [Line; 4],
        /// Headers, lines.
        not_sent: [Line; 2],
        not_sent_valid: [Line; 2],
        none_joins: Line,
        with_line: Line,
        slots_block: Line,
        /// Waits for the first half, for the second; needs no second, is delayed all the same, could not have it.
        halves: [Line; 5],
        line_halves: Line,
        to_limbo: Line,
        limbo: LevelNumber,
        complete: LevelNumber,
        waits_for_line: Line,
        /// Flits, messages.
        beside_line: [Line; 2],
        in_path: LevelNumber,
        sent_past: Line,
        sent_queue: LevelNumber,
        /// Sent, received.
        any_flits: [AnySlots; 2],
        damaged: [Line; 2],
        /// Of the networks, shared.
        consumed: [Line; NETWORKS + 1],
        requested: [Line; NETWORKS + 1],
        /// Come, withdrawn, had, forced.
        slot_requests: [Line; 4],
        blocked: Line,
        returning: LevelNumber,
        /// By ring, slot.
        in_slots: [[Option<Line>; 3]; 3],
        received_past: [Line; 3],
        past_others: [[Option<Line>; 3]; 3],
        not_past: [Line; 3],
        received: [LevelNumber; 3],
        /// By ring: none, too little.
        no_room: [[Option<Line>; 2]; 3],
        /// By ring and places that are left.
        last_places: [[Option<Line>; 4]; 3],
        passed_flow: [Line; 3],
        addresses: [[LevelNumber; 3]; NETWORKS],
        blocks: [[LevelNumber; 4]; NETWORKS],
        /// Word of writebacks.
        words: [LevelNumber; NETWORKS],
        acknowledgements: LevelNumber,
        blocks_entered: [[Line; 4]; NETWORKS],
        writebacks: [LevelNumber; NETWORKS],
        /// None waits.
        no_writebacks: [LevelNumber; NETWORKS],
        unfetched: [LevelNumber; NETWORKS],
        /// The last is word of writebacks.
        addresses_stay: [[Line; 4]; NETWORKS],
        blocks_stay: [[Line; 4]; NETWORKS],
        direct: [Line; 2],
        takers_busy: [LevelNumber; TAKERS],
        /// At the sender, at its peer.
        full: [LevelNumber; 2],
        half: [LevelNumber; 2],
        off: LevelNumber,
        trains: LevelNumber,
        widens: Line,
        narrows: Line,
        /// By what the flit goes into, or past; of credits that come back; of flits that go out.
        wakeful: [Line; 4],
        /// Refused, granted.
        shut_down: [Line; 2],
    }
}
