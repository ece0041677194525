//! The truth about the power unit: how long each state held, in cycles of the unit's own clock of 800 MHz (guide 2.6).

use pericore_facts::e5_2600::{CORES, CoreState, PowerFact, PowerState};

/// Frequency ratios that are distinguished.
const RATIOS: usize = 64;

/// Totals of one socket's power unit.
#[derive(Debug, Clone)]
pub struct PowerCells {
    facts: [u64; PowerFact::COUNT],
    ratios: [u64; RATIOS],
    cores: [[u64; 3]; CORES],
    demotions: [u64; CORES],
}

impl Default for PowerCells {
    fn default() -> Self {
        Self { facts: [0; PowerFact::COUNT], ratios: [0; RATIOS], cores: [[0; 3]; CORES], demotions: [0; CORES] }
    }
}

impl PowerCells {
    /// A state has held for so many cycles.
    pub fn held(&mut self, state: PowerState, cycles: u64) {
        let total = match state {
            PowerState::Socket(fact) => &mut self.facts[fact.index()],
            PowerState::Ratio(ratio) => &mut self.ratios[usize::from(ratio) % RATIOS],
            PowerState::Core(core, state) => &mut self.cores[usize::from(core) % CORES][state as usize],
        };
        *total += cycles;
    }

    /// A core got a lighter C-state than it requested.
    pub const fn demoted(&mut self, core: u8) {
        self.demotions[core as usize % CORES] += 1;
    }

    /// An event's count, by the guide's names (2.6.7); `band` gives a bound of the filter by its number.
    pub fn value(&self, event: &str, subevent: &str, band: impl Fn(usize) -> u64) -> Option<u64> {
        let fact = |fact: PowerFact| Some(self.facts[fact.index()]);
        let state = |state: CoreState| Some(self.cores.iter().map(|core| core[state as usize]).sum());
        let numbered = |prefix: &str, suffix: &str, most: usize| {
            let number = event.strip_prefix(prefix)?.strip_suffix(suffix)?.parse::<usize>().ok()?;
            (number < most).then_some(number)
        };
        if let Some(number) = numbered("FREQ_BAND", "_CYCLES", 4) {
            let least = usize::try_from(band(number)).unwrap_or(RATIOS).min(RATIOS);
            return Some(self.ratios[least..].iter().sum());
        }
        if let Some(core) = numbered("DEMOTIONS_CORE", "", CORES) {
            return Some(self.demotions[core]);
        }
        if let Some(core) = numbered("CORE", "_TRANSITION_CYCLES", CORES) {
            return fact(PowerFact::CoreMoves(core as u8));
        }
        match (event, subevent) {
            ("VOLT_TRANS_CYCLES_INCREASE", "") => fact(PowerFact::VoltageRises),
            ("VOLT_TRANS_CYCLES_DECREASE", "") => fact(PowerFact::VoltageFalls),
            ("VOLT_TRANS_CYCLES_CHANGE", "") => Some(fact(PowerFact::VoltageRises)? + fact(PowerFact::VoltageFalls)?),
            ("FREQ_TRANS_CYCLES", "") => fact(PowerFact::FrequencyMoves),
            ("FREQ_MAX_LIMIT_THERMAL_CYCLES", "") => fact(PowerFact::ThermalLimit),
            ("FREQ_MAX_POWER_CYCLES", "") => fact(PowerFact::PowerLimit),
            ("FREQ_MAX_OS_CYCLES", "") => fact(PowerFact::SystemRequest),
            ("FREQ_MAX_CURRENT_CYCLES", "") => fact(PowerFact::CurrentLimit),
            ("FREQ_MIN_IO_P_CYCLES", "") => fact(PowerFact::IoFloor),
            ("FREQ_MIN_PERF_P_CYCLES", "") => fact(PowerFact::PeerFloor),
            ("PROCHOT_INTERNAL_CYCLES", "") => fact(PowerFact::ProchotInternal),
            ("PROCHOT_EXTERNAL_CYCLES", "") => fact(PowerFact::ProchotExternal),
            ("VR_HOT_CYCLES", "") => fact(PowerFact::RegulatorHot),
            ("MEMORY_PHASE_SHEDDING_CYCLES", "") => fact(PowerFact::PhaseShedding),
            ("TOTAL_TRANSITION_CYCLES", "") => fact(PowerFact::AnyCoreMoves),
            ("POWER_STATE_OCCUPANCY", "CORES_C0") => state(CoreState::C0),
            ("POWER_STATE_OCCUPANCY", "CORES_C3") => state(CoreState::C3),
            ("POWER_STATE_OCCUPANCY", "CORES_C6") => state(CoreState::C6),
            _ => None,
        }
    }
}
