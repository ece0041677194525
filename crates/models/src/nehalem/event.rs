//! Events of the model, packed into the queue's integers.

/// What happens, to a thread, request, probe, port or link by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// Nobody cares.
    Nothing,
    /// A thread goes on issuing accesses.
    Issue,
    /// A device goes on.
    Device,
    /// A request arrives at the global queue.
    Arrive,
    /// A request is looked up in the LLC.
    LookUp,
    /// The LLC has answered a request.
    Replied,
    /// A line goes on to the core.
    ToCore,
    /// Data arrives at the core.
    Data,
    /// A write-back has come through the queue's port.
    Taken,
    /// A write-back has reached the LLC, or memory.
    Written,
    /// A line that the LLC gives up comes out of it.
    Out,
    /// A write leaves the queue for its home.
    Leave,
    /// Data that a snoop found modified arrives at its home.
    Return,
    /// A request arrives at its home.
    Home,
    /// A request reaches the memory controller.
    Memory,
    /// A read's data has come to the home from memory.
    Read,
    /// A write has been taken over by memory.
    Posted,
    /// A part of its answer arrives at a request's socket.
    Part,
    /// Data for a request comes through the links' port of its socket.
    FromLinks,
    /// A snoop arrives at a socket.
    Probe,
    /// A snoop is looked up in the LLC.
    ProbeLookUp,
    /// A snooped socket answers.
    ProbeReply,
    /// An answer to a snoop arrives at the home.
    Response,
    /// A line that a snoop passes on comes out of the queue.
    Pass,
    /// A line leaves its socket for another agent.
    Send,
    /// The answer to a device's request arrives at the hub.
    Hub,
    /// A data port is free.
    PortFree,
    /// A link has sent a message.
    LinkFree,
    /// A link gets a credit back.
    Credit,
    /// The phase may be over.
    Phase,
    /// A page walk of a core ends.
    Walked,
}

impl Event {
    const ALL: [Self; 31] = [
        Self::Nothing,
        Self::Issue,
        Self::Device,
        Self::Arrive,
        Self::LookUp,
        Self::Replied,
        Self::ToCore,
        Self::Data,
        Self::Taken,
        Self::Written,
        Self::Out,
        Self::Leave,
        Self::Return,
        Self::Home,
        Self::Memory,
        Self::Read,
        Self::Posted,
        Self::Part,
        Self::FromLinks,
        Self::Probe,
        Self::ProbeLookUp,
        Self::ProbeReply,
        Self::Response,
        Self::Pass,
        Self::Send,
        Self::Hub,
        Self::PortFree,
        Self::LinkFree,
        Self::Credit,
        Self::Phase,
        Self::Walked,
    ];

    /// An event of a subject.
    #[inline]
    pub const fn of(self, subject: u16) -> u32 {
        (self as u32) << 16 | subject as u32
    }

    /// The event and its subject.
    #[inline]
    pub const fn unpack(packed: u32) -> (Self, u16) {
        (Self::ALL[(packed >> 16) as usize], packed as u16)
    }
}

/// No event.
pub const NOTHING: u32 = Event::Nothing.of(0);
