//! `pericore machine boot`, and `pericore stat` on the registers of a real kernel: the one in the guest.
//!
//! These need QEMU and Debian's package mirror. Where QEMU is not installed they fail, unless `PERICORE_NO_GUEST` is set.

mod beside;
mod beside_perf;
mod bursts;
mod command_line;
mod core_pmu;
mod interruption;
mod preparation;
mod same_counts;
mod scratch;
#[path = "../../../../tests/tests/guest/switch.rs"]
mod switch;

use crate::ours::{PERICORE, command};
use switch::switched_off;

/// `pericore machine boot` with arguments.
fn boot(arguments: &[&str]) -> std::process::Command {
    let mut command = command(PERICORE);
    command.args(["machine", "boot"]).args(arguments).stdin(std::process::Stdio::null());
    command
}
