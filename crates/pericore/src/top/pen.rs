//! What ratatui wants to be drawn, as the escape sequences that every terminal of the last decades knows. They are
//! gathered, so that a picture is written at once, and by the thread that holds the terminal.

use std::fmt::Write as _;
use std::io;

use pericore_dashboard::plain;
use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};

/// Wipes the screen.
const WIPE: &str = "\x1b[2J";

/// A terminal of one size.
#[derive(Debug)]
pub struct Pen {
    size: Size,
    text: String,
}

impl Pen {
    /// A terminal on which nothing stands.
    pub fn new((width, height): (u16, u16)) -> Self {
        Self { size: Size { width, height }, text: WIPE.to_owned() }
    }

    /// Columns and lines.
    pub const fn size(&self) -> Size {
        self.size
    }

    /// What is to be written.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }
}

impl Backend for Pen {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let (mut next, mut style) = (None, String::new());
        for (x, y, cell) in content {
            if next != Some((x, y)) {
                let _ = write!(self.text, "\x1b[{};{}H", y + 1, x + 1);
            }
            let wanted = plain::parameters(cell);
            if wanted != style {
                let _ = write!(self.text, "\x1b[0;{wanted}m");
                style = wanted;
            }
            self.text.push_str(cell.symbol());
            // Behind a wide character, and at the end of a line, terminals differ: there it is said anew.
            let is_plain = cell.symbol().is_ascii() && x + 1 < self.size.width;
            next = is_plain.then_some((x + 1, y));
        }
        if !style.is_empty() {
            self.text.push_str("\x1b[0m");
        }
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, _: P) -> io::Result<()> {
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.text.push_str(WIPE);
        Ok(())
    }

    fn clear_region(&mut self, _: ClearType) -> io::Result<()> {
        self.clear()
    }

    fn size(&self) -> io::Result<Size> {
        Ok(self.size)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
