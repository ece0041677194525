//! What the host can be told early. Most of what an event looks at first has been thrown out of the host's nearest caches since it was last
//! looked at, and the event before it takes about as long as bringing it back. What lies in the furthest, and in pages of which the host has
//! forgotten where they are, takes longer: it is asked for when the request sets out.

use super::Model;
use super::event::Event;
use super::request::Request;
use crate::host::prefetch;
use crate::ledger::emerald_rapids::Queue;

impl Model {
    /// Tells the host what an event that comes soon looks at.
    #[inline]
    pub(super) fn foresee(&self, packed: u32) {
        let (event, subject) = Event::unpack(packed);
        match event {
            Event::Data => {
                let request = &self.pool[subject];
                self.foresee_end(request);
                self.foresee_data(request);
            }
            Event::Release => self.foresee_end(&self.pool[subject]),
            Event::Answer => {
                let Request { socket, line, .. } = self.pool[subject];
                self.directories[usize::from(socket)].prefetch(line);
            }
            _ => {}
        }
    }

    /// A request sets out for its agent.
    #[inline]
    pub(super) fn foresee_arrival(&self, request: &Request) {
        let Request { socket, cha, class, line, .. } = *request;
        let number = self.agent_number(socket, cha);
        self.slices.prefetch(number, line);
        self.agents[usize::from(number)].prefetch();
        self.account.ledger.prefetch_arrival(socket.into(), cha.into(), class);
    }

    /// A request gives its entry back.
    #[inline]
    fn foresee_end(&self, request: &Request) {
        let Request { socket, cha, class, .. } = *request;
        self.agents[usize::from(self.agent_number(socket, cha))].prefetch();
        self.account.ledger.prefetch_end(socket.into(), cha.into(), class);
    }

    /// Its data comes to its core, and the thread that waits for it goes on.
    #[inline]
    fn foresee_data(&self, request: &Request) {
        let Request { class, origin, thread, line, .. } = *request;
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
