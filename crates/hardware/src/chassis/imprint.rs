//! A machine that shows what another one has shown: the values that its registers were read with, and its discovery
//! tables.

use pericore_catalog::Unit;

use super::{Block, Chassis, discovery};
use crate::pmon::CounterState;
use crate::signal::WiringError;

/// A register's value, as it was read: its index in the unit's registers, the member of the array, and the value.
pub type ReadValue = (usize, u8, u64);

impl Chassis {
    /// Gives a block's registers values as they were read elsewhere. They are set as they are: no write takes place, no
    /// bit is cleared.
    ///
    /// # Errors
    /// [`WiringError`] if the machine has no such block.
    pub fn imprint(&mut self, block: &Block, values: impl IntoIterator<Item = ReadValue>) -> Result<(), WiringError> {
        let number = block.number(&self.wiring)?;
        let mut state = self.bank.save(number, self.now);
        let layout = self.bank.layout(number);
        for (register, member, value) in values {
            let slot = layout.at(register, member);
            let Some(counter) = layout.counter(slot) else {
                state.values.push((slot, value));
                continue;
            };
            state.counters.retain(|(other, _)| *other != counter);
            state.counters.push((counter, CounterState { value, ..CounterState::default() }));
        }
        let now = self.now;
        self.bank.restore(number, &state, now);
        Ok(())
    }

    /// Shows a socket's discovery table as it was read elsewhere, by the number of a qword; what could not be read
    /// stays. `believed` are records, counted from 1, that are right about a unit and an instance. These and the place
    /// of the global control have this machine's addresses.
    pub fn imprint_table(
        &mut self,
        socket: u16,
        mut read: impl FnMut(usize) -> Option<u64>,
        believed: impl IntoIterator<Item = (usize, &'static Unit, u16)>,
    ) {
        let Some(table) = self.tables.get_mut(usize::from(socket)) else { return };
        let own = table.clone();
        for (index, qword) in table.iter_mut().enumerate() {
            *qword = read(index).unwrap_or(*qword);
        }
        discovery::place_global(table, &own);
        for (record, unit, instance) in believed {
            discovery::place_record(table, record, &own, unit, instance);
        }
    }
}
