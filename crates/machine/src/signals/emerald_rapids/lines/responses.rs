//! The signals of responses to snoops.

use pericore_catalog::BitRange;
use pericore_hardware::signal::{Wiring, WiringError};

use super::binding::{Line, bind_signal};

/// Results and kinds of snoops that there are, as the signal numbers them.
const HIT_EXCLUSIVE: u8 = 2;
const SNOOPS: [u8; 3] = [0, 1, 2];

/// Answers of the stacks' ports to snoops.
#[derive(Debug, Clone)]
pub struct ResponseLines {
    pub responses: Line,
    result: BitRange,
    snoop: BitRange,
}

impl ResponseLines {
    pub fn bind(wiring: &mut Wiring) -> Result<Self, WiringError> {
        let result = wiring.attribute("irp", "snoop_responses", "result")?;
        let snoop = wiring.attribute("irp", "snoop_responses", "snoop")?;
        let tags = SNOOPS.map(|of| snoop.set(result.set(0, HIT_EXCLUSIVE.into()), of.into()));
        Ok(Self { responses: bind_signal(wiring, "irp", "snoop_responses", tags)?, result, snoop })
    }

    /// The tag of an response.
    pub const fn tag(&self, result: u8, snoop: u8) -> u64 {
        self.snoop.set(self.result.set(0, result as u64), snoop as u64)
    }
}
