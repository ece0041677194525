//! Devices behind stacks, on files as Linux's documentation has them (ABI/testing/sysfs-devices-mapping).

use std::os::unix::fs::symlink;

use super::super::stacks::pci_devices;
use super::*;

/// A device below a root bus: its class, IDs, node, and what the kernel calls it.
fn device(root: &Path, place: &str, class: &str, ids: (&str, &str), node: &str, name: &str) {
    let folder = format!("sys/devices/{place}");
    let (vendor, device) = ids;
    for (file, text) in [("class", class), ("vendor", vendor), ("device", device), ("numa_node", node)] {
        put(root, &format!("{folder}/{file}"), &format!("{text}\n"));
    }
    if !name.is_empty() {
        fs::create_dir_all(root.join(&folder).join(name)).unwrap();
    }
    let address = place.rsplit('/').next().unwrap();
    fs::create_dir_all(root.join("sys/bus/pci/devices")).unwrap();
    symlink(format!("../../../devices/{place}"), root.join("sys/bus/pci/devices").join(address)).unwrap();
}

fn machine() -> tempfile::TempDir {
    let formats: &[_] = &[("event", "config:0-7"), ("ch_mask", "config:36-47")];
    let folder = tree(&[("uncore_iio_0", "0,8", formats, &[]), ("uncore_iio_1", "0,8", formats, &[])]);
    let root = folder.path();
    for (pmu, buses) in [("uncore_iio_0", ["0000:00", "0000:80"]), ("uncore_iio_1", ["0000:17", "0000:97"])] {
        for (die, bus) in buses.iter().enumerate() {
            put(root, &format!("sys/bus/event_source/devices/{pmu}/die{die}"), &format!("{bus}\n"));
        }
    }
    // A root port, a disk and a network adapter behind it; a device of the other socket; a memory controller.
    device(root, "pci0000:17/0000:17:02.0", "0x060400", ("0x8086", "0x347a"), "0", "");
    device(root, "pci0000:17/0000:17:02.0/0000:18:00.0", "0x010802", ("0x144d", "0xa80a"), "0", "nvme/nvme0");
    device(root, "pci0000:17/0000:17:04.0/0000:19:00.1", "0x020000", ("0x8086", "0x1592"), "0", "net/ens1f1");
    device(root, "pci0000:97/0000:97:02.0/0000:98:00.0", "0x120000", ("0x8086", "0x0b25"), "-1", "");
    device(root, "pci0000:fe/0000:fe:0c.0", "0x088000", ("0x8086", "0x344a"), "1", "");
    folder
}

#[test]
fn each_stack_has_the_devices_below_its_root_bus() {
    let folder = machine();
    let family = pericore_catalog::kernel::family("icx").unwrap().family();
    let stacks = pmus(folder.path()).unwrap().stacks(family, family.unit("iio").unwrap());
    let found: Vec<_> = stacks
        .iter()
        .map(|stack| {
            let devices = stack
                .devices
                .iter()
                .map(|device| (device.address.as_str(), device.name.as_deref(), device.ids.as_str(), device.node));
            (stack.socket, stack.instance, stack.bus.as_str(), devices.collect::<Vec<_>>())
        })
        .collect();
    assert_eq!(
        found,
        [
            (0, 0, "0000:00", vec![]),
            (
                0,
                1,
                "0000:17",
                vec![
                    ("0000:18:00.0", Some("nvme0"), "144d:a80a", Some(0)),
                    ("0000:19:00.1", Some("ens1f1"), "8086:1592", Some(0)),
                ]
            ),
            (1, 0, "0000:80", vec![]),
            // Without a driver it has no name, and the firmware does not say where it is.
            (1, 1, "0000:97", vec![("0000:98:00.0", None, "8086:0b25", None)]),
        ]
    );
}

#[test]
fn without_mapping_files_there_are_devices_and_no_stacks() {
    let folder = machine();
    for pmu in ["uncore_iio_0", "uncore_iio_1"] {
        for die in 0..2 {
            fs::remove_file(folder.path().join(format!("sys/bus/event_source/devices/{pmu}/die{die}"))).unwrap();
        }
    }
    let family = pericore_catalog::kernel::family("icx").unwrap().family();
    assert!(pmus(folder.path()).unwrap().stacks(family, family.unit("iio").unwrap()).is_empty());
    let devices = pci_devices(&Root::at(folder.path()));
    let roots: Vec<_> = devices.iter().map(|device| (device.root.as_str(), device.address.as_str())).collect();
    let expected = [("0000:17", "0000:18:00.0"), ("0000:17", "0000:19:00.1"), ("0000:97", "0000:98:00.0")];
    assert_eq!(roots, expected);
}
