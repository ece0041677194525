//! `pericore list`: the catalogue, for people and for machines.

mod event_line;
mod events;
mod map;
mod metrics;
mod nearest;
mod ranked;
mod registers;
mod terms;
mod topics;

pub use registers::letters;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use pericore_catalog::Family;
use pericore_catalog::search::Query;
use pericore_text::Paint;

use crate::event_files::EventFilesArg;
use crate::failure::{Failure, NOTHING};
use crate::target;
use crate::terminal::ColorArg;

/// Arguments of `pericore list`.
#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// Processor family (e5-2600, emerald-rapids, …, or Intel's code: jkt, icx, gnr, …), or a machine of it
    #[arg(long, alias = "family", value_name = "FAMILY")]
    machine: Option<String>,
    /// Only this unit
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,
    /// List registers and their fields instead of events
    #[arg(long, conflicts_with = "metrics")]
    registers: bool,
    /// List derived metrics instead of events
    #[arg(long)]
    metrics: bool,
    /// Only events that the software machine models
    #[arg(long, conflicts_with_all = ["registers", "metrics"])]
    modelled: bool,
    /// Print JSON lines: events, without --registers or --metrics
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    files: EventFilesArg,
    #[command(flatten)]
    color: ColorArg,
    /// Rows whose name or description contains all these words; a word with a * is a pattern for names, and unit/NAME
    /// is NAME with --unit. With words only, all kinds of rows, best match first; without words or options, a map of
    /// units and topics
    #[arg(value_name = "WORD")]
    words: Vec<String>,
}

/// What is asked for, and how to print it.
pub struct Request<'a> {
    args: &'a ListArgs,
    query: Query,
    paint: Paint,
}

/// Runs the command. The exit status is grep's: 1 if nothing matches.
///
/// # Errors
/// Unknown family or unit, an event file that cannot be used, or an output that cannot be written.
pub fn run(args: &ListArgs) -> Result<ExitCode, Failure> {
    let mut families =
        target::families(args.machine.as_deref()).map_err(|refusal| args.files.on_unknown_family(refusal))?;
    let mut file_metrics = Vec::new();
    if !args.files.is_empty() {
        let [family] = families[..] else {
            return Err(Failure::usage("--events needs the family that the file is for: add --machine"));
        };
        let extended = args.files.extend(family)?;
        families = vec![extended.family];
        file_metrics = extended.metrics;
    }
    if let Some(unit) = &args.unit {
        target::check_unit(&families, unit)?;
    }
    let named = args.with_unit_of_word(&families);
    let args = named.as_ref().unwrap_or(args);
    let request = Request { args, query: Query::new(&args.words), paint: args.color.paint() };
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    if args.is_bare() && request.query.is_empty() {
        map::print(&mut out, &families, request.paint)?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let (all, mut rows) = (families.clone(), 0);
    if args.is_bare() && !request.query.text().contains('*') {
        rows = ranked::print(&mut out, &families, &request.query, request.paint)?;
        families.clear();
    }
    for family in &families {
        rows += if args.registers {
            registers::print(&mut out, family, &request)?
        } else if args.metrics {
            metrics::print(&mut out, family, &request)?
        } else {
            events::print(&mut out, family, &request)?
        };
    }
    if args.metrics && args.unit.is_none() {
        rows += metrics::print_files(&mut out, &families, &file_metrics, &request)?;
    }
    if rows == 0 {
        nearest::print(&mut out, &all, &request)?;
    }
    out.flush()?;
    Ok(if rows == 0 { ExitCode::from(NOTHING) } else { ExitCode::SUCCESS })
}

impl ListArgs {
    /// With `unit/NAME` as the only word: the unit, and the name as the word, as the rows have them.
    fn with_unit_of_word(&self, families: &[&'static Family]) -> Option<Self> {
        let [word] = &self.words[..] else { return None };
        let (unit, name) = word.trim_end_matches('/').split_once('/')?;
        let units = || families.iter().filter_map(|family| family.unit(unit));
        if self.unit.is_some() || units().next().is_none() {
            return None;
        }
        let is_metric = units().flat_map(|unit| unit.metrics).any(|metric| metric.name.eq_ignore_ascii_case(name));
        let metrics = self.metrics || is_metric && !self.registers && !self.modelled;
        Some(Self { unit: Some(unit.to_owned()), words: vec![name.to_owned()], metrics, ..self.clone() })
    }

    /// True if no option says what to list, for people.
    fn is_bare(&self) -> bool {
        let has_option = self.registers || self.metrics || self.modelled || self.json;
        !has_option && self.unit.is_none() && self.files.is_empty()
    }
}

impl Request<'_> {
    fn wants_unit(&self, name: &str) -> bool {
        self.args.unit.as_ref().is_none_or(|unit| unit.eq_ignore_ascii_case(name))
    }

    /// The units of a family that are asked for, with their index and the query in the unit's own names.
    fn units<'f>(
        &self,
        family: &'f Family,
    ) -> impl Iterator<Item = (usize, &'static pericore_catalog::Unit, Query)> + use<'_, 'f> {
        let wanted = family.units.iter().copied().enumerate().filter(|(_, unit)| self.wants_unit(unit.name));
        wanted.map(|(index, unit)| (index, unit, self.query.without_prefix(unit.intel_prefix.unwrap_or(""))))
    }
}

/// One JSON line.
fn line<T: serde::Serialize>(out: &mut impl Write, row: &T) -> io::Result<()> {
    serde_json::to_writer(&mut *out, row)?;
    out.write_all(b"\n")
}

/// Counters of a bit mask, lowest first.
fn counters(mask: u16) -> Vec<u8> {
    (0..16).filter(|counter| mask >> counter & 1 == 1).collect()
}

/// `text` below a row, `indent` to the right.
fn paragraph(out: &mut impl Write, indent: usize, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let room = pericore_text::WIDTH - indent;
    // Padding by a format goes character by character.
    let indent = " ".repeat(indent);
    for text in pericore_text::wrapped(text, room) {
        writeln!(out, "{indent}{text}")?;
    }
    Ok(())
}

/// The line above a unit's rows.
fn heading(out: &mut impl Write, family: &Family, unit: &pericore_catalog::Unit, paint: Paint) -> io::Result<()> {
    let text = format!("{} / {}: {}", family.name, unit.name, unit.title);
    writeln!(out, "\n{}", paint.strong(&text))
}
