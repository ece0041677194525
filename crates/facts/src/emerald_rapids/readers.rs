//! The readers of a machine, as its model sees them.

use pericore_engine::Tick;

use super::{Class, Fact, Found, Message, Queue, Reason, Victim};
use crate::FactReader;

/// A reader of this family's facts.
pub trait Readers: FactReader<Fact> {
    /// A core's request comes to its agent's ingress queue.
    #[inline(always)]
    fn enter_ingress(&mut self, socket: u16, cha: u16, at: Tick) {
        self.read(at, Fact::Comes((socket, cha)));
    }

    /// A core's request leaves the ingress queue, to which it `came`.
    #[inline(always)]
    fn leave_ingress(&mut self, socket: u16, cha: u16, came: Tick, at: Tick) {
        self.read(at, Fact::Leaves((socket, cha), came));
    }

    /// A request is looked up.
    #[inline(always)]
    fn look_up(&mut self, socket: u16, cha: u16, class: Class, found: Found, at: Tick) {
        self.read(at, Fact::LooksUp((socket, cha), class, found));
    }

    /// A request takes an entry of the table of requests.
    #[inline(always)]
    fn tor_in(&mut self, socket: u16, cha: u16, class: Class, at: Tick) {
        self.read(at, Fact::TakesEntry((socket, cha), class));
    }

    /// A request gives back its entry, which it took at the tick `since`.
    #[inline(always)]
    fn tor_out(&mut self, socket: u16, cha: u16, class: Class, since: Tick, at: Tick) {
        self.read(at, Fact::GivesEntry((socket, cha), class, since));
    }

    /// A request is turned away, for the first time or once more.
    #[inline(always)]
    fn turn_away(&mut self, socket: u16, cha: u16, queue: Queue, reason: Reason, once_more: bool, at: Tick) {
        self.read(at, Fact::TurnsAway((socket, cha), queue, reason, once_more));
    }

    /// A request that was turned away tries again.
    #[inline(always)]
    fn retry(&mut self, socket: u16, cha: u16, queue: Queue, reason: Reason, at: Tick) {
        self.read(at, Fact::TriesAgain((socket, cha), queue, reason));
    }

    /// A line gives way to a fill.
    #[inline(always)]
    fn give_way(&mut self, socket: u16, cha: u16, victim: Victim, at: Tick) {
        self.read(at, Fact::GivesWay((socket, cha), victim));
    }

    /// A message has been put on a socket's mesh.
    #[inline(always)]
    fn goes(&mut self, socket: u16, message: Message, at: Tick) {
        self.read(at, Fact::Goes(socket, message));
    }

    /// A stack's port responses a snoop.
    #[inline(always)]
    fn port_responds(&mut self, socket: u16, stack: u16, result: u8, snoop: u8, at: Tick) {
        self.read(at, Fact::Responds((socket, stack), result, snoop));
    }
}

impl<R: FactReader<Fact>> Readers for R {}
