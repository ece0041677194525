//! The ring of a socket: which stops a message passes, and what the stops see of it.
//!
//! Slices and their cores have the first stops, then come the home agent's side and the input-output side, where the
//! links to other sockets are too. A message goes the shorter way round. What passes a stop or leaves the ring there is
//! seen there, what enters it is not (2.3.7, `RING_*_USED`). All stops see a message in the cycle in which it is sent:
//! the few cycles of its way do not change how often it is seen. Its polarity is that of the cycle (choice, see
//! `catalog/undefined.toml`).

use pericore_engine::Tick;
use pericore_facts::e5_2600::{RingKind, Route};
use pericore_hardware::signal::{SignalSink, Wire, Wiring, WiringError};
use pericore_models::e5_2600::{MOST_SOCKETS, Parameters};

use crate::signals::levels::is_observed;

/// Stops that the tables have room for.
const ROOM: usize = 16;
const SOCKETS: usize = MOST_SOCKETS as usize;

/// A unit at a ring stop: its wires by ring, and the tags of clockwise and counter-clockwise, each even and odd. For
/// the ring of snoops, which the home agent does not see, they are those of even and odd.
#[derive(Debug, Clone, Copy)]
struct UnitWires {
    wires: [Option<Wire>; RingKind::COUNT],
    tags: [[u64; 2]; 2],
}

/// The stops on the way from one to another, one bit each, the sender left out.
#[derive(Debug, Clone, Copy, Default)]
struct Path {
    counter_clockwise: bool,
    stops: u16,
}

/// The rings of all sockets.
#[derive(Debug)]
pub struct RingWires {
    paths: [[Path; ROOM]; ROOM],
    /// By socket and stop: the units that see the ring there.
    units: Vec<Vec<Vec<UnitWires>>>,
    /// By socket and ring, the stops where some counter listens. Elsewhere signals need not be made.
    observed: [[u16; RingKind::COUNT]; SOCKETS],
    /// By ring: some counter listens on some socket.
    observed_anywhere: [bool; RingKind::COUNT],
}

impl RingWires {
    /// Binds the rings of all sockets.
    pub fn new(wiring: &mut Wiring, parameters: &Parameters) -> Result<Self, WiringError> {
        let (cores, stops) = (parameters.cores, parameters.ring_stops);
        let mut paths = [[Path::default(); ROOM]; ROOM];
        for from in 0..stops {
            for to in 0..stops {
                let clockwise = (to + stops - from) % stops;
                let counter_clockwise = clockwise > stops / 2;
                let length = if counter_clockwise { stops - clockwise } else { clockwise };
                let after = |steps| (if counter_clockwise { from + stops - steps } else { from + steps }) % stops;
                let passed = (1..=length).map(after).fold(0, |passed, stop| passed | 1_u16 << stop);
                paths[usize::from(from)][usize::from(to)] = Path { counter_clockwise, stops: passed };
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
            at[usize::from(cores)].push(bind(wiring, socket, "ha", 0, ["CW", "CCW"])?);
            at[usize::from(cores) + 1].push(bind(wiring, socket, "r2pcie", 0, ["CW", "CCW"])?);
            for link in 0..2 {
                at[usize::from(cores) + 1].push(bind(wiring, socket, "r3qpi", link, ["CW", "CCW"])?);
            }
            units.push(at);
        }
        Ok(Self {
            paths,
            units,
            observed: [[u16::MAX; RingKind::COUNT]; SOCKETS],
            observed_anywhere: [true; RingKind::COUNT],
        })
    }

    /// Asks where counters listen; to be done whenever counters may have been programmed.
    pub fn listen<S: SignalSink>(&mut self, sink: &S) {
        self.observed = [[0; RingKind::COUNT]; SOCKETS];
        for (observed, units) in self.observed.iter_mut().zip(&self.units) {
            for (stop, unit) in units.iter().enumerate().flat_map(|(stop, units)| units.iter().map(move |u| (stop, u)))
            {
                for (observed, &wire) in observed.iter_mut().zip(&unit.wires) {
                    *observed |= u16::from(wire.is_some_and(|wire| is_observed(sink, wire))) << stop;
                }
            }
        }
        self.observed_anywhere = std::array::from_fn(|kind| self.observed.iter().any(|observed| observed[kind] != 0));
    }

    /// True if anybody listens to any ring.
    pub fn are_observed(&self) -> bool {
        self.observed_anywhere.contains(&true)
    }

    /// A message travels.
    #[inline(always)]
    pub fn travel<S: SignalSink>(&self, socket: u8, route: Route, now: Tick, sink: &mut S) {
        if self.observed_anywhere[route.kind as usize] {
            self.show(socket, route, now, sink);
        }
    }

    /// The stops that a message passes see it.
    fn show<S: SignalSink>(&self, socket: u8, route: Route, now: Tick, sink: &mut S) {
        let from = usize::from(route.from) % ROOM;
        let path = self.paths[from][usize::from(route.to) % ROOM];
        // Snoops of cores go once round.
        if route.kind == RingKind::Snoop {
            self.show_at(socket, !(1 << from), (0, route), now, sink);
        } else {
            self.show_at(socket, path.stops, (usize::from(path.counter_clockwise), route), now, sink);
        }
    }

    /// A message that nobody takes where it ends goes on and passes all stops until it is there again.
    pub fn go_round<S: SignalSink>(&self, socket: u8, route: Route, now: Tick, sink: &mut S) {
        let path = self.paths[usize::from(route.from) % ROOM][usize::from(route.to) % ROOM];
        self.show_at(socket, u16::MAX, (usize::from(path.counter_clockwise), route), now, sink);
    }

    fn show_at<S: SignalSink>(
        &self,
        socket: u8,
        passed: u16,
        (direction, route): (usize, Route),
        now: Tick,
        sink: &mut S,
    ) {
        let mut seen = passed & self.observed[usize::from(socket) % SOCKETS][route.kind as usize];
        while seen != 0 {
            let stop = seen.trailing_zeros() as usize;
            seen &= seen - 1;
            for unit in self.units[usize::from(socket)].get(stop).into_iter().flatten() {
                let Some(wire) = unit.wires[route.kind as usize] else { continue };
                sink.pulse(wire, unit.tags[direction][usize::from(route.odd)], now, route.kind.slots());
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
    let mut wires = [None; RingKind::COUNT];
    if unit != "ha" {
        wires[RingKind::Snoop as usize] = Some(wiring.subevent(socket, unit, instance, "RING_IV_USED", "ANY")?.0);
    }
    let mut tags = [[0; 2]; 2];
    for (kind, event) in [
        (RingKind::Address, "RING_AD_USED"),
        (RingKind::Acknowledge, "RING_AK_USED"),
        (RingKind::Block, "RING_BL_USED"),
    ] {
        for (direction, name) in names.iter().enumerate() {
            for (polarity, suffix) in ["EVEN", "ODD"].iter().enumerate() {
                let (wire, tag) = wiring.subevent(socket, unit, instance, event, &format!("{name}_{suffix}"))?;
                wires[kind as usize] = Some(wire);
                tags[direction][polarity] = tag;
            }
        }
    }
    Ok(UnitWires { wires, tags })
}
