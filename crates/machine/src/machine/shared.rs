//! One machine for two owners: who reads its registers, and who runs its workload.

use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;

use pericore_registers::{Address, Operation, Outcome, RegisterSpace, Width};

use super::Machine;

/// A handle to a machine; its clones are the same machine. A session owns one and accesses registers through it, while a clock that owns another lets
/// the workload run.
#[derive(Debug, Clone)]
pub struct SharedMachine(Rc<RefCell<Machine>>);

impl SharedMachine {
    /// A handle to this machine.
    pub fn new(machine: Machine) -> Self {
        Self(Rc::new(RefCell::new(machine)))
    }

    /// The machine, to be looked at. Give it back before anything else is done with a handle.
    pub fn borrow(&self) -> Ref<'_, Machine> {
        self.0.borrow()
    }

    /// The machine, to be run. Give it back before anything else is done with a handle.
    pub fn borrow_mut(&self) -> RefMut<'_, Machine> {
        self.0.borrow_mut()
    }
}

impl RegisterSpace for SharedMachine {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.borrow_mut().read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.borrow_mut().write(address, width, value)
    }

    fn batch(&mut self, operations: &[Operation], outcomes: &mut Vec<Outcome<u64>>) {
        self.borrow_mut().batch(operations, outcomes);
    }

    fn pci_segments(&mut self) -> Vec<u16> {
        self.borrow_mut().pci_segments()
    }
}
