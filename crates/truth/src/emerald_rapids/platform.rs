//! Power units and system agents, and what their events mean (section 2.10; Intel's event file).

use pericore_facts::emerald_rapids::{CState, PackageCondition as Condition, SYSTEM_ROOM, SystemFact, SystemMessage};

use super::gauge::Gauge;

const ENDLESS: u64 = u64::MAX;

/// Totals of a power unit.
#[derive(Debug, Clone)]
pub struct PackageCells {
    cores: [Gauge; CState::COUNT],
    conditions: [Gauge; Condition::COUNT],
    /// Cores that change their states.
    changing: Gauge,
    demoted: u64,
}

impl Default for PackageCells {
    fn default() -> Self {
        Self {
            cores: Default::default(),
            conditions: [Gauge::default(); Condition::COUNT],
            changing: Gauge::default(),
            demoted: 0,
        }
    }
}

impl PackageCells {
    /// A core changes its state.
    pub fn core(&mut self, from: Option<CState>, to: CState, demoted: bool, cycle: u64) {
        if let Some(from) = from {
            self.cores[from as usize].leave(cycle, ENDLESS);
        }
        self.cores[to as usize].enter(cycle, ENDLESS);
        self.demoted += u64::from(demoted);
    }

    /// A core begins or ends to change its state.
    pub fn core_changes(&mut self, begins: bool, cycle: u64) {
        if begins { self.changing.enter(cycle, ENDLESS) } else { self.changing.leave(cycle, ENDLESS) }
    }

    /// Something begins or ends to hold.
    pub fn package(&mut self, condition: Condition, on: bool, cycle: u64) {
        let gauge = &mut self.conditions[condition as usize];
        if on { gauge.enter(cycle, ENDLESS) } else { gauge.leave(cycle, ENDLESS) }
    }

    /// Brings its sums up to a cycle.
    pub fn bring_up(&mut self, cycle: u64) {
        let cores = self.cores.iter_mut().chain([&mut self.changing]);
        cores.chain(&mut self.conditions).for_each(|gauge| *gauge = gauge.at(cycle, ENDLESS));
    }

    /// True if its cores are as many as they are, and every regulator state is one of its kind; so is every package
    /// state, but for transitions between them.
    pub fn is_sound(&self, cores: u64) -> bool {
        let held = |conditions: &[Condition]| {
            conditions.iter().map(|&condition| self.conditions[condition as usize].live).sum::<u64>()
        };
        let package = held(&[Condition::PackageRuns, Condition::PackageLight, Condition::PackageDeep]);
        let regulator = [Condition::RegulatorFull, Condition::RegulatorPart];
        let rests = [Condition::RegulatorLight, Condition::RegulatorDeep];
        self.cores.iter().map(|gauge| gauge.live).sum::<u64>() == cores
            && self.changing.live <= cores
            && package <= 1
            && held(&regulator) + held(&rests) == 1
            && self.conditions.iter().all(|gauge| gauge.live <= 1)
    }

    /// The count of an event.
    pub fn value(&self, event: &str) -> Option<u64> {
        let condition = match event {
            "POWER_STATE_OCCUPANCY_CORES_C0" => return Some(self.cores[CState::Runs as usize].occupied),
            "POWER_STATE_OCCUPANCY_CORES_C3" => return Some(self.cores[CState::Light as usize].occupied),
            "POWER_STATE_OCCUPANCY_CORES_C6" => return Some(self.cores[CState::Deep as usize].occupied),
            "CORE_TRANSITION_CYCLES" => return Some(self.changing.nonempty),
            "TOTAL_TRANSITION_CYCLES" => return Some(self.changing.occupied),
            "DEMOTIONS" => return Some(self.demoted),
            "FREQ_MAX_LIMIT_THERMAL_CYCLES" => Condition::ThermalLimit,
            "FREQ_MAX_POWER_CYCLES" => Condition::PowerLimit,
            "PMAX_THROTTLED_CYCLES" => Condition::PeakPower,
            "PROCHOT_INTERNAL_CYCLES" => Condition::ProchotInternal,
            "PROCHOT_EXTERNAL_CYCLES" => Condition::ProchotExternal,
            "CROSSTHROT_LIGHT" => Condition::CrossLight,
            "CROSSTHROT_HAMMER" => Condition::CrossHard,
            "THERMTHROT_CORE" => Condition::CoreThrottled,
            "THERMTHROT_UNCORE" => Condition::UncoreThrottled,
            "THERMTHROT_MCP" => Condition::DieThrottled,
            "THERMTHROT_IPM" => Condition::MemoryThrottled,
            "HOT_CORE" => Condition::CoreHot,
            "HOT_UNCORE" => Condition::UncoreHot,
            "HOT_MCP" => Condition::DieHot,
            "HOT_IPM" => Condition::MemoryHot,
            "VR_HOT_CYCLES" => Condition::RegulatorHot,
            "FREQ_CLIP_AVX256" => Condition::ShortVectors,
            "FREQ_CLIP_AVX512" => Condition::LongVectors,
            "FREQ_MIN_IO_P_CYCLES" => Condition::IoFloor,
            "FREQ_TRANS_CYCLES" => Condition::Changes,
            "PKG_RESIDENCY_C0_CYCLES" => Condition::PackageRuns,
            "PKG_RESIDENCY_C2E_CYCLES" => Condition::PackageLight,
            "PKG_RESIDENCY_C6_CYCLES" => Condition::PackageDeep,
            "MEMORY_PHASE_SHEDDING_CYCLES" => Condition::MemorySheds,
            "FIVR_PS_PS0_CYCLES" => Condition::RegulatorFull,
            "FIVR_PS_PS1_CYCLES" => Condition::RegulatorPart,
            "FIVR_PS_PS2_CYCLES" => Condition::RegulatorLight,
            "FIVR_PS_PS3_CYCLES" => Condition::RegulatorDeep,
            _ => return None,
        };
        Some(self.conditions[condition as usize].occupied)
    }
}

/// Totals of a system agent.
#[derive(Debug, Clone, Default)]
pub struct SystemCells {
    /// Messages that wait: without an answer, with one, from a link; all of them; answers on their way out, with data
    /// and without.
    queues: [Gauge; 3],
    ingress: Gauge,
    egress: [Gauge; 2],
    taken: [u64; SystemMessage::COUNT],
    none_ready: u64,
    holds: Gauge,
    /// The time since it started.
    runs: Gauge,
}

const ROOM: u64 = SYSTEM_ROOM as u64;

impl SystemCells {
    /// Something happens, in a cycle.
    pub fn read(&mut self, fact: SystemFact, cycle: u64) {
        let queue = |message: SystemMessage, linked: bool| if linked { 2 } else { usize::from(message.wants_data()) };
        match fact {
            SystemFact::Starts => self.runs.enter(cycle, ENDLESS),
            SystemFact::Comes(message, linked) => {
                self.queues[queue(message, linked)].enter(cycle, ENDLESS);
                self.ingress.enter(cycle, ROOM);
            }
            SystemFact::Taken(message, linked, ready) => {
                self.queues[queue(message, linked)].leave(cycle, ENDLESS);
                self.ingress.leave(cycle, ROOM);
                self.taken[message as usize] += 1;
                self.none_ready += u64::from(!ready);
                if !linked {
                    self.egress[usize::from(!message.wants_data())].enter(cycle, ROOM);
                }
            }
            SystemFact::Answered(message) => self.egress[usize::from(!message.wants_data())].leave(cycle, ROOM),
            SystemFact::Holds(true) => self.holds.enter(cycle, ENDLESS),
            SystemFact::Holds(false) => self.holds.leave(cycle, ENDLESS),
        }
    }

    /// Brings its sums up to a cycle.
    pub fn bring_up(&mut self, cycle: u64) {
        self.queues.iter_mut().for_each(|gauge| *gauge = gauge.at(cycle, ENDLESS));
        for gauge in [&mut self.ingress].into_iter().chain(&mut self.egress) {
            *gauge = gauge.at(cycle, ROOM);
        }
        self.holds = self.holds.at(cycle, ENDLESS);
        self.runs = self.runs.at(cycle, ENDLESS);
    }

    /// True if nothing waits.
    pub fn is_at_rest(&self) -> bool {
        self.queues.iter().chain(&self.egress).chain([&self.ingress, &self.holds]).all(|gauge| gauge.live == 0)
    }

    /// The count of an event.
    pub fn value(&self, event: &str, subevent: &str) -> Option<u64> {
        let [data, acknowledgements] = &self.egress;
        let taken = |message: SystemMessage| self.taken[message as usize];
        Some(match (event, subevent) {
            ("EVENT_MSG", "VLW_RCVD") => taken(SystemMessage::LegacyWire),
            ("EVENT_MSG", "MSI_RCVD") => taken(SystemMessage::Interrupt),
            ("EVENT_MSG", "IPI_RCVD") => taken(SystemMessage::Processor),
            ("EVENT_MSG", "DOORBELL_RCVD") => taken(SystemMessage::Doorbell),
            ("EVENT_MSG", "INT_PRIO") => taken(SystemMessage::Priority),
            ("RACU_REQUESTS", "") => taken(SystemMessage::Register),
            ("RACU_DRNG", "RDRAND") => taken(SystemMessage::RandomNumber),
            ("RACU_DRNG", "RDSEED") => taken(SystemMessage::RandomSeed),
            ("RACU_DRNG", "PFTCH_BUF_EMPTY") => self.none_ready,
            ("M2U_MISC1", "RxC_CYCLES_NE_CBO_NCB") => self.queues[0].nonempty,
            ("M2U_MISC1", "RxC_CYCLES_NE_CBO_NCS") => self.queues[1].nonempty,
            ("M2U_MISC1", "RxC_CYCLES_NE_UPI_NCB") => self.queues[2].nonempty,
            // The queues are empty while they are not anything else.
            ("M2U_MISC2", "RxC_CYCLES_EMPTY_BL") => self.runs.occupied.wrapping_sub(self.ingress.nonempty),
            ("M2U_MISC2", "TxC_CYCLES_EMPTY_BL") => self.runs.occupied.wrapping_sub(data.nonempty),
            ("M2U_MISC2", "TxC_CYCLES_EMPTY_AK") => self.runs.occupied.wrapping_sub(acknowledgements.nonempty),
            ("M2U_MISC2", "RxC_CYCLES_FULL_BL") => self.ingress.full,
            ("M2U_MISC3", "TxC_CYCLES_FULL_AK") => acknowledgements.full,
            ("PHOLD_CYCLES", "ASSERT_TO_ACK") => self.holds.occupied,
            _ => return None,
        })
    }
}
