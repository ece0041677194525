//! The ring of a socket: which stops a message passes, and what the stops see of it.
//!
//! Slices and their cores have the first stops, then come the home agent's side and the input-output side, where the links to other
//! sockets are too. A message goes the shorter way round. What passes a stop or leaves the ring there is seen there, what enters it is
//! not (2.3.7, `RING_*_USED`). All stops see a message in the cycle in which it is sent: the few cycles of its way do not change how often
//! it is seen. Its polarity is that of the cycle (choice, see `catalog/undefined.toml`).

use super::Parameters;
use crate::ledger::{Journey, RingKind};
use crate::signal::{SignalSink, Tick, Wire, Wiring, WiringError};

/// Stops that the tables have room for.
const ROOM: usize = 16;

/// A unit at a ring stop: its wires by ring, and the tags of clockwise and counter-clockwise, each even and odd. For the ring of
/// snoops they are those of even and odd.
#[derive(Debug, Clone, Copy)]
struct UnitWires {
    wires: [Wire; RingKind::COUNT],
    tags: [[u64; 2]; 2],
}

/// The stops on the way from one to another, the sender left out.
#[derive(Debug, Clone, Copy, Default)]
struct Path {
    counter_clockwise: bool,
    length: u8,
}

/// The rings of all sockets.
#[derive(Debug)]
pub struct Rings {
    stops: u8,
    home: u8,
    io: u8,
    paths: [[Path; ROOM]; ROOM],
    /// By socket and stop: the units that see the ring there.
    units: Vec<Vec<Vec<UnitWires>>>,
    /// Some counter listens. If none does, signals of the rings need not be made.
    heard: bool,
}

impl Rings {
    /// Binds the rings of all sockets.
    pub fn new(wiring: &mut Wiring, parameters: &Parameters) -> Result<Self, WiringError> {
        let (cores, stops) = (parameters.cores, parameters.ring_stops);
        let mut paths = [[Path::default(); ROOM]; ROOM];
        for from in 0..stops {
            for to in 0..stops {
                let clockwise = (to + stops - from) % stops;
                let counter_clockwise = clockwise > stops / 2;
                let length = if counter_clockwise { stops - clockwise } else { clockwise };
                paths[usize::from(from)][usize::from(to)] = Path { counter_clockwise, length };
            }
        }
        let mut units = Vec::new();
        for socket in 0..parameters.sockets.into() {
            let mut at = vec![Vec::new(); stops.into()];
            for slice in 0..cores {
                // Up is clockwise for the first half of the slices, counter-clockwise for the second (2.3.7).
                let names = if slice < cores / 2 { ["UP", "DOWN"] } else { ["DOWN", "UP"] };
                at[usize::from(slice)].push(bind(wiring, socket, "cbo", slice.into(), names)?);
            }
            at[usize::from(cores) + 1].push(bind(wiring, socket, "r2pcie", 0, ["CW", "CCW"])?);
            // Without other sockets there are no links.
            for link in (0..2).filter(|_| parameters.sockets > 1) {
                at[usize::from(cores) + 1].push(bind(wiring, socket, "r3qpi", link, ["CW", "CCW"])?);
            }
            units.push(at);
        }
        Ok(Self { stops, home: cores, io: cores + 1, paths, units, heard: true })
    }

    /// The stop of the home agent.
    pub const fn home(&self) -> u8 {
        self.home
    }

    /// The stop of input-output and of the links.
    pub const fn io(&self) -> u8 {
        self.io
    }

    /// Asks whether any counter listens; to be done whenever counters may have been programmed.
    pub fn listen<S: SignalSink>(&mut self, sink: &S) {
        let units = self.units.iter().flatten().flatten();
        self.heard = units.flat_map(|unit| unit.wires).any(|wire| sink.hears(wire));
    }

    /// A message travels.
    pub fn travel<S: SignalSink>(&self, socket: u8, journey: Journey, now: Tick, sink: &mut S) {
        if !self.heard {
            return;
        }
        let units = &self.units[usize::from(socket)];
        let polarity = usize::from(journey.odd);
        if journey.kind == RingKind::Snoop {
            // Snoops of cores go once round.
            for (stop, units) in units.iter().enumerate().filter(|&(stop, _)| stop != usize::from(journey.from)) {
                debug_assert!(stop < ROOM);
                for unit in units {
                    sink.pulse(unit.wires[RingKind::Snoop as usize], unit.tags[0][polarity], now, 1);
                }
            }
            return;
        }
        let path = self.paths[usize::from(journey.from)][usize::from(journey.to)];
        let direction = usize::from(path.counter_clockwise);
        let mut stop = journey.from;
        for _ in 0..path.length {
            let next = if path.counter_clockwise { stop + self.stops - 1 } else { stop + 1 };
            stop = next % self.stops;
            for unit in &units[usize::from(stop)] {
                let wire = unit.wires[journey.kind as usize];
                sink.pulse(wire, unit.tags[direction][polarity], now, journey.kind.slots());
            }
        }
    }
}

fn bind(
    wiring: &mut Wiring,
    socket: u16,
    unit: &str,
    instance: u16,
    names: [&str; 2],
) -> Result<UnitWires, WiringError> {
    let (snoops, any) = wiring.subevent(socket, unit, instance, "RING_IV_USED", "ANY")?;
    let mut wires = [snoops; RingKind::COUNT];
    let mut tags = [[0; 2]; 2];
    for (kind, event) in [
        (RingKind::Address, "RING_AD_USED"),
        (RingKind::Acknowledge, "RING_AK_USED"),
        (RingKind::Block, "RING_BL_USED"),
    ] {
        for (direction, name) in names.iter().enumerate() {
            for (polarity, suffix) in ["EVEN", "ODD"].iter().enumerate() {
                let (wire, tag) = wiring.subevent(socket, unit, instance, event, &format!("{name}_{suffix}"))?;
                wires[kind as usize] = wire;
                tags[direction][polarity] = tag;
            }
        }
    }
    debug_assert!(tags[0].iter().all(|tag| any & tag != 0));
    Ok(UnitWires { wires, tags })
}
