//! What mesh stops and the fabric between the dies see of messages.
//!
//! The cycles that a message waits are one increment: sums are exact, thresholds on these events are not.

mod grid;
mod lines;
mod queues;
mod report;

use grid::{MeshGrid, Seen};
use lines::{FLOWS, FabricLines, StopLines, UNITS};
use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{Dies, Message, Tile};
use pericore_hardware::signal::{SignalSink, Stride, Wiring, WiringError};
use queues::Queues;

use super::lines::binding::Line;
use crate::signals::levels::is_observed;

/// Signals of mesh stops and fabric.
#[derive(Debug, Clone)]
pub struct MeshLines {
    stops: Vec<StopLines>,
    fabric: Vec<FabricLines>,
}

impl MeshLines {
    /// Binds them.
    ///
    /// # Errors
    /// [`WiringError`] if the catalogue does not have a name.
    pub fn bind(wiring: &mut Wiring) -> Result<Self, WiringError> {
        Ok(Self {
            stops: UNITS.iter().map(|unit| StopLines::bind(wiring, unit)).collect::<Result<_, _>>()?,
            fabric: (0..FLOWS).map(|flow| FabricLines::bind(wiring, flow)).collect::<Result<_, _>>()?,
        })
    }
}

/// The meshes of all sockets, as their stops see them.
#[derive(Debug, Clone)]
pub struct MeshSignals {
    /// Unit, as an index into [`UNITS`], and instance of each tile.
    units: Vec<Option<(u8, u16)>>,
    lines: MeshLines,
    grid: MeshGrid,
    /// By socket: who waits where.
    queues: Vec<Queues>,
    /// By socket, where some counter listens. Elsewhere signals need not be made.
    observed: Vec<Seen>,
}

impl MeshSignals {
    /// Quiet meshes.
    pub fn new(lines: MeshLines, (tiles, dies): (&[Tile], Dies), sockets: u16) -> Self {
        let unit = |tile: &Tile| {
            let (name, instance) = tile.unit?;
            Some((UNITS.iter().position(|unit| *unit == name)? as u8, instance))
        };
        let grid = MeshGrid::new(tiles, dies);
        Self {
            units: tiles.iter().map(unit).collect(),
            lines,
            queues: (0..sockets).map(|_| Queues::new(tiles.len())).collect(),
            observed: vec![Seen::ALL; sockets.into()],
            grid,
        }
    }

    /// Asks where counters listen; to be done whenever counters may have been programmed.
    pub fn listen<S: SignalSink>(&mut self, stride: Stride, sink: &S) {
        for (socket, observed) in (0..).zip(&mut self.observed) {
            let observes = |lines: &[Line], index: u16| {
                let wire = |line: &Line| line.wire(stride, socket, index);
                // Where nobody listens at all, one question does.
                lines.first().is_some_and(|line| sink.observes_any(wire(line).instance))
                    && lines.iter().any(|line| is_observed(sink, wire(line)))
            };
            *observed = Seen::NOTHING;
            for (tile, unit) in self.units.iter().enumerate() {
                if unit.is_some_and(|(unit, index)| observes(&self.lines.stops[usize::from(unit)].signals, index)) {
                    observed.add(tile);
                }
            }
            for block in 0..self.grid.blocks() {
                if self.lines.fabric.iter().any(|lines| observes(&lines.signals, block)) {
                    observed.add_block(block);
                }
            }
        }
    }

    /// A message has been put on a socket's mesh.
    #[inline(always)]
    pub fn goes<S: SignalSink>(&mut self, socket: u16, message: Message, stride: Stride, at: Tick, sink: &mut S) {
        if message.waits() || self.observed[usize::from(socket)].is_anything() {
            // Only now is it put together in memory: most messages wait nowhere.
            let whole = message;
            self.follow(socket, &whole, stride, at, sink);
        }
    }

    /// Keeps how a message waited for those after it, and says what somebody observes of it.
    #[inline(never)]
    fn follow<S: SignalSink>(&mut self, socket: u16, message: &Message, stride: Stride, at: Tick, sink: &mut S) {
        let way = self.grid.way(message);
        let observed = self.observed[usize::from(socket)];
        let observed = observed.is_anything() && observed.meets(self.grid.seen_by(&way));
        let stays = self.queues[usize::from(socket)].stays(message, &way, observed);
        if observed {
            self.report(message, &way, &stays, &mut |line: Line, index: u16, count: u32| {
                sink.pulse(line.wire(stride, socket, index), line.tag(), at, count);
            });
        }
    }
}
