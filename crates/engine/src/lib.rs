//! The event kernel: virtual time in ticks, clock domains, an event queue and seeded randomness; and what simulated
//! parts need all the time, such as a search of small words.
//!
//! Nothing here knows what is being simulated.

mod agenda;
pub mod clock;
mod domains;
pub mod host;
mod parameter;
mod pool;
pub mod random;
pub mod ring;
pub mod search;
pub mod wheel;

pub use agenda::Agenda;
pub use clock::{ClockError, Clocks, Period, common_multiple};
pub use domains::ClockDomains;
pub use parameter::ParameterError;
pub use pool::Pool;
pub use random::Random;
pub use ring::Ring;
pub use wheel::Wheel;

/// Virtual time. A machine fixes how many ticks a second has so that every clock's period is a whole number of ticks.
pub type Tick = u64;

/// A tick that never comes.
pub const NEVER: Tick = Tick::MAX;
