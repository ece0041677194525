//! Whole sessions under a seed: a machine, journals in a folder, time, other users, and faults of register accesses and
//! of system calls.
//!
//! A seed makes a [`Scenario`], which is data: [`run`](run()) carries it out and checks what is promised; a
//! scenario that breaks a promise is shrunk to the fewest events that still do ([`shrink`]). The same seed does
//! the same each time.
//!
//! - No register is left modified: each that was written holds what it held before the first write, unless somebody
//!   else has written it since. Where somebody else counts by then, gates and filters stay as that needs.
//! - No foreign register is touched: each access of a session, and each write of who puts back, is one that
//!   [`Permits`](pericore_observe::permits::Permits) allows, and none is to a register that somebody else uses.
//! - No foreign file is touched: what lies beside the journals is as it was, and what links lead to.
//! - No hang: accesses have a limit, and so has the time of a run.
//! - No number is called measured that is not: clocks have the cycles that passed, all other events nothing.

mod files;
mod hands;
mod others;
mod run;
mod scenario;
mod system_calls;

pub use run::{Report, run, shrink};
pub use scenario::{Ending, Happening, Scenario, What};
