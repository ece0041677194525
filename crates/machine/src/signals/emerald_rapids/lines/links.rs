//! The lines of links between sockets.

use pericore_facts::emerald_rapids::{LINK_CLASSES, NETWORKS, OWN_CLASSES, TAKERS};

use super::binding::Line;
use super::levels::{LevelNumber, LevelRow};
use crate::signals::table::lines;

/// By network and class.
type ByClass<T> = [[T; LINK_CLASSES]; NETWORKS];
/// By network and class that has credits of its own.
type ByOwn<T> = [[T; OWN_CLASSES]; NETWORKS];

lines! {
    /// Links.
    LinkLines<LevelRow> in "links" {
        passed_gate: Line,
        prefetches: Line,
        prefetches_past: Line,
        prefetches_slotted: Line,
        spawned: Line,
        accumulates: Line,
        ingress: ByClass<LevelNumber>,
        poor: ByClass<Line>,
        silent: ByClass<Line>,
        lost: ByClass<Line>,
        missed: ByClass<Line>,
        own_used: ByOwn<Line>,
        /// No credit is left.
        own_gone: ByOwn<LevelNumber>,
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
        not_sent: [Line; 2],
        with_line: Line,
        slots_block: Line,
        waits_for_line: Line,
        /// Flits, messages.
        beside_line: [Line; 2],
        in_path: LevelNumber,
        sent_past: Line,
        sent_queue: LevelNumber,
        /// Sent, received: headers, lines, credits.
        any_flits: [[Line; 3]; 2],
        damaged: [Line; 2],
        /// Of the networks, shared.
        consumed: [Line; NETWORKS + 1],
        requested: [Line; NETWORKS + 1],
        credits_out: Line,
        blocked: Line,
        returning: LevelNumber,
        /// By ring, slot.
        in_slots: [[Option<Line>; 3]; 3],
        received_past: [Line; 3],
        past_others: [[Option<Line>; 3]; 3],
        not_past: [Line; 3],
        received: [LevelNumber; 3],
        no_room: [Line; 3],
        last_places: [Line; 3],
        passed_flow: [Line; 3],
        addresses: [[LevelNumber; 3]; NETWORKS],
        blocks: [[LevelNumber; 4]; NETWORKS],
        acknowledgements: LevelNumber,
        blocks_entered: [[Line; 4]; NETWORKS],
        writebacks: [LevelNumber; NETWORKS],
        /// None waits.
        no_writebacks: [LevelNumber; NETWORKS],
        addresses_stay: [[Line; 3]; NETWORKS],
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
