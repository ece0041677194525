//! What can happen in the power unit and in the system agent.

/// At once.
pub const DEEDS: &[&str] = &["pcu/CORE_TRANSITION_CYCLES", "pcu/TOTAL_TRANSITION_CYCLES"];

/// What lasts.
pub const LEVELS: &[&str] = &[
    "pcu/FREQ_MAX_POWER_CYCLES",
    "pcu/PKG_RESIDENCY_C6_CYCLES",
    "pcu/FIVR_PS_PS0_CYCLES",
    "pcu/FIVR_PS_PS1_CYCLES",
    "pcu/PKG_RESIDENCY_C0_CYCLES",
    "pcu/POWER_STATE_OCCUPANCY_CORES_C0",
    "pcu/POWER_STATE_OCCUPANCY_CORES_C6",
];
