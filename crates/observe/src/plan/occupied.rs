//! Counters that others use, which a plan leaves alone.

use pericore_catalog::Unit;

/// Counters of others, by instance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occupied {
    instances: Vec<(u16, &'static str, u16, Taken)>,
    /// Sockets of which every unit was looked at.
    surveyed: Vec<u16>,
    /// Sockets whose freeze was found on.
    frozen: Vec<u16>,
}

/// What others use of an instance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Taken {
    /// Programmable counters, as a bit mask.
    pub counters: u16,
    /// The fixed counter.
    pub fixed: bool,
}

impl Taken {
    /// True if others count in the instance, so that no freeze or reset may stop it.
    pub const fn any(self) -> bool {
        self.counters != 0 || self.fixed
    }

    /// True if nothing of the instance is left.
    pub const fn is_whole(self) -> bool {
        self.counters == u16::MAX && self.fixed
    }
}

impl Occupied {
    /// What others use of an instance.
    pub fn of(&self, socket: u16, unit: &Unit, number: u16) -> Taken {
        let found = self.instances.iter().find(|(s, name, n, _)| (*s, *name, *n) == (socket, unit.name, number));
        found.map(|(.., taken)| *taken).unwrap_or_default()
    }

    /// Notes a programmable counter (or, without a number, the fixed one) that others use.
    pub fn note(&mut self, socket: u16, unit: &'static Unit, number: u16, counter: Option<u8>) {
        let at = self.instances.iter().position(|(s, name, n, _)| (*s, *name, *n) == (socket, unit.name, number));
        let at = at.unwrap_or_else(|| {
            self.instances.push((socket, unit.name, number, Taken::default()));
            self.instances.len() - 1
        });
        let taken = &mut self.instances[at].3;
        match counter {
            Some(counter) => taken.counters |= 1 << counter.min(15),
            None => taken.fixed = true,
        }
    }

    /// Notes that an instance is wholly in use by others.
    pub fn note_whole(&mut self, socket: u16, unit: &'static Unit, number: u16) {
        self.note(socket, unit, number, None);
        (0..16).for_each(|counter| self.note(socket, unit, number, Some(counter)));
    }

    /// Notes that every unit of the socket was looked at.
    pub fn note_surveyed(&mut self, socket: u16) {
        if !self.surveyed.contains(&socket) {
            self.surveyed.push(socket);
        }
    }

    /// True if every unit of the socket was looked at, and nobody else counts in any.
    pub fn is_clear(&self, socket: u16) -> bool {
        self.surveyed.contains(&socket) && !self.instances.iter().any(|(other, ..)| *other == socket)
    }

    /// Notes that the freeze of the whole socket is on: firmware or another tool has left it so.
    pub fn note_frozen(&mut self, socket: u16) {
        if !self.frozen.contains(&socket) {
            self.frozen.push(socket);
        }
    }

    /// True if the freeze of the whole socket was on when it was looked at.
    pub fn is_frozen(&self, socket: u16) -> bool {
        self.frozen.contains(&socket)
    }

    /// Notes all that `other` knows.
    pub fn merge(&mut self, other: &Self) {
        for &(socket, name, number, taken) in &other.instances {
            match self.instances.iter_mut().find(|(s, n, i, _)| (*s, *n, *i) == (socket, name, number)) {
                Some((.., known)) => {
                    known.counters |= taken.counters;
                    known.fixed |= taken.fixed;
                }
                None => self.instances.push((socket, name, number, taken)),
            }
        }
        other.surveyed.iter().for_each(|&socket| self.note_surveyed(socket));
        other.frozen.iter().for_each(|&socket| self.note_frozen(socket));
    }

    /// True if nobody else counts.
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::e5_2600;

    /// What is known of one instance of one socket says nothing of others, and all of a socket is clear only if it was
    /// looked at and nobody was there.
    #[test]
    fn counters_of_others_are_known_by_socket_unit_and_number() {
        let [imc, cbo] = ["imc", "cbo"].map(|name| e5_2600().unit(name).unwrap());
        let mut occupied = Occupied::default();
        assert!(occupied.is_empty() && !occupied.is_clear(0));
        occupied.note_surveyed(0);
        assert!(occupied.is_clear(0) && !occupied.is_clear(1));
        occupied.note(0, imc, 1, Some(2));
        occupied.note(0, imc, 1, Some(99));
        occupied.note(1, cbo, 3, None);
        occupied.note_whole(1, cbo, 4);
        let taken = |socket, unit, number| occupied.of(socket, unit, number);
        let nobody = Taken::default();
        assert_eq!(taken(0, imc, 1), Taken { counters: 0x8004, fixed: false });
        assert_eq!(taken(1, cbo, 3), Taken { counters: 0, fixed: true });
        assert_eq!(taken(1, cbo, 4), Taken { counters: u16::MAX, fixed: true });
        assert_eq!([taken(1, imc, 1), taken(0, imc, 2), taken(0, cbo, 1), taken(0, cbo, 3)], [nobody; 4]);
        let whole = [taken(0, imc, 1), taken(1, cbo, 3), taken(1, cbo, 4), nobody];
        assert_eq!(
            whole.map(|taken| (taken.any(), taken.is_whole())),
            [(true, false), (true, false), (true, true), (false, false)]
        );
        assert!(!occupied.is_clear(0) && !occupied.is_empty());
        let every = Taken { counters: u16::MAX, fixed: false };
        assert!(every.any() && !every.is_whole(), "the fixed counter is left");
    }

    #[test]
    fn what_two_looks_know_of_sockets_is_known_together() {
        let imc = e5_2600().unit("imc").unwrap();
        let mut first = Occupied::default();
        first.note_surveyed(0);
        first.note_frozen(2);
        let mut second = Occupied::default();
        second.note_surveyed(1);
        second.note_frozen(0);
        second.note(1, imc, 0, Some(3));
        first.merge(&second);
        assert_eq!([0, 1, 2].map(|socket| first.is_clear(socket)), [true, false, false]);
        assert_eq!([0, 1, 2].map(|socket| first.is_frozen(socket)), [true, false, true]);
        assert_eq!(first.of(1, imc, 0).counters, 0b1000);
        let before = first.clone();
        first.merge(&second);
        assert_eq!(first, before, "what is known is not known twice");
    }
}
