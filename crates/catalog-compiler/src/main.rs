//! `pericore-catalog-compiler DIR`: checks a catalogue and prints all its defects, or what it holds.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("catalog"), PathBuf::from);
    match pericore_catalog_compiler::compile(&root) {
        Ok(catalogue) => {
            for unit in catalogue.families.iter().flat_map(|family| family.units.iter().map(move |unit| (family, unit)))
            {
                let (family, unit) = unit;
                let subevents: usize = unit.events.iter().map(|event| event.subevents.len()).sum();
                let (events, registers, metrics) = (unit.events.len(), unit.registers.len(), unit.metrics.len());
                println!(
                    "{:<16} {:<8} {events:>4} events {subevents:>5} subevents {registers:>3} registers {metrics:>3} metrics",
                    family.name, unit.name
                );
            }
            println!("{} deviations, {} choices", catalogue.deviations.len(), catalogue.choices.len());
            ExitCode::SUCCESS
        }
        Err(diagnostics) => {
            eprintln!("{diagnostics}");
            ExitCode::FAILURE
        }
    }
}
