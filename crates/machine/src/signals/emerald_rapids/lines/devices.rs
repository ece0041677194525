//! The lines of I/O stacks, of traffic between devices, and of CXL links.

use super::binding::Line;
use super::levels::{LevelNumber, LevelRow};
use crate::signals::table::lines;

/// By port.
type Ports<T> = [T; 8];

lines! {
    /// Stacks.
    DeviceLines<LevelRow> in "devices" {
        /// Reads, writes, atomic operations.
        words: [Ports<Line>; 3],
        requests: [Ports<Line>; 3],
        entered: Vec<Line>,
        walked: Vec<Line>,
        walk_reads: Line,
        /// By the level below which the walk begins.
        walk_found: [Line; 3],
        not_walked: Vec<Line>,
        reads_entered: Vec<Line>,
        writes_entered: Vec<Line>,
        atomic_entered: Vec<Line>,
        left: Line,
        port_left: [Line; 2],
        line_sent: Line,
        read_left: Line,
        data_waits: Line,
        data_entered: Line,
        /// Of data for reads, writes, reads; by port to the mesh stop.
        iio_credit: [[Line; 2]; 3],
        iio_credit_held: [[LevelNumber; 2]; 3],
        data_up: Ports<Line>,
        permitted: Vec<Line>,
        acknowledged: Line,
        writes_done: Vec<Line>,
        done: Vec<Line>,
        walks: LevelNumber,
        lines: LevelNumber,
        inbound_reads: LevelNumber,
        data: LevelNumber,
        data_inside: LevelNumber,
        completions: Ports<LevelNumber>,
        /// By queue.
        stalls: [LevelNumber; 3],
        address_stalls: LevelNumber,
        snooped: Vec<Line>,
        /// Reads, writes.
        core_words: [Ports<Line>; 2],
        core_requests: [Ports<Line>; 2],
        /// Data that devices send when they are read, by cores or by other devices.
        completed_words: Ports<Line>,
        completed_requests: Ports<Line>,
        core_came: Line,
        core_kinds: [Line; 2],
        core_answered: Vec<Line>,
        core_reply: [Line; 2],
        /// Requests of cores and other devices; those, and completions.
        under_way: [LevelNumber; 2],
        core_queues: [[LevelNumber; 2]; 2],
        interrupts: Vec<Line>,
        messages: Ports<Line>,
        message_words: Ports<Line>,
    }
}

/// By destination and message class.
type Stacks<T> = [[T; 2]; 6];
type Links<T> = [[T; 2]; 3];

lines! {
    /// Between devices. Of pairs, the first is a write's, a near one's, or of a credit kept for its destination.
    PeerLines<LevelRow> in "peers" {
        words_of: [Ports<Line>; 2],
        requests_of: [Ports<Line>; 2],
        words_by: [Ports<Line>; 2],
        came: Line,
        class_came: [Line; 2],
        taken_lines: Vec<Line>,
        writes_by: Ports<Line>,
        entered: Vec<Line>,
        targets: [Line; 2],
        kinds: [Line; 2],
        places: [Line; 2],
        waiting: LevelNumber,
        reads_entered: Vec<Line>,
        left: Vec<Line>,
        writes_left: Vec<Line>,
        sent: [Line; 2],
        taken: [Stacks<Line>; 2],
        taken_far: [Links<Line>; 2],
        waits: Stacks<LevelNumber>,
        waits_far: Links<LevelNumber>,
        arrived: [[LevelNumber; 2]; 2],
        holds_credit: [[LevelNumber; 2]; 2],
        /// By who shares the pool.
        returned_shared: [[Line; 3]; 2],
        returned: Stacks<Line>,
        returned_far: Links<Line>,
        answered: Line,
        reply_sent: [Line; 2],
        received: [[[Line; 2]; 2]; 2],
        pooled: [Line; 6],
        pooled_far: [Line; 3],
    }
}

lines! {
    /// CXL links.
    ExpanderLines<LevelRow> in "expanders" {
        reads: Vec<Line>,
        writes: Vec<Line>,
        /// Of lines, of parts.
        write_header: [Line; 2],
        data: Vec<Line>,
        words: Vec<Line>,
        credits: Line,
        /// Data, word of a write.
        sent_on: [Line; 2],
        unpacked: [LevelNumber; 2],
    }
}
