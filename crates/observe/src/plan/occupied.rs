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
