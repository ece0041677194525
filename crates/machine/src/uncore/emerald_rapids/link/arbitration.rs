//! M3UPI's arbitration: which messages may go into the next flit, and what becomes of those that may not.

use std::ops::Range;

use pericore_facts::emerald_rapids::{Arbitration, ArbitrationOutcome, LinkClass, allotted};

use super::gate::Gate;
use super::{ADDRESS_CLASSES, CLASSES, Paid, own_of};

/// Classes of the address ring, and of the block ring.
pub const ADDRESS: Range<usize> = 0..ADDRESS_CLASSES;
const BLOCK: Range<usize> = ADDRESS_CLASSES..CLASSES;
/// Shared credits below which not both rings get some (Table 2-398).
const FOR_BOTH: u16 = 5;

/// A class that has won, and how it pays.
pub type Winner = Option<(usize, Paid)>;

/// What is still to be had in an arbitration.
struct Left {
    shared: u16,
    completions: u8,
}

impl Gate {
    /// How a class can pay, if it can.
    fn pays(&self, network: usize, class: usize, shared: u16) -> Option<Paid> {
        if shared >= allotted(class) {
            return Some(Paid::Shared);
        }
        own_of(class).filter(|&own| self.own[network][own] > 0).map(|_| Paid::Own)
    }

    /// Winners by network and ring, and what became of all others. Of lines that memory has sent straight here
    /// (`direct`) M3UPI owes it a completion, and needs a credit for that.
    pub fn arbitrate(&self, direct: impl Fn(u16) -> bool) -> ([[Winner; 2]; 2], Arbitration) {
        let mut left = Left { shared: self.shared, completions: self.completions };
        let mut winners = [[None; 2]; 2];
        let mut arbitration = Arbitration { times: 1, ..Arbitration::default() };
        // Where there is too little for both rings, they take turns: else lines would starve beside addresses.
        let rings = if self.shared < FOR_BOTH && self.sent % 2 == 1 { [1, 0] } else { [0, 1] };
        for network in [self.turn, 1 - self.turn] {
            arbitration.shared[network] = left.shared;
            for ring in rings {
                winners[network][ring] = self.arbitrate_ring(network, ring, &mut left, &mut arbitration, &direct);
            }
        }
        (winners, arbitration)
    }

    /// The winner among classes of one network and ring, if there is one. Those that could have won have lost; those
    /// that could not pay could not ask.
    fn arbitrate_ring(
        &self,
        network: usize,
        ring: usize,
        left: &mut Left,
        arbitration: &mut Arbitration,
        direct: impl Fn(u16) -> bool,
    ) -> Winner {
        let mut winner = None;
        let classes = [ADDRESS, BLOCK][ring].clone();
        let outcomes = &mut arbitration.outcomes[network];
        // The classes take turns, with what was sent.
        let (start, count) = (self.sent as usize, classes.len());
        for class in (0..count).map(|turn| classes.start + (start + turn) % count) {
            let Some(&first) = self.queues[network][class].front() else { continue };
            let is_direct = class == LinkClass::Data as usize && direct(first);
            if is_direct && left.completions == 0 {
                arbitration.incomplete[network] = true;
                continue;
            }
            outcomes[class] = match (self.pays(network, class, left.shared), winner) {
                (Some(paid), None) => {
                    winner = Some((class, paid));
                    left.completions -= u8::from(is_direct);
                    ArbitrationOutcome::Wins(paid)
                }
                (Some(_), Some(_)) => ArbitrationOutcome::Loses,
                (None, _) => ArbitrationOutcome::Poor,
            };
        }
        if winner.is_some() {
            for outcome in outcomes[classes].iter_mut().filter(|outcome| **outcome == ArbitrationOutcome::Poor) {
                *outcome = ArbitrationOutcome::Silent;
            }
        }
        if let Some((class, Paid::Shared)) = winner {
            left.shared = left.shared.saturating_sub(allotted(class));
        }
        winner
    }

    /// Classes whose first message can pay with a shared credit, and fits a flit.
    pub fn left_over(&self, fits: impl Fn(u16) -> bool) -> [[bool; CLASSES]; 2] {
        let is_left = |network: usize, class: usize| {
            self.shared >= allotted(class) && self.queues[network][class].front().is_some_and(|&id| fits(id))
        };
        std::array::from_fn(|network| std::array::from_fn(|class| is_left(network, class)))
    }
}
