//! Families that only the kernel's driver counts, from a user's words to counts: on trees like `/sys` that are made of
//! facts of the driver's source, with a stand-in for the kernel and with stock perf's attributes.

mod counting;
mod every_event;
mod metrics;
mod rates;
mod selecting;
mod table;

use std::path::Path;

use pericore_catalog::kernel;
use pericore_observe::linux::{Host, Processor, Root};
use pericore_observe::selection::Selection;

use crate::perf_attributes::pmus::{self, FamilyPmus};

/// The facts of the families that have no registers in the catalogue.
fn families_without_registers() -> Vec<FamilyPmus> {
    let is_without = |code: &str| kernel::family(code).expect("the catalogue has it").is_without_registers();
    pmus::families().into_iter().filter(|family| is_without(family.code)).collect()
}

/// The machine whose files are in a folder, with the processor of a family: CPUID as perf writes it, in hexadecimal
/// but for the family.
fn host(root: &Path, family: &FamilyPmus) -> Host {
    let words: Vec<&str> = family.cpuid.split('-').collect();
    let [vendor, number, model, stepping] = words[..] else { panic!("{}", family.cpuid) };
    let processor = Processor {
        vendor: vendor.to_owned(),
        family: number.parse().expect("a family"),
        model: u16::from_str_radix(model, 16).expect("a model"),
        stepping: u8::from_str_radix(stepping, 16).expect("a stepping"),
        ..Processor::default()
    };
    Host::new(Root::at(root), processor).expect("its CPUs are known")
}

/// What `events` come to on a host.
fn selection(host: &Host, events: &str) -> Selection {
    let mut selection = Selection::new(host.family().expect("a known processor"));
    selection.add_events(events).unwrap_or_else(|error| panic!("{events}: {error}"));
    selection
}
