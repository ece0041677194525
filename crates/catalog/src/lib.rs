//! The catalogue: what is known of each family's uncore, compiled into the binary.
//!
//! The data stands in `catalog/` as text; the build validates it and writes it as Rust statics, so nothing is parsed at run
//! time. [`model`] is its shape, [`lookup`] finds things in it by name and [`search`] by words; [`decode`] and [`encode`] turn
//! register values into words and back; [`event_file`] adds Intel's public event files at run time.

pub mod decode;
pub mod encode;
pub mod event_file;
pub mod lookup;
pub mod model;
pub mod search;

mod compiled {
    use crate::model::*;
    use pericore_registers::{AddressSpace, BitRange};
    include!(concat!(env!("OUT_DIR"), "/families.rs"));
}

pub use lookup::{families, family};
pub use model::*;
pub use pericore_registers::{AddressSpace, BitRange};

/// Where we differ from the documents, with the evidence.
pub fn deviations() -> &'static [Deviation] {
    compiled::DEVIATIONS
}

/// What the documents leave open, and what we chose.
pub fn choices() -> &'static [Choice] {
    compiled::CHOICES
}
