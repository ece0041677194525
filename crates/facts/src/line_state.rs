//! States of a line in an LLC of MESIF.

/// State of a line in the LLC, numbered as the guide's state filter numbers its bits (2.3.7, `LLC_LOOKUP`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum LineState {
    /// Not there.
    #[default]
    Invalid,
    /// Shared with another socket.
    Shared,
    /// Only in this socket, like memory.
    Exclusive,
    /// Only in this socket, newer than memory.
    Modified,
    /// Shared with another socket, this one answers.
    Forward,
}

impl LineState {
    /// The letter that stands for it.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Invalid => "I",
            Self::Shared => "S",
            Self::Exclusive => "E",
            Self::Modified => "M",
            Self::Forward => "F",
        }
    }

    /// Others may have the line, too.
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::Shared | Self::Forward)
    }

    /// How many states there are.
    pub const COUNT: usize = 5;
    /// By number; the numbers that three bits hold beyond the last state read as `Invalid`.
    pub const ALL: [Self; 8] = [
        Self::Invalid,
        Self::Shared,
        Self::Exclusive,
        Self::Modified,
        Self::Forward,
        Self::Invalid,
        Self::Invalid,
        Self::Invalid,
    ];
}
