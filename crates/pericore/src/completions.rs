//! `pericore completions`: completions for shells, and man pages, from the definition of the command line.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Cli;
use crate::failure::Failure;
use crate::refused_file;

/// Arguments of `pericore completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Print the completions of this shell, for its start-up file
    #[arg(value_enum, required_unless_present = "man", value_name = "SHELL")]
    shell: Option<Shell>,
    /// Write man pages, one for the program and one for each command, into this folder instead
    #[arg(long, value_name = "FOLDER", conflicts_with = "shell")]
    man: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// An output that cannot be written.
pub fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut command = Cli::command();
    if let Some(folder) = &args.man {
        let refuse = |error| Failure::failed(refused_file::writing(folder, &error));
        std::fs::create_dir_all(folder).map_err(refuse)?;
        return clap_mangen::generate_to(command, folder).map_err(refuse);
    }
    if let Some(shell) = args.shell {
        // Into memory first: the generator does not expect a pipe that closes.
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut command, "pericore", &mut text);
        let mut out = io::stdout().lock();
        out.write_all(&text)?;
        out.flush()?;
    }
    Ok(())
}
