//! What happens in an Emerald Rapids machine.
//!
//! A unit's instance is a pair: its socket, and its number there.

mod agents;
mod devices;
mod fact;
mod home;
mod kind;
mod link_facts;
mod link_messages;
mod links;
mod mesh;
mod place;
mod platform;
mod readers;
mod reason;
mod shape;
mod victim;

pub use agents::{AgentFact, FilterVictim, MemoryUnitFact, SnoopCause, SnoopReply};
pub use devices::{
    ATOMIC_DWS, DOORBELL_DWS, DeviceRequest, DeviceStation, ExpanderFact, INBOUND_DATA, INBOUND_READS, LINE_DWS,
    PARTIAL_DWS, PeerLine, PeerStation, StackFact, stop_port,
};
pub use fact::{Fact, MemoryFact};
pub use home::{DirectoryState, HomeRequest, MemoryAction, MemoryRequest, PrefetchFate, PrefetchSender, PrefetchSent};
pub use kind::{Class, Found, Kind, Lookup, Queue, Target};
pub use link_facts::{BlockHalves, Bypass, Limbo, LinkFact, RunAhead, SlotRequest};
pub use link_messages::{LinkClass, LinkCodes, LinkMessage};
pub use links::{
    ADDRESS_CLASSES, Arbitration, ArbitrationOutcome, COMPLETIONS, FLOW_LEAST, FLOW_ROOM, FlowRing, LINK_CLASSES,
    LinkPacket, LinkWidth, NARROWING, NETWORKS, OWN_CLASSES, OWN_CREDITS, Paid, ReturnedCredits, SHARED_CREDITS,
    TAKER_CREDITS, TAKERS, Taker, UNFETCHED, WIDENING, allotted, flits, own_of,
};
pub use mesh::{Bridged, Dies, HALF_FULL, MOST_COLUMNS, MOST_ROWS, MOST_TILES, Message, PATIENCE, ROOM, Ring, Tile};
pub use place::{SubchannelPlace, UnitInstance};
pub use platform::{CState, PackageCondition, SYSTEM_ROOM, SystemFact, SystemMessage};
pub use readers::Readers;
pub use reason::Reason;
pub use shape::{Clocks, Shape};
pub use victim::Victim;
