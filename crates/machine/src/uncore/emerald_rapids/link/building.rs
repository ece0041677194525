//! Flits of headers, as they are put together.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{FlowRing, LinkPacket};

/// A flit of headers and the lines that follow it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeaderFlit {
    pub ids: [u16; 3],
    pub count: usize,
    /// The only message travels on a credit of its own.
    pub alone: bool,
    /// Lines, and whether there is a message of the block ring.
    pub lines: u32,
    pub block: bool,
    /// When the halves of its messages that it needs are here.
    pub whole: Tick,
    /// Slot 2 was left free for credits.
    pub keeps_slot: bool,
    /// It was put together beside a line that was being sent.
    pub beside_line: bool,
    /// It waits in the link layer's send queue.
    pub queued: bool,
}

/// Slots of a flit.
pub const SLOTS: usize = 3;

/// A flit that is put together, and what it has waited for.
#[derive(Debug, PartialEq, Eq)]
pub struct Building {
    pub flit: HeaderFlit,
    pub taken: [bool; SLOTS],
    pub network: usize,
    /// When the link layer could have had it, and when it was full.
    pub since: Tick,
    pub full: Option<Tick>,
    /// Cycles in which something has joined it since.
    pub joined: u32,
    /// It was begun ahead of time, and the flit before it has just gone; something joined it then.
    pub is_ahead: bool,
    /// Beginning it early has paid off: a second message joined it before it went.
    pub paid_off: bool,
}

/// What is begun while a flit is complete and cannot go.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Ahead {
    /// Nothing.
    #[default]
    No,
    /// A flit without messages.
    Empty,
    /// One with its first message.
    Begun(Building),
    /// The flit before went when it was still empty.
    TooLate,
}

impl Ahead {
    pub const fn has_message(&self) -> bool {
        matches!(self, Self::Begun(_))
    }
}

impl HeaderFlit {
    /// One more message.
    pub fn add(&mut self, id: u16) {
        self.ids[self.count] = id;
        self.count += 1;
    }
}

/// A place in a flit for a message, given those that are taken: lines first, completions only outside.
pub fn fit(taken: [bool; SLOTS], packet: &LinkPacket) -> Option<u8> {
    let lane = packet.lane();
    let allowed = |slot| match lane {
        FlowRing::Address => true,
        FlowRing::Acknowledge => slot != 1,
        FlowRing::Block => slot == 0,
    };
    let fits = |&slot: &u8| !taken[usize::from(slot)] && allowed(slot);
    (0..SLOTS as u8).find(fits)
}
