//! Counters that others use, which a plan leaves alone.

use pericore_catalog::Unit;

/// Counters of others, by instance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occupied {
    instances: Vec<(u16, &'static str, u16, Taken)>,
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

    /// True if nobody else counts.
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }
}
