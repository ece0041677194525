//! `/sys/devices/system/cpu`: which CPUs there are, and which socket and core each belongs to. Tools that do not ask CPUID look here,
//! pericore and hwloc among them, and would find the host's one socket where the machine has two.

use super::tree::{Content, Tree};
use crate::platform::Cpu;

const FOLDER: &str = "/sys/devices/system/cpu";

/// The CPUs in use, as the kernel lists them.
pub const ONLINE: &str = "/sys/devices/system/cpu/online";

/// A CPU's folder.
pub fn topology(cpu: &Cpu) -> String {
    format!("{FOLDER}/cpu{}/topology", cpu.number)
}

/// Adds the list of CPUs and each one's place. No two share a core.
pub fn add(tree: &mut Tree, cpus: &[Cpu]) {
    let all: Vec<u32> = cpus.iter().map(|cpu| cpu.number).collect();
    let mut text = |path: &str, text: String| tree.add(path, 0o444, Content::Text(text.into_bytes()));
    text(ONLINE, list(&all));
    for cpu in cpus {
        let folder = topology(cpu);
        let numbers = [("physical_package_id", cpu.socket), ("core_id", cpu.core), ("die_id", 0)];
        for (name, number) in numbers {
            text(&format!("{folder}/{name}"), format!("{number}\n"));
        }
        let package: Vec<u32> = cpus.iter().filter(|other| other.socket == cpu.socket).map(|cpu| cpu.number).collect();
        let sets = [
            ("package_cpus", &package[..]),
            ("core_siblings", &package),
            ("die_cpus", &package),
            ("core_cpus", &[cpu.number]),
            ("thread_siblings", &[cpu.number]),
        ];
        for (name, set) in sets {
            text(&format!("{folder}/{name}"), mask(set));
            text(&format!("{folder}/{name}_list"), list(set));
        }
    }
}

/// `0-2,5`: ascending numbers, as the kernel writes them.
fn list(numbers: &[u32]) -> String {
    let ranges: Vec<String> = numbers
        .chunk_by(|a, b| a + 1 == *b)
        .map(|range| match range {
            [only] => only.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        })
        .collect();
    ranges.join(",") + "\n"
}

/// Hexadecimal words of 32 CPUs, the highest first.
fn mask(numbers: &[u32]) -> String {
    let words = numbers.iter().max().map_or(1, |highest| highest / 32 + 1);
    let word = |index: u32| {
        let inside = numbers.iter().filter(|&&number| number / 32 == index);
        inside.fold(0u32, |word, number| word | 1 << (number % 32))
    };
    let texts: Vec<String> = (0..words).rev().map(|index| format!("{:08x}", word(index))).collect();
    texts.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_written_as_the_kernel_does() {
        assert_eq!(list(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8\n");
        assert_eq!(mask(&[0, 1]), "00000003\n");
        assert_eq!(mask(&[1, 33]), "00000002,00000002\n");
    }

    #[test]
    fn every_cpu_is_in_its_machine_s_socket() {
        let cpu = |number, socket, core| Cpu { number, machine: number, socket, core };
        let mut tree = Tree::default();
        add(&mut tree, &[cpu(0, 0, 0), cpu(1, 0, 1), cpu(4, 1, 0)]);
        let text = |path: &str| match tree.find(&format!("{FOLDER}/{path}")).map(|node| &node.content) {
            Some(Content::Text(bytes)) => String::from_utf8(bytes.clone()).unwrap(),
            other => panic!("{path}: {other:?}"),
        };
        assert_eq!(text("online"), "0-1,4\n");
        assert_eq!(
            (text("cpu1/topology/physical_package_id"), text("cpu1/topology/core_id")),
            ("0\n".into(), "1\n".into())
        );
        assert_eq!(text("cpu4/topology/physical_package_id"), "1\n");
        assert_eq!(text("cpu1/topology/package_cpus_list"), "0-1\n");
        assert_eq!(text("cpu4/topology/thread_siblings_list"), "4\n");
    }
}
