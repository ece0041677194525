//! What happens in an E5-2600.
//!
//! Slices (and their cores), home agents, channels and links are numbered over the machine, socket by socket. Requests
//! and packets have a record of their lives, which each fact about them shows as it is by then.

mod packet;
mod packet_kind;
mod power;
mod queues;
mod request;
mod ring;

use pericore_engine::Tick;

use crate::{ChannelFact, FactReader};
pub use packet::{Credit, Flit, Flits, LinkStall, LinkState, PacketRecord, PacketStation};
pub use packet_kind::{Class, PacketKind};
pub use pericore_workload::MessageKind;
pub use power::{CORES, CoreState, PowerFact, PowerState};
pub use queues::{HoldStage, IngressQueue, IoClass, IoQueue, Refusal, Refused, SliceState, UncoreUse};
pub use request::{IO_THREAD, NO_THREAD, Rare, Record, RequestKind, RequestStation};
pub use ring::{Message, RingKind, Route, Sending};

/// Reads the facts of this family.
pub trait E5Reader: for<'a> FactReader<E5Fact<'a>> {}

impl<R: for<'a> FactReader<E5Fact<'a>>> E5Reader for R {}

/// One thing that happens.
#[derive(Debug, Clone, Copy)]
pub enum E5Fact<'a> {
    /// A request is at a station of its way.
    Request(RequestStation, &'a Record),
    /// A packet is at a station of its way over a link.
    Packet(PacketStation, &'a PacketRecord),
    /// What one end of a link sends, or receives, in this clock and in all that follow until the next such fact, but
    /// for the flits: they are those of this clock.
    Flits(Flits),
    /// The ring stop of a slice and its core sends a message.
    Sends(Sending),
    /// Something else goes over a ring of a socket.
    Travels(u8, Route),
    /// An entry comes to something, or it begins to hold.
    Begins(UncoreUse),
    /// An entry leaves it, or it no longer holds.
    Ends(UncoreUse),
    /// Something is turned away.
    Refuses(Refused),
    /// An acknowledgement for a socket's input-output stop goes round the whole ring once more, in the direction of
    /// the way that it came.
    Bounces(u8, Route),
    /// A line that a slice sends to a core, or its snoop of cores, is not taken and goes round the whole ring once
    /// more. Its way is the one that it came.
    CoreBounces(u16, Route),
    /// A socket's system agent handles a message.
    Handles(u8, MessageKind),
    /// A state that a socket's power unit decides begins.
    Enters(u8, PowerState),
    /// It ends, which has held since a tick. Reported also of what still holds, when somebody wants the state of a
    /// moment.
    Leaves(u8, PowerState, Tick),
    /// A core of a socket gets a lighter C-state than it requested.
    Demotes(u8, u8),
    /// Something in a memory channel.
    Memory(u16, ChannelFact),
}
