//! The signals of the power unit.

use pericore_hardware::signal::{Wire, Wiring, WiringError};

use crate::ledger::e5_2600::{CoreState, PowerFact};

/// Cores of a socket.
const CORES: usize = 8;

/// Wires of one power unit.
#[derive(Debug, Clone)]
pub struct PowerWires {
    /// By [`PowerFact::index`].
    facts: [Wire; PowerFact::COUNT],
    /// The frequency, and where its ratio lies in the tag.
    pub frequency: (Wire, u8),
    /// Cores by state.
    cores: (Wire, [u64; 3]),
    /// Demotions, by core.
    pub demotions: [Wire; CORES],
}

/// The events behind the facts that belong to the socket.
const SOCKET: [(PowerFact, &str); 15] = [
    (PowerFact::VoltageRises, "VOLT_TRANS_CYCLES_INCREASE"),
    (PowerFact::VoltageFalls, "VOLT_TRANS_CYCLES_DECREASE"),
    (PowerFact::VoltageMoves, "VOLT_TRANS_CYCLES_CHANGE"),
    (PowerFact::FrequencyMoves, "FREQ_TRANS_CYCLES"),
    (PowerFact::ThermalLimit, "FREQ_MAX_LIMIT_THERMAL_CYCLES"),
    (PowerFact::PowerLimit, "FREQ_MAX_POWER_CYCLES"),
    (PowerFact::SystemWish, "FREQ_MAX_OS_CYCLES"),
    (PowerFact::CurrentLimit, "FREQ_MAX_CURRENT_CYCLES"),
    (PowerFact::IoFloor, "FREQ_MIN_IO_P_CYCLES"),
    (PowerFact::PeerFloor, "FREQ_MIN_PERF_P_CYCLES"),
    (PowerFact::ProchotInternal, "PROCHOT_INTERNAL_CYCLES"),
    (PowerFact::ProchotExternal, "PROCHOT_EXTERNAL_CYCLES"),
    (PowerFact::RegulatorHot, "VR_HOT_CYCLES"),
    (PowerFact::PhaseShedding, "MEMORY_PHASE_SHEDDING_CYCLES"),
    (PowerFact::AnyCoreMoves, "TOTAL_TRANSITION_CYCLES"),
];

impl PowerWires {
    /// Binds a socket's power unit.
    pub fn bind(wiring: &mut Wiring, socket: u16) -> Result<Self, WiringError> {
        let (core_wire, awake) = state(wiring, socket, 1)?;
        let mut facts = [core_wire; PowerFact::COUNT];
        let mut demotions = [core_wire; CORES];
        for (fact, event) in SOCKET {
            facts[fact.index()] = wiring.signal(socket, "pcu", 0, event)?;
        }
        for core in 0..CORES {
            let moves = format!("CORE{core}_TRANSITION_CYCLES");
            facts[PowerFact::CoreMoves(core as u8).index()] = wiring.signal(socket, "pcu", 0, &moves)?;
            demotions[core] = wiring.signal(socket, "pcu", 0, &format!("DEMOTIONS_CORE{core}"))?;
        }
        let cores = (core_wire, [awake, state(wiring, socket, 2)?.1, state(wiring, socket, 3)?.1]);
        let ratio = wiring.attribute("pcu", "frequency", "ratio")?;
        let frequency = (wiring.signal(socket, "pcu", 0, "frequency")?, ratio.lsb);
        Ok(Self { facts, frequency, cores, demotions })
    }

    /// The wire of a fact.
    pub const fn fact(&self, fact: PowerFact) -> Wire {
        self.facts[fact.index()]
    }

    /// The wire and tag of a core's state.
    pub const fn core(&self, state: CoreState) -> (Wire, u64) {
        (self.cores.0, self.cores.1[state as usize])
    }
}

/// The tag of a C-state, numbered as the signal's attribute numbers it.
fn state(wiring: &mut Wiring, socket: u16, number: u64) -> Result<(Wire, u64), WiringError> {
    let bits = wiring.attribute("pcu", "cores", "state")?;
    Ok((wiring.signal(socket, "pcu", 0, "cores")?, bits.set(0, number)))
}
