//! The catalogue: what is known of each family's uncore, compiled into the binary.
//!
//! The data stands in `catalog/` as text; the build validates it and packs the rows of each family. A family is unpacked when it
//! is first asked for ([`family`]), so that a command pays for the families that it needs. [`rows`] is the shape of the rows and
//! finds them by name, [`search`] by words; [`decode`] and [`encode`] turn register values into words and back; [`event_file`] adds
//! Intel's public event files at run time, [`own`] users' own folders of data.
//! [`kernel`] has what Linux's driver offers.
//!
//! ```
//! use pericore_catalog::{decode, family};
//!
//! let family = family("e5-2600").expect("the catalogue has the family");
//! let slices = family.unit("cbo").expect("the family has LLC slices");
//! let victims = slices.event("LLC_VICTIMS").expect("slices count their victims");
//! let modified = victims.subevent("M_STATE").expect("by their state");
//! assert_eq!((victims.code, modified.config), (0x37, 0x137));
//!
//! // And back: what a tool has left in the control of a counter.
//! let control = slices.register_named("ctl").expect("slices have counters");
//! let found = decode::register(family, slices, control, 0, 0x40_0137)?;
//! assert_eq!((found.field("en"), found.field("umask"), found.field("ev_sel")), (Some(1), Some(0x01), Some(0x37)));
//! # Ok::<(), decode::DecodeError>(())
//! ```

pub mod decode;
pub mod encode;
pub mod event_file;
pub mod kernel;
pub mod model;
pub mod own;
pub mod search;
pub mod tables;

mod shipped;

/// Tells this catalogue from others: 12 hexadecimal digits that come from the bytes of its files.
pub const REVISION: &str = env!("PERICORE_CATALOG_REVISION");

pub use model::*;
pub use pericore_catalog_schema as rows;
pub use pericore_registers::{AddressSpace, BitRange};
pub use rows::Arena;
pub use shipped::{Shipped, choices, deviations, families, family, shipped};
