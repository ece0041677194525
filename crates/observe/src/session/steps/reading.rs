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
