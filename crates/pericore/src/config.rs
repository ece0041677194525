//! The user's defaults for options: `config.toml` in `$XDG_CONFIG_HOME/pericore` (`~/.config/pericore`). Its tables
//! are commands, its keys their long options.

mod line;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, Id};
use pericore_catalog::search::hint;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::failure::Failure;
use crate::xdg;
use crate::{input, notice, refused_file};

/// Names another file; empty, it means none.
const VARIABLE: &str = "PERICORE_CONFIG";

/// The user's defaults.
#[derive(Debug, Default)]
pub struct Defaults {
    presets: Vec<Preset>,
}

/// An option of the file.
#[derive(Debug)]
struct Preset {
    /// The names that lead to its command.
    way: Vec<String>,
    option: Id,
    /// What a command line would have for it.
    words: Vec<OsString>,
}

impl Defaults {
    /// Those of the user's file, if there is one.
    ///
    /// # Errors
    /// A file that cannot be read, or what no command takes, with file and line.
    pub fn read(command: &Command) -> Result<Self, Failure> {
        let Some(path) = path() else { return Ok(Self::default()) };
        let bytes = match input::bytes(&path, input::CONFIGURATION) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_named() => return Ok(Self::default()),
            Err(error) => return unread(&path, &error, is_named()),
        };
        Self::of(command, &bytes).map_err(|Mistake { at, what }| {
            let line = bytes[..at.min(bytes.len())].iter().filter(|&&byte| byte == b'\n').count() + 1;
            Failure::usage(format!("{}:{line}: {what}", path.display()))
        })
    }

    fn of(command: &Command, bytes: &[u8]) -> Result<Self, Mistake> {
        let text = std::str::from_utf8(bytes).map_err(|error| Mistake {
            at: error.valid_up_to(),
            what: "this line is not UTF-8 text; save the file as UTF-8".to_owned(),
        })?;
        let table = DeTable::parse(text).map_err(|error| Mistake {
            at: error.span().map_or(0, |span| span.start),
            what: error.message().to_owned(),
        })?;
        let mut defaults = Self::default();
        defaults.add(command, table.get_ref(), &mut Vec::new())?;
        Ok(defaults)
    }

    /// What a command line says with them: what it says itself comes first, and none is taken that does not go with it.
    ///
    /// # Errors
    /// As clap's.
    pub fn matches(&self, command: &Command, line: &[OsString]) -> Result<ArgMatches, clap::Error> {
        line::matches(command, &self.presets, line)
    }

    /// Adds a table's; `way` leads from the program to its command.
    fn add(&mut self, command: &Command, table: &DeTable<'_>, way: &mut Vec<String>) -> Result<(), Mistake> {
        let mut here: Vec<(&str, Vec<OsString>)> = Vec::new();
        for (key, value) in in_order(table) {
            let name = key.get_ref().as_ref();
            let wrong = |what: String| Mistake { at: key.span().start, what };
            let Some(below) = value.get_ref().as_table() else {
                let option = option(command, name, way).map_err(wrong)?;
                let words = words(command, option, name, value.get_ref()).map_err(wrong)?;
                if let Some(other) = rival(command, &here, &words) {
                    return Err(wrong(format!("--{name} cannot be used with --{other}; keep one of the two")));
                }
                here.push((name, words.clone()));
                self.presets.push(Preset { way: way.clone(), option: option.get_id().clone(), words });
                continue;
            };
            let inner = command.find_subcommand(name).ok_or_else(|| {
                let near = hint(name, command.get_subcommands().map(Command::get_name));
                wrong(format!("{} has no command {name:?}{near}", called(way)))
            })?;
            way.push(inner.get_name().to_owned());
            self.add(inner, below, way)?;
            way.pop();
        }
        Ok(())
    }
}

fn path() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return (!named.is_empty()).then(|| named.into());
    }
    Some(xdg::folder("XDG_CONFIG_HOME", ".config")?.join("config.toml"))
}

/// What comes of a file that cannot be read. One that nobody has named may be another user's, such as root's when
/// somebody else does root's work: that is said, and keeps nobody from anything.
fn unread(path: &Path, error: &io::Error, is_named: bool) -> Result<Defaults, Failure> {
    if error.kind() == io::ErrorKind::PermissionDenied && !is_named {
        notice::warn(format!("cannot read {}: {error}; continuing without its defaults", path.display()));
        return Ok(Defaults::default());
    }
    Err(Failure::usage(refused_file::reading(path, error)))
}

/// True if the user has named the file: then it is meant, whatever is the matter with it.
fn is_named() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// What is wrong, and the byte where it stands.
#[derive(Debug)]
struct Mistake {
    at: usize,
    what: String,
}

/// A table's entries as they stand in the file.
fn in_order<'t, 's>(table: &'t DeTable<'s>) -> Vec<(&'t Spanned<DeString<'s>>, &'t Spanned<DeValue<'s>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn called(way: &[String]) -> String {
    std::iter::once("pericore").chain(way.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

fn option<'c>(command: &'c Command, name: &str, way: &[String]) -> Result<&'c Arg, String> {
    command.get_arguments().find(|argument| argument.get_long() == Some(name)).ok_or_else(|| {
        let near = hint(name, command.get_arguments().filter_map(Arg::get_long));
        format!("{} has no option --{name} (only long options can have a default){near}", called(way))
    })
}

fn takes_value(option: &Arg) -> bool {
    !matches!(option.get_action(), ArgAction::SetTrue | ArgAction::SetFalse)
}

/// What a command line would have for an option with this value.
fn words(command: &Command, option: &Arg, name: &str, value: &DeValue<'_>) -> Result<Vec<OsString>, String> {
    let flag = format!("--{name}");
    if !takes_value(option) {
        let is_set = value.as_bool().ok_or_else(|| format!("{name} takes true or false"))?;
        return Ok(is_set.then(|| flag.into()).into_iter().collect());
    }
    let takes_several = matches!(option.get_action(), ArgAction::Append);
    let several = value.as_array().filter(|_| takes_several);
    let values: Option<Vec<String>> = several.map_or_else(
        || Some(vec![word(value)?]),
        |several| several.iter().map(|value| word(value.get_ref())).collect(),
    );
    let values = values.ok_or_else(|| {
        let more = if takes_several { ", or several in brackets" } else { ", and only one" };
        format!("{name} takes a text or a number{more}")
    })?;
    for value in &values {
        check(command, name, value)?;
    }
    Ok(values.iter().map(|value| format!("{flag}={value}").into()).collect())
}

fn word(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The option among those of a command that these words cannot stand beside.
fn rival<'o>(command: &Command, others: &[(&'o str, Vec<OsString>)], words: &[OsString]) -> Option<&'o str> {
    let conflicts = |other: &[OsString]| {
        let line = [&[OsString::from("pericore")], other, words].concat();
        let refusal = command.clone().try_get_matches_from(line).err();
        refusal.is_some_and(|refusal| refusal.kind() == ErrorKind::ArgumentConflict)
    };
    others.iter().find(|(_, other)| conflicts(other)).map(|(name, _)| *name)
}

/// Asks the option itself whether it takes a word: at its place in the file a mistake is easier to find than at a
/// command line without it.
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

    /// Another user's file, unless it was asked for.
    #[test]
    fn a_file_that_may_not_be_read_is_told_and_keeps_nobody_from_anything() {
        let path = Path::new("/root/.config/pericore/config.toml");
        let error = io::Error::from_raw_os_error;
        assert!(unread(path, &error(libc::EACCES), false).is_ok());
        let meant = unread(path, &error(libc::EACCES), true).unwrap_err().to_string();
        assert!(meant.contains("config.toml: Permission denied") && meant.contains("ask its owner"), "{meant}");
        assert!(unread(path, &error(libc::EISDIR), false).is_err());
    }

    fn parsed(config: &str, line: &[&str]) -> String {
        let line: Vec<OsString> = ["pericore"].iter().chain(line).map(Into::into).collect();
        let defaults = Defaults::of(&Cli::command(), config.as_bytes()).unwrap();
        let matches = defaults.matches(&Cli::command(), &line);
        matches.map_or_else(
            |refusal| refusal.to_string(),
            |matches| format!("{:?}", Cli::from_arg_matches(&matches).unwrap()),
        )
    }

    fn refusal(config: &[u8]) -> (usize, String) {
        let mistake = Defaults::of(&Cli::command(), config).unwrap_err();
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

    /// A line under a file means what the other line means without.
    #[test]
    fn a_default_gives_way() {
        let measured = "[stat]\nper-unit = true\ncount = 5\n[report]\nover-time = true\n[record]\ntruth = true\n";
        let with_machine =
            "[stat]\ntruth = true\nmachine = \"nehalem\"\nper-unit = true\n[machine.run]\nmachine = \"nehalem\"\n";
        for (config, line, same) in [
            // What it cannot be used with comes from the line, whichever of the two says so.
            (measured, &["stat", "--per-socket"][..], &["stat", "--per-socket", "--count=5"][..]),
            (measured, &["stat", "-I", "5"], &["stat", "-I", "5", "-A"]),
            (measured, &["report", "-I"], &["report", "-I"]),
            (measured, &["report"], &["report", "--over-time"]),
            // What it requires is missing, or comes from the line, or from the file behind it.
            (measured, &["record"], &["record"]),
            (measured, &["record", "--machine=nehalem"], &["record", "--machine=nehalem", "--truth"]),
            (with_machine, &["stat"], &["stat", "--truth", "--machine=nehalem", "-A"]),
            (with_machine, &["stat", "--truth"], &["stat", "--truth", "--machine=nehalem", "-A"]),
            // What the user forgets stays forgotten.
            (measured, &["machine", "show"], &["machine", "show"]),
            (with_machine, &["stat", "--no-such"], &["stat", "--no-such"]),
            // What the measured program is called with is not ours.
            (measured, &["stat", "--", "x", "--per-socket"], &["stat", "-A", "--count=5", "--", "x", "--per-socket"]),
            // A flag that is false is no flag.
            ("[stat]\nper-unit = false\nper-socket = true\n", &["stat"], &["stat", "--per-socket"]),
        ] {
            assert_eq!(parsed(config, line), parsed("", same), "{line:?}");
        }
        assert!(parsed(measured, &["machine", "run", "--", "x"]).contains("--machine"), "it is required");
        assert!(parsed(with_machine, &["machine", "run", "--", "x"]).contains("nehalem"));
    }

    #[test]
    fn mistakes_are_found_where_they_stand() {
        for (config, at, words) in [
            (
                "[stat]\nintervl-print = 5\n",
                7,
                "pericore stat has no option --intervl-print (only long options can have a default); did you mean interval-print",
            ),
            ("[stats]\n", 1, "pericore has no command \"stats\"; did you mean stat?"),
            ("[machine.rnu]\n", 9, "pericore machine has no command \"rnu\""),
            ("[stat]\ninterval-print = \"soon\"\n", 7, "--interval-print does not take \"soon\""),
            ("[stat]\nper-socket = 1\n", 7, "true or false"),
            ("[stat]\nmetrics = true\n", 7, "a text or a number"),
            ("[list]\ncolor = \"red\"\n", 7, "known: auto, always, never"),
            ("[stat]\nmachine = [\"a\", \"b\"]\n", 7, "machine takes a text or a number, and only one"),
            ("[stat]\ncount = 5\nrepeat = 2\n", 17, "--repeat cannot be used with --count; keep one"),
            ("[stat]\nrepeat = 2\ncount = 5\n", 18, "--count cannot be used with --repeat; keep one"),
            ("[stat\n", 5, ""),
        ] {
            let (found, what) = refusal(config.as_bytes());
            assert!(found == at && what.contains(words), "{config}: {found}: {what}");
        }
        assert_eq!(refusal(b"[stat]\n# \xff\n"), (9, "this line is not UTF-8 text; save the file as UTF-8".to_owned()));
    }
}
