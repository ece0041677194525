//! A command line with the defaults that have a place on it.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, Error};

use super::Preset;

/// What a command line says with those defaults that it leaves room for. They stand on it as if the user had written them first, so that every rule
/// among options holds for them as well.
///
/// # Errors
/// As clap's.
pub fn matches(command: &Command, presets: &[Preset], line: &[OsString]) -> Result<ArgMatches, Error> {
    let parsed = |line: Vec<OsString>| command.clone().try_get_matches_from(line);
    let plain = parsed(line.to_vec());
    if plain.as_ref().is_err_and(|refusal| refusal.kind() != ErrorKind::MissingRequiredArgument) {
        return plain;
    }
    let mut others: Vec<&Preset> = presets.iter().filter(|preset| is_of(preset, line)).collect();
    if others.is_empty() {
        return plain;
    }
    // What the line lacks does not matter yet.
    let given = command.clone().ignore_errors(true).try_get_matches_from(line)?;
    others.retain(|preset| !is_given(preset, &given));
    others.retain(|preset| {
        let refusal = parsed(with(line, &[preset])).err();
        refusal.is_none_or(|refusal| refusal.kind() != ErrorKind::ArgumentConflict)
    });
    let mut taken: Vec<&Preset> = Vec::new();
    let mut outcome = plain;
    // One may have what another requires: round and round until none is left, or none that can be taken.
    loop {
        let before = others.len();
        others.retain(|preset| {
            let next = parsed(with(line, &[&taken[..], &[*preset]].concat()));
            let may = lacking(&next).is_subset(&lacking(&outcome));
            if may {
                taken.push(preset);
                outcome = next;
            }
            !may
        });
        if others.len() == before {
            return outcome;
        }
    }
}

/// True if the line is one of the preset's command, or of one below it.
fn is_of(preset: &Preset, line: &[OsString]) -> bool {
    line.get(1..).is_some_and(|words| {
        words.len() >= preset.way.len() && preset.way.iter().zip(words).all(|(name, word)| word == name.as_str())
    })
}

/// True if the user says it on the line.
fn is_given(preset: &Preset, given: &ArgMatches) -> bool {
    let below = preset.way.iter().try_fold(given, |given, name| given.subcommand_matches(name));
    below.is_some_and(|given| given.value_source(preset.option.as_str()) == Some(ValueSource::CommandLine))
}

/// The line with presets behind the names of their commands, before anything that the user says there.
fn with(line: &[OsString], presets: &[&Preset]) -> Vec<OsString> {
    let mut whole = Vec::new();
    for (at, word) in line.iter().enumerate() {
        whole.push(word.clone());
        let here = presets.iter().filter(|preset| preset.way.len() == at);
        whole.extend(here.flat_map(|preset| preset.words.iter().cloned()));
    }
    whole
}

/// What has to be there, and is not.
fn lacking(outcome: &Result<ArgMatches, Error>) -> BTreeSet<String> {
    match outcome.as_ref().err().and_then(|refusal| refusal.get(ContextKind::InvalidArg)) {
        Some(ContextValue::Strings(names)) => names.iter().cloned().collect(),
        _ => BTreeSet::new(),
    }
}
