//! The program, started as by a user who has set nothing: whoever runs the tests may have defaults of their own.

pub mod python;

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Output};

/// The program.
pub const PERICORE: &str = env!("CARGO_BIN_EXE_pericore");

/// A command that is the program, or one that starts it as `$P`.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command
        .env("P", PERICORE)
        .env("PERICORE_CONFIG", "")
        .env("PERICORE_CATALOG", "")
        .env_remove("PERICORE_EMULATED")
        .env_remove("PERICORE_RUN")
        .env_remove("NO_COLOR");
    command
}

/// An E5-2600 whose second socket shows no function of its uncore in PCI configuration space.
pub const WITHOUT_SECOND_UNCORE: &str =
    "e5-2600:sockets=2,hidden=1/ubox,hidden=1/ha,hidden=1/imc,hidden=1/qpi,hidden=1/r2pcie,hidden=1/r3qpi";

/// A run of the program.
pub fn pericore(arguments: &[&str]) -> Output {
    command(PERICORE).args(arguments).output().expect("the program starts")
}

/// Two, or one where this process may use a single CPU of the host: each socket of a live machine needs one, since tools choose the
/// socket by the CPU that they run on. The second socket's refusal is checked then, and what is left out is said.
pub fn live_sockets() -> u16 {
    if pericore_doors::usable_cpus().expect("the CPUs of this process").len() > 1 {
        return 2;
    }
    let output = pericore(&["machine", "run", "--machine", "e5-2600", "--sockets", "2", "--", "true"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(255) && said.contains("2 sockets need as many CPUs"), "{said}");
    // Past the capture of the test's output.
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    let message = format!("\nSKIPPED: {name}, its second socket, which needs a second CPU.\n\n");
    std::io::stderr().write_all(message.as_bytes()).expect("stderr takes text");
    1
}
