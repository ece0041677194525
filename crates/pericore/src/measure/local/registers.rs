//! The process that holds this machine's registers, for measuring and for `pericore restore`.

use std::sync::Arc;

use pericore_observe::linux::Host;
use pericore_observe::register_process::{Aftermath, RegisterProcess};

use crate::failure::Failure;

/// The process that holds this machine's registers from here on.
///
/// # Errors
/// The system refuses a process.
pub fn register_process(host: &Host, aftermath: Aftermath) -> Result<Arc<RegisterProcess>, Failure> {
    // Unpacked before there are two: both have the same memory then. What is wrong with the family is said later.
    let _ = host.family();
    let started = RegisterProcess::start(host.clone(), aftermath);
    let refused = |error| Failure::failed(format!("cannot start a process for the registers: {error}; see ulimit -u"));
    started.map(Arc::new).map_err(refused)
}
