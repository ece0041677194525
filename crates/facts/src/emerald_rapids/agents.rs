//! What happens at caching and home agents, and where mesh and memory meet, beside look-ups and tables of requests.

use super::{Kind, Queue};

/// Why cores are snooped (Table 2-84).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum SnoopCause {
    /// A core of this socket asks for the line, or wants it written back.
    Core,
    /// The snoop filter needs its place.
    Evict,
    /// A device of this socket asks for it, or the other socket snoops it.
    External,
    /// The other socket asks for a line of this one's memory.
    Remote,
}

impl SnoopCause {
    /// How many there are.
    pub const COUNT: usize = 4;
}

/// An entry of the snoop filter that gives way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum FilterVictim {
    /// Its owner had modified the line.
    Modified,
    /// It had an owner.
    Exclusive,
    /// Several cores may have had the line.
    Shared,
}

impl FilterVictim {
    /// How many there are.
    pub const COUNT: usize = 3;
}

/// What the other socket answers to a snoop (Table 2-129).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum SnoopReply {
    /// It does not have the line, or gives a shared copy up.
    Nothing,
    /// It sends the line, and keeps no copy.
    Forwards,
    /// It sends the line, and shares it.
    Shares,
    /// It had modified the line, which it sends home, and shares.
    WritesBack,
}

impl SnoopReply {
    /// How many there are.
    pub const COUNT: usize = 4;
}

/// What happens at an agent.
#[derive(Debug, Clone, Copy)]
pub enum AgentFact {
    /// A request of a stack or of the other socket comes to the ingress queue.
    Queued(Queue),
    /// A request of the other socket leaves the queue.
    Dequeued(Queue),
    /// One core that has the line is snooped, or (the last) several.
    SnoopsCores(SnoopCause, bool),
    /// A snoop has found a copy, which is given up without a word of it.
    DropsSilently,
    /// An entry of the snoop filter gives way.
    DropsEntry(FilterVictim),
    /// A core learns that its request of a kind will be done.
    Grants(Kind),
    /// The other socket has answered a snoop.
    Answered(SnoopReply),
    /// Data from memory comes to the agent, since it is the agent that wants it.
    TakesData,
}

/// What happens where mesh and memory meet.
#[derive(Debug, Clone, Copy)]
pub enum MemoryUnitFact {
    /// A read begins (true) or ends to wait for a credit of the memory controller.
    ReadWaits(bool),
    /// A half's channel begins or ends to have no credit left for a write.
    NoWriteCredit(u8, bool),
    /// The same of the credits that isochronous writes have.
    NoSpecialCredit(u8, bool),
    /// Data goes onto the mesh at once (false), or after it has waited.
    Sends(bool),
    /// Data does not go straight to who asked for it: the other socket is asked first.
    NotDirect,
    /// Data for the other socket goes to the link; or, for want of a credit (false), to its agent.
    SendsAway(bool),
}
