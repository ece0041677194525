//! What happens in I/O stacks, between devices, and on CXL links.

use super::{Kind, UnitInstance};

/// Double words of a line.
pub const LINE_DWS: u32 = 16;
/// Double words that a core writes at once: a doorbell.
pub const DOORBELL_DWS: u32 = 2;
/// Double words of an atomic operation's operand.
pub const ATOMIC_DWS: u32 = 2;
/// Double words of a write of a part of a line (assumption: an entry of a completion queue of 16 bytes).
pub const PARTIAL_DWS: u32 = 4;
/// Reads that the queue of inbound reads of a coherent port holds (assumption: what a port of sixteen lanes has under
/// way at 64 GB/s).
pub const INBOUND_READS: u16 = 192;
/// Data that the queue from the mesh of a coherent port holds (assumption: 64 GB/s go through).
pub const INBOUND_DATA: u16 = 40;

/// The port to the mesh stop of a stack that one of its ports uses: four share one, four the other
/// (`catalog/undefined.toml`, "the two agents of a mesh stop").
#[inline]
pub const fn stop_port(port: u8) -> u8 {
    port / 4 % 2
}

/// A request of a device.
#[derive(Debug, Clone, Copy)]
pub struct DeviceRequest {
    /// What it asks for.
    pub kind: Kind,
    /// The port that its device is at.
    pub port: u8,
    /// Its translation is not in the IOMMU's cache: levels of the page table that the walk reads in memory, from the
    /// lowest on; none if it is.
    pub walk: u8,
}

impl DeviceRequest {
    /// True if it reads memory.
    pub const fn reads(&self) -> bool {
        matches!(self.kind, Kind::DmaRead)
    }

    /// True if it writes a part of a line.
    pub const fn is_partial(&self) -> bool {
        matches!(self.kind, Kind::DmaPartial | Kind::DmaWriteNear)
    }

    /// See [`Kind::brings_data`].
    pub const fn brings_data(&self) -> bool {
        self.kind.brings_data()
    }

    /// True if it is an atomic operation in memory.
    pub const fn is_atomic(&self) -> bool {
        matches!(self.kind, Kind::DmaAtomic)
    }
}

/// Where a device's request is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceStation {
    /// It comes into the stack.
    Enters,
    /// It goes out on the mesh.
    Leaves,
    /// Its data has come from the mesh; or (true) has to wait there.
    DataComes(bool),
    /// The data comes into the coherent port.
    DataEnters,
    /// The data of a read goes up to the device.
    DataGoesUp,
    /// It has its permission and, if it brings data, that; or word that it is done.
    Permitted,
    /// The stack is done with it.
    Completes,
}

/// What happens in a stack beside requests of its devices.
#[derive(Debug, Clone, Copy)]
pub enum StackFact {
    /// Requests of one of the coherent port's queues begin (true) or end to wait for a credit of the mesh stop: two
    /// queues of addresses, one of data.
    Stalls(u8, bool),
    /// An access of a core comes to a port: a read or a write.
    CoreComes {
        /// Port.
        port: u8,
        /// It reads.
        reads: bool,
    },
    /// It has gone through the port to the device.
    CorePasses {
        /// Port.
        port: u8,
        /// It reads.
        reads: bool,
    },
    /// It is answered.
    CoreAnswered {
        /// Port.
        port: u8,
        /// It reads.
        reads: bool,
    },
    /// An interrupt is translated.
    TranslatesInterrupt,
    /// A device on a port sends a message, with so many double words of data.
    Message {
        /// Port.
        port: u8,
        /// Double words.
        words: u8,
    },
}

/// A line that a device writes to, or reads from, another one.
#[derive(Debug, Clone, Copy)]
pub struct PeerLine {
    /// It is read.
    pub reads: bool,
    /// Socket and stack of the device that began.
    pub socket: u8,
    /// See `socket`.
    pub stack: u8,
    /// The link to the other socket, if it goes there.
    pub link: Option<u8>,
    /// The stack of the other device.
    pub to: u8,
    /// Port of both.
    pub port: u8,
    /// Its credit is of the pool that destinations share, and not one kept for its own.
    pub shared: bool,
}

impl PeerLine {
    /// Its message class: bypass (0) or standard (1).
    pub const fn class(&self) -> usize {
        self.reads as usize
    }

    /// True if it goes to the other socket.
    pub const fn is_remote(&self) -> bool {
        self.link.is_some()
    }

    /// The stack that began.
    pub fn source(&self) -> UnitInstance {
        (self.socket.into(), self.stack.into())
    }

    /// The other stack.
    pub fn goal(&self) -> UnitInstance {
        (u16::from(self.socket ^ self.is_remote() as u8), self.to.into())
    }

    /// The stack, or the link, that its credit is for.
    pub fn destination(&self) -> u8 {
        self.link.unwrap_or(self.to)
    }
}

/// Where a line between devices is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerStation {
    /// It comes into its stack.
    Enters,
    /// It is first of those that wait, and waits for a credit.
    Waits,
    /// It leaves with a credit; the last says whether it has waited for it.
    Leaves(bool),
    /// It comes to the other stack.
    Arrives,
    /// It has gone through the other stack's mesh stop.
    Passes,
    /// The other stack has taken it, or has its data.
    Taken,
    /// Its credit is back.
    Back,
}

/// What happens on a CXL link with memory behind it.
#[derive(Debug, Clone, Copy)]
pub enum ExpanderFact {
    /// A request goes out: a read, a write, or a write of a part.
    Sends {
        /// It writes.
        writes: bool,
        /// Only a part of the line.
        partial: bool,
    },
    /// The answer to a write, or to a read, comes in and is unpacked.
    Comes {
        /// The answer to a write.
        writes: bool,
        /// The device returns credits in a flit of their own.
        credits: bool,
    },
    /// It has been unpacked.
    Unpacked {
        /// The answer to a write.
        writes: bool,
    },
}
