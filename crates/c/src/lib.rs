//! `libpericore`: uncore counts of a C program's regions, and what the catalogue has of events and metrics.
//!
//! The functions are in [`session`], [`regions`], [`look_up`] and [`message`]; `include/pericore.h` is made of them.
//! Each reads its arguments, has
//! [`counting`] or the catalogue do the work, and returns a [`Code`]: no panic and no Rust type leaves the library.

mod code;
mod counting;
mod figure;
mod look_up;
mod message;
mod regions;
mod session;
mod text;

pub use code::Code;
pub use figure::{Figure, FigureGrade};
pub use look_up::{EventInfo, MetricInfo};
pub use session::SessionHandle;
pub use text::{NAME_SIZE, TEXT_SIZE};
