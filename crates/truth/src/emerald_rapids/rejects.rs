//! Requests that an agent's pipeline turned away, and that tried again, by queue and reason (Tables 2-101 to 2-119).

use pericore_facts::emerald_rapids::{Queue, Reason};

/// Totals of one agent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rejects {
    /// By queue and reason.
    turned_away: [[u64; Reason::COUNT]; Queue::COUNT],
    /// Of those, by reason, the ones that had been turned away before.
    once_more: [u64; Reason::COUNT],
    /// Tries after that, of the agent's own work and of requests.
    retries: [[u64; Reason::COUNT]; 2],
}

impl Rejects {
    /// A request of a queue is turned away, for the first time or once more.
    pub const fn turn_away(&mut self, queue: Queue, reason: Reason, once_more: bool) {
        self.turned_away[queue as usize][reason as usize] += 1;
        self.once_more[reason as usize] += once_more as u64;
    }

    /// It tries again.
    pub fn retry(&mut self, queue: Queue, reason: Reason) {
        self.retries[usize::from(queue != Queue::Evict)][reason as usize] += 1;
    }

    /// The count of an event about rejects; `None` if it is not one of those.
    pub fn value(&self, event: &str, subevent: &str) -> Option<u64> {
        let queue = |name: &str| {
            Some(match name {
                "IRQ" => Queue::Core,
                "PRQ" => Queue::Io,
                "IPQ" => Queue::Snoop,
                "RRQ" => Queue::Remote,
                "WBQ" => Queue::RemoteWriteback,
                "ISMQ" => Queue::Evict,
                _ => return None,
            })
        };
        if event == "RxC_INSERTS" {
            let of = queue(subevent.strip_suffix("_REJ")?)?;
            return Some(self.turned_away[of as usize].iter().sum());
        }
        let rest = event.strip_prefix("RxC_")?;
        let (name, counts) = if let Some(name) = rest.strip_suffix("_REJECT") {
            (name, &self.turned_away[queue(name.get(..name.len() - 1)?)? as usize])
        } else {
            let name = rest.strip_suffix("_RETRY")?;
            let counts = match name.get(..name.len() - 1)? {
                "REQ_Q" => &self.retries[1],
                "ISMQ" => &self.retries[0],
                "OTHER" => &self.once_more,
                _ => return None,
            };
            (name, counts)
        };
        let of = |reason: Reason| counts[reason as usize];
        let first_set = name.ends_with('0');
        Some(match subevent {
            "AD_REQ_VN0" if first_set => of(Reason::Request),
            "AD_RSP_VN0" if first_set => of(Reason::Response),
            "BL_RSP_VN0" if first_set => of(Reason::Data),
            "BL_WB_VN0" if first_set => of(Reason::Writeback),
            "AK_NON_UPI" if first_set => of(Reason::Acknowledge),
            "IV_NON_UPI" if first_set => of(Reason::Invalidate),
            // "Any" in the second set is any of the first.
            "ANY0" => counts.iter().sum::<u64>() - of(Reason::AddressMatch),
            "PA_MATCH" => of(Reason::AddressMatch),
            _ => 0,
        })
    }
}
