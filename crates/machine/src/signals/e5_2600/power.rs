//! The signals of the power unit.

use pericore_engine::Tick;
use pericore_facts::e5_2600::{CORES, PowerFact, PowerState};
use pericore_hardware::signal::{SignalSink, Wire, Wiring, WiringError};

/// Wires of one power unit.
#[derive(Debug, Clone)]
pub struct PowerWires {
    /// By [`PowerFact::index`].
    facts: [Wire; PowerFact::COUNT],
    /// The frequency, and where its ratio lies in the tag.
    frequency: (Wire, u8),
    /// That the voltage rises or falls.
    voltage_moves: Wire,
    /// Cores by state.
    cores: (Wire, [u64; 3]),
    /// Demotions, by core.
    demotions: [Wire; CORES],
}

/// The events behind the facts that belong to the socket.
const SOCKET: [(PowerFact, &str); 14] = [
    (PowerFact::VoltageRises, "VOLT_TRANS_CYCLES_INCREASE"),
    (PowerFact::VoltageFalls, "VOLT_TRANS_CYCLES_DECREASE"),
    (PowerFact::FrequencyMoves, "FREQ_TRANS_CYCLES"),
    (PowerFact::ThermalLimit, "FREQ_MAX_LIMIT_THERMAL_CYCLES"),
    (PowerFact::PowerLimit, "FREQ_MAX_POWER_CYCLES"),
    (PowerFact::SystemRequest, "FREQ_MAX_OS_CYCLES"),
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
        let voltage_moves = wiring.signal(socket, "pcu", 0, "VOLT_TRANS_CYCLES_CHANGE")?;
        Ok(Self { facts, frequency, voltage_moves, cores, demotions })
    }

    /// A state begins or ends.
    pub fn switch<S: SignalSink>(&self, at: Tick, state: PowerState, on: bool, sink: &mut S) {
        let (wire, tag, second) = self.of(state);
        for (wire, tag) in [Some((wire, tag)), second.map(|wire| (wire, 0))].into_iter().flatten() {
            if on { sink.enter(wire, tag, at) } else { sink.leave(wire, tag, at) }
        }
    }

    /// A core gets a lighter C-state than it requested.
    pub fn demoted<S: SignalSink>(&self, at: Tick, core: u8, sink: &mut S) {
        sink.pulse(self.demotions[usize::from(core) % CORES], 0, at, 1);
    }

    /// Where a state shows: its wire and tag, and the wire of a second event of the same.
    const fn of(&self, state: PowerState) -> (Wire, u64, Option<Wire>) {
        match state {
            PowerState::Socket(fact @ (PowerFact::VoltageRises | PowerFact::VoltageFalls)) => {
                (self.facts[fact.index()], 0, Some(self.voltage_moves))
            }
            PowerState::Socket(fact) => (self.facts[fact.index()], 0, None),
            PowerState::Ratio(ratio) => (self.frequency.0, (ratio as u64) << self.frequency.1, None),
            PowerState::Core(_, state) => (self.cores.0, self.cores.1[state as usize], None),
        }
    }
}

/// The tag of a C-state, numbered as the signal's attribute numbers it.
fn state(wiring: &mut Wiring, socket: u16, number: u64) -> Result<(Wire, u64), WiringError> {
    let bits = wiring.attribute("pcu", "cores", "state")?;
    Ok((wiring.signal(socket, "pcu", 0, "cores")?, bits.set(0, number)))
}
