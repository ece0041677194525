//! M3UPI's arbitration: which messages may go into the next flit, and what becomes of those that may not.

use std::ops::Range;

use pericore_facts::emerald_rapids::{Arbitration, ArbitrationOutcome};

use super::gate::Gate;
use super::{ADDRESS_CLASSES, CLASSES, Paid, own_of};

/// Classes of the address ring, and of the block ring.
pub const ADDRESS: Range<usize> = 0..ADDRESS_CLASSES;
const BLOCK: Range<usize> = ADDRESS_CLASSES..CLASSES;

/// A class that has won, and how it pays.
pub type Winner = Option<(usize, Paid)>;

/// Shared credits that a message of a class takes at most. Standard messages have no line.
const fn cost(class: usize) -> u16 {
    if class < ADDRESS_CLASSES || class == CLASSES - 1 { 1 } else { 4 }
}

impl Gate {
    /// How a class can pay, if it can.
    fn pays(&self, network: usize, class: usize, shared: u16) -> Option<Paid> {
        if shared >= cost(class) {
            return Some(Paid::Shared);
        }
        own_of(class).filter(|&own| self.own[network][own] > 0).map(|_| Paid::Own)
    }
    /// Winners by network and ring, and what became of all others.
    pub fn arbitrate(&self) -> ([[Winner; 2]; 2], Arbitration) {
        let (mut shared, mut winners) = (self.shared, [[None; 2]; 2]);
        let mut arbitration = Arbitration { times: 1, ..Arbitration::default() };
        for network in [self.turn, 1 - self.turn] {
            arbitration.shared[network] = shared;
            for (ring, classes) in [ADDRESS, BLOCK].into_iter().enumerate() {
                let outcomes = &mut arbitration.outcomes[network];
                let winner = self.arbitrate_ring(network, classes, shared, outcomes);
                winners[network][ring] = winner;
                if let Some((class, Paid::Shared)) = winner {
                    shared = shared.saturating_sub(cost(class));
                }
            }
        }
        (winners, arbitration)
    }

    /// The winner among classes of one network and ring, if there is one. Those that could have won have lost; those
    /// that could not pay could not ask.
    fn arbitrate_ring(
        &self,
        network: usize,
        classes: Range<usize>,
        shared: u16,
        outcomes: &mut [ArbitrationOutcome; CLASSES],
    ) -> Winner {
        let mut winner = None;
        let all = classes.clone();
        // The classes take turns, with what was sent.
        let (start, count) = (self.sent as usize, classes.len());
        for class in (0..count).map(|turn| classes.start + (start + turn) % count) {
            if self.queues[network][class].is_empty() {
                continue;
            }
            outcomes[class] = match (self.pays(network, class, shared), winner) {
                (Some(paid), None) => {
                    winner = Some((class, paid));
                    ArbitrationOutcome::Wins(paid)
                }
                (Some(_), Some(_)) => ArbitrationOutcome::Loses,
                (None, _) => ArbitrationOutcome::Poor,
            };
        }
        if winner.is_some() {
            for outcome in outcomes[all].iter_mut().filter(|outcome| **outcome == ArbitrationOutcome::Poor) {
                *outcome = ArbitrationOutcome::Silent;
            }
        }
        winner
    }

    /// Classes whose first message can pay with a shared credit, and fits a flit.
    pub fn left_over(&self, fits: impl Fn(u16) -> bool) -> [[bool; CLASSES]; 2] {
        let is_left = |network: usize, class: usize| {
            self.shared >= cost(class) && self.queues[network][class].front().is_some_and(|&id| fits(id))
        };
        std::array::from_fn(|network| std::array::from_fn(|class| is_left(network, class)))
    }
}
