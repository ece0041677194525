//! Names of partitions: `machine=NAME/workload=NAME/machine_KEY=VALUE/workload_KEY=VALUE`, as Hive lays out tables.

use std::fmt::Write;

use super::grid::{Combination, Grid};

/// What Hive has for a missing value.
const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// The parameters of all grids, each once: every partition has a folder for each, since readers want the same columns
/// in all of them.
#[derive(Debug)]
pub struct PartitionColumns {
    machine: Vec<String>,
    workload: Vec<String>,
}

/// The columns of these grids.
pub fn columns(grids: &[Grid]) -> PartitionColumns {
    let mut columns = PartitionColumns { machine: Vec::new(), workload: Vec::new() };
    for grid in grids {
        for (axes, names) in [(&grid.machine, &mut columns.machine), (&grid.workload, &mut columns.workload)] {
            for axis in axes {
                if !names.contains(&axis.name) {
                    names.push(axis.name.clone());
                }
            }
        }
    }
    columns
}

/// The folder of a combination.
pub fn folder(columns: &PartitionColumns, choice: &Combination<'_>) -> String {
    let mut folder = format!("machine={}/workload={}", escaped(&choice.machine.value), escaped(&choice.workload.value));
    let of_both =
        [("machine", &columns.machine, &choice.of_machine), ("workload", &columns.workload, &choice.of_workload)];
    for (prefix, names, chosen) in of_both {
        for name in names {
            let value = chosen.iter().find(|(key, _)| key == name);
            let value = value.map_or_else(|| MISSING.to_owned(), |(_, value)| escaped(&value.value));
            // A text takes whatever is written to it.
            let _ = write!(folder, "/{prefix}_{name}={value}");
        }
    }
    folder
}

/// Percent-encodes what is not a letter, digit or one of `-._`: readers decode it.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}
