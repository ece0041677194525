//! The system agent of a socket (U-Box): interrupts, locks, events for cores, register accesses. They come from cores
//! and devices, and at random times as often as the scenario says.

use std::collections::VecDeque;

use pericore_engine::Random;
use pericore_engine::Tick;
use pericore_facts::e5_2600::E5Reader;

use crate::e5_2600::links::FarKind;
use pericore_facts::e5_2600::{E5Fact, HoldStage, IoClass, UncoreUse};
use pericore_parts::recurring::Recurring;
use pericore_workload::{Errand, MessageKind};

/// Nanoseconds from a bus hold's request to its grant (assumption: a few trips over the ring).
const HOLD_GRANT: u64 = 200;
/// Nanoseconds of a hold (assumption: a short transfer of a legacy device).
const HOLD_TIME: u64 = 1000;

/// What a core sends out of the caches' way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outgoing {
    /// A packet for input-output.
    Device(IoClass),
    /// An access to another socket.
    Far(FarKind),
}

/// The system agent of a socket.
#[derive(Debug)]
pub struct SystemAgent {
    socket: u8,
    ticks_per_microsecond: u64,
    /// Ticks of a cycle: it takes one message in each.
    cycle: Tick,
    periodic: Recurring,
    /// Messages that have come and wait, each since a tick.
    waiting: VecDeque<(Tick, MessageKind)>,
    free_at: Tick,
    /// Messages so far, wrapping.
    turn: u8,
    hold: Option<(HoldStage, Tick)>,
}

impl SystemAgent {
    /// An agent with nothing to do.
    pub fn new(socket: u8, cycle: Tick, ticks_per_second: u64, seed: u64) -> Self {
        // A stream of random numbers of its own, away from those of the threads and their pages.
        let random = Random::new(seed, 1 << 33 | u64::from(socket));
        let ticks_per_microsecond = ticks_per_second / 1_000_000;
        Self {
            socket,
            ticks_per_microsecond,
            cycle,
            periodic: Recurring::new(random),
            waiting: VecDeque::new(),
            free_at: 0,
            turn: 0,
            hold: None,
        }
    }

    const fn ticks(&self, nanoseconds: u64) -> Tick {
        in_ticks(nanoseconds, self.ticks_per_microsecond)
    }

    /// A phase begins.
    pub fn begin(&mut self, accesses: &[Errand], now: Tick) {
        let ticks_per_microsecond = self.ticks_per_microsecond;
        self.periodic.begin(accesses, |nanoseconds| in_ticks(nanoseconds, ticks_per_microsecond), now);
    }

    /// A message comes.
    pub fn comes(&mut self, kind: MessageKind, now: Tick) {
        self.waiting.push_back((now, kind));
    }

    /// Messages so far, wrapping.
    pub const fn turn(&self) -> u8 {
        self.turn
    }

    /// The tick of the next message.
    pub fn next_tick(&self) -> Tick {
        let waits = self.waiting.front().map_or(Tick::MAX, |&(since, _)| since);
        let message = self.periodic.next_tick().unwrap_or(Tick::MAX).min(waits);
        let hold = self.hold.map_or(Tick::MAX, |(_, until)| until);
        message.max(self.free_at).min(hold)
    }

    /// Does what is due. Gives what a core sends, if that is the message.
    pub fn step<R: E5Reader>(&mut self, now: Tick, reader: &mut R) -> Option<Outgoing> {
        if let Some((stage, _)) = self.hold.filter(|&(_, until)| until <= now) {
            self.switch(stage, false, now, reader);
            self.hold = None;
            if stage == HoldStage::Requested {
                self.switch(HoldStage::Granted, true, now, reader);
                self.hold = Some((HoldStage::Granted, now + self.ticks(HOLD_TIME)));
            }
        }
        if self.free_at > now {
            return None;
        }
        let kind = match self.waiting.pop_front() {
            Some((_, kind)) => kind,
            None => self.periodic.take_first(now)?,
        };
        self.free_at = now + self.cycle;
        if kind == MessageKind::Hold {
            // One at a time: a second one is requested for later.
            if self.hold.is_none() {
                self.switch(HoldStage::Requested, true, now, reader);
                self.hold = Some((HoldStage::Requested, now + self.ticks(HOLD_GRANT)));
            }
            return None;
        }
        self.turn = self.turn.wrapping_add(1);
        reader.read(now, E5Fact::Handles(self.socket, kind));
        match kind {
            MessageKind::DeviceWrite => Some(Outgoing::Device(IoClass::Write)),
            MessageKind::DeviceRead => Some(Outgoing::Device(IoClass::Read)),
            MessageKind::RemoteWrite => Some(Outgoing::Far(FarKind::Write)),
            MessageKind::RemoteRead => Some(Outgoing::Far(FarKind::Read)),
            MessageKind::RemoteInterrupt => Some(Outgoing::Far(FarKind::Interrupt)),
            _ => None,
        }
    }

    /// The first tick from `at` on at which the agent can take a message from another socket; it is kept for that.
    pub fn reserve(&mut self, at: Tick) -> Tick {
        let at = at.max(self.free_at);
        self.free_at = at + self.cycle;
        at
    }

    /// An interrupt of another socket's core has come.
    pub fn interrupted<R: E5Reader>(&self, now: Tick, reader: &mut R) {
        reader.read(now, E5Fact::Handles(self.socket, MessageKind::Processor));
    }

    fn switch<R: E5Reader>(&self, stage: HoldStage, on: bool, now: Tick, reader: &mut R) {
        let hold = UncoreUse::Hold(self.socket, stage);
        reader.read(now, if on { E5Fact::Begins(hold) } else { E5Fact::Ends(hold) });
    }
}

const fn in_ticks(nanoseconds: u64, ticks_per_microsecond: u64) -> Tick {
    nanoseconds * ticks_per_microsecond / 1000
}
