//! From a selection to counters of the kernel's PMUs.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use pericore_catalog::{Family, Unit, kernel};

use super::driver::DriverNames;
use super::error::{KernelError, PmuError};
use super::pmu::{Pmu, pmus};
use super::terms::{KernelEvent, express};
use crate::discover::{Cpu, Presence, Socket, Topology};
use crate::linux::{Host, Root};
use crate::plan::Plan;
use crate::selection::{EventSource, SelectedEvent, Selection};

/// The PMUs of this machine's uncore drivers, and of its cores.
#[derive(Debug, Clone)]
pub struct KernelPmus {
    root: Root,
    cpus: Vec<Cpu>,
    /// Of uncore drivers.
    names: Vec<String>,
    /// Of others.
    others: Vec<String>,
}

/// A plan, and what the kernel is asked for to carry it out.
#[derive(Debug, Clone)]
pub struct KernelPlan {
    /// What is counted where. It has no register access.
    pub plan: Plan,
    /// A counter of the kernel for each of the plan's.
    pub counters: Vec<KernelCounter>,
}

/// A counter that the kernel is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelCounter {
    /// Index in [`Plan::sockets`].
    pub socket: usize,
    /// Index in the socket's instances.
    pub instance: usize,
    /// Index in the instance's counters.
    pub counter: usize,
    /// The PMU's name.
    pub pmu: String,
    /// Its number.
    pub kind: u32,
    /// The CPU that counts.
    pub cpu: u32,
    /// What it counts.
    pub event: KernelEvent,
}

/// A PMU that counts for an instance.
struct Placed {
    socket: u16,
    instance: u16,
    cpu: u32,
    pmu: usize,
}

/// A PMU of a unit.
pub(super) struct UnitPmu {
    pub(super) name: String,
    /// Its number.
    pub(super) instance: u16,
    /// The sockets of the CPUs that count, in the order of its mask: of each die.
    pub(super) sockets: Vec<u16>,
}

/// The PMUs of one kind that a selection needs.
#[derive(Default)]
struct Kind {
    stem: String,
    pmus: Vec<Pmu>,
    placed: Vec<Placed>,
}

impl KernelPmus {
    /// Looks at the names of the PMUs.
    ///
    /// # Errors
    /// [`KernelError::NoDriver`] if there are none.
    pub fn of(host: &Host) -> Result<Self, KernelError> {
        let (names, others) = pmus(host.root())?;
        if names.is_empty() && others.is_empty() {
            return Err(KernelError::NoDriver);
        }
        Ok(Self { root: host.root().clone(), cpus: host.cpus.clone(), names, others })
    }

    /// The kinds of PMUs, each with how many there are.
    pub fn kinds(&self) -> BTreeMap<&str, usize> {
        kinds_of_pmus(&self.names)
    }

    /// Where the system's files are.
    pub(super) const fn root(&self) -> &Root {
        &self.root
    }

    /// The PMUs of a unit, with the socket of each CPU that counts.
    pub(super) fn instances_of(&self, family: &Family, unit: &Unit) -> Vec<UnitPmu> {
        let of_stem = |stem: &str| -> Vec<UnitPmu> {
            let numbered = self.names.iter().filter_map(|name| Some((number_of(stem, name)?, name)));
            let pmu = |(instance, name): (u16, &String)| {
                let pmu = Pmu::read(&self.root, name).ok()?;
                let package =
                    |cpu: &u32| self.cpus.iter().find(|known| known.number == *cpu).map(|known| known.package);
                Some(UnitPmu { name: pmu.name, instance, sockets: pmu.cpus.iter().filter_map(package).collect() })
            };
            numbered.filter_map(pmu).collect()
        };
        names_of(family, unit).map(of_stem).find(|pmus| !pmus.is_empty()).unwrap_or_default()
    }

    /// What the kernel is asked for to count a selection.
    ///
    /// # Errors
    /// [`KernelError`] if it has no PMU for a unit, or a PMU has no terms for an event.
    pub fn prepare(&self, selection: Selection) -> Result<KernelPlan, KernelError> {
        let family = selection.family;
        let mut kinds: BTreeMap<String, Kind> = BTreeMap::new();
        let mut present: BTreeMap<(u16, &'static str), BTreeSet<u16>> = BTreeMap::new();
        for event in &selection.events {
            let stem = stem_of(event)?;
            if !kinds.contains_key(&stem) {
                let kind = self.kind(family, event, &stem)?;
                for place in &kind.placed {
                    present.entry((place.socket, event.unit.name)).or_default().insert(place.instance);
                }
                kinds.insert(stem.clone(), kind);
            }
            let kind = &kinds[&stem];
            if let Some(number) = event.instance
                && !kind.placed.iter().any(|place| place.instance == number)
            {
                let known = self.names.iter().filter(|name| without_number(name) == kind.stem);
                return Err(KernelError::NoInstance {
                    label: event.label.clone(),
                    pmu: format!("{}_", kind.stem),
                    instance: number,
                    known: known.cloned().collect::<Vec<_>>().join(" "),
                });
            }
        }
        let plan = Plan::of_counters(&self.topology(family, &present), selection)?;
        let counters = counters(&plan, &kinds)?;
        Ok(KernelPlan { plan, counters })
    }

    /// The PMUs of an event's kind, and the instances that each counts for.
    fn kind(&self, family: &'static Family, event: &SelectedEvent, stem: &str) -> Result<Kind, KernelError> {
        let names = DriverNames::shipped();
        let suffix = if is_free_running(event) { names.free_running.as_str() } else { "" };
        let stems = names_of(family, event.unit).map(|name| format!("{name}{suffix}"));
        let stems: Vec<String> = if suffix.is_empty() { stems.collect() } else { vec![stem.to_owned()] };
        let found = stems.iter().find_map(|stem| {
            let names = self.names.iter().chain(self.others.iter().filter(|name| *name == stem));
            let numbered: Vec<(u16, &String)> = names.filter_map(|name| Some((number_of(stem, name)?, name))).collect();
            (!numbered.is_empty()).then_some((stem, numbered))
        });
        let Some((found, mut numbered)) = found else {
            if self.names.is_empty() {
                return Err(KernelError::NoDriver);
            }
            let known = self.kinds().into_keys().collect::<Vec<_>>().join(" ");
            return Err(KernelError::NoPmu { unit: event.unit.name, pmu: stem.to_owned(), known });
        };
        numbered.sort_unstable();
        let mut kind = Kind { stem: found.clone(), ..Kind::default() };
        let share = share(event);
        let count = numbered.last().map_or(0, |(number, _)| number + 1);
        for (number, name) in numbered {
            let pmu = match kind.pmus.first() {
                Some(first) => first.also(&self.root, name)?,
                None => names.corrected(family.name, stem, Pmu::read(&self.root, name)?),
            };
            if pmu.cpus.is_empty() {
                // Each CPU has counters of its own, and is an instance with its number.
                for Cpu { number: cpu, package } in self.cpus.iter().copied() {
                    let instance = u16::try_from(cpu).unwrap_or(u16::MAX);
                    kind.placed.push(Placed { socket: package, instance, cpu, pmu: kind.pmus.len() });
                }
            }
            let mut dies: BTreeMap<u16, u16> = BTreeMap::new();
            for &cpu in &pmu.cpus {
                let package = self.cpus.iter().find(|known| known.number == cpu).map(|known| known.package);
                let socket = package.ok_or_else(|| KernelError::NoCpu { pmu: name.clone(), cpu })?;
                // A second CPU of a package stands for its second die, whose instances follow those of the first.
                let die = dies.entry(socket).and_modify(|die| *die += 1).or_default();
                let instance = die.saturating_mul(count).saturating_add(number).saturating_mul(share);
                kind.placed.push(Placed { socket, instance, cpu, pmu: kind.pmus.len() });
            }
            kind.pmus.push(pmu);
        }
        Ok(kind)
    }

    fn topology(&self, family: &'static Family, present: &BTreeMap<(u16, &'static str), BTreeSet<u16>>) -> Topology {
        let mut sockets: BTreeMap<u16, Socket> = BTreeMap::new();
        for cpu in &self.cpus {
            sockets.entry(cpu.package).or_insert_with(|| Socket::new(cpu.package, cpu.number, None));
        }
        for ((socket, unit), numbers) in present {
            let (Some(socket), Some(unit)) = (sockets.get_mut(socket), family.unit(unit)) else { continue };
            let last = numbers.last().copied().unwrap_or(0);
            let absent = || Presence::Absent { why: "the kernel has no PMU for it".to_owned() };
            let presence = |number| if numbers.contains(&number) { Presence::Present } else { absent() };
            socket.set_presence(unit, (0..=last).map(presence).collect());
        }
        Topology { family, sockets: sockets.into_values().collect() }
    }
}

/// A counter of the kernel for each of the plan's.
fn counters(plan: &Plan, kinds: &BTreeMap<String, Kind>) -> Result<Vec<KernelCounter>, KernelError> {
    let mut counters = Vec::new();
    // PMUs of a kind are alike: each event is put into terms once.
    let mut known: BTreeMap<usize, KernelEvent> = BTreeMap::new();
    for (socket, part) in plan.sockets.iter().enumerate() {
        for (instance, planned) in part.instances.iter().enumerate() {
            for (counter, used) in planned.counters.iter().enumerate() {
                let Some(&first) = used.events.first() else { continue };
                let event = &plan.selection.events[first];
                let stem = stem_of(event)?;
                let kind = &kinds[&stem];
                let is_here = |place: &&Placed| (place.socket, place.instance) == (part.socket, planned.number);
                let place = kind.placed.iter().find(is_here).ok_or_else(|| KernelError::NoInstance {
                    label: event.label.clone(),
                    pmu: format!("{}_", kind.stem),
                    instance: planned.number,
                    known: kind.pmus.iter().map(|pmu| pmu.name.as_str()).collect::<Vec<_>>().join(" "),
                })?;
                let pmu = &kind.pmus[place.pmu];
                let event = match known.entry(first) {
                    Entry::Occupied(expressed) => expressed.get().clone(),
                    Entry::Vacant(place) => place.insert(express(plan.selection.family, &stem, pmu, event)?).clone(),
                };
                let (kind, pmu) = (pmu.kind, pmu.name.clone());
                counters.push(KernelCounter { socket, instance, counter, pmu, kind, cpu: place.cpu, event });
            }
        }
    }
    Ok(counters)
}

fn is_free_running(event: &SelectedEvent) -> bool {
    matches!(event.source, EventSource::FreeRunning { .. })
}

/// How many instances one PMU of the event's kind stands for: neighbours may share free-running counters.
fn share(event: &SelectedEvent) -> u16 {
    match &event.source {
        EventSource::FreeRunning { register, .. } => {
            event.unit.instances.checked_div(event.unit.places(register)).unwrap_or(1).max(1)
        }
        _ => 1,
    }
}

/// The PMU's name without a number, as the catalogue has it.
fn stem_of(event: &SelectedEvent) -> Result<String, KernelError> {
    let unit: &Unit = event.unit;
    let stem = unit.perf_pmu.ok_or(KernelError::NoSuchKind { unit: unit.name })?;
    let suffix = if is_free_running(event) { DriverNames::shipped().free_running.as_str() } else { "" };
    Ok(format!("{stem}{suffix}"))
}

/// All names that drivers have for a unit's PMU, the catalogue's first.
fn names_of(family: &Family, unit: &Unit) -> impl Iterator<Item = &'static str> {
    let known = kernel::unit(family, unit.name).map_or(&[][..], |known| known.pmus);
    let others = known.iter().copied().filter(move |name| Some(*name) != unit.perf_pmu);
    unit.perf_pmu.into_iter().chain(others)
}

/// The number of a PMU of a kind: where there is one of a kind, it has none in its name.
fn number_of(stem: &str, name: &str) -> Option<u16> {
    match name.strip_prefix(stem)? {
        "" => Some(0),
        rest => rest.strip_prefix('_')?.parse().ok(),
    }
}

/// The kinds of PMUs by their names, each with how many there are.
pub fn kinds_of_pmus(names: &[String]) -> BTreeMap<&str, usize> {
    let mut kinds = BTreeMap::new();
    for name in names {
        *kinds.entry(without_number(name)).or_default() += 1;
    }
    kinds
}

fn without_number(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((stem, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => stem,
        _ => name,
    }
}

impl From<PmuError> for KernelError {
    fn from(error: PmuError) -> Self {
        Self::Pmu(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// arch/x86/events/intel/uncore.c: a PMU is `uncore_` and its kind, with a number where there are several.
    #[test]
    fn pmus_are_known_by_kind_and_number() {
        for (stem, name, number) in [
            ("uncore_imc", "uncore_imc_0", Some(0)),
            ("uncore_imc", "uncore_imc_11", Some(11)),
            ("uncore_imc", "uncore_imc", Some(0)),
            ("uncore_imc", "uncore_imc_free_running_1", None),
            ("uncore_imc_free_running", "uncore_imc_free_running_1", Some(1)),
            ("uncore_imc", "uncore_imc0", None),
            ("uncore_imc", "uncore_imc_", None),
            ("uncore_imc", "uncore_imc_70000", None),
            ("uncore_imc", "uncore_iio_0", None),
            ("cpu", "cpu", Some(0)),
        ] {
            assert_eq!(number_of(stem, name), number, "{stem} {name}");
        }
        let names = ["uncore_imc_0", "uncore_imc_12", "uncore_pcu", "uncore_imc_free_running_0", "uncore"];
        let names = names.map(str::to_owned);
        let kinds: Vec<(&str, usize)> = kinds_of_pmus(&names).into_iter().collect();
        let expected = [("uncore", 1), ("uncore_imc", 2), ("uncore_imc_free_running", 1), ("uncore_pcu", 1)];
        assert_eq!(kinds, expected);
    }
}
