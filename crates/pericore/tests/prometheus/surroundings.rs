//! Memory nodes and PCI devices as labels, through the program itself: a software Emerald Rapids whose system has been
//! given what a real one has beside its counters. Prometheus scrapes it and joins devices and nodes with bandwidths, by
//! the queries of `docs/fleet.md`. Needs root, as software machines for other programs do.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{FLEET, Prometheus, Running, awaited, blocks};
use crate::ours::{PERICORE, command, live_sockets};

/// Binds the folder's files over those of the system, then runs the rest. Functions of the uncore stay as they are.
const GIVEN: &str = r#"
folder=$1; shift
pci=/sys/bus/pci/devices
mkdir "$folder/functions" "$folder/links"
mount --bind $pci "$folder/functions"
for device in "$folder"/functions/* "$folder"/devices/pci*/*/*; do ln -s "$device" "$folder/links/"; done
mount --bind "$folder/links" $pci
mount --bind "$folder/node" /sys/devices/system/node
mount --bind "$folder/pmus" /sys/bus/event_source/devices
exec "$@"
"#;

/// Two devices behind the stack of number 3, one in each socket, as Linux 6.12 lists them (ABI/testing/sysfs-bus-pci
/// and sysfs-devices-mapping), a bridge that is none, and a memory node for each socket beside one of memory alone.
fn write(folder: &Path, sockets: u16) {
    let put = |file: String, text: &str| {
        let file = folder.join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("ours");
        fs::write(file, format!("{text}\n")).expect("written");
    };
    let device = |place: &str, [class, vendor, device, node]: [&str; 4]| {
        for (file, text) in [("class", class), ("vendor", vendor), ("device", device), ("numa_node", node)] {
            put(format!("devices/{place}/{file}"), text);
        }
    };
    let disk = "pci0000:17/0000:17:02.0/0000:18:00.0";
    device(disk, ["0x010802", "0x144d", "0xa80a", "0"]);
    fs::create_dir_all(folder.join(format!("devices/{disk}/nvme/nvme0"))).expect("ours");
    device("pci0000:17/0000:17:02.0/0000:19:00.0", ["0x060400", "0x104c", "0x8232", "0"]);
    device("pci0000:97/0000:97:02.0/0000:98:00.0", ["0x0b4000", "0x8086", "0x0b25", "-1"]);
    for (file, text) in [("type", "90"), ("format/event", "config:0-7"), ("die0", "0000:17"), ("die1", "0000:97")] {
        put(format!("pmus/uncore_iio_3/{file}"), text);
    }
    put("pmus/uncore_iio_3/cpumask".to_owned(), if sockets == 2 { "0-1" } else { "0" });
    // The software machine's second socket has the second CPU.
    for (node, cpus) in [(0, "0"), (1, "1"), (5, "")] {
        put(format!("node/node{node}/cpulist"), cpus);
    }
}

#[test]
fn devices_and_memory_nodes_are_labels() {
    let sockets = live_sockets();
    let folder = tempfile::tempdir().expect("a folder of ours");
    write(folder.path(), sockets);
    let machine = format!("emerald-rapids:sockets={sockets},cores=2");
    let mut program = command(PERICORE);
    program.args(["machine", "run", "--machine", &machine, "--workload", "dma-read", "--", "sh", "-ec", GIVEN, "sh"]);
    program.arg(folder.path());
    // Within a software machine the devices of this one would be no part of it: it may not know.
    program.args(["env", "-u", "PERICORE_EMULATED", PERICORE, "serve", "--through", "registers", "-A", "-I", "1000"]);
    program.args(["--listen", "127.0.0.1:0", "-M", "iio/IO_READ_BANDWIDTH,MEM_READ_BANDWIDTH"]);
    program.env("XDG_STATE_HOME", folder.path().join("state"));
    let (_server, rest) = Running::start(&mut program, "http://");
    let place = rest.split(": ").next().expect("a host and a port");
    let prometheus = Prometheus::of(&format!("\"{place}\""), "1s", "", None);
    awaited("numbers of every stack", || {
        let found = prometheus.series("pericore_iio_io_read_bandwidth_bytes_per_second{exported_instance=\"iio3\"}");
        (found.len() == usize::from(sockets)).then_some(())
    });

    let labels = |query: &str, names: &[&str]| -> Vec<Vec<String>> {
        let text = |labels: &serde_json::Value, name: &&str| labels[*name].as_str().unwrap_or("-").to_owned();
        let found = prometheus.series(query).into_iter();
        let mut rows: Vec<Vec<String>> =
            found.map(|(labels, _)| names.iter().map(|name| text(&labels, name)).collect()).collect();
        rows.sort();
        rows
    };
    let names = ["socket", "exported_instance", "unit", "bus", "device", "name", "ids", "numa_node"];
    let devices = [
        ["0", "iio3", "iio", "0000:17", "0000:18:00.0", "nvme0", "144d:a80a", "0"],
        ["1", "iio3", "iio", "0000:97", "0000:98:00.0", "-", "8086:0b25", "-"],
    ];
    assert_eq!(labels("pericore_pci_device_info", &names), devices[..usize::from(sockets)]);
    let nodes = [["0", "0"], ["1", "1"]];
    assert_eq!(labels("pericore_numa_node_info", &["socket", "numa_node"]), nodes[..usize::from(sockets)]);

    // Each has the number of its stack, and of its socket, at the same moment.
    let query = |mark: &str| {
        let mut queries = blocks(FLEET, "promql").filter(|query| query.contains(mark));
        queries.next().expect("the document has one").to_owned()
    };
    let by_device = query("pericore_pci_device_info");
    let numbers = |at: f64, label: &str, query: &str| -> BTreeMap<String, f64> {
        prometheus.by(label, &format!("last_over_time(({query})[1s:1s] @ {at})")).into_iter().collect()
    };
    let at = awaited("a whole second with numbers of every device", || {
        let at = prometheus.number("time()");
        (numbers(at, "device", &by_device).len() == usize::from(sockets)).then_some(at)
    });
    let numbers = |label: &str, query: &str| numbers(at, label, query);
    let of_devices = numbers("device", &by_device);
    let of_stacks = numbers("socket", "pericore_iio_io_read_bandwidth_bytes_per_second{exported_instance=\"iio3\"}");
    let expected = devices.iter().map(|device| (device[4].to_owned(), of_stacks.get(device[0]).copied()));
    let expected: BTreeMap<String, f64> = expected.filter_map(|(device, number)| Some((device, number?))).collect();
    assert!(of_devices == expected && expected.len() == usize::from(sockets), "{of_devices:?}, {expected:?}");
    assert!(expected.values().all(|number| *number > 1e8), "the workload's devices read: {expected:?}");
    let of_nodes = numbers("numa_node", &query("pericore_numa_node_info"));
    let of_sockets = numbers("socket", "sum by (socket) (pericore_imc_mem_read_bandwidth_bytes_per_second)");
    assert_eq!(of_nodes, of_sockets, "node 0 is socket 0's, node 1 socket 1's");
}
