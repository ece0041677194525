//! The signals of the memory channels' commands.

use super::binding::{Line, bind_signal};
use crate::signal::{Wiring, WiringError};
use pericore_catalog::BitRange;

/// Signals of the memory channels' commands.
#[derive(Debug)]
pub struct CommandLines {
    pub columns: Line,
    pub lengths: Line,
    pub activates: Line,
    kind: BitRange,
    pseudo: BitRange,
}

impl CommandLines {
    /// Binds them.
    ///
    /// # Errors
    /// [`WiringError`] if the catalogue does not have a name.
    pub fn bind(wiring: &mut Wiring) -> Result<Self, WiringError> {
        Ok(Self {
            columns: bind_signal(wiring, "imc", "cas")?,
            lengths: bind_signal(wiring, "imc", "cas_length")?,
            activates: bind_signal(wiring, "imc", "activates")?,
            kind: wiring.attribute("imc", "cas", "kind")?,
            pseudo: wiring.attribute("imc", "cas", "pch")?,
        })
    }

    /// The tag of a kind of command on a half of a channel.
    pub const fn tag(&self, kind: u8, pseudo: u8) -> u64 {
        self.pseudo.set(self.kind.set(0, kind as u64), pseudo as u64)
    }
}
