//! Events of the model, packed into the queue's integers.

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// A thread goes on issuing accesses.
    Issue,
    /// A request arrives in its slice's queue.
    Arrive,
    /// A slice's pipeline may take its next request.
    Pump,
    /// A ring stop sends the next of its messages.
    Egress,
    /// The home agent accepts a request.
    Accept,
    /// The home agent hands write data to the memory controller.
    Write,
    /// The home agent answers.
    Answer,
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
    SnoopAnswer,
    /// The modified line that a snoop found arrives at the home agent.
    SnoopWrite,
    /// Data or completion of a read arrives at its slice.
    Part,
    /// The home agent may send the next message by the address ring.
    HomeEgress,
    /// A socket's power unit makes a change.
    Power,
    /// A socket's system agent runs an errand.
    Agent,
    /// A socket's input-output stop moves its queues on.
    Device,
    /// The phase may be over.
    Phase,
    /// A packet from a link comes to the input-output stop.
    Passage,
    /// A device or system agent answers a core of another socket.
    Far,
}

impl Event {
    const ALL: [Self; 24] = [
        Self::Issue,
        Self::Arrive,
        Self::Pump,
        Self::Egress,
        Self::Accept,
        Self::Write,
        Self::Answer,
        Self::Fill,
        Self::Data,
        Self::Step,
        Self::Post,
        Self::Forward,
        Self::Delivered,
        Self::CreditsBack,
        Self::SnoopAnswer,
        Self::SnoopWrite,
        Self::Part,
        Self::HomeEgress,
        Self::Power,
        Self::Agent,
        Self::Device,
        Self::Phase,
        Self::Passage,
        Self::Far,
    ];

    /// An event of a thread, slice or request.
    pub const fn of(self, subject: u16) -> u32 {
        (self as u32) << 16 | subject as u32
    }

    /// The event and its subject.
    #[inline]
    pub fn unpack(packed: u32) -> (Self, u16) {
        (BY_NUMBER[(packed >> 16) as usize % BY_NUMBER.len()], packed as u16)
    }
}

/// Events by number, filled up to a power of two so that reading needs no check of bounds.
static BY_NUMBER: [Event; 32] = {
    let mut table = [Event::Issue; 32];
    let mut index = 0;
    while index < Event::ALL.len() {
        table[index] = Event::ALL[index];
        index += 1;
    }
    table
};
