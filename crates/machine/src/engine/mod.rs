//! The event kernel: virtual time in ticks, clock domains, an event queue and seeded randomness.
//!
//! Nothing here knows what is being simulated.

mod agenda;
pub mod clock;
mod domains;
mod pool;
pub mod random;
pub mod ring;
pub mod wheel;

pub use agenda::Agenda;
pub use clock::{ClockError, Clocks, Period};
pub use domains::ClockDomains;
pub use pool::Pool;
pub use random::Random;
pub use ring::Ring;
pub use wheel::Wheel;

/// A tick that never comes.
pub const NEVER: crate::signal::Tick = crate::signal::Tick::MAX;
