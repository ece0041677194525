//! Memory nodes, and the socket that each belongs to.

use std::fs;

use super::Host;
use super::cpu_list::cpu_list;

/// Where the system lists memory nodes.
const NODES: &str = "sys/devices/system/node";

/// A memory node of the system, as `numactl` numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryNode {
    /// Its number.
    pub number: u16,
    /// The socket of its CPUs.
    pub socket: u16,
}

impl Host {
    /// The memory nodes that have CPUs online, by number. Those without, such as memory behind CXL, belong to no
    /// socket.
    pub fn memory_nodes(&self) -> Vec<MemoryNode> {
        let entries = fs::read_dir(self.root().join(NODES)).into_iter().flatten().flatten();
        let node = |name: String| {
            let number = name.strip_prefix("node")?.parse().ok()?;
            let text = fs::read_to_string(self.root().join(format!("{NODES}/{name}/cpulist"))).ok()?;
            let cpus = cpu_list(text.trim())?;
            let cpu = self.cpus.iter().find(|cpu| cpus.contains(&cpu.number))?;
            Some(MemoryNode { number, socket: cpu.package })
        };
        let mut nodes: Vec<_> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).filter_map(node).collect();
        nodes.sort_unstable();
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::{Processor, Root};

    /// Two sockets in two clusters each, and a node of memory alone, as Linux has them
    /// (ABI/stable/sysfs-devices-node). Package 1 has CPUs 2, 3, 6 and 7, of which 7 is offline.
    #[test]
    fn nodes_are_of_the_socket_of_their_cpus() {
        let folder = tempfile::tempdir().unwrap();
        let put = |file: String, text: &str| {
            let file = folder.path().join("sys/devices/system").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        put("cpu/online".to_owned(), "0-6\n");
        for (cpu, package) in [0, 0, 1, 1, 0, 0, 1].into_iter().enumerate() {
            put(format!("cpu/cpu{cpu}/topology/physical_package_id"), &format!("{package}\n"));
        }
        for (node, cpus) in [(0, "0,4"), (1, "1,5"), (2, "2,6"), (3, "3,7"), (10, "")] {
            put(format!("node/node{node}/cpulist"), &format!("{cpus}\n"));
        }
        put("node/online".to_owned(), "0-3,10\n");
        let host = Host::new(Root::at(folder.path()), Processor::default()).unwrap();
        let found: Vec<_> = host.memory_nodes().iter().map(|node| (node.number, node.socket)).collect();
        assert_eq!(found, [(0, 0), (1, 0), (2, 1), (3, 1)]);
        fs::remove_dir_all(folder.path().join("sys/devices/system/node")).unwrap();
        assert_eq!(host.memory_nodes(), []);
    }
}
