//! The order of rows.

use crate::track::Track;

/// Which rows come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// As they were named, socket by socket.
    #[default]
    Named,
    /// The greatest number first, unit of measure by unit of measure.
    Greatest,
    /// By name.
    Name,
}

impl Order {
    /// The next one that the key goes to.
    pub const fn next(self) -> Self {
        match self {
            Self::Named => Self::Greatest,
            Self::Greatest => Self::Name,
            Self::Name => Self::Named,
        }
    }

    /// In words; nothing of the usual one.
    pub const fn words(self) -> Option<&'static str> {
        match self {
            Self::Named => None,
            Self::Greatest => Some("greatest first"),
            Self::Name => Some("by name"),
        }
    }

    /// Puts rows in this order, by their numbers so many samples ago.
    pub fn sort(self, rows: &mut [&Track], back: usize) {
        rows.sort_by_key(|track| track.socket);
        match self {
            Self::Named => {}
            Self::Name => rows.sort_by(|one, other| one.name.cmp(&other.name)),
            Self::Greatest => rows.sort_by(|one, other| {
                let number = |track: &Track| track.past(back).map_or(f64::NEG_INFINITY, |(number, _)| number);
                let of_measure = |track: &Track| track.unit().symbol();
                of_measure(one).cmp(of_measure(other)).then(number(other).total_cmp(&number(one)))
            }),
        }
    }
}
