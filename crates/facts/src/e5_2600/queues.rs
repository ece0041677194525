//! Queues, credits and states: what has entries, and what turns them away.

use pericore_dram::Pending;

use super::packet::{LinkStall, LinkState};
use super::packet_kind::Class;
use super::ring::RingKind;

/// Something that can have entries, or that can hold. Slices, home agents and links are numbered over the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UncoreUse {
    /// A state of a slice's queues.
    Slice(u16, SliceState),
    /// A slice's ring stop holds new messages back.
    Throttle(u16),
    /// Requests at a home agent that wait for another to the same line.
    Conflict(u8),
    /// A home agent sends no data straight to cores.
    DirectDisabled(u8),
    /// Messages of a home agent that wait for a link: 0 and 1 by the address ring for either link, 2 and 3 by the data
    /// ring.
    NoLink(u8, u8),
    /// Credits of a home agent that are in use: of the read or the write queue of a channel.
    Credit(u8, Pending, u8),
    /// The same of the credits that isochronous requests have.
    SpecialCredit(u8, Pending, u8),
    /// Messages that wait for a ring in a scheduler bank of a home agent.
    HomeEgress(u8, RingKind, u8),
    /// Entries of an egress queue of a socket's input-output stop.
    IoEgress(u8, IoQueue),
    /// Packets for the IIO in that stop.
    IoIngress(u8, IoClass),
    /// Credits of the stop towards the IIO that are in use.
    IoCredit(u8, IoClass),
    /// The credit of a link's ring stop towards input-output.
    LinkIoCredit(u16, IoClass),
    /// A power state of one end of a link.
    Link(u16, LinkState),
    /// One end of a link waits.
    Stall(u16, LinkStall),
    /// A stage of a bus hold of a socket's system agent.
    Hold(u8, HoldStage),
}

/// What was turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refused {
    /// An entry of a slice's queue, and why.
    Slice(u16, IngressQueue, Refusal),
    /// An entry of an egress queue of a socket's input-output stop, by its ring.
    IoEgress(u8, IoQueue),
    /// A packet in that stop: no credit towards the IIO.
    Io(u8, IoClass),
    /// A packet in a link's ring stop: no credit towards input-output.
    LinkIo(u16, IoClass),
}

/// Queues of a slice whose entries can be turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum IngressQueue {
    /// IRQ: requests of cores and of input-output.
    Requests,
    /// ISMQ: responses and what follows from them.
    Responses,
    /// IPQ: snoops of other sockets.
    Snoops,
}

impl IngressQueue {
    /// How many there are.
    pub const COUNT: usize = 3;
}

/// Why an entry of a slice's queue is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Refusal {
    /// The egress is full.
    Full,
    /// A request for the same line is under way.
    Conflict,
    /// No tracker entry of the home agent (RTID) is free.
    Tracker,
}

impl Refusal {
    /// How many there are.
    pub const COUNT: usize = 3;
}

/// States of a slice's queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SliceState {
    /// A response wants the pipeline.
    ResponseBids,
    /// A response was turned away and waits.
    ResponseStarves,
    /// A request was passed over in favour of a response and waits.
    RequestStarves,
}

impl SliceState {
    /// How many there are.
    pub const COUNT: usize = 3;
}

/// Egress queues of an input-output stop, by ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum IoQueue {
    /// To the AD ring: requests.
    Address,
    /// To the AK ring: acknowledgements.
    Acknowledge,
    /// To the BL ring: data of writes.
    Block,
}

impl IoQueue {
    /// How many there are.
    pub const COUNT: usize = 3;
}

/// Message classes of packets for the IIO.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum IoClass {
    /// DRS: data for a device's read.
    Data,
    /// NCB: writes of cores to devices.
    Write,
    /// NCS: reads of cores from devices.
    Read,
}

impl IoClass {
    /// How many there are.
    pub const COUNT: usize = 3;
    /// All of them.
    pub const ALL: [Self; Self::COUNT] = [Self::Data, Self::Write, Self::Read];

    /// The class of the packets that come over links.
    pub const fn of_packets(self) -> Class {
        match self {
            Self::Data => Class::Data,
            Self::Write => Class::Bypass,
            Self::Read => Class::Standard,
        }
    }
}

/// Stages of a bus hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum HoldStage {
    /// Requested for, not granted.
    Requested,
    /// Granted.
    Granted,
}

impl HoldStage {
    /// How many there are.
    pub const COUNT: usize = 2;
}
