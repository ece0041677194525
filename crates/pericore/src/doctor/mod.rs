//! `pericore doctor`: what stands between the user and the counters, and what to do about it.

mod finding;
mod sessions;
mod system;
mod units;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use pericore_catalog::kernel;
use pericore_observe::discover::Cpu;
use pericore_observe::linux::{Host, Processor};
use pericore_registers::RegisterSpace;

use crate::failure::{Failure, NOTHING};
use crate::machine::opened;
use crate::measure::{VIRTUAL, stand_in};
use crate::restore;
use crate::target;
use crate::terminal::ColorArg;
use finding::Finding;

/// The check that tells whether there is anything to count.
const FAMILY: &str = "family";

/// Arguments of `pericore doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Examine a software machine instead of this one: family, preset or snapshot file, `NAME[:sockets=N,cores=N,…]`
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    /// Print JSON lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    color: ColorArg,
}

/// Runs the command. The exit status is 1 if something is missing that `stat` needs.
///
/// # Errors
/// A machine that does not exist, a system that does not tell its CPUs, or an output that cannot be written.
pub fn run(args: &DoctorArgs) -> Result<ExitCode, Failure> {
    let findings = match &args.machine {
        Some(machine) => software(machine)?,
        None => {
            let host = target::host()?;
            let mut findings = this_machine(&host);
            if host.family().is_ok() {
                findings.extend(sessions::examine(&restore::neighbourhood()));
            }
            findings
        }
    };
    let mut text = Vec::new();
    if args.json {
        for finding in &findings {
            finding.json(&mut text)?;
        }
    } else {
        let paint = args.color.paint();
        for finding in &findings {
            finding.print(&mut text, paint)?;
        }
        writeln!(text, "\n{}", verdict(&findings, args.machine.is_some()))?;
    }
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    out.flush()?;
    Ok(if findings.iter().any(Finding::is_problem) { ExitCode::from(NOTHING) } else { ExitCode::SUCCESS })
}

/// The conclusion.
fn verdict(findings: &[Finding], is_software: bool) -> &'static str {
    match (findings.iter().any(Finding::is_problem), is_software) {
        (true, false) if findings.iter().any(|finding| finding.is_problem() && finding.is_about(FAMILY)) => {
            "pericore stat cannot count on this machine.\n\
             On a software machine it can: pericore stat --machine e5-2600"
        }
        (false, _) => "Everything that pericore stat needs is there.",
        (true, true) => "This software machine has faults; what they cost is said above.",
        (true, false) => {
            "pericore stat cannot count everything here until the problems are solved.\n\
             On a software machine it can: pericore stat --machine e5-2600"
        }
    }
}

/// This machine's processor, access paths and units.
fn this_machine(host: &Host) -> Vec<Finding> {
    let mut findings = vec![processor(&host.processor)];
    let cpu = host.cpus.first().map_or(0, |cpu| cpu.number);
    match host.family() {
        Ok(family) => {
            findings.push(Finding::good(FAMILY, format!("{} ({})", family.name, family.title)));
            if host.processor.is_virtual && stand_in().is_none() {
                findings.push(Finding::note("virtual", VIRTUAL));
            }
            findings.extend(system::examine(host.root(), cpu, Some(family)));
            if !kernel::counts_alone(family) {
                findings.extend(units::examine(&mut host.space(), family, &host.cpus));
            }
        }
        Err(_) => {
            let is_intel = host.processor.vendor == "GenuineIntel";
            let remedy = match (is_intel, host.processor.is_virtual) {
                (true, true) => {
                    "virtual machines do not show the uncore: run on the host, or name a software machine with --machine"
                }
                _ => "observe on a Xeon of a family that pericore knows, or name a software machine with --machine",
            };
            let known: Vec<&str> = pericore_catalog::shipped().iter().map(|family| family.name).collect();
            let says = format!("this processor has no uncore that pericore knows; known: {}", known.join(", "));
            findings.push(Finding::bad(FAMILY, says, remedy));
            findings.extend(system::examine(host.root(), cpu, None));
        }
    }
    findings
}

/// A software machine, through the same eyes.
fn software(machine: &str) -> Result<Vec<Finding>, Failure> {
    let spec = opened::spec(machine)?;
    let shape = spec.shape().map_err(Failure::usage)?;
    let package = |number| shape.socket_of_cpu(number).map(|package| Cpu { number, package });
    let cpus: Vec<Cpu> = (0..shape.cpus()).filter_map(package).collect();
    let mut chassis = spec.chassis().map_err(Failure::usage)?;
    let answers = Processor::read(|leaf| chassis.cpuid(0, leaf, 0));
    Ok(emulated(&mut chassis, &answers, &cpus))
}

fn emulated(space: &mut impl RegisterSpace, answers: &Processor, cpus: &[Cpu]) -> Vec<Finding> {
    let mut findings = vec![processor(answers)];
    match answers.known_as() {
        Some(family) => {
            findings.push(Finding::good(FAMILY, format!("{} ({}), emulated", family.name, family.title)));
            findings.extend(units::examine(space, family, cpus));
        }
        None => findings.push(Finding::bad(
            FAMILY,
            "the software machine's processor is in no family of the catalogue",
            "report this fault",
        )),
    }
    findings
}

fn processor(processor: &Processor) -> Finding {
    let Processor { vendor, brand, family, model, stepping, is_virtual } = processor;
    let place = if *is_virtual { ", in a virtual machine" } else { "" };
    let named = if brand.is_empty() { String::new() } else { format!("{brand}: ") };
    Finding::good("processor", format!("{named}{vendor}, family {family}, model {model}, stepping {stepping}{place}"))
}

/// The examination of a folder that stands for `/`, for tests.
#[cfg(test)]
fn examine_root(root: pericore_observe::linux::Root, processor: Processor) -> Result<Vec<Finding>, Failure> {
    Host::new(root, processor).map(|host| this_machine(&host)).map_err(Failure::failed)
}

#[cfg(test)]
mod tests;
