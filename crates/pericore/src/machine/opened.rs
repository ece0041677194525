//! Machines from their names, and from snapshot files.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use pericore_machine::MachineSpec;
use pericore_machine::chassis::Chassis;

use crate::failure::Failure;

/// A machine as the command line names it: a family or preset, else a snapshot file.
///
/// # Errors
/// Neither a known name nor a file, or a file that is no snapshot.
pub fn machine(name: &str) -> Result<Chassis, Failure> {
    match MachineSpec::parse(name) {
        Ok(spec) => spec.chassis().map_err(Failure::usage),
        Err(_) if Path::new(name).exists() => snapshot(Path::new(name)),
        Err(error) => Err(Failure::usage(format!("{error}; nor is there a snapshot file of that name"))),
    }
}

/// A machine from its snapshot.
///
/// # Errors
/// A file that cannot be read, or is no snapshot.
pub fn snapshot(file: &Path) -> Result<Chassis, Failure> {
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::failed(format!("cannot read {}: {error}", file.display())))?;
    Chassis::load(&text).map_err(|error| Failure::failed(format!("{}: {error}", file.display())))
}

/// Writes a machine's snapshot.
///
/// # Errors
/// A file that cannot be written.
pub fn save(machine: &mut Chassis, output: Option<&Path>) -> Result<(), Failure> {
    let text = machine.dump();
    match output {
        None => Ok(io::stdout().lock().write_all(text.as_bytes())?),
        Some(path) => {
            fs::write(path, text).map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))
        }
    }
}
