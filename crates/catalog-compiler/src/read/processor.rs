//! `[processor]` of a family: how CPUID describes one of its parts.

use pericore_catalog_schema::{CacheGeometry, CacheKind, CpuModel, CpuidLeaf};

use super::row::Row;
use crate::RowAt;
use crate::schema::ProcessorRow;

/// The part.
pub fn read(row: &mut Row<'_, '_>) -> ProcessorRow {
    let model = row.table("model", model).unwrap_or_else(|| {
        row.report("model", "the processor has no model", "add model = { family = 6, model = … }, one of `cpus`");
        CpuModel { family: 0, model: 0 }
    });
    ProcessorRow {
        place: row.place(),
        model,
        stepping: row.number("stepping"),
        brand: row.string("brand"),
        nominal_mhz: row.number("nominal_mhz"),
        source: row.string("source"),
        leaves: row.tables("leaves", None, |row| RowAt { place: row.place(), row: leaf(row) }),
        caches: row.tables("caches", None, |row| RowAt { place: row.place(), row: cache(row) }),
        msr_sets: row.placed_strings("core_msrs"),
        core_msrs: Vec::new(),
    }
}

fn model(row: &mut Row<'_, '_>) -> CpuModel {
    CpuModel { family: row.number("family"), model: row.number("model") }
}

fn leaf(row: &mut Row<'_, '_>) -> CpuidLeaf {
    CpuidLeaf {
        leaf: row.number("leaf"),
        subleaf: row.optional_number("subleaf"),
        registers: ["eax", "ebx", "ecx", "edx"].map(|register| row.optional_number(register).unwrap_or(0)),
    }
}

fn cache(row: &mut Row<'_, '_>) -> CacheGeometry {
    CacheGeometry {
        level: row.number("level"),
        kind: row.word("kind", "kind of cache", CacheKind::Unified),
        ways: row.number("ways"),
        sets: row.number("sets"),
        shared: row.flag("shared"),
    }
}
