//! Colours of a terminal.

/// Paints words, or leaves them as they are. Widths must be seen to before: escape sequences take no room on the
/// screen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// Paints if it is on.
    pub const fn new(on: bool) -> Self {
        Self { on }
    }

    /// True if it paints.
    pub const fn is_on(self) -> bool {
        self.on
    }

    /// A heading or a name.
    pub fn strong(self, text: &str) -> String {
        self.with("1", text)
    }

    /// What matters less.
    pub fn faint(self, text: &str) -> String {
        self.with("2", text)
    }

    /// What is wrong.
    pub fn alarm(self, text: &str) -> String {
        self.with("31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paint_is_off_by_default() {
        assert_eq!(Paint::default().strong("x"), "x");
        assert_eq!(Paint { on: true }.alarm("x"), "\x1b[31mx\x1b[0m");
    }
}
