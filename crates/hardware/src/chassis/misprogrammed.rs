//! Counters and addresses that are not as documented, as faults and as lines of a snapshot.
//!
//! ```text
//! width 0/cbo3 1 32
//! halved 0/cbo3
//! swapped 0/imc0 0/imc1
//! misplaced 0/imc0 0/imc1
//! misplaced 0/cbo3 1 0/cbo3 2
//! ```

use std::fmt::Write;

use super::snapshot::{SnapshotError, SnapshotLine};
use super::variant::{Block, Faults};
use super::{Chassis, WiringError};

impl Chassis {
    /// Makes the faults.
    pub(super) fn misprogram(&mut self, faults: &Faults) -> Result<(), WiringError> {
        let pairs = |this: &Self, blocks: &[(Block, Block)]| -> Result<Vec<(u16, u16)>, WiringError> {
            blocks.iter().map(|(one, other)| Ok((one.number(&this.wiring)?, other.number(&this.wiring)?))).collect()
        };
        for block in &faults.frozen {
            self.bank.stop_for_good(block.number(&self.wiring)?, self.now);
        }
        for block in &faults.halved {
            self.bank.halve_clock(block.number(&self.wiring)?, self.now);
        }
        for (block, counter, bits) in &faults.widths {
            self.bank.set_width(block.number(&self.wiring)?, *counter, *bits);
        }
        self.redirects.swapped = pairs(self, &faults.swapped)?;
        self.redirects.misplaced = pairs(self, &faults.misplaced)?;
        for ((block, counter), (other, of_other)) in &faults.misplaced_counters {
            let (from, to) = (block.number(&self.wiring)?, other.number(&self.wiring)?);
            self.misplace((from, *counter), (to, *of_other));
        }
        Ok(())
    }

    /// Leads the address of a counter to another one; false if one of them is none.
    fn misplace(&mut self, from: (u16, u8), to: (u16, u8)) -> bool {
        let Self { redirects, bank, .. } = self;
        redirects.add_counter(from, to, |(number, counter)| bank.layout(number).counter_slot(counter))
    }

    /// True if an instance is one of a unit's like another.
    fn is_like(&self, one: u16, other: u16) -> bool {
        self.wiring.locate(one).1 == self.wiring.locate(other).1
    }

    /// Writes what differs from the documents.
    pub(super) fn dump_misprogrammed(&self, out: &mut String) {
        let name = |number: u16| {
            let (socket, unit, instance) = self.wiring.locate(number);
            format!("{socket}/{}{instance}", self.shape.family.units[unit].name)
        };
        // Writing to a string cannot fail.
        for number in 0..self.wiring.instances() {
            for (counter, bits) in self.bank.odd_widths(number) {
                let _ = writeln!(out, "width {} {counter} {bits}", name(number));
            }
            if self.bank.is_halved(number) {
                let _ = writeln!(out, "halved {}", name(number));
            }
        }
        for (one, other) in &self.redirects.swapped {
            let _ = writeln!(out, "swapped {} {}", name(*one), name(*other));
        }
        for (one, other) in &self.redirects.misplaced {
            let _ = writeln!(out, "misplaced {} {}", name(*one), name(*other));
        }
        for ((one, counter), (other, of_other)) in &self.redirects.counters {
            let _ = writeln!(out, "misplaced {} {counter} {} {of_other}", name(*one), name(*other));
        }
    }

    /// Takes such a line; false if it is none of them.
    pub(super) fn load_misprogrammed(
        &mut self,
        line: &SnapshotLine<'_>,
        words: &[&str],
    ) -> Result<bool, SnapshotError> {
        let expected = "counters, or two blocks of a unit";
        match words {
            ["width", block, counter, bits] => {
                let (number, bits) = (self.block_named(line, block)?, line.up_to(bits, 64)? as u8);
                if bits == 0 || !self.bank.set_width(number, line.number(counter)?, bits) {
                    return Err(line.error("a counter of the block and its bits, 1 to 64"));
                }
            }
            ["halved", block] => {
                let number = self.block_named(line, block)?;
                self.bank.halve_clock(number, self.now);
            }
            [word @ ("swapped" | "misplaced"), one, other] => {
                let pair = (self.block_named(line, one)?, self.block_named(line, other)?);
                if !self.is_like(pair.0, pair.1) {
                    return Err(line.error(expected));
                }
                let pairs =
                    if *word == "swapped" { &mut self.redirects.swapped } else { &mut self.redirects.misplaced };
                pairs.push(pair);
            }
            ["misplaced", one, counter, other, of_other] => {
                let from = (self.block_named(line, one)?, line.number(counter)?);
                let to = (self.block_named(line, other)?, line.number(of_other)?);
                if !self.is_like(from.0, to.0) || !self.misplace(from, to) {
                    return Err(line.error(expected));
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes what differs from a machine of the same shape.
    pub(super) fn take_misprogrammed(&mut self, other: &Self) {
        self.redirects.clone_from(&other.redirects);
        for number in 0..self.wiring.instances() {
            for (counter, bits) in other.bank.odd_widths(number) {
                self.bank.set_width(number, counter, bits);
            }
            if other.bank.is_halved(number) {
                self.bank.halve_clock(number, self.now);
            }
        }
    }
}
