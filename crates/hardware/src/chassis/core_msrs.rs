//! MSRs outside the uncore's PMON that tools touch on the way: identity, frequency, power, and the core's own counters.
//!
//! The catalogue has them (`core_msrs` of a family's processor). The cores are not modelled: their counters run at
//! fixed rates while enabled, one instruction a cycle, at the nominal frequency, unless somebody who runs instructions
//! says how many there were ([`CoreMsrs::set_core_progress`]); core events other than cycles and instructions count
//! nothing. Whatever has no row in the catalogue raises #GP.

use std::collections::HashMap;

use pericore_catalog::{CoreMsr, CounterControl, FIRST_FIXED, MsrKind, MsrScope, ProcessorPart};

use super::shape::Shape;
use crate::signal::Tick;

/// Unhalted cycles and instructions retired: event select and umask of the architectural events that are counted.
const CYCLES: u64 = 0x003C;
const INSTRUCTIONS: u64 = 0x00C0;

/// Fields of an event select: event and umask, and the bit that enables (SDM volume 3, IA32_PERFEVTSELx).
const EVENT: u64 = 0xffff;
const ENABLED: u64 = 1 << 22;

/// The fixed counter of instructions.
const FIXED_INSTRUCTIONS: u8 = 0;

/// Bits of a core counter.
const COUNTER_MASK: u64 = (1 << 48) - 1;

/// What a CPU has done since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoreProgress {
    /// Instructions retired in user mode.
    pub user: u64,
    /// Instructions retired in the kernel.
    pub kernel: u64,
    /// Cycles at the nominal frequency.
    pub cycles: u64,
}

/// What a running counter adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    Cycles,
    /// Those of user mode, of the kernel, or both.
    Instructions {
        user: bool,
        kernel: bool,
    },
}

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
    /// Written values, by socket or CPU and MSR; counters hold their value less what was counted since they were
    /// enabled.
    values: HashMap<(u32, u32), u64>,
    /// By CPU, as far as somebody says.
    executed: HashMap<u32, CoreProgress>,
}

impl CoreMsrs {
    /// After reset. `period` is the ticks of a cycle at the nominal frequency.
    pub fn new(shape: &Shape, period: u64) -> Self {
        let part = shape.family.processor.as_ref();
        let hertz = part.map_or(0, |part| u64::from(part.nominal_mhz) * 1_000_000);
        let core_thread_count = u64::from(shape.cores) << 16 | u64::from(shape.cores * shape.threads);
        Self { part, period, hertz, core_thread_count, values: HashMap::new(), executed: HashMap::new() }
    }

    /// Intel's name of an MSR; `None` if the family has no such MSR.
    pub fn name(&self, msr: u32) -> Option<&'static str> {
        self.row(msr).map(|row| row.name)
    }

    /// The MSR of a core's counter, by its enable bit: fixed ones have theirs from [`FIRST_FIXED`] on.
    pub fn counter(&self, enable: u8) -> Option<u32> {
        self.rows().iter().find(|row| row.kind == MsrKind::Counter { enable }).map(|row| row.address)
    }

    /// Umask and event that a write to an MSR selects, if it enables a counter for what nobody counts here.
    pub fn uncounted(&self, msr: u32, value: u64) -> Option<u16> {
        let is_select = matches!(self.row(msr)?.controls, Some(CounterControl::EventSelect { .. }));
        let event = value & EVENT;
        (is_select && value & ENABLED != 0 && ![CYCLES, INSTRUCTIONS].contains(&event)).then_some(event as u16)
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

    /// Says what a CPU has done until now. Its counters count that from then on, in the place of one instruction for
    /// each cycle of the machine's time.
    pub fn set_core_progress(&mut self, cpu: u32, executed: CoreProgress) {
        self.executed.insert(cpu, executed);
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
                let counted = self.counted(cpu, socket, enable).map_or(0, |what| self.sum(what, cpu, cycles));
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
                let before = row.controls.map(|_| self.all_counted(cpu, socket));
                let old = self.stored(row, cpu, socket);
                self.values.insert(key(row, cpu, socket), old & !writable | value & writable);
                if let Some(before) = before {
                    self.resettle(cpu, socket, &before, cycles);
                }
            }
            MsrKind::Cycles => {
                self.values.insert(key(row, cpu, socket), value.wrapping_sub(cycles));
            }
            MsrKind::Counter { enable } => {
                let counted = self.counted(cpu, socket, enable).map_or(0, |what| self.sum(what, cpu, cycles));
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

    /// What a counter adds up if it runs: enabled globally and by itself, on an event that the emulated core counts.
    fn counted(&self, cpu: u32, socket: u16, enable: u8) -> Option<Counted> {
        if self.setting(cpu, socket, CounterControl::Global) >> enable & 1 == 0 {
            return None;
        }
        if let Some(fixed) = enable.checked_sub(FIRST_FIXED) {
            // Bit 0: the kernel, bit 1: user mode.
            let levels = self.setting(cpu, socket, CounterControl::Fixed) >> (4 * fixed) & 3;
            let instructions = Counted::Instructions { user: levels & 2 != 0, kernel: levels & 1 != 0 };
            let what = if fixed == FIXED_INSTRUCTIONS { instructions } else { Counted::Cycles };
            return (levels != 0).then_some(what);
        }
        let select = self.setting(cpu, socket, CounterControl::EventSelect { counter: enable });
        // Bit 16: user mode, bit 17: the kernel.
        let (user, kernel) = (select >> 16 & 1 == 1, select >> 17 & 1 == 1);
        let what = match select & EVENT {
            CYCLES => Counted::Cycles,
            INSTRUCTIONS => Counted::Instructions { user, kernel },
            _ => return None,
        };
        (select & ENABLED != 0).then_some(what)
    }

    /// The sum since the start of what a counter adds up.
    fn sum(&self, what: Counted, cpu: u32, cycles: u64) -> u64 {
        match (what, self.executed.get(&cpu)) {
            (Counted::Instructions { user, kernel }, Some(executed)) => {
                u64::from(user) * executed.user + u64::from(kernel) * executed.kernel
            }
            (Counted::Cycles, Some(executed)) => executed.cycles,
            (_, None) => cycles,
        }
    }

    fn all_counted(&self, cpu: u32, socket: u16) -> HashMap<u32, Counted> {
        let counted = self.rows().iter().filter_map(|row| match row.kind {
            MsrKind::Counter { enable } => Some((row.address, self.counted(cpu, socket, enable)?)),
            _ => None,
        });
        counted.collect()
    }

    /// Counters that started or stopped, or count something else, keep their value.
    fn resettle(&mut self, cpu: u32, socket: u16, before: &HashMap<u32, Counted>, cycles: u64) {
        let after = self.all_counted(cpu, socket);
        for row in self.rows().iter().filter(|row| matches!(row.kind, MsrKind::Counter { .. })) {
            let [before, after] = [before, &after].map(|counted| counted.get(&row.address));
            if before == after {
                continue;
            }
            let [before, after] = [before, after].map(|what| what.map_or(0, |what| self.sum(*what, cpu, cycles)));
            let settled = self.stored(row, cpu, socket).wrapping_add(before).wrapping_sub(after);
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

    /// SDM volume 3, IA32_PERFEVTSELx and IA32_FIXED_CTR_CTRL: bits 16 and 17, and bits 0 and 1 of each counter, choose
    /// user mode and the kernel. The machine's time, tick 8,000, is of no account where somebody says what was done.
    #[test]
    fn instructions_are_those_of_who_runs_them() {
        let mut msrs = msrs();
        msrs.set_core_progress(1, CoreProgress { user: 50, kernel: 7, cycles: 1000 });
        msrs.write(1, 0, FIXED_CTRL, 0x332, 0).unwrap();
        for (select, value) in [(0x186, 0x41_00C0), (0x187, 0x42_00C0), (0x188, 0x43_00C0), (0x189, 0x43_003C)] {
            msrs.write(1, 0, select, value, 0).unwrap();
        }
        msrs.write(1, 0, GLOBAL_CTRL, 7 << 32 | 0xf, 0).unwrap();
        msrs.set_core_progress(1, CoreProgress { user: 350, kernel: 27, cycles: 1700 });
        let read = |msrs: &CoreMsrs| [0x309, 0x30A, 0xC1, 0xC2, 0xC3, 0xC4].map(|msr| msrs.read(1, 0, msr, 8000));
        assert_eq!(read(&msrs), [300, 700, 300, 20, 320, 700].map(Some));
        // A counter that goes over to the kernel keeps what it has.
        msrs.write(1, 0, 0x186, 0x42_00C0, 8000).unwrap();
        msrs.set_core_progress(1, CoreProgress { user: 400, kernel: 30, cycles: 2000 });
        assert_eq!(read(&msrs), [350, 1000, 303, 23, 373, 1000].map(Some));
        msrs.write(1, 0, GLOBAL_CTRL, 0, 8000).unwrap();
        msrs.set_core_progress(1, CoreProgress { user: 900, kernel: 90, cycles: 9000 });
        assert_eq!(read(&msrs), [350, 1000, 303, 23, 373, 1000].map(Some));
    }

    /// SDM volume 3, IA32_PERFEVTSELx: 0x41 << 16 | 0x412e are LLC misses of user mode, 0xc0 instructions; bit 22
    /// enables. 0x190 is no such register.
    #[test]
    fn what_nobody_counts_is_known() {
        let msrs = msrs();
        assert_eq!(msrs.uncounted(0x186, 0x41_412e), Some(0x412e));
        for (msr, value) in [(0x187, 0x41_00c0), (0x188, 0x43_003c), (0x187, 0x01_412e), (0x190, 0x41_412e)] {
            assert_eq!(msrs.uncounted(msr, value), None, "{msr:#x} {value:#x}");
        }
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
