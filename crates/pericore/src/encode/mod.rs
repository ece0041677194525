//! `pericore encode`: register values from fields or events, the inverse of `decode`.

use std::io::{self, Write};

use clap::Args;
use pericore_catalog::decode::{NameError, Place, names_of, parse_name};
use pericore_catalog::encode::register;
use pericore_catalog::{Family, Field, Register, Role, Unit};
use pericore_observe::selection::{
    EventSource, FilterSetting, Problem, Programming, SelectedEvent, Selection, SelectionError,
};
use pericore_text::Paint;
use serde_json::json;

use crate::decode::{place_name, show_place};
use crate::event_files::EventFilesArg;
use crate::failure::Failure;
use crate::target;
use crate::terminal::{ColorArg, counter_list};

/// Arguments of `pericore encode`.
#[derive(Debug, Args)]
pub struct EncodeArgs {
    /// Processor family (nehalem, e5-2600, emerald-rapids, sapphire-rapids), or a machine of it
    #[arg(long, alias = "family", value_name = "FAMILY")]
    machine: Option<String>,
    /// Print JSON lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    files: EventFilesArg,
    #[command(flatten)]
    color: ColorArg,
    /// UNIT.REGISTER, or events: unit/EVENT.SUBEVENT,key=value/
    #[arg(value_name = "WHAT")]
    what: String,
    /// Fields of the register; those left out are as after a reset
    #[arg(value_name = "FIELD=VALUE")]
    settings: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// Unknown names, values that do not fit, or an output that cannot be written.
pub fn run(args: &EncodeArgs) -> Result<(), Failure> {
    let mut families = target::families(args.machine.as_deref())?;
    if !args.files.is_empty() {
        let [family] = families[..] else {
            return Err(Failure::usage("--events needs the family that the file is for: add --machine"));
        };
        families = vec![args.files.extend(family)?.family];
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let printer = Printer { json: args.json, paint: args.color.paint() };
    if is_event_list(&args.what) {
        if let Some(setting) = args.settings.first() {
            return Err(Failure::usage(format!("write {setting:?} between the slashes: unit/EVENT,{setting}/")));
        }
        let selection = select(&families, &args.what)?;
        for event in &selection.events {
            printer.event(&mut out, selection.family, event)?;
        }
    } else {
        let (family, place) = register_named(&families, &args.what)?;
        let settings: Vec<(&str, &str)> = args.settings.iter().map(|text| setting(text)).collect::<Result<_, _>>()?;
        let value = register(place.register, overlaid(place.unit, place.register, &settings), settings.iter().copied());
        printer.register(&mut out, family, &place, value.map_err(Failure::usage)?)?;
    }
    out.flush().map_err(Failure::from)
}

/// Events end with a slash, or begin as Intel's names do; a name with none at its end is a register's, also if one is
/// within it.
fn is_event_list(text: &str) -> bool {
    text.ends_with('/')
        || text.get(..4).is_some_and(|front| front.eq_ignore_ascii_case("UNC_"))
        || (text.contains('/') && text.contains([',', '{', '=']))
}

/// The events in the only family that knows them.
fn select(families: &[&'static Family], text: &str) -> Result<Selection, Failure> {
    let mut known = Vec::new();
    let mut errors = Vec::new();
    for family in families.iter().copied() {
        let mut selection = Selection::new(family);
        match selection.add_events(text) {
            Ok(()) => known.push(selection),
            Err(error) => errors.push(error),
        }
    }
    // A family that knows the unit knows better what is wrong, and the further it came the better.
    let is_stranger = |error: &SelectionError| matches!(*error.problem, Problem::UnknownUnit { .. });
    let best = errors.into_iter().min_by_key(|error| (is_stranger(error), usize::MAX - error.spot.offset));
    match (known.len(), best) {
        (1, _) => known.pop().ok_or_else(|| Failure::usage("no family is known")),
        (0, Some(error)) => Err(Failure::usage(format!("{error}\n{}", error.caret()))),
        (0, None) => Err(Failure::usage("no family is known")),
        _ => {
            let names: Vec<&str> = known.iter().map(|selection| selection.family.name).collect();
            Err(Failure::usage(format!("{} have {text}; choose one with --machine", names.join(" and "))))
        }
    }
}

/// The register in the only family that has it. Members of an array are alike: the first stands for all.
fn register_named(families: &[&'static Family], text: &str) -> Result<(&'static Family, Place), Failure> {
    let text = &target::register_name(text);
    let mut known = Vec::new();
    let mut errors = Vec::new();
    for family in families.iter().copied() {
        let place = match parse_name(family, text) {
            Err(NameError::WhichMember { .. }) => parse_name(family, &format!("{text}0")),
            other => other,
        };
        match place {
            Ok(place) => known.push((family, place)),
            Err(error) => errors.push(error),
        }
    }
    // A family that knows the unit knows better what is wrong.
    let best =
        errors.into_iter().min_by_key(|error| matches!(error, NameError::NoUnit { .. } | NameError::NoForm { .. }));
    match (&known[..], best) {
        ([only], _) => Ok(*only),
        ([], Some(error)) => Err(Failure::usage(format!("{error}; events are written unit/EVENT/"))),
        ([], None) => Err(Failure::usage("no family is known")),
        (several, _) => {
            let names: Vec<&str> = several.iter().map(|(family, _)| family.name).collect();
            Err(Failure::usage(format!("{} have a register {text}; choose one with --machine", names.join(" and "))))
        }
    }
}

fn setting(text: &str) -> Result<(&str, &str), Failure> {
    text.split_once('=')
        .ok_or_else(|| Failure::usage(format!("{text:?} is not a setting; write FIELD=VALUE, such as en=1")))
}

/// The fields that events lay over a control register, of the set that has one of the keys.
fn overlaid(unit: &'static Unit, register: &Register, settings: &[(&str, &str)]) -> &'static [Field] {
    let is_control = register.role == Role::Control;
    let has_key = |fields: &[Field]| {
        settings.iter().any(|(key, _)| fields.iter().any(|field| field.name.eq_ignore_ascii_case(key)))
    };
    let set = unit.field_sets.iter().find(|set| is_control && has_key(set.fields));
    set.map_or(&[], |set| set.fields)
}

struct Printer {
    json: bool,
    paint: Paint,
}

impl Printer {
    fn register(&self, out: &mut impl Write, family: &Family, place: &Place, value: u64) -> io::Result<()> {
        let name = place_name(place);
        if self.json {
            let line = json!({
                "family": family.name, "unit": place.unit.name, "instance": place.instance,
                "register": place.register.member_name(place.member), "address": show_place(place),
                "width": place.register.width, "value": format!("{value:#x}"),
            });
            serde_json::to_writer(&mut *out, &line)?;
            return out.write_all(b"\n");
        }
        writeln!(out, "{}  {value:#x}  {}", self.paint.strong(&name), self.paint.faint(&show_place(place)))
    }

    fn event(&self, out: &mut impl Write, family: &Family, event: &SelectedEvent) -> io::Result<()> {
        let EventSource::Programmed(programming) = &event.source else {
            if self.json {
                let line =
                    json!({"family": family.name, "unit": event.unit.name, "event": event.label, "control": null});
                serde_json::to_writer(&mut *out, &line)?;
                return out.write_all(b"\n");
            }
            writeln!(out, "{}", self.paint.strong(&event.label))?;
            return writeln!(out, "  a fixed or free-running counter: nothing selects it");
        };
        let enabled = programming.control | enable_bit(event.unit);
        let registers = filter_values(programming);
        if self.json {
            let filters: serde_json::Map<String, serde_json::Value> = registers
                .iter()
                .map(|(register, value, _)| (register.name.to_owned(), format!("{value:#x}").into()))
                .collect();
            let line = json!({
                "family": family.name, "unit": event.unit.name, "event": event.label,
                "control": format!("{:#x}", programming.control), "enabled": format!("{enabled:#x}"),
                "counters": (0..16).filter(|counter| programming.counters >> counter & 1 == 1).collect::<Vec<u8>>(),
                "filters": filters,
            });
            serde_json::to_writer(&mut *out, &line)?;
            return out.write_all(b"\n");
        }
        writeln!(out, "{}", self.paint.strong(&event.label))?;
        let with_enable =
            if enabled == programming.control { String::new() } else { format!("  ({enabled:#x} with en)") };
        let counters = counter_list(programming.counters);
        writeln!(out, "  {:<14} {:#x}{with_enable}  counters {counters}", "control", programming.control)?;
        for (register, value, settings) in registers {
            let parts: Vec<String> = settings.iter().map(|setting| setting_text(setting)).collect();
            writeln!(out, "  {:<14} {value:#x}  {}", register.name, self.paint.faint(&parts.join(", ")))?;
        }
        Ok(())
    }
}

fn enable_bit(unit: &Unit) -> u64 {
    unit.register(Role::Control).and_then(|register| register.field("en")).map_or(0, |field| field.bits.mask())
}

/// The filter registers that an event needs, with their values and the settings that make them up.
fn filter_values(programming: &Programming) -> Vec<(&'static Register, u64, Vec<&FilterSetting>)> {
    let mut values: Vec<(&'static Register, u64, Vec<&FilterSetting>)> = Vec::new();
    for setting in &programming.filters {
        let at = values.iter().position(|(register, ..)| register.id == setting.register.id);
        let at = at.unwrap_or_else(|| {
            values.push((setting.register, setting.register.reset, Vec::new()));
            values.len() - 1
        });
        values[at].1 = setting.field.bits.set(values[at].1, setting.value);
        values[at].2.push(setting);
    }
    values
}

fn setting_text(setting: &FilterSetting) -> String {
    let names: Vec<&str> = names_of(setting.field.values, setting.value).iter().map(|value| value.name).collect();
    let named = if names.is_empty() { String::new() } else { format!(" ({})", names.join("+")) };
    format!("{}={:#x}{named}", setting.field.name, setting.value)
}
