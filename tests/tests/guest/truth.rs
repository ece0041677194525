//! What a counter must have counted: what happened while the driver let it run, by the log of what the driver wrote.

use pericore_doors::guest::Access;
use pericore_registers::{Address, Bdf, Operation};

use super::boot::PERIOD;
use super::injection::due;

/// The accesses between two notes that the script left by writing numbers to a register that nothing else uses.
pub fn between(accesses: &[Access], note: u32, first: u64) -> &[Access] {
    let (start, end) = (before(accesses, note, first).len(), before(accesses, note, first + 1).len());
    &accesses[start..end]
}

/// The accesses before such a note.
pub fn before(accesses: &[Access], note: u32, number: u64) -> &[Access] {
    let is_note = |access: &Access| matches!(access.operation, Operation::Write { address, value, .. } if address == msr(note) && value == number);
    let place = accesses.iter().position(is_note).unwrap_or_else(|| panic!("the script never left note {number}"));
    &accesses[..place]
}

/// What makes a counter count.
#[derive(Debug, Clone, Copy)]
pub enum Happening {
    /// So many events a second.
    Rate(u64),
    /// So many a cycle.
    EachCycle(u64),
    /// Nothing.
    Never,
}

impl Happening {
    /// How much has happened by a tick.
    fn by(self, tick: u64) -> u64 {
        match self {
            Self::Rate(per_second) => due(per_second, tick),
            Self::EachCycle(step) => step * (tick / PERIOD),
            Self::Never => 0,
        }
    }
}

/// A PMON block as the guide has it.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// The register that freezes it.
    pub unit_control: Option<Address>,
    /// Bits that must all be set to freeze.
    pub freeze: u64,
    /// First control register, distance to the next, how many.
    pub controls: (Address, u16, u16),
    /// Bit that enables a counter; 0 where an event select does.
    pub enable: u64,
}

pub const fn msr(number: u32) -> Address {
    Address::Msr { cpu: 0, msr: number }
}

pub const fn pci(bus: u8, device: u8, function: u8, offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(bus, device, function), offset }
}

pub const fn mmio(physical: u64) -> Address {
    Address::Mmio { physical }
}

impl Block {
    /// What a counter programmed with `config` must show, all its runs together.
    pub fn truth(&self, accesses: &[Access], config: u64, happening: Happening) -> u64 {
        during(&self.runs(accesses, config), happening)
    }

    /// From when to when a counter programmed with `config` ran, in ticks.
    pub fn runs(&self, accesses: &[Access], config: u64) -> Vec<(u64, u64)> {
        self.runs_unless(accesses, config, |value, _| value & self.freeze == self.freeze)
    }

    /// The same where the unit's control stops counters in a way of its own, by its value and the counter's number.
    pub fn runs_unless(
        &self,
        accesses: &[Access],
        config: u64,
        is_stopped: impl Fn(u64, u16) -> bool,
    ) -> Vec<(u64, u64)> {
        let (first, stride, count) = self.controls;
        let controls: Vec<Address> = (0..count).map(|index| first.plus(index * stride)).collect();
        let (mut gate, mut selecting) = (None, None);
        let (mut running_since, mut runs) = (None, Vec::new());
        for access in accesses {
            let Operation::Write { address, value, .. } = access.operation else { continue };
            if Some(address) == self.unit_control {
                gate = Some(value);
            } else if let Some(number) = controls.iter().position(|control| *control == address) {
                let is_enabled = if self.enable == 0 { value & 0xff != 0 } else { value & self.enable != 0 };
                if is_enabled && value & !self.enable == config {
                    selecting = Some(number as u16);
                } else if selecting == Some(number as u16) {
                    selecting = None;
                }
            }
            let running = selecting.is_some_and(|number| !gate.is_some_and(|value| is_stopped(value, number)));
            match (running_since, running) {
                (None, true) => running_since = Some(access.ticks),
                (Some(since), false) => {
                    runs.push((since, access.ticks));
                    running_since = None;
                }
                _ => {}
            }
        }
        assert!(running_since.is_none(), "the driver left {config:#x} running");
        assert!(!runs.is_empty(), "the driver never programmed {config:#x}");
        runs
    }
}

/// What happened while a counter ran.
pub fn during(runs: &[(u64, u64)], happening: Happening) -> u64 {
    runs.iter().map(|&(from, to)| happening.by(to) - happening.by(from)).sum()
}

/// What the driver must make of a counter that nobody can start or stop: it reads it at both ends of each stretch that it counts.
pub fn free_running_truth(accesses: &[Access], counter: Address, happening: Happening) -> u64 {
    let is_read = |access: &&Access| matches!(access.operation, Operation::Read { address, .. } if address == counter);
    let ticks: Vec<u64> = accesses.iter().filter(is_read).map(|access| access.ticks).collect();
    assert!(!ticks.is_empty() && ticks.len().is_multiple_of(2), "{} reads of {counter}", ticks.len());
    ticks.chunks(2).map(|ends| happening.by(ends[1]) - happening.by(ends[0])).sum()
}
