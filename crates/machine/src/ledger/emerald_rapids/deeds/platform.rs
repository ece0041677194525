//! What can happen in the power unit and in the system agent.

/// At once.
pub const DEEDS: &[&str] = &[
    "pcu/CORE_TRANSITION_CYCLES",
    "pcu/TOTAL_TRANSITION_CYCLES",
    "pcu/DEMOTIONS",
    // System agent.
    "ubox/EVENT_MSG.VLW_RCVD",
    "ubox/EVENT_MSG.MSI_RCVD",
    "ubox/EVENT_MSG.IPI_RCVD",
    "ubox/EVENT_MSG.DOORBELL_RCVD",
    "ubox/EVENT_MSG.INT_PRIO",
    "ubox/RACU_REQUESTS",
    "ubox/RACU_DRNG.RDRAND",
    "ubox/RACU_DRNG.RDSEED",
    "ubox/RACU_DRNG.PFTCH_BUF_EMPTY",
];

/// What lasts.
pub const LEVELS: &[&str] = &[
    "pcu/POWER_STATE_OCCUPANCY_CORES_C0",
    "pcu/POWER_STATE_OCCUPANCY_CORES_C3",
    "pcu/POWER_STATE_OCCUPANCY_CORES_C6",
    // Facts about a package, each true or not, in the power unit's order.
    "pcu/FREQ_MAX_LIMIT_THERMAL_CYCLES",
    "pcu/FREQ_MAX_POWER_CYCLES",
    "pcu/PMAX_THROTTLED_CYCLES",
    "pcu/PROCHOT_INTERNAL_CYCLES",
    "pcu/PROCHOT_EXTERNAL_CYCLES",
    "pcu/CROSSTHROT_LIGHT",
    "pcu/CROSSTHROT_HAMMER",
    "pcu/THERMTHROT_CORE",
    "pcu/THERMTHROT_UNCORE",
    "pcu/THERMTHROT_MCP",
    "pcu/THERMTHROT_IPM",
    "pcu/HOT_CORE",
    "pcu/HOT_UNCORE",
    "pcu/HOT_MCP",
    "pcu/VR_HOT_CYCLES",
    "pcu/FREQ_CLIP_AVX256",
    "pcu/FREQ_CLIP_AVX512",
    "pcu/FREQ_MIN_IO_P_CYCLES",
    "pcu/FREQ_TRANS_CYCLES",
    "pcu/PKG_RESIDENCY_C0_CYCLES",
    "pcu/PKG_RESIDENCY_C2E_CYCLES",
    "pcu/PKG_RESIDENCY_C6_CYCLES",
    "pcu/MEMORY_PHASE_SHEDDING_CYCLES",
    "pcu/FIVR_PS_PS0_CYCLES",
    "pcu/FIVR_PS_PS1_CYCLES",
    "pcu/FIVR_PS_PS2_CYCLES",
    "pcu/FIVR_PS_PS3_CYCLES",
    // System agent: queues from and to the mesh.
    "ubox/PHOLD_CYCLES.ASSERT_TO_ACK",
    "?ubox/M2U_MISC1.RxC_CYCLES_NE_CBO_NCB",
    "?ubox/M2U_MISC1.RxC_CYCLES_NE_CBO_NCS",
    "?ubox/M2U_MISC1.RxC_CYCLES_NE_UPI_NCB",
    "ubox/M2U_MISC2.RxC_CYCLES_EMPTY_BL",
    "ubox/M2U_MISC2.RxC_CYCLES_FULL_BL",
    "ubox/M2U_MISC2.TxC_CYCLES_EMPTY_BL",
    "ubox/M2U_MISC2.TxC_CYCLES_EMPTY_AK",
    "ubox/M2U_MISC3.TxC_CYCLES_FULL_AK",
];
