//! Where something happens.

/// An instance of a unit: its socket, and its number there.
pub type UnitInstance = (u16, u16);

/// A DDR5 subchannel, which the guide calls a pseudo channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubchannelPlace {
    /// Its memory channel.
    pub channel: UnitInstance,
    /// Which of the channel's two it is.
    pub half: u8,
}
