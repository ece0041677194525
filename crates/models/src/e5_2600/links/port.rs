//! The state of one end of a link.

use std::collections::VecDeque;

use pericore_engine::{NEVER, Pool, Tick};

use super::io_side::IoSide;
use super::packet::{Packet, PacketId};
use super::power_state::Power;
use super::retry::RetryBuffer;
use pericore_facts::e5_2600::{Class, LinkStall};

/// Packets that a link layer takes over before it has sent them.
const MOST_WAITING: usize = 4;
/// Packets of a class on their way from the link's clock to the ring's, or behind it before a message for input-output
/// gets its credit (assumption: as many as come meanwhile).
const CROSSING: u8 = 4;

/// A flit: its packet and its place in it.
pub type FlitPlace = (PacketId, u8);

/// What a link carries in a clock, by slot.
#[derive(Debug, Clone, Copy)]
pub struct Carried {
    pub cycle: u64,
    pub slots: [Option<FlitPlace>; 2],
}

/// One end of a link.
#[derive(Debug)]
pub struct Port {
    /// The other end.
    pub peer: u16,
    // The ring stop, towards the link.
    pub queues: [VecDeque<PacketId>; Class::COUNT],
    /// Entries of the queues that no message has, or is on its way to.
    pub entries: [u8; Class::COUNT],
    /// Messages that wait for an entry where they come from.
    pub outside: [VecDeque<PacketId>; Class::COUNT],
    /// Class that is tried first.
    pub turn: usize,
    /// Shared credits that are free.
    pub shared: u8,
    /// The credit that is kept for each class is free.
    pub reserved: [bool; Class::COUNT],
    /// Cycle in which each class last found too few shared credits.
    pub tried_at: [u64; Class::COUNT],
    /// First tick at which the ring stop can hand over another packet: one in a cycle.
    pub hand_free: Tick,
    /// Tick of the event that looks again.
    pub planned: Tick,
    /// First ticks at which another message can arrive by the address and by the data ring.
    pub ring_free: [Tick; 2],
    /// Towards input-output.
    pub io: IoSide,
    // The link layer, sending.
    /// Packets on their way from the ring stop, with the tick from which they are there.
    pub incoming: VecDeque<(Tick, PacketId)>,
    pub waiting: VecDeque<PacketId>,
    pub sending: Option<FlitPlace>,
    pub retry: RetryBuffer,
    /// For want of how much room in the retry buffer packets wait, if any do.
    pub retry_stall: Option<LinkStall>,
    /// Packets that have been sent.
    pub packets: u64,
    pub send_next: Tick,
    /// Room for flits that each direction, received and sent, was last reported to have, if it was idle.
    pub idle: [Option<u8>; 2],
    /// What has been sent and not yet received.
    pub flying: VecDeque<Carried>,
    // The link layer, receiving.
    pub received: VecDeque<PacketId>,
    /// Places of each class in the buffer between the clocks of link and ring that no packet has.
    pub crossing: [u8; Class::COUNT],
    /// Classes that wait for such a place, one bit each.
    pub crossing_stalls: u8,
    /// The packet that is on its way to the ring stop, and the clock in which all of it is there.
    pub handing: Option<(PacketId, u64)>,
    /// Packets whose credits go back, with the clock in which they became free.
    pub returning: VecDeque<(u64, PacketId)>,
    pub receive_next: Tick,
    pub power: Power,
}

impl Port {
    /// An end at rest.
    pub fn new(peer: u16, shared: u8, entries: u8) -> Self {
        let queue = || VecDeque::with_capacity(32);
        Self {
            peer,
            queues: std::array::from_fn(|_| queue()),
            entries: [entries; Class::COUNT],
            outside: std::array::from_fn(|_| queue()),
            turn: 0,
            shared,
            reserved: [true; Class::COUNT],
            tried_at: [NEVER; Class::COUNT],
            hand_free: 0,
            planned: NEVER,
            ring_free: [0; 2],
            io: IoSide::default(),
            incoming: VecDeque::with_capacity(8),
            waiting: queue(),
            sending: None,
            retry: RetryBuffer::default(),
            retry_stall: None,
            packets: 0,
            send_next: NEVER,
            idle: [None; 2],
            flying: VecDeque::with_capacity(64),
            received: queue(),
            crossing: [CROSSING; Class::COUNT],
            crossing_stalls: 0,
            handing: None,
            returning: VecDeque::with_capacity(64),
            receive_next: NEVER,
            power: Power::new(),
        }
    }

    /// True if the link layer can take over another packet.
    pub fn has_room(&self) -> bool {
        self.incoming.len() + self.waiting.len() < MOST_WAITING
    }

    /// Takes the first packet that waits and for which the retry buffer has room: small ones pass those that it has no
    /// room for.
    pub fn next_to_send(&mut self, packets: &Pool<Packet>) -> Option<PacketId> {
        let fits = |&packet: &PacketId| packets[packet].record.kind.flits() <= self.retry.room();
        let place = self.waiting.iter().position(fits)?;
        self.waiting.remove(place)
    }

    /// True if the ring stop holds nothing.
    pub fn nothing_queued(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty)
    }

    /// Nothing is on its way from this end, or in its buffers.
    pub fn rests(&self) -> bool {
        self.sending.is_none()
            && self.waiting.is_empty()
            && self.incoming.is_empty()
            && self.flying.is_empty()
            && self.received.is_empty()
            && self.handing.is_none()
            && self.returning.is_empty()
            && self.power.next_change() == NEVER
    }
}
