//! Which core each hardware thread of a workload runs on.

/// The cores that take part: the first so many of each socket. Threads go round them socket by socket, one to a core,
/// then a second one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreAssignment {
    /// Cores of a socket, and those of them that take part.
    built: u16,
    active: u16,
    /// Cores of the machine that take part.
    all: u16,
}

impl CoreAssignment {
    /// Of a machine whose sockets have `built` cores, the first `active` of which take part.
    pub const fn new(sockets: u8, built: u8, active: u8) -> Self {
        Self { built: built as u16, active: active as u16, all: sockets as u16 * active as u16 }
    }

    /// The core of a thread, numbered over all cores of the machine.
    pub const fn core(self, thread: u16) -> u16 {
        let place = thread % self.all;
        place / self.active * self.built + place % self.active
    }

    /// The core of its socket that sees to a device, or sends a message, when that is its turn.
    pub const fn in_turn(self, turn: u16) -> u16 {
        turn % self.active
    }

    /// How many threads the core of a thread has before it.
    pub const fn place(self, thread: u16) -> u16 {
        thread / self.all
    }

    /// The first thread of a core of a socket, and how far it is to the core's next.
    #[inline]
    pub const fn threads(self, core: u16, socket: u8) -> (u16, u16) {
        (core - socket as u16 * (self.built - self.active), self.all)
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
