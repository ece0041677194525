//! The files that stand for a machine, whatever serves them: their places, and what reading and writing them means.

mod acpi;
mod cpuid;
mod cpus;
mod likwid;
mod memory;
mod msr;
mod pci;
mod sysfs;
mod tree;

pub use tree::{Content, Node, Tree};

use std::iter;
use std::path::Path;

use crate::backend::Backend;
use crate::platform::Platform;
use pericore_registers::{AccessError, AddressSpace};

/// Where the preloaded library lies in the private namespace.
pub const PRELOAD: &str = "/dev/cpu/.pericore/door.so";

/// Where it finds the machine's clock: origin and frequency.
const PRELOAD_CLOCK: &str = "/dev/cpu/.pericore/clock";

/// The library, compiled by build.rs.
static PRELOAD_IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/preload.so"));

/// What the system's loader loads into every program.
const LOADERS_LIST: &str = "/etc/ld.so.preload";

/// What a file operation fails with, as errno.
pub type FileError = i32;

/// What a failed access comes to: a refusal is one, and anything else is the file's own word.
const fn errno(error: &AccessError, otherwise: FileError) -> FileError {
    if matches!(error, AccessError::Permission { .. }) { libc::EPERM } else { otherwise }
}

/// All files of a machine.
pub fn tree(backend: &impl Backend) -> Tree {
    let platform = backend.platform();
    let mut tree = Tree::default();
    for cpu in &platform.cpus {
        let folder = format!("/dev/cpu/{}", cpu.number);
        tree.add(&format!("{folder}/msr"), 0o600, Content::Msr { cpu: cpu.machine });
        tree.add(&format!("{folder}/cpuid"), 0o400, Content::Cpuid { cpu: cpu.machine });
    }
    cpus::add(&mut tree, &platform.cpus);
    tree.add(PRELOAD, 0o555, Content::Mapped(PRELOAD_IMAGE));
    let clock = [platform.origin, platform.hertz].map(u64::to_le_bytes).concat();
    tree.add(PRELOAD_CLOCK, 0o444, Content::Text(clock));
    tree.add("/proc/bus/pci/devices", 0o444, Content::Text(pci::device_list(platform).into_bytes()));
    for function in &platform.functions {
        let bdf = function.bdf;
        if bdf.segment == 0 {
            let path = format!("/proc/bus/pci/{:02x}/{:02x}.{:x}", bdf.bus, bdf.device, bdf.function);
            tree.add(&path, 0o644, Content::Config { bdf, bytes: function.config_bytes });
        }
        sysfs::add(&mut tree, function);
    }
    tree.add("/sys/firmware/acpi/tables/MCFG", 0o400, Content::Text(acpi::mcfg()));
    tree.add("/etc/likwid_topo.cfg", 0o644, Content::Text(likwid::topology(backend).into_bytes()));
    let placements = platform.shape.family.units.iter().flat_map(|unit| unit.placements);
    if placements.into_iter().any(|placement| placement.space == AddressSpace::Mmio) {
        tree.add("/dev/mem", 0o600, Content::Memory { is_open: platform.allows_memory });
    }
    tree
}

/// Has every program load the library that answers CPUID, also one that is started without an environment, as LIKWID's
/// daemon is: the loader reads this file before it looks for `LD_PRELOAD` (ld.so(8)).
pub fn load_always(tree: &mut Tree) {
    let of_host = std::fs::read_to_string(LOADERS_LIST).unwrap_or_default();
    tree.add(LOADERS_LIST, 0o644, Content::Text(format!("{PRELOAD}\n{of_host}").into_bytes()));
}

/// The paths at which parts of the tree replace the host's, in the order to mount them.
pub fn doors(tree: &Tree, platform: &Platform) -> Vec<String> {
    let all = [
        "/dev/cpu",
        "/dev/mem",
        "/proc/bus/pci",
        "/sys/bus/pci/devices",
        "/sys/firmware/acpi/tables/MCFG",
        "/etc/likwid_topo.cfg",
        LOADERS_LIST,
    ];
    let fixed = all.into_iter().filter(|path| tree.find(path).is_some()).map(str::to_owned);
    // A host that does not tell its own CPUs has no folders for them to be mounted on.
    let cpus = iter::once(cpus::ONLINE.to_owned()).chain(platform.cpus.iter().map(cpus::topology));
    fixed.chain(cpus.filter(|path| Path::new(path).exists())).collect()
}

/// Reads `size` bytes at `offset` of a file.
///
/// # Errors
/// An errno, as the real file gives it.
pub fn read(backend: &impl Backend, content: &Content, offset: u64, size: usize) -> Result<Vec<u8>, FileError> {
    match content {
        Content::Msr { cpu } => msr::read(backend, *cpu, offset, size),
        Content::Cpuid { cpu } => cpuid::read(backend, *cpu, offset, size),
        Content::Config { bdf, bytes } => Ok(pci::read(backend, *bdf, *bytes, offset, size)),
        Content::Memory { .. } => memory::read(backend, offset, size),
        Content::Text(bytes) => Ok(slice(bytes, offset, size)),
        Content::Mapped(bytes) => Ok(slice(bytes, offset, size)),
        Content::Folder(_) => Err(libc::EISDIR),
    }
}

/// Writes `data` at `offset` of a file; the bytes written.
///
/// # Errors
/// An errno, as the real file gives it.
pub fn write(backend: &impl Backend, content: &Content, offset: u64, data: &[u8]) -> Result<usize, FileError> {
    match content {
        Content::Msr { cpu } => msr::write(backend, *cpu, offset, data),
        Content::Config { bdf, bytes } => pci::write(backend, *bdf, *bytes, offset, data),
        Content::Memory { .. } => memory::write(backend, offset, data),
        Content::Cpuid { .. } | Content::Text(_) | Content::Mapped(_) => Err(libc::EACCES),
        Content::Folder(_) => Err(libc::EISDIR),
    }
}

fn slice(bytes: &[u8], offset: u64, size: usize) -> Vec<u8> {
    let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    bytes[from..from.saturating_add(size).min(bytes.len())].to_vec()
}

#[cfg(test)]
mod tests;
