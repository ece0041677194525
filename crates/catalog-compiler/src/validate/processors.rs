//! What CPUID can return, and what the machine works out by itself.

use pericore_catalog_schema::CpuidLeaf;

use crate::schema::Family;
use crate::{Diagnostics, Place, RowAt};

/// Characters of the brand string: three leaves of sixteen bytes, the last byte a zero.
const BRAND: usize = 47;

/// Leaves that depend on the logical CPU, on the machine's size, or on other rows.
const COMPUTED: [(u32, &str); 7] = [
    (0x0, "it has the highest leaf and the vendor"),
    (0x4, "it has the caches: write them as rows of `caches`"),
    (0xB, "it has the topology"),
    (0x8000_0000, "it has the highest extended leaf"),
    (0x8000_0002, "it has the brand: write it as `brand`"),
    (0x8000_0003, "it has the brand: write it as `brand`"),
    (0x8000_0004, "it has the brand: write it as `brand`"),
];

/// The processor is one of the family's, and its signature and brand have room in their registers.
pub fn identity(family: &Family, diagnostics: &mut Diagnostics) {
    let Some(processor) = &family.processor else { return };
    let (cpu_family, model) = (processor.model.family, processor.model.model);
    if !family.cpus.contains(&(cpu_family, model)) {
        let message = format!("family {} has no processor of family {cpu_family}, model {model}", family.name);
        diagnostics.report(processor.place, message, "name one of `cpus`, or add it there");
    }
    if processor.stepping > 15 || model > 255 {
        let message = format!("CPUID has no room for model {model}, stepping {}", processor.stepping);
        diagnostics.report(processor.place, message, "write a model up to 255 and a stepping up to 15");
    }
    let length = processor.brand.len();
    if length > BRAND || !processor.brand.is_ascii() {
        let message = format!("a brand string of {length} bytes");
        diagnostics.report(processor.place, message, format!("write at most {BRAND} ASCII characters"));
    }
}

/// Each leaf has one row, and none that the machine works out.
pub fn leaves(family: &Family, diagnostics: &mut Diagnostics) {
    let Some(processor) = &family.processor else { return };
    let mut rows: Vec<(&CpuidLeaf, Place)> = Vec::new();
    for RowAt { place, row } in &processor.leaves {
        if let Some((_, why)) = COMPUTED.iter().find(|(leaf, _)| *leaf == row.leaf) {
            diagnostics.report(*place, format!("leaf {:#x} is worked out: {why}", row.leaf), "remove the row");
        }
        if row.leaf == 1 && (row.registers[0], row.registers[1]) != (0, 0) {
            let message = "EAX and EBX of leaf 0x1 are worked out from model, stepping and topology";
            diagnostics.report(*place, message, "remove eax and ebx");
        }
        let overlaps = |other: &CpuidLeaf| {
            other.leaf == row.leaf && (row.subleaf.is_none() || other.subleaf.is_none() || other.subleaf == row.subleaf)
        };
        if let Some((_, earlier)) = rows.iter().find(|(other, _)| overlaps(other)) {
            let fix = format!(
                "remove one, or tell them apart by subleaf; the other stands at {}",
                diagnostics.show(*earlier)
            );
            diagnostics.report(*place, format!("leaf {:#x} has two rows", row.leaf), fix);
        }
        rows.push((row, *place));
    }
}

/// Caches fit the fields of leaf 4: level in 3 bits, ways in 10.
pub fn caches(family: &Family, diagnostics: &mut Diagnostics) {
    let Some(processor) = &family.processor else { return };
    for RowAt { place, row } in &processor.caches {
        if !(1..=7).contains(&row.level) || !(1..=1024).contains(&row.ways) || row.sets == 0 {
            let message = format!("a cache of level {} with {} ways of {} sets", row.level, row.ways, row.sets);
            diagnostics.report(*place, message, "write a level from 1 to 7, 1 to 1024 ways, and at least one set");
        }
    }
}
