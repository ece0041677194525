//! The machine to observe, and the families and units that the command line names.

use pericore_catalog::search::hint;
use pericore_catalog::{Family, kernel};
use pericore_machine::{MachineSpec, SpecError};
use pericore_observe::linux::{Host, Processor, Root};

use crate::failure::Failure;
use crate::machine::opened;

/// The machine that this runs on. `Host::family` tells whether its uncore is known, `Host::space` is the way to its registers.
///
/// # Errors
/// A system that does not tell its CPUs.
pub fn host() -> Result<Host, Failure> {
    Host::new(Root::default(), Processor::here()).map_err(Failure::failed)
}

/// The name of the machine that this runs on, in its network; `None` if it has none.
pub fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// The family of that name, or of the preset or machine that it names: what `stat` takes, look-ups take too.
///
/// # Errors
/// An unknown name, with the nearest known one.
pub fn family(name: &str) -> Result<&'static Family, Failure> {
    if let Some(family) = pericore_catalog::family(name) {
        return Ok(family);
    }
    if let Some(family) = kernel::family(name) {
        return Ok(family.family());
    }
    let own = opened::own_part(name)?;
    let name = own.as_deref().unwrap_or(name);
    MachineSpec::parse(name).map(|machine| machine.family()).map_err(|error| {
        if !matches!(error, SpecError::Unknown { .. }) {
            return Failure::usage(error);
        }
        let mut names: Vec<&str> = pericore_catalog::shipped().iter().map(|family| family.name).collect();
        names
            .extend(kernel::families().iter().filter(|family| family.is_without_registers()).map(|family| family.name));
        let aliases = pericore_catalog::shipped().iter().flat_map(|family| family.aliases);
        let codes = kernel::families().iter().flat_map(|family| family.aliases.iter().chain([&family.code]));
        let all = names.iter().chain(aliases).chain(codes).copied();
        Failure::usage(format!("no processor family {name:?}{}; known: {}", hint(name, all), names.join(", ")))
    })
}

/// The family of that name, or all.
///
/// # Errors
/// An unknown name, with the nearest known one.
pub fn families(name: Option<&str>) -> Result<Vec<&'static Family>, Failure> {
    match name {
        Some(name) => Ok(vec![family(name)?]),
        None => Ok(pericore_catalog::families().collect()),
    }
}

/// A register's name in the catalogue's form, `cbo0.ctl1`, where it came as `machine show` and `peek` print it: `0/cbo0/ctl1`. The socket is
/// left out, since registers of all sockets are alike.
pub fn register_name(text: &str) -> String {
    let text = match text.split_once('/') {
        Some((socket, rest)) if socket.parse::<u16>().is_ok() => rest,
        _ => text,
    };
    text.replacen('/', ".", 1)
}

/// The other way round: the name of a place, `cbo0/ctl1`, where it came as `decode` and `list` write it.
pub fn place_name(text: &str) -> String {
    text.replacen('.', "/", 1)
}

/// Checks that one of the families has a unit.
///
/// # Errors
/// An unknown name, with the nearest known one.
pub fn check_unit(families: &[&'static Family], name: &str) -> Result<(), Failure> {
    if families.iter().any(|family| family.unit(name).is_some()) {
        return Ok(());
    }
    let known: Vec<&str> = families.iter().flat_map(|family| family.units.iter().map(|unit| unit.name)).collect();
    let near = hint(name, known.iter().copied());
    Err(Failure::usage(format!("no unit {name:?}{near}; known: {}", known.join(", "))))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_machine_names_its_family() {
        for (name, family) in [("8592+:sockets=2", "emerald-rapids"), ("E5-2680", "e5-2600"), ("nhm", "nehalem")] {
            assert_eq!(super::family(name).unwrap().name, family);
        }
        assert!(super::family("8592").unwrap_err().to_string().contains("known: "));
    }
}
