//! Which frequency a socket gets, and who decides it.

use pericore_facts::e5_2600::PowerFact;
use pericore_workload::FrequencyBounds;

/// Ratios, in 100 MHz, of the part's frequencies: least, nominal, highest turbo (vendor's product data for the
/// E5-2680).
pub const RATIOS: [u8; 3] = [12, 27, 35];
/// Ratio to which overheating forces the frequency down.
pub const PROCHOT_RATIO: u8 = 12;

/// A frequency and the reasons for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// In 100 MHz.
    pub ratio: u8,
    /// Facts that hold, one bit for each of [`Decision::ALL`].
    facts: u16,
}

impl Decision {
    /// The facts that a decision can bring about.
    pub const ALL: [PowerFact; 9] = [
        PowerFact::ThermalLimit,
        PowerFact::PowerLimit,
        PowerFact::SystemRequest,
        PowerFact::CurrentLimit,
        PowerFact::IoFloor,
        PowerFact::PeerFloor,
        PowerFact::ProchotInternal,
        PowerFact::ProchotExternal,
        PowerFact::RegulatorHot,
    ];

    /// Overheating goes before floors, floors before ceilings; the lowest ceiling and the highest floor decide. A bound
    /// counts while the socket runs at it and would otherwise run higher (a ceiling) or lower (a floor).
    pub fn of(bounds: &FrequencyBounds) -> Self {
        let [_, nominal, turbo] = RATIOS;
        let ceilings = [
            (PowerFact::ThermalLimit, bounds.thermal),
            (PowerFact::PowerLimit, bounds.power),
            (PowerFact::SystemRequest, Some(bounds.request.unwrap_or(nominal))),
            (PowerFact::CurrentLimit, bounds.current),
        ];
        let floors = [(PowerFact::IoFloor, bounds.io_floor), (PowerFact::PeerFloor, bounds.peer_floor)];
        let ceiling = ceilings.iter().filter_map(|(_, bound)| *bound).fold(turbo, u8::min);
        let floor = floors.iter().filter_map(|(_, bound)| *bound).fold(0, u8::max);
        let hot = bounds.prochot_internal || bounds.prochot_external;
        let wanted = ceiling.max(floor);
        let ratio = if hot { wanted.min(PROCHOT_RATIO) } else { wanted };
        let mut facts = 0;
        let mut holds = |fact: PowerFact| facts |= Self::bit(fact);
        if ratio == wanted {
            if floor > ceiling {
                floors.iter().filter(|(_, bound)| *bound == Some(ratio)).for_each(|(fact, _)| holds(*fact));
            } else if ceiling < turbo {
                ceilings.iter().filter(|(_, bound)| *bound == Some(ratio)).for_each(|(fact, _)| holds(*fact));
            }
        }
        for (fact, on) in [
            (PowerFact::ProchotInternal, bounds.prochot_internal),
            (PowerFact::ProchotExternal, bounds.prochot_external),
            (PowerFact::RegulatorHot, bounds.regulator_hot),
        ] {
            if on {
                holds(fact);
            }
        }
        Self { ratio, facts }
    }

    /// True if a fact holds.
    pub fn holds(&self, fact: PowerFact) -> bool {
        self.facts & Self::bit(fact) != 0
    }

    /// The bit of a fact; none of one that no decision brings about.
    fn bit(fact: PowerFact) -> u16 {
        Self::ALL.iter().position(|&other| other == fact).map_or(0, |index| 1 << index)
    }

    /// The facts that hold.
    pub fn facts(self) -> impl Iterator<Item = PowerFact> {
        Self::ALL.into_iter().filter(move |&fact| self.holds(fact))
    }
}

#[cfg(test)]
mod tests {
    use super::{Decision, FrequencyBounds, PowerFact};

    fn of(bounds: FrequencyBounds) -> (u8, Vec<PowerFact>) {
        let decision = Decision::of(&bounds);
        (decision.ratio, decision.facts().collect())
    }

    #[test]
    fn without_bounds_the_system_gets_the_nominal_frequency_that_it_asks_for() {
        assert_eq!(of(FrequencyBounds::default()), (27, vec![PowerFact::SystemRequest]));
        // At the highest turbo there is nothing higher to be kept from.
        assert_eq!(of(FrequencyBounds { request: Some(35), ..Default::default() }), (35, vec![]));
    }

    #[test]
    fn the_lowest_ceiling_decides_and_equal_ones_share() {
        let bounds = FrequencyBounds { request: Some(35), thermal: Some(20), power: Some(20), ..Default::default() };
        assert_eq!(of(bounds), (20, vec![PowerFact::ThermalLimit, PowerFact::PowerLimit]));
        let bounds = FrequencyBounds { current: Some(18), ..bounds };
        assert_eq!(of(bounds), (18, vec![PowerFact::CurrentLimit]));
    }

    #[test]
    fn a_floor_goes_before_ceilings_and_overheating_before_everything() {
        let bounds =
            FrequencyBounds { request: Some(12), io_floor: Some(16), peer_floor: Some(14), ..Default::default() };
        assert_eq!(of(bounds), (16, vec![PowerFact::IoFloor]));
        let hot = FrequencyBounds { prochot_external: true, ..bounds };
        assert_eq!(of(hot), (12, vec![PowerFact::ProchotExternal]));
    }
}
