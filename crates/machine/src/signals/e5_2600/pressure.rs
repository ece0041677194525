//! The signals of what a slice's queues suffer.

use pericore_facts::e5_2600::{IngressQueue, Refusal, RingKind, SliceState};
use pericore_hardware::signal::{Wire, Wiring, WiringError};

use super::level::Tagged;
use super::pulses::Pulses;
use crate::signals::levels::Levels;

/// Wires of what a slice suffers.
#[derive(Debug, Clone, Copy)]
pub struct PressureWires {
    /// What was turned away, by [`IngressQueue`] and [`Refusal`]; the tag has the bit of every reason, too.
    pub refused: [(Wire, [u64; Refusal::COUNT]); IngressQueue::COUNT],
    /// With the tag of each [`SliceState`].
    pub states: (Levels, [u64; SliceState::COUNT]),
    /// Those that hold.
    pub holds: [bool; SliceState::COUNT],
    /// Data reads that missed and have no line yet.
    pub read_misses: Levels,
    /// Streaming stores that found the line modified.
    pub aliased: Tagged,
    /// Messages that went past an empty egress queue.
    pub bypass: Pulses,
    /// Lines and snoops for cores that went round again, by ring.
    pub bounces: (Wire, [u64; RingKind::COUNT]),
    /// New messages are held back.
    pub throttle: Wire,
    /// Messages that waited long, on the AK and on the BL ring.
    pub starved: [Tagged; 2],
}

impl PressureWires {
    /// Binds a slice's wires.
    pub fn bind(wiring: &mut Wiring, socket: u16, slice: u16, others: bool) -> Result<Self, WiringError> {
        let mut subevent = |event, name| wiring.subevent(socket, "cbo", slice, event, name);
        let (requests, any) = subevent("RxR_IRQ_RETRY", "ANY")?;
        let full = subevent("RxR_IRQ_RETRY", "FULL")?.1;
        let conflict = subevent("RxR_IRQ_RETRY", "ADDR_CONFLICT")?.1;
        let tracker = subevent("RxR_IRQ_RETRY", "RTID")?.1;
        let (responses, any_response) = subevent("RxR_ISMQ_RETRY", "ANY")?;
        let full_response = subevent("RxR_ISMQ_RETRY", "FULL")?.1;
        let tracker_response = subevent("RxR_ISMQ_RETRY", "RTID")?.1;
        // Responses have no conflicts: their line is theirs.
        let responses = (responses, [any_response | full_response, any_response, any_response | tracker_response]);
        let mut snoops = responses;
        if others {
            let (wire, any) = subevent("RxR_IPQ_RETRY", "ANY")?;
            let full = subevent("RxR_IPQ_RETRY", "FULL")?.1;
            // Snoops take no entry of a tracker.
            snoops = (wire, [any | full, any | subevent("RxR_IPQ_RETRY", "ADDR_CONFLICT")?.1, any]);
        }
        let (states, bids) = subevent("RxR_EXT_STARVED", "ISMQ_BIDS")?;
        let (responses_starve, requests_starve) =
            (subevent("RxR_EXT_STARVED", "ISMQ")?.1, subevent("RxR_EXT_STARVED", "IRQ")?.1);
        let aliased = subevent("MISC", "WC_ALIASING")?;
        let starved = [subevent("TxR_STARVED", "AK")?, subevent("TxR_STARVED", "BL")?];
        let (bounces, data) = subevent("RING_BOUNCES", "BL_CORE")?;
        let snoop = subevent("RING_BOUNCES", "IV_CORE")?.1;
        Ok(Self {
            throttle: wiring.signal(socket, "cbo", slice, "RING_SRC_THRTL")?,
            bounces: (bounces, [0, 0, data, snoop]),
            refused: [(requests, [any | full, any | conflict, any | tracker]), responses, snoops],
            states: (states.into(), [bids, responses_starve, requests_starve]),
            holds: [false; SliceState::COUNT],
            read_misses: wiring.signal(socket, "cbo", slice, "ISMQ_DRD_MISS_OCC")?.into(),
            aliased,
            bypass: wiring.signal(socket, "cbo", slice, "TxR_ADS_USED")?.into(),
            starved,
        })
    }
}
