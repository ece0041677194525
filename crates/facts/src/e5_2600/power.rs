//! What a power unit decides.

/// Cores of a socket.
pub const CORES: usize = 8;

/// What the power unit decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PowerState {
    /// Something of the socket.
    Socket(PowerFact),
    /// The cores run at a frequency, in 100 MHz.
    Ratio(u8),
    /// A core is in a C-state.
    Core(u8, CoreState),
}

/// States of a socket that the power unit decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PowerFact {
    /// The supply voltage rises.
    VoltageRises,
    /// The supply voltage falls.
    VoltageFalls,
    /// The frequency changes.
    FrequencyMoves,
    /// Temperature holds the frequency down.
    ThermalLimit,
    /// The power budget does.
    PowerLimit,
    /// The operating system's request does.
    SystemRequest,
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
    pub const COUNT: usize = 14 + CORES;

    /// Its number.
    pub const fn index(self) -> usize {
        match self {
            Self::VoltageRises => 0,
            Self::VoltageFalls => 1,
            Self::FrequencyMoves => 2,
            Self::ThermalLimit => 3,
            Self::PowerLimit => 4,
            Self::SystemRequest => 5,
            Self::CurrentLimit => 6,
            Self::IoFloor => 7,
            Self::PeerFloor => 8,
            Self::ProchotInternal => 9,
            Self::ProchotExternal => 10,
            Self::RegulatorHot => 11,
            Self::PhaseShedding => 12,
            Self::AnyCoreMoves => 13,
            Self::CoreMoves(core) => 14 + core as usize % CORES,
        }
    }
}

/// C-states of a core, as far as events distinguish them.
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
