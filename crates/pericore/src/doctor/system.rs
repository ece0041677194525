//! The ways to the registers that the system offers, and what bars them.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use pericore_catalog::Family;
use pericore_observe::linux::{REMEDY_MEM, REMEDY_MSR, REMEDY_MSR_MODULE, REMEDY_PCI, Root};
use pericore_registers::AddressSpace;

use super::finding::Finding;

/// The capabilities that access paths ask for, as Linux numbers them (capability.h).
const CAPABILITIES: [(u32, &str); 2] = [(17, "CAP_SYS_RAWIO"), (21, "CAP_SYS_ADMIN")];
/// The EFI variable that tells of secure boot; its value is the fifth byte.
const SECURE_BOOT: &str = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
/// Bytes of configuration space that everybody may read.
const PCI_HEADER: usize = 64;

/// Looks at every way, for MSRs through a CPU that is online. What bars one is a problem if units of the family lie there: without a known uncore none is.
pub fn examine(root: &Root, cpu: u32, family: Option<&Family>) -> Vec<Finding> {
    let placements = || family.into_iter().flat_map(|family| family.units).flat_map(|unit| unit.placements);
    let leads_to = |space: AddressSpace| placements().any(|placement| placement.space == space);
    let barred = |matters: bool| {
        move |check: &str, says: String, remedy: &str| {
            if matters { Finding::bad(check, says, remedy) } else { Finding::note(check, says) }
        }
    };
    let mut findings = vec![
        msr(root, cpu, &barred(leads_to(AddressSpace::Msr))),
        pci(root, &barred(leads_to(AddressSpace::PciConfig))),
        memory(root, &barred(leads_to(AddressSpace::Mmio))),
    ];
    findings.extend(msr_writes(root, &barred(leads_to(AddressSpace::Msr))));
    findings.extend(capabilities(root));
    findings.extend(lockdown(root, &barred(family.is_some())));
    findings.extend(secure_boot(root));
    findings.extend(perf(root));
    findings
}

/// Makes a finding of a barred way: check, what bars it, what to do.
type Barred<'a> = &'a dyn Fn(&str, String, &str) -> Finding;

fn msr(root: &Root, cpu: u32, barred: Barred<'_>) -> Finding {
    let path = format!("dev/cpu/{cpu}/msr");
    match rights(&root.join(&path)) {
        Ok(rights) => Finding::good("msr", format!("/dev/cpu/*/msr: {rights}")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            barred("msr", format!("the system has no /{path}"), REMEDY_MSR_MODULE)
        }
        Err(error) => barred("msr", format!("/{path}: {error}"), REMEDY_MSR),
    }
}

/// The msr driver's own bar to writes, since Linux 5.9.
fn msr_writes(root: &Root, barred: Barred<'_>) -> Option<Finding> {
    let rule = fs::read_to_string(root.join("sys/module/msr/parameters/allow_writes")).ok()?;
    Some(match rule.trim() {
        "off" => barred(
            "writes",
            "the msr driver refuses every write (allow_writes=off): counters behind MSRs cannot be set up".to_owned(),
            "write `on` to /sys/module/msr/parameters/allow_writes, or boot with msr.allow_writes=on",
        ),
        "on" => Finding::good("writes", "the msr driver lets MSRs be written"),
        rule => Finding::note(
            "writes",
            format!(
                "the msr driver lets MSRs be written (allow_writes={rule}), but notes it in the kernel's log, and marks the \
                 kernel as tainted; msr.allow_writes=on keeps it out of the log"
            ),
        ),
    })
}

fn pci(root: &Root, barred: Barred<'_>) -> Finding {
    let functions = fs::read_dir(root.join("sys/bus/pci/devices")).into_iter().flatten().flatten();
    let Some(config) = functions.map(|entry| entry.path().join("config")).min() else {
        let remedy = "mount sysfs; in a container, give it the host's /sys";
        return barred("pci", "the system lists no PCI functions".to_owned(), remedy);
    };
    match (rights(&config), fs::read(&config)) {
        (Ok(rights), Ok(bytes)) if bytes.len() > PCI_HEADER => {
            Finding::good("pci", format!("configuration space: {rights}"))
        }
        (Ok(_), Ok(bytes)) => barred(
            "pci",
            format!("only the first {} bytes of configuration space can be read", bytes.len()),
            REMEDY_PCI,
        ),
        (Err(error), _) | (_, Err(error)) => barred("pci", format!("configuration space: {error}"), REMEDY_PCI),
    }
}

fn memory(root: &Root, barred: Barred<'_>) -> Finding {
    match rights(&root.join("dev/mem")) {
        Ok(rights) => Finding::good("memory", format!("/dev/mem: {rights}")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            barred("memory", "the system has no /dev/mem".to_owned(), REMEDY_MEM)
        }
        Err(error) => barred("memory", format!("/dev/mem: {error}"), REMEDY_MEM),
    }
}

/// What an existing file may be used for. Opening changes nothing.
fn rights(path: &Path) -> io::Result<&'static str> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(_) => Ok("can be read and written"),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            OpenOptions::new().read(true).open(path).map(|_| "can be read, not written: counters cannot be set up")
        }
        Err(error) => Err(error),
    }
}

fn capabilities(root: &Root) -> Option<Finding> {
    let status = fs::read_to_string(root.join("proc/self/status")).ok()?;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    let effective = u64::from_str_radix(effective.trim(), 16).ok()?;
    let (held, missing): (Vec<_>, Vec<_>) = CAPABILITIES.iter().partition(|(bit, _)| effective >> bit & 1 != 0);
    let names = |rows: Vec<&(u32, &'static str)>| rows.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ");
    Some(match (held.is_empty(), missing.is_empty()) {
        (_, true) => Finding::good(
            "rights",
            format!("this process has {}; measuring gives them up once its files are open", names(held)),
        ),
        (true, false) => Finding::note("rights", format!("this process lacks {}", names(missing))),
        (false, false) => {
            Finding::note("rights", format!("this process has {}, and lacks {}", names(held), names(missing)))
        }
    })
}

fn lockdown(root: &Root, barred: Barred<'_>) -> Option<Finding> {
    let modes = fs::read_to_string(root.join("sys/kernel/security/lockdown")).ok()?;
    let mode = modes.split_once('[')?.1.split_once(']')?.0.to_owned();
    Some(if mode == "none" {
        Finding::good("lockdown", "the kernel is not locked down")
    } else {
        barred(
            "lockdown",
            format!(
                "the kernel is locked down ({mode}): nobody may write MSRs or configuration space, or reach /dev/mem"
            ),
            "count through the kernel's own driver, which lockdown does not bar: perf list uncore",
        )
    })
}

fn secure_boot(root: &Root) -> Option<Finding> {
    let variable = fs::read(root.join(SECURE_BOOT)).ok()?;
    let is_on = *variable.get(4)? == 1;
    Some(match is_on {
        true => Finding::note("boot", "secure boot is on; most distributions lock the kernel down then"),
        false => Finding::good("boot", "secure boot is off"),
    })
}

/// The kernel's own way to the same counters: two users of one counter disturb each other.
fn perf(root: &Root) -> Option<Finding> {
    let paranoid = fs::read_to_string(root.join("proc/sys/kernel/perf_event_paranoid")).ok()?;
    let level: i32 = paranoid.trim().parse().ok()?;
    let devices = fs::read_dir(root.join("sys/bus/event_source/devices")).into_iter().flatten().flatten();
    let names = devices.filter_map(|entry| entry.file_name().into_string().ok());
    // Nehalem's one unit has no more to its name.
    let units = names.filter(|name| name == "uncore" || name.starts_with("uncore_")).count();
    let driver = match units {
        0 => "the kernel's perf drives no uncore unit here".to_owned(),
        count => format!(
            "the kernel's perf drives {count} uncore unit{}: pericore sees it when perf counts on one, and leaves it alone unless \
             --take-over is given",
            if count == 1 { "" } else { "s" }
        ),
    };
    let rule = if level > 0 { "for system-wide counts perf asks for CAP_PERFMON" } else { "perf lets everybody count" };
    Some(Finding::note(
        "perf",
        format!("{driver}; perf_event_paranoid is {level} ({rule}; pericore does not depend on it)"),
    ))
}
