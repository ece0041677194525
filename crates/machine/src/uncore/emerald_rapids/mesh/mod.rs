//! The mesh: messages go up or down their column, then left or right, over the bridges to other dies if need be, and
//! every stop that they pass counts them.
//!
//! A message waits where it is put on the mesh (for a credit of the row that it goes to, and for a free slot to pass),
//! at bridges, where it turns, and where it is taken off. All of that is worked out when it is sent, from what was
//! sent before, and is one fact.

mod net;
mod port;
mod rail;
mod way;

use net::{Addresses, Blocks, Free, Lane, Net, Pace};
use pericore_engine::{Period, Tick};
use pericore_facts::emerald_rapids::{ROOM, Readers, Ring};
use way::Ways;

/// The meshes of all sockets.
#[derive(Debug)]
pub struct Mesh {
    ways: Box<Ways>,
    nets: Vec<Net>,
    /// The last message waited for its way onto the mesh.
    waited: bool,
    uclk: Period,
    /// Cycles to get off.
    half_base: u64,
}

impl Mesh {
    /// Quiet meshes.
    pub fn new(parameters: &super::Parameters, uclk: Period) -> Self {
        let pace = Pace {
            half_base: parameters.mesh_base / 2,
            crossing: parameters.mesh_crossing,
            bridge: parameters.mesh_bridge as u32,
        };
        Self {
            nets: (0..parameters.sockets).map(|_| Net::new(pace)).collect(),
            ways: Box::new(Ways::new(&parameters.floor, parameters.mesh_hop as u32, parameters.mesh_crossing as u32)),
            waited: false,
            uclk,
            half_base: pace.half_base,
        }
    }

    /// True if the message sent last had to wait.
    #[inline]
    pub const fn last_waited(&self) -> bool {
        self.waited
    }

    /// The tick at which an agent's queue onto a ring has room again; `None` if it has.
    #[inline]
    pub fn room_at(&self, socket: u16, (ring, agent): (Ring, u8), from: u8, now: Tick) -> Option<Tick> {
        let next = self.nets[usize::from(socket)].next((ring, agent), from);
        let full_until = next.saturating_sub(ROOM.into()) * self.uclk.ticks();
        (full_until > now).then_some(full_until)
    }

    /// Cycles for which an agent's next message waits behind those that it has for a ring.
    #[inline]
    pub fn waits_at(&self, socket: u16, ring_and_agent: (Ring, u8), from: u8, now: Tick) -> u64 {
        let next = self.nets[usize::from(socket)].next(ring_and_agent, from);
        next.saturating_sub(self.uclk.next_cycle(now))
    }

    /// Messages that a socket's mesh has carried.
    pub fn carried(&self, socket: u16) -> u64 {
        self.nets[usize::from(socket)].carried
    }

    /// Sends a message at `now`, and gives the tick at which it has arrived.
    #[expect(clippy::too_many_arguments, reason = "a message is its parts")]
    #[inline]
    pub fn send<R: Readers>(
        &mut self,
        socket: u16,
        ring: Ring,
        agent: u8,
        from: u8,
        to: u8,
        now: Tick,
        reader: &mut R,
    ) -> Tick {
        match ring {
            Ring::Address => self.send_on::<Addresses, R>(socket, (ring, agent), (from, to), now, reader),
            Ring::Block => self.send_on::<Blocks, R>(socket, (ring, agent), (from, to), now, reader),
            _ => self.send_on::<Free, R>(socket, (ring, agent), (from, to), now, reader),
        }
    }

    /// The same, on a ring of a kind.
    #[inline(never)]
    fn send_on<L: Lane, R: Readers>(
        &mut self,
        socket: u16,
        (ring, agent): (Ring, u8),
        (from, to): (u8, u8),
        now: Tick,
        reader: &mut R,
    ) -> Tick {
        let way = self.ways.between(from, to);
        let put = self.uclk.next_cycle(now);
        let net = &mut self.nets[usize::from(socket)];
        let message = net.carry::<L>((ring, agent), (from, to), &way, put);
        self.waited = message.left > put;
        if matches!(L::RING, Some(Ring::Address)) && message.turned > message.reached && message.is_credited() {
            let whole = message;
            net.wait_to_turn(&whole);
        }
        reader.goes(socket, message, now);
        (message.taken + self.half_base) * self.uclk.ticks()
    }
}
