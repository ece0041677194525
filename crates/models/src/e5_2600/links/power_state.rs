//! The power state of one end of a link.

use pericore_engine::{NEVER, Tick};

/// Ticks of rest after which links save power; [`NEVER`] if they may not.
#[derive(Debug, Clone, Copy)]
pub struct PowerSaving {
    pub half: Tick,
    pub off: Tick,
}

impl Default for PowerSaving {
    fn default() -> Self {
        Self { half: NEVER, off: NEVER }
    }
}

/// The power state of one end of a link.
#[derive(Debug, Clone)]
pub struct Power {
    /// The direction that this end sends has half of its lanes.
    pub half: bool,
    /// The direction that it receives has; it hears of changes as late as of flits.
    pub receives_half: bool,
    /// The link is off, both its directions.
    pub off: bool,
    /// When it is on again, if that has begun.
    pub on_at: Tick,
    /// Since when it has had nothing to send; [`NEVER`] while it has.
    pub idle_since: Tick,
    /// When to look next whether it may save power.
    pub next: Tick,
    /// When the received direction changes its width, at most once each way under way.
    pub changes: [Tick; 2],
}

impl Power {
    /// At full power, with nothing to send.
    pub const fn new() -> Self {
        Self {
            half: false,
            receives_half: false,
            off: false,
            on_at: NEVER,
            idle_since: 0,
            next: NEVER,
            changes: [NEVER; 2],
        }
    }

    /// Flits of a clock that this end can send, or that it can receive.
    #[inline]
    pub const fn room(&self, sends: bool) -> u8 {
        let half = if sends { self.half } else { self.receives_half };
        if self.off { 0 } else { 2 - half as u8 }
    }

    /// The next tick at which the width of the received direction changes.
    pub fn next_change(&self) -> Tick {
        self.changes[0].min(self.changes[1])
    }
}
