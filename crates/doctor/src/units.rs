//! Which units answer, and whether the discovery tables are sound.

use std::fmt::Write;

use pericore_catalog::{Family, Unit};
use pericore_observe::discover::{Cpu, Presence, Socket, TableReport, Topology, discover};
use pericore_registers::RegisterSpace;

use crate::finding::Finding;

/// What errors end with that leave the reason to this examination.
const SEE_DOCTOR: &str = "; `pericore doctor`";

/// Record faults that are spelt out.
const SPELT_OUT: usize = 3;

/// Looks for every unit of a family.
pub fn examine(space: &mut impl RegisterSpace, family: &'static Family, cpus: &[Cpu]) -> Vec<Finding> {
    match discover(space, family, cpus, |_| true) {
        Ok(topology) => {
            let mut findings = vec![sockets(&topology)];
            findings.extend(topology.sockets.iter().flat_map(tables));
            findings.extend(family.units.iter().map(|unit| instances(&topology, unit)));
            findings
        }
        // What bars one unit need not bar the others.
        Err(whole) => {
            let mut findings = vec![Finding::refused("sockets", &whole)];
            let mut barred = Vec::new();
            for unit in family.units {
                match discover(space, family, cpus, |other| other.name == unit.name) {
                    Ok(topology) => findings.push(instances(&topology, unit)),
                    Err(error) if error == whole => barred.push(unit.name),
                    Err(error) => findings.push(Finding::refused(unit.name, &error)),
                }
            }
            if !barred.is_empty() {
                findings
                    .insert(1, Finding::note("sockets", format!("until then nothing counts in {}", barred.join(", "))));
            }
            findings
        }
    }
}

fn sockets(topology: &Topology) -> Finding {
    let place = |socket: &Socket| match socket.bus {
        Some(bus) => format!("{} (cpu {}, uncore bus {bus:02x})", socket.number, socket.cpu),
        None if !socket.stacks.is_empty() => {
            let bus = |bus: &Option<u8>| bus.map_or_else(|| "-".to_owned(), |bus| format!("{bus:02x}"));
            let stacks: Vec<String> = socket.stacks.iter().map(bus).collect();
            format!("{} (cpu {}, stacks on buses {})", socket.number, socket.cpu, stacks.join(" "))
        }
        None => format!("{} (cpu {})", socket.number, socket.cpu),
    };
    Finding::good("sockets", topology.sockets.iter().map(place).collect::<Vec<_>>().join(", "))
}

fn tables(socket: &Socket) -> Vec<Finding> {
    let Some(table) = socket.table() else { return Vec::new() };
    let number = socket.number;
    let mut findings: Vec<Finding> = table
        .errors
        .iter()
        .map(|error| {
            let remedy = "units with documented addresses can still be counted; the CXL blocks need a firmware update";
            Finding::bad("table", format!("socket {number}: {error}"), remedy)
        })
        .collect();
    if !table.bases.is_empty() {
        findings.push(health(number, table));
    }
    findings.extend(slices(socket));
    findings
}

fn health(number: u16, table: &TableReport) -> Finding {
    let mut message = format!("socket {number}: the discovery table lists {} blocks", table.blocks.len());
    if table.is_sound() {
        return Finding::good("table", message);
    }
    if table.blank > 0 {
        let _ = write!(message, "; {} of {} announced records are blank", table.blank, table.announced);
    }
    if !table.faults.is_empty() {
        let _ = write!(message, "; {} records are implausible and ignored", table.faults.len());
    }
    for fault in table.faults.iter().take(SPELT_OUT) {
        let _ = write!(message, "; {fault}");
    }
    // Gaps are allowed (1.9.1).
    if table.faults.is_empty() && !table.blocks.is_empty() {
        return Finding::note("table", message);
    }
    Finding::bad(
        "table",
        message,
        "update the firmware; until then these blocks are searched at their documented addresses",
    )
}

fn slices(socket: &Socket) -> Option<Finding> {
    let slices = socket.slices()?;
    let (other, theirs) = slices.contradicted.as_ref()?;
    let message = format!(
        "socket {}: {} reports {} LLC slices, {other} reports {theirs}; the first is used",
        socket.number, slices.register, slices.slices
    );
    Some(Finding::note("slices", message))
}

fn instances(topology: &Topology, unit: &'static Unit) -> Finding {
    let sockets = &topology.sockets;
    let present: usize = sockets.iter().map(|socket| socket.present(unit).len()).sum();
    let all: usize = sockets.iter().map(|socket| socket.presence(unit).len()).sum();
    if all == 0 {
        return Finding::note(unit.name, "has no counters at a known address");
    }
    let mut reasons = sockets.iter().flat_map(|socket| {
        socket.presence(unit).iter().enumerate().filter_map(|(number, presence)| match presence {
            Presence::Present => None,
            Presence::Absent { why } => Some(format!("{}{number} of socket {}: {why}", unit.name, socket.number)),
        })
    });
    let message = format!("{present} of {all} {}", if present == 1 { "answers" } else { "answer" });
    match (reasons.next(), present) {
        (None, _) => Finding::good(unit.name, message),
        // Other commands refer to doctor here: what is wrong with the table stands above.
        (Some(first), 0) if first.contains(SEE_DOCTOR) => Finding::bad(
            unit.name,
            format!("none of {all} responds; {}", first.split(SEE_DOCTOR).next().unwrap_or_default()),
            "update the firmware, so that the table (above) lists them",
        ),
        (Some(first), 0) => Finding::bad(
            unit.name,
            format!("none of {all} responds; {first}"),
            "the part may lack the unit; else look in the firmware's set-up for an option that hides performance \
             monitors",
        ),
        // Fused-off slices, empty memory controllers and unused links are no fault.
        (Some(first), _) => {
            let first = first.split(SEE_DOCTOR).next().unwrap_or_default();
            let more = match reasons.count() {
                0 => String::new(),
                others => format!("; and {others} more"),
            };
            Finding::note(unit.name, format!("{message}; {first}{more}"))
        }
    }
}
