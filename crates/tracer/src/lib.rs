//! A real program's memory accesses: what its first-level caches do not hold, one access after the other.
//!
//! [`Tracer::launch`] runs a program under `qemu-x86_64` with a plugin of ours, which filters the accesses of each thread through an
//! L1 cache and passes on what misses. [`Running`] is the stream of these; so is a [`TraceReader`], which replays a file that a
//! [`Recorder`] has written. All three are a [`Source`]:
//!
//! ```no_run
//! use pericore_tracer::{Options, Source, Tracer};
//!
//! let mut running = Tracer::launch("sort".as_ref(), &["words.txt".into()], Options::default())?;
//! let mut batch = Vec::new();
//! while running.next_batch(&mut batch)? {
//!     for access in &batch {
//!         println!("{:?} {:#x}", access.kind, access.address);
//!     }
//! }
//! let status = running.finish()?.status;
//! # Ok::<(), pericore_tracer::Error>(())
//! ```
//!
//! What is seen and what not:
//! - Programs that are exec()ed are followed, and forked children too; [`Summary::notes`] says what was not.
//! - What the kernel reads and writes for the program is not seen.
//! - Addresses are virtual. A [`Thread`] names its process: each process has an address space of its own.

#![cfg(target_os = "linux")]

mod access;
mod child;
mod drain;
mod error;
mod launch;
#[allow(dead_code, reason = "the plugin compiles this file too, and uses the rest")]
mod layout;
mod leftovers;
mod memory;
mod notes;
mod options;
#[allow(dead_code, reason = "the plugin compiles this file too, and uses the rest")]
mod program;
mod running;
mod signals;
mod trace;

#[cfg(test)]
#[path = "../plugin/decode.rs"]
mod decode;
#[cfg(test)]
mod decode_test;
#[cfg(test)]
#[path = "../plugin/effect.rs"]
#[allow(dead_code, reason = "the build script's half")]
mod effect;
#[cfg(test)]
#[path = "../plugin/filter.rs"]
mod filter;
#[cfg(test)]
mod filter_test;
#[cfg(test)]
#[path = "../plugin/flow.rs"]
mod flow;
#[cfg(test)]
mod flow_test;
#[cfg(test)]
#[path = "../plugin/operands.rs"]
mod operands;
#[cfg(test)]
mod operands_test;
#[cfg(test)]
mod program_test;

pub use access::{Access, Counts, Kind, Source, Summary, Thread};
pub use error::Error;
pub use launch::Tracer;
pub use notes::{Note, Reason};
pub use options::{Geometry, Options};
pub use running::{Finished, Running};
pub use trace::{Recorder, TraceError, TraceHeader, TraceReader, TraceWriter, fuzz_reader};
