//! What snoops find.

use pericore_facts::e5_2600::PacketKind;

/// What a snoop found, and so what its answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Finding {
    /// Nothing, or nothing that is left.
    #[default]
    Nothing,
    /// A shared copy, which stays.
    Shared,
    /// A copy that goes to the requester; a shared one stays.
    Forwarded,
    /// A modified line that goes to requester and home; a shared copy stays.
    WrittenBack,
    /// A copy that goes to the requester, with nothing left here; it was modified or not.
    Given { modified: bool },
}

impl Finding {
    /// Its response.
    pub const fn response(self) -> PacketKind {
        match self {
            Self::Nothing => PacketKind::RspI,
            Self::Shared => PacketKind::RspS,
            Self::Forwarded => PacketKind::RspFwdS,
            Self::WrittenBack => PacketKind::RspFwdSWb,
            Self::Given { .. } => PacketKind::RspFwdI,
        }
    }

    /// The data that goes to the requester.
    pub const fn data(self) -> Option<PacketKind> {
        match self {
            Self::Nothing | Self::Shared => None,
            Self::Forwarded | Self::WrittenBack => Some(PacketKind::DataF),
            Self::Given { modified: false } => Some(PacketKind::DataE),
            Self::Given { modified: true } => Some(PacketKind::DataM),
        }
    }
}
