//! `pericore machine boot`, and `pericore stat` on the registers of a real kernel: the one in the guest.
//!
//! These need QEMU and Debian's package mirror. Where QEMU is not installed they fail, unless `PERICORE_NO_GUEST` is set.

mod bursts;
mod command_line;
mod interruption;
mod preparation;
mod same_counts;
mod scratch;

use std::io::Write;

/// True if these tests are switched off.
fn switched_off() -> bool {
    let off = std::env::var_os("PERICORE_NO_GUEST").is_some();
    if off {
        // Past the capture of the test's output: nobody is to take this for a test that passed.
        let name = std::thread::current().name().unwrap_or("a test").to_owned();
        let message = format!("\nSKIPPED: {name}, which boots a guest, for PERICORE_NO_GUEST is set.\n\n");
        std::io::stderr().write_all(message.as_bytes()).expect("stderr takes text");
    }
    off
}

/// `pericore machine boot` with arguments.
fn boot(arguments: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_pericore"));
    command.args(["machine", "boot"]).args(arguments).stdin(std::process::Stdio::null());
    command
}
