//! The PCI devices behind an I/O stack, by the mapping files of the kernel's driver.
//!
//! `uncore_iio_3/die0` has the root bus that the stack's PMU counts on the first die (Linux 5.8 and later, of families
//! whose hardware has it). Every device whose path in sysfs begins at that root bus is behind the stack.

use std::fs;
use std::path::Path;

use pericore_catalog::{Family, Unit};

use super::prepare::KernelPmus;
use crate::linux::Root;

/// Where the system lists PCI devices: links to their places in the tree of buses.
const DEVICES: &str = "sys/bus/pci/devices";

/// More dies than any machine has.
const MOST_DIES: usize = 64;

/// The first digits of a PCI class that is no device of its own: bridges, and what belongs to the processor.
const NOT_DEVICES: [&str; 3] = ["0x06", "0x08", "0x11"];

/// Folders of a device in which the kernel names what users know it by: `net/eth0`, `nvme/nvme0`.
const NAMED_IN: [&str; 6] = ["nvme", "net", "infiniband", "block", "drm", "host"];

/// A stack and what is behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoStack {
    /// Socket.
    pub socket: u16,
    /// The unit's instance.
    pub instance: u16,
    /// Segment and root bus, `0000:17`.
    pub bus: String,
    /// Devices, by address.
    pub devices: Vec<PciDevice>,
}

/// A PCI device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PciDevice {
    /// `0000:18:00.0`.
    pub address: String,
    /// What the kernel calls it, `nvme0`, else its driver's name; nothing without a driver.
    pub name: Option<String>,
    /// Vendor and device, `8086:0a54`.
    pub ids: String,
    /// The memory node that it is nearest to, if the system tells.
    pub node: Option<u16>,
    /// Segment and number of the root bus that it is behind, `0000:17`.
    pub root: String,
}

/// The PCI devices of a machine, by address: no bridges, and no functions of the processor itself.
pub fn pci_devices(root: &Root) -> Vec<PciDevice> {
    let entries = fs::read_dir(root.join(DEVICES)).into_iter().flatten().flatten();
    let mut devices: Vec<PciDevice> = entries.filter_map(|entry| device(&entry.path())).collect();
    devices.sort_by(|one, other| one.address.cmp(&other.address));
    devices
}

fn device(path: &Path) -> Option<PciDevice> {
    let text = |file: &str| Some(fs::read_to_string(path.join(file)).ok()?.trim().to_owned());
    let class = text("class")?;
    if NOT_DEVICES.iter().any(|base| class.starts_with(base)) {
        return None;
    }
    // ../../../devices/pci0000:17/0000:17:02.0/0000:18:00.0
    let place = fs::read_link(path).ok()?;
    let mut parts = place.components().filter_map(|part| part.as_os_str().to_str());
    let root = parts.find_map(|part| part.strip_prefix("pci").filter(|rest| rest.contains(':')))?.to_owned();
    let named = |folder: &&str| {
        let mut names: Vec<String> = fs::read_dir(path.join(folder))
            .ok()?
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        (!names.is_empty()).then(|| names.join("+"))
    };
    let driver = || fs::read_link(path.join("driver")).ok()?.file_name()?.to_str().map(str::to_owned);
    let id = |file: &str| Some(text(file)?.trim_start_matches("0x").to_owned());
    Some(PciDevice {
        address: path.file_name()?.to_str()?.to_owned(),
        name: NAMED_IN.iter().find_map(named).or_else(driver),
        ids: format!("{}:{}", id("vendor")?, id("device")?),
        // -1 where the firmware does not say.
        node: text("numa_node").and_then(|node| node.parse().ok()),
        root,
    })
}

impl KernelPmus {
    /// The stacks of a unit with the devices behind them, by socket and number; none where the driver has no mapping
    /// files.
    pub fn stacks(&self, family: &Family, unit: &Unit) -> Vec<IoStack> {
        let devices = pci_devices(self.root());
        let mut stacks = Vec::new();
        for pmu in self.instances_of(family, unit) {
            for die in 0..MOST_DIES {
                let path = format!("sys/bus/event_source/devices/{}/die{die}", pmu.name);
                let Ok(text) = fs::read_to_string(self.root().join(path)) else { break };
                let bus = text.trim().to_owned();
                // The dies are numbered as the CPUs that count for them.
                let Some(socket) = pmu.sockets.get(die).copied() else { continue };
                let behind = devices.iter().filter(|device| device.root == bus).cloned().collect();
                stacks.push(IoStack { socket, instance: pmu.instance, bus, devices: behind });
            }
        }
        stacks.sort_by_key(|stack| (stack.socket, stack.instance));
        stacks
    }
}
