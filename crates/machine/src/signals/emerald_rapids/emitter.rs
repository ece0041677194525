//! The signals of a machine, and who makes them for a sink.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{Shape, UnitInstance};
use pericore_hardware::signal::{SignalSink, Stride, Wiring, WiringError};

use super::level_signals::LevelSignals;
use super::lines::Lines;
use super::lines::binding::Line;
use super::mesh::{MeshLines, MeshSignals};
use super::observation::Observation;
use super::system_queues::SystemQueues;

/// The signals of a machine.
#[derive(Debug, Clone)]
pub struct Signals {
    pub(super) stride: Stride,
    pub(super) lines: Lines,
    pub(super) levels: LevelSignals,
    pub(super) mesh: MeshSignals,
    pub(super) systems: Vec<SystemQueues>,
    pub(super) observation: Observation,
}

impl Signals {
    /// Binds every signal, and builds nothing else: for those who only ask what is modelled. `opcode` gives the
    /// catalogue's value of an opcode's name.
    ///
    /// # Errors
    /// [`WiringError`] if the catalogue does not have a name.
    pub fn bind(wiring: &mut Wiring, opcode: impl Fn(&str) -> Option<u64>) -> Result<(), WiringError> {
        Lines::bind(wiring, opcode)?;
        MeshLines::bind(wiring)?;
        Ok(())
    }

    /// Those of a machine of a shape.
    ///
    /// # Errors
    /// As [`Signals::bind`].
    pub fn new(wiring: &mut Wiring, shape: &Shape, opcode: impl Fn(&str) -> Option<u64>) -> Result<Self, WiringError> {
        let (lines, levels) = Lines::bind(wiring, opcode)?;
        Ok(Self {
            stride: wiring.stride(),
            observation: Observation::new(wiring, &levels),
            levels: LevelSignals::new(levels, &lines, shape),
            lines,
            mesh: MeshSignals::new(MeshLines::bind(wiring)?, (&shape.tiles, shape.dies), shape.sockets),
            systems: vec![SystemQueues::default(); shape.sockets.into()],
        })
    }

    /// A reader that makes signals for a sink.
    pub const fn read_for<'a, S>(&'a mut self, sink: &'a mut S) -> SignalMaker<'a, S> {
        SignalMaker { signals: self, sink }
    }

    /// True if pulses of an instance need be made.
    #[inline]
    pub(super) fn observes(&self, line: Line, (socket, index): UnitInstance) -> bool {
        self.observation.observes(line.wire(self.stride, socket, index).instance)
    }
}

/// Makes signals of facts.
#[derive(Debug)]
pub struct SignalMaker<'a, S> {
    pub(super) signals: &'a mut Signals,
    pub(super) sink: &'a mut S,
}

impl<S: SignalSink> SignalMaker<'_, S> {
    /// A pulse for those who observe it.
    #[inline]
    pub(super) fn pulse(&mut self, line: Line, tag: u64, instance: UnitInstance, count: u32, at: Tick) {
        if self.signals.observes(line, instance) {
            self.emit(line, tag, instance, count, at);
        }
    }

    /// Something happens in an instance.
    #[inline]
    pub(super) fn happens(&mut self, instance: UnitInstance, line: Line, at: Tick) {
        self.pulse(line, line.tag(), instance, 1, at);
    }

    /// It happens so often.
    #[inline]
    pub(super) fn repeats(&mut self, instance: UnitInstance, line: Line, count: u32, at: Tick) {
        self.pulse(line, line.tag(), instance, count, at);
    }

    /// Several things happen in an instance at once; they are of units of the same number.
    pub(super) fn all(&mut self, instance: UnitInstance, of: impl Fn(&Lines) -> &[Line], at: Tick) {
        for index in 0..of(&self.signals.lines).len() {
            self.happens(instance, of(&self.signals.lines)[index], at);
        }
    }

    /// One of an instance that somebody observes: kept out of what is done for every request.
    #[inline(never)]
    pub(super) fn emit(&mut self, line: Line, tag: u64, (socket, index): UnitInstance, count: u32, at: Tick) {
        self.sink.pulse(line.wire(self.signals.stride, socket, index), tag, at, count);
    }
}
