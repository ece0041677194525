//! The system agent of a socket (U-Box): interrupts, locks, events for cores, register accesses. They come at random times, as often as
//! the scenario says.

mod wires;

use crate::engine::Random;
use crate::ledger::{HoldStage, IoClass, Ledger};
use crate::signal::{SignalSink, Tick};
use crate::workload::{Errand, MessageKind};
pub use wires::AgentWires;

/// Nanoseconds from a bus hold's request to its grant (assumption: a few trips over the ring).
const HOLD_GRANT: u64 = 200;
/// Nanoseconds of a hold (assumption: a short transfer of a legacy device).
const HOLD_TIME: u64 = 1000;

/// Something that comes again and again.
#[derive(Debug, Clone, Copy)]
struct Source {
    kind: MessageKind,
    /// Mean ticks from one to the next.
    every: Tick,
    next: Tick,
}

/// The system agent of a socket.
#[derive(Debug)]
pub struct SystemAgent {
    socket: u16,
    wires: AgentWires,
    ticks_per_microsecond: u64,
    /// Ticks of a cycle: it takes one message in each.
    cycle: Tick,
    random: Random,
    sources: Vec<Source>,
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
            random,
            sources: Vec::new(),
            free_at: 0,
            turn: 0,
            hold: None,
        }
    }

    const fn ticks(&self, nanoseconds: u64) -> Tick {
        nanoseconds * self.ticks_per_microsecond / 1000
    }

    /// A phase begins.
    pub fn begin(&mut self, errands: &[Errand], now: Tick) {
        self.sources.clear();
        for &Errand { kind, every } in errands {
            let every = self.ticks(every).max(1);
            let next = now + self.gap(every);
            self.sources.push(Source { kind, every, next });
        }
    }

    /// A random time with a mean of `every`.
    const fn gap(&mut self, every: Tick) -> Tick {
        1 + self.random.below(2 * every)
    }

    /// Errands so far, wrapping.
    pub const fn turn(&self) -> u8 {
        self.turn
    }

    /// The tick of the next errand.
    pub fn next_tick(&self) -> Tick {
        let errand = self.sources.iter().map(|source| source.next).fold(Tick::MAX, Tick::min);
        let hold = self.hold.map_or(Tick::MAX, |(_, until)| until);
        errand.max(self.free_at).min(hold)
    }

    /// Does what is due.
    /// Gives the class of a packet for input-output, if the errand is one.
    pub fn step<S: SignalSink>(&mut self, now: Tick, sink: &mut S, ledger: &mut Ledger) -> Option<IoClass> {
        if let Some((stage, _)) = self.hold.filter(|&(_, until)| until <= now) {
            self.switch(stage, false, now, sink, ledger);
            self.hold = None;
            if stage == HoldStage::Asked {
                self.switch(HoldStage::Granted, true, now, sink, ledger);
                self.hold = Some((HoldStage::Granted, now + self.ticks(HOLD_TIME)));
            }
        }
        let due = (0..self.sources.len()).filter(|&index| self.sources[index].next <= now);
        let Some(index) = due.min_by_key(|&index| self.sources[index].next).filter(|_| self.free_at <= now) else {
            return None;
        };
        let Source { kind, every, .. } = self.sources[index];
        self.sources[index].next = now + self.gap(every);
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
        for (wire, tag) in self.wires.errand(kind) {
            sink.pulse(wire, tag, now, 1);
        }
        ledger.errand(self.socket, kind);
        match kind {
            MessageKind::DeviceWrite => Some(IoClass::Write),
            MessageKind::DeviceRead => Some(IoClass::Read),
            _ => None,
        }
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
