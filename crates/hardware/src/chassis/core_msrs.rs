//! MSRs outside the uncore's PMON that tools touch on the way: identity, frequency, power, and the core's own counters.
//!
//! The catalogue has them (`core_msrs` of a family's processor). The cores are not modelled: their counters run at
//! fixed rates while enabled, one instruction a cycle, at the nominal frequency; core events other than cycles and
//! instructions count nothing. Whatever has no row in the catalogue raises #GP.

use std::collections::HashMap;

use pericore_catalog::{CoreMsr, CounterControl, FIRST_FIXED, MsrKind, MsrScope, ProcessorPart};

use super::shape::Shape;
use crate::signal::Tick;

/// Unhalted cycles and instructions retired: event select and umask of the architectural events that are counted.
const COUNTED_EVENTS: [u64; 2] = [0x003C, 0x00C0];

/// Bits of a core counter.
const COUNTER_MASK: u64 = (1 << 48) - 1;

/// The core-side MSRs of a machine.
#[derive(Debug)]
pub struct CoreMsrs {
    /// Has the rows; none without a processor in the catalogue.
    part: Option<&'static ProcessorPart>,
    /// Ticks of a cycle at the nominal frequency.
    period: u64,
    /// Nominal frequency.
    hertz: u64,
    /// See [`MsrKind::CoreThreadCount`].
    core_thread_count: u64,
    /// Written values, by socket or CPU and MSR; counters hold their value less the cycles counted since they were
    /// enabled.
    values: HashMap<(u32, u32), u64>,
}

impl CoreMsrs {
    /// After reset. `period` is the ticks of a cycle at the nominal frequency.
    pub fn new(shape: &Shape, period: u64) -> Self {
        let part = shape.family.processor.as_ref();
        let hertz = part.map_or(0, |part| u64::from(part.nominal_mhz) * 1_000_000);
        let core_thread_count = u64::from(shape.cores) << 16 | u64::from(shape.cores * shape.threads);
        Self { part, period, hertz, core_thread_count, values: HashMap::new() }
    }

    /// Intel's name of an MSR; `None` if the family has no such MSR.
    pub fn name(&self, msr: u32) -> Option<&'static str> {
        self.row(msr).map(|row| row.name)
    }

    fn row(&self, msr: u32) -> Option<&'static CoreMsr> {
        self.part?.core_msr(msr)
    }

    fn rows(&self) -> &'static [CoreMsr] {
        self.part.map_or(&[], |part| part.core_msrs)
    }

    /// Ticks of a cycle at the nominal frequency.
    pub const fn period(&self) -> u64 {
        self.period
    }

    /// Sets the ticks of a cycle.
    pub const fn set_period(&mut self, period: u64) {
        self.period = period;
    }

    /// Writes what another machine's MSRs hold at a tick, at tick 0 of this one. `socket_of` gives the socket of a CPU
    /// of the other, and `stands_for` the CPU that has its place here, if one has.
    pub fn take_over(
        &mut self,
        other: &Self,
        tick: Tick,
        socket_of: impl Fn(u32) -> Option<u16>,
        stands_for: impl Fn(u32) -> Option<u32>,
    ) {
        for ((scope, msr), _) in other.values() {
            let (cpu, socket, own) = match self.row(msr).map(|row| row.scope) {
                Some(MsrScope::Cpu) => match (socket_of(scope), stands_for(scope)) {
                    (Some(socket), Some(own)) => (scope, socket, own),
                    _ => continue,
                },
                Some(MsrScope::Package) => (0, (u32::MAX - scope) as u16, 0),
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
        let row = self.row(msr)?;
        let cycles = now / self.period;
        Some(match row.kind {
            MsrKind::Kept { .. } => self.stored(row, cpu, socket),
            MsrKind::Cycles => self.stored(row, cpu, socket).wrapping_add(cycles),
            MsrKind::Energy { watts } => energy(watts, cycles, self.hertz),
            MsrKind::CoreThreadCount => self.core_thread_count,
            MsrKind::Counter { enable } => {
                let counted = if self.is_counting(cpu, socket, enable) { cycles } else { 0 };
                self.stored(row, cpu, socket).wrapping_add(counted) & COUNTER_MASK
            }
        })
    }

    /// Writes an MSR on a CPU of a socket; `None` is #GP.
    pub fn write(&mut self, cpu: u32, socket: u16, msr: u32, value: u64, now: Tick) -> Option<()> {
        let row = self.row(msr)?;
        let cycles = now / self.period;
        match row.kind {
            MsrKind::Kept { writable } => {
                let counting = row.controls.map(|_| self.counting(cpu, socket));
                let old = self.stored(row, cpu, socket);
                self.values.insert(key(row, cpu, socket), old & !writable | value & writable);
                if let Some(counting) = counting {
                    self.resettle(cpu, socket, &counting, cycles);
                }
            }
            MsrKind::Cycles => {
                self.values.insert(key(row, cpu, socket), value.wrapping_sub(cycles));
            }
            MsrKind::Counter { enable } => {
                let counted = if self.is_counting(cpu, socket, enable) { cycles } else { 0 };
                self.values.insert(key(row, cpu, socket), value.wrapping_sub(counted));
            }
            MsrKind::Energy { .. } | MsrKind::CoreThreadCount => return None,
        }
        Some(())
    }

    fn stored(&self, row: &CoreMsr, cpu: u32, socket: u16) -> u64 {
        self.values.get(&key(row, cpu, socket)).copied().unwrap_or(row.reset)
    }

    /// What the MSR with a control holds; 0 if the part has none.
    fn setting(&self, cpu: u32, socket: u16, control: CounterControl) -> u64 {
        let row = self.rows().iter().find(|row| row.controls == Some(control));
        row.map_or(0, |row| self.stored(row, cpu, socket))
    }

    /// True if a counter runs: enabled globally and by itself, on an event that the emulated core counts.
    fn is_counting(&self, cpu: u32, socket: u16, enable: u8) -> bool {
        let globally = self.setting(cpu, socket, CounterControl::Global) >> enable & 1 == 1;
        globally
            && match enable.checked_sub(FIRST_FIXED) {
                Some(fixed) => self.setting(cpu, socket, CounterControl::Fixed) >> (4 * fixed) & 3 != 0,
                None => {
                    let select = self.setting(cpu, socket, CounterControl::EventSelect { counter: enable });
                    // Bit 22 enables.
                    select >> 22 & 1 == 1 && COUNTED_EVENTS.contains(&(select & 0xffff))
                }
            }
    }

    fn counting(&self, cpu: u32, socket: u16) -> Vec<u32> {
        let running = self.rows().iter().filter(|row| match row.kind {
            MsrKind::Counter { enable } => self.is_counting(cpu, socket, enable),
            _ => false,
        });
        running.map(|row| row.address).collect()
    }

    /// Counters that started or stopped keep their value.
    fn resettle(&mut self, cpu: u32, socket: u16, before: &[u32], cycles: u64) {
        let after = self.counting(cpu, socket);
        for row in self.rows().iter().filter(|row| matches!(row.kind, MsrKind::Counter { .. })) {
            let stored = self.stored(row, cpu, socket);
            let settled = match (before.contains(&row.address), after.contains(&row.address)) {
                (false, true) => stored.wrapping_sub(cycles),
                (true, false) => stored.wrapping_add(cycles),
                _ => continue,
            };
            self.values.insert(key(row, cpu, socket), settled);
        }
    }
}

fn key(row: &CoreMsr, cpu: u32, socket: u16) -> (u32, u32) {
    match row.scope {
        MsrScope::Cpu => (cpu, row.address),
        // Packages and CPUs are numbered apart.
        MsrScope::Package => (u32::MAX - u32::from(socket), row.address),
    }
}

fn energy(watts: u64, cycles: u64, hertz: u64) -> u64 {
    let units = u128::from(watts) * 65_536 * u128::from(cycles) / u128::from(hertz);
    units as u64 & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SDM volume 4: `IA32_PERF_GLOBAL_CTRL`, `IA32_FIXED_CTR_CTRL`.
    const GLOBAL_CTRL: u32 = 0x38F;
    const FIXED_CTRL: u32 = 0x38D;

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

    /// Ratios of 100 MHz on Intel's product pages: an E5-2680 of 2.7, an 8592+ of 1.9, an 8480+ of 2.0 GHz; thermal
    /// design powers 130, 350 and 350 W in eighths. Nehalem's bus clock is another, and its parts have no energy
    /// counters.
    #[test]
    fn each_family_has_its_frequency_and_power() {
        for (family, ratio, power) in [
            ("nehalem", None, None),
            ("e5-2600", Some(27), Some(1040)),
            ("emerald-rapids", Some(19), Some(2800)),
            ("sapphire-rapids", Some(20), Some(2800)),
        ] {
            let msrs = CoreMsrs::new(&Shape::new(pericore_catalog::family(family).unwrap(), 1, 2, 2).unwrap(), 8);
            assert_eq!(msrs.read(0, 0, 0xCE, 0).map(|value| value >> 8 & 0xff), ratio, "{family}");
            assert_eq!(msrs.read(0, 0, 0x614, 0).map(|value| value & 0x7fff), power, "{family}");
            assert_eq!(msrs.read(3, 0, 0x10, 8000), Some(1000), "{family}");
            assert_eq!(msrs.read(0, 0, 0x35, 0), Some(2 << 16 | 4), "{family}");
        }
    }

    #[test]
    fn ninety_five_watts_for_a_second() {
        assert_eq!(msrs().read(0, 0, 0x611, 21_600_000_000), Some(95 * 65_536));
    }
}
