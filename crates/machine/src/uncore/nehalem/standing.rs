//! Who listens, and what stands in a socket's queues when somebody begins to.

use pericore_hardware::signal::SignalSink;

use super::Model;
use crate::uncore::levels::Standing;

impl Model {
    /// Asks who listens to what; to be done whenever counters may have been programmed.
    pub(super) fn listen<S: SignalSink>(&mut self, sink: &mut S) {
        for socket in 0..self.sockets.len() {
            let mut new = false;
            for wires in &mut self.wires.sockets[socket].levels {
                for (wire, _) in [&mut wires.entries, &mut wires.nonempty, &mut wires.full].into_iter().flatten() {
                    new |= wire.listen(sink);
                }
            }
            if new {
                self.stands_in(socket, sink);
            }
        }
    }

    /// Says what stands in the queues of a PMON instance, whose counters may begin to listen.
    pub fn stands<S: SignalSink>(&self, instance: u16, sink: &mut S) {
        // A socket's uncore is one instance.
        if let Some(socket) = self.wires.sockets.iter().position(|wires| wires.pulses[0].0.instance == instance) {
            self.stands_in(socket, sink);
        }
    }

    #[cold]
    fn stands_in<S: SignalSink>(&self, socket: usize, sink: &mut S) {
        let mut standing = Standing::default();
        for (wires, &live) in self.wires.sockets[socket].levels.iter().zip(&self.sockets[socket].live) {
            let first = u32::from(live > 0);
            let last = u32::from(live >= wires.capacity);
            for (wire, count) in [(wires.entries, live), (wires.nonempty, first), (wires.full, last)] {
                if let Some((wire, tag)) = wire {
                    standing.add(wire, tag, count);
                }
            }
        }
        standing.say(self.now, sink);
    }
}
