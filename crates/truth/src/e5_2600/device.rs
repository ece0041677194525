//! The truth about a socket's ring stop for input-output: its queues, its credits, what was refused.

use pericore_facts::e5_2600::{IoClass, IoQueue};

use crate::census::Census;

/// Entries of an egress queue: the model's assumption, written again.
pub const EGRESS: u64 = 8;

/// Totals of one stop.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeviceCells {
    /// Entries of the egress queues, and tries that the rings refused, by [`IoQueue`].
    pub egress: [Census; IoQueue::COUNT],
    pub refused: [u64; IoQueue::COUNT],
    /// Packets that wait, credits in use, and packets that found none, by [`IoClass`].
    pub ingress: [Census; IoClass::COUNT],
    pub credits: [Census; IoClass::COUNT],
    pub rejected: [u64; IoClass::COUNT],
    /// Acknowledgements that went round again.
    pub bounces: u64,
}

impl DeviceCells {
    /// What an event counts, by the names of Intel's event file.
    pub fn value(&self, event: &str, subevent: &str) -> Option<u64> {
        let queue = match subevent {
            "AD" => Some(IoQueue::Address),
            "AK" => Some(IoQueue::Acknowledge),
            "BL" => Some(IoQueue::Block),
            _ => None,
        };
        let class = match subevent {
            "DRS" => Some(IoClass::Data),
            "NCB" => Some(IoClass::Write),
            "NCS" => Some(IoClass::Read),
            _ => None,
        };
        match event {
            "TxR_CYCLES_NE" => Some(self.egress[queue? as usize].nonempty()),
            "TxR_CYCLES_FULL" => Some(self.egress[queue? as usize].full()),
            "TxR_NACKS" => Some(self.refused[queue? as usize]),
            "TxR_INSERTS" => Some(self.egress.iter().map(|cells| cells.entries).sum()),
            "RxR_CYCLES_NE" => Some(self.ingress[class? as usize].nonempty()),
            "IIO_CREDITS_USED" => Some(self.credits[class? as usize].nonempty()),
            "IIO_CREDITS_ACQUIRED" => Some(self.credits[class? as usize].entries),
            "IIO_CREDITS_REJECT" => Some(self.rejected[class? as usize]),
            "RxR_AK_BOUNCES" => Some(self.bounces),
            _ => None,
        }
    }
}
