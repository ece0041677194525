//! The mesh: messages go up or down their column, over the bridge to the other die if need be, then left or right, and every stop that
//! they pass counts them.
//!
//! A message waits where it is put on the mesh (for a credit of the row that it goes to, and for a free slot to pass), at the bridge,
//! where it turns, and where it is taken off. All of that is worked out when it is sent, from what was sent before, and counted at
//! once, the cycles that it waits as one increment: sums are exact, thresholds on these events are not.

mod lines;
mod net;
mod queue;
mod rail;
mod tell;
mod way;

use lines::{FabricLines, RINGS, StopLines, UNITS};
use net::{Addresses, Blocks, Free, Lane, Net, Pace};
use pericore_engine::Period;
use pericore_hardware::signal::{SignalSink, Tick, Wiring, WiringError};
use tell::Seen;
use way::Ways;

use super::account::Account;
use super::binding::Line;
use super::layout::COLUMNS;
use crate::ledger::emerald_rapids::{Message, Ring, Tile};

/// The meshes of all sockets.
#[derive(Debug)]
pub struct Mesh {
    /// Unit, as an index into [`UNITS`], and instance of each tile.
    units: Vec<Option<(u8, u16)>>,
    stops: Vec<StopLines>,
    fabric: Vec<FabricLines>,
    ways: Box<Ways>,
    nets: Vec<Net>,
    /// By socket, where some counter listens. Elsewhere signals need not be made.
    heard: Vec<Seen>,
    /// The last message waited for its way onto the mesh.
    waited: bool,
    uclk: Period,
    /// Cycles to get off.
    half_base: u64,
}

impl Mesh {
    /// Binds what meshes tell.
    pub fn bind(wiring: &mut Wiring) -> Result<(Vec<StopLines>, Vec<FabricLines>), WiringError> {
        let stops = UNITS.iter().map(|unit| StopLines::bind(wiring, unit)).collect::<Result<_, _>>()?;
        let fabric =
            RINGS.iter().map(|&(name, ring)| FabricLines::bind(wiring, name, ring)).collect::<Result<_, _>>()?;
        Ok((stops, fabric))
    }

    /// Quiet meshes.
    pub fn new(
        wiring: &mut Wiring,
        tiles: &[Tile],
        parameters: &super::Parameters,
        uclk: Period,
    ) -> Result<Self, WiringError> {
        let (stops, fabric) = Self::bind(wiring)?;
        let unit = |tile: &Tile| {
            let (name, instance) = tile.unit?;
            Some((UNITS.iter().position(|unit| *unit == name)? as u8, instance))
        };
        let pace = Pace {
            half_base: parameters.mesh_base / 2,
            crossing: parameters.mesh_crossing,
            bridge: parameters.mesh_bridge as u32,
        };
        Ok(Self {
            units: tiles.iter().map(unit).collect(),
            nets: (0..parameters.sockets).map(|_| Net::new(pace)).collect(),
            ways: Box::new(Ways::new(tiles, parameters.mesh_hop as u32, parameters.mesh_crossing as u32)),
            stops,
            fabric,
            heard: vec![Seen::ALL; parameters.sockets.into()],
            waited: false,
            uclk,
            half_base: pace.half_base,
        })
    }

    /// The tile of a row and column: tiles are numbered row by row.
    fn at(row: u8, column: u8) -> usize {
        usize::from(row) * usize::from(COLUMNS) + usize::from(column)
    }

    /// True if the message sent last had to wait.
    #[inline]
    pub const fn last_waited(&self) -> bool {
        self.waited
    }

    /// Sends a message at `now`, and gives the tick at which it has arrived.
    #[expect(clippy::too_many_arguments, reason = "a message is its parts")]
    #[inline]
    pub fn send<S: SignalSink>(
        &mut self,
        account: &mut Account,
        socket: u16,
        ring: Ring,
        agent: u8,
        from: u8,
        to: u8,
        now: Tick,
        sink: &mut S,
    ) -> Tick {
        match ring {
            Ring::Address => self.send_on::<Addresses, S>(account, socket, (ring, agent), (from, to), now, sink),
            Ring::Block => self.send_on::<Blocks, S>(account, socket, (ring, agent), (from, to), now, sink),
            _ => self.send_on::<Free, S>(account, socket, (ring, agent), (from, to), now, sink),
        }
    }

    /// The same, on a ring of a kind.
    #[inline(never)]
    fn send_on<L: Lane, S: SignalSink>(
        &mut self,
        account: &mut Account,
        socket: u16,
        (ring, agent): (Ring, u8),
        (from, to): (u8, u8),
        now: Tick,
        sink: &mut S,
    ) -> Tick {
        let way = self.ways.between(from, to);
        let put = self.uclk.next_cycle(now);
        let net = &mut self.nets[usize::from(socket)];
        let message = net.carry::<L>((ring, agent), (from, to), &way, put);
        let held = if L::CREDITED { message.returned - message.left } else { 0 };
        account.ledger.went(socket, (message.ring, agent), (from, to), held);
        self.waited = message.left > put;
        let waits = message.waits();
        if waits || self.heard[usize::from(socket)].is_anything() {
            // Only now is it put together in memory: most messages wait nowhere.
            let whole = message;
            if waits {
                account.ledger.waited(socket, &whole);
            }
            self.finish(account, socket, &whole, now, sink);
        }
        (message.taken + self.half_base) * self.uclk.ticks()
    }

    /// Keeps how a message waited for those after it, and says what somebody hears of it.
    #[inline(never)]
    fn finish<S: SignalSink>(&mut self, account: &Account, socket: u16, message: &Message, now: Tick, sink: &mut S) {
        let heard = self.heard[usize::from(socket)];
        let heard = heard.is_anything() && heard.meets(&self.ways.between(message.from, message.to));
        let stays = self.nets[usize::from(socket)].stays(message, heard);
        if heard {
            let (stride, way) = (account.stride, self.ways.between(message.from, message.to));
            self.tell(message, &way, &stays, &mut |line: Line, index: u16, count: u32| {
                sink.pulse(line.wire(stride, socket, index), line.tag(), now, count);
            });
        }
    }
}
