//! Names of events and signals, bound to wires of every instance of a unit.

use pericore_hardware::signal::{Stride, Wire, Wiring, WiringError};

use pericore_facts::emerald_rapids::{LinkCodes, LinkMessage};

/// A wire of every instance of a unit, with a tag.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    /// The first instance's.
    wire: Wire,
    /// Signals of the unit.
    signals: u16,
    tag: u64,
}

impl Line {
    /// The wire of an instance.
    #[inline]
    pub const fn wire(self, stride: Stride, socket: u16, index: u16) -> Wire {
        self.wire.further(stride, socket, index, self.signals)
    }

    /// True if both are of the same unit's signal.
    pub const fn has_signal_of(self, other: Self) -> bool {
        self.wire.place() == other.wire.place()
    }

    /// The tag.
    #[inline]
    pub const fn tag(self) -> u64 {
        self.tag
    }
}

/// Binds the subevents that a table's entry names, of one event: the tag has the bits of all of them, without those of
/// one behind a minus.
pub fn bind(wiring: &mut Wiring, entry: &str) -> Result<Line, WiringError> {
    let (unit, rest) = entry.split_once('/').unwrap_or((entry, ""));
    let (rest, left_out) = rest.split_once('-').map_or((rest, None), |(rest, name)| (rest, Some(name)));
    let mut names = rest.split('+');
    let first = names.next().unwrap_or_default();
    let (event, subevent) = first.split_once('.').map_or((first, None), |(event, sub)| (event, Some(sub)));
    let (wire, mut tag) = wiring.tagged(0, unit, 0, event, subevent)?;
    for further in names {
        tag |= wiring.tagged(0, unit, 0, event, Some(further))?.1;
    }
    if let Some(name) = left_out {
        tag &= !wiring.tagged(0, unit, 0, event, Some(name))?.1;
    }
    wiring.can_have(wire, [tag]);
    Ok(line(wiring, unit, wire, tag))
}

/// Binds a signal by its own name, whose tag is put together when it is told: one of `tags`.
pub fn bind_signal(
    wiring: &mut Wiring,
    unit: &str,
    signal: &str,
    tags: impl IntoIterator<Item = u64>,
) -> Result<Line, WiringError> {
    let wire = wiring.signal(0, unit, 0, signal)?;
    wiring.can_have(wire, tags);
    Ok(line(wiring, unit, wire, 0))
}

fn line(wiring: &Wiring, unit: &str, wire: Wire, tag: u64) -> Line {
    let signals = wiring.family().unit(unit).map_or(0, |unit| unit.signals.len()) as u16;
    Line { wire, signals, tag }
}

/// A value of one of the catalogue's sets, by name.
pub fn named(wiring: &Wiring, set: &str, name: &str) -> Result<u64, WiringError> {
    let missing = || WiringError::NoSignal { unit: "cha", name: format!("{name} in {set}") };
    wiring.family().named_value(set, name).ok_or_else(missing)
}

/// The codes of messages between sockets.
///
/// # Errors
/// [`WiringError::NoSignal`] for a message that the set does not have.
pub fn link_codes(wiring: &Wiring) -> Result<LinkCodes, WiringError> {
    let mut codes = [0; LinkMessage::COUNT];
    for (code, message) in codes.iter_mut().zip(LinkMessage::ALL) {
        *code = named(wiring, "upi-messages", message.name())? as u8;
    }
    Ok(codes)
}
