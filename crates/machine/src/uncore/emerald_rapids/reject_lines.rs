//! The signals of requests that are turned away and try again.

use pericore_hardware::signal::{Wiring, WiringError};

use super::binding::{Line, bind};
use crate::ledger::emerald_rapids::{Queue, Reason};

/// By queue and reason, what counts a request that is turned away; by reason, what counts one that is so once more, and one that tries
/// again: of the agent's own work, of requests.
#[derive(Debug)]
pub struct RejectLines {
    pub turned_away: [[Vec<Line>; Reason::COUNT]; Queue::COUNT],
    pub once_more: [Vec<Line>; Reason::COUNT],
    pub retries: [[Vec<Line>; Reason::COUNT]; 2],
}

/// The queue's name in the events.
const fn queue_name(queue: Queue) -> &'static str {
    match queue {
        Queue::Core => "IRQ",
        Queue::Evict => "ISMQ",
        Queue::Io => "PRQ",
        Queue::Snoop => "IPQ",
        Queue::Remote => "RRQ",
        Queue::RemoteWriteback => "WBQ",
    }
}

/// The subevents that a reason is part of: of the first set of events, of the second.
const fn subevents(reason: Reason) -> [Option<&'static str>; 2] {
    match reason {
        Reason::AddressMatch => [None, Some("PA_MATCH")],
        Reason::Request => [Some("AD_REQ_VN0"), Some("ANY0")],
        Reason::Response => [Some("AD_RSP_VN0"), Some("ANY0")],
        Reason::Data => [Some("BL_RSP_VN0"), Some("ANY0")],
        Reason::Writeback => [Some("BL_WB_VN0"), Some("ANY0")],
    }
}

/// Binds the events `RxC_` name, number of the set, kind.
fn lines(wiring: &mut Wiring, name: &str, kind: &str, reason: Reason) -> Result<Vec<Line>, WiringError> {
    let mut lines = Vec::new();
    for (set, subevent) in subevents(reason).into_iter().enumerate() {
        // What the agent itself does waits for no address.
        if let Some(subevent) = subevent.filter(|subevent| (name, *subevent) != ("ISMQ", "PA_MATCH")) {
            lines.push(bind(wiring, &format!("cha/RxC_{name}{set}_{kind}.{subevent}"))?);
        }
    }
    Ok(lines)
}

/// One entry for each reason.
fn by_reason(
    mut of: impl FnMut(Reason) -> Result<Vec<Line>, WiringError>,
) -> Result<[Vec<Line>; Reason::COUNT], WiringError> {
    let mut all: [Vec<Line>; Reason::COUNT] = Default::default();
    for reason in Reason::ALL {
        all[reason as usize] = of(reason)?;
    }
    Ok(all)
}

impl RejectLines {
    pub fn bind(wiring: &mut Wiring) -> Result<Self, WiringError> {
        let mut turned_away: [[Vec<Line>; Reason::COUNT]; Queue::COUNT] = Default::default();
        for queue in Queue::ALL {
            let name = queue_name(queue);
            turned_away[queue as usize] = by_reason(|reason| {
                let mut all = lines(wiring, name, "REJECT", reason)?;
                if matches!(queue, Queue::Core | Queue::Io) {
                    all.push(bind(wiring, &format!("cha/RxC_INSERTS.{name}_REJ"))?);
                }
                Ok(all)
            })?;
        }
        Ok(Self {
            turned_away,
            once_more: by_reason(|reason| lines(wiring, "OTHER", "RETRY", reason))?,
            retries: [
                by_reason(|reason| lines(wiring, "ISMQ", "RETRY", reason))?,
                by_reason(|reason| lines(wiring, "REQ_Q", "RETRY", reason))?,
            ],
        })
    }
}
