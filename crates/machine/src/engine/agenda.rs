//! When each of a few units acts next, and which one acts first.

use crate::engine::NEVER;
use crate::signal::Tick;

/// Units are looked at in groups.
const GROUP: usize = 4;
const GROUPS: usize = 4;
/// Bits of a unit's number.
const UNIT_BITS: u32 = 4;

/// The next ticks of up to 16 units. Of units with the same tick, the one with the lowest number comes first.
#[derive(Debug, Clone)]
pub struct Agenda {
    /// Tick and unit in one number, so that the least of them is all there is to find.
    entries: [[u64; GROUP]; GROUPS],
    /// Groups with units.
    groups: usize,
    first: u64,
}

impl Agenda {
    /// Nothing to do for so many units, at most 16.
    pub fn new(units: usize) -> Self {
        assert!(units <= GROUP * GROUPS, "an agenda has room for 16 units, not for {units}");
        Self { entries: [[NEVER; GROUP]; GROUPS], groups: units.div_ceil(GROUP), first: NEVER }
    }

    /// Ticks that matter lose no bit; of [`NEVER`] the others are left, which is later than all of them.
    const fn entry(unit: usize, tick: Tick) -> u64 {
        tick << UNIT_BITS | unit as u64
    }

    /// A unit acts next at `tick`, or never.
    #[inline]
    pub fn set(&mut self, unit: usize, tick: Tick) {
        self.entries[unit / GROUP % GROUPS][unit % GROUP] = Self::entry(unit, tick);
        let least = |[a, b, c, d]: [u64; GROUP]| a.min(b).min(c.min(d));
        let mut first = least(self.entries[0]);
        for group in 1..self.groups {
            first = first.min(least(self.entries[group % GROUPS]));
        }
        self.first = first;
    }

    /// A unit acts at `tick`, unless it does earlier.
    #[inline]
    pub fn bring_forward(&mut self, unit: usize, tick: Tick) {
        let entry = &mut self.entries[unit / GROUP % GROUPS][unit % GROUP];
        *entry = (*entry).min(Self::entry(unit, tick));
        self.first = self.first.min(*entry);
    }

    /// The tick at which the first unit acts, or one that never comes.
    #[inline]
    pub const fn tick(&self) -> Tick {
        self.first >> UNIT_BITS
    }

    /// The first unit, if any acts.
    #[inline]
    pub const fn unit(&self) -> usize {
        self.first as usize % (GROUP * GROUPS)
    }
}

#[cfg(test)]
mod tests {
    use super::Agenda;
    use crate::engine::NEVER;
    use crate::engine::clock::HORIZON;

    #[test]
    fn the_earliest_and_of_equals_the_lowest_comes_first() {
        let mut agenda = Agenda::new(6);
        assert!(agenda.tick() > HORIZON);
        agenda.set(5, 30);
        agenda.set(2, 40);
        assert_eq!((agenda.tick(), agenda.unit()), (30, 5));
        agenda.bring_forward(2, 30);
        assert_eq!((agenda.tick(), agenda.unit()), (30, 2));
        agenda.bring_forward(5, 35);
        agenda.set(2, NEVER);
        assert_eq!((agenda.tick(), agenda.unit()), (30, 5));
        agenda.set(5, NEVER);
        assert!(agenda.tick() > HORIZON);
    }
}
