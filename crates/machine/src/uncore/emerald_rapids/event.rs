//! Events of the model, packed into the queue's integers.

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// A thread goes on issuing accesses.
    Issue,
    /// A request of a device or of the other socket arrives in its agent's ingress queue.
    Arrive,
    /// A core's request does, and somebody hears of it.
    Heard,
    /// An agent's pipeline may take its next request.
    Pump,
    /// A request arrives where mesh and memory meet.
    AtMemory,
    /// A prefetch that runs ahead of it does.
    Ahead,
    /// One does that its read has overtaken.
    AheadTooLate,
    /// Memory answers there.
    Answer,
    /// Data or permission arrives at the requester.
    Data,
    /// A request's entry in the table of requests is free.
    Release,
    /// A snooped core has answered.
    Snooped,
    /// A message arrives at a link, from the mesh.
    Linked,
    /// A link may build its next flit.
    LinkPump,
    /// A flit leaves for the other socket.
    FlitOut,
    /// A flit has come from the other socket.
    FlitIn,
    /// What came over a link may go onto the mesh.
    FlowPump,
    /// Credits go back over a link.
    CreditOut,
    /// Credits have come back.
    CreditIn,
    /// An agent's way onto the mesh has room again for what a request needs: an acknowledgement, a snoop.
    AcknowledgeRoom,
    InvalidateRoom,
    /// An agent has taken a message of a link.
    AgentCredit,
    /// A link has trained.
    Trained,
    /// A device sends its next request.
    Device,
    /// A stack is done with a request of a device.
    Completed,
    /// A core's access arrives at a stack.
    AtDevice,
    /// A core's access has gone through a stack.
    PastPort,
    /// A stack answers a core's access.
    FromDevice,
    /// A link may have been idle for long enough to save power.
    LinkIdle,
    /// The phase may be over.
    Phase,
    /// A power unit's next change may be due.
    Power,
    /// A socket's next errand may be due.
    Errand,
    /// A message comes to a system agent, which takes it, and whose answer leaves.
    SystemMessage,
    SystemServe,
    SystemSent,
    /// A bus hold is granted.
    HoldGranted,
    /// A message between devices comes to its stack, is taken there, and its credit or data is back.
    PeerArrive,
    PeerTaken,
    PeerBack,
    /// A mesh stop gives a credit back to a stack's port.
    PortCredit,
    /// Data leaves the queue of a stack's port.
    PortData,
    /// A request arrives at an expander's memory controller, whose channels act next.
    AtExpander,
    ExpanderStep,
    /// Data of an expander arrives at its link, and goes onto the mesh.
    ExpanderData,
    ExpanderSent,
    /// A page walk of a core ends.
    Walked,
    /// The second half of a message that a link has sent comes, or is done with.
    Limbo,
    /// Memory has taken a link's completion.
    Completion,
    /// Credits of a link were not needed.
    CreditCorrected,
    /// A link layer has waited for a slot for credits.
    SlotDue,
    /// All lanes of a link are at work again.
    Widened,
    /// A home hears of a writeback, which waits at a link until it is fetched.
    WritePull,
    Fetched,
}

impl Event {
    const ALL: &[Self] = &[
        Self::Issue,
        Self::Arrive,
        Self::Heard,
        Self::Pump,
        Self::AtMemory,
        Self::Ahead,
        Self::AheadTooLate,
        Self::Answer,
        Self::Data,
        Self::Release,
        Self::Snooped,
        Self::Linked,
        Self::LinkPump,
        Self::FlitOut,
        Self::FlitIn,
        Self::FlowPump,
        Self::CreditOut,
        Self::CreditIn,
        Self::AcknowledgeRoom,
        Self::InvalidateRoom,
        Self::AgentCredit,
        Self::Trained,
        Self::Device,
        Self::Completed,
        Self::AtDevice,
        Self::PastPort,
        Self::FromDevice,
        Self::LinkIdle,
        Self::Phase,
        Self::Power,
        Self::Errand,
        Self::SystemMessage,
        Self::SystemServe,
        Self::SystemSent,
        Self::HoldGranted,
        Self::PeerArrive,
        Self::PeerTaken,
        Self::PeerBack,
        Self::PortCredit,
        Self::PortData,
        Self::AtExpander,
        Self::ExpanderStep,
        Self::ExpanderData,
        Self::ExpanderSent,
        Self::Walked,
        Self::Limbo,
        Self::Completion,
        Self::CreditCorrected,
        Self::SlotDue,
        Self::Widened,
        Self::WritePull,
        Self::Fetched,
    ];

    /// An event of a thread, agent, request or device.
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
