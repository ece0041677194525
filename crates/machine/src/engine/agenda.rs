//! When each of a few units acts next, and which one acts first.

use crate::engine::NEVER;
use crate::signal::Tick;

/// Units lie in groups, each of which knows its least: so a change looks at one group and at the others' least.
const GROUP: usize = 4;
const GROUPS: usize = 8;
const UNITS: usize = GROUP * GROUPS;
/// Bits of a unit's number.
const UNIT_BITS: u32 = UNITS.trailing_zeros();

/// The next ticks of up to 32 units. Of units with the same tick, the one with the lowest number comes first.
#[derive(Debug, Clone)]
pub struct Agenda {
    /// Tick and unit in one number, so that the least of them is all there is to find.
    entries: [[u64; GROUP]; GROUPS],
    least: [u64; GROUPS],
    /// Groups with units.
    groups: usize,
    first: u64,
}

impl Agenda {
    /// Nothing to do for so many units, at most 32.
    pub fn new(units: usize) -> Self {
        assert!(units <= UNITS, "an agenda has room for {UNITS} units, not for {units}");
        let groups = units.div_ceil(GROUP);
        Self { entries: [[NEVER; GROUP]; GROUPS], least: [NEVER; GROUPS], groups, first: NEVER }
    }

    /// Ticks that matter lose no bit; of [`NEVER`] the others are left, which is later than all of them.
    const fn entry(unit: usize, tick: Tick) -> u64 {
        tick << UNIT_BITS | unit as u64
    }

    /// A unit acts next at `tick`, or never.
    #[inline]
    pub fn set(&mut self, unit: usize, tick: Tick) {
        let group = unit / GROUP % GROUPS;
        let entries = &mut self.entries[group];
        entries[unit % GROUP] = Self::entry(unit, tick);
        let [a, b, c, d] = *entries;
        self.least[group] = a.min(b).min(c.min(d));
        self.first = self.least.iter().take(self.groups).fold(NEVER, |first, &least| first.min(least));
    }

    /// A unit acts at `tick`, unless it does earlier.
    #[inline]
    pub fn bring_forward(&mut self, unit: usize, tick: Tick) {
        let group = unit / GROUP % GROUPS;
        let entry = &mut self.entries[group][unit % GROUP];
        *entry = (*entry).min(Self::entry(unit, tick));
        self.least[group] = self.least[group].min(*entry);
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
        self.first as usize % UNITS
    }
}

#[cfg(test)]
mod tests {
    use super::{Agenda, UNITS};
    use crate::engine::clock::HORIZON;
    use crate::engine::{NEVER, Random};

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

    #[test]
    fn all_units_take_part() {
        let (mut agenda, mut ticks) = (Agenda::new(UNITS), [NEVER; UNITS]);
        let mut random = Random::new(5, 0);
        for _ in 0..2000 {
            let (unit, tick) = (random.below(UNITS as u64) as usize, random.below(40));
            if random.per_cent(50) {
                agenda.set(unit, tick);
                ticks[unit] = tick;
            } else {
                agenda.bring_forward(unit, tick);
                ticks[unit] = ticks[unit].min(tick);
            }
            let first = (0..UNITS).min_by_key(|&unit| ticks[unit]).unwrap();
            match ticks[first] {
                NEVER => assert!(agenda.tick() > HORIZON),
                tick => assert_eq!((agenda.tick(), agenda.unit()), (tick, first)),
            }
        }
    }
}
