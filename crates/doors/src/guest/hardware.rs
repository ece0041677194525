//! The machine as the guest meets it: which accesses are the machine's, and what they come to.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use pericore_machine::chassis::{Chassis, Shape};
use pericore_registers::{AccessError, Address, Bdf, Operation, Outcome, RegisterSpace, Width};

use super::access::Access;
use super::core_pmu::{self, InstructionCounts};
use super::error::GuestError;
use crate::log::LogFile;
use crate::{Traffic, stubs};

/// MSRs of the guest's own CPU, which QEMU must answer: the time-stamp counter, the microcode's revision and the switches of the
/// CPU that the guest really runs on. Every other MSR that the machine has is the machine's.
const GUEST_MSRS: [u32; 4] = [0x10, 0x17, 0x8b, 0x1a0];

/// Below 4 GiB, where PCI memory may lie, and how far apart windows are at least.
const PCI_MEMORY: Range<u64> = 0xc000_0000..0xfe80_0000;
const WINDOW_GRAIN: u64 = 0x0080_0000;

/// Header of a function 0 that nobody knows more of: without one, a bus scan does not look at the slot's other functions.
const FILLER: [(u16, u32); 3] = [(0x00, 0x0000_8086), (0x08, 0x0880_0000), (0x0c, 0x0080_0000)];

/// A machine behind a guest.
pub struct Hardware {
    chassis: Chassis,
    traffic: Box<dyn Traffic>,
    ticks_per_second: u64,
    /// Functions that the machine has, as bus, device, function.
    functions: Vec<(u8, u8, u8)>,
    windows: Vec<Range<u64>>,
    now: Duration,
    accesses: Vec<Access>,
    keeps: bool,
    log: Option<LogFile>,
    /// Instructions of the guest's CPUs, where they are counted.
    instructions: Option<InstructionCounts>,
    /// What the guest has its cores' counters count, and nobody counts here: umask and event.
    uncounted: BTreeSet<u16>,
}

impl Hardware {
    /// A machine whose signals come from `traffic`, brought up to date before every access.
    pub fn new(mut chassis: Chassis, traffic: Box<dyn Traffic>, ticks_per_second: u64) -> Self {
        let functions = find_functions(&mut chassis);
        let windows = find_windows(&mut chassis);
        Self {
            chassis,
            traffic,
            ticks_per_second,
            functions,
            windows,
            now: Duration::ZERO,
            accesses: Vec::new(),
            keeps: false,
            log: None,
            instructions: None,
            uncounted: BTreeSet::new(),
        }
    }

    /// Family, sockets, cores.
    pub const fn shape(&self) -> &Shape {
        self.chassis.shape()
    }

    /// The machine's registers.
    pub const fn chassis(&self) -> &Chassis {
        &self.chassis
    }

    /// Ranges of physical addresses that the machine answers.
    pub fn windows(&self) -> &[Range<u64>] {
        &self.windows
    }

    /// Buses with functions of the machine.
    pub fn buses(&self) -> Vec<u8> {
        let mut buses: Vec<u8> = self.functions.iter().map(|&(bus, ..)| bus).collect();
        // Functions are found in the order of their buses.
        buses.dedup();
        buses
    }

    /// Takes the instructions that the cores' counters count from the plugin, and not one for each cycle.
    pub(super) fn take_instructions_from(&mut self, counts: InstructionCounts) {
        self.instructions = Some(counts);
    }

    /// Umask and event of what the guest has its cores' counters count, and nobody counts here: it reads 0.
    pub fn uncounted_core_events(&self) -> impl Iterator<Item = u16> + '_ {
        self.uncounted.iter().copied()
    }

    /// The MSR of a core's counter, by its enable bit.
    pub(super) fn core_counter(&self, enable: u8) -> Option<u32> {
        self.chassis.core_counter(enable)
    }

    /// What CPUID says of the cores' counters.
    pub(super) fn core_pmu_leaf(&self, cpu: u32) -> [u32; 4] {
        core_pmu::leaf(&self.chassis, cpu)
    }

    /// Keeps every access from now on, for [`accesses`](Self::accesses).
    pub const fn keep_accesses(&mut self) {
        self.keeps = true;
    }

    /// The kept accesses: all that reached the machine, but for configuration headers.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// Writes every access from now on to a file, with its meaning.
    ///
    /// # Errors
    /// [`GuestError::File`] if the file cannot be written.
    pub fn log_to(&mut self, path: &Path) -> Result<(), GuestError> {
        let log = LogFile::create(path, self.chassis.shape(), "accesses of a guest", "guest seconds");
        self.log = Some(log.map_err(|source| GuestError::File { path: path.to_owned(), source })?);
        Ok(())
    }

    /// Completes the log, if there is one.
    ///
    /// # Errors
    /// [`GuestError::File`] if the file could not be written.
    pub fn finish_log(&mut self) -> Result<(), GuestError> {
        let Some(log) = self.log.take() else { return Ok(()) };
        let path = log.path().to_owned();
        log.finish().map_err(|source| GuestError::File { path, source })
    }

    /// Carries out an access at a moment of guest time. `None`: the machine has no part in it, QEMU's own hardware must answer.
    pub fn access(&mut self, operation: Operation, at: Duration) -> Option<Outcome<u64>> {
        match self.claims(operation)? {
            Some(filler) => Some(Ok(filler)),
            // An MSR that the machine does not have.
            None => {
                Some(self.carry_out(operation, at)).filter(|o| !matches!(o, Err(AccessError::GeneralProtection { .. })))
            }
        }
    }

    /// `None`: not the machine's. `Some(Some(value))`: a function that is only there to be scanned past. `Some(None)`: the chassis'.
    fn claims(&self, operation: Operation) -> Option<Option<u64>> {
        match operation.address() {
            // Of what lenient hardware would let pass, the guest's CPU has its own: segment bases, for one.
            Address::Msr { cpu, msr } => {
                (!GUEST_MSRS.contains(&msr) && !self.chassis.passes_msr(cpu, msr)).then_some(None)
            }
            Address::Mmio { .. } => Some(None),
            Address::Pci { bdf, offset } => {
                let on_slot = |&&(bus, device, _): &&(u8, u8, u8)| (bus, device) == (bdf.bus, bdf.device);
                let mut slot = self.functions.iter().filter(on_slot).peekable();
                if bdf.segment != 0 || slot.peek().is_none() {
                    // Other slots of bus 0 are QEMU's; other buses are the machine's, and empty there.
                    let on_bus = bdf.bus != 0 && self.functions.iter().any(|&(bus, ..)| bus == bdf.bus);
                    return (bdf.segment == 0 && on_bus).then_some(None);
                }
                let present = slot.any(|&(_, _, function)| function == bdf.function);
                if present || bdf.function != 0 {
                    return Some(None);
                }
                Some(Some(u64::from(self.filler(bdf, offset & !3)) >> (8 * (offset % 4))))
            }
        }
    }

    /// A dword of a function that is only there to be scanned past.
    fn filler(&self, bdf: Bdf, offset: u16) -> u32 {
        let shape = self.chassis.shape();
        let known = stubs::dword(shape, bdf, offset);
        known.unwrap_or_else(|| FILLER.iter().find(|&&(at, _)| at == offset).map_or(0, |&(_, value)| value))
    }

    fn carry_out(&mut self, operation: Operation, at: Duration) -> Outcome<u64> {
        // Two doors read the clock: neither may turn it back.
        self.now = self.now.max(at);
        let ticks = (self.now.as_nanos() * u128::from(self.ticks_per_second) / 1_000_000_000) as u64;
        self.traffic.advance(&mut self.chassis, &operation, ticks);
        self.chassis.set_now(ticks);
        if let (Address::Msr { cpu, .. }, Some(counts)) = (operation.address(), &self.instructions) {
            // The CPU stands in this access.
            if let Some(executed) = counts.of(cpu, self.chassis.shape(), self.now) {
                self.chassis.set_core_progress(cpu, executed);
            }
            if let Operation::Write { address: Address::Msr { msr, .. }, value, .. } = operation {
                self.uncounted.extend(self.chassis.uncounted_core_event(msr, value));
            }
        }
        let outcome = self.chassis.carry_out(operation);
        let is_header = matches!(operation.address(), Address::Pci { offset: 0..0x40, .. });
        if !is_header && !matches!(outcome, Err(AccessError::GeneralProtection { .. })) {
            let access = Access { at: self.now, ticks, operation, outcome: outcome.clone() };
            if let Some(log) = &mut self.log {
                log.note(access.at, &access.entry(), &access.outcome, None);
            }
            if self.keeps {
                self.accesses.push(access);
            }
        }
        outcome
    }
}

fn find_functions(chassis: &mut Chassis) -> Vec<(u8, u8, u8)> {
    let mut functions = Vec::new();
    for (bus, device, function) in
        (0..=u8::MAX).flat_map(|bus| (0..32).flat_map(move |d| (0..8).map(move |f| (bus, d, f))))
    {
        let address = Address::Pci { bdf: Bdf::new(bus, device, function), offset: 0 };
        if chassis.read(address, Width::B2).is_ok_and(|vendor| vendor != 0xffff) {
            functions.push((bus, device, function));
        }
    }
    functions
}

/// Asks along PCI memory which addresses answer.
fn find_windows(chassis: &mut Chassis) -> Vec<Range<u64>> {
    let mut windows: Vec<Range<u64>> = Vec::new();
    for first in PCI_MEMORY.step_by(WINDOW_GRAIN as usize) {
        if chassis.read(Address::Mmio { physical: first }, Width::B4).is_err() {
            continue;
        }
        match windows.last_mut().filter(|last| last.end == first) {
            Some(last) => last.end += WINDOW_GRAIN,
            None => windows.push(first..first + WINDOW_GRAIN),
        }
    }
    windows
}

impl std::fmt::Debug for Hardware {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hardware").field("shape", self.chassis.shape()).field("now", &self.now).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
