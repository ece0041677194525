//! Events of the model, packed into the queue's integers.

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// A thread goes on issuing accesses.
    Issue,
    /// A request of which somebody may hear arrives in its slice's queue.
    Arrive,
    /// A snoop arrives in its slice's queue.
    SnoopArrive,
    /// A slice's pipeline may take its next request.
    Pump,
    /// A ring stop sends the next of its messages.
    Egress,
    /// The home agent accepts a request.
    Accept,
    /// The home agent hands write data to the memory controller.
    Write,
    /// The home agent answers.
    Respond,
    /// A line arrives at its slice.
    Fill,
    /// Data arrives at the core.
    Data,
    /// The next step of a request in a slice: snoop answered, quick work done, or write completed.
    Step,
    /// A packet arrives at the ring stop of its link.
    Post,
    /// The ring stop of a link may hand another packet over.
    Forward,
    /// A packet has come over a link.
    Delivered,
    /// The credits of a packet have come back.
    CreditsBack,
    /// The answer to a snoop arrives at the home agent.
    SnoopResponse,
    /// The modified line that a snoop found arrives at the home agent.
    SnoopWrite,
    /// Data or completion of a read arrives at its slice.
    Part,
    /// The home agent may send the next message by the address ring.
    HomeEgress,
    /// A slice's ring stop need no longer hold its messages back.
    ThrottleEnds,
    /// The home agent tries again to send an acknowledgement.
    HomeAcknowledge,
    /// A socket's power unit makes a change.
    Power,
    /// A socket's system agent handles a message.
    Agent,
    /// A socket's input-output stop moves its queues on.
    Device,
    /// The phase may be over.
    Phase,
    /// A packet from a link comes to the input-output stop.
    Passage,
    /// A device or system agent answers a core of another socket.
    Far,
    /// A page walk of a core ends.
    Walked,
}

impl Event {
    /// An event of a thread, slice or request.
    pub const fn of(self, subject: u16) -> u32 {
        (self as u32) << 16 | subject as u32
    }

    /// The event and its subject.
    #[inline]
    pub const fn unpack(packed: u32) -> (Self, u16) {
        (Self::numbered((packed >> 16) as u8), packed as u16)
    }

    /// The event with a number: written so that the compiler sees that there is nothing to do.
    #[inline]
    const fn numbered(number: u8) -> Self {
        match number {
            n if n == Self::Issue as u8 => Self::Issue,
            n if n == Self::Arrive as u8 => Self::Arrive,
            n if n == Self::SnoopArrive as u8 => Self::SnoopArrive,
            n if n == Self::Pump as u8 => Self::Pump,
            n if n == Self::Egress as u8 => Self::Egress,
            n if n == Self::Accept as u8 => Self::Accept,
            n if n == Self::Write as u8 => Self::Write,
            n if n == Self::Respond as u8 => Self::Respond,
            n if n == Self::Fill as u8 => Self::Fill,
            n if n == Self::Data as u8 => Self::Data,
            n if n == Self::Step as u8 => Self::Step,
            n if n == Self::Post as u8 => Self::Post,
            n if n == Self::Forward as u8 => Self::Forward,
            n if n == Self::Delivered as u8 => Self::Delivered,
            n if n == Self::CreditsBack as u8 => Self::CreditsBack,
            n if n == Self::SnoopResponse as u8 => Self::SnoopResponse,
            n if n == Self::SnoopWrite as u8 => Self::SnoopWrite,
            n if n == Self::Part as u8 => Self::Part,
            n if n == Self::HomeEgress as u8 => Self::HomeEgress,
            n if n == Self::ThrottleEnds as u8 => Self::ThrottleEnds,
            n if n == Self::HomeAcknowledge as u8 => Self::HomeAcknowledge,
            n if n == Self::Power as u8 => Self::Power,
            n if n == Self::Agent as u8 => Self::Agent,
            n if n == Self::Device as u8 => Self::Device,
            n if n == Self::Phase as u8 => Self::Phase,
            n if n == Self::Passage as u8 => Self::Passage,
            n if n == Self::Far as u8 => Self::Far,
            n if n == Self::Walked as u8 => Self::Walked,
            _ => unreachable!(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Event;

    #[test]
    fn every_event_comes_out_as_it_went_in() {
        for number in 0..=Event::Walked as u32 {
            let (event, subject) = Event::unpack(number << 16 | 12_345);
            assert_eq!((event as u32, subject), (number, 12_345));
            assert_eq!(event.of(subject), number << 16 | 12_345);
        }
    }
}
