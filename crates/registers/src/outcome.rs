//! What an access came to.

use crate::{Address, Width};

/// The value read (zero-extended), or for a write nothing.
pub type Outcome<T> = Result<T, AccessError>;

/// Why an access failed. Absent PCI functions are not an error: hardware answers all ones, and so do we.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// The MSR does not exist, or the value sets a bit that the MSR refuses (#GP; the Linux msr driver says EIO).
    #[error("{address}: general protection fault; this processor has no such register, or refuses that value")]
    GeneralProtection {
        /// Where.
        address: Address,
    },
    /// No register space reaches the address.
    #[error("{address}: nothing answers at this address")]
    Unreachable {
        /// Where.
        address: Address,
    },
    /// The bus has no such cycle: an MSR is 8 bytes wide, a PCI configuration cycle may not cross a dword.
    #[error("{address}: a cycle of {} bytes is not possible here", width.bytes())]
    BadCycle {
        /// Where.
        address: Address,
        /// Width asked for.
        width: Width,
    },
    /// The operating system refused.
    #[error("{address}: permission denied; {remedy}")]
    Permission {
        /// Where.
        address: Address,
        /// What the user can do about it.
        remedy: &'static str,
    },
    /// The operating system failed.
    #[error("{address}: {message}")]
    Io {
        /// Where.
        address: Address,
        /// The system's message.
        message: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bdf;

    /// What a user reads: where, what, and what to do where something can be done.
    #[test]
    fn errors_say_where_and_what() {
        let address = Address::Msr { cpu: 0, msr: 0x391 };
        let slot = Address::Pci { bdf: Bdf::new(0x3f, 8, 2), offset: 0x46 };
        let remedy = "give the command CAP_SYS_RAWIO";
        for (error, said) in [
            (
                AccessError::GeneralProtection { address },
                "msr 0x391 on cpu 0: general protection fault; this processor has no such register, or refuses that value",
            ),
            (AccessError::Unreachable { address }, "msr 0x391 on cpu 0: nothing answers at this address"),
            (
                AccessError::BadCycle { address: slot, width: Width::B8 },
                "pci 0000:3f:08.2+0x46: a cycle of 8 bytes is not possible here",
            ),
            (
                AccessError::Permission { address, remedy },
                "msr 0x391 on cpu 0: permission denied; give the command CAP_SYS_RAWIO",
            ),
            (
                AccessError::Io { address: slot, message: "No such device".to_owned() },
                "pci 0000:3f:08.2+0x46: No such device",
            ),
        ] {
            assert_eq!(error.to_string(), said);
        }
    }
}
