//! The system agent of a socket (U-Box): interrupts, locks, events for cores, register accesses. They come at random times, as often as
//! the scenario says.

mod wires;

use pericore_engine::Random;
use pericore_hardware::signal::{SignalSink, Tick};

use crate::ledger::e5_2600::{HoldStage, IoClass, Ledger};
use crate::uncore::e5_2600::links::FarKind;
use crate::uncore::recurring::Recurring;
use crate::workload::{Errand, MessageKind};
pub use wires::AgentWires;

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
    socket: u16,
    wires: AgentWires,
    ticks_per_microsecond: u64,
    /// Ticks of a cycle: it takes one message in each.
    cycle: Tick,
    errands: Recurring,
    free_at: Tick,
    /// Errands so far, wrapping.
    turn: u8,
    hold: Option<(HoldStage, Tick)>,
}

impl SystemAgent {
    /// An agent with nothing to do.
    pub fn new(socket: u16, wires: AgentWires, cycle: Tick, ticks_per_second: u64, seed: u64) -> Self {
        // A stream of random numbers of its own, away from those of the threads and their pages.
        let random = Random::new(seed, 1 << 33 | u64::from(socket));
        let ticks_per_microsecond = ticks_per_second / 1_000_000;
        Self {
            socket,
            wires,
            ticks_per_microsecond,
            cycle,
            errands: Recurring::new(random),
            free_at: 0,
            turn: 0,
            hold: None,
        }
    }

    const fn ticks(&self, nanoseconds: u64) -> Tick {
        in_ticks(nanoseconds, self.ticks_per_microsecond)
    }

    /// A phase begins.
    pub fn begin(&mut self, errands: &[Errand], now: Tick) {
        let ticks_per_microsecond = self.ticks_per_microsecond;
        self.errands.begin(errands, |nanoseconds| in_ticks(nanoseconds, ticks_per_microsecond), now);
    }

    /// Errands so far, wrapping.
    pub const fn turn(&self) -> u8 {
        self.turn
    }

    /// The tick of the next errand.
    pub fn next_tick(&self) -> Tick {
        let errand = self.errands.next_tick().unwrap_or(Tick::MAX);
        let hold = self.hold.map_or(Tick::MAX, |(_, until)| until);
        errand.max(self.free_at).min(hold)
    }

    /// Does what is due. Gives what a core sends, if that is the errand.
    pub fn step<S: SignalSink>(&mut self, now: Tick, sink: &mut S, ledger: &mut Ledger) -> Option<Outgoing> {
        if let Some((stage, _)) = self.hold.filter(|&(_, until)| until <= now) {
            self.switch(stage, false, now, sink, ledger);
            self.hold = None;
            if stage == HoldStage::Asked {
                self.switch(HoldStage::Granted, true, now, sink, ledger);
                self.hold = Some((HoldStage::Granted, now + self.ticks(HOLD_TIME)));
            }
        }
        if self.free_at > now {
            return None;
        }
        let kind = self.errands.take_first(now)?;
        self.free_at = now + self.cycle;
        if kind == MessageKind::Hold {
            // One at a time: a second one is asked for later.
            if self.hold.is_none() {
                self.switch(HoldStage::Asked, true, now, sink, ledger);
                self.hold = Some((HoldStage::Asked, now + self.ticks(HOLD_GRANT)));
            }
            return None;
        }
        self.turn = self.turn.wrapping_add(1);
        self.show(kind, now, sink, ledger);
        match kind {
            MessageKind::DeviceWrite => Some(Outgoing::Device(IoClass::Write)),
            MessageKind::DeviceRead => Some(Outgoing::Device(IoClass::Read)),
            MessageKind::RemoteWrite => Some(Outgoing::Far(FarKind::Write)),
            MessageKind::RemoteRead => Some(Outgoing::Far(FarKind::Read)),
            MessageKind::RemoteInterrupt => Some(Outgoing::Far(FarKind::Interrupt)),
            _ => None,
        }
    }

    fn show<S: SignalSink>(&self, kind: MessageKind, now: Tick, sink: &mut S, ledger: &mut Ledger) {
        for (wire, tag) in self.wires.errand(kind) {
            sink.pulse(wire, tag, now, 1);
        }
        ledger.errand(self.socket, kind);
    }

    /// The first tick from `at` on at which the agent can take a message from another socket; it is kept for that.
    pub fn reserve(&mut self, at: Tick) -> Tick {
        let at = at.max(self.free_at);
        self.free_at = at + self.cycle;
        at
    }

    /// An interrupt of another socket's core has come.
    pub fn interrupted<S: SignalSink>(&self, now: Tick, sink: &mut S, ledger: &mut Ledger) {
        self.show(MessageKind::Processor, now, sink, ledger);
    }

    fn switch<S: SignalSink>(&self, stage: HoldStage, on: bool, now: Tick, sink: &mut S, ledger: &mut Ledger) {
        let (wire, tag) = self.wires.hold(stage);
        if on {
            sink.enter(wire, tag, now)
        } else {
            sink.leave(wire, tag, now)
        }
        ledger.hold(self.socket, stage, on, now);
    }
}

const fn in_ticks(nanoseconds: u64, ticks_per_microsecond: u64) -> Tick {
    nanoseconds * ticks_per_microsecond / 1000
}
