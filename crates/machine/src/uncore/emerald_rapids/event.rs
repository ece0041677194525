//! Events of the model, packed into the queue's integers.

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// A thread goes on issuing accesses.
    Issue,
    /// A request arrives in its agent's ingress queue.
    Arrive,
    /// An agent's pipeline may take its next request.
    Pump,
    /// A request arrives where mesh and memory meet.
    AtMemory,
    /// Memory answers there.
    Answer,
    /// Data or permission arrives at the requester.
    Data,
    /// A request's entry in the table of requests is free.
    Release,
    /// A snooped core has answered.
    Snooped,
    /// A message arrives at the other socket's end of a link.
    Linked,
    /// A device sends its next request.
    Device,
    /// A stack is done with a request of a device.
    Completed,
    /// A core's access arrives at a stack.
    AtDevice,
    /// A stack answers a core's access.
    FromDevice,
    /// A link may have been idle for long enough to save power.
    LinkIdle,
    /// The phase may be over.
    Phase,
}

impl Event {
    const ALL: [Self; 15] = [
        Self::Issue,
        Self::Arrive,
        Self::Pump,
        Self::AtMemory,
        Self::Answer,
        Self::Data,
        Self::Release,
        Self::Snooped,
        Self::Linked,
        Self::Device,
        Self::Completed,
        Self::AtDevice,
        Self::FromDevice,
        Self::LinkIdle,
        Self::Phase,
    ];

    /// An event of a thread, agent, request or device.
    pub const fn of(self, subject: u16) -> u32 {
        (self as u32) << 16 | subject as u32
    }

    /// The event and its subject.
    pub const fn unpack(packed: u32) -> (Self, u16) {
        (Self::ALL[(packed >> 16) as usize], packed as u16)
    }
}
