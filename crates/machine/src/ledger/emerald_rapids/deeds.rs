//! What can happen in a unit, by the name of the subevent that counts it: the vocabulary that model and ledger share.
//!
//! A name is `unit/EVENT.SUBEVENT`. Behind a `+` stand further subevents of the same event that the same happening is part of:
//! the signal then carries the bits of all of them.

mod devices;
mod links;
mod platform;

/// Index into [`DEEDS`].
pub type Deed = u16;
/// Index into [`LEVELS`].
pub type LevelId = u16;

/// The index of a deed; found when the program is compiled.
pub const fn deed(name: &str) -> Deed {
    find(DEEDS, name)
}

/// The index of a level; found when the program is compiled.
pub const fn level(name: &str) -> LevelId {
    find(LEVELS, name)
}

/// The unit of a row.
pub fn unit_of(row: &str) -> &str {
    row.trim_start_matches('?').split('/').next().unwrap_or_default()
}

const fn find(table: &[&str], name: &str) -> u16 {
    let mut index = 0;
    while index < table.len() {
        if starts_as(table[index].as_bytes(), name.as_bytes()) {
            return index as u16;
        }
        index += 1;
    }
    panic!("no such name")
}

/// True if an entry's first name is `name`.
const fn starts_as(entry: &[u8], name: &[u8]) -> bool {
    let start = if !entry.is_empty() && entry[0] == b'?' { 1 } else { 0 };
    if entry.len() < start + name.len() {
        return false;
    }
    let mut index = 0;
    while index < name.len() {
        if entry[start + index] != name[index] {
            return false;
        }
        index += 1;
    }
    entry.len() == start + index || matches!(entry[start + index], b'+' | b'|' | b'!' | b'?')
}

/// Everything that happens at once.
pub const DEEDS: &[&str] = &join::<
    { HOME_DEEDS.len() + devices::DEEDS.len() + links::DEEDS.len() + platform::DEEDS.len() },
>(&[HOME_DEEDS, devices::DEEDS, links::DEEDS, platform::DEEDS]);

/// Everything that lasts. Behind `|` stand further levels that hold at the same time, behind `!` the one that holds while there is no
/// room left, behind `?` the one that holds while there is anything; a row that begins with `?` has no other than these.
pub const LEVELS: &[&str] = &join::<
    { HOME_LEVELS.len() + devices::LEVELS.len() + links::LEVELS.len() + platform::LEVELS.len() },
>(&[HOME_LEVELS, devices::LEVELS, links::LEVELS, platform::LEVELS]);

/// The rows of all parts.
const fn join<const N: usize>(parts: &[&[&'static str]]) -> [&'static str; N] {
    let mut all = [""; N];
    let (mut part, mut next) = (0, 0);
    while part < parts.len() {
        let mut row = 0;
        while row < parts[part].len() {
            all[next] = parts[part][row];
            (row, next) = (row + 1, next + 1);
        }
        part += 1;
    }
    all
}

/// At once: cores, agents, memory.
const HOME_DEEDS: &[&str] = &[
    // Caching and home agent: requests to the home side (Table 2-104).
    "cha/REQUESTS.READS_LOCAL",
    "cha/REQUESTS.READS_REMOTE",
    "cha/REQUESTS.WRITES_LOCAL",
    "cha/REQUESTS.WRITES_REMOTE",
    "cha/REQUESTS.INVITOE_LOCAL",
    "cha/REQUESTS.INVITOE_REMOTE",
    "cha/IMC_READS_COUNT.NORMAL",
    "cha/IMC_WRITES_COUNT.FULL",
    "cha/IMC_WRITES_COUNT.PARTIAL",
    "cha/BYPASS_CHA_IMC.TAKEN",
    "cha/BYPASS_CHA_IMC.NOT_TAKEN",
    // Turned away because another request to the line is under way, and taken up again.
    "cha/RxC_INSERTS.IRQ_REJ",
    "cha/RxC_INSERTS.PRQ_REJ",
    "cha/RxC_INSERTS.PRQ",
    "cha/RxC_IRQ1_REJECT.PA_MATCH+ANY0",
    "cha/RxC_PRQ1_REJECT.PA_MATCH+ANY0",
    "cha/RxC_RRQ1_REJECT.PA_MATCH+ANY0",
    "cha/RxC_WBQ1_REJECT.PA_MATCH+ANY0",
    "cha/RxC_IPQ1_REJECT.PA_MATCH+ANY0",
    "cha/RxC_REQ_Q1_RETRY.PA_MATCH+ANY0",
    "cha/RxC_OTHER1_RETRY.PA_MATCH+ANY0",
    // Turned away because the home side has no tracker entry.
    // Snoop filter and snoops.
    "cha/SF_EVICTION.M_STATE",
    "cha/SF_EVICTION.E_STATE",
    "cha/SF_EVICTION.S_STATE",
    "cha/CORE_SNP.CORE_ONE",
    "cha/CORE_SNP.CORE_GTONE",
    "cha/CORE_SNP.EVICT_ONE",
    "cha/CORE_SNP.EVICT_GTONE",
    "cha/CORE_SNP.EXT_ONE",
    "cha/CORE_SNP.EXT_GTONE",
    "cha/CORE_SNP.REMOTE_ONE",
    "cha/CORE_SNP.REMOTE_GTONE",
    "cha/MISC.RFO_HIT_S",
    "cha/MISC.RSPI_WAS_FSE",
    "cha/DIRECT_GO_OPC.EXTCMP",
    "cha/DIRECT_GO_OPC.PULL",
    "cha/DIRECT_GO_OPC.GO",
    "cha/DIRECT_GO_OPC.GO_PULL",
    "cha/DIRECT_GO.HA_TOR_DEALLOC",
    "cha/DIRECT_GO.HA_SUPPRESS_NO_D2C",
    "cha/XPT_PREF.SENT0",
    "cha/XPT_PREF.SENT1",
    "cha/XPT_PREF.DROP0+DROP0_NOCRD",
    "cha/XPT_PREF.DROP1+DROP1_NOCRD",
    "cha/WB_PUSH_MTOI.LLC",
    "cha/WB_PUSH_MTOI.MEM",
    // Directory and snoops between sockets.
    "cha/DIR_LOOKUP.SNP",
    "cha/DIR_LOOKUP.NO_SNP",
    "cha/DIR_UPDATE.HA",
    "cha/DIR_UPDATE.TOR",
    "cha/SNOOPS_SENT.DIRECT_LOCAL+ALL+LOCAL",
    "cha/SNOOP_RESP.RSPI",
    "cha/SNOOP_RESP.RSPIFWD",
    "cha/SNOOP_RESP.RSPSFWD",
    "cha/SNOOP_RESP.RSPFWDWB",
    "cha/SNOOP_RESP_LOCAL.RSPI",
    "cha/SNOOP_RESP_LOCAL.RSPIFWD",
    "cha/SNOOP_RESP_LOCAL.RSPSFWD",
    "cha/SNOOP_RESP_LOCAL.RSPFWDWB",
    "cha/HITME_LOOKUP.READ",
    "cha/HITME_LOOKUP.WRITE",
    "cha/HITME_HIT.WBMTOI_OR_S",
    "cha/HITME_MISS.NOTSHARED_RDINVOWN",
    "cha/HITME_MISS.SHARED_RDINVOWN",
    "cha/HITME_MISS.READ_OR_INV",
    "cha/HITME_UPDATE.RDINVOWN",
    // Mesh to memory.
    "m2m/RxC_AD_INSERTS",
    "m2m/IMC_READS.CH0_NORMAL+CH0_ALL+CH0_TO_DDR_AS_MEM",
    "m2m/IMC_READS.CH1_NORMAL+CH1_ALL+CH1_TO_DDR_AS_MEM",
    "m2m/IMC_WRITES.CH0_FULL+CH0_ALL+CH0_TO_DDR_AS_MEM+CH0_NI",
    "m2m/IMC_WRITES.CH1_FULL+CH1_ALL+CH1_TO_DDR_AS_MEM+CH1_NI",
    "m2m/IMC_WRITES.CH0_PARTIAL+CH0_ALL+CH0_TO_DDR_AS_MEM+CH0_NI",
    "m2m/IMC_WRITES.CH1_PARTIAL+CH1_ALL+CH1_TO_DDR_AS_MEM+CH1_NI",
    "m2m/TRACKER_INSERTS.CH0",
    "m2m/TRACKER_INSERTS.CH1",
    "m2m/WR_TRACKER_INSERTS.CH0",
    "m2m/WR_TRACKER_INSERTS.CH1",
    "m2m/DIRECTORY_LOOKUP.STATE_I+ANY",
    "m2m/DIRECTORY_LOOKUP.STATE_S+ANY",
    "m2m/DIRECTORY_LOOKUP.STATE_A+ANY",
    "m2m/DIRECTORY_HIT.CLEAN_I",
    "m2m/DIRECTORY_HIT.CLEAN_S",
    "m2m/DIRECTORY_HIT.CLEAN_A",
    "m2m/DIRECTORY_UPDATE.I_TO_S_HIT_NON_PMM+HIT_NON_PMM",
    "m2m/DIRECTORY_UPDATE.I_TO_A_HIT_NON_PMM+HIT_NON_PMM",
    "m2m/DIRECTORY_UPDATE.S_TO_A_HIT_NON_PMM+HIT_NON_PMM",
    "m2m/DIRECTORY_UPDATE.A_TO_S_HIT_NON_PMM+HIT_NON_PMM",
    "m2m/DIRECTORY_UPDATE.S_TO_I_HIT_NON_PMM+HIT_NON_PMM",
    "m2m/DIRECTORY_UPDATE.A_TO_I_HIT_NON_PMM+HIT_NON_PMM",
    "m2m/BYPASS_M2M_EGRESS.TAKEN",
    "m2m/BYPASS_M2M_EGRESS.NOT_TAKEN",
    "m2m/DIRECT2CORE_NOT_TAKEN_DIRSTATE.NON_CISGRESS",
    "m2m/DIRECT2CORE_NOT_TAKEN_NOTFORKED",
    "m2m/DIRECT2UPI_TAKEN",
    "m2m/PREFCAM_INSERTS.CH0_XPT",
    "m2m/PREFCAM_INSERTS.CH1_XPT",
    "m2m/PREFCAM_INSERTS.CH0_UPI",
    "m2m/PREFCAM_INSERTS.CH1_UPI",
    "m2m/PREFCAM_DEMAND_MERGE.XPT_ALLCH",
    "m2m/PREFCAM_DEMAND_MERGE.UPI_ALLCH",
    "m2m/PREFCAM_DEALLOCS.RSP_CH0+ALL_CH0",
    "m2m/PREFCAM_DEALLOCS.RSP_CH1+ALL_CH1",
    "m2m/TxC_BL.INSERTS_CMS0",
    "m2m/TxC_EGRESS_AK.INSERTS",
    // Memory controller.
    "imc/ACT_COUNT.RD_PCH0",
    "imc/ACT_COUNT.RD_PCH1",
    "imc/ACT_COUNT.WR_PCH0",
    "imc/ACT_COUNT.WR_PCH1",
    "imc/ACT_COUNT.UFILL_PCH0",
    "imc/ACT_COUNT.UFILL_PCH1",
    "imc/PRE_COUNT.RD_PCH0",
    "imc/PRE_COUNT.RD_PCH1",
    "imc/PRE_COUNT.WR_PCH0",
    "imc/PRE_COUNT.WR_PCH1",
    "imc/PRE_COUNT.UFILL_PCH0",
    "imc/PRE_COUNT.UFILL_PCH1",
    "imc/PRE_COUNT.PGT_PCH0",
    "imc/PRE_COUNT.PGT_PCH1",
    "imc/CAS_MM.RD_RMM_PCH0",
    "imc/CAS_MM.RD_RMM_PCH1",
    "imc/CAS_MM.RD_WMM_PCH0",
    "imc/CAS_MM.RD_WMM_PCH1",
    "imc/CAS_MM.WR_RMM_PCH0",
    "imc/CAS_MM.WR_RMM_PCH1",
    "imc/CAS_MM.WR_WMM_PCH0",
    "imc/CAS_MM.WR_WMM_PCH1",
    "imc/RD_CAS_PRIO.NORMAL_PCH0",
    "imc/RD_CAS_PRIO.NORMAL_PCH1",
    "imc/RD_CAS_PRIO.STARVED_PCH0",
    "imc/RD_CAS_PRIO.STARVED_PCH1",
    "imc/WR_CAS_PRIO.NORMAL_PCH0",
    "imc/WR_CAS_PRIO.NORMAL_PCH1",
    "imc/WR_CAS_PRIO.STARVED_PCH0",
    "imc/WR_CAS_PRIO.STARVED_PCH1",
    "imc/DRAM_REFRESH.HIGH_PCH0",
    "imc/DRAM_REFRESH.HIGH_PCH1",
    "imc/DRAM_REFRESH.PANIC_PCH0",
    "imc/DRAM_REFRESH.PANIC_PCH1",
    "imc/DRAM_PRE_ALL.PCH0",
    "imc/DRAM_PRE_ALL.PCH1",
    "imc/WPQ_READ_HIT.PCH0",
    "imc/WPQ_READ_HIT.PCH1",
    "imc/WPQ_WRITE_HIT.PCH0",
    "imc/WPQ_WRITE_HIT.PCH1",
    "imc/RPQ_PRIO.PCH0_LOW",
    "imc/RPQ_PRIO.PCH1_LOW",
    "imc/WPQ_PRIO.PCH0_LOW",
    "imc/WPQ_PRIO.PCH1_LOW",
    "imc/MAJOR_MODE_CHANGE_PCH0.PR_TO_PW",
    "imc/MAJOR_MODE_CHANGE_PCH0.PW_TO_PR",
    "imc/MAJOR_MODE_CHANGE_PCH1.PR_TO_PW",
    "imc/MAJOR_MODE_CHANGE_PCH1.PW_TO_PR",
    "imc/PREEMPTION_MM_SWITCH.WMM_PCH0",
    "imc/PREEMPTION_MM_SWITCH.WMM_PCH1",
    "imc/PREEMPTION_MM_SWITCH.RMM_PCH0",
    "imc/PREEMPTION_MM_SWITCH.RMM_PCH1",
    // Prefetches that find no room, and credits to memory.
    "m2m/PREFCAM_DEMAND_DROPS.CH0_XPT",
    "m2m/PREFCAM_DEMAND_DROPS.CH1_XPT",
    "m2m/PREFCAM_DROP_REASONS_CH0.RPQ_PROXY",
    "m2m/PREFCAM_DROP_REASONS_CH1.RPQ_PROXY",
    "cha/READ_NO_CREDITS.MC0",
    "cha/READ_NO_CREDITS.MC1",
    "cha/READ_NO_CREDITS.MC2",
    "cha/READ_NO_CREDITS.MC3",
    "cha/WRITE_NO_CREDITS.MC0",
    "cha/WRITE_NO_CREDITS.MC1",
    "cha/WRITE_NO_CREDITS.MC2",
    "cha/WRITE_NO_CREDITS.MC3",
];

/// What lasts: cores, agents, memory.
const HOME_LEVELS: &[&str] = &[
    "cha/RxC_INSERTS.IRQ",
    "cha/RxC_INSERTS.IPQ",
    "cha/RxC_INSERTS.RRQ",
    "cha/RxC_INSERTS.WBQ",
    "m2m/RxC_AD_OCCUPANCY",
    "m2m/TRACKER_OCCUPANCY.CH0",
    "m2m/TRACKER_OCCUPANCY.CH1",
    "m2m/WR_TRACKER_POSTED_INSERTS.CH0?m2m/WR_TRACKER_NE.CH0",
    "m2m/WR_TRACKER_POSTED_INSERTS.CH1?m2m/WR_TRACKER_NE.CH1",
    "m2m/WR_TRACKER_NONPOSTED_INSERTS.CH0",
    "m2m/WR_TRACKER_NONPOSTED_INSERTS.CH1",
    "m2m/PREFCAM_OCCUPANCY.CH0",
    "m2m/PREFCAM_OCCUPANCY.CH1",
    "m2m/WPQ_NO_REG_CRD.CHN0",
    "m2m/WPQ_NO_REG_CRD.CHN1",
    "imc/RPQ_INSERTS.PCH0|imc/RPQ_OCCUPANCY_PCH0!imc/RPQ_CYCLES_FULL_PCH0",
    "imc/RPQ_INSERTS.PCH1|imc/RPQ_OCCUPANCY_PCH1!imc/RPQ_CYCLES_FULL_PCH1",
    "imc/WPQ_INSERTS.PCH0|imc/WPQ_OCCUPANCY_PCH0!imc/WPQ_CYCLES_FULL_PCH0",
    "imc/WPQ_INSERTS.PCH1|imc/WPQ_OCCUPANCY_PCH1!imc/WPQ_CYCLES_FULL_PCH1",
    "imc/RDB_INSERTS.PCH0",
    "imc/RDB_INSERTS.PCH1",
    "imc/MAJOR_MODES.PREF_RD",
    "imc/MAJOR_MODES.PREF_WR",
    "imc/POWER_CKE_CYCLES.LOW_0",
    "imc/POWER_CKE_CYCLES.LOW_1",
    "imc/POWER_CKE_CYCLES.LOW_2",
    "imc/POWER_CKE_CYCLES.LOW_3",
    "imc/POWER_CHANNEL_PPD",
];

#[cfg(test)]
mod tests {
    use super::{DEEDS, deed, level};

    #[test]
    fn names_are_found_by_their_first_part() {
        assert_eq!(deed("cha/REQUESTS.READS_LOCAL"), 0);
        assert_eq!(DEEDS[usize::from(deed("cha/RxC_IRQ1_REJECT.PA_MATCH"))], "cha/RxC_IRQ1_REJECT.PA_MATCH+ANY0");
        assert_eq!(level("cha/RxC_INSERTS.IPQ"), 1);
    }
}
