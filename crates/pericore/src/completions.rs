//! `pericore completions`: completions for shells, and man pages, from the definition of the command line.

mod names;

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
    #[arg(value_enum, required_unless_present_any = ["man", "names"], value_name = "SHELL")]
    shell: Option<Shell>,
    /// Write man pages, one for the program and one for each command, into this folder instead
    #[arg(long, value_name = "FOLDER", conflicts_with = "shell")]
    man: Option<PathBuf>,
    /// Print the words that the last word of this command line may become: shells ask so
    #[arg(long, value_name = "LINE", hide = true, allow_hyphen_values = true, conflicts_with_all = ["shell", "man"])]
    names: Option<String>,
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
    if let Some(line) = &args.names {
        let mut text = names::of_line(line).join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        return print(text.as_bytes());
    }
    if let Some(shell) = args.shell {
        // Into memory first: the generator does not expect a pipe that closes.
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut command, "pericore", &mut text);
        text.extend_from_slice(with_names(shell).as_bytes());
        return print(&text);
    }
    Ok(())
}

/// How a shell asks for names; nothing for shells that get the options alone.
const fn with_names(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!("completions/names.bash"),
        Shell::Zsh => include_str!("completions/names.zsh"),
        Shell::Fish => include_str!("completions/names.fish"),
        _ => "",
    }
}

fn print(text: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text)?;
    out.flush()?;
    Ok(())
}
