//! What `pericore top` shows: samples through time ([`State`]), and pictures of them on ratatui ([`frame`]). Knows no
//! terminal, no clock and no machine: the caller hands reports and keys in, and takes pictures.

mod path;
mod picture;
mod sorting;
mod track;
mod view;

pub mod clock;
pub mod keys;
pub mod state;
#[cfg(test)]
mod tests;

pub use clock::TimeOfDay;
pub use keys::{Key, keys};
pub use picture::{frame, plain};
pub use state::{KeyCommand, Look, State};
pub use view::SCOPES;
