//! How parts of a picture are drawn. Where there are no colours, all styles are taken off at the end (`plain`), so none
//! of them may be the only sign of anything.

use ratatui_core::style::{Color, Modifier, Style};

/// As it is.
pub const PLAIN: Style = Style::new();
/// A heading or a name.
pub const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
/// What matters less.
pub const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
/// What is wrong.
pub const ALARM: Style = Style::new().fg(Color::Red);
/// A bar that is far from its limit.
pub const BAR: Style = Style::new().fg(Color::Cyan);
/// A page that is open, a row that the keys are at.
pub const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);
/// A course over time.
pub const COURSE: Style = Style::new().fg(Color::Cyan);
/// A limit in a chart.
pub const LIMIT: Style = Style::new().fg(Color::Yellow);

/// Indices of the 256 colours from little to much: dark blue to bright yellow, which the colour-blind can tell apart.
const HEAT: [u8; 10] = [17, 18, 24, 30, 36, 71, 107, 143, 179, 220];

/// A cell of a heat map, by its share of the greatest.
pub fn heat(share: f64) -> Style {
    let step = (share.clamp(0.0, 1.0) * (HEAT.len() - 1) as f64).round() as usize;
    let ink = if step < 5 { Color::Indexed(231) } else { Color::Indexed(16) };
    Style::new().bg(Color::Indexed(HEAT[step])).fg(ink)
}
