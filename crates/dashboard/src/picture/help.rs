//! What keys and marks mean.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::text::Line;
use ratatui_core::widgets::Widget;
use ratatui_widgets::block::Block;
use ratatui_widgets::clear::Clear;
use ratatui_widgets::paragraph::Paragraph;

use super::style::STRONG;

/// Where there is little room.
pub const SHORT: &str = "s: system, socket, instance   Return, Backspace: into a row and back   /: search   o: order   \
                         Space: pause   left, right: back in time   r: reset least, mean, most   \
                         arrows, PgUp, PgDn: look at a row   q: quit   ~ scaled   ? suspect   ! no number   ^ a limit; \
                         bars: 0 to the greatest of those shown; mean: over time";

/// Keys, and what they do.
const KEYS: [(&str, &str); 17] = [
    ("1 to 5, Tab", "overview, rows, units, history, devices"),
    ("arrows, PgUp, PgDn", "go to a row, which the chart and the foot then show"),
    ("Home, End", "go to the first or last row"),
    ("Return", "into a row: sockets, instances, counters"),
    ("Backspace, Esc", "back up; Esc also ends help, search, and then all"),
    ("s", "rows of the system, of each socket, of each instance"),
    ("/", "search: rows with these words only"),
    ("o", "order: as named, greatest first, by name"),
    ("m", "the map shows the next event or metric"),
    ("Space", "pause, or go on"),
    ("left, right", "back in time and forth, while paused"),
    ("+ and -", "charts show less or more time"),
    ("r", "reset least, mean and most"),
    ("q, Ctrl-C", "quit; Ctrl-Z: to the shell"),
    ("~ ? !", "scaled, suspect, no number"),
    ("^", "above a limit; bars of limits have a | there"),
    ("bars, charts", "from 0 to the greatest of those shown"),
];

/// Lines of the box, and its columns.
const SIZE: (u16, u16) = (76, KEYS.len() as u16 + 2);

/// A box over the picture.
pub fn draw(area: Rect, buffer: &mut Buffer) {
    let (width, height) = (SIZE.0.min(area.width), SIZE.1.min(area.height));
    let place = Rect::new((area.width - width) / 2, (area.height - height) / 2, width, height);
    let lines: Vec<Line<'_>> = KEYS.iter().map(|(key, what)| Line::from(format!(" {key:<19} {what}"))).collect();
    Clear.render(place, buffer);
    let title = Line::styled(" Keys and marks ", STRONG);
    Paragraph::new(lines).block(Block::bordered().title(title)).render(place, buffer);
}
