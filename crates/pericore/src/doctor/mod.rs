//! `pericore doctor`: what stands between the user and the counters, and what to do about it.

mod bundle;
mod print;
mod selfcheck;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use pericore_catalog::kernel;
use pericore_doctor::iomem::Iomem;
use pericore_doctor::selfcheck::{AGREES, DIFFERS, UNKNOWN};
use pericore_doctor::{Finding, sessions, system, units};
use pericore_machine::chassis::Shape;
use pericore_observe::discover::Cpu;
use pericore_observe::linux::{Host, Processor};
use pericore_observe::register_process::{Aftermath, RegisterProcess};
use pericore_recordings::RecordFile;
use pericore_registers::RegisterSpace;

use crate::confined::{ThreadPart, confine};
use crate::event_files::EventFilesArg;
use crate::failure::{Failure, NOTHING};
use crate::machine::opened;
use crate::measure::{VIRTUAL, register_process, stand_in};
use crate::refused_file;
use crate::restore;
use crate::target;
use crate::terminal::ColorArg;
use bundle::CoreCount;

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
    /// Write the contents of registers and discovery tables to a file that `--machine` can start from ("-" prints it).
    /// No register is changed, and the file contains no personal data. An existing file becomes FILE.old
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    bundle: Option<PathBuf>,
    /// Also check that counters work as documented: each unused counter counts cycles for a moment and is restored.
    /// With --bundle, FILE contains the result
    #[arg(long)]
    selfcheck: bool,
    /// Also compare the codes of an Intel event file (JSON, github.com/intel/perfmon) with the documents, and count
    /// those that differ
    #[arg(long = "events", value_name = "FILE", requires = "selfcheck")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    color: ColorArg,
}

/// Runs the command. The exit status is 1 if something is missing that `stat` needs.
///
/// # Errors
/// A machine that does not exist, a system that does not tell its CPUs, or an output that cannot be written.
pub fn run(args: &DoctorArgs) -> Result<ExitCode, Failure> {
    let file = args.bundle.as_deref().map(BundleFile::open).transpose()?;
    let (findings, bundle) = match &args.machine {
        Some(machine) => {
            let mut findings = software(machine)?;
            if args.selfcheck {
                findings.extend(selfcheck::software(machine, &EventFilesArg::of(&args.files))?);
            }
            let bundle = args.bundle.as_ref().map(|_| software_bundle(machine, &checked(args, &findings)));
            let bundle = bundle.transpose()?;
            (findings, bundle)
        }
        None => {
            let host = target::host()?;
            if args.selfcheck {
                selfcheck::make_folders();
            }
            // Before anything of others is parsed.
            let aftermath = if args.selfcheck { restore::aftermath(None) } else { Aftermath::none() };
            let process = register_process(&host, aftermath)?;
            let (mut findings, overlaps) = this_machine(&host, &process);
            let files = EventFilesArg::of(&args.files);
            // Files are read as long as this process may.
            let codes = match host.family() {
                Ok(family) if !files.is_empty() => selfcheck::codes(&files, family)?,
                _ => Vec::new(),
            };
            let mut about = pericore_doctor::about(&host, &findings);
            about.extend(overlaps);
            // Counters of the kernel are opened for it: it comes before this thread is confined.
            if args.selfcheck && host.family().is_ok() {
                let of_check = selfcheck::this_machine(&host, &process, &codes)?;
                about.extend(of_check.iter().map(line));
                findings.extend(of_check);
            }
            let folders = file.iter().filter_map(BundleFile::folder).chain(restore::folders_of_journals(None));
            confine(ThreadPart::Measuring, &folders.collect::<Vec<_>>());
            let bundle = file.as_ref().map(|_| host_bundle(&host, &process, &about)).transpose()?;
            if host.family().is_ok() {
                findings.extend(sessions::examine(&restore::other_sessions()));
            }
            (findings, bundle)
        }
    };
    if let (Some(file), Some(bundle)) = (file, bundle) {
        if !args.selfcheck || matches!(file, BundleFile::Output) {
            return file.write(&bundle);
        }
        file.write(&bundle)?;
    }
    let mut text = Vec::new();
    if args.json {
        for finding in &findings {
            print::json(finding, &mut text)?;
        }
    } else {
        let paint = args.color.paint();
        for finding in &findings {
            print::print(finding, &mut text, paint)?;
        }
        writeln!(text, "\n{}", verdict(&findings, args.machine.is_some()))?;
        if args.selfcheck {
            writeln!(text, "{}", of_check(&findings))?;
        }
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
        (false, _) => "pericore stat has everything it needs.",
        (true, true) => "This software machine has faults; see above for their effects.",
        (true, false) => {
            "pericore stat cannot count everything here until the problems are solved.\n\
             On a software machine it can: pericore stat --machine e5-2600"
        }
    }
}

/// The conclusion of the self-check.
fn of_check(findings: &[Finding]) -> String {
    let begin = |words: &str| findings.iter().filter(|finding| finding.message().starts_with(words)).count();
    let (agrees, differs, unknown) = (begin(AGREES), begin(DIFFERS), begin(UNKNOWN));
    if agrees + differs + unknown == 0 {
        return "The self-check could not begin; see above for the reason.".to_owned();
    }
    format!(
        "The self-check found {differs} difference{} from the documents, and could not tell {unknown} thing{}.",
        if differs == 1 { "" } else { "s" },
        if unknown == 1 { "" } else { "s" }
    )
}

/// A finding as a line of a bundle.
fn line(finding: &Finding) -> String {
    format!("selfcheck {} {}", finding.check(), finding.message())
}

/// What the self-check has found, if it was made.
fn checked(args: &DoctorArgs, findings: &[Finding]) -> Vec<String> {
    let is_of_check =
        |finding: &&Finding| [AGREES, DIFFERS, UNKNOWN].iter().any(|words| finding.message().starts_with(words));
    if args.selfcheck { findings.iter().filter(is_of_check).map(line).collect() } else { Vec::new() }
}

/// This machine's processor, access paths and units, and lines for its bundle on what overlaps with its registers.
fn this_machine(host: &Host, process: &RegisterProcess) -> (Vec<Finding>, Vec<String>) {
    let mut findings = vec![processor(&host.processor)];
    let mut overlaps = Vec::new();
    let cpu = host.cpus.first().map_or(0, |cpu| cpu.number);
    match host.family() {
        Ok(family) => {
            findings.push(Finding::good(FAMILY, format!("{} ({})", family.name, family.title)));
            if host.processor.is_virtual && stand_in().is_none() {
                findings.push(Finding::note("virtual", VIRTUAL));
            }
            findings.extend(system::examine(host.root(), cpu, Some(family)));
            if !kernel::counts_alone(family) {
                findings.extend(units::examine(&mut process.connect(None), family, &host.cpus));
                // Where a software machine stands in, /proc/iomem is another machine's.
                if stand_in().is_none() {
                    let iomem = Iomem::read(host.root(), &mut process.connect(None), family, &host.cpus);
                    findings.extend(iomem.findings);
                    overlaps = iomem.lines;
                }
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
    (findings, overlaps)
}

/// The bundle of this machine.
fn host_bundle(host: &Host, process: &RegisterProcess, about: &[String]) -> Result<String, Failure> {
    let family = host.family().map_err(Failure::failed)?;
    if kernel::counts_alone(family) {
        return Err(Failure::failed(format!(
            "no register of {} is known, so a bundle of it would be empty; send what pericore doctor prints",
            family.title
        )));
    }
    let threads = host.threads_per_core();
    let first = host.cpus.first().map(|cpu| cpu.package);
    let cpus = host.cpus.iter().filter(|cpu| Some(cpu.package) == first).count();
    let cores = u16::try_from(cpus).unwrap_or(u16::MAX).div_ceil(threads);
    bundle::capture(&mut process.connect(None), family, &host.cpus, CoreCount { cores, threads }, about)
}

/// The bundle of a software machine, taken as that of any other.
fn software_bundle(machine: &str, checked: &[String]) -> Result<String, Failure> {
    let spec = opened::spec(machine)?;
    let shape = spec.shape().map_err(Failure::usage)?;
    let mut chassis = spec.chassis().map_err(Failure::usage)?;
    let cores = CoreCount { cores: shape.cores, threads: shape.threads };
    let mut about = vec![format!("pericore {}", env!("CARGO_PKG_VERSION")), format!("software machine {machine}")];
    about.extend_from_slice(checked);
    bundle::capture(&mut chassis, spec.family(), &cpus_of(&shape), cores, &about)
}

/// Where a bundle goes.
enum BundleFile {
    Output,
    File(RecordFile),
}

impl BundleFile {
    /// Opens it before anything is looked at.
    fn open(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self::Output);
        }
        let file = RecordFile::open_private(path);
        file.map(Self::File).map_err(|error| Failure::failed(refused_file::writing(path, &error)))
    }

    /// Where it is written.
    fn folder(&self) -> Option<PathBuf> {
        match self {
            Self::Output => None,
            Self::File(file) => file.folder().map(Path::to_owned),
        }
    }

    /// Writes the bundle, and says on the terminal what is in it.
    fn write(self, bundle: &str) -> Result<ExitCode, Failure> {
        let mut out = io::stdout().lock();
        let mut file = match self {
            Self::Output => {
                out.write_all(bundle.as_bytes())?;
                return Ok(ExitCode::SUCCESS);
            }
            Self::File(file) => file,
        };
        let written = file.write_all(bundle.as_bytes()).and_then(|()| file.put_in_place());
        written.map_err(|error| Failure::failed(refused_file::writing(file.path(), &error)))?;
        writeln!(
            out,
            "{} has registers, discovery tables and versions as text; read it before you send it.\n\
             Boot it:  pericore doctor --machine {0}",
            file.path().display()
        )?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The logical CPUs of a software machine.
fn cpus_of(shape: &Shape) -> Vec<Cpu> {
    let package = |number| shape.socket_of_cpu(number).map(|package| Cpu { number, package });
    (0..shape.cpus()).filter_map(package).collect()
}

/// A software machine, through the same eyes.
fn software(machine: &str) -> Result<Vec<Finding>, Failure> {
    let spec = opened::spec(machine)?;
    let shape = spec.shape().map_err(Failure::usage)?;
    let cpus = cpus_of(&shape);
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
    let host = Host::new(root, processor).map_err(Failure::failed)?;
    let process = RegisterProcess::in_thread(host.clone(), Aftermath::none()).map_err(Failure::failed)?;
    Ok(this_machine(&host, &process).0)
}

#[cfg(test)]
mod tests;
