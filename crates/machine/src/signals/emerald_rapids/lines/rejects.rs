//! The lines of requests that are turned away and try again.

use pericore_facts::emerald_rapids::{Queue, Reason};

use super::binding::Line;
use super::levels::LevelRow;
use crate::signals::table::lines;

/// Reasons that are the want of a credit, or of room towards the mesh: all but the first.
const CREDITS: usize = Reason::COUNT - 1;

lines! {
    /// By queue, what counts a request that is turned away; what counts one that is so once more; and one that tries
    /// again: of the agent's own work, of requests.
    RejectLines<LevelRow> in "rejects" {
        by_credit: [[Line; CREDITS]; Queue::COUNT],
        for_any_credit: [Line; Queue::COUNT],
        /// What the agent itself does waits for no address.
        by_address: [Option<Line>; Queue::COUNT],
        inserted: [Option<Line>; Queue::COUNT],
        again_by_credit: [Line; CREDITS],
        again_for_any_credit: Line,
        again_by_address: Line,
        retried_by_credit: [[Line; CREDITS]; 2],
        retried_for_any_credit: [Line; 2],
        retried_by_address: [Option<Line>; 2],
    }
}

impl RejectLines {
    /// Those of a request of a queue that is turned away for a reason, again or for the first time.
    pub fn turned_away(&self, queue: Queue, reason: Reason, again: bool) -> impl Iterator<Item = Line> + use<> {
        let queue = queue as usize;
        let (now, once_more) = match credit(reason) {
            Some(credit) => (
                [Some(self.by_credit[queue][credit]), Some(self.for_any_credit[queue])],
                [Some(self.again_by_credit[credit]), Some(self.again_for_any_credit)],
            ),
            None => ([self.by_address[queue], None], [Some(self.again_by_address), None]),
        };
        let once_more = if again { once_more } else { [None; 2] };
        now.into_iter().chain([self.inserted[queue]]).chain(once_more).flatten()
    }

    /// Those of a request of a queue that tries again.
    pub fn retried(&self, queue: Queue, reason: Reason) -> impl Iterator<Item = Line> + use<> {
        let of = usize::from(queue != Queue::Evict);
        let lines = match credit(reason) {
            Some(credit) => [Some(self.retried_by_credit[of][credit]), Some(self.retried_for_any_credit[of])],
            None => [self.retried_by_address[of], None],
        };
        lines.into_iter().flatten()
    }
}

/// The number of what is wanting.
const fn credit(reason: Reason) -> Option<usize> {
    match reason {
        Reason::AddressMatch => None,
        Reason::Request => Some(0),
        Reason::Response => Some(1),
        Reason::Data => Some(2),
        Reason::Writeback => Some(3),
        Reason::Acknowledge => Some(4),
        Reason::Invalidate => Some(5),
    }
}
