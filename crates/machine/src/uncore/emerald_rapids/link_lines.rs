//! The signals of the link layers.

use super::binding::{Line, bind_signal, link_codes};
use crate::ledger::emerald_rapids::LinkMessage;
use crate::signal::{Wiring, WiringError};
use pericore_catalog::BitRange;

/// Signals of the link layers: sent, received.
#[derive(Debug)]
pub struct LinkLines {
    pub flits: [Line; 2],
    pub headers: [Line; 2],
    slot: BitRange,
    kind: BitRange,
    /// Tag of each message.
    pub messages: [u64; LinkMessage::COUNT],
    /// Links of a socket.
    pub links: u16,
}

impl LinkLines {
    /// The tag of what a slot of a flit holds.
    pub const fn slot_tag(&self, slot: u64, kind: u64) -> u64 {
        self.kind.set(self.slot.set(0, slot), kind)
    }

    /// Binds them.
    ///
    /// # Errors
    /// [`WiringError`] if the catalogue does not have a name.
    pub fn bind(wiring: &mut Wiring) -> Result<Self, WiringError> {
        let class = wiring.attribute("upi", "tx_headers", "mc")?;
        let opcode = wiring.attribute("upi", "tx_headers", "opc")?;
        Ok(Self {
            flits: [bind_signal(wiring, "upi", "tx_flits")?, bind_signal(wiring, "upi", "rx_flits")?],
            headers: [bind_signal(wiring, "upi", "tx_headers")?, bind_signal(wiring, "upi", "rx_headers")?],
            slot: wiring.attribute("upi", "tx_flits", "slot")?,
            kind: wiring.attribute("upi", "tx_flits", "kind")?,
            messages: link_codes(wiring)?
                .map(|code| opcode.set(class.set(0, u64::from(code) >> 4), u64::from(code) & 0xF)),
            links: wiring.family().unit("upi").map_or(0, |unit| unit.instances),
        })
    }
}
