//! The truth about the power unit and the system agent: which states held when, and which errands were run.
//!
//! Spans are cycles of the unit's own clock: 800 MHz for the power unit (guide 2.6), the uncore clock for the system agent.

use super::cells::Span;
use crate::workload::MessageKind;

/// Cores of a socket.
pub const CORES: usize = 8;
/// Frequency ratios that are told apart.
const RATIOS: usize = 64;

/// States of a socket that the power unit decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PowerFact {
    /// The supply voltage rises.
    VoltageRises,
    /// The supply voltage falls.
    VoltageFalls,
    /// The supply voltage moves, up or down.
    VoltageMoves,
    /// The frequency changes.
    FrequencyMoves,
    /// Temperature holds the frequency down.
    ThermalLimit,
    /// The power budget does.
    PowerLimit,
    /// The operating system's wish does.
    SystemWish,
    /// The current limit does.
    CurrentLimit,
    /// I/O holds the frequency up.
    IoFloor,
    /// Other sockets do.
    PeerFloor,
    /// Overheating seen on the die.
    ProchotInternal,
    /// Overheating seen outside.
    ProchotExternal,
    /// The voltage regulator overheats.
    RegulatorHot,
    /// Memory's power supply runs on fewer phases.
    PhaseShedding,
    /// Some core is between C-states.
    AnyCoreMoves,
    /// This core is.
    CoreMoves(u8),
}

impl PowerFact {
    /// How many there are.
    pub const COUNT: usize = 15 + CORES;

    /// Its number.
    pub const fn index(self) -> usize {
        match self {
            Self::VoltageRises => 0,
            Self::VoltageFalls => 1,
            Self::VoltageMoves => 2,
            Self::FrequencyMoves => 3,
            Self::ThermalLimit => 4,
            Self::PowerLimit => 5,
            Self::SystemWish => 6,
            Self::CurrentLimit => 7,
            Self::IoFloor => 8,
            Self::PeerFloor => 9,
            Self::ProchotInternal => 10,
            Self::ProchotExternal => 11,
            Self::RegulatorHot => 12,
            Self::PhaseShedding => 13,
            Self::AnyCoreMoves => 14,
            Self::CoreMoves(core) => 15 + core as usize % CORES,
        }
    }
}

/// C-states of a core, as far as events tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CoreState {
    /// Executes.
    C0,
    /// Asleep, caches flushed.
    C3,
    /// Asleep without power.
    C6,
}

/// Totals of one socket's power unit.
#[derive(Debug, Clone)]
pub struct PowerCells {
    facts: [Span; PowerFact::COUNT],
    ratios: [Span; RATIOS],
    cores: [[Span; 3]; CORES],
    demotions: [u64; CORES],
}

impl PowerCells {
    pub const fn new() -> Self {
        const SPAN: Span = Span::new();
        Self {
            facts: [SPAN; PowerFact::COUNT],
            ratios: [SPAN; RATIOS],
            cores: [[SPAN; 3]; CORES],
            demotions: [0; CORES],
        }
    }

    pub const fn fact(&mut self, fact: PowerFact, on: bool, cycle: u64) {
        self.facts[fact.index()].switch(on, cycle);
    }

    pub const fn runs_at(&mut self, ratio: u8, on: bool, cycle: u64) {
        self.ratios[ratio as usize % RATIOS].switch(on, cycle);
    }

    pub const fn core(&mut self, core: u8, state: CoreState, on: bool, cycle: u64) {
        self.cores[core as usize % CORES][state as usize].switch(on, cycle);
    }

    pub const fn demoted(&mut self, core: u8) {
        self.demotions[core as usize % CORES] += 1;
    }

    pub fn settle(&mut self, cycle: u64) {
        self.facts.iter_mut().for_each(|span| span.settle(cycle));
        self.ratios.iter_mut().for_each(|span| span.settle(cycle));
        self.cores.iter_mut().flatten().for_each(|span| span.settle(cycle));
    }

    /// An event's count, by the guide's names (2.6.7); `band` gives a bound of the filter by its number.
    pub fn value(&self, event: &str, subevent: &str, band: impl Fn(usize) -> u64) -> Option<u64> {
        let fact = |fact: PowerFact| Some(self.facts[fact.index()].cycles);
        let state = |state: CoreState| Some(self.cores.iter().map(|core| core[state as usize].cycles).sum());
        let numbered = |prefix: &str, suffix: &str, most: usize| {
            let number = event.strip_prefix(prefix)?.strip_suffix(suffix)?.parse::<usize>().ok()?;
            (number < most).then_some(number)
        };
        if let Some(number) = numbered("FREQ_BAND", "_CYCLES", 4) {
            let least = usize::try_from(band(number)).unwrap_or(RATIOS).min(RATIOS);
            return Some(self.ratios[least..].iter().map(|span| span.cycles).sum());
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
            ("VOLT_TRANS_CYCLES_CHANGE", "") => fact(PowerFact::VoltageMoves),
            ("FREQ_TRANS_CYCLES", "") => fact(PowerFact::FrequencyMoves),
            ("FREQ_MAX_LIMIT_THERMAL_CYCLES", "") => fact(PowerFact::ThermalLimit),
            ("FREQ_MAX_POWER_CYCLES", "") => fact(PowerFact::PowerLimit),
            ("FREQ_MAX_OS_CYCLES", "") => fact(PowerFact::SystemWish),
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

/// Stages of a bus hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum HoldStage {
    /// Asked for, not granted.
    Asked,
    /// Granted.
    Granted,
}

/// Totals of one socket's system agent.
#[derive(Debug, Clone, Default)]
pub struct AgentCells {
    errands: [u64; MessageKind::ALL.len()],
    holds: [Span; 2],
}

impl AgentCells {
    pub const fn errand(&mut self, kind: MessageKind) {
        self.errands[kind as usize] += 1;
    }

    pub const fn hold(&mut self, stage: HoldStage, on: bool, cycle: u64) {
        self.holds[stage as usize].switch(on, cycle);
    }

    pub fn settle(&mut self, cycle: u64) {
        self.holds.iter_mut().for_each(|span| span.settle(cycle));
    }

    /// An event's count, by the names of the guide (2.2.5) and of Intel's event file.
    pub fn value(&self, event: &str, subevent: &str) -> Option<u64> {
        use MessageKind as Kind;
        let sum = |kinds: &[Kind]| Some(kinds.iter().map(|&kind| self.errands[kind as usize]).sum::<u64>());
        match (event, subevent) {
            ("EVENT_MSG", "VLW_RCVD") => sum(&[Kind::LegacyWire]),
            ("EVENT_MSG", "MSI_RCVD") => sum(&[Kind::Interrupt]),
            ("EVENT_MSG", "IPI_RCVD") => sum(&[Kind::Processor]),
            ("EVENT_MSG", "DOORBELL_RCVD") => sum(&[Kind::Doorbell]),
            ("EVENT_MSG", "INT_PRIO") => sum(&[Kind::Priority]),
            ("LOCK_CYCLES", "") => sum(&[Kind::Lock]),
            // Interrupts go on to a core; the filter that could be on has no known address.
            ("FILTER_MATCH", "DISABLE") => sum(&[Kind::LegacyWire, Kind::Interrupt, Kind::Processor, Kind::Doorbell]),
            ("FILTER_MATCH", "U2C_DISABLE") => sum(&[
                Kind::MonitorFirst,
                Kind::MonitorSecond,
                Kind::Livelock,
                Kind::TrustError,
                Kind::Corrected,
                Kind::Uncorrected,
                Kind::Trap,
                Kind::Other,
            ]),
            ("U2C_EVENTS", "MONITOR_T0") => sum(&[Kind::MonitorFirst]),
            ("U2C_EVENTS", "MONITOR_T1") => sum(&[Kind::MonitorSecond]),
            ("U2C_EVENTS", "LIVELOCK") => sum(&[Kind::Livelock]),
            ("U2C_EVENTS", "LTERROR") => sum(&[Kind::TrustError]),
            ("U2C_EVENTS", "CMC") => sum(&[Kind::Corrected]),
            ("U2C_EVENTS", "UMC") => sum(&[Kind::Uncorrected]),
            ("U2C_EVENTS", "TRAP") => sum(&[Kind::Trap]),
            ("U2C_EVENTS", "OTHER") => sum(&[Kind::Other]),
            ("PHOLD_CYCLES", "ASSERT_TO_ACK") => Some(self.holds[HoldStage::Asked as usize].cycles),
            ("PHOLD_CYCLES", "ACK_TO_DEASSERT") => Some(self.holds[HoldStage::Granted as usize].cycles),
            ("RACU_REQUESTS", "COUNT") => sum(&[Kind::Register]),
            ("MSG_CHNL_SIZE_COUNT", "4B") => sum(&[Kind::ShortMessage]),
            ("MSG_CHNL_SIZE_COUNT", "8B") => sum(&[Kind::LongMessage]),
            _ => None,
        }
    }
}
