//! The truth about the system agent: which messages it handled, and how long holds took, in cycles of the uncore clock.

use pericore_facts::e5_2600::{HoldStage, MessageKind};

use crate::census::Census;

/// Totals of one socket's system agent.
#[derive(Debug, Clone, Default)]
pub struct AgentCells {
    /// By [`MessageKind`].
    pub messages: [u64; MessageKind::ALL.len()],
    /// By [`HoldStage`].
    pub holds: [Census; HoldStage::COUNT],
}

impl AgentCells {
    /// An event's count, by the names of the guide (2.2.5) and of Intel's event file.
    pub fn value(&self, event: &str, subevent: &str) -> Option<u64> {
        use MessageKind as Kind;
        let sum = |kinds: &[Kind]| Some(kinds.iter().map(|&kind| self.messages[kind as usize]).sum::<u64>());
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
            ("PHOLD_CYCLES", "ASSERT_TO_ACK") => Some(self.holds[HoldStage::Requested as usize].nonempty()),
            ("PHOLD_CYCLES", "ACK_TO_DEASSERT") => Some(self.holds[HoldStage::Granted as usize].nonempty()),
            ("RACU_REQUESTS", "COUNT") => sum(&[Kind::Register]),
            ("MSG_CHNL_SIZE_COUNT", "4B") => sum(&[Kind::ShortMessage]),
            ("MSG_CHNL_SIZE_COUNT", "8B") => sum(&[Kind::LongMessage]),
            _ => None,
        }
    }
}
