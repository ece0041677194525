//! Which frequency a package gets, who decides it, and what its sensors say.

use pericore_facts::emerald_rapids::PackageCondition;
use pericore_workload::{FrequencyBounds, HotPart};

/// Highest ratios, in 100 MHz, of cores that run vector code of 256 and 512 bits (assumption: the vendor's tables by number of cores
/// lie about so far below the highest turbo).
const CLIPS: [u8; 2] = [34, 30];

/// A frequency and the reasons for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// In 100 MHz.
    pub ratio: u8,
    facts: u32,
}

impl Decision {
    /// Overheating goes before the floor, the floor before ceilings; the lowest ceiling decides. A bound counts while the package runs at
    /// it and would otherwise run higher (a ceiling) or lower (the floor). `ratios` are the least, the one of those who wish none, and the
    /// highest.
    pub fn of(bounds: &FrequencyBounds, ratios: [u8; 3]) -> Self {
        let [least, own, turbo] = ratios;
        let clip = match bounds.vectors {
            Some(256) => Some((PackageCondition::ShortVectors, CLIPS[0])),
            Some(_) => Some((PackageCondition::LongVectors, CLIPS[1])),
            None => None,
        };
        let ceilings = [
            bounds.thermal.map(|ratio| (PackageCondition::ThermalLimit, ratio)),
            bounds.power.map(|ratio| (PackageCondition::PowerLimit, ratio)),
            clip,
        ];
        let wish = bounds.wish.unwrap_or(own);
        let ceiling = ceilings.iter().flatten().fold(wish.min(turbo), |least, &(_, ratio)| least.min(ratio));
        let floor = bounds.io_floor.unwrap_or(0);
        let wanted = ceiling.max(floor);
        let overheats = bounds.prochot_internal || bounds.prochot_external;
        let ratio = if overheats { least } else { wanted };
        let mut facts = 0;
        let mut holds = |fact: PackageCondition, on: bool| facts |= u32::from(on) << fact as u32;
        for &(fact, bound) in ceilings.iter().flatten() {
            holds(fact, bound == ratio && bound < wish);
        }
        holds(PackageCondition::IoFloor, !overheats && floor > ceiling);
        holds(PackageCondition::ProchotInternal, bounds.prochot_internal);
        holds(PackageCondition::ProchotExternal, bounds.prochot_external);
        holds(PackageCondition::RegulatorHot, bounds.regulator_hot);
        holds(PackageCondition::PeakPower, bounds.peak_power);
        holds(PackageCondition::CrossLight, bounds.cross_throttle == Some(false));
        holds(PackageCondition::CrossHard, bounds.cross_throttle == Some(true));
        let throttled = bounds.thermal.is_some_and(|bound| bound == ratio && bound < wish);
        let (hot, throttle) = match bounds.hot {
            Some(HotPart::Core) => (PackageCondition::CoreHot, PackageCondition::CoreThrottled),
            Some(HotPart::Uncore) => (PackageCondition::UncoreHot, PackageCondition::UncoreThrottled),
            Some(HotPart::Die) => (PackageCondition::DieHot, PackageCondition::DieThrottled),
            Some(HotPart::Memory) => (PackageCondition::MemoryHot, PackageCondition::MemoryThrottled),
            None => return Self { ratio, facts },
        };
        holds(throttle, throttled);
        holds(hot, true);
        Self { ratio, facts }
    }

    /// True if something else than the power that cores draw bounds the frequency.
    pub fn is_bounded(self) -> bool {
        let reasons = [
            PackageCondition::ThermalLimit,
            PackageCondition::PowerLimit,
            PackageCondition::ShortVectors,
            PackageCondition::LongVectors,
            PackageCondition::IoFloor,
            PackageCondition::ProchotInternal,
            PackageCondition::ProchotExternal,
        ];
        reasons.into_iter().any(|reason| self.facts >> reason as u32 & 1 == 1)
    }

    /// The facts that hold, a bit each.
    pub const fn facts(self) -> u32 {
        self.facts
    }
}

#[cfg(test)]
mod tests {
    use super::{Decision, PackageCondition};
    use pericore_workload::{FrequencyBounds, HotPart};

    const RATIOS: [u8; 3] = [8, 19, 39];

    #[track_caller]
    fn gives(bounds: FrequencyBounds, ratio: u8, facts: &[PackageCondition]) {
        let decision = Decision::of(&bounds, RATIOS);
        let expected = facts.iter().fold(0, |mask, &fact| mask | 1 << fact as u32);
        assert_eq!((decision.ratio, decision.facts()), (ratio, expected), "{bounds:?}");
    }

    #[test]
    fn the_lowest_ceiling_decides_and_the_floor_goes_before_it() {
        let none = FrequencyBounds::default();
        gives(none, 19, &[]);
        gives(FrequencyBounds { power: Some(15), thermal: Some(17), ..none }, 15, &[PackageCondition::PowerLimit]);
        gives(FrequencyBounds { wish: Some(39), vectors: Some(512), ..none }, 30, &[PackageCondition::LongVectors]);
        // Vector code that runs slower anyway is not clipped.
        gives(FrequencyBounds { vectors: Some(256), ..none }, 19, &[]);
        gives(FrequencyBounds { wish: Some(10), io_floor: Some(12), ..none }, 12, &[PackageCondition::IoFloor]);
        gives(
            FrequencyBounds { prochot_external: true, io_floor: Some(20), ..none },
            8,
            &[PackageCondition::ProchotExternal],
        );
    }

    #[test]
    fn a_hot_part_is_throttled_while_heat_decides() {
        let hot = FrequencyBounds { hot: Some(HotPart::Uncore), ..Default::default() };
        gives(hot, 19, &[PackageCondition::UncoreHot]);
        let limited = FrequencyBounds { thermal: Some(12), ..hot };
        gives(
            limited,
            12,
            &[PackageCondition::ThermalLimit, PackageCondition::UncoreThrottled, PackageCondition::UncoreHot],
        );
        let more = FrequencyBounds { power: Some(10), ..limited };
        gives(more, 10, &[PackageCondition::PowerLimit, PackageCondition::UncoreHot]);
    }
}
