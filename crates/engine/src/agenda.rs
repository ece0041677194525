//! When each of a few units acts next, and which one acts first.

use crate::NEVER;
use crate::Tick;

/// Units lie in groups, each of which knows its least: so a change looks at one group and at the others' least.
const GROUP: usize = 4;
/// Bits of a unit's number.
const UNIT_BITS: u32 = 5;

/// The next ticks of up to four units for each of `GROUPS`. Of units with the same tick, the one with the lowest number comes first.
#[derive(Debug, Clone)]
pub struct Agenda<const GROUPS: usize = 4> {
    /// Tick and unit in one number, so that the least of them is all there is to find.
    entries: [[u64; GROUP]; GROUPS],
    least: [u64; GROUPS],
    first: u64,
}

impl<const GROUPS: usize> Agenda<GROUPS> {
    const UNITS: usize = GROUP * GROUPS;

    /// Nothing to do for so many units.
    ///
    /// # Panics
    /// If there are more units than groups have room for.
    pub fn new(units: usize) -> Self {
        const { assert!(Self::UNITS <= 1 << UNIT_BITS) };
        assert!(units <= Self::UNITS, "an agenda has room for {} units, not for {units}", Self::UNITS);
        Self { entries: [[NEVER; GROUP]; GROUPS], least: [NEVER; GROUPS], first: NEVER }
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
        self.first = self.least.iter().fold(NEVER, |first, &least| first.min(least));
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
        self.first as usize % Self::UNITS
    }
}

#[cfg(test)]
mod tests {
    use super::Agenda;
    use crate::clock::HORIZON;
    use crate::{NEVER, Random};

    #[test]
    fn the_earliest_and_of_equals_the_lowest_comes_first() {
        let mut agenda = Agenda::<2>::new(6);
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
        const UNITS: usize = 32;
        let (mut agenda, mut ticks) = (Agenda::<8>::new(UNITS), [NEVER; UNITS]);
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
