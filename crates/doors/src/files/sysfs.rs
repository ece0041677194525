//! `/sys/bus/pci/devices/SSSS:BB:DD.F/`: the attributes that pciutils and PCM read.

use super::tree::{Content, Tree};
use crate::platform::Function;

/// Adds a function's folder.
pub fn add(tree: &mut Tree, function: &Function) {
    let folder = format!("/sys/bus/pci/devices/{}", function.bdf);
    let (vendor, device) = (function.id & 0xffff, function.id >> 16);
    let (revision, class) = (function.class & 0xff, function.class >> 8);
    // Seven BARs: start, end, flags. Firmware's fixed windows are in no BAR.
    let resource = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n".repeat(7);
    let attributes = [
        ("vendor", format!("0x{vendor:04x}\n")),
        ("device", format!("0x{device:04x}\n")),
        ("class", format!("0x{class:06x}\n")),
        ("revision", format!("0x{revision:02x}\n")),
        ("subsystem_vendor", format!("0x{:04x}\n", function.subsystem & 0xffff)),
        ("subsystem_device", format!("0x{:04x}\n", function.subsystem >> 16)),
        ("irq", "0\n".to_owned()),
        ("enable", "1\n".to_owned()),
        ("numa_node", "-1\n".to_owned()),
        ("resource", resource),
    ];
    for (name, text) in attributes {
        tree.add(&format!("{folder}/{name}"), 0o444, Content::Text(text.into_bytes()));
    }
    let config = Content::Config { bdf: function.bdf, bytes: function.config_bytes };
    tree.add(&format!("{folder}/config"), 0o644, config);
}
