//! Machines from their names, and from snapshot files.

use std::io::{self, Write};
use std::path::Path;

use pericore_machine::chassis::Chassis;
use pericore_machine::{MachineSpec, SpecError, part_file};
use pericore_recordings::RecordFile;

use crate::failure::Failure;
use crate::input;
use crate::refused_file;

/// The registers of a machine as the command line names it: a family or preset, else a snapshot file.
///
/// # Errors
/// Neither a known name nor a file, or a file that is no snapshot.
pub fn machine(name: &str) -> Result<Chassis, Failure> {
    named(name, |spec| spec.chassis().map_err(Failure::usage), snapshot)
}

/// A machine that something can run on, from the same names.
///
/// # Errors
/// As [`machine`].
pub fn spec(name: &str) -> Result<MachineSpec, Failure> {
    named(name, Ok, |file| {
        MachineSpec::of_snapshot(&read(file)?).map_err(|error| Failure::failed(format!("{}: {error}", file.display())))
    })
}

fn named<T>(
    name: &str,
    of_spec: impl FnOnce(MachineSpec) -> Result<T, Failure>,
    of_file: impl FnOnce(&Path) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let own = own_part(name)?;
    let name = own.as_deref().unwrap_or(name);
    match MachineSpec::parse(name) {
        Ok(spec) => of_spec(spec),
        Err(SpecError::Unknown { .. }) if Path::new(name).exists() => of_file(Path::new(name)),
        Err(error @ SpecError::Unknown { .. }) => {
            Err(Failure::usage(format!("{error}; nor is there a snapshot file of that name")))
        }
        Err(error) => Err(Failure::usage(error)),
    }
}

/// `FILE.toml[:KEYS]`: a part of the user's own (`docs/machine/software-xeons.md`), as the name that it gives itself;
/// `None` for any other name.
///
/// # Errors
/// A file that cannot be read, or is no part.
pub fn own_part(name: &str) -> Result<Option<String>, Failure> {
    let Some((file, keys)) = part_file(name).filter(|(file, _)| Path::new(file).is_file()) else { return Ok(None) };
    let file = Path::new(file);
    let part = pericore_machine::add_part(&read(file)?);
    let part = part.map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    Ok(Some(format!("{part}{keys}")))
}

fn read(file: &Path) -> Result<String, Failure> {
    input::text(file, input::SNAPSHOT).map_err(|error| Failure::failed(refused_file::reading(file, &error)))
}

/// A machine from its snapshot.
///
/// # Errors
/// A file that cannot be read, or is no snapshot.
pub fn snapshot(file: &Path) -> Result<Chassis, Failure> {
    Chassis::load(&read(file)?).map_err(|error| Failure::failed(format!("{}: {error}", file.display())))
}

/// Writes a machine's snapshot, for its owner alone; a file that is there already becomes FILE.old.
///
/// # Errors
/// A file that cannot be written.
pub fn save(machine: &mut Chassis, output: Option<&Path>) -> Result<(), Failure> {
    let text = machine.dump();
    match output {
        None => Ok(io::stdout().lock().write_all(text.as_bytes())?),
        Some(path) => {
            let written = RecordFile::open_private(path)
                .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.put_in_place()));
            written.map_err(|error| Failure::failed(refused_file::writing(path, &error)))
        }
    }
}
