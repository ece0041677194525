//! The counters of the guest's cores: what CPUID says of them, and how many instructions the plugin has counted.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use pericore_machine::chassis::{Chassis, CoreProgress, Shape};

use super::process::nameless_file;

/// The plugin of QEMU that counts (plugin/lib.rs).
const PLUGIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugin.so"));
/// What it writes: three numbers in 32 bytes for each CPU, in a page.
const PAGE: [u8; 4096] = [0; 4096];
const OF_A_CPU: u64 = 32;

/// CPUID's leaf of architectural performance monitoring (SDM volume 2).
pub const LEAF: u32 = 0xa;
/// Version, counters and fixed counters that a guest is to know of at most: those whose MSRs all families have.
const VERSION: u32 = 3;
const COUNTERS: u32 = 4;
const FIXED: u32 = 3;
/// Of the seven architectural events those that nobody counts here: LLC references and misses, branches and those
/// mispredicted.
const EVENTS: u32 = 7;
const UNAVAILABLE: u32 = 0x78;

/// What the leaf holds for a CPU.
pub fn leaf(chassis: &Chassis, cpu: u32) -> [u32; 4] {
    let [eax, _, _, edx] = chassis.cpuid(cpu, LEAF, 0);
    at_most(eax, edx)
}

/// What the leaf may hold of EAX and EDX.
fn at_most(eax: u32, edx: u32) -> [u32; 4] {
    let (version, counters, widths) = ((eax & 0xff).min(VERSION), (eax >> 8 & 0xff).min(COUNTERS), eax & 0x00ff_0000);
    let fixed = (edx & 0x1f).min(FIXED) | edx & 0x1fe0;
    [EVENTS << 24 | widths | counters << 8 | version, UNAVAILABLE, 0, fixed]
}

/// The numbers that the plugin writes.
#[derive(Debug)]
pub struct InstructionCounts(File);

impl InstructionCounts {
    /// Numbers, and descriptors for QEMU: of the plugin and of the numbers.
    ///
    /// # Errors
    /// There may be too little memory.
    pub fn new() -> io::Result<(Self, [OwnedFd; 2])> {
        let counts = nameless_file(&[&PAGE])?;
        let theirs = [nameless_file(&[PLUGIN])?.into(), counts.try_clone()?.into()];
        Ok((Self(counts), theirs))
    }

    /// What a CPU that stands has done by a moment of the guest's time.
    pub fn of(&self, cpu: u32, shape: &Shape, now: Duration) -> Option<CoreProgress> {
        let mut bytes = [0; 24];
        self.0.read_exact_at(&mut bytes, OF_A_CPU * u64::from(cpu)).ok()?;
        let mut numbers = bytes.chunks_exact(8).map(super::gdb::reply::little_endian);
        let [user, kernel, undone] = std::array::from_fn(|_| numbers.next().unwrap_or_default());
        let nominal_mhz = shape.family.processor.as_ref().map_or(0, |part| part.nominal_mhz);
        let cycles = (now.as_nanos() * u128::from(nominal_mhz) / 1000) as u64;
        Some(CoreProgress { user: user.saturating_sub(undone), kernel, cycles })
    }
}

/// QEMU's option for the plugin, with `theirs` inherited; the kernel comes in at `fault` after a page fault.
pub fn option(theirs: &[OwnedFd; 2], fault: u64, cpus: u16) -> String {
    let [plugin, counts] = theirs.each_ref().map(AsRawFd::as_raw_fd);
    format!("file=/proc/self/fd/{plugin},counts={counts},fault={fault:x},cpus={cpus}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pericore_machine::MachineSpec;

    /// SDM volume 2, CPUID leaf 0AH: version 3, four counters of 48 bits, seven events of which the last four are not
    /// there, three fixed counters of 48 bits.
    #[test]
    fn a_guest_knows_of_what_counts() {
        for machine in ["nehalem", "e5-2600", "emerald-rapids", "sapphire-rapids"] {
            let chassis = MachineSpec::parse(machine).unwrap().chassis().unwrap();
            assert_eq!(leaf(&chassis, 0), [0x0730_0403, 0x78, 0, 0x603], "{machine}");
        }
    }

    /// SDM volume 2, leaf 0AH: EAX has the version in bits 7:0, counters in 15:8, their width in 23:16, the number of
    /// events in 31:24; EDX has fixed counters in 4:0 and their width in 12:5. A CPU of version 2 with two counters of
    /// 40 bits and one fixed counter stays one; of a later one with more of everything, no more is told than is there.
    #[test]
    fn a_guest_knows_of_no_more_than_its_cpu_has() {
        assert_eq!(at_most(0x0a28_0202, 0x0501), [0x0728_0202, 0x78, 0, 0x0501]);
        assert_eq!(at_most(0x0a30_0805, 0xffff_8604), [0x0730_0403, 0x78, 0, 0x0603]);
        assert_eq!(at_most(0, 0), [0x0700_0000, 0x78, 0, 0]);
    }

    /// A CPU's numbers are the plugin's, less what was taken back. An E5-2680 has 2.7 GHz.
    #[test]
    fn what_was_taken_back_is_not_retired() {
        let (counts, [_, theirs]) = InstructionCounts::new().unwrap();
        let numbers: Vec<u8> =
            [0, 0, 0, 0, 1000_u64, 200, 3, 0].iter().flat_map(|number| number.to_le_bytes()).collect();
        File::from(theirs).write_all_at(&numbers, 0).unwrap();
        let shape = Shape::new(pericore_catalog::family("e5-2600").unwrap(), 1, 2, 1).unwrap();
        let second = Duration::from_secs(1);
        let executed = CoreProgress { user: 997, kernel: 200, cycles: 2_700_000_000 };
        assert_eq!(counts.of(1, &shape, second), Some(executed));
        assert_eq!(counts.of(128, &shape, second), None);
    }
}
