//! The truth about the rings: routes of messages, by ring, polarity, and the stops that they went between.

use pericore_facts::e5_2600::{Message, RingKind, Route, Sending};

/// Stops that are told apart.
const STOPS: usize = 16;
/// Stops of slices and cores of a machine.
const MACHINE_STOPS: usize = 32;
/// Messages that are told apart: a power of two.
const MESSAGES: usize = 8;

/// Counts in a row, on the heap; `N` is a power of two.
#[derive(Debug, Clone)]
struct Grid<const N: usize>(Box<[u64; N]>);

impl<const N: usize> Grid<N> {
    /// All zero.
    fn new() -> Self {
        const { assert!(N.is_power_of_two()) };
        let cells = vec![0; N].into_boxed_slice();
        Self(cells.try_into().unwrap_or_else(|_| unreachable!("the slice is as long")))
    }

    /// Counts one.
    #[inline]
    fn add(&mut self, index: usize) {
        self.0[index % N] += 1;
    }

    /// A count.
    fn get(&self, index: usize) -> u64 {
        self.0[index % N]
    }
}

/// Messages that the stops of slices and cores have sent over their rings: by stop, message, polarity, receiver.
#[derive(Debug, Clone)]
pub struct MessageCells(Grid<{ MACHINE_STOPS * MESSAGES * 2 * STOPS }>);

impl MessageCells {
    pub fn new() -> Self {
        Self(Grid::new())
    }

    /// A stop, numbered over the machine, sends a message to another of its socket.
    #[inline]
    pub fn add(&mut self, sending: Sending) {
        let Sending { stop, message, to, odd, .. } = sending;
        self.0.add(Self::place(stop.into(), message, odd) + usize::from(to) % STOPS);
    }

    /// Messages of a kind that a stop has sent.
    pub fn sent(&self, stop: usize, message: Message) -> u64 {
        (0..STOPS).map(|to| self.sent_to(stop, message, false, to) + self.sent_to(stop, message, true, to)).sum()
    }

    fn sent_to(&self, stop: usize, message: Message, odd: bool, to: usize) -> u64 {
        self.0.get(Self::place(stop, message, odd) + to % STOPS)
    }

    /// Where the counts by receiver begin.
    #[inline]
    const fn place(stop: usize, message: Message, odd: bool) -> usize {
        ((stop * MESSAGES + message as usize) * 2 + odd as usize) * STOPS
    }
}

/// Routes on the rings of one socket that are no messages of slices and cores.
#[derive(Debug, Clone)]
pub struct RingCells {
    /// Stops of the ring.
    stops: usize,
    /// The first of its stops, numbered over the machine, and how many of them are those of slices.
    slices: std::ops::Range<usize>,
    /// By ring, polarity, sender, receiver.
    routes: Grid<{ RingKind::COUNT * 2 * STOPS * STOPS }>,
    /// Rounds of what was not taken where it ended, by ring, polarity, counter-clockwise or clockwise.
    rounds: [[[u64; 2]; 2]; RingKind::COUNT],
}

impl RingCells {
    /// The ring of a socket with some slices, numbered over the machine; home agent and input-output have a stop each.
    pub fn new(slices: std::ops::Range<usize>) -> Self {
        Self { stops: slices.len() + 2, slices, routes: Grid::new(), rounds: Default::default() }
    }

    /// Something that is no message of a slice or a core goes over a ring.
    #[inline]
    pub fn travel(&mut self, route: Route) {
        let Route { kind, from, to, odd } = route;
        self.routes.add(place(kind, odd, from.into(), to.into()));
    }

    /// Something is not taken where its way ends, and goes on until it has passed all stops.
    pub fn go_round(&mut self, route: Route) {
        let steps = (usize::from(route.to) + self.stops - usize::from(route.from)) % self.stops;
        let clockwise = steps <= self.stops / 2;
        self.rounds[route.kind as usize][usize::from(route.odd)][usize::from(clockwise)] += 1;
    }

    fn routes(&self, messages: &MessageCells, kind: RingKind, odd: bool, from: usize, to: usize) -> u64 {
        let others = self.routes.get(place(kind, odd, from, to));
        let stop = self.slices.start + from;
        if !self.slices.contains(&stop) {
            return others;
        }
        let of_kind = Message::ALL.iter().filter(|message| message.ring() == kind);
        others + of_kind.map(|&message| messages.sent_to(stop, message, odd, to)).sum::<u64>()
    }

    /// Transfers that stop `at` saw on a ring: in one direction, if one is given, and with one polarity, if one is
    /// given.
    fn seen(
        &self,
        messages: &MessageCells,
        kind: RingKind,
        at: usize,
        clockwise: Option<bool>,
        odd: Option<bool>,
    ) -> u64 {
        let polarities = || [false, true].into_iter().filter(|&is| odd.is_none_or(|wanted| wanted == is));
        let directions = || [false, true].into_iter().filter(|&is| clockwise.is_none_or(|wanted| wanted == is));
        let rounds = &self.rounds[kind as usize];
        let mut sum: u64 = polarities()
            .flat_map(|is_odd| directions().map(move |direction| rounds[usize::from(is_odd)][usize::from(direction)]))
            .sum();
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
                    sum += polarities().map(|is| self.routes(messages, kind, is, from, to)).sum::<u64>();
                }
            }
        }
        sum * u64::from(kind.slots())
    }

    /// What `RING_*_USED` counts at a stop. `mirrored`: where the names up and down are those of the second half of the
    /// slices.
    pub fn value(
        &self,
        messages: &MessageCells,
        at: usize,
        mirrored: bool,
        event: &str,
        subevent: &str,
    ) -> Option<u64> {
        let kind = match event {
            "RING_AD_USED" => RingKind::Address,
            "RING_AK_USED" => RingKind::Acknowledge,
            "RING_BL_USED" => RingKind::Block,
            "RING_IV_USED" if subevent == "ANY" => return Some(self.seen(messages, RingKind::Snoop, at, None, None)),
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
        Some(self.seen(messages, kind, at, Some(clockwise), Some(odd)))
    }
}

#[inline]
const fn place(kind: RingKind, odd: bool, from: usize, to: usize) -> usize {
    ((kind as usize * 2 + odd as usize) * STOPS + from % STOPS) * STOPS + to % STOPS
}

#[cfg(test)]
mod tests {
    use super::{Message, MessageCells, RingCells, RingKind, Route, Sending};

    #[test]
    fn a_message_is_seen_where_it_passes_and_where_it_ends() {
        let mut cells = RingCells::new(8..16);
        // From stop 8 the short way to stop 1 is 9, 0, 1: clockwise. From 2 to 9 it is 1, 0, 9: counter-clockwise.
        cells.travel(Route { kind: RingKind::Block, from: 8, to: 1, odd: true });
        cells.travel(Route { kind: RingKind::Block, from: 2, to: 9, odd: false });
        let seen = |at, sub: &str| cells.value(&MessageCells::new(), at, false, "RING_BL_USED", sub).unwrap();
        let clockwise: Vec<u64> = (0..10).map(|at| seen(at, "CW_ODD")).collect();
        assert_eq!(clockwise, [2, 2, 0, 0, 0, 0, 0, 0, 0, 2]);
        let back: Vec<u64> = (0..10).map(|at| seen(at, "DOWN_EVEN")).collect();
        assert_eq!(back, [2, 2, 0, 0, 0, 0, 0, 0, 0, 2]);
        assert!((0..10).all(|at| seen(at, "CW_EVEN") + seen(at, "UP_EVEN") + seen(at, "CCW_ODD") == 0));
    }

    #[test]
    fn a_snoop_goes_round_and_what_stays_at_its_stop_is_not_seen() {
        let mut cells = RingCells::new(8..16);
        cells.travel(Route { kind: RingKind::Snoop, from: 3, to: 3, odd: true });
        cells.travel(Route { kind: RingKind::Address, from: 3, to: 3, odd: true });
        let snoops: Vec<u64> =
            (0..10).map(|at| cells.value(&MessageCells::new(), at, true, "RING_IV_USED", "ANY").unwrap()).collect();
        assert_eq!(snoops, [1, 1, 1, 0, 1, 1, 1, 1, 1, 1]);
        let up: Vec<u64> =
            (0..10).map(|at| cells.value(&MessageCells::new(), at, true, "RING_AD_USED", "UP_ODD").unwrap()).collect();
        assert_eq!(up, [0; 10]);
    }

    /// An acknowledgement from slice 2 to input-output, at stop 9, goes counter-clockwise over 1, 0 and 9. It is not
    /// taken there, and goes round: all stops see it once more.
    #[test]
    fn what_is_not_taken_passes_all_stops_again() {
        let mut cells = RingCells::new(0..8);
        let route = Route { kind: RingKind::Acknowledge, from: 2, to: 9, odd: true };
        cells.travel(route);
        cells.go_round(route);
        let seen = |at, sub: &str| cells.value(&MessageCells::new(), at, false, "RING_AK_USED", sub).unwrap();
        assert_eq!((0..10).map(|at| seen(at, "CCW_ODD")).collect::<Vec<_>>(), [2, 2, 1, 1, 1, 1, 1, 1, 1, 2]);
        assert!((0..10).all(|at| seen(at, "CW_ODD") + seen(at, "CCW_EVEN") == 0));
    }

    #[test]
    fn messages_of_a_sockets_slices_are_seen_on_its_ring_only() {
        let mut messages = MessageCells::new();
        // Slice 1 of the second of two sockets to the home agent, at stop 8: 1, 0, 9, 8 counter-clockwise.
        messages.add(Sending { stop: 9, message: Message::DataFromCache, to: 8, odd: true, waited: 0 });
        let seen = |cells: &RingCells| -> u64 {
            (0..10).map(|at| cells.value(&messages, at, false, "RING_BL_USED", "DOWN_ODD").unwrap()).sum()
        };
        assert_eq!((seen(&RingCells::new(0..8)), seen(&RingCells::new(8..16))), (0, 6));
        assert_eq!((messages.sent(9, Message::DataFromCache), messages.sent(1, Message::DataFromCache)), (1, 0));
    }
}
