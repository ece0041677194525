//! Lines that leave the LLC for others.

use super::Found;

/// A victim of an LLC fill: what left, for whom, and where its home is.
#[derive(Debug, Clone, Copy)]
pub struct Victim {
    /// State that it left.
    pub state: Found,
    /// The fill was for an I/O stack.
    pub for_io: bool,
    /// Its home is another socket.
    pub remote: bool,
}

impl Victim {
    /// Bound of [`Victim::index`].
    pub const COUNT: usize = Found::COUNT * 4;

    /// A number for the victim.
    pub const fn index(self) -> usize {
        (self.state as usize * 2 + self.for_io as usize) * 2 + self.remote as usize
    }

    /// The victim of a number.
    pub const fn of(index: usize) -> Self {
        Self { state: Found::ALL[index / 4], for_io: index / 2 % 2 == 1, remote: index % 2 == 1 }
    }
}
