//! What a terminal asks of output: width, colour, nothing that upsets it.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use clap::{Args, ValueEnum};
use pericore_text::{Paint, WIDTH, columns};

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

/// The title of a measurement: what runs how is on a line of its own below, further in than the title, which is two
/// columns less in. What has no room in a line goes on below, too.
pub fn title_lines(title: &str, indent: usize) -> String {
    let (what, how) = title.split_once("; ").map_or((title, None), |(what, how)| (what, Some(how)));
    let below = format!("\n{:indent$}", "");
    let end = if how.is_some() { ";" } else { "" };
    let first = folded(&format!("{what}{end}"), WIDTH - (indent - 2), WIDTH - indent);
    let rest = how.map(|how| folded(how, WIDTH - indent, WIDTH - indent));
    first.into_iter().chain(rest.into_iter().flatten()).collect::<Vec<_>>().join(&below)
}

/// A text in lines that end with spaces or commas, where they must: the first of one width, the others of another.
fn folded(text: &str, first: usize, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_inclusive([' ', ',']) {
        let room = if lines.len() == 1 { first } else { width };
        match lines.last_mut() {
            Some(line) if line.is_empty() || columns(line) + columns(word.trim_end()) <= room => *line += word,
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
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

    /// 80 columns, of which a title is one in, and what follows three.
    #[test]
    fn titles_have_room_in_a_terminal() {
        assert_eq!(
            title_lines("x5570, 1 socket: stream; 8 threads, warm", 3),
            "x5570, 1 socket: stream;\n   8 threads, warm"
        );
        let long = format!("e5-2600: mixed:{}seed=9; 8 threads", "requests=120k,".repeat(8));
        let lines = title_lines(&long, 3);
        let whole = format!(" {lines}");
        let widths: Vec<usize> = whole.lines().map(str::len).collect();
        // Four times 14 after 16 are 72; the rest are four more, and the seed.
        assert_eq!(widths, [72, 66, 12], "{whole}");
        assert_eq!(whole.replace("\n   ", ""), format!(" {}", long.replace("; ", ";")));
        // What has no comma stays whole.
        let path = "/".repeat(100);
        assert_eq!(title_lines(&path, 3), path);
    }

    #[test]
    fn counters_are_runs_or_lists() {
        assert_eq!([0b1111, 0b0011, 0b0101, 0b1110, 0].map(counter_list), ["0-3", "0,1", "0,2", "1-3", ""]);
    }
}
