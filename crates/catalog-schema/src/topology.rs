//! What ties units and registers to a socket's topology.

use serde::{Deserialize, Serialize};

/// What a register of [`crate::Role::Identity`] holds of its socket, in its lowest field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// The node number of the socket.
    NodeId,
    /// Node numbers by socket, packed from bit 0, each as wide as the node number.
    NodeMap,
    /// Upper part of the physical address of all memory controllers.
    MemoryBase,
    /// Lower part of it, a member for each memory controller.
    MemoryOffset,
    /// A bit for each socket link that the part has.
    Links,
    /// A bit for each LLC slice in use, the first 32.
    SlicesLow,
    /// The next 32.
    SlicesHigh,
    /// Number of LLC slices in use.
    SliceCount,
    /// The PCI bus of each of the socket's stacks, in the fields `bus0`, `bus1`, …; the field `valid` is 1 once
    /// firmware has set them.
    StackBuses,
}

/// Which of a socket's PCI buses functions are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SocketBus {
    /// So many after the uncore bus.
    Uncore(u8),
    /// The bus of the stack of this number, which a register of [`Identity::StackBuses`] holds.
    Stack(u8),
}

impl SocketBus {
    /// Number among the socket's buses of its kind.
    pub const fn number(self) -> u8 {
        match self {
            Self::Uncore(number) | Self::Stack(number) => number,
        }
    }
}

/// What a unit has one instance for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnePer {
    /// Each LLC slice.
    Slice,
    /// Each socket link.
    Link,
}
