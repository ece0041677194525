//! What of a machine the truth depends on, and what the catalogue has of it.

use pericore_facts::e5_2600::{PacketKind, RequestKind};

/// Structure sizes that the truth of "full" depends on, and how instances belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Sockets of the machine, each with a home agent and its equal share of what follows.
    pub sockets: usize,
    /// LLC slices of the machine.
    pub slices: usize,
    /// Memory channels of the machine.
    pub channels: usize,
    /// Entries of a read and of a write pending queue.
    pub pending: [u64; 2],
    /// Those of them that are kept for isochronous requests.
    pub special: u64,
    /// Links of the machine, each end counted; none with one socket.
    pub links: usize,
    /// Link clocks from one end to the other.
    pub flight: u64,
    /// Shared credits of a link's sender.
    pub shared: u64,
}

/// Values of the IDI opcodes that requests carry, by [`RequestKind`], and the numbers in the headers of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opcodes {
    requests: [Option<u64>; RequestKind::COUNT],
    /// The numbers in packet headers.
    pub packets: PacketCodes,
}

/// The numbers of the message kinds in packet headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketCodes {
    /// Class and opcode, as Table 2-143 joins them: class in bits 7:4.
    pub messages: [u64; PacketKind::COUNT],
    /// State of the line.
    pub states: [u64; PacketKind::COUNT],
}

impl Opcodes {
    /// Takes the values by the names that the guide prints, each from a named set; the error is the first name without
    /// value, and its set.
    ///
    /// # Errors
    /// The set and the name that `value` does not know.
    pub fn by_name(
        value: impl Fn(&'static str, &'static str) -> Option<u64>,
    ) -> Result<Self, (&'static str, &'static str)> {
        let take = |set, name| value(set, name).ok_or((set, name));
        let mut requests = [None; RequestKind::COUNT];
        for (opcode, kind) in requests.iter_mut().zip(RequestKind::ALL) {
            *opcode = kind.opcode().map(|name| take("idi-opcodes", name)).transpose()?;
        }
        let mut packets = PacketCodes { messages: [0; PacketKind::COUNT], states: [0; PacketKind::COUNT] };
        for kind in PacketKind::ALL {
            packets.messages[kind as usize] = take("qpi-messages", kind.opcode())?;
            packets.states[kind as usize] = take("qpi-data-states", kind.state().symbol())?;
        }
        Ok(Self { requests, packets })
    }

    /// The opcode of a kind; what does not come by the IRQ has none.
    pub const fn of(&self, kind: RequestKind) -> Option<u64> {
        self.requests[kind as usize]
    }
}
