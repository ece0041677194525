//! The truth about the rings: journeys of messages, by ring, polarity, and the stops that they went between.

use super::cells::Grid;

/// The rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RingKind {
    /// AD: requests.
    Address,
    /// AK: acknowledgements.
    Acknowledge,
    /// BL: data.
    Block,
    /// IV: snoops of cores.
    Snoop,
}

impl RingKind {
    /// How many there are.
    pub const COUNT: usize = 4;

    /// Transfers of a message: a line takes two of 32 bytes (2.3.7).
    pub const fn slots(self) -> u32 {
        if matches!(self, Self::Block) { 2 } else { 1 }
    }
}

/// A message's way over a ring. A snoop goes to everybody and has its sender as its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Journey {
    /// Which ring.
    pub kind: RingKind,
    /// Stop of the sender.
    pub from: u8,
    /// Stop of the receiver.
    pub to: u8,
    /// Sent in an odd cycle.
    pub odd: bool,
}

/// Stops that are told apart.
const STOPS: usize = 16;

/// Journeys on the rings of one socket.
#[derive(Debug, Clone)]
pub struct RingCells {
    /// Stops of the ring.
    stops: usize,
    journeys: Grid<{ RingKind::COUNT * 2 * STOPS * STOPS }>,
}

impl RingCells {
    pub fn new(stops: usize) -> Self {
        Self { stops, journeys: Grid::new() }
    }

    pub fn travel(&mut self, journey: Journey) {
        let Journey { kind, from, to, odd } = journey;
        self.journeys.add(place(kind, odd, from.into(), to.into()));
    }

    /// Transfers that stop `at` saw on a ring: in one direction, if one is given, and with one polarity, if one is given.
    fn seen(&self, kind: RingKind, at: usize, clockwise: Option<bool>, odd: Option<bool>) -> u64 {
        let mut sum = 0;
        for from in 0..self.stops {
            for to in 0..self.stops {
                // Steps clockwise from the sender to the receiver and to the stop in question.
                let (whole, part) = ((to + self.stops - from) % self.stops, (at + self.stops - from) % self.stops);
                let is_clockwise = whole <= self.stops / 2;
                let passes = match kind {
                    RingKind::Snoop => part != 0,
                    _ if is_clockwise => part > 0 && part <= whole,
                    _ => part >= whole,
                };
                let wanted = clockwise.is_none_or(|wanted| wanted == is_clockwise);
                if passes && wanted && (kind == RingKind::Snoop || whole != 0) {
                    let polarities = [false, true].into_iter().filter(|&is| odd.is_none_or(|wanted| wanted == is));
                    sum += polarities.map(|is| self.journeys.get(place(kind, is, from, to))).sum::<u64>();
                }
            }
        }
        sum * u64::from(kind.slots())
    }

    /// What `RING_*_USED` counts at a stop. `mirrored`: where the names up and down are those of the second half of the slices.
    pub fn value(&self, at: usize, mirrored: bool, event: &str, subevent: &str) -> Option<u64> {
        let kind = match event {
            "RING_AD_USED" => RingKind::Address,
            "RING_AK_USED" => RingKind::Acknowledge,
            "RING_BL_USED" => RingKind::Block,
            "RING_IV_USED" if subevent == "ANY" => return Some(self.seen(RingKind::Snoop, at, None, None)),
            _ => return None,
        };
        let (direction, polarity) = subevent.split_once('_')?;
        let clockwise = match direction {
            "CW" => true,
            "CCW" => false,
            "UP" => !mirrored,
            "DOWN" => mirrored,
            _ => return None,
        };
        let odd = match polarity {
            "EVEN" => false,
            "ODD" => true,
            _ => return None,
        };
        Some(self.seen(kind, at, Some(clockwise), Some(odd)))
    }
}

const fn place(kind: RingKind, odd: bool, from: usize, to: usize) -> usize {
    ((kind as usize * 2 + odd as usize) * STOPS + from % STOPS) * STOPS + to % STOPS
}

#[cfg(test)]
mod tests {
    use super::{Journey, RingCells, RingKind};

    #[test]
    fn a_message_is_seen_where_it_passes_and_where_it_ends() {
        let mut cells = RingCells::new(10);
        // From stop 8 the short way to stop 1 is 9, 0, 1: clockwise. From 2 to 9 it is 1, 0, 9: counter-clockwise.
        cells.travel(Journey { kind: RingKind::Block, from: 8, to: 1, odd: true });
        cells.travel(Journey { kind: RingKind::Block, from: 2, to: 9, odd: false });
        let seen = |at, sub: &str| cells.value(at, false, "RING_BL_USED", sub).unwrap();
        let clockwise: Vec<u64> = (0..10).map(|at| seen(at, "CW_ODD")).collect();
        assert_eq!(clockwise, [2, 2, 0, 0, 0, 0, 0, 0, 0, 2]);
        let back: Vec<u64> = (0..10).map(|at| seen(at, "DOWN_EVEN")).collect();
        assert_eq!(back, [2, 2, 0, 0, 0, 0, 0, 0, 0, 2]);
        assert!((0..10).all(|at| seen(at, "CW_EVEN") + seen(at, "UP_EVEN") + seen(at, "CCW_ODD") == 0));
    }

    #[test]
    fn a_snoop_goes_round_and_what_stays_at_its_stop_is_not_seen() {
        let mut cells = RingCells::new(10);
        cells.travel(Journey { kind: RingKind::Snoop, from: 3, to: 3, odd: true });
        cells.travel(Journey { kind: RingKind::Address, from: 3, to: 3, odd: true });
        let snoops: Vec<u64> = (0..10).map(|at| cells.value(at, true, "RING_IV_USED", "ANY").unwrap()).collect();
        assert_eq!(snoops, [1, 1, 1, 0, 1, 1, 1, 1, 1, 1]);
        let up: Vec<u64> = (0..10).map(|at| cells.value(at, true, "RING_AD_USED", "UP_ODD").unwrap()).collect();
        assert_eq!(up, [0; 10]);
    }
}
