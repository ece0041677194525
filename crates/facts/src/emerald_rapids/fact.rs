//! The facts of this family.

use pericore_dram::{MajorMode, MemoryState, Pending, Sent};
use pericore_engine::Tick;

use super::{
    AgentFact, CState, Class, DeviceRequest, DeviceStation, DirectoryState, ExpanderFact, Found, HomeRequest, LinkFact,
    MemoryRequest, MemoryUnitFact, Message, PackageCondition, PeerLine, PeerStation, PrefetchFate, PrefetchSender,
    PrefetchSent, Queue, Reason, StackFact, SubchannelPlace, SystemFact, UnitInstance, Victim,
};

/// Something that happened.
#[derive(Debug, Clone, Copy)]
pub enum Fact {
    /// A request of a class sets out for an agent.
    SetsOut(UnitInstance, Class),
    /// The response to a request is on its way to its agent.
    Answered(UnitInstance, Class),
    /// A core's request comes to an agent's ingress queue: a fact only where somebody wants to know at once.
    Comes(UnitInstance),
    /// A core's request leaves the ingress queue to which it came at the tick.
    Leaves(UnitInstance, Tick),
    /// An agent looks a request up.
    LooksUp(UnitInstance, Class, Found),
    /// A request takes an entry of an agent's table of requests.
    TakesEntry(UnitInstance, Class),
    /// It gives it back.
    GivesEntry(UnitInstance, Class, Tick),
    /// An agent turns a request of a queue away; the last says whether it has done so before.
    TurnsAway(UnitInstance, Queue, Reason, bool),
    /// A request that was turned away tries again.
    TriesAgain(UnitInstance, Queue, Reason),
    /// A line gives way to a fill.
    GivesWay(UnitInstance, Victim),
    /// A message has been put on a socket's mesh; its whole way is known.
    Goes(u16, Message),
    /// Something at one end of a link between sockets.
    Link(UnitInstance, LinkFact),
    /// An I/O stack's coherent port responses a snoop: result, kind of snoop.
    Responds(UnitInstance, u8, u8),
    /// Something is requested of a home agent, by its own socket or (the last) by another.
    Requested(UnitInstance, HomeRequest, bool),
    /// An agent sends a request to memory: at once, and with a credit there, or not.
    Sends(UnitInstance, MemoryRequest, bool, bool),
    /// An agent has a prefetch for a half of a memory unit.
    SendsPrefetch(UnitInstance, u8, PrefetchSent),
    /// A prefetch comes to a half of a unit where mesh and memory meet.
    PrefetchComes(UnitInstance, u8, PrefetchSender, PrefetchFate),
    /// A request comes to where mesh and memory meet, which is the instance.
    ComesToMemory(UnitInstance, MemoryRequest),
    /// Memory has done it.
    LeavesMemory(UnitInstance, MemoryRequest),
    /// A line has come from memory unit of a number for an agent with directory bits; the last says whether the other
    /// socket is requested.
    LooksInDirectory(UnitInstance, u16, DirectoryState, bool),
    /// A line's directory bits change there for an agent's read, for which the line is written again; the last says
    /// whether the other socket reads and a cache of this one had the line.
    ChangesDirectory(UnitInstance, u16, (DirectoryState, DirectoryState), bool),
    /// Something in a memory subchannel.
    Memory(SubchannelPlace, MemoryFact),
    /// Something else at an agent.
    Agent(UnitInstance, AgentFact),
    /// Something else where mesh and memory meet.
    MemoryUnit(UnitInstance, MemoryUnitFact),
    /// A request of a device of a stack.
    Device(UnitInstance, DeviceStation, DeviceRequest),
    /// Something else in a stack.
    Stack(UnitInstance, StackFact),
    /// A line between devices.
    Peer(PeerStation, PeerLine),
    /// Something on a CXL link.
    Expander(UnitInstance, ExpanderFact),
    /// A core of a socket changes its state, from none when the machine starts; the last says whether it asked for a
    /// deeper one.
    Core(u16, Option<CState>, CState, bool),
    /// A core of a socket begins (true) or ends to change its state.
    CoreChanges(u16, bool),
    /// Something begins (true) or ends to hold of a socket's package.
    Package(u16, PackageCondition, bool),
    /// Something in a socket's system agent.
    System(u16, SystemFact),
}

/// What happens in a memory subchannel.
#[derive(Debug, Clone, Copy)]
pub enum MemoryFact {
    /// It starts, in read major mode with all clocks on.
    Starts,
    /// A command goes out.
    Command(Sent),
    /// The data of the oldest read command has come in and leaves the buffer.
    Delivers,
    /// A request takes an entry of a pending queue; the last says whether it is isochronous.
    Enters(Pending, bool),
    /// It gives it back.
    Leaves(Pending),
    /// A read is answered from a pending write.
    Forwards,
    /// A write replaces a pending one.
    Merges,
    /// The major mode changes.
    Mode {
        /// From this one.
        from: MajorMode,
        /// To this one.
        to: MajorMode,
        /// Reads wait, and writes do.
        preempts: bool,
    },
    /// A read closes a row that this queue was waiting for.
    Preempts(Pending),
    /// A state begins or ends.
    State(MemoryState, bool),
    /// An error is corrected.
    Corrects,
}
