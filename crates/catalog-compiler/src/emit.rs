//! Writes the catalogue for inclusion in `pericore-catalog`: each family's rows packed and compressed in a file, a table of the families,
//! the catalogue's own files, which users' folders are laid over, and the tables of `catalog/kernel`.

use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

use pericore_catalog_schema::{Arena, KernelCpu, KernelFamily, deflate, pack};

use crate::lower;
use crate::schema::Catalogue;
use crate::{Files, KernelTables};

/// Writes `families.rs` into a folder, and beside it what it includes.
///
/// # Errors
/// The folder cannot be written.
pub fn write(catalogue: &Catalogue, kernel: &KernelTables<'_>, files: &Files, folder: &Path) -> io::Result<()> {
    let mut table = String::from("// Written by the build from catalog/. Do not edit.\n");
    let _ = writeln!(table, "static FAMILIES: [Shipped; {}] = [", catalogue.families.len());
    for family in &catalogue.families {
        let arena = Arena::default();
        let compiled = lower::family(&arena, family);
        let file = format!("{}.rows", family.name);
        fs::write(folder.join(&file), packed(&compiled)?)?;
        let _ = writeln!(
            table,
            "    Shipped::new({:?}, &{:?}, &{:?}, &{:?}, include_bytes!({file:?})),",
            compiled.name, compiled.aliases, family.cpus, family.blocks
        );
    }
    table.push_str("];\nstatic JUDGEMENTS: &[u8] = include_bytes!(\"judgements.rows\");\n");
    table.push_str("static SOURCES: &[u8] = include_bytes!(\"sources.rows\");\n");
    fs::write(folder.join("sources.rows"), packed(&files.texts().collect::<Vec<_>>())?)?;
    fs::write(folder.join("judgements.rows"), packed(&lower::judgements(&Arena::default(), catalogue))?)?;
    fs::write(folder.join("families.rs"), table)?;
    kernel_families(kernel, folder)
}

/// The families of `catalog/kernel`: rows packed, and the names that they refer to as lines of a text.
fn kernel_families(kernel: &KernelTables<'_>, folder: &Path) -> io::Result<()> {
    let mut table = String::from("// Written by the build from catalog/kernel/. Do not edit.\n");
    let _ = writeln!(table, "static KERNEL: [ShippedKernel; {}] = [", kernel.families.len());
    for family in &kernel.families {
        let file = format!("kernel-{}.rows", family.code);
        fs::write(folder.join(&file), packed(family)?)?;
        let _ = writeln!(
            table,
            "    ShippedKernel::new({:?}, {:?}, &{:?}, {:?}, &{:?}, include_bytes!({file:?})),",
            family.name,
            family.code,
            family.aliases,
            family.header,
            processors(family)
        );
    }
    table.push_str("];\n");
    fs::write(folder.join("kernel.rs"), table)?;
    fs::write(folder.join("kernel-names.deflated"), deflate(kernel.names.join("\n").as_bytes()))
}

/// CPUID display family and model of each processor, and its first and last stepping.
fn processors(family: &KernelFamily<'_>) -> Vec<(u16, u16, u8, u8)> {
    let processor = |cpu: &KernelCpu| (cpu.model.family, cpu.model.model, cpu.steppings.0, cpu.steppings.1);
    family.cpus.iter().map(processor).collect()
}

fn packed<T: serde::Serialize>(rows: &T) -> io::Result<Vec<u8>> {
    Ok(deflate(&pack(rows).map_err(io::Error::other)?))
}
