//! What a register's answer is worth.

use pericore_catalog::Register;
use pericore_registers::{AccessError, Operation, Outcome, Width};

use crate::plan::Step;

/// Why a register gave no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// The user lacks rights: a matter of the whole session.
    Denied(AccessError),
    /// The hardware did not answer.
    Fault(String),
}

/// The value that a step has read, unless it cannot be one.
pub fn readable(step: &Step, outcome: &Outcome<u64>) -> Result<u64, Unreadable> {
    match (outcome, step.operation) {
        (Err(error @ AccessError::Permission { .. }), _) => Err(Unreadable::Denied(error.clone())),
        (Err(error), _) => Err(Unreadable::Fault(error.to_string())),
        // What is absent, powered down or hidden by a hypervisor reads as all ones; no register of ours can hold that,
        // but a count of 64 bits.
        (Ok(value), Operation::Read { width, .. })
            if *value == width.mask() && width >= Width::B4 && !counts_all_bits(step.register) =>
        {
            Err(Unreadable::Fault(format!("{} reads as all ones", step.register_name())))
        }
        (Ok(value), _) => Ok(*value),
    }
}

/// True if a count can be all ones.
fn counts_all_bits(register: &Register) -> bool {
    register.width == 64 && register.field("event_count").is_some_and(|field| field.bits.width == 64)
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Denied(error) => error.fmt(f),
            Self::Fault(why) => why.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use pericore_registers::Address;

    /// All ones in 4 bytes or more are no answer, unless a count has 64 bits; a missing right is told from a fault.
    #[test]
    fn all_ones_are_no_value_of_a_register() {
        let e5 = crate::testing::e5_2600().unit("imc").unwrap();
        let address = Address::Msr { cpu: 0, msr: 1 };
        let register = |name: &str| e5.registers.iter().find(|register| register.name == name).unwrap();
        let of = |name: &str, width: Width, outcome: &Outcome<u64>| {
            let operation = Operation::Read { address, width };
            let purpose = crate::plan::Purpose::Inspect;
            let step = Step { operation, purpose, instance: 0, register: register(name), member: 0, keeps: 0 };
            readable(&step, outcome)
        };
        for (name, width, value, is_value) in [
            ("ctl", Width::B4, 0xffff_ffff, false),
            ("ctl", Width::B4, 0xffff_fffe, true),
            ("ctl", Width::B8, 0xffff_ffff, true),
            ("ctr", Width::B8, u64::MAX, false),
            ("ctl", Width::B2, 0xffff, true),
        ] {
            assert_eq!(of(name, width, &Ok(value)).ok(), is_value.then_some(value), "{name} {value:#x}");
        }
        let ones = of("ctl", Width::B4, &Ok(0xffff_ffff)).unwrap_err();
        assert_eq!(ones, Unreadable::Fault("ctl0 reads as all ones".to_owned()));
        let denied = AccessError::Permission { address, remedy: "ask" };
        assert_eq!(of("ctl", Width::B4, &Err(denied.clone())), Err(Unreadable::Denied(denied.clone())));
        assert_eq!(Unreadable::Denied(denied.clone()).to_string(), denied.to_string());
        let gone = AccessError::Unreachable { address };
        assert_eq!(of("ctl", Width::B4, &Err(gone.clone())), Err(Unreadable::Fault(gone.to_string())));
    }
}
