//! `/etc/likwid_topo.cfg`: what LIKWID takes a machine for. It is in the format of likwid-genTopoCfg, and read when
//! there is no likwid.cfg.

use std::fmt::{Display, Write};

use crate::backend::Backend;
use crate::platform::Cpu;

/// Memory of a NUMA node, in kB.
const NODE_MEMORY: u64 = 64 << 20;

/// Features as LIKWID 5.2 numbers them in its bit mask: what an E5-2600 has (FP, MMX, SSE to SSE4.2, AES, AVX, …).
const FEATURES: &str = "FP ACPI MMX SSE SSE2 HTT TM RDTSCP MONITOR EIST TM2 SSSE SSE4.1 SSE4.2 AES AVX SSE3";
const FEATURE_FLAGS: u32 = 0x0003_BFFF;

/// The file's text.
pub fn topology(backend: &impl Backend) -> String {
    let platform = backend.platform();
    let family = platform.shape.family;
    let mut text = Text::default();
    let [signature, ..] = backend.cpuid(0, 1, 0);
    let [pmon, .., fixed] = backend.cpuid(0, 0xA, 0);
    let cpu = family.cpus.first();
    let info: [(&str, &dyn Display); 18] = [
        ("perf_num_ctr", &(pmon >> 8 & 0xff)),
        ("supportClientmem", &0),
        ("part", &0),
        ("featureFlags", &FEATURE_FLAGS),
        ("model", &cpu.map_or(0, |cpu| cpu.model)),
        ("clock", &format_args!("{}.0", platform.hertz)),
        ("family", &cpu.map_or(0, |cpu| cpu.family)),
        ("vendor", &0),
        ("features", &FEATURES),
        ("osname", &brand(backend)),
        ("supportUncore", &1),
        ("stepping", &(signature & 0xf)),
        ("turbo", &1),
        ("perf_version", &(pmon & 0xff)),
        ("perf_num_fixed_ctr", &(fixed & 0x1f)),
        ("architecture", &"x86_64"),
        ("isIntel", &1),
        ("perf_width_ctr", &(pmon >> 16 & 0xff)),
    ];
    info.iter().for_each(|(key, value)| text.row("cpuid_info", key, value));
    threads(&mut text, backend);
    caches(&mut text, backend);
    nodes(&mut text, &platform.cpus, platform.shape.sockets);
    text.0
}

/// Rows of `section key = value`.
#[derive(Default)]
struct Text(String);

impl Text {
    fn row(&mut self, section: &str, key: impl Display, value: &dyn Display) {
        let _ = writeln!(self.0, "{section} {key} = {value}");
    }
}

fn threads(text: &mut Text, backend: &impl Backend) {
    let platform = backend.platform();
    let of_socket = |socket| platform.cpus.iter().filter(|cpu| cpu.socket == socket).count();
    text.row("cpuid_topology", "numHWThreads", &platform.cpus.len());
    text.row("cpuid_topology", "numSockets", &platform.shape.sockets);
    text.row("cpuid_topology", "numCoresPerSocket", &of_socket(0));
    text.row("cpuid_topology", "numThreadsPerCore", &1);
    text.row("cpuid_topology", "numDies", &0);
    for cpu in &platform.cpus {
        let rows: [(&str, &dyn Display); 5] = [
            ("threadId", &0),
            ("coreId", &cpu.core),
            ("packageId", &cpu.socket),
            // LIKWID keeps the operating system's number here, and looks it up in the set of usable CPUs.
            ("apicId", &cpu.number),
            ("dieId", &0),
        ];
        rows.iter().for_each(|(key, value)| {
            text.row("cpuid_topology threadPool", format_args!("{} {key}", cpu.number), value)
        });
    }
}

fn caches(text: &mut Text, backend: &impl Backend) {
    let leaves = (0..).map(|subleaf| backend.cpuid(0, 4, subleaf)).take_while(|leaf| leaf[0] & 0x1f != 0);
    // LIKWID numbers levels and leaves out the instruction cache.
    let data: Vec<[u32; 4]> = leaves.filter(|leaf| leaf[0] & 0x1f != 2).collect();
    text.row("cpuid_topology", "numCacheLevels", &data.len());
    let cores = backend.platform().cpus.iter().filter(|cpu| cpu.socket == 0).count();
    for [first, geometry, sets, _] in data {
        let level = first >> 5 & 7;
        let (ways, line, sets) = ((geometry >> 22) + 1, (geometry & 0xfff) + 1, sets + 1);
        let kind = if first & 0x1f == 1 { "DATACACHE" } else { "UNIFIEDCACHE" };
        let rows: [(&str, &dyn Display); 7] = [
            ("type", &kind),
            ("associativity", &ways),
            ("sets", &sets),
            ("lineSize", &line),
            ("size", &(ways * line * sets)),
            ("threads", &if level == 3 { cores } else { 1 }),
            ("inclusive", &u8::from(level == 3)),
        ];
        rows.iter()
            .for_each(|(key, value)| text.row("cpuid_topology cacheLevels", format_args!("{level} {key}"), value));
    }
}

fn nodes(text: &mut Text, cpus: &[Cpu], sockets: u16) {
    text.row("numa_info", "numberOfNodes", &sockets);
    for node in 0..sockets {
        // LIKWID counts nodes and processors from 1 here, distances from 0.
        let row = |text: &mut Text, key: &dyn Display, value: &dyn Display| {
            text.row("numa_info nodes", format_args!("{} {key}", node + 1), value);
        };
        let own: Vec<_> = cpus.iter().filter(|cpu| cpu.socket == node).collect();
        row(text, &"id", &node);
        row(text, &"totalMemory", &NODE_MEMORY);
        row(text, &"freeMemory", &NODE_MEMORY);
        row(text, &"numberOfProcessors", &own.len());
        for (index, cpu) in own.iter().enumerate() {
            row(text, &format_args!("processors {}", index + 1), &cpu.number);
        }
        row(text, &"numberOfDistances", &sockets);
        for other in 0..sockets {
            row(text, &format_args!("distances {other}"), &if other == node { 10 } else { 21 });
        }
    }
}

fn brand(backend: &impl Backend) -> String {
    let bytes = (0x8000_0002..=0x8000_0004).flat_map(|leaf| backend.cpuid(0, leaf, 0)).flat_map(u32::to_le_bytes);
    let text: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&text).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use pericore_machine::MachineSpec;

    use super::*;
    use crate::paced::Paced;

    /// The file's rows, by section and key.
    fn rows(machine: &str, host: &[u32]) -> BTreeMap<String, String> {
        let chassis = MachineSpec::parse(machine).unwrap().chassis().unwrap();
        let paced = Paced::start(
            chassis,
            crate::paced::tests::Slow { costs: Duration::ZERO },
            1_000_000_000,
            2_700_000_000,
            host,
        );
        let text = topology(&paced.unwrap());
        let row = |line: &str| line.split_once(" = ").map(|(key, value)| (key.to_owned(), value.to_owned()));
        text.lines().map(|line| row(line).unwrap_or_else(|| panic!("no row: {line}"))).collect()
    }

    /// An E5-2680: family 6, model 2DH, stepping 7; four programmable counters of 48 bits and three fixed ones, version
    /// 3 (SDM, leaf 0AH); 32 KB of 8 ways, 256 KB of 8 ways, 20 MB of 20 ways, lines of 64 bytes.
    #[test]
    fn the_file_describes_the_part() {
        let rows = rows("e5-2600:sockets=2", &[4, 5, 6, 7]);
        let value = |key: &str| rows.get(key).unwrap_or_else(|| panic!("no {key} in {rows:#?}")).as_str();
        for (key, wanted) in [
            ("family", "6"),
            ("model", "45"),
            ("stepping", "7"),
            ("perf_version", "3"),
            ("perf_num_ctr", "4"),
            ("perf_width_ctr", "48"),
            ("perf_num_fixed_ctr", "3"),
            ("clock", "2700000000.0"),
        ] {
            assert_eq!(value(&format!("cpuid_info {key}")), wanted, "{key}");
        }
        for (level, kind, ways, kilobytes, threads, inclusive) in
            [(1, "DATACACHE", 8, 32, 1, 0), (2, "UNIFIEDCACHE", 8, 256, 1, 0), (3, "UNIFIEDCACHE", 20, 20 << 10, 2, 1)]
        {
            let of = |key: &str| value(&format!("cpuid_topology cacheLevels {level} {key}"));
            let number = |key: &str| of(key).parse::<u64>().unwrap();
            assert_eq!((of("type"), number("associativity"), number("lineSize")), (kind, ways, 64), "level {level}");
            assert_eq!((number("size"), number("threads"), number("inclusive")), (kilobytes << 10, threads, inclusive));
            assert_eq!(number("sets") * ways * 64, kilobytes << 10, "level {level}");
        }
        assert_eq!(value("cpuid_topology numCacheLevels"), "3");
    }

    /// Two sockets on CPUs 4 to 7 of the host: each has its own, and is nearer to itself than to the other.
    #[test]
    fn sockets_have_their_cpus_and_distances() {
        let rows = rows("e5-2600:sockets=2", &[4, 5, 6, 7]);
        let value = |key: &str| rows.get(key).unwrap_or_else(|| panic!("no {key} in {rows:#?}")).as_str();
        for (key, wanted) in [("numHWThreads", "4"), ("numSockets", "2"), ("numCoresPerSocket", "2")] {
            assert_eq!(value(&format!("cpuid_topology {key}")), wanted, "{key}");
        }
        for (cpu, core, socket) in [("4", "0", "0"), ("5", "1", "0"), ("6", "0", "1"), ("7", "1", "1")] {
            let of = |key: &str| value(&format!("cpuid_topology threadPool {cpu} {key}"));
            assert_eq!([of("coreId"), of("packageId"), of("apicId")], [core, socket, cpu]);
        }
        assert_eq!(value("numa_info numberOfNodes"), "2");
        for (node, id, cpus, distances) in [("1", "0", ["4", "5"], ["10", "21"]), ("2", "1", ["6", "7"], ["21", "10"])]
        {
            let of = |key: &str| value(&format!("numa_info nodes {node} {key}"));
            assert_eq!((of("id"), of("numberOfProcessors")), (id, "2"));
            assert_eq!([of("processors 1"), of("processors 2")], cpus);
            assert_eq!([of("distances 0"), of("distances 1")], distances);
        }
    }
}
