//! The user's defaults for options: `config.toml` in `$XDG_CONFIG_HOME/pericore` (`~/.config/pericore`). Its tables are commands, its keys
//! their long options.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};
use pericore_catalog::search::hint;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::failure::Failure;

/// Names another file; empty, it means none.
const VARIABLE: &str = "PERICORE_CONFIG";

/// The command with the defaults of the user's file, if there is one.
///
/// # Errors
/// A file that cannot be read, or what no command takes, with file and line.
pub fn with_defaults(command: Command) -> Result<Command, Failure> {
    let Some(path) = path() else { return Ok(command) };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(command),
        Err(error) => return Err(Failure::usage(format!("cannot read {}: {error}", path.display()))),
    };
    apply(command, &text).map_err(|Mistake { at, what }| {
        let line = text.as_bytes()[..at.min(text.len())].iter().filter(|&&byte| byte == b'\n').count() + 1;
        Failure::usage(format!("{}:{line}: {what}", path.display()))
    })
}

fn path() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return (!named.is_empty()).then(|| named.into());
    }
    // By the XDG base directory rules a path that is not absolute counts as none.
    let of = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = of("XDG_CONFIG_HOME").or_else(|| Some(of("HOME")?.join(".config")))?;
    Some(folder.join("pericore/config.toml"))
}

/// What is wrong, and the byte where it stands.
#[derive(Debug)]
struct Mistake {
    at: usize,
    what: String,
}

fn apply(command: Command, text: &str) -> Result<Command, Mistake> {
    let table = DeTable::parse(text)
        .map_err(|error| Mistake { at: error.span().map_or(0, |span| span.start), what: error.message().to_owned() })?;
    of_command(command, table.get_ref(), &mut Vec::new())
}

/// The command with a table's defaults; `way` leads to it from the program.
fn of_command(mut command: Command, table: &DeTable<'_>, way: &mut Vec<String>) -> Result<Command, Mistake> {
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let wrong = |what: String| Mistake { at: key.span().start, what };
        let Some(below) = value.get_ref().as_table() else {
            command = of_option(command, name, value, way).map_err(wrong)?;
            continue;
        };
        let inner = command.find_subcommand(name).cloned().ok_or_else(|| {
            let near = hint(name, command.get_subcommands().map(Command::get_name));
            wrong(format!("{} has no command {name:?}{near}", called(way)))
        })?;
        way.push(name.to_owned());
        let inner = of_command(inner, below, way)?;
        way.pop();
        command = command.mut_subcommand(name, |_| inner);
    }
    Ok(command)
}

fn called(way: &[String]) -> String {
    std::iter::once("pericore").chain(way.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

fn of_option(command: Command, name: &str, value: &Spanned<DeValue<'_>>, way: &[String]) -> Result<Command, String> {
    let Some(option) = command.get_arguments().find(|argument| argument.get_long() == Some(name)).cloned() else {
        let near = hint(name, command.get_arguments().filter_map(Arg::get_long));
        return Err(format!("{} has no option --{name}{near}", called(way)));
    };
    let values = words(&option, value.get_ref()).ok_or_else(|| {
        let takes = if takes_value(&option) { "a text or a number, or several in brackets" } else { "true or false" };
        format!("{name} takes {takes}")
    })?;
    for word in values.iter().filter(|_| takes_value(&option)) {
        check(&command, name, word)?;
    }
    Ok(command.mut_arg(option.get_id(), |argument| argument.default_values(values).required(false)))
}

fn takes_value(option: &Arg) -> bool {
    !matches!(option.get_action(), ArgAction::SetTrue | ArgAction::SetFalse)
}

/// A value's words as a command line would have them; nothing if the option does not take such a value.
fn words(option: &Arg, value: &DeValue<'_>) -> Option<Vec<String>> {
    let word = |value: &DeValue<'_>| match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        _ => None,
    };
    match value {
        DeValue::Boolean(is_set) => (!takes_value(option)).then(|| vec![is_set.to_string()]),
        _ if !takes_value(option) => None,
        DeValue::Array(several) if matches!(option.get_action(), ArgAction::Append) => {
            several.iter().map(|value| word(value.get_ref())).collect()
        }
        one => Some(vec![word(one)?]),
    }
}

/// Asks the option itself whether it takes a word: at its place in the file a mistake is easier to find than at a command line without it.
fn check(command: &Command, option: &str, word: &str) -> Result<(), String> {
    let line = [OsString::from("pericore"), format!("--{option}={word}").into()];
    let Err(refusal) = command.clone().try_get_matches_from(line) else { return Ok(()) };
    if !matches!(refusal.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue) {
        // What else that line lacks is none of the file's business.
        return Ok(());
    }
    let known = match refusal.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(known)) => format!("; known: {}", known.join(", ")),
        _ => String::new(),
    };
    let why = std::error::Error::source(&refusal).map_or_else(String::new, |why| format!(": {why}"));
    Err(format!("--{option} does not take {word:?}{why}{known}"))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, FromArgMatches};

    use super::*;
    use crate::Cli;

    fn parsed(config: &str, line: &[&str]) -> String {
        let command = apply(Cli::command(), config).unwrap();
        let matches = command.try_get_matches_from([&["pericore"], line].concat()).unwrap();
        format!("{:?}", Cli::from_arg_matches(&matches).unwrap())
    }

    fn refusal(config: &str) -> (usize, String) {
        let mistake = apply(Cli::command(), config).unwrap_err();
        (mistake.at, mistake.what)
    }

    #[test]
    fn a_default_is_what_the_option_would_be() {
        let config = "[stat]\ninterval-print = 500\nmetrics = [\"A\", \"B\"]\nper-socket = true\n[machine.run]\nmachine = \"nehalem\"\n";
        let given = ["stat", "--interval-print=500", "--metrics=A", "--metrics=B", "--per-socket"];
        assert_eq!(parsed(config, &["stat"]), parsed("", &given));
        assert_eq!(
            parsed(config, &["machine", "run", "--", "x"]),
            parsed("", &["machine", "run", "--machine=nehalem", "--", "x"])
        );
        // What the command line says comes first, and no default is in its way.
        let (other, none) = (["stat", "-I", "2", "-M", "C", "-A"], "");
        assert!(parsed(config, &other).contains("interval: Some(2.0)") && parsed(config, &other).contains("[\"C\"]"));
        assert!(parsed(none, &["stat"]).contains("interval: None"));
    }

    #[test]
    fn mistakes_are_found_where_they_stand() {
        for (config, at, words) in [
            (
                "[stat]\nintervl-print = 5\n",
                7,
                "pericore stat has no option --intervl-print; did you mean interval-print?",
            ),
            ("[stats]\n", 1, "pericore has no command \"stats\"; did you mean stat?"),
            ("[machine.rnu]\n", 9, "pericore machine has no command \"rnu\""),
            ("[stat]\ninterval-print = \"soon\"\n", 7, "--interval-print does not take \"soon\""),
            ("[stat]\nper-socket = 1\n", 7, "true or false"),
            ("[stat]\nmetrics = true\n", 7, "a text or a number"),
            ("[list]\ncolor = \"red\"\n", 7, "known: auto, always, never"),
            ("[stat\n", 5, ""),
        ] {
            let (found, what) = refusal(config);
            assert!(found == at && what.contains(words), "{config}: {found}: {what}");
        }
    }
}
