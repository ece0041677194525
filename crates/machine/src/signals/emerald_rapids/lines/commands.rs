//! The lines of the memory channels' commands.

use pericore_catalog::BitRange;
use pericore_hardware::signal::{Wiring, WiringError};

use super::binding::{Line, bind_signal};

/// Kinds of column commands, as the signal numbers them; one that closes its row has the next number.
pub const REGULAR: u8 = 0;
pub const UNDERFILL: u8 = 2;
pub const PLAIN_WRITE: u8 = 4;
/// The kinds of column commands, and of activates, that there are.
const COLUMNS: [u8; 6] = [REGULAR, REGULAR + 1, UNDERFILL, UNDERFILL + 1, PLAIN_WRITE, PLAIN_WRITE + 1];
const LENGTHS: [u8; 3] = [REGULAR / 2, UNDERFILL / 2, PLAIN_WRITE / 2];
const ACTIVATE_KINDS: [u8; 5] = [0, 1, 2, 3, 5];

/// Signals of the memory channels' commands.
#[derive(Debug, Clone)]
pub struct CommandLines {
    pub columns: Line,
    pub lengths: Line,
    pub activates: Line,
    pub kind: BitRange,
    pub pseudo: BitRange,
}

impl CommandLines {
    pub fn bind(wiring: &mut Wiring) -> Result<Self, WiringError> {
        let kind = wiring.attribute("imc", "cas", "kind")?;
        let pseudo = wiring.attribute("imc", "cas", "pch")?;
        let tags = |kinds: &[u8]| -> Vec<u64> {
            kinds.iter().flat_map(|&of| [0, 1].map(|half| tag(kind, pseudo, of, half))).collect()
        };
        Ok(Self {
            columns: bind_signal(wiring, "imc", "cas", tags(&COLUMNS))?,
            lengths: bind_signal(wiring, "imc", "cas_length", tags(&LENGTHS))?,
            activates: bind_signal(wiring, "imc", "activates", tags(&ACTIVATE_KINDS))?,
            kind,
            pseudo,
        })
    }

    pub const fn tag(&self, kind: u8, pseudo: u8) -> u64 {
        tag(self.kind, self.pseudo, kind, pseudo)
    }
}

/// The tag of a command of a kind on a half of a channel.
const fn tag(kind: BitRange, pseudo: BitRange, of: u8, half: u8) -> u64 {
    pseudo.set(kind.set(0, of as u64), half as u64)
}
