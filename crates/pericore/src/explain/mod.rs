//! `pericore explain NAME`: what a name means, how to use it, what belongs with it, and a command line that runs.

mod event;
mod sheet;
mod thing;
mod why_not;

use std::io::{self, Write};

use clap::Args;
use pericore_catalog::Family;
use pericore_catalog::search::{Found, Topic, hint, known_names, resolve};
use pericore_machine::MachineSpec;

use crate::event_files::EventFilesArg;
use crate::failure::Failure;
use crate::notice;
use crate::target;
use crate::terminal::ColorArg;
pub use sheet::Sheet;
pub use thing::address;

/// Arguments of `pericore explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Processor family (e5-2600, emerald-rapids, …, or Intel's code: jkt, icx, gnr, …), or a machine of it
    #[arg(long, alias = "family", value_name = "FAMILY")]
    machine: Option<String>,
    /// Print JSON lines
    #[arg(long)]
    json: bool,
    /// Show what prevents these events, in the syntax of `stat -e`, from being counted together
    #[arg(long)]
    why_not: bool,
    #[command(flatten)]
    files: EventFilesArg,
    #[command(flatten)]
    color: ColorArg,
    /// An event, subevent, metric, unit, register, field or named value: EVENT.SUBEVENT, unit/EVENT, unit.register.field, UNC_…
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// A name that means nothing or several things, an event file that cannot be used, or an output that cannot be written.
pub fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let mut families =
        target::families(args.machine.as_deref()).map_err(|refusal| args.files.on_unknown_family(refusal))?;
    if !args.files.is_empty() {
        let [family] = families[..] else {
            return Err(Failure::usage("--events needs the family that the file is for: add --machine"));
        };
        families = vec![args.files.extend(family)?.family];
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.why_not {
        why_not::print(&mut out, &families, &args.names, args.json)?;
        return out.flush().map_err(Failure::from);
    }
    for (index, name) in args.names.iter().enumerate() {
        let found = the_one(&families, name)?;
        if let Some((bare, settings)) = name.split_once(',').filter(|_| !name.starts_with('{')) {
            let settings = settings.trim_end_matches('/');
            notice::warn(format!(
                "{bare} is explained without {settings:?}: pericore encode checks it and has the control"
            ));
        }
        let mut sheet = sheet_of(&found);
        sheet.list("Also in", "also_in", also_in(&families, &found));
        if args.json {
            sheet.write_json(&mut out)?;
            continue;
        }
        if index > 0 {
            writeln!(out)?;
        }
        sheet.write(&mut out, args.color.paint())?;
    }
    out.flush().map_err(Failure::from)
}

/// The thing that a name stands for.
///
/// # Errors
/// None, with the nearest names, or several, with how to tell them apart.
pub fn the_one(families: &[&'static Family], name: &str) -> Result<Found, Failure> {
    let mut found = resolve(families, name);
    if found.is_empty() {
        found = subevents(families, name);
    }
    let Some(first) = found.first() else { return Err(unknown(families, name)) };
    // Events go before registers, registers before fields: a name of both is the former's.
    let mut best: Vec<&Found> = Vec::new();
    for other in found.iter().filter(|other| same_kind(other, first)) {
        // What families have in common stands for itself: the first of them is as good as the others.
        if !best.iter().any(|known| known.is_same_as(other)) {
            best.push(other);
        }
    }
    if best.len() == 1 { Ok(*first) } else { Err(ambiguous(&best, name, families.len() > 1)) }
}

/// The other families that have the very same thing.
fn also_in(families: &[&'static Family], found: &Found) -> Vec<&'static str> {
    let others: Vec<&'static Family> =
        families.iter().copied().filter(|family| family.name != found.family.name).collect();
    resolve(&others, &found.name())
        .iter()
        .filter(|other| other.is_same_as(found))
        .map(|other| other.family.name)
        .collect()
}

/// Subevents by their own name, without the event's: what is meant if nothing else is called so.
fn subevents(families: &[&'static Family], name: &str) -> Vec<Found> {
    let mut found = Vec::new();
    for family in families.iter().copied() {
        for unit in family.units.iter().copied() {
            let events = unit.events.iter().filter_map(|event| Some((event, event.subevent(name)?)));
            let topics = events.map(|(event, subevent)| Topic::Subevent(event, subevent));
            found.extend(topics.map(|topic| Found { family, unit: Some(unit), topic }));
        }
    }
    found
}

fn same_kind(a: &Found, b: &Found) -> bool {
    let kind = |found: &Found| if matches!(found.topic, Topic::Subevent(..)) { "event" } else { found.kind() };
    kind(a) == kind(b)
}

fn unknown(families: &[&'static Family], name: &str) -> Failure {
    let bare = name.rsplit(['/', ',']).find(|part| !part.is_empty()).unwrap_or(name);
    let names = known_names(families, bare);
    let mut near = hint(bare, names.iter().map(String::as_str));
    if near.is_empty() {
        near = "; `pericore list WORD` searches descriptions too".to_owned();
    }
    let place = if let [family] = families { family.name } else { "the catalogue" };
    Failure::usage(format!("{place} has no {name:?}{near}"))
}

fn ambiguous(found: &[&Found], name: &str, with_family: bool) -> Failure {
    const SHOWN: usize = 12;
    let candidate = |found: &&Found| {
        let family = if with_family { format!("  (--machine {})", found.family.name) } else { String::new() };
        format!("\n  {:<9} {}{family}", found.kind(), found.name())
    };
    let shown: String = found.iter().take(SHOWN).map(candidate).collect();
    let more = if found.len() > SHOWN { format!("\n  and {} more", found.len() - SHOWN) } else { String::new() };
    Failure::usage(format!("{name:?} could be any of these; name one in full:{shown}{more}"))
}

/// All that is known of a thing.
pub fn sheet_of(found: &Found) -> Sheet {
    match (found.topic, found.unit) {
        (Topic::Event(event), Some(unit)) => event::event_sheet(found.family, unit, event, None),
        (Topic::Subevent(event, subevent), Some(unit)) => event::event_sheet(found.family, unit, event, Some(subevent)),
        (Topic::Metric(metric), Some(unit)) => thing::metric_sheet(found.family, unit, metric),
        (Topic::Register(register, member), Some(unit)) => thing::register_sheet(found.family, unit, register, member),
        (Topic::Field(home, field), Some(unit)) => thing::field_sheet(found, unit, home, field),
        (Topic::Value(set, value), _) => thing::value_sheet(found.family, set, value),
        (_, Some(unit)) => thing::unit_sheet(found.family, unit),
        // Only named values stand without a unit.
        (_, None) => Sheet::new(&found.name(), found.kind(), found.family.name),
    }
}

/// The command line that counts an event text on the emulated machine.
fn stat_command(family: &'static Family, text: &str) -> String {
    let name = family.name;
    if pericore_catalog::family(name).is_none() {
        // Only a real machine counts it, and knows its family.
        format!("pericore stat -a -e '{text}' sleep 1")
    } else if MachineSpec::of(family).has_model() {
        format!("pericore stat --machine {name} -e '{text}' --workload stream")
    } else {
        format!("pericore stat --machine {name} -e '{text}' --dry-run")
    }
}

/// What we decided about a thing, on its sheet.
fn judgements(sheet: &mut Sheet, family: &Family, unit: &str, subjects: &[&str]) {
    use pericore_catalog::search::related::{choices_about, deviations_about};
    const SHOWN: usize = 6;
    let mut deviations = Vec::new();
    let mut choices: Vec<&pericore_catalog::Choice> = Vec::new();
    for subject in subjects {
        deviations.extend(deviations_about(family, unit, subject));
        for choice in choices_about(family, unit, subject) {
            if !choices.contains(&choice) {
                choices.push(choice);
            }
        }
    }
    let rows = deviations.iter().map(|row| {
        serde_json::json!({"subject": row.subject, "field": row.field, "guide": row.guide, "intel": row.intel, "ours": row.ours,
            "evidence": row.evidence})
    });
    sheet.json("deviations", rows.collect::<Vec<_>>());
    let text = |row: &&pericore_catalog::Deviation| {
        format!(
            "{} of {}: ours {}; guide: {}; Intel: {}. {}",
            row.field, row.subject, row.ours, row.guide, row.intel, row.evidence
        )
    };
    let mut texts: Vec<String> = deviations.iter().take(SHOWN).map(text).collect();
    if deviations.len() > SHOWN {
        texts.push(format!("and {} more; --json has all", deviations.len() - SHOWN));
    }
    sheet.list_note("Deviations", texts);
    let rows =
        choices.iter().map(|row| serde_json::json!({"subject": row.subject, "choice": row.choice, "why": row.why}));
    sheet.json("undefined", rows.collect::<Vec<_>>());
    let texts: Vec<String> = choices.iter().map(|row| format!("{}: {} {}", row.subject, row.choice, row.why)).collect();
    sheet.list_note("Undefined", texts);
}

#[cfg(test)]
mod tests;
