//! What a phase makes happen at random times: messages to the system agent, and traffic between devices.

use pericore_engine::Random;
use pericore_engine::Tick;
use pericore_facts::emerald_rapids::Readers;

use super::Model;
use super::event::Event;
use pericore_parts::recurring::Recurring;
use pericore_workload::{Errand, MessageKind};

/// Seed of the times (the kinds of a socket share one stream of numbers).
const SEED: u64 = 0x0E44_A2D5;

/// A socket's errands.
#[derive(Debug)]
struct Socket {
    errands: Recurring,
    /// Errands so far.
    turn: u32,
    /// The tick of the look at them that counts.
    watched: Tick,
}

/// The errands of all sockets.
#[derive(Debug)]
pub struct Errands {
    sockets: Vec<Socket>,
}

impl Errands {
    /// Nothing to do.
    pub fn new(sockets: u8) -> Self {
        let socket =
            |number: u8| Socket { errands: Recurring::new(Random::new(SEED, number.into())), turn: 0, watched: 0 };
        Self { sockets: (0..sockets).map(socket).collect() }
    }
}

impl Model {
    /// A phase begins with these errands, on every socket.
    pub(super) fn begin_errands(&mut self, errands: &[Errand]) {
        let (course, now) = (&self.work.course, self.now);
        for socket in &mut self.errands.sockets {
            socket.errands.begin(errands, |nanoseconds| course.ticks(nanoseconds), now);
        }
        (0..u16::from(self.sockets)).for_each(|socket| self.watch_errands(socket));
    }

    fn watch_errands(&mut self, number: u16) {
        let socket = &mut self.errands.sockets[usize::from(number)];
        let Some(next) = socket.errands.next_tick() else { return };
        socket.watched = next.max(self.now + self.times.uclk).next_multiple_of(self.times.uclk);
        self.wheel.schedule(socket.watched, Event::Errand.of(number));
    }

    /// The errands that are due, unless the look at them is stale.
    pub(super) fn step_errands<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let now = self.now;
        if self.errands.sockets[usize::from(number)].watched != now {
            return;
        }
        for index in 0..self.errands.sockets[usize::from(number)].errands.kinds() {
            let socket = &mut self.errands.sockets[usize::from(number)];
            let Some(kind) = socket.errands.take(index, now) else { continue };
            let turn = socket.turn;
            socket.turn = turn.wrapping_add(1);
            match kind {
                MessageKind::PeerWrite | MessageKind::PeerRead => self.start_peers(number, kind, turn, reader),
                _ => self.send_to_system(number, kind, turn, reader),
            }
        }
        self.watch_errands(number);
    }
}
