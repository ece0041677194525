//! `pericore decode WHERE VALUE`: a register's value in words.

mod report;
mod whereabouts;

use std::io::{self, Write};

use clap::Args;
use pericore_catalog::decode::{Decoded, Place, register};
use pericore_catalog::encode::parse_number;
use pericore_catalog::{Register, Role};

use crate::failure::Failure;
use crate::target;
use crate::terminal::ColorArg;
pub use whereabouts::{Located, locate, show_place};

/// Arguments of `pericore decode`.
#[derive(Debug, Args)]
pub struct DecodeArgs {
    /// Processor family (nehalem, e5-2600, emerald-rapids, sapphire-rapids), or a machine of it
    #[arg(long, alias = "family", value_name = "FAMILY")]
    machine: Option<String>,
    /// Value of the filter register that the counter obeys, or REGISTER=VALUE if the unit has several
    #[arg(long, value_name = "VALUE")]
    filter: Vec<String>,
    /// Print JSON lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    color: ColorArg,
    /// UNIT.REGISTER, the guide's name, or an address: 0xd10, pci:10.0+0xd8, mmio:mem0+0x22840
    #[arg(value_name = "WHERE")]
    place: String,
    /// The register's value
    #[arg(value_name = "VALUE")]
    value: String,
}

/// Runs the command.
///
/// # Errors
/// A place that is no register or several, a value that does not fit, or an output that cannot be written.
pub fn run(args: &DecodeArgs) -> Result<(), Failure> {
    let families = target::families(args.machine.as_deref())?;
    let located = locate(&families, &args.place)?;
    let place = located.place;
    let value = number(&args.value)?;
    let shift = u32::from(place.byte) * 8;
    // An access may begin in the middle of a register, as when a counter is read in two halves.
    let in_place = value.checked_shl(shift).filter(|shifted| shifted >> shift == value);
    let in_place = in_place.ok_or_else(|| {
        Failure::usage(format!("{value:#x} does not fit from byte {} of the register on", place.byte))
    })?;
    let decoded =
        register(located.family, place.unit, place.register, place.member, in_place).map_err(Failure::usage)?;
    let filters = filters(&decoded, &args.filter)?;
    let content =
        |register: &Register| filters.iter().find(|(known, _)| known.name == register.name).map(|(_, value)| *value);
    let report = report::Report::new(&decoded, &located, content);
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        report.write_json(&mut out)?
    } else {
        report.write(&mut out, args.color.paint())?
    }
    out.flush().map_err(Failure::from)
}

fn number(text: &str) -> Result<u64, Failure> {
    parse_number(text)
        .ok_or_else(|| Failure::usage(format!("{text:?} is not a number; write 0x1f, 31 or 0b11111, at most 64 bits")))
}

/// The filter registers' contents that the user gives.
fn filters(decoded: &Decoded, given: &[String]) -> Result<Vec<(&'static Register, u64)>, Failure> {
    let all: Vec<&'static Register> = decoded.unit.with_role(Role::Filter).collect();
    let names = || all.iter().map(|register| register.name).collect::<Vec<_>>().join(" ");
    let mut filters = Vec::new();
    for text in given {
        let (register, value) = match (text.split_once('='), &all[..]) {
            (_, []) => {
                return Err(Failure::usage(format!(
                    "{} has no filter register; leave --filter out",
                    decoded.unit.name
                )));
            }
            (Some((name, value)), all) => {
                let found = all.iter().find(|register| register.name.eq_ignore_ascii_case(name)).copied();
                let unknown = || {
                    Failure::usage(format!("{} has no filter register {name:?}; it has {}", decoded.unit.name, names()))
                };
                (found.ok_or_else(unknown)?, value)
            }
            (None, [only]) => (*only, text.as_str()),
            (None, _) => {
                return Err(Failure::usage(format!(
                    "which filter register is {text}? write REGISTER={text}, with one of {}",
                    names()
                )));
            }
        };
        let value = number(value)?;
        // Says so if the value is too wide.
        pericore_catalog::decode::register(decoded.family, decoded.unit, register, 0, value).map_err(Failure::usage)?;
        filters.push((register, value));
    }
    Ok(filters)
}

/// The name of a place: `cbo3.ctl0`.
pub fn place_name(place: &Place) -> String {
    let instance = place.instance.map_or_else(String::new, |instance| instance.to_string());
    format!("{}{instance}.{}", place.unit.name, place.register.member_name(place.member))
}

#[cfg(test)]
mod tests;
