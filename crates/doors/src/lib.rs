//! The ways in for other people's tools: an unmodified program finds the registers of an emulated machine where it would find
//! those of a real one.
//!
//! [`run`](run()) starts a program in private mount and process namespaces. There, FUSE files stand for `/dev/cpu/N/{msr,cpuid}`,
//! PCI configuration space, MCFG and `/dev/mem`, and a preloaded library answers CPUID. Behind them is a [`Backend`]:
//! [`Paced`] drives a chassis in real time, [`Logged`](log::Logged) notes every access on the way.
//!
//! [`guest`] is the other way: a whole Linux in QEMU, whose own drivers find the machine.

mod backend;
mod clock;
mod digest;
mod error;
mod files;
mod fuse;
pub mod guest;
pub mod log;
mod machine_run;
mod namespace;
mod paced;
mod platform;
mod rates;
mod run;
mod stubs;
mod window_cache;

pub use backend::{Backend, Response};
pub use error::{DoorsError, program_remedy};
pub use machine_run::{LiveMachine, LiveMachineError, endless, run_machine};
pub use namespace::{Command, Outcome};
pub use paced::{Idle, Paced, Traffic};
pub use platform::{Cpu, Function, Platform, place_cpus, usable_cpus};
pub use rates::ConstantRates;
pub use run::{Finished, Options, run};
pub use window_cache::{MOST_BYTES, WindowCache};
