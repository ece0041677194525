//! Which core each hardware thread of a workload runs on.

/// The cores that take part: the first so many of each socket. Threads go round them socket by socket, one to a core,
/// then a second one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreAssignment {
    /// Cores of a socket, and those of them that take part.
    built: u16,
    active: u16,
    sockets: u16,
    /// The socket that all threads run on, if one is named.
    only: Option<u8>,
}

impl CoreAssignment {
    /// Of a machine whose sockets have `built` cores, the first `active` of which take part.
    pub const fn new(sockets: u8, built: u8, active: u8) -> Self {
        Self { built: built as u16, active: active as u16, sockets: sockets as u16, only: None }
    }

    /// The same for threads that all run on one socket, if one is named.
    pub const fn on(self, only: Option<u8>) -> Self {
        Self { only, ..self }
    }

    /// Cores that threads run on.
    const fn all(self) -> u16 {
        if self.only.is_some() { self.active } else { self.sockets * self.active }
    }

    /// The core of a thread, numbered over all cores of the machine.
    pub const fn core(self, thread: u16) -> u16 {
        let place = thread % self.all();
        let socket = match self.only {
            Some(socket) => socket as u16,
            None => place / self.active,
        };
        socket * self.built + place % self.active
    }

    /// The core of its socket that sees to a device, or sends a message, when that is its turn.
    pub const fn in_turn(self, turn: u16) -> u16 {
        turn % self.active
    }

    /// How many threads the core of a thread has before it.
    pub const fn place(self, thread: u16) -> u16 {
        thread / self.all()
    }

    /// The first thread of a core of a socket, and how far it is to the core's next. Of a core without threads the
    /// first has a number that no thread has.
    #[inline]
    pub const fn threads(self, core: u16, socket: u8) -> (u16, u16) {
        let before = match self.only {
            None => socket as u16 * (self.built - self.active),
            Some(only) if only == socket => socket as u16 * self.built,
            Some(_) => return (u16::MAX, self.active),
        };
        (core - before, self.all())
    }
}

#[cfg(test)]
mod tests {
    use super::CoreAssignment;

    #[test]
    fn threads_go_round_the_cores_that_take_part() {
        let assignment = CoreAssignment::new(2, 8, 3);
        let cores: Vec<u16> = (0..12).map(|thread| assignment.core(thread)).collect();
        assert_eq!(cores, [0, 1, 2, 8, 9, 10, 0, 1, 2, 8, 9, 10]);
        assert_eq!([0, 5, 6, 11].map(|thread| assignment.place(thread)), [0, 0, 1, 1]);
        assert_eq!([3, 4, 5].map(|turn| assignment.in_turn(turn)), [0, 1, 2]);
        assert_eq!((assignment.threads(2, 0), assignment.threads(8, 1)), ((2, 6), (3, 6)));
    }

    #[test]
    fn threads_may_all_run_on_one_socket() {
        let assignment = CoreAssignment::new(2, 8, 3).on(Some(1));
        let cores: Vec<u16> = (0..6).map(|thread| assignment.core(thread)).collect();
        assert_eq!(cores, [8, 9, 10, 8, 9, 10]);
        assert_eq!((assignment.place(2), assignment.place(3)), (0, 1));
        assert_eq!((assignment.threads(9, 1), assignment.threads(1, 0).0), ((1, 3), u16::MAX));
        assert_eq!(assignment.on(None), CoreAssignment::new(2, 8, 3));
    }

    #[test]
    fn the_threads_of_a_core_are_those_that_run_on_it() {
        for (sockets, built, active) in [(1, 8, 8), (4, 8, 5), (2, 4, 1), (1, 4, 4)] {
            let assignment = CoreAssignment::new(sockets, built, active);
            for thread in 0..2 * u16::from(sockets) * u16::from(active) {
                let core = assignment.core(thread);
                let (first, step) = assignment.threads(core, (core / u16::from(built)) as u8);
                assert_eq!(first + assignment.place(thread) * step, thread);
            }
        }
    }
}
