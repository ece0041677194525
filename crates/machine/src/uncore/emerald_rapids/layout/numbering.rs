//! Which socket, core, thread and mesh stop belong together.

use pericore_engine::Tick;

use super::super::Model;
use super::super::request::RequestId;
use pericore_facts::emerald_rapids::Queue;

impl Model {
    /// The socket of a core: there are no more than two.
    #[inline]
    pub(in super::super) fn socket_of(&self, core: u16) -> u8 {
        u8::from(core >= u16::from(self.parameters.cores))
    }

    /// The NUMA node of a core: its socket, or its cluster of its socket.
    pub(in super::super) fn node_of(&self, core: u16) -> u8 {
        self.socket_of(core) * self.parameters.clusters + self.cluster_of(core) as u8
    }

    /// The cluster of a core within its socket.
    #[inline]
    pub(in super::super) fn cluster_of(&self, core: u16) -> u32 {
        self.map.cluster_of(self.slot_of(core))
    }

    #[inline]
    pub(in super::super) fn core_within(&self, core: u16) -> u8 {
        (core - u16::from(self.socket_of(core)) * u16::from(self.parameters.cores)) as u8
    }

    #[inline]
    pub(in super::super) fn core_number(&self, socket: u8, core: u8) -> u16 {
        u16::from(socket) * u16::from(self.parameters.cores) + u16::from(core)
    }

    /// A core's thread of a turn: threads go round the sockets, then the cores that take part, then the hardware
    /// threads. A number that no thread has if they leave the core's socket out.
    #[inline]
    pub(in super::super) fn thread_of(&self, core: u16, turn: u16) -> u16 {
        let active = u16::from(self.parameters.active_cores);
        let Some(socket) = u16::from(self.socket_of(core)).checked_sub(self.first_socket.into()) else {
            return u16::MAX;
        };
        if socket >= self.around {
            return u16::MAX;
        }
        // The first thread of a socket is on the core that the workload names.
        let place = (u16::from(self.core_within(core)) + active - self.first_core) % active;
        (turn * active + place) * self.around + socket
    }

    #[inline]
    fn slot_of(&self, core: u16) -> u8 {
        self.places.slot(self.core_within(core))
    }

    /// Each core sits beside the slice of its place.
    #[inline]
    pub(in super::super) fn core_tile(&self, core: u16) -> u8 {
        self.places.cha[usize::from(self.slot_of(core))]
    }

    #[inline]
    pub(in super::super) fn requester_tile(&self, request: RequestId) -> u8 {
        let request = &self.pool[request];
        match request.kind().queue() {
            Queue::Io => self.places.m2pcie[usize::from(request.origin)],
            _ => self.core_tile(request.origin),
        }
    }

    /// Ticks that a thread pauses after an access.
    #[inline]
    pub(in super::super) fn pause_of(&mut self, thread: u16) -> Tick {
        match self.threads[usize::from(thread)].generator.pause() {
            0 => 0,
            picoseconds => self.work.course.pause(picoseconds),
        }
    }
}
