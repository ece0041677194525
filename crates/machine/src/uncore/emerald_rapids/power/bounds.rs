//! Which frequency a package gets, who decides it, and what its sensors say.

use pericore_facts::emerald_rapids::PackageCondition;
use pericore_workload::{FrequencyBounds, HotPart};

/// Highest ratios, in 100 MHz, of cores that run vector code of 256 and 512 bits (assumption: the vendor's tables by number of cores
/// lie about so far below the highest turbo).
const CLIPS: [u8; 2] = [34, 30];

/// What the power unit finds out for itself: the peak's bound, and what is hot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Findings {
    /// With this ratio the package stays below its peak power.
    pub peak: Option<u8>,
    /// A core of its own die, the uncore, another die, the memory modules.
    pub hot: [bool; 4],
    /// Requests for memory wait because of heat.
    pub throttles_memory: bool,
}

/// The ratio that software asks for; `own` is that of a part whose software asks for none.
pub fn requested(bounds: &FrequencyBounds, own: u8) -> u8 {
    bounds.request.unwrap_or(own)
}

/// A frequency and the reasons for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// In 100 MHz.
    pub ratio: u8,
    facts: u32,
}

impl Decision {
    /// Overheating goes before the floor, the floor before ceilings; the lowest ceiling decides. A bound counts while the package runs at
    /// it and would otherwise run higher (a ceiling) or lower (the floor). `ratios` are the least, the one of those who request none, and the
    /// highest.
    pub fn of(bounds: &FrequencyBounds, found: &Findings, ratios: [u8; 3]) -> Self {
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
            found.peak.map(|ratio| (PackageCondition::PeakPower, ratio)),
        ];
        let request = requested(bounds, own);
        let ceiling = ceilings.iter().flatten().fold(request.min(turbo), |least, &(_, ratio)| least.min(ratio));
        let floor = bounds.io_floor.unwrap_or(0);
        let wanted = ceiling.max(floor);
        let overheats = bounds.prochot_internal || bounds.prochot_external;
        let ratio = if overheats { least } else { wanted };
        let mut facts = 0;
        let mut holds = |fact: PackageCondition, on: bool| facts |= u32::from(on) << fact as u32;
        for &(fact, bound) in ceilings.iter().flatten() {
            holds(fact, bound == ratio && bound < request);
        }
        holds(PackageCondition::IoFloor, !overheats && floor > ceiling);
        holds(PackageCondition::ProchotInternal, bounds.prochot_internal);
        holds(PackageCondition::ProchotExternal, bounds.prochot_external);
        holds(PackageCondition::RegulatorHot, bounds.regulator_hot);
        if bounds.peak_power {
            holds(PackageCondition::PeakPower, true);
        }
        holds(PackageCondition::CrossLight, bounds.cross_throttle == Some(false));
        holds(PackageCondition::CrossHard, bounds.cross_throttle == Some(true));
        let throttled = overheats || bounds.thermal.is_some_and(|bound| bound == ratio && bound < request);
        for (part, hot, throttle) in [
            (HotPart::Core, PackageCondition::CoreHot, PackageCondition::CoreThrottled),
            (HotPart::Uncore, PackageCondition::UncoreHot, PackageCondition::UncoreThrottled),
            (HotPart::Die, PackageCondition::DieHot, PackageCondition::DieThrottled),
            (HotPart::Memory, PackageCondition::MemoryHot, PackageCondition::MemoryThrottled),
        ] {
            let (named, is_hot) = (bounds.hot == Some(part), found.hot[part as usize]);
            holds(hot, named || is_hot);
            holds(
                throttle,
                throttled && named
                    || is_hot && if part == HotPart::Memory { found.throttles_memory } else { throttled },
            );
        }
        Self { ratio, facts }
    }

    /// True if something else than the power that cores draw bounds the frequency.
    pub fn is_bounded(self) -> bool {
        let reasons = [
            PackageCondition::ThermalLimit,
            PackageCondition::PowerLimit,
            PackageCondition::PeakPower,
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
    use super::{Decision, Findings, PackageCondition};
    use pericore_workload::{FrequencyBounds, HotPart};

    const RATIOS: [u8; 3] = [8, 19, 39];

    #[track_caller]
    fn gives(bounds: FrequencyBounds, ratio: u8, facts: &[PackageCondition]) {
        let decision = Decision::of(&bounds, &Findings::default(), RATIOS);
        let expected = facts.iter().fold(0, |mask, &fact| mask | 1 << fact as u32);
        assert_eq!((decision.ratio, decision.facts()), (ratio, expected), "{bounds:?}");
    }

    #[test]
    fn the_lowest_ceiling_decides_and_the_floor_goes_before_it() {
        let none = FrequencyBounds::default();
        gives(none, 19, &[]);
        gives(FrequencyBounds { power: Some(15), thermal: Some(17), ..none }, 15, &[PackageCondition::PowerLimit]);
        gives(FrequencyBounds { request: Some(39), vectors: Some(512), ..none }, 30, &[PackageCondition::LongVectors]);
        // Vector code that runs slower anyway is not clipped.
        gives(FrequencyBounds { vectors: Some(256), ..none }, 19, &[]);
        gives(FrequencyBounds { request: Some(10), io_floor: Some(12), ..none }, 12, &[PackageCondition::IoFloor]);
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

    #[test]
    fn peak_power_bounds_the_frequency_and_hot_modules_are_throttled_by_themselves() {
        // The part's own ratio is 39 here, or another one.
        let of = |bounds: FrequencyBounds, found: Findings, own: u8| {
            let decision = Decision::of(&bounds, &found, [8, own, 39]);
            let holds = |&&fact: &&PackageCondition| decision.facts() >> fact as u32 & 1 == 1;
            (decision.ratio, PackageCondition::ALL.iter().filter(holds).copied().collect::<Vec<_>>())
        };
        let gives = |bounds: FrequencyBounds, found: Findings| of(bounds, found, 39);
        let none = FrequencyBounds::default();
        let peak = Findings { peak: Some(33), ..Findings::default() };
        assert_eq!(gives(none, peak), (33, vec![PackageCondition::PeakPower]));
        assert_eq!(of(none, peak, 33), (33, vec![]), "it would not run higher");
        let modules = Findings { hot: [false, false, false, true], throttles_memory: true, ..Findings::default() };
        assert_eq!(gives(none, modules), (39, vec![PackageCondition::MemoryThrottled, PackageCondition::MemoryHot]));
        let die = Findings { hot: [false, false, true, false], ..Findings::default() };
        let limited = FrequencyBounds { thermal: Some(30), ..none };
        let facts = [PackageCondition::ThermalLimit, PackageCondition::DieThrottled, PackageCondition::DieHot];
        assert_eq!(gives(limited, die), (30, facts.to_vec()));
        assert_eq!(gives(none, die), (39, vec![PackageCondition::DieHot]), "hot, and not throttled yet");
    }
}
