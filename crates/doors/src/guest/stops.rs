//! What happens while the guest stands at a breakpoint.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::clock::GuestClock;
use super::core_pmu;
use super::gdb::reply::{Register, little_endian};
use super::gdb::{Client, GdbError, Registers};
use super::hardware::Hardware;
use super::traps::{self, Function};

/// Physical address of the main counter of QEMU's HPET, and the time of a count.
const HPET_COUNTER: u64 = 0xfed0_00f0;
const HPET_NANOSECONDS: u64 = 10;

/// The trapped functions, and how often each was hit.
#[derive(Debug)]
pub struct Traps {
    symbols: HashMap<u64, Function>,
    /// Bytes of the instruction at an entry that does nothing; unknown until the kernel has put one there.
    nops: HashMap<u64, u64>,
    counts: Counts,
}

/// Stops of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accesses that the machine answered.
    pub answered: u64,
    /// Accesses that went on to QEMU's own hardware.
    pub passed_on: u64,
}

impl Traps {
    /// Breakpoints at every function.
    ///
    /// # Errors
    /// [`GdbError`] if the stub refuses one.
    pub fn set(client: &mut Client, symbols: HashMap<u64, Function>) -> Result<Self, GdbError> {
        for &address in symbols.keys() {
            client.insert_breakpoint(address)?;
        }
        Ok(Self { symbols, nops: HashMap::new(), counts: Counts::default() })
    }

    /// The stops so far.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Answers the access that the guest stopped at, or lets it go on. The guest may be resumed afterwards.
    ///
    /// # Errors
    /// [`GdbError`] if the stub fails.
    pub fn handle(
        &mut self,
        client: &mut Client,
        cpu: u32,
        hardware: &Mutex<Hardware>,
        clock: &GuestClock,
    ) -> Result<(), GdbError> {
        let (registers, counter) = client.registers_and_physical(HPET_COUNTER)?;
        clock.stop_at(Duration::from_nanos(counter.wrapping_mul(HPET_NANOSECONDS)));
        let Some(&function) = self.symbols.get(&registers.rip()) else { return Ok(()) };
        if function == Function::Cpuid && self.show_counters(client, cpu, &registers, hardware)? {
            self.counts.answered += 1;
            return Ok(());
        }
        let outcome = {
            let mut hardware = hardware.lock().unwrap_or_else(PoisonError::into_inner);
            let operation = function.operation(cpu, &registers, |enable| hardware.core_counter(enable));
            operation.and_then(|operation| hardware.access(operation, clock.now()))
        };
        let Some(end) = outcome.and_then(|outcome| function.conclude(&registers, &outcome)) else {
            self.counts.passed_on += 1;
            return self.pass_on(client, registers.rip());
        };
        self.counts.answered += 1;
        if let Some((address, value)) = end.store {
            client.write_memory(address, &value.to_le_bytes());
        }
        client.set_register(Register::Rax, end.rax);
        leave(client, &registers)
    }

    /// Gives CPUID's leaf of the cores' counters, of which QEMU has none; false if it is another leaf.
    fn show_counters(
        &self,
        client: &mut Client,
        cpu: u32,
        registers: &Registers,
        hardware: &Mutex<Hardware>,
    ) -> Result<bool, GdbError> {
        let places = [0, 1, 2, 3].map(|index| registers.argument(index));
        if little_endian(&client.read_memory(places[0], 4)?) != u64::from(core_pmu::LEAF) {
            return Ok(false);
        }
        let leaf = hardware.lock().unwrap_or_else(PoisonError::into_inner).core_pmu_leaf(cpu);
        for (place, value) in places.into_iter().zip(leaf) {
            client.write_memory(place, &value.to_le_bytes());
        }
        leave(client, registers)?;
        Ok(true)
    }

    /// Goes past the breakpoint: a jump over an instruction that does nothing, or, early in the boot, a step.
    fn pass_on(&mut self, client: &mut Client, entry: u64) -> Result<(), GdbError> {
        let nop = match self.nops.get(&entry) {
            Some(&nop) => Some(nop),
            None => {
                let nop = traps::leading_nop(&client.read_memory(entry, 5)?);
                self.nops.extend(nop.map(|nop| (entry, nop)));
                nop
            }
        };
        match nop {
            Some(nop) => client.set_register(Register::Rip, entry + nop),
            None => {
                client.step()?;
            }
        }
        Ok(())
    }
}

/// Ends the call that the guest stands at the beginning of.
fn leave(client: &mut Client, registers: &Registers) -> Result<(), GdbError> {
    let caller = client.read_memory(registers.rsp(), 8)?;
    client.set_register(Register::Rsp, registers.rsp() + 8);
    client.set_register(Register::Rip, little_endian(&caller));
    Ok(())
}

#[cfg(test)]
mod tests;
