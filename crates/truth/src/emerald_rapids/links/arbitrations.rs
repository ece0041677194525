//! What the arbitrations of a link's virtual networks did.

use pericore_facts::emerald_rapids::{Arbitration, ArbitrationOutcome, LINK_CLASSES, NETWORKS, Paid};

/// What the networks' arbitrations did, by network and class.
#[derive(Debug, Clone, Default)]
pub struct Arbitrations {
    pub(super) lost: [[u64; LINK_CLASSES]; NETWORKS],
    pub(super) poor: [[u64; LINK_CLASSES]; NETWORKS],
    pub(super) silent: [[u64; LINK_CLASSES]; NETWORKS],
    /// Lines from memory that could not ask for want of a completion credit, by network.
    pub(super) incomplete: [u64; NETWORKS],
    /// Both rings of one network, of the other; both networks; all.
    pub(super) wins: [u64; 4],
    /// Too few shared credits for both networks, for both rings.
    pub(super) scarce: [u64; 2],
    /// Only one network takes shared credits; only one ring of a network does.
    pub(super) alone: [u64; NETWORKS],
    pub(super) one_ring: [[u64; 2]; NETWORKS],
    pub(super) held: [u64; NETWORKS],
    /// Attempts to slot both rings' winners, and of these what did.
    pub(super) attempts: [u64; 2],
}

impl Arbitrations {
    /// One more arbitration, or as many as come out alike.
    pub fn add(&mut self, arbitration: &Arbitration) {
        let Arbitration { outcomes, shared, flit, ahead, times, incomplete } = arbitration;
        let times = u64::from(*times);
        for (network, outcomes) in (0..).zip(outcomes) {
            for (class, outcome) in (0..).zip(outcomes) {
                self.lost[network][class] += u64::from(*outcome == ArbitrationOutcome::Loses);
                self.poor[network][class] +=
                    times * u64::from(matches!(outcome, ArbitrationOutcome::Poor | ArbitrationOutcome::Silent));
                self.silent[network][class] += u64::from(*outcome == ArbitrationOutcome::Silent);
            }
        }
        for (all, incomplete) in self.incomplete.iter_mut().zip(incomplete) {
            *all += times * u64::from(*incomplete);
        }
        let waited = [0, 1].map(|network| arbitration.waited(network));
        let [first, second] = [0, 1].map(|network| arbitration.winners(network));
        let some = |rings: [bool; 2]| rings[0] || rings[1];
        if some(waited[0]) && some(waited[1]) {
            // Both networks together need ten credits at most; the turn that comes first sees all that there are.
            self.scarce[0] += times * u64::from(shared[0].max(shared[1]) < 10);
            let takes = [first, second].map(|winners| winners.contains(&Some(Paid::Shared)));
            match takes {
                [true, false] => self.alone[0] += 1,
                [false, true] => self.alone[1] += 1,
                _ => {}
            }
        }
        for (network, winners) in (0..).zip([first, second]) {
            if waited[network] == [true, true] {
                self.scarce[1] += times * u64::from(shared[network] < 5);
                match winners.map(|paid| paid == Some(Paid::Shared)) {
                    [true, false] => self.one_ring[network][0] += 1,
                    [false, true] => self.one_ring[network][1] += 1,
                    _ => {}
                }
            }
        }
        let number = |winners: [Option<Paid>; 2]| winners.iter().flatten().count();
        let (of_first, of_second) = (number(first), number(second));
        self.wins[0] += u64::from(of_first == 2);
        self.wins[1] += u64::from(of_second == 2);
        self.wins[2] += u64::from(of_first > 0 && of_second > 0);
        self.wins[3] += u64::from(of_first + of_second == 4);
        let Some(network) = *flit else { return };
        let (slotted, other) = if network == 0 { (first, of_second) } else { (second, of_first) };
        self.held[usize::from(1 - network)] += u64::from(other > 0);
        if let [Some(address), Some(block)] = slotted {
            self.attempts[0] += 1;
            // Ahead of time only one of them goes in.
            self.attempts[1] += u64::from(!ahead && address == Paid::Shared && block == Paid::Shared);
        }
    }
}
