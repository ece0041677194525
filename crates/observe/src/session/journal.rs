//! What a session overwrites, and the values to put back.

use std::fmt;

use pericore_registers::{AccessError, Address, Operation, Width};

use super::SessionError;

use crate::plan::{Plan, Step, halves, resets};

/// A register's value from before the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Socket.
    pub socket: u16,
    /// Unit and number: `cbo3`.
    pub instance: String,
    /// Register: `ctl2`.
    pub register: String,
    /// Where.
    pub address: Address,
    /// Cycle width.
    pub width: Width,
    /// The value to put back.
    pub value: u64,
    /// What the session writes to it: another value later is somebody else's. Empty for a gate, which others share, and
    /// in journals of earlier versions.
    pub written: Vec<u64>,
}

impl Saved {
    pub(super) fn new(plan: &Plan, socket: usize, step: &Step, seen: u64, written: &[u64]) -> Self {
        let part = &plan.sockets[socket];
        let (address, width) = match step.operation {
            Operation::Read { address, width } | Operation::Write { address, width, .. } => (address, width),
        };
        let value = seen & !resets(step.register);
        let instance = part.instances[step.instance].name();
        let (register, written) = (step.register_name(), written.to_vec());
        Self { socket: part.socket, instance, register, address, width, value, written }
    }

    /// The read that tells what the register holds now.
    pub(super) const fn read(&self) -> Operation {
        Operation::Read { address: self.address, width: self.width }
    }

    /// The writes that put the value back.
    pub fn restoring(&self) -> impl Iterator<Item = Operation> {
        halves(Operation::Write { address: self.address, width: self.width, value: self.value })
    }
}

impl fmt::Display for Saved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { socket, instance, register, address, value, .. } = self;
        write!(f, "{register} of {instance} in socket {socket} ({address}) = {value:#x}")
    }
}

/// An error if any register refused its old value.
pub(super) fn some_refused(failures: Vec<(Saved, AccessError)>) -> Result<(), SessionError> {
    let refused = failures.len();
    match failures.into_iter().next() {
        None => Ok(()),
        Some((first, error)) => Err(SessionError::Restore { refused, first: first.to_string(), error }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use pericore_registers::Bdf;

    fn saved(width: Width, value: u64) -> Saved {
        let address = Address::Pci { bdf: Bdf::new(0xff, 16, 0), offset: 0xd8 };
        let (instance, register) = ("imc0".to_owned(), "ctl0".to_owned());
        Saved { socket: 1, instance, register, address, width, value, written: Vec::new() }
    }

    /// What is put back by which writes, what is read before, and the words of messages.
    #[test]
    fn a_saved_register_knows_its_way_back() {
        let narrow = saved(Width::B4, 0x40_0304);
        let address = narrow.address;
        assert_eq!(narrow.read(), Operation::Read { address, width: Width::B4 });
        assert_eq!(
            narrow.restoring().collect::<Vec<_>>(),
            [Operation::Write { address, width: Width::B4, value: 0x40_0304 }]
        );
        let wide: Vec<Operation> = saved(Width::B8, 0x12_0000_0304).restoring().collect();
        let [first, second] = [(Width::B8, 0x12_0000_0000), (Width::B4, 0x304)]
            .map(|(width, value)| Operation::Write { address, width, value });
        assert_eq!(wide, [first, second]);
        assert_eq!(narrow.to_string(), format!("ctl0 of imc0 in socket 1 ({address}) = 0x400304"));
    }

    #[test]
    fn all_that_refused_is_counted_and_the_first_is_named() {
        assert_eq!(some_refused(Vec::new()), Ok(()));
        let failure = |value| {
            let saved = saved(Width::B4, value);
            let address = saved.address;
            (saved, AccessError::GeneralProtection { address })
        };
        let refused = some_refused(vec![failure(1), failure(2)]).unwrap_err();
        let SessionError::Restore { refused, first, .. } = refused else { panic!("{refused}") };
        assert!(refused == 2 && first.ends_with("= 0x1"), "{first}");
    }
}
