//! What else the system has at the addresses of registers in memory, by /proc/iomem.

use std::fs;
use std::ops::RangeInclusive;

use pericore_catalog::{Family, Unit};
use pericore_observe::discover::{Cpu, Socket, Topology, discover};
use pericore_observe::linux::Root;
use pericore_registers::{Address, AddressSpace, RegisterSpace};

use crate::finding::Finding;

/// What is mapped and claimed as a whole.
const PAGE: u64 = 4096;
/// Memory that programs lie in. No register can be there.
const MEMORY: &str = "System RAM";
/// Starts of names that keep nobody from reading: windows of bridges, and what firmware has set aside.
const OPEN: [&str; 3] = ["PCI Bus ", "PCI MMCONFIG", "Reserved"];
/// Places that are spelt out.
const SPELT_OUT: usize = 3;

/// Pages with registers of one instance.
#[derive(Debug, PartialEq, Eq)]
struct Window {
    pages: RangeInclusive<u64>,
    /// `imc0 of socket 0`.
    of: String,
}

/// A line of /proc/iomem. Those within it have a greater depth.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Resource {
    depth: usize,
    bytes: RangeInclusive<u64>,
    name: String,
}

/// A window, and the innermost resources that share bytes with it.
#[derive(Debug)]
struct Overlap {
    window: Window,
    resources: Vec<Resource>,
}

/// What the system has at the addresses of a family's registers in memory.
#[derive(Debug, Default)]
pub struct Iomem {
    /// What came of it: nothing for a family without such registers, or where none was found.
    pub findings: Vec<Finding>,
    /// Each overlap, for the report of a machine: names of resources, and nothing of what does not overlap.
    pub lines: Vec<String>,
}

impl Iomem {
    /// Finds the registers, and looks for them in /proc/iomem. Registers are only read.
    pub fn read(root: &Root, space: &mut impl RegisterSpace, family: &'static Family, cpus: &[Cpu]) -> Self {
        let in_memory = |unit: &Unit| unit.placements.iter().any(|placement| placement.space == AddressSpace::Mmio);
        if !family.units.iter().any(|unit| in_memory(unit)) {
            return Self::default();
        }
        // What bars the units is `units`' to say.
        let Ok(topology) = discover(space, family, cpus, in_memory) else { return Self::default() };
        let windows = windows(&topology);
        if windows.is_empty() {
            return Self::default();
        }
        let Ok(text) = fs::read_to_string(root.join("proc/iomem")) else { return Self::default() };
        let resources = parse(&text);
        if resources.iter().all(|resource| *resource.bytes.end() == 0) {
            let hidden = "/proc/iomem shows its addresses to root alone: what overlaps the registers was not looked at";
            return Self { findings: vec![Finding::note("iomem", hidden)], lines: Vec::new() };
        }
        let overlaps: Vec<Overlap> = windows.into_iter().map(|window| Overlap::of(window, &resources)).collect();
        Self { findings: vec![finding(&overlaps)], lines: overlaps.iter().flat_map(Overlap::lines).collect() }
    }
}

/// The pages with registers, instance by instance.
fn windows(topology: &Topology) -> Vec<Window> {
    let of_socket = |socket: &Socket| {
        let units = topology.family.units.iter();
        let of_unit = |unit: &&'static Unit| {
            let of_instance = |instance: u16| {
                let pages = pages(socket, unit, instance);
                let of = format!("{}{instance} of socket {}", unit.name, socket.number);
                pages.into_iter().map(move |pages| Window { pages, of: of.clone() })
            };
            socket.present(unit).into_iter().flat_map(of_instance).collect::<Vec<_>>()
        };
        units.flat_map(of_unit).collect::<Vec<_>>()
    };
    topology.sockets.iter().flat_map(of_socket).collect()
}

/// Runs of pages that have registers of an instance.
fn pages(socket: &Socket, unit: &'static Unit, instance: u16) -> Vec<RangeInclusive<u64>> {
    let places = unit.registers.iter().flat_map(|register| {
        (0..register.count).filter_map(move |member| socket.locate(unit, instance, register, member).ok())
    });
    let mut pages: Vec<u64> = places
        .filter_map(|place| match place.address {
            Address::Mmio { physical } => Some(physical / PAGE),
            _ => None,
        })
        .collect();
    pages.sort_unstable();
    pages.dedup();
    let runs = pages.chunk_by(|one, next| one + 1 == *next);
    runs.filter_map(|run| Some(run.first()? * PAGE..=run.last()? * PAGE + (PAGE - 1))).collect()
}

/// The lines of /proc/iomem: two blanks a level, first and last byte, name.
fn parse(text: &str) -> Vec<Resource> {
    let resource = |line: &str| {
        let (bytes, name) = line.split_once(" : ")?;
        let (first, last) = bytes.trim_start().split_once('-')?;
        let number = |digits| u64::from_str_radix(digits, 16).ok();
        let depth = (line.len() - line.trim_start().len()) / 2;
        Some(Resource { depth, bytes: number(first)?..=number(last)?, name: name.to_owned() })
    };
    text.lines().filter_map(resource).collect()
}

impl Overlap {
    fn of(window: Window, resources: &[Resource]) -> Self {
        let overlaps = |resource: &Resource| {
            resource.bytes.start() <= window.pages.end() && window.pages.start() <= resource.bytes.end()
        };
        let mut innermost: Vec<Resource> = Vec::new();
        for resource in resources.iter().filter(|resource| overlaps(resource)) {
            // What lies within the one before stands in its place.
            if innermost.last().is_some_and(|outer| outer.depth < resource.depth) {
                innermost.pop();
            }
            innermost.push(resource.clone());
        }
        Self { window, resources: innermost }
    }

    fn lines(&self) -> Vec<String> {
        let Window { pages, of } = &self.window;
        let line = |resource: &Resource| {
            let Resource { bytes, name, .. } = resource;
            format!("iomem {:x}-{:x} {of}: {:x}-{:x} {name}", pages.start(), pages.end(), bytes.start(), bytes.end())
        };
        self.resources.iter().map(line).collect()
    }

    /// True if nothing keeps programs from reading there.
    fn is_open(&self) -> bool {
        self.resources.iter().all(|resource| {
            OPEN.iter().any(|start| resource.name.starts_with(start)) || is_pci_function(&resource.name)
        })
    }
}

/// `0000:7e:00.1`: a BAR that no driver has claimed.
fn is_pci_function(name: &str) -> bool {
    let mut parts = name.split([':', '.']);
    let is_hex = |part: Option<&str>, digits: usize| {
        part.is_some_and(|part| part.len() == digits && part.chars().all(|digit| digit.is_ascii_hexdigit()))
    };
    [4, 2, 2, 1].into_iter().all(|digits| is_hex(parts.next(), digits)) && parts.next().is_none()
}

fn finding(overlaps: &[Overlap]) -> Finding {
    let named = |is_meant: &dyn Fn(&Overlap) -> bool| {
        let mut named = overlaps.iter().filter(|overlap| is_meant(overlap));
        let spelt: Vec<String> = named.by_ref().take(SPELT_OUT).flat_map(Overlap::lines).collect();
        let more = named.count();
        let spelt = spelt.iter().map(|line| line.trim_start_matches("iomem ")).collect::<Vec<_>>().join("; ");
        if more > 0 { format!("{spelt}; and {more} more") } else { spelt }
    };
    let in_memory = |overlap: &Overlap| overlap.resources.iter().any(|resource| resource.name.starts_with(MEMORY));
    let is_held = |overlap: &Overlap| !overlap.is_open();
    if overlaps.iter().any(in_memory) {
        Finding::bad(
            "iomem",
            format!("registers would lie in memory of programs, by /proc/iomem: {}", named(&in_memory)),
            "update the firmware, which reports a wrong base address; counts of these units cannot be trusted",
        )
    } else if overlaps.iter().any(is_held) {
        let held = format!(
            "others have addresses of registers, by /proc/iomem: {}. Where the kernel refuses to map them, boot with \
             iomem=relaxed",
            named(&is_held)
        );
        Finding::note("iomem", held)
    } else {
        Finding::good(
            "iomem",
            format!("nobody else has the addresses of the registers in memory ({} windows)", overlaps.len()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form of Documentation/filesystems/proc.rst: inner lines lie within those before them.
    const TEXT: &str = "00001000-0009ffff : System RAM\n\
        e0000000-e07fffff : PCI Bus 0000:7e\n  e0000000-e001ffff : 0000:7e:00.1\n  e0022000-e0022fff : mc_edac\n\
        fed00000-fed003ff : Reserved\n  fed00000-fed003ff : HPET 0\n";

    fn overlap(first: u64, last: u64) -> Overlap {
        Overlap::of(Window { pages: first..=last, of: "imc0 of socket 0".to_owned() }, &parse(TEXT))
    }

    #[test]
    fn the_innermost_resources_are_named() {
        let names = |first, last| {
            let names = overlap(first, last).resources;
            names.into_iter().map(|resource| resource.name).collect::<Vec<_>>()
        };
        assert_eq!(names(0xe002_2000, 0xe002_2fff), ["mc_edac"]);
        assert_eq!(names(0xe001_f000, 0xe002_2fff), ["0000:7e:00.1", "mc_edac"]);
        assert_eq!(names(0xe003_0000, 0xe003_0fff), ["PCI Bus 0000:7e"]);
        assert_eq!(names(0xf000_0000, 0xf000_0fff), [""; 0]);
        let line = "iomem e0022000-e0022fff imc0 of socket 0: e0022000-e0022fff mc_edac";
        assert_eq!(overlap(0xe002_2000, 0xe002_2fff).lines(), [line]);
    }

    #[test]
    fn memory_is_a_problem_a_driver_is_worth_knowing_and_a_bridge_is_no_one_else() {
        let state = |first, last| finding(&[overlap(first, last)]).state().name();
        assert_eq!(state(0x9_f000, 0x9_ffff), "problem");
        assert_eq!(state(0xe002_2000, 0xe002_2fff), "note");
        assert_eq!(state(0xe001_f000, 0xe001_ffff), "ok");
        assert_eq!(state(0xe003_0000, 0xe003_0fff), "ok");
        assert_eq!(state(0xf000_0000, 0xf000_0fff), "ok");
    }
}
