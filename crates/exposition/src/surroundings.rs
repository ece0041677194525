//! What is around the counters of a machine: memory nodes, and devices behind I/O stacks. Each is a series of its own,
//! with words in labels, so that queries can join it with any number of the same socket or unit instance.

use std::collections::BTreeMap;

use pericore_exporter::text::{Family, Kind, Labels, Number};
use pericore_observe::kernel::{KernelPmus, PciDevice};
use pericore_observe::linux::{Host, MemoryNode};
use pericore_observe::selection::Selection;
use pericore_report::stacks::UnitStacks;

/// Memory nodes and devices.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The memory nodes.
    pub nodes: Vec<MemoryNode>,
    /// The I/O stacks of each unit that is counted and has any.
    pub stacks: Vec<UnitStacks>,
}

impl Surroundings {
    /// Those of a machine as it is now, with the stacks of the units that are counted.
    pub fn of(host: &Host, selection: &Selection) -> Self {
        let units: BTreeMap<&str, _> = selection.events.iter().map(|event| (event.unit.name, event.unit)).collect();
        let pmus = KernelPmus::of(host).ok();
        let of_unit = |(name, unit): (&str, _)| {
            let stacks = pmus.as_ref()?.stacks(selection.family, unit);
            (!stacks.is_empty()).then(|| UnitStacks { unit: name.to_owned(), stacks, devices: Vec::new() })
        };
        Self { nodes: host.memory_nodes(), stacks: units.into_iter().filter_map(of_unit).collect() }
    }

    /// A family for each, with labels that all samples have.
    pub(crate) fn families(&self, always: &Labels) -> Vec<Family> {
        let mut nodes =
            Family::new("pericore_numa_node", Kind::Info, None, "A memory node and the socket that it belongs to.");
        for node in &self.nodes {
            let labels = [("socket", node.socket.to_string()), ("numa_node", node.number.to_string())];
            nodes.push([always.clone(), labels.into()].concat(), Number::Whole(1));
        }
        let mut devices = Family::new(
            "pericore_pci_device",
            Kind::Info,
            None,
            "A PCI device and the unit instance that counts its root bus, for all devices of that bus together.",
        );
        for UnitStacks { unit, stacks, .. } in &self.stacks {
            for stack in stacks {
                for device in &stack.devices {
                    let place = [
                        ("unit", unit.clone()),
                        ("socket", stack.socket.to_string()),
                        ("instance", format!("{unit}{}", stack.instance)),
                        ("bus", stack.bus.clone()),
                    ];
                    devices.push([always.clone(), place.into(), labels(device)].concat(), Number::Whole(1));
                }
            }
        }
        vec![nodes, devices]
    }
}

/// What the system says of a device; without a label for what it does not say.
fn labels(device: &PciDevice) -> Labels {
    let PciDevice { address, name, ids, node, root: _ } = device;
    let known = [("device", Some(address.clone())), ("name", name.clone()), ("ids", Some(ids.clone()))];
    let all = known.into_iter().chain([("numa_node", node.map(|node| node.to_string()))]);
    all.filter_map(|(label, value)| Some((label, value?))).collect()
}

#[cfg(test)]
mod tests {
    use pericore_exporter::text::{Format, exposition};
    use pericore_observe::kernel::IoStack;

    use super::*;

    /// Prometheus' text format 0.0.4 has no kind for them: gauges that are 1, whose names end in `_info`.
    #[test]
    fn nodes_and_devices_are_series_to_join_with() {
        let device = |address: &str, name: Option<&str>, node| {
            let (address, ids) = (address.to_owned(), "144d:a80a".to_owned());
            PciDevice { address, name: name.map(str::to_owned), ids, node, root: "0000:17".to_owned() }
        };
        let stack = |socket, instance, bus: &str, devices| IoStack { socket, instance, bus: bus.to_owned(), devices };
        let stacks = vec![
            stack(0, 0, "0000:00", Vec::new()),
            stack(0, 3, "0000:17", vec![device("0000:18:00.0", Some("nvme0"), Some(2))]),
            stack(1, 3, "0000:97", vec![device("0000:98:00.0", None, None)]),
        ];
        let surroundings = Surroundings {
            nodes: vec![MemoryNode { number: 0, socket: 0 }, MemoryNode { number: 2, socket: 1 }],
            stacks: vec![UnitStacks { unit: "iio".to_owned(), stacks, devices: Vec::new() }],
        };
        let text = exposition(&surroundings.families(&vec![("emulated", "x".to_owned())]), Format::Prometheus);
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            samples,
            [
                r#"pericore_numa_node_info{emulated="x",socket="0",numa_node="0"} 1"#,
                r#"pericore_numa_node_info{emulated="x",socket="1",numa_node="2"} 1"#,
                concat!(
                    r#"pericore_pci_device_info{emulated="x",unit="iio",socket="0",instance="iio3",bus="0000:17","#,
                    r#"device="0000:18:00.0",name="nvme0",ids="144d:a80a",numa_node="2"} 1"#
                ),
                concat!(
                    r#"pericore_pci_device_info{emulated="x",unit="iio",socket="1",instance="iio3",bus="0000:97","#,
                    r#"device="0000:98:00.0",ids="144d:a80a"} 1"#
                ),
            ]
        );
        assert!(text.contains("# TYPE pericore_pci_device_info gauge\n"), "{text}");
    }
}
