//! M3UPI's arbitration: which messages may go into the next flit, and what becomes of those that may not.

use std::ops::Range;

use pericore_hardware::signal::{SignalSink, Tick};

use super::gate::{Gate, SLOTS};
use super::{ADDRESS_CLASSES, CLASSES, Flit, Paid, own_of, place};
use crate::ledger::emerald_rapids::compiled::deed;
use crate::ledger::emerald_rapids::deeds::Deed;
use crate::uncore::emerald_rapids::Model;

/// Shared credits that a cycle's winners of both networks, and of both rings of one, need at most.
const FOR_NETWORKS: u16 = 10;
const FOR_RINGS: u16 = 5;
/// Classes of the address ring, and of the block ring.
pub const ADDRESS: Range<usize> = 0..ADDRESS_CLASSES;
const BLOCK: Range<usize> = ADDRESS_CLASSES..CLASSES;

/// A class that has won, and how it pays.
pub type Winner = Option<(usize, Paid)>;

/// The row of a class, among those of both networks.
pub const fn by_network(first: Deed, network: usize, class: usize) -> Deed {
    first + (network * CLASSES + class) as u16
}

impl Gate {
    fn waits(&self, network: usize, classes: Range<usize>) -> bool {
        self.queues[network][classes].iter().any(|queue| !queue.is_empty())
    }

    /// How a class can pay, if it can.
    fn pays(&self, network: usize, class: usize, shared: u16) -> Option<Paid> {
        // Standard messages have no line.
        let cost = if class < ADDRESS_CLASSES || class == CLASSES - 1 { 1 } else { 4 };
        if shared >= cost {
            return Some(Paid::Shared);
        }
        own_of(class).filter(|&own| self.own[network][own] > 0).map(|_| Paid::Own)
    }
}

impl Model {
    /// What waits while slotting can take no more.
    pub(super) fn note_no_progress<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        let (socket, link) = place(number);
        let gate = &self.links.gates[usize::from(number)];
        for (ring, classes) in [(0, ADDRESS), (2, BLOCK)] {
            for network in (0..2).filter(|&network| gate.waits(network, classes.clone())) {
                let stuck = deed!("m3upi/RxC_ARB_MISC.NO_PROG_AD_VN0") + ring + network as u16;
                self.account.deed(stuck, socket, link, self.now, sink);
            }
        }
    }

    /// The link layer has room again: for how long flits could not go.
    pub(super) fn note_blocked<S: SignalSink>(&mut self, number: u16, since: Tick, sink: &mut S) {
        let (socket, link) = place(number);
        let cycles = ((self.now - since) / self.times.uclk) as u32;
        let gate = &self.links.gates[usize::from(number)];
        let held =
            [(ADDRESS, deed!("m3upi/RxC_HDR_FLIT_NOT_SENT.ALL")), (BLOCK, deed!("m3upi/RxC_DATA_FLITS_NOT_SENT.ALL"))];
        for (classes, what) in held {
            if cycles > 0 && (0..2).any(|network| gate.waits(network, classes.clone())) {
                self.account.deeds(what, socket, link, self.now, cycles, sink);
            }
        }
    }

    /// Winners by network and ring.
    pub(super) fn arbitrate_networks<S: SignalSink>(&mut self, number: u16, sink: &mut S) -> [[Winner; 2]; 2] {
        let ((socket, link), now) = (place(number), self.now);
        let mut winners = [[None; 2]; 2];
        let gate = &self.links.gates[usize::from(number)];
        let (first, mut shared) = (gate.turn, gate.shared);
        let waits = [0, 1].map(|network| gate.waits(network, 0..CLASSES));
        if shared < FOR_NETWORKS && waits[0] && waits[1] {
            let scarce = deed!("m3upi/RxC_VNA_CRD_MISC.REQ_VN01_ALLOC_LT10");
            self.account.deed(scarce, socket, link, now, sink);
        }
        for network in [first, 1 - first] {
            let gate = &self.links.gates[usize::from(number)];
            let both = gate.waits(network, ADDRESS) && gate.waits(network, BLOCK);
            if shared < FOR_RINGS && both {
                let scarce = deed!("m3upi/RxC_VNA_CRD_MISC.REQ_ADBL_ALLOC_L5");
                self.account.deed(scarce, socket, link, now, sink);
            }
            for (ring, classes, cost) in [(0, ADDRESS, 1), (1, BLOCK, 4)] {
                let winner = self.arbitrate(number, network, classes, shared, sink);
                winners[network][ring] = winner;
                if winner.is_some_and(|(_, paid)| paid == Paid::Shared) {
                    shared = shared.saturating_sub(cost);
                }
            }
            let takes = winners[network].map(|winner| winner.is_some_and(|(_, paid)| paid == Paid::Shared));
            if both && takes[0] != takes[1] {
                let alone = deed!("m3upi/RxC_VNA_CRD_MISC.VN0_JUST_AD");
                self.account.deed(alone + 2 * network as u16 + u16::from(takes[1]), socket, link, now, sink);
            }
        }
        let takes = winners.map(|rings| rings.iter().flatten().any(|&(_, paid)| paid == Paid::Shared));
        if waits[0] && waits[1] && takes[0] != takes[1] {
            let alone = deed!("m3upi/RxC_VNA_CRD_MISC.VN0_ONLY");
            self.account.deed(alone + u16::from(takes[1]), socket, link, now, sink);
        }
        let parallel = winners.map(|rings| rings.iter().all(Option::is_some));
        let some = winners.map(|rings| rings.iter().any(Option::is_some));
        let wins = [parallel[0], parallel[1], some[0] && some[1], parallel[0] && parallel[1]];
        for (what, _) in (0..).zip(wins).filter(|&(_, won)| won) {
            let won = deed!("m3upi/RxC_ARB_MISC.ADBL_PARALLEL_WIN_VN0");
            self.account.deed(won + what, socket, link, now, sink);
        }
        winners
    }

    /// The winner among classes of one network and ring, if there is one. Those that could have won have lost; those that could not
    /// pay could not ask.
    fn arbitrate<S: SignalSink>(
        &mut self,
        number: u16,
        network: usize,
        classes: Range<usize>,
        shared: u16,
        sink: &mut S,
    ) -> Winner {
        let ((socket, link), now) = (place(number), self.now);
        let gate = &self.links.gates[usize::from(number)];
        let mut winner = None;
        // The classes take turns, with what was sent.
        let (start, count) = (gate.sent as usize, classes.len());
        for class in (0..count).map(|turn| classes.start + (start + turn) % count) {
            if gate.queues[network][class].is_empty() {
                continue;
            }
            let pays = gate.pays(network, class, shared);
            match (pays, winner) {
                (Some(paid), None) => winner = Some((class, paid)),
                (Some(_), Some(_)) => {
                    let lost = by_network(deed!("m3upi/RxC_ARB_LOST_VN0.AD_REQ"), network, class);
                    self.account.deed(lost, socket, link, now, sink);
                }
                (None, won) => {
                    let poor = by_network(deed!("m3upi/RxC_ARB_NOCRD_VN0.AD_REQ"), network, class);
                    self.account.deed(poor, socket, link, now, sink);
                    if won.is_some() {
                        let silent = by_network(deed!("m3upi/RxC_ARB_NOREQ_VN0.AD_REQ"), network, class);
                        self.account.deed(silent, socket, link, now, sink);
                    }
                }
            }
        }
        winner
    }

    /// Messages that a flit with an empty slot could not take.
    pub(super) fn note_missed<S: SignalSink>(&mut self, number: u16, flit: &Flit, sink: &mut S) {
        if flit.count == SLOTS {
            return;
        }
        let (socket, link) = place(number);
        let gate = &self.links.gates[usize::from(number)];
        for (network, class) in (0..2).flat_map(|network| (0..CLASSES).map(move |class| (network, class))) {
            if !gate.queues[network][class].is_empty() {
                let missed = by_network(deed!("m3upi/RxC_PACKING_MISS_VN0.AD_REQ"), network, class);
                self.account.deed(missed, socket, link, self.now, sink);
            }
        }
    }
}
