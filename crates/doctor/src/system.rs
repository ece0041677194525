//! The ways to the registers that the system offers, and what bars them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use pericore_catalog::{Family, kernel as drivers};
use pericore_observe::kernel::{kinds_of_pmus, uncore_pmus};
use pericore_observe::linux::{REMEDY_MEM, REMEDY_MSR, REMEDY_MSR_MODULE, REMEDY_PCI, Root};
use pericore_registers::AddressSpace;

use crate::finding::Finding;

/// The capabilities that access paths ask for, as Linux numbers them (capability.h).
const CAPABILITIES: [(u32, &str); 2] = [(17, "CAP_SYS_RAWIO"), (21, "CAP_SYS_ADMIN")];
/// Those with which the kernel lets a process count for the whole system.
const ADMIN: (u32, &str) = (21, "CAP_SYS_ADMIN");
const PERFMON: (u32, &str) = (38, "CAP_PERFMON");
/// From this level of perf_event_paranoid on, which Debian and Ubuntu have added, the latter is not enough.
const OF_DISTRIBUTIONS: i32 = 3;
/// The EFI variable that tells of secure boot; its value is the fifth byte.
const SECURE_BOOT: &str = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
/// What to do where nothing but the driver counts, and it does not.
const NO_DRIVER: &str = "do what this line says: on this family only the kernel's driver counts";
/// Bytes of configuration space that everybody may read.
const PCI_HEADER: u64 = 64;

/// Looks at every way, for MSRs through a CPU that is online. What bars one is a problem if units of the family lie
/// there: without a known uncore none is.
pub fn examine(root: &Root, cpu: u32, family: Option<&Family>) -> Vec<Finding> {
    let with_registers = family.filter(|family| !drivers::counts_alone(family));
    let placements = || with_registers.into_iter().flat_map(|family| family.units).flat_map(|unit| unit.placements);
    let leads_to = |space: AddressSpace| placements().any(|placement| placement.space == space);
    let kernel = kernel(root);
    // What bars the way to registers keeps nobody from counting through the kernel.
    let is_counted = kernel.as_ref().is_some_and(|(_, counts)| *counts);
    let barred = |matters: bool| {
        move |check: &str, message: String, remedy: &str| {
            if matters && !is_counted { Finding::bad(check, message, remedy) } else { Finding::note(check, message) }
        }
    };
    let mut findings = vec![
        msr(root, cpu, &barred(leads_to(AddressSpace::Msr))),
        pci(root, &barred(leads_to(AddressSpace::PciConfig))),
        memory(root, &barred(leads_to(AddressSpace::Mmio))),
    ];
    findings.extend(msr_writes(root, &barred(leads_to(AddressSpace::Msr))));
    findings.extend(capabilities(root));
    findings.extend(lockdown(root, &barred(with_registers.is_some())));
    findings.extend(secure_boot(root));
    findings.extend(match kernel {
        // Nothing else counts on such a family.
        Some((finding, false)) if family.is_some() && with_registers.is_none() => Some(finding.into_problem(NO_DRIVER)),
        kernel => kernel.map(|(finding, _)| finding),
    });
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
        "on" => Finding::good("writes", "the msr driver allows writes"),
        rule => Finding::note(
            "writes",
            format!(
                "the msr driver allows writes (allow_writes={rule}), but notes it in the kernel's log, and \
                 marks the kernel as tainted; msr.allow_writes=on keeps it out of the log"
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
    // The first four bytes behind the header: nothing else of a function that we know nothing of is read.
    let behind = |config: &Path| File::open(config)?.read_at(&mut [0; 4], PCI_HEADER);
    match (rights(&config), behind(&config)) {
        (Ok(rights), Ok(4)) => Finding::good("pci", format!("configuration space: {rights}")),
        (Ok(_), Ok(_)) => {
            barred("pci", format!("only the first {PCI_HEADER} bytes of configuration space can be read"), REMEDY_PCI)
        }
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
            OpenOptions::new().read(true).open(path).map(|_| "readable but not writable: counters cannot be programmed")
        }
        Err(error) => Err(error),
    }
}

/// The capabilities that this process has, a bit each.
fn effective(root: &Root) -> Option<u64> {
    let status = fs::read_to_string(root.join("proc/self/status")).ok()?;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(effective.trim(), 16).ok()
}

fn capabilities(root: &Root) -> Option<Finding> {
    let effective = effective(root)?;
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
            format!("the kernel is locked down ({mode}): no writes to MSRs and configuration space, and no /dev/mem"),
            "load the kernel's own driver, which lockdown does not bar, and count with --through kernel: \
             modprobe intel-uncore",
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

/// The kernel's own way to the same counters, and whether this process may count in it.
fn kernel(root: &Root) -> Option<(Finding, bool)> {
    let paranoid = fs::read_to_string(root.join("proc/sys/kernel/perf_event_paranoid")).ok()?;
    let level: i32 = paranoid.trim().parse().ok()?;
    let names = uncore_pmus(root).unwrap_or_default();
    let kinds = kinds_of_pmus(&names);
    if kinds.is_empty() {
        let missing =
            "the kernel's driver has no uncore unit here (--through kernel needs it): modprobe intel-uncore loads it";
        return Some((Finding::note("kernel", missing), false));
    }
    let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let driver = format!("the kernel's driver has {}", kinds.join(", "));
    let holds = |bit: u32| effective(root).is_some_and(|held| held >> bit & 1 != 0);
    let needed = if level >= OF_DISTRIBUTIONS { ADMIN } else { PERFMON };
    Some(if level <= 0 || holds(needed.0) || holds(ADMIN.0) {
        (Finding::good("kernel", format!("{driver}: pericore counts through it where it can (--through)")), true)
    } else {
        let rule = format!(
            "{driver}, and lets no process without {} count (perf_event_paranoid is {level}): give pericore that \
             capability, or write 0 to /proc/sys/kernel/perf_event_paranoid",
            needed.1
        );
        (Finding::note("kernel", rule), false)
    })
}
