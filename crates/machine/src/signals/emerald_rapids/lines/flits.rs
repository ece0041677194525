//! The lines of what goes over links, whose tags are put together when it is told.

use pericore_catalog::BitRange;
use pericore_hardware::signal::{Wiring, WiringError};

use super::binding::{Line, bind_signal, link_codes};
use pericore_facts::emerald_rapids::LinkMessage;

/// Signals of the link layers: sent, received.
#[derive(Debug, Clone)]
pub struct FlitLines {
    pub flits: [Line; 2],
    pub headers: [Line; 2],
    pub slot: BitRange,
    pub kind: BitRange,
    /// Tag of each message.
    pub messages: [u64; LinkMessage::COUNT],
}

impl FlitLines {
    pub const fn slot_tag(&self, slot: u64, kind: u64) -> u64 {
        self.kind.set(self.slot.set(0, slot), kind)
    }

    pub fn bind(wiring: &mut Wiring) -> Result<Self, WiringError> {
        let class = wiring.attribute("upi", "tx_headers", "mc")?;
        let opcode = wiring.attribute("upi", "tx_headers", "opc")?;
        let slot = wiring.attribute("upi", "tx_flits", "slot")?;
        let kind = wiring.attribute("upi", "tx_flits", "kind")?;
        let in_every_slot = |of: u64| (0..3).map(move |number| kind.set(slot.set(0, number), of));
        let flits: Vec<u64> = in_every_slot(HEADER)
            .chain(in_every_slot(DATA))
            .chain(in_every_slot(CREDIT).skip(2))
            .chain(in_every_slot(EMPTY).skip(1))
            .chain(in_every_slot(IDLE).take(1))
            .collect();
        let messages =
            link_codes(wiring)?.map(|code| opcode.set(class.set(0, u64::from(code) >> 4), u64::from(code) & 0xF));
        let mut bind = |signal, tags: &[u64]| bind_signal(wiring, "upi", signal, tags.iter().copied());
        Ok(Self {
            flits: [bind("tx_flits", &flits)?, bind("rx_flits", &flits)?],
            headers: [bind("tx_headers", &messages)?, bind("rx_headers", &messages)?],
            slot,
            kind,
            messages,
        })
    }
}

/// What a slot of a flit holds, as the signal numbers it.
pub const DATA: u64 = 0;
pub const CREDIT: u64 = 1;
pub const EMPTY: u64 = 2;
pub const IDLE: u64 = 3;
pub const HEADER: u64 = 4;

#[cfg(test)]
mod tests {
    use pericore_facts::emerald_rapids::LinkMessage;

    #[test]
    fn codes_of_messages_have_the_numbers_of_their_classes() {
        let family = pericore_catalog::family("emerald-rapids").unwrap();
        // Table 3-6: REQ, SNP, RSP2, RSP4, WB, NCB, NCS.
        let numbers = [0, 1, 2, 4, 5, 6, 7];
        for &message in LinkMessage::ALL {
            let code = family.named_value("upi-messages", message.name()).unwrap();
            assert_eq!(code >> 4, numbers[message.class() as usize], "{}", message.name());
        }
    }
}
