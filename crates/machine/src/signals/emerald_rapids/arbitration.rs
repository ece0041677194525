//! The signals of arbitrations for the next flit of a link.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{
    ADDRESS_CLASSES, Arbitration, ArbitrationOutcome, LINK_CLASSES, NETWORKS, Paid, UnitInstance,
};
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
        if let Some((network, messages)) = arbitration.flit {
            self.slots(link, usize::from(network), messages, winners, &arbitration.left_over, at);
        }
    }

    /// The winners of a network go into a flit of so many messages; those of the other are held.
    fn slots(
        &mut self,
        link: UnitInstance,
        network: usize,
        messages: u8,
        winners: [[Option<Paid>; 2]; NETWORKS],
        left_over: &[[bool; LINK_CLASSES]; NETWORKS],
        at: Tick,
    ) {
        let lines = &self.signals.lines.links;
        let (held, attempted, slotted) = (lines.held[1 - network], lines.attempted, lines.slotted);
        let [address, block] = winners[network];
        // What travels on a credit of its own travels alone.
        let alone = block.or(address) == Some(Paid::Own);
        let header = lines.headers[if alone { 0 } else { usize::from(messages) }];
        if winners[1 - network] != [None; 2] {
            self.happens(link, held, at);
        }
        if let (Some(address), Some(block)) = (address, block) {
            let together = address == Paid::Shared && block == Paid::Shared;
            self.happens(link, attempted, at);
            if together {
                self.happens(link, slotted, at);
            }
        }
        self.happens(link, header, at);
        for (ring, classes) in [0..ADDRESS_CLASSES, ADDRESS_CLASSES..LINK_CLASSES].into_iter().enumerate() {
            if left_over.iter().any(|of| of[classes.clone()].contains(&true)) {
                self.happens(link, self.signals.lines.links.cant_slot[ring], at);
            }
        }
        for (network, classes) in (0..).zip(left_over) {
            for (class, _) in (0..).zip(classes).filter(|&(_, left)| *left) {
                self.happens(link, self.signals.lines.links.missed[network][class], at);
            }
        }
    }
}
