//! Names that go on with what stands on a command line: events, metrics, machines and units.

use std::collections::BTreeSet;

use pericore_catalog::{Family, kernel};
use pericore_machine::PRESETS;

use crate::target;

/// Intel's names are looked through from this on: there are thousands.
const INTELS: &str = "unc_";

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Events,
    Metrics,
    Machine,
    Unit,
}

impl Kind {
    fn of_option(option: &str) -> Option<Self> {
        match option {
            "-e" | "--event" => Some(Self::Events),
            "-M" | "--metrics" => Some(Self::Metrics),
            "--machine" | "--family" => Some(Self::Machine),
            "--unit" => Some(Self::Unit),
            _ => None,
        }
    }
}

/// Whole words that the last word of `line` may become; none where names are not what goes there.
pub fn of_line(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(char::is_whitespace).filter(|word| !word.is_empty()).collect();
    let (before, last) = match words.split_last() {
        Some((last, before)) if !line.ends_with(char::is_whitespace) => (before, *last),
        _ => (&words[..], ""),
    };
    // What follows `--` is the program that is measured.
    if before.contains(&"--") {
        return Vec::new();
    }
    let option = before.last().and_then(|option| Kind::of_option(option));
    let joined = || {
        let (option, text) = last.split_once('=').or_else(|| last.split_at_checked(2))?;
        let is_short = !option.starts_with("--") && !text.is_empty();
        let is_joined = option.len() < last.len() && (option.starts_with("--") || is_short);
        Some((Kind::of_option(option).filter(|_| is_joined)?, text))
    };
    let Some((kind, text)) = option.map(|kind| (kind, last)).or_else(joined) else { return Vec::new() };
    let families = families(before);
    let (kept, text) = text.split_at(if kind == Kind::Events { start_of_event(text) } else { start_of_item(text) });
    let kept = format!("{}{kept}", &last[..last.len() - kept.len() - text.len()]);
    let names = match kind {
        Kind::Events => events(&families, text),
        Kind::Metrics => metrics(&families, text),
        Kind::Machine => machines(text),
        Kind::Unit => matching(families.iter().flat_map(|family| family.units).map(|unit| unit.name.to_owned()), text),
    };
    // Where some begin as typed and others in another case, the former alone: shells go back to what all have in
    // common.
    let is_as_typed = |name: &&String| name.starts_with(text);
    let has_as_typed = names.iter().any(|name| is_as_typed(&name));
    let names = names.iter().filter(|name| !has_as_typed || is_as_typed(name));
    names.map(|name| format!("{kept}{name}")).collect()
}

/// The family that the line names, or this machine's, or all.
fn families(words: &[&str]) -> Vec<&'static Family> {
    let after = words.iter().position(|word| Kind::of_option(word) == Some(Kind::Machine));
    let next = after.and_then(|at| words.get(at + 1)).copied();
    let joined = || words.iter().find_map(|word| word.strip_prefix("--machine=").or(word.strip_prefix("--family=")));
    match next.or_else(joined) {
        Some(name) => target::family(name).into_iter().collect(),
        None => match target::host().ok().and_then(|host| host.family().ok()) {
            Some(family) => vec![family],
            None => pericore_catalog::families().collect(),
        },
    }
}

/// Where the last event of a list begins: behind a quotation mark, or a comma or brace outside of its slashes.
fn start_of_event(text: &str) -> usize {
    let (mut start, mut is_inside) = (0, false);
    for (at, character) in text.char_indices() {
        match character {
            '/' => is_inside = !is_inside,
            '\'' | '"' => start = at + 1,
            ',' | '{' | '}' if !is_inside => start = at + 1,
            _ => {}
        }
    }
    start
}

fn start_of_item(text: &str) -> usize {
    text.rfind([',', '\'', '"']).map_or(0, |at| at + 1)
}

/// Names that begin so, in any case, each once.
fn matching(names: impl Iterator<Item = String>, begin: &str) -> BTreeSet<String> {
    names.filter(|name| begins(name, begin)).collect()
}

fn begins(name: &str, begin: &str) -> bool {
    name.get(..begin.len()).is_some_and(|own| own.eq_ignore_ascii_case(begin))
}

/// Units first, then events up to their dot, then the rest.
fn events(families: &[&'static Family], text: &str) -> BTreeSet<String> {
    let units = families.iter().flat_map(|family| family.units.iter().copied());
    let Some((unit, event)) = text.split_once('/') else {
        let names = units.map(|unit| format!("{}/", unit.name));
        let mut found = matching(names, text);
        if begins(text, INTELS) {
            let known = families.iter().filter_map(|family| kernel::of(family));
            found.extend(matching(known.flat_map(kernel::intel_events).map(|event| event.name), text));
        }
        return found;
    };
    // An instance's number may stand behind the unit's name.
    let bare = unit.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let is_meant = |name: &str| name.eq_ignore_ascii_case(unit) || name.eq_ignore_ascii_case(bare);
    let known = units.filter(|known| is_meant(known.name)).flat_map(|known| known.events);
    let mut found = BTreeSet::new();
    for known in known {
        match event.split_once('.') {
            None if !begins(known.name, event) => {}
            None if known.subevents.is_empty() => {
                found.insert(format!("{unit}/{}/", known.name));
            }
            None => {
                found.insert(format!("{unit}/{}.", known.name));
            }
            Some((name, subevent)) if known.name.eq_ignore_ascii_case(name) => {
                let subevents = known.subevents.iter().filter(|row| begins(row.name, subevent));
                found.extend(subevents.map(|row| format!("{unit}/{}.{}/", known.name, row.name)));
            }
            Some(_) => {}
        }
    }
    found
}

/// Views and metrics; those of a unit behind its name.
fn metrics(families: &[&'static Family], text: &str) -> BTreeSet<String> {
    let views = families.iter().flat_map(|family| family.views).map(|view| view.name.to_owned());
    let units = || families.iter().flat_map(|family| family.units.iter().copied());
    let metrics = units().flat_map(|unit| unit.metrics.iter().map(move |metric| (unit.name, metric.name)));
    if text.contains('/') {
        return matching(metrics.map(|(unit, metric)| format!("{unit}/{metric}")), text);
    }
    matching(views.chain(metrics.map(|(_, metric)| metric.to_owned())), text)
}

/// Families, Intel's codes for them, and presets of software machines.
fn machines(text: &str) -> BTreeSet<String> {
    let shipped = pericore_catalog::shipped().iter().map(|family| family.name);
    let driven = kernel::families().iter().flat_map(|family| [family.name, family.code]);
    let presets = PRESETS.iter().map(|(preset, _)| *preset);
    matching(shipped.chain(driven).chain(presets).map(str::to_owned), text)
}

#[cfg(test)]
mod tests {
    use super::of_line;

    /// The documents' names: Table 2-10 of the E5-2600's guide and its metrics.
    #[test]
    fn names_go_on_where_they_belong() {
        for (line, words) in [
            ("pericore stat --machine e5-2600 -e cbo/TOR_I", &["cbo/TOR_INSERTS."][..]),
            ("pericore stat --machine e5-2600 -e cbo0/tor_inserts.miss_a", &["cbo0/TOR_INSERTS.MISS_ALL/"]),
            (
                "pericore stat --machine jkt -e {imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR_R",
                &["{imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR_RMM/"],
            ),
            ("pericore stat --machine e5-2600 -e '{ubox/CLOCKTICKS/,cb", &["'{ubox/CLOCKTICKS/,cbo/"]),
            ("pericore stat --machine e5-2600 -ecb", &["-ecbo/"]),
            ("pericore stat --machine e5-2600 --event=cb", &["--event=cbo/"]),
            ("pericore list --machine emerald-r", &["emerald-rapids"]),
            ("pericore list --machine=gn", &["--machine=gnr"]),
            ("pericore stat --machine 85", &["8568", "8592+"]),
            ("pericore stat --machine X55", &["x5570"]),
            ("pericore stat --machine 8592+:sockets=2 -e upi/clockt", &["upi/CLOCKTICKS/"]),
            ("pericore list --machine e5-2600 --unit r3", &["r3qpi"]),
            ("pericore stat --machine emr -M memory,pcie", &["memory,pcie"]),
            ("pericore stat --machine emr -M memory,PCIe", &["memory,PCIE_FULL_WRITES", "memory,pcie"]),
            (
                "pericore stat --machine icx -e unc_cha_tor_inserts.ia_miss_drd_pref_remote_d",
                &["UNC_CHA_TOR_INSERTS.IA_MISS_DRD_PREF_REMOTE_DDR"],
            ),
            // No names here.
            ("pericore stat --machine e5-2600 -e cbo/CLOCKTICKS/ -- ls -e cb", &[]),
            ("pericore sta", &[]),
            ("pericore stat --machine nothing -e cb", &[]),
            ("", &[]),
            ("pericore stat -", &[]),
            ("pericore stat é", &[]),
        ] {
            assert_eq!(of_line(line), words, "{line}");
        }
    }
}
