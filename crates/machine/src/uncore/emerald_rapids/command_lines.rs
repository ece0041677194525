//! The lines of the memory channels' commands.

use pericore_catalog::BitRange;
use pericore_hardware::signal::{Wiring, WiringError};

use super::binding::{Line, bind_signal};
use super::subchannel::{ACTIVATE_KINDS, COLUMNS};

/// Signals of the memory channels' commands.
#[derive(Debug)]
pub(super) struct CommandLines {
    pub(super) columns: Line,
    pub(super) lengths: Line,
    pub(super) activates: Line,
    pub(super) kind: BitRange,
    pub(super) pseudo: BitRange,
}

impl CommandLines {
    pub(super) fn bind(wiring: &mut Wiring) -> Result<Self, WiringError> {
        let kind = wiring.attribute("imc", "cas", "kind")?;
        let pseudo = wiring.attribute("imc", "cas", "pch")?;
        let tags = |kinds: &[u8]| -> Vec<u64> {
            kinds.iter().flat_map(|&of| [0, 1].map(|half| tag(kind, pseudo, of, half))).collect()
        };
        Ok(Self {
            columns: bind_signal(wiring, "imc", "cas", tags(&COLUMNS))?,
            lengths: bind_signal(wiring, "imc", "cas_length", tags(&COLUMNS.map(|kind| kind / 2)))?,
            activates: bind_signal(wiring, "imc", "activates", tags(&ACTIVATE_KINDS))?,
            kind,
            pseudo,
        })
    }

    pub(super) const fn tag(&self, kind: u8, pseudo: u8) -> u64 {
        tag(self.kind, self.pseudo, kind, pseudo)
    }
}

/// The tag of a command of a kind on a half of a channel.
const fn tag(kind: BitRange, pseudo: BitRange, of: u8, half: u8) -> u64 {
    pseudo.set(kind.set(0, of as u64), half as u64)
}
