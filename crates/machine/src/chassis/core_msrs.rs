//! MSRs outside the uncore's PMON that tools touch on the way: identity, frequency, power, and the core's own counters.
//!
//! The cores are not modelled. Their counters run at fixed rates while enabled: one instruction a cycle, at the nominal
//! frequency; core events other than cycles and instructions count nothing. Whatever has no row here raises #GP.

use std::collections::HashMap;

use super::shape::Shape;
use crate::signal::Tick;

/// Who shares an MSR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Cpu,
    Package,
}

/// What an MSR does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Keeps the bits of this mask as written; other bits stay as they are after reset.
    Kept(u64),
    /// Counts cycles of the nominal frequency, whatever is enabled.
    Cycles,
    /// Energy in units of 2^-16 J, 32 bits, at this many watts.
    Energy(u64),
    /// Threads of the socket that take part, and from bit 16 on its cores.
    Census,
    /// A core counter by its bit in `IA32_PERF_GLOBAL_CTRL`.
    Counter(u8),
}

struct Row {
    msr: u32,
    name: &'static str,
    scope: Scope,
    kind: Kind,
    reset: u64,
    families: Families,
}

const ALL: Families = &["nehalem", "e5-2600", "emerald-rapids"];
const JKT: Families = &["e5-2600"];
const EMR: Families = &["emerald-rapids"];
const RAPL: Families = &["e5-2600", "emerald-rapids"];

type Families = &'static [&'static str];

const fn row(msr: u32, name: &'static str, scope: Scope, kind: Kind, reset: u64, families: Families) -> Row {
    Row { msr, name, scope, kind, reset, families }
}

/// Bits of `IA32_PERFEVTSELx` that can be written.
const EVENT_SELECT: u64 = 0xFFFF_FFFF;

/// `IA32_PERF_GLOBAL_CTRL`, `IA32_FIXED_CTR_CTRL`, `IA32_PERFEVTSEL0`.
const GLOBAL_CTRL: u32 = 0x38F;
const FIXED_CTRL: u32 = 0x38D;
const EVENT_SELECT0: u32 = 0x186;

/// Fixed counters start at this bit of `IA32_PERF_GLOBAL_CTRL`.
const FIRST_FIXED: u8 = 32;

/// Names and layout: SDM volume 4, tables 2-2 (architectural), 2-20 and 2-23 (06_2DH). Values of 06_2DH: an E5-2680, 2.7 GHz, eight
/// cores, 130 W, from its data sheet (turbo steps 8 8 7 5 5 5 4 4 above 27); of Emerald Rapids: an 8592+, 1.9 GHz, 350 W.
const ROWS: &[Row] = &[
    row(0x10, "IA32_TIME_STAMP_COUNTER", Scope::Cpu, Kind::Cycles, 0, ALL),
    row(0xE7, "IA32_MPERF", Scope::Cpu, Kind::Cycles, 0, ALL),
    row(0xE8, "IA32_APERF", Scope::Cpu, Kind::Cycles, 0, ALL),
    // Tools write 0, run CPUID and read the microcode's revision: it always shows.
    row(0x17, "IA32_PLATFORM_ID", Scope::Package, Kind::Kept(0), 0, ALL),
    row(0x34, "MSR_SMI_COUNT", Scope::Cpu, Kind::Kept(0), 0, ALL),
    // What firmware's choice of active cores has left; CPUID goes on telling what there was.
    row(0x35, "MSR_CORE_THREAD_COUNT", Scope::Package, Kind::Census, 0, ALL),
    row(0x8B, "IA32_BIOS_SIGN_ID", Scope::Cpu, Kind::Kept(0), 0x710 << 32, JKT),
    row(0x8B, "IA32_BIOS_SIGN_ID", Scope::Cpu, Kind::Kept(0), 0x2100_0000 << 32, EMR),
    // Ratio 15:8, most efficient ratio 47:40.
    row(0xCE, "MSR_PLATFORM_INFO", Scope::Package, Kind::Kept(0), 0x0C00_0000_1B00, JKT),
    row(0xCE, "MSR_PLATFORM_INFO", Scope::Package, Kind::Kept(0), 0x0800_0000_1300, EMR),
    // The nominal ratio.
    row(0x198, "IA32_PERF_STATUS", Scope::Cpu, Kind::Kept(0), 0x1B00, JKT),
    row(0x199, "IA32_PERF_CTL", Scope::Cpu, Kind::Kept(0xFFFF), 0x1B00, JKT),
    // Valid, 51 degrees below the limit of 95.
    row(0x19C, "IA32_THERM_STATUS", Scope::Cpu, Kind::Kept(0), 0x8833_0000, RAPL),
    row(0x1B1, "IA32_PACKAGE_THERM_STATUS", Scope::Package, Kind::Kept(0), 0x8833_0000, RAPL),
    row(0x1A2, "MSR_TEMPERATURE_TARGET", Scope::Package, Kind::Kept(0), 95 << 16, RAPL),
    // Fast strings, performance monitoring available.
    row(0x1A0, "IA32_MISC_ENABLE", Scope::Cpu, Kind::Kept(u64::MAX), 0x89, ALL),
    row(0x1A4, "MSR_MISC_FEATURE_CONTROL", Scope::Cpu, Kind::Kept(0xF), 0, RAPL),
    row(0x1A6, "MSR_OFFCORE_RSP_0", Scope::Cpu, Kind::Kept(u64::MAX), 0, ALL),
    row(0x1A7, "MSR_OFFCORE_RSP_1", Scope::Cpu, Kind::Kept(u64::MAX), 0, RAPL),
    // One byte for each number of active cores, one core lowest.
    row(0x1AD, "MSR_TURBO_RATIO_LIMIT", Scope::Package, Kind::Kept(0), 0x1F1F_2020_2022_2323, JKT),
    row(0x1B0, "IA32_ENERGY_PERF_BIAS", Scope::Cpu, Kind::Kept(0xF), 6, RAPL),
    row(0x345, "IA32_PERF_CAPABILITIES", Scope::Cpu, Kind::Kept(0), 0x31C3, RAPL),
    row(0x3F1, "IA32_PEBS_ENABLE", Scope::Cpu, Kind::Kept(u64::MAX), 0, ALL),
    // The machine never sleeps.
    row(0x3F8, "MSR_PKG_C3_RESIDENCY", Scope::Package, Kind::Kept(0), 0, ALL),
    row(0x3F9, "MSR_PKG_C6_RESIDENCY", Scope::Package, Kind::Kept(0), 0, ALL),
    row(0x3FA, "MSR_PKG_C7_RESIDENCY", Scope::Package, Kind::Kept(0), 0, ALL),
    row(0x60D, "MSR_PKG_C2_RESIDENCY", Scope::Package, Kind::Kept(0), 0, RAPL),
    row(0x3FC, "MSR_CORE_C3_RESIDENCY", Scope::Cpu, Kind::Kept(0), 0, ALL),
    row(0x3FD, "MSR_CORE_C6_RESIDENCY", Scope::Cpu, Kind::Kept(0), 0, ALL),
    row(0x3FE, "MSR_CORE_C7_RESIDENCY", Scope::Cpu, Kind::Kept(0), 0, RAPL),
    // Units of 1/8 W, 2^-16 J, 1/1024 s; package of 130 W (75 to 135).
    row(0x606, "MSR_RAPL_POWER_UNIT", Scope::Package, Kind::Kept(0), 0xA_1003, RAPL),
    row(0x610, "MSR_PKG_POWER_LIMIT", Scope::Package, Kind::Kept(0), 0x0007_8518_0015_8410, RAPL),
    row(0x611, "MSR_PKG_ENERGY_STATUS", Scope::Package, Kind::Energy(95), 0, RAPL),
    row(0x613, "MSR_PKG_PERF_STATUS", Scope::Package, Kind::Kept(0), 0, RAPL),
    row(0x614, "MSR_PKG_POWER_INFO", Scope::Package, Kind::Kept(0), 0x0168_0438_0258_0410, JKT),
    row(0x614, "MSR_PKG_POWER_INFO", Scope::Package, Kind::Kept(0), 0x0168_1000_0258_0AF0, EMR),
    row(0x618, "MSR_DRAM_POWER_LIMIT", Scope::Package, Kind::Kept(0), 0, RAPL),
    row(0x619, "MSR_DRAM_ENERGY_STATUS", Scope::Package, Kind::Energy(18), 0, RAPL),
    row(0x61B, "MSR_DRAM_PERF_STATUS", Scope::Package, Kind::Kept(0), 0, RAPL),
    row(0x61C, "MSR_DRAM_POWER_INFO", Scope::Package, Kind::Kept(0), 0, RAPL),
    row(0x638, "MSR_PP0_POWER_LIMIT", Scope::Package, Kind::Kept(0), 0, JKT),
    row(0x639, "MSR_PP0_ENERGY_STATUS", Scope::Package, Kind::Energy(70), 0, JKT),
    row(0x63A, "MSR_PP0_POLICY", Scope::Package, Kind::Kept(0x1F), 0, JKT),
    row(0x63B, "MSR_PP0_PERF_STATUS", Scope::Package, Kind::Kept(0), 0, JKT),
    row(0x620, "MSR_UNCORE_RATIO_LIMIT", Scope::Package, Kind::Kept(0x7F7F), 0x0816, EMR),
    row(0x621, "MSR_UNCORE_PERF_STATUS", Scope::Package, Kind::Kept(0), 0x16, EMR),
    row(0x64D, "MSR_PLATFORM_ENERGY_COUNTER", Scope::Package, Kind::Energy(350), 0, EMR),
    // The core's performance monitoring.
    row(EVENT_SELECT0, "IA32_PERFEVTSEL0", Scope::Cpu, Kind::Kept(EVENT_SELECT), 0, ALL),
    row(0x187, "IA32_PERFEVTSEL1", Scope::Cpu, Kind::Kept(EVENT_SELECT), 0, ALL),
    row(0x188, "IA32_PERFEVTSEL2", Scope::Cpu, Kind::Kept(EVENT_SELECT), 0, ALL),
    row(0x189, "IA32_PERFEVTSEL3", Scope::Cpu, Kind::Kept(EVENT_SELECT), 0, ALL),
    row(0xC1, "IA32_PMC0", Scope::Cpu, Kind::Counter(0), 0, ALL),
    row(0xC2, "IA32_PMC1", Scope::Cpu, Kind::Counter(1), 0, ALL),
    row(0xC3, "IA32_PMC2", Scope::Cpu, Kind::Counter(2), 0, ALL),
    row(0xC4, "IA32_PMC3", Scope::Cpu, Kind::Counter(3), 0, ALL),
    row(0x309, "IA32_FIXED_CTR0", Scope::Cpu, Kind::Counter(FIRST_FIXED), 0, ALL),
    row(0x30A, "IA32_FIXED_CTR1", Scope::Cpu, Kind::Counter(FIRST_FIXED + 1), 0, ALL),
    row(0x30B, "IA32_FIXED_CTR2", Scope::Cpu, Kind::Counter(FIRST_FIXED + 2), 0, ALL),
    row(FIXED_CTRL, "IA32_FIXED_CTR_CTRL", Scope::Cpu, Kind::Kept(0xFFF), 0, ALL),
    row(GLOBAL_CTRL, "IA32_PERF_GLOBAL_CTRL", Scope::Cpu, Kind::Kept(0x7_0000_00FF), 0, ALL),
    row(0x38E, "IA32_PERF_GLOBAL_STATUS", Scope::Cpu, Kind::Kept(0), 0, ALL),
    row(0x390, "IA32_PERF_GLOBAL_OVF_CTRL", Scope::Cpu, Kind::Kept(0), 0, ALL),
];

/// Bits of a core counter.
const COUNTER_MASK: u64 = (1 << 48) - 1;

/// The core-side MSRs of a machine.
#[derive(Debug)]
pub struct CoreMsrs {
    family: &'static str,
    /// Ticks of a cycle at the nominal frequency.
    period: u64,
    /// Nominal frequency.
    hertz: u64,
    /// See [`Kind::Census`].
    census: u64,
    /// Written values, by socket or CPU and MSR; counters hold their value less the cycles counted since they were enabled.
    values: HashMap<(u32, u32), u64>,
}

impl CoreMsrs {
    /// After reset. `period` is the ticks of a cycle at the nominal frequency.
    pub fn new(shape: &Shape, period: u64) -> Self {
        let ratio = find(shape.family.name, 0xCE).map_or(0, |row| row.reset >> 8 & 0xff);
        // Nehalem's row is missing on purpose: its bus clock is 133 MHz.
        let hertz = if ratio == 0 { 2_930_000_000 } else { ratio * 100_000_000 };
        let census = u64::from(shape.cores) << 16 | u64::from(shape.cores * shape.threads);
        Self { family: shape.family.name, period, hertz, census, values: HashMap::new() }
    }

    /// Ticks of a cycle at the nominal frequency.
    pub const fn period(&self) -> u64 {
        self.period
    }

    /// Sets the ticks of a cycle.
    pub const fn set_period(&mut self, period: u64) {
        self.period = period;
    }

    /// Writes what another machine's MSRs hold at a tick, at tick 0 of this one. `socket_of` gives the socket of a CPU of the other, and
    /// `stands_for` the CPU that has its place here, if one has.
    pub fn take_over(
        &mut self,
        other: &Self,
        tick: Tick,
        socket_of: impl Fn(u32) -> Option<u16>,
        stands_for: impl Fn(u32) -> Option<u32>,
    ) {
        for ((scope, msr), _) in other.values() {
            let (cpu, socket, own) = match find(self.family, msr) {
                Some(Row { scope: Scope::Cpu, .. }) => match (socket_of(scope), stands_for(scope)) {
                    (Some(socket), Some(own)) => (scope, socket, own),
                    _ => continue,
                },
                Some(Row { scope: Scope::Package, .. }) => (0, (u32::MAX - scope) as u16, 0),
                None => continue,
            };
            if let Some(value) = other.read(cpu, socket, msr, tick) {
                // What cannot be written is the machine's own.
                let _ = self.write(own, socket, msr, value, 0);
            }
        }
    }

    /// What is kept, in order.
    pub fn values(&self) -> Vec<((u32, u32), u64)> {
        let mut values: Vec<_> = self.values.iter().map(|(&key, &value)| (key, value)).collect();
        values.sort_unstable();
        values
    }

    /// Puts back a row of [`Self::values`].
    pub fn restore(&mut self, key: (u32, u32), value: u64) {
        self.values.insert(key, value);
    }

    /// Reads an MSR on a CPU of a socket; `None` is #GP.
    pub fn read(&self, cpu: u32, socket: u16, msr: u32, now: Tick) -> Option<u64> {
        let row = find(self.family, msr)?;
        let cycles = now / self.period;
        Some(match row.kind {
            Kind::Kept(_) => self.stored(row, cpu, socket),
            Kind::Cycles => self.stored(row, cpu, socket).wrapping_add(cycles),
            Kind::Energy(watts) => energy(watts, cycles, self.hertz),
            Kind::Census => self.census,
            Kind::Counter(bit) => {
                let counted = if self.is_counting(cpu, socket, bit) { cycles } else { 0 };
                self.stored(row, cpu, socket).wrapping_add(counted) & COUNTER_MASK
            }
        })
    }

    /// Writes an MSR on a CPU of a socket; `None` is #GP.
    pub fn write(&mut self, cpu: u32, socket: u16, msr: u32, value: u64, now: Tick) -> Option<()> {
        let row = find(self.family, msr)?;
        let cycles = now / self.period;
        match row.kind {
            Kind::Kept(mask) => {
                let steers =
                    msr == GLOBAL_CTRL || msr == FIXED_CTRL || (EVENT_SELECT0..EVENT_SELECT0 + 4).contains(&msr);
                let counting = if steers { self.counting(cpu, socket) } else { Vec::new() };
                let old = self.stored(row, cpu, socket);
                self.values.insert(key(row, cpu, socket), old & !mask | value & mask);
                if steers {
                    self.resettle(cpu, socket, &counting, cycles);
                }
            }
            Kind::Cycles => {
                self.values.insert(key(row, cpu, socket), value.wrapping_sub(cycles));
            }
            Kind::Counter(bit) => {
                let counted = if self.is_counting(cpu, socket, bit) { cycles } else { 0 };
                self.values.insert(key(row, cpu, socket), value.wrapping_sub(counted));
            }
            Kind::Energy(_) | Kind::Census => return None,
        }
        Some(())
    }

    fn stored(&self, row: &Row, cpu: u32, socket: u16) -> u64 {
        self.values.get(&key(row, cpu, socket)).copied().unwrap_or(row.reset)
    }

    fn setting(&self, cpu: u32, socket: u16, msr: u32) -> u64 {
        find(self.family, msr).map_or(0, |row| self.stored(row, cpu, socket))
    }

    /// True if a counter runs: enabled globally and by itself, on an event that the emulated core counts.
    fn is_counting(&self, cpu: u32, socket: u16, bit: u8) -> bool {
        let globally = self.setting(cpu, socket, GLOBAL_CTRL) >> bit & 1 == 1;
        globally
            && match bit.checked_sub(FIRST_FIXED) {
                Some(fixed) => self.setting(cpu, socket, FIXED_CTRL) >> (4 * fixed) & 3 != 0,
                None => {
                    let select = self.setting(cpu, socket, EVENT_SELECT0 + u32::from(bit));
                    // Unhalted cycles, instructions retired; bit 22 enables.
                    select >> 22 & 1 == 1 && matches!(select & 0xffff, 0x003C | 0x00C0)
                }
            }
    }

    fn counting(&self, cpu: u32, socket: u16) -> Vec<u32> {
        let running = ROWS.iter().filter(|row| match row.kind {
            Kind::Counter(bit) => self.is_counting(cpu, socket, bit),
            _ => false,
        });
        running.map(|row| row.msr).collect()
    }

    /// Counters that started or stopped keep their value.
    fn resettle(&mut self, cpu: u32, socket: u16, before: &[u32], cycles: u64) {
        let after = self.counting(cpu, socket);
        for row in ROWS.iter().filter(|row| matches!(row.kind, Kind::Counter(_))) {
            let stored = self.stored(row, cpu, socket);
            let settled = match (before.contains(&row.msr), after.contains(&row.msr)) {
                (false, true) => stored.wrapping_sub(cycles),
                (true, false) => stored.wrapping_add(cycles),
                _ => continue,
            };
            self.values.insert(key(row, cpu, socket), settled);
        }
    }
}

/// Intel's name of an MSR of the core's side; `None` if the family has no such MSR.
pub fn name(family: &str, msr: u32) -> Option<&'static str> {
    find(family, msr).map(|row| row.name)
}

fn find(family: &str, msr: u32) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.msr == msr && row.families.contains(&family))
}

fn key(row: &Row, cpu: u32, socket: u16) -> (u32, u32) {
    match row.scope {
        Scope::Cpu => (cpu, row.msr),
        // Packages and CPUs are numbered apart.
        Scope::Package => (u32::MAX - u32::from(socket), row.msr),
    }
}

fn energy(watts: u64, cycles: u64, hertz: u64) -> u64 {
    let units = u128::from(watts) * 65_536 * u128::from(cycles) / u128::from(hertz);
    units as u64 & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn msrs() -> CoreMsrs {
        CoreMsrs::new(&Shape::new(pericore_catalog::family("e5-2600").unwrap(), 2, 2, 1).unwrap(), 8)
    }

    #[test]
    fn a_counter_counts_only_while_both_enables_are_set() {
        let mut msrs = msrs();
        msrs.write(1, 0, FIXED_CTRL, 0x222, 0).unwrap();
        assert_eq!(msrs.read(1, 0, 0x30A, 8000), Some(0));
        msrs.write(1, 0, GLOBAL_CTRL, 7 << 32, 8000).unwrap();
        assert_eq!(msrs.read(1, 0, 0x30A, 16_000), Some(1000));
        msrs.write(1, 0, GLOBAL_CTRL, 0, 16_000).unwrap();
        assert_eq!(msrs.read(1, 0, 0x30A, 80_000), Some(1000));
        msrs.write(1, 0, 0x30A, 0, 80_000).unwrap();
        assert_eq!(msrs.read(1, 0, 0x30A, 90_000), Some(0));
        assert_eq!(msrs.read(0, 0, 0x30A, 90_000), Some(0), "each CPU has its own");
    }

    #[test]
    fn what_has_no_row_faults() {
        let mut msrs = msrs();
        assert_eq!(msrs.read(0, 0, 0xDEAD, 0), None);
        assert_eq!(msrs.write(0, 0, 0x620, 0, 0), None, "the uncore ratio limit came with a later family");
        assert_eq!(msrs.write(0, 0, 0x611, 0, 0), None, "energy is read only");
    }

    #[test]
    fn ninety_five_watts_for_a_second() {
        assert_eq!(msrs().read(0, 0, 0x611, 21_600_000_000), Some(95 * 65_536));
    }

    #[test]
    fn every_msr_has_one_row_a_family() {
        for family in ALL {
            for row in ROWS.iter().filter(|row| row.families.contains(family)) {
                let same = ROWS.iter().filter(|other| other.msr == row.msr && other.families.contains(family)).count();
                assert_eq!(same, 1, "{:#x} of {family}", row.msr);
            }
        }
    }
}
