//! The program, started as by a user who has set nothing: whoever runs the tests may have defaults of their own.

use std::process::{Command, Output};

/// The program.
pub const PERICORE: &str = env!("CARGO_BIN_EXE_pericore");

/// A command that is the program, or one that starts it as `$P`.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("P", PERICORE).env("PERICORE_CONFIG", "").env_remove("PERICORE_EMULATED").env_remove("NO_COLOR");
    command
}

/// A run of the program.
pub fn pericore(arguments: &[&str]) -> Output {
    command(PERICORE).args(arguments).output().expect("the program starts")
}
