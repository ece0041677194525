//! Pictures as a terminal takes them, and as text.

use pericore_text::columns;
use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::style::{Color, Modifier, Style};

/// Takes colours off where there are none, and what is not ASCII where nothing else can be shown.
pub fn fit(buffer: &mut Buffer, colors: bool, unicode: bool) {
    for cell in &mut buffer.content {
        if !colors {
            cell.set_style(Style::reset());
        }
        if let Some(sign) = ascii(cell.symbol()).filter(|_| !unicode) {
            cell.set_char(sign);
        }
    }
}

/// What stands for a sign of ours; names stay as they are.
fn ascii(symbol: &str) -> Option<char> {
    Some(match symbol {
        "─" => '-',
        "│" => '|',
        "┌" | "┐" | "└" | "┘" | "├" | "┤" | "┬" | "┴" | "┼" => '+',
        _ => return None,
    })
}

/// The parameters of the escape sequence that a cell's style begins with; empty if it has none.
pub fn parameters(cell: &Cell) -> String {
    let mut all: Vec<String> = Vec::new();
    let known = [(Modifier::BOLD, "1"), (Modifier::DIM, "2"), (Modifier::REVERSED, "7")];
    all.extend(
        known.iter().filter(|(modifier, _)| cell.modifier.contains(*modifier)).map(|(_, code)| (*code).to_owned()),
    );
    all.extend(color(cell.fg, 30));
    all.extend(color(cell.bg, 40));
    all.join(";")
}

/// A colour that this crate uses.
fn color(color: Color, first: u8) -> Option<String> {
    Some(match color {
        Color::Red => (first + 1).to_string(),
        Color::Yellow => (first + 3).to_string(),
        Color::Cyan => (first + 6).to_string(),
        Color::Indexed(index) => format!("{};5;{index}", first + 8),
        _ => return None,
    })
}

/// The lines of a picture, without spaces behind them.
pub fn lines(buffer: &Buffer) -> Vec<String> {
    let width = usize::from(buffer.area.width);
    if width == 0 {
        return Vec::new();
    }
    buffer.content.chunks(width).map(line).collect()
}

fn line(cells: &[Cell]) -> String {
    let is_blank = |cell: &&Cell| cell.symbol() == " " && parameters(cell).is_empty();
    let end = cells.len() - cells.iter().rev().take_while(is_blank).count();
    let (mut text, mut style, mut skipped) = (String::new(), String::new(), 0);
    for cell in &cells[..end] {
        if skipped > 0 {
            skipped -= 1;
            continue;
        }
        let wanted = parameters(cell);
        if wanted != style {
            if !style.is_empty() {
                text.push_str("\x1b[0m");
            }
            if !wanted.is_empty() {
                text.push_str(&format!("\x1b[{wanted}m"));
            }
            style = wanted;
        }
        text.push_str(cell.symbol());
        skipped = columns(cell.symbol()).saturating_sub(1);
    }
    if !style.is_empty() {
        text.push_str("\x1b[0m");
    }
    text
}
