//! `explain --why-not A B …`: which constraint keeps events from being counted at the same time, and how many turns they need.

use std::io::{self, Write};

use pericore_catalog::{Family, Unit};
use pericore_observe::plan::{Conflict, Rounds, rounds_of, why_not};
use pericore_observe::selection::{Problem, Selection};
use pericore_text::{WIDTH, wrapped};
use serde_json::json;

use crate::failure::Failure;

/// Prints the answer for events in the event syntax, unit by unit.
///
/// # Errors
/// Events that no family knows, or several do; a group that can never be counted; or an output that cannot be written.
pub fn print(
    out: &mut impl Write,
    families: &[&'static Family],
    events: &[String],
    as_json: bool,
) -> Result<(), Failure> {
    let selection = selection(families, events)?;
    let conflicts = why_not(&selection);
    for unit in selection.family.units.iter().copied().filter(|unit| selection.uses(unit)) {
        let rounds = rounds_of(&selection, unit).map_err(Failure::usage)?;
        let conflict = conflicts.iter().find(|conflict| conflict.unit == unit.name);
        if as_json {
            json_line(out, selection.family, unit, conflict, rounds.as_ref())?;
        } else {
            human(out, unit, conflict, rounds.as_ref())?;
        }
    }
    Ok(())
}

/// Why a text is no event in any of the families, in the words of the one that comes nearest.
fn no_family_has(families: &[&'static Family], event: &str) -> Option<Failure> {
    let refusal = |family: &&'static Family| Selection::new(family).add_events(event).err();
    let refusals: Option<Vec<_>> = families.iter().map(refusal).collect();
    let refusals = refusals?;
    // A text that cannot be read is so in every family.
    let unreadable = refusals.iter().find(|error| matches!(*error.problem, Problem::Syntax { .. }));
    // A family that knows the unit, or the event without the subevent, says more than one that knows neither.
    let nearest = refusals.iter().min_by_key(|error| match &*error.problem {
        Problem::UnknownUnit { .. } => 2,
        Problem::UnknownEvent { .. } => 1,
        _ => 0,
    });
    let error = unreadable.or(nearest)?;
    if let Problem::UnknownUnit { name, .. } = &*error.problem {
        return Some(Failure::usage(format!(
            "no family has a unit {name:?}; `pericore list` shows all\n{}",
            error.caret()
        )));
    }
    let whose = if unreadable.is_some() { "" } else { "no family has this event: " };
    Some(Failure::usage(format!("{whose}{error}\n{}", error.caret())))
}

/// The names of the families that have an event.
fn families_with(families: &[&'static Family], event: &str) -> String {
    let has = |family: &&&'static Family| Selection::new(family).add_events(event).is_ok();
    let names: Vec<&str> = families.iter().filter(has).map(|family| family.name).collect();
    names.join(" and ")
}

/// The events, in the only family that knows them all.
fn selection(families: &[&'static Family], events: &[String]) -> Result<Selection, Failure> {
    let in_family = |family: &&'static Family| {
        let mut selection = Selection::new(family);
        let added = events.iter().try_for_each(|text| selection.add_events(text));
        added.map(|()| selection)
    };
    let tried: Vec<_> = families.iter().map(in_family).collect();
    let known: Vec<&Selection> = tried.iter().filter_map(|selection| selection.as_ref().ok()).collect();
    match (&known[..], &tried[..]) {
        ([only], _) => Ok((*only).clone()),
        ([first, others @ ..], _) if others.iter().all(|other| uses_same_blocks(first, other)) => Ok((*first).clone()),
        ([], [Err(error)]) => Err(Failure::usage(format!("{error}\n{}", error.caret()))),
        ([], _) => {
            if let Some(failure) = events.iter().find_map(|event| no_family_has(families, event)) {
                return Err(failure);
            }
            let homes = events.iter().map(|event| format!("\n  {event}  {}", families_with(families, event)));
            let homes: String = homes.collect();
            Err(Failure::usage(format!(
                "no family has all of these events; name events of one family. Families of each:{homes}"
            )))
        }
        _ => {
            let names: Vec<&str> = known.iter().map(|selection| selection.family.name).collect();
            Err(Failure::usage(format!("{} have all of these events; choose one with --machine", names.join(" and "))))
        }
    }
}

/// True if the units that a selection uses are the same blocks in the other's family.
fn uses_same_blocks(selection: &Selection, other: &Selection) -> bool {
    let mut used = selection.family.units.iter().filter(|unit| selection.uses(unit));
    used.all(|unit| other.family.unit(unit.name).is_some_and(|same| same.block == unit.block))
}

fn human(out: &mut impl Write, unit: &Unit, conflict: Option<&Conflict>, rounds: Option<&Rounds>) -> io::Result<()> {
    let Some(conflict) = conflict else {
        return writeln!(out, "{} counts all of the named events at the same time", unit.name);
    };
    writeln!(out, "{} cannot count all of this at the same time:", unit.name)?;
    for (event, why) in &conflict.left_out {
        paragraph(out, &format!("{event}: {why}"))?;
    }
    if !conflict.fits.is_empty() {
        paragraph(out, &format!("these fit together: {}", conflict.fits.join(", ")))?;
    }
    match rounds {
        Some(rounds) if rounds.rounds.len() == rounds.bound.rounds => paragraph(
            out,
            &format!("outside a group they take turns in {} rounds, the fewest possible", rounds.rounds.len()),
        ),
        Some(rounds) => paragraph(out, &format!("outside a group they take turns in {} rounds", rounds.rounds.len())),
        None => Ok(()),
    }
}

fn paragraph(out: &mut impl Write, text: &str) -> io::Result<()> {
    for (index, line) in wrapped(text, WIDTH - 4).iter().enumerate() {
        writeln!(out, "{}{line}", if index == 0 { "  " } else { "    " })?;
    }
    Ok(())
}

fn json_line(
    out: &mut impl Write,
    family: &Family,
    unit: &Unit,
    conflict: Option<&Conflict>,
    rounds: Option<&Rounds>,
) -> Result<(), Failure> {
    let left_out = conflict.map_or(&[][..], |conflict| &conflict.left_out);
    let left_out: Vec<_> = left_out.iter().map(|(event, why)| json!({"event": event, "why": why})).collect();
    let row = json!({
        "family": family.name, "unit": unit.name, "together": conflict.is_none(),
        "fits": conflict.map_or(&[][..], |conflict| &conflict.fits), "left_out": left_out,
        "rounds": rounds.map_or(1, |rounds| rounds.rounds.len()),
    });
    writeln!(out, "{row}").map_err(Failure::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(events: &[&str], as_json: bool) -> Result<String, String> {
        let families: Vec<&'static Family> = pericore_catalog::families().collect();
        let events: Vec<String> = events.iter().map(|event| (*event).to_owned()).collect();
        let mut out = Vec::new();
        print(&mut out, &families, &events, as_json).map_err(|failure| failure.to_string())?;
        Ok(String::from_utf8(out).unwrap())
    }

    /// Tables 2-13 and 2-14 of the E5-2600 guide: one opcode filter for all counters of a CBo; TOR_OCCUPANCY counts only on counter 0.
    #[test]
    fn the_constraint_is_named() {
        let filters =
            output(&["cbo/TOR_INSERTS.OPCODE,opc=0x182/", "cbo/TOR_INSERTS.OPCODE,opc=0x187/"], false).unwrap();
        for part in ["needs the filter opc=0x187", "sets opc=0x182", "in 2 rounds, the fewest possible"] {
            assert!(filters.contains(part), "{part}: {filters}");
        }
        let counters = ["cbo/TOR_OCCUPANCY.MISS_ALL/", "cbo/TOR_OCCUPANCY.EVICTION/"];
        let counters = output(&counters, false).unwrap();
        assert!(counters.contains("it counts only on counter 0, needed by"), "{counters}");
        let row: serde_json::Value =
            serde_json::from_str(&output(&["ha/CLOCKTICKS/", "ha/REQUESTS.READS/"], true).unwrap()).unwrap();
        assert_eq!((&row["together"], &row["rounds"], &row["unit"]), (&true.into(), &1.into(), &"ha".into()));
    }

    #[test]
    fn every_line_fits_the_terminal_and_errors_say_what_to_do() {
        let events = ["cbo/TOR_INSERTS.NID_OPCODE,opc=0x182,nid=0x1/", "cbo/TOR_INSERTS.NID_OPCODE,opc=0x187,nid=0x2/"];
        let text = output(&events, false).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(output(&["imc/CLOCKTICKS/"], false).unwrap_err().contains("choose one with --machine"));
        assert!(output(&["imc/NEVER/"], false).unwrap_err().contains("no family has this event: imc has no event"));
        assert!(output(&["xyz/NEVER/"], false).unwrap_err().contains("no family has a unit \"xyz\""));
        let apart = output(&["imc/PRE_COUNT.PAGE_MISS/", "iio/IOMMU0.MISSES/"], false).unwrap_err();
        for part in ["no family has all", "imc/PRE_COUNT.PAGE_MISS/  e5-2600", "iio/IOMMU0.MISSES/  emerald-rapids"] {
            assert!(apart.contains(part), "{part}: {apart}");
        }
    }

    /// With --machine there is one family: what it says of the event is the answer, and nothing is said of others.
    #[test]
    fn one_family_alone_names_what_it_lacks() {
        let family = pericore_catalog::family("e5-2600").unwrap();
        let refused = print(&mut Vec::new(), &[family], &["imc/NEVER/".to_owned()], false).unwrap_err().to_string();
        assert!(refused.contains("imc has no event") && refused.contains("imc/NEVER/\n"), "{refused}");
        assert!(!refused.contains("no family"), "{refused}");
    }

    /// Every family refuses such a text for the same reason, which is not that it lacks the event.
    #[test]
    fn a_missing_slash_is_named() {
        let error = output(&["imc/CAS_COUNT.RD", "ha/CLOCKTICKS/"], false).unwrap_err();
        assert!(error.contains("the \"/\" that ends the event") && error.contains("imc/CAS_COUNT.RD\n"), "{error}");
        assert!(!error.contains("no family"), "{error}");
    }
}
