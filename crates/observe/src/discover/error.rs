//! Why sockets and units cannot be found.

use pericore_registers::{AccessError, Bdf};

/// Why a machine's uncore could not be made out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscoverError {
    /// No logical CPU is known.
    #[error("no logical CPU is online to reach the sockets with; bring one online and try again")]
    NoCpus,
    /// The function that tells the socket of a bus is nowhere.
    #[error(
        "no bus of PCI segment {} has the {family} uncore function {device:02x}.{function:x} (device ID \
         {device_id:04x}): this is another processor, firmware hides its uncore, or a container does not show the \
         buses; compare with `lspci -nn`, or name a software machine with --machine",
        joined(.segments)
    )]
    NoUncoreBus {
        /// Family looked for.
        family: &'static str,
        /// PCI segments that were looked at.
        segments: Vec<u16>,
        /// PCI device number.
        device: u8,
        /// PCI function number.
        function: u8,
        /// PCI device ID.
        device_id: u16,
    },
    /// A package with online CPUs has no such function, although others have.
    #[error(
        "socket {socket} (cpu {cpu}) shows no uncore: no bus of PCI segment {} has function {device:02x}.{function:x} \
         (device ID {device_id:04x}) for it. Sums over the other sockets would lack its part, so nothing is counted. \
         Look in the firmware's set-up for an option that hides the uncore or its U-Box (`lspci -nn` shows it for the \
         others), or take the socket's CPUs offline",
        joined(.segments)
    )]
    NoUncoreOf {
        /// Socket.
        socket: u16,
        /// Its first online CPU.
        cpu: u32,
        /// PCI segments that were looked at.
        segments: Vec<u16>,
        /// PCI device number.
        device: u8,
        /// PCI function number.
        function: u8,
        /// PCI device ID.
        device_id: u16,
    },
    /// The node registers of a bus are not usable.
    #[error(
        "{bdf}: {what}; the socket of this bus cannot be told, so nothing on it can be attributed; report the firmware \
         fault"
    )]
    NodeId {
        /// The function.
        bdf: Bdf,
        /// What is wrong.
        what: String,
    },
    /// A bus belongs to a socket that no logical CPU is in.
    #[error(
        "bus {bus:02x} belongs to socket {socket}, but no online CPU is in that socket; bring one online, or let the \
         container see it, and try again"
    )]
    NoCpuInSocket {
        /// Bus.
        bus: u8,
        /// Socket.
        socket: u16,
    },
    /// Two buses claim the same socket.
    #[error("buses {first:02x} and {second:02x} both claim socket {socket}; report the firmware fault")]
    TwoBuses {
        /// Socket.
        socket: u16,
        /// One bus.
        first: u8,
        /// The other.
        second: u8,
    },
    /// The register with the buses of a socket's stacks is not usable.
    #[error(
        "socket {socket} (cpu {cpu}): {register} does not say which PCI buses are the socket's, since {what}; report \
         the firmware fault, or count units without PCI functions"
    )]
    StackBuses {
        /// Socket.
        socket: u16,
        /// The CPU through which it was read.
        cpu: u32,
        /// Register.
        register: &'static str,
        /// What is wrong.
        what: String,
    },
    /// Several PCI segments have the buses of a socket's stacks.
    #[error(
        "socket {socket}: its buses are on PCI segment {}, and nothing tells which is the socket's; report the \
         firmware fault, or count units without PCI functions",
        joined(.segments)
    )]
    Segments {
        /// Socket.
        socket: u16,
        /// The segments.
        segments: Vec<u16>,
    },
    /// An access failed in a way that does not mean "absent".
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The catalogue does not say how to tell the socket of a bus.
    #[error(
        "{unit} of {family} lies in PCI configuration space, but the catalogue has no node registers that tell the \
         socket of a bus; add them to catalog/families/{family}.toml"
    )]
    NoNodeRegisters {
        /// Family.
        family: &'static str,
        /// Unit.
        unit: &'static str,
    },
}

fn joined(segments: &[u16]) -> String {
    segments.iter().map(u16::to_string).collect::<Vec<_>>().join(" or ")
}
