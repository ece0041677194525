//! What the host can be told early. Most of what an event looks at first has been thrown out of the host's nearest caches since it was last
//! looked at, and the event before it takes about as long as bringing it back.

use super::Model;
use super::event::Event;
use super::request::Request;

impl Model {
    /// Tells the host what an event that comes soon looks at.
    #[inline]
    pub(super) fn foresee(&self, packed: u32) {
        let (event, subject) = Event::unpack(packed);
        match event {
            Event::Arrive | Event::Data | Event::Release => {
                let Request { socket, cha, class, .. } = self.pool[subject];
                self.agents[usize::from(self.agent_number(socket, cha))].prefetch();
                self.account.ledger.prefetch(socket.into(), cha.into(), class);
            }
            _ => {}
        }
    }
}
