//! The lines of the link layers.

use pericore_catalog::BitRange;
use pericore_hardware::signal::{Wiring, WiringError};

use super::binding::{Line, bind_signal, link_codes};
use crate::ledger::emerald_rapids::LinkMessage;

/// Signals of the link layers: sent, received.
#[derive(Debug)]
pub(super) struct LinkLines {
    pub(super) flits: [Line; 2],
    pub(super) headers: [Line; 2],
    pub(super) slot: BitRange,
    pub(super) kind: BitRange,
    /// Tag of each message.
    pub(super) messages: [u64; LinkMessage::COUNT],
    pub(super) links: u16,
}

impl LinkLines {
    pub(super) const fn slot_tag(&self, slot: u64, kind: u64) -> u64 {
        self.kind.set(self.slot.set(0, slot), kind)
    }

    pub(super) fn bind(wiring: &mut Wiring) -> Result<Self, WiringError> {
        let class = wiring.attribute("upi", "tx_headers", "mc")?;
        let opcode = wiring.attribute("upi", "tx_headers", "opc")?;
        let slot = wiring.attribute("upi", "tx_flits", "slot")?;
        let kind = wiring.attribute("upi", "tx_flits", "kind")?;
        let in_every_slot = |of: u64| (0..3).map(move |number| kind.set(slot.set(0, number), of));
        let flits: Vec<u64> =
            in_every_slot(HEADER).chain(in_every_slot(DATA)).chain(in_every_slot(CREDIT).skip(2)).collect();
        let messages =
            link_codes(wiring)?.map(|code| opcode.set(class.set(0, u64::from(code) >> 4), u64::from(code) & 0xF));
        let mut bind = |signal, tags: &[u64]| bind_signal(wiring, "upi", signal, tags.iter().copied());
        Ok(Self {
            flits: [bind("tx_flits", &flits)?, bind("rx_flits", &flits)?],
            headers: [bind("tx_headers", &messages)?, bind("rx_headers", &messages)?],
            slot,
            kind,
            messages,
            links: wiring.family().unit("upi").map_or(0, |unit| unit.instances),
        })
    }
}

/// What a slot of a flit holds, as the signal numbers it.
pub(super) const DATA: u64 = 0;
pub(super) const CREDIT: u64 = 1;
pub(super) const HEADER: u64 = 4;
