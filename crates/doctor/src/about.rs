//! What a report of a machine has of the system beside its registers: nothing that names people, hosts, disks or
//! networks.

use std::fs;

use pericore_observe::kernel::uncore_pmus;
use pericore_observe::linux::{Host, Root};

use crate::finding::Finding;

/// Words of the kernel's command line that bear on counters; all others stay at home.
const OF_COMMAND_LINE: [&str; 9] =
    ["msr.", "lockdown", "intel_iommu", "iommu", "isolcpus", "nohz_full", "nmi_watchdog", "iomem", "intel_uncore"];

/// Versions, the processor, what the system bars, the kernel's PMUs, and what doctor has found.
pub fn about(host: &Host, findings: &[Finding]) -> Vec<String> {
    let root = host.root();
    let mut lines = vec![
        format!("pericore {}", env!("CARGO_PKG_VERSION")),
        format!("processor {}", host.processor.brand),
        format!("{} CPUs online", host.cpus.len()),
    ];
    let file = |path: &str| fs::read_to_string(root.join(path)).ok();
    lines.extend(file("proc/sys/kernel/osrelease").map(|release| format!("kernel {}", release.trim())));
    lines.extend(file("sys/kernel/security/lockdown").map(|modes| format!("lockdown {}", modes.trim())));
    if let Some(line) = file("proc/cmdline") {
        let matters = |word: &&str| OF_COMMAND_LINE.iter().any(|start| word.starts_with(start));
        lines.extend(line.split_whitespace().filter(matters).map(|word| format!("command line {word}")));
    }
    lines.extend(pmus(root));
    lines.extend(findings.iter().map(|finding| format!("doctor {}", finding.words().trim())));
    lines
}

/// The kernel's uncore PMUs with their formats.
fn pmus(root: &Root) -> Vec<String> {
    let names = uncore_pmus(root).unwrap_or_default();
    let formats = |name: &String| {
        let folder = root.join(format!("sys/bus/event_source/devices/{name}/format"));
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut formats: Vec<String> = files
            .filter_map(|file| {
                let bits = fs::read_to_string(file.path()).ok()?;
                Some(format!("{}={}", file.file_name().to_string_lossy(), bits.trim()))
            })
            .collect();
        formats.sort_unstable();
        format!("pmu {name} {}", formats.join(" "))
    };
    names.iter().map(formats).collect()
}
