//! The signals of arbitrations for the next flit of a link.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{Arbitration, ArbitrationOutcome, LINK_CLASSES, NETWORKS, Paid, UnitInstance};
use pericore_hardware::signal::SignalSink;

use super::emitter::SignalMaker;

/// Shared credits that both networks, and both rings of one, need at most.
const FOR_NETWORKS: u16 = 10;
const FOR_RINGS: u16 = 5;

impl<S: SignalSink> SignalMaker<'_, S> {
    /// The networks arbitrate for the next flit.
    pub(super) fn arbitrates(&mut self, link: UnitInstance, arbitration: &Arbitration, at: Tick) {
        for (network, class) in (0..NETWORKS).flat_map(|network| (0..LINK_CLASSES).map(move |class| (network, class))) {
            let lines = &self.signals.lines.links;
            let (poor, silent) = (lines.poor[network][class], lines.silent[network][class]);
            match arbitration.outcomes[network][class] {
                ArbitrationOutcome::Idle | ArbitrationOutcome::Wins(_) => {}
                ArbitrationOutcome::Loses => self.happens(link, lines.lost[network][class], at),
                ArbitrationOutcome::Poor => self.repeats(link, poor, arbitration.times, at),
                ArbitrationOutcome::Silent => {
                    self.happens(link, poor, at);
                    self.happens(link, silent, at);
                }
            }
        }
        let winners = [0, 1].map(|network| arbitration.winners(network));
        let waited = [0, 1].map(|network| arbitration.waited(network));
        let shares = winners.map(|rings| rings.map(|paid| paid == Some(Paid::Shared)));
        let lines = &self.signals.lines.links;
        let ([for_networks, for_rings], one_ring, alone) = (lines.scarce, lines.one_ring, lines.alone);
        let both_wait = waited[0] != [false; 2] && waited[1] != [false; 2];
        if both_wait && arbitration.shared.iter().max().is_some_and(|&shared| shared < FOR_NETWORKS) {
            self.repeats(link, for_networks, arbitration.times, at);
        }
        for network in 0..NETWORKS {
            if waited[network] == [true; 2] {
                if arbitration.shared[network] < FOR_RINGS {
                    self.repeats(link, for_rings, arbitration.times, at);
                }
                if shares[network][0] != shares[network][1] {
                    self.happens(link, one_ring[network][usize::from(shares[network][1])], at);
                }
            }
        }
        let share = shares.map(|rings| rings[0] || rings[1]);
        if both_wait && share[0] != share[1] {
            self.happens(link, alone[usize::from(share[1])], at);
        }
        let parallel = winners.map(|rings| rings.iter().all(Option::is_some));
        let some = winners.map(|rings| rings.iter().any(Option::is_some));
        let wins = [parallel[0], parallel[1], some[0] && some[1], parallel[0] && parallel[1]];
        for (number, _) in (0..).zip(wins).filter(|&(_, won)| won) {
            self.happens(link, self.signals.lines.links.wins[number], at);
        }
        for (network, _) in (0..).zip(arbitration.incomplete).filter(|&(_, incomplete)| incomplete) {
            self.repeats(link, self.signals.lines.links.incomplete[network], arbitration.times, at);
        }
        if let Some(network) = arbitration.flit {
            self.slots(link, usize::from(network), winners, arbitration.ahead, at);
        }
    }

    /// The winners of a network go into a flit; those of the other are held.
    fn slots(
        &mut self,
        link: UnitInstance,
        network: usize,
        winners: [[Option<Paid>; 2]; NETWORKS],
        ahead: bool,
        at: Tick,
    ) {
        let lines = &self.signals.lines.links;
        let (held, attempted, slotted) = (lines.held[1 - network], lines.attempted, lines.slotted);
        if winners[1 - network] != [None; 2] {
            self.happens(link, held, at);
        }
        if let [Some(address), Some(block)] = winners[network] {
            self.happens(link, attempted, at);
            if !ahead && address == Paid::Shared && block == Paid::Shared {
                self.happens(link, slotted, at);
            }
        }
    }
}
