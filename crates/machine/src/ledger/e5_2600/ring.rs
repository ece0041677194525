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

/// Messages that a ring stop of a slice or its core sends (2.3.7, `TxR_INSERTS`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Message {
    /// Slice: request to the home agent.
    AddressFromCache,
    /// Slice: global observation or completion to a core.
    AcknowledgeFromCache,
    /// Slice: data to a core or to the home agent.
    DataFromCache,
    /// Slice: snoop to cores.
    SnoopFromCache,
    /// Core: request to a slice.
    AddressFromCore,
    /// Core: answer to a snoop.
    AcknowledgeFromCore,
    /// Core: data of a writeback.
    DataFromCore,
}

impl Message {
    /// How many kinds there are.
    pub const COUNT: usize = 7;
    /// All kinds, by their number.
    pub const ALL: [Self; Self::COUNT] = [
        Self::AddressFromCache,
        Self::AcknowledgeFromCache,
        Self::DataFromCache,
        Self::SnoopFromCache,
        Self::AddressFromCore,
        Self::AcknowledgeFromCore,
        Self::DataFromCore,
    ];

    /// The ring that it goes over.
    pub const fn ring(self) -> RingKind {
        match self {
            Self::AddressFromCache | Self::AddressFromCore => RingKind::Address,
            Self::AcknowledgeFromCache | Self::AcknowledgeFromCore => RingKind::Acknowledge,
            Self::DataFromCache | Self::DataFromCore => RingKind::Block,
            Self::SnoopFromCache => RingKind::Snoop,
        }
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
/// Stops of slices and cores of a machine.
const MACHINE_STOPS: usize = 32;
/// Messages that are told apart: a power of two.
const MESSAGES: usize = 8;

/// Messages that the stops of slices and cores have sent over their rings: by stop, message, polarity, receiver.
#[derive(Debug, Clone)]
pub struct MessageCells(Grid<{ MACHINE_STOPS * MESSAGES * 2 * STOPS }>);

impl MessageCells {
    pub fn new() -> Self {
        Self(Grid::new())
    }

    /// A stop, numbered over the machine, sends a message to another of its socket.
    #[inline]
    pub fn add(&mut self, stop: u16, message: Message, to: u8, odd: bool) {
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
    const fn place(stop: usize, message: Message, odd: bool) -> usize {
        ((stop * MESSAGES + message as usize) * 2 + odd as usize) * STOPS
    }
}

/// Journeys on the rings of one socket that are no messages of slices and cores.
#[derive(Debug, Clone)]
pub struct RingCells {
    /// Stops of the ring.
    stops: usize,
    /// The first of its stops, numbered over the machine, and how many of them are those of slices.
    slices: std::ops::Range<usize>,
    /// By ring, polarity, sender, receiver.
    journeys: Grid<{ RingKind::COUNT * 2 * STOPS * STOPS }>,
}

impl RingCells {
    /// The ring of a socket with some slices, numbered over the machine; home agent and input-output have a stop each.
    pub fn new(slices: std::ops::Range<usize>) -> Self {
        Self { stops: slices.len() + 2, slices, journeys: Grid::new() }
    }

    /// Something that is no message of a slice or a core goes over a ring.
    #[inline]
    pub fn travel(&mut self, journey: Journey) {
        let Journey { kind, from, to, odd } = journey;
        self.journeys.add(place(kind, odd, from.into(), to.into()));
    }

    fn journeys(&self, messages: &MessageCells, kind: RingKind, odd: bool, from: usize, to: usize) -> u64 {
        let others = self.journeys.get(place(kind, odd, from, to));
        let stop = self.slices.start + from;
        if !self.slices.contains(&stop) {
            return others;
        }
        let of_kind = Message::ALL.iter().filter(|message| message.ring() == kind);
        others + of_kind.map(|&message| messages.sent_to(stop, message, odd, to)).sum::<u64>()
    }

    /// Transfers that stop `at` saw on a ring: in one direction, if one is given, and with one polarity, if one is given.
    fn seen(
        &self,
        messages: &MessageCells,
        kind: RingKind,
        at: usize,
        clockwise: Option<bool>,
        odd: Option<bool>,
    ) -> u64 {
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
                    sum += polarities.map(|is| self.journeys(messages, kind, is, from, to)).sum::<u64>();
                }
            }
        }
        sum * u64::from(kind.slots())
    }

    /// What `RING_*_USED` counts at a stop. `mirrored`: where the names up and down are those of the second half of the slices.
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

const fn place(kind: RingKind, odd: bool, from: usize, to: usize) -> usize {
    ((kind as usize * 2 + odd as usize) * STOPS + from % STOPS) * STOPS + to % STOPS
}

#[cfg(test)]
mod tests {
    use super::{Journey, MessageCells, RingCells, RingKind};
    use crate::ledger::e5_2600::Message;

    #[test]
    fn a_message_is_seen_where_it_passes_and_where_it_ends() {
        let mut cells = RingCells::new(8..16);
        // From stop 8 the short way to stop 1 is 9, 0, 1: clockwise. From 2 to 9 it is 1, 0, 9: counter-clockwise.
        cells.travel(Journey { kind: RingKind::Block, from: 8, to: 1, odd: true });
        cells.travel(Journey { kind: RingKind::Block, from: 2, to: 9, odd: false });
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
        cells.travel(Journey { kind: RingKind::Snoop, from: 3, to: 3, odd: true });
        cells.travel(Journey { kind: RingKind::Address, from: 3, to: 3, odd: true });
        let snoops: Vec<u64> =
            (0..10).map(|at| cells.value(&MessageCells::new(), at, true, "RING_IV_USED", "ANY").unwrap()).collect();
        assert_eq!(snoops, [1, 1, 1, 0, 1, 1, 1, 1, 1, 1]);
        let up: Vec<u64> =
            (0..10).map(|at| cells.value(&MessageCells::new(), at, true, "RING_AD_USED", "UP_ODD").unwrap()).collect();
        assert_eq!(up, [0; 10]);
    }

    #[test]
    fn messages_of_a_sockets_slices_are_seen_on_its_ring_only() {
        let mut messages = MessageCells::new();
        // Slice 1 of the second of two sockets to the home agent, at stop 8: 1, 0, 9, 8 counter-clockwise.
        messages.add(9, Message::DataFromCache, 8, true);
        let seen = |cells: &RingCells| -> u64 {
            (0..10).map(|at| cells.value(&messages, at, false, "RING_BL_USED", "DOWN_ODD").unwrap()).sum()
        };
        assert_eq!((seen(&RingCells::new(0..8)), seen(&RingCells::new(8..16))), (0, 6));
        assert_eq!((messages.sent(9, Message::DataFromCache), messages.sent(1, Message::DataFromCache)), (1, 0));
    }
}
