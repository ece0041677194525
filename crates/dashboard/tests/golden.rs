//! Pictures of a machine that a seed makes up, against files that people have read: `PERICORE_BLESS=1` writes them.

mod seeded;

use std::path::PathBuf;

use pericore_dashboard::{Key, State, frame, plain};
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;
use seeded::{METRICS, measured, number, take};

/// Terminals.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// What the terminal then shows.
fn screen(state: &State, (width, height): (u16, u16)) -> String {
    let picture = frame::picture(state, width.into(), height.into());
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal.draw(|frame| frame.buffer_mut().clone_from(&picture)).expect("it draws");
    let lines = plain::lines(terminal.backend().buffer());
    assert_eq!(lines.len(), usize::from(height));
    lines.join("\n") + "\n"
}

#[track_caller]
fn holds(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("PERICORE_BLESS").is_some() {
        std::fs::write(&path, text).expect("a file");
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(known == text, "{name} shows otherwise:\n{text}\n--- {} has\n{known}", path.display());
}

/// Each page at each size.
#[test]
fn pages_are_as_they_were_read() {
    let mut state = measured();
    for (page, name) in ["overview", "rows", "units", "history"].into_iter().enumerate() {
        state.press(Key::Char(char::from(b'1' + page as u8)));
        for (width, height) in SIZES {
            holds(&format!("{name}-{width}x{height}.txt"), &screen(&state, (width, height)));
        }
    }
}

/// From the system to a counter: each step narrows the rows down, and each way back leads to where it began.
#[test]
fn the_way_down_leads_to_counters_and_back() {
    let mut state = measured();
    for key in [
        Key::Char('s'),
        Key::Char('s'),
        Key::Char('2'),
        Key::Down,
        Key::Enter,
        Key::Down,
        Key::Enter,
        Key::End,
        Key::Enter,
    ] {
        state.press(key);
    }
    holds("counters-80x24.txt", &screen(&state, SIZES[0]));
    let shown = |state: &State| state.rows().len();
    assert_eq!(shown(&state), 2);
    state.press(Key::Backspace);
    assert_eq!((shown(&state), state.cursor), (8, Some(7)));
    state.press(Key::Escape);
    assert_eq!((shown(&state), state.cursor), (2, Some(1)));
    state.press(Key::Escape);
    assert_eq!((shown(&state), state.cursor), (METRICS.len(), Some(0)));
}

#[test]
fn search_order_and_the_past_are_shown() {
    let mut state = measured();
    for key in [Key::Char('2'), Key::Char('s'), Key::Char('o'), Key::Char('/')] {
        state.press(key);
    }
    "S0 Imc BUS".chars().for_each(|sign| {
        state.press(Key::Char(sign));
    });
    holds("search-80x24.txt", &screen(&state, SIZES[0]));
    state.press(Key::Enter);
    let numbers: Vec<f64> = state.rows().iter().filter_map(|track| Some(track.past(0)?.0)).collect();
    assert!(numbers.len() == 8 && numbers.is_sorted_by(|one, other| one >= other), "{numbers:?}");
    let text = screen(&state, SIZES[0]);
    assert!(text.contains("with \"S0 Imc BUS\", greatest first"), "{text}");
    // Ten samples back it is 9:06:19; what comes in does not move it.
    (0..10).for_each(|_| {
        state.press(Key::Left);
    });
    let text = screen(&state, SIZES[0]);
    assert!(text.contains("10 SAMPLES BACK 09:06:19"), "{text}");
    take(&mut state, 90);
    assert_eq!(screen(&state, SIZES[0]), text);
    let then = state.rows()[0].past(state.back).map(|(number, _)| number);
    let greatest = (0..8).map(|each| number(2, 0, each, 79)).fold(0.0, f64::max);
    assert_eq!(then, Some(greatest));
    state.press(Key::Char(' '));
    assert!(screen(&state, SIZES[0]).contains("2 sockets: copy") && !state.is_paused() && state.back == 0);
}

#[test]
fn help_lies_over_the_picture_and_goes_first() {
    let mut state = measured();
    state.press(Key::Char('?'));
    holds("help-80x24.txt", &screen(&state, SIZES[0]));
    state.press(Key::Escape);
    assert!(!state.help);
}

/// On a terminal that shows ASCII only, nothing else is drawn.
#[test]
fn ascii_is_enough() {
    let mut state = measured();
    state.look.unicode = false;
    for page in "1234?".chars() {
        state.press(Key::Char(page));
        let text = screen(&state, SIZES[0]);
        assert!(text.is_ascii(), "{text}");
    }
    state.press(Key::Char('?'));
    state.press(Key::Char('1'));
    holds("ascii-80x24.txt", &screen(&state, SIZES[0]));
}
