//! What a terminal asks of output: width, colour, nothing that upsets it.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use clap::{Args, ValueEnum};
use pericore_text::{Paint, WIDTH};

/// `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The option, for commands that print for people.
#[derive(Debug, Clone, Copy, Args)]
pub struct ColorArg {
    /// Colour the output
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    color: ColorChoice,
}

impl ColorArg {
    /// How to paint standard output.
    pub fn paint(self) -> Paint {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Paint::new(match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => std::io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb,
        })
    }
}

/// Columns of a line of what the text goes to: those of a terminal; none for a pipe or a file, where any line has room.
pub fn width_of(output: impl AsFd) -> Option<usize> {
    let is_terminal = output.as_fd().is_terminal();
    let known = terminal_size::terminal_size_of(output).map(|(terminal_size::Width(width), _)| usize::from(width));
    is_terminal.then(|| known.filter(|width| *width > 0).unwrap_or(WIDTH))
}

/// True if the user's locale is one of UTF-8, as POSIX finds out what that is.
pub fn is_unicode() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// The title of a measurement: what runs how is on a line of its own below, further in than the title.
pub fn title_lines(title: &str, indent: usize) -> String {
    title.replacen("; ", &format!(";\n{:indent$}", ""), 1)
}

/// Counters of a bit mask as people write them: `0-3`, `0,2`.
pub fn counter_list(mask: u16) -> String {
    let counters: Vec<u8> = (0..16).filter(|counter| mask >> counter & 1 == 1).collect();
    let is_run = counters.len() > 2 && counters.windows(2).all(|pair| pair[1] == pair[0] + 1);
    match (is_run, counters.first(), counters.last()) {
        (true, Some(first), Some(last)) => format!("{first}-{last}"),
        _ => counters.iter().map(u8::to_string).collect::<Vec<_>>().join(","),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_runs_or_lists() {
        assert_eq!([0b1111, 0b0011, 0b0101, 0b1110, 0].map(counter_list), ["0-3", "0,1", "0,2", "1-3", ""]);
    }
}
