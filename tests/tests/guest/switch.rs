//! Tests that boot a guest can be switched off, and say so.

use std::io::Write;

/// True if these tests are switched off.
pub fn switched_off() -> bool {
    let off = std::env::var_os("PERICORE_NO_GUEST").is_some();
    if off {
        // Past the capture of the test's output: nobody is to take this for a test that passed.
        let name = std::thread::current().name().unwrap_or("a test").to_owned();
        let message = format!("\nSKIPPED: {name}, which boots a guest, for PERICORE_NO_GUEST is set.\n\n");
        std::io::stderr().write_all(message.as_bytes()).expect("stderr takes text");
    }
    off
}
