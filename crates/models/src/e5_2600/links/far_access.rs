//! Accesses of cores to the devices and the processors of other sockets, while they are under way.

use pericore_facts::e5_2600::PacketKind;

/// Index of an access.
pub type FarId = u16;

/// What a core wants of another socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FarKind {
    /// To write to a device's registers.
    Write,
    /// To read from them.
    Read,
    /// To interrupt a processor.
    Interrupt,
}

impl FarKind {
    /// The packet that asks for it.
    pub const fn request(self) -> PacketKind {
        match self {
            Self::Write => PacketKind::NcWrPtl,
            Self::Read => PacketKind::NcRd,
            Self::Interrupt => PacketKind::IntPhysical,
        }
    }

    /// The packet that completes it.
    pub const fn response(self) -> PacketKind {
        match self {
            Self::Read => PacketKind::DataNc,
            Self::Write | Self::Interrupt => PacketKind::Cmp,
        }
    }
}

/// An access under way.
#[derive(Debug, Clone, Copy)]
pub struct FarAccess {
    pub kind: FarKind,
    /// From one socket to another.
    pub way: (u8, u8),
    /// The core within its socket.
    pub core: u8,
    pub live: bool,
}

/// The accesses under way in a machine. Slots are reused.
#[derive(Debug, Default)]
pub struct FarAccesses {
    pub slots: Vec<FarAccess>,
}

impl FarAccesses {
    /// One begins.
    pub fn add(&mut self, access: FarAccess) -> FarId {
        let free = self.slots.iter().position(|slot| !slot.live).unwrap_or(self.slots.len());
        if free == self.slots.len() {
            self.slots.push(access);
        } else {
            self.slots[free] = access;
        }
        free as FarId
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.iter().all(|slot| !slot.live)
    }

    /// A core waits for its last one.
    pub fn waits(&self, socket: u8, core: u8) -> bool {
        self.slots.iter().any(|slot| slot.live && (slot.way.0, slot.core) == (socket, core))
    }
}
