//! Uncore counting: from a request to numbers with their validity, on any [`RegisterSpace`](pericore_registers::RegisterSpace).
//!
//! The way of a count:
//!
//! 1. [`discover`] finds the sockets and the unit instances that answer: a [`Topology`](discover::Topology).
//! 2. [`selection`] turns what the user wrote into events with complete control values: a [`Selection`](selection::Selection).
//! 3. [`plan`] gives each event a counter and lists every register access: a [`Plan`](plan::Plan), plain data.
//! 4. [`session`] carries the plan out, and puts everything back: a [`Session`](session::Session).
//!    [`by_socket`] has a thread for each socket do so, on a CPU of it.
//! 5. [`results`] adds counts up and evaluates metrics.
//!
//! [`record`] keeps samples in a file, to be evaluated later. [`kernel`] counts through the kernel's own drivers.
//!
//! # What would be written
//!
//! Planning is pure: a topology can come from discovery, or be put together by hand, and a plan is there to be looked at.
//!
//! ```
//! use pericore_observe::discover::{Presence, Socket, Topology};
//! use pericore_observe::plan::{Plan, Purpose};
//! use pericore_observe::selection::Selection;
//! use pericore_registers::{Address, Operation, Width};
//!
//! let family = pericore_catalog::family("e5-2600").expect("the catalogue has the family");
//! let mut selection = Selection::new(family);
//! selection.add_events("cbo/LLC_VICTIMS.M_STATE/")?;
//!
//! // One socket, reached through CPU 0, whose eight LLC slices all answer.
//! let mut socket = Socket::new(0, 0, None);
//! socket.set_presence(family.unit("cbo").expect("the family has slices"), vec![Presence::Present; 8]);
//! let plan = Plan::new(&Topology { family, sockets: vec![socket] }, selection)?;
//!
//! let select = plan.sockets[0].setup.iter().find(|step| step.purpose == Purpose::Select).expect("an event is selected");
//! let control = Address::Msr { cpu: 0, msr: 0xd10 };
//! assert_eq!(select.operation, Operation::Write { address: control, width: Width::B8, value: 0x40_0137 });
//! // A sample freezes, reads and resumes each slice.
//! assert_eq!(plan.cost().accesses(), 3 * 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Counting on this machine
//!
//! On a Xeon with the rights that `pericore doctor` tells of; any other [`RegisterSpace`](pericore_registers::RegisterSpace) will do as well.
//!
//! ```no_run
//! # #[cfg(target_os = "linux")] {
//! use std::time::Duration;
//!
//! use pericore_observe::discover::discover;
//! use pericore_observe::linux::{Host, Processor, Root, Stopwatch};
//! use pericore_observe::results::{Scope, event_totals};
//! use pericore_observe::selection::Selection;
//! use pericore_observe::session::{Manners, Options, Session, prepare};
//!
//! let host = Host::new(Root::default(), Processor::here())?;
//! let mut selection = Selection::new(host.family()?);
//! selection.add_events("imc/CAS_COUNT.RD/")?;
//!
//! let mut space = host.space();
//! let topology = discover(&mut space, selection.family, &host.cpus, |_| true)?;
//! // Leaves alone what others count. A journal (`Options::journal`) lets `pericore restore` undo a session that is killed.
//! let plan = prepare(&mut space, &topology, selection, Manners::default(), None)?;
//! let watch = Stopwatch::default();
//! let mut session = Session::start(space, plan, Options::default(), |_| watch.moment())?;
//! std::thread::sleep(Duration::from_secs(1));
//! let sample = session.sample(|_| watch.moment());
//! for total in event_totals(&sample, 0, Scope::Socket) {
//!     // No number without its validity: a count that could not be read is `None`, and says why.
//!     println!("socket {:?}: {:?} reads ({})", total.part.socket, total.count, total.validity);
//! }
//! session.stop()?;
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No event code, mask or address stands in this crate: all come from the catalogue, by the field names and roles that
//! it fixes.

pub mod by_socket;
pub mod discover;
#[cfg(target_os = "linux")]
pub mod kernel;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod permits;
pub mod plan;
pub mod process;
pub mod record;
#[cfg(target_os = "linux")]
pub mod register_process;
pub mod results;
pub mod run;
pub mod selection;
pub mod session;

#[cfg(test)]
mod testing;
