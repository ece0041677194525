//! What the host can be told early. Most of what an event looks at first has been thrown out of the host's nearest caches since it was last
//! looked at, and some of it lies in pages of which the host has forgotten where they are: so it is asked for when the message that brings
//! the event is about to be sent, and comes while that is worked out.

use super::request::Request;
use super::{Model, address};
use pericore_facts::emerald_rapids::{Fact, Queue, Readers};
use pericore_parts::host::prefetch;

impl Model {
    /// A request sets out for its agent.
    #[inline]
    pub(super) fn foresee_arrival<R: Readers>(&self, request: &Request, reader: &mut R) {
        let Request { socket, cha, class, line, .. } = *request;
        let number = self.agent_number(socket, cha);
        self.slices.prefetch(number, line);
        self.agents[usize::from(number)].prefetch();
        reader.read(self.now, Fact::SetsOut((socket.into(), cha.into()), class));
    }

    /// A thread's next access is about to become a request, and what its core gave up for the last one too. Each looks for its slice's set:
    /// so the host finds both pages in the time of one.
    #[inline]
    pub(super) fn foresee_next(&self, thread: u16) {
        let Some(thread) = self.threads.get(usize::from(thread)) else { return };
        if let Some((_, line)) = thread.held.or(thread.coming) {
            self.foresee_tags(thread.core, line);
        }
    }

    /// A line of a core will be looked up in the slice and snoop filter of its socket.
    #[inline]
    pub(super) fn foresee_tags(&self, core: u16, line: u32) {
        self.slices.prefetch(self.agent_number(self.socket_of(core), self.map.agent(line)), line);
    }

    /// A line will be moved by function: the slices and snoop filters of all sockets are looked up, and its directory.
    #[inline]
    pub(super) fn foresee_move(&self, core: u16, line: u32) {
        self.l2s.prefetch(core, line);
        let cha = self.map.agent(line);
        for socket in 0..self.sockets {
            self.slices.prefetch(self.agent_number(socket, cha), line);
        }
        if self.sockets > 1 {
            let (_, home) = address::target(line);
            self.directories[usize::from(home)].prefetch(line);
        }
    }

    /// Memory has answered: a request's data goes to its core, and the thread that waits for it goes on; its entry is given back.
    #[inline]
    pub(super) fn foresee_end<R: Readers>(&self, request: &Request, reader: &mut R) {
        let Request { socket, cha, class, origin, thread, line, .. } = *request;
        self.agents[usize::from(self.agent_number(socket, cha))].prefetch();
        reader.read(self.now, Fact::Answered((socket.into(), cha.into()), class));
        if class.kind.queue() == Queue::Core {
            self.cores[usize::from(origin)].prefetch();
            self.l2s.prefetch(origin, line);
        }
        if let Some(thread) = self.threads.get(usize::from(thread)) {
            prefetch(&thread.state);
            prefetch(&thread.generator);
        }
    }
}
