//! What is broken or denied on a machine, as lines of its snapshot.
//!
//! ```text
//! hidden 0/cbo3
//! all-ones 1/imc2
//! discovery absent
//! table 0 17 = 0xfe00
//! segment 1
//! functions 2000
//! denied mem
//! write-delay 300
//! ```
//!
//! A `table` line is a qword of a socket's discovery table, by its place in it, that is not as the guide (Emerald
//! Rapids 1.9) has it.

use std::fmt::Write;

use super::snapshot::{SnapshotError, SnapshotLine};
use super::variant::Presence;
use super::{Chassis, DiscoveryFault, MOST_FUNCTIONS, discovery};

/// Records of the discovery table have three bits for it.
const MOST_SEGMENT: u64 = 7;

impl Chassis {
    /// Writes what is broken or denied.
    pub(super) fn dump_broken(&self, out: &mut String) {
        // Writing to a string cannot fail.
        for number in 0..self.wiring.instances() {
            let (socket, unit, instance) = self.wiring.locate(number);
            let name = self.shape.family.units[unit].name;
            let found = self.presence[usize::from(number)];
            // What the shape leaves out is hidden without a line.
            let word = match found {
                Presence::Hidden if found != super::presence(&self.shape, &self.wiring, number) => "hidden",
                Presence::AllOnes => "all-ones",
                _ => continue,
            };
            let _ = writeln!(out, "{word} {socket}/{name}{instance}");
        }
        if self.has_discovery() && self.discovery_fault == DiscoveryFault::Absent {
            out.push_str("discovery absent\n");
        }
        for (socket, table) in (0..).zip(&self.tables) {
            let right = discovery::table(&self.shape, &self.wiring, socket);
            for (index, value) in table.iter().enumerate().filter(|(index, value)| **value != right[*index]) {
                let _ = writeln!(out, "table {socket} {index} = {value:#x}");
            }
        }
        if self.segment != 0 {
            let _ = writeln!(out, "segment {}", self.segment);
        }
        if self.functions != 0 {
            let _ = writeln!(out, "functions {}", self.functions);
        }
        for word in self.denied.words() {
            let _ = writeln!(out, "denied {word}");
        }
        self.dump_misprogrammed(out);
        if self.write_delay != 0 {
            let _ = writeln!(out, "write-delay {}", self.write_delay);
        }
    }

    /// Takes such a line; false if it is none of them.
    pub(super) fn load_broken(&mut self, line: &SnapshotLine<'_>, words: &[&str]) -> Result<bool, SnapshotError> {
        match words {
            ["hidden", block] => self.set_presence(line, block, Presence::Hidden)?,
            ["all-ones", block] => self.set_presence(line, block, Presence::AllOnes)?,
            ["discovery", "absent"] if self.has_discovery() => self.discovery_fault = DiscoveryFault::Absent,
            ["table", socket, index, "=", value] => {
                let (socket, index, value) = (line.number(socket)?, line.number(index)?, line.number(value)?);
                let table = self.tables.get_mut::<usize>(socket);
                let qword = table.and_then(|table| table.get_mut::<usize>(index));
                *qword.ok_or_else(|| line.error("a qword of a socket's discovery table"))? = value;
            }
            ["segment", segment] => self.segment = line.up_to(segment, MOST_SEGMENT)? as u16,
            ["functions", functions] => self.functions = line.up_to(functions, MOST_FUNCTIONS.into())? as u16,
            ["denied", word] => {
                self.denied.add(word).ok_or_else(|| line.error("denied mem, pci or msr-write"))?;
            }
            ["write-delay", ticks] => self.write_delay = line.up_to(ticks, u32::MAX.into())?,
            _ => return self.load_misprogrammed(line, words),
        }
        Ok(true)
    }

    fn set_presence(&mut self, line: &SnapshotLine<'_>, block: &str, presence: Presence) -> Result<(), SnapshotError> {
        let number = self.block_named(line, block)?;
        self.presence[usize::from(number)] = presence;
        Ok(())
    }

    /// Takes what is broken or denied from a machine of the same shape.
    pub(super) fn take_broken(&mut self, other: &Self) {
        self.presence.clone_from(&other.presence);
        self.tables.clone_from(&other.tables);
        self.discovery_fault = other.discovery_fault;
        (self.segment, self.functions, self.denied) = (other.segment, other.functions, other.denied);
        self.write_delay = other.write_delay;
        self.take_misprogrammed(other);
    }
}
