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

/// The page on the live view shows what it shows.
#[test]
fn the_document_has_the_picture() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/counting/top.md")).expect("a page");
    let picture = screen(&measured(), SIZES[0]);
    assert!(page.contains(&picture), "docs/counting/top.md does not have\n{picture}");
}

/// The die of the toy: three rows of cores between memory, and rows of I/O that the map leaves out.
const DIE: [&str; 8] = [
    "iio0 iio1 upi0 upi1 iio2 iio3 . . . . .",
    "cha0 cha1 cha2 cha3 cha4 cha5 cha6 cha7 cha8 cha9 cha10",
    "m2m0 cha11 cha12 cha13 cha14 cha15 cha16 cha17 cha18 cha19 m2m1",
    "cha20 cha21 cha22 cha23 cha24 cha25 cha26 cha27 cha28 cha29 cha30",
    "cha31 cha32 cha33 cha34 cha35 cha36 cha37 cha38 cha39 cha40 cha41",
    "m2m2 cha42 cha43 cha44 cha45 cha46 cha47 cha48 cha49 cha50 m2m3",
    "cha51 cha52 cha53 cha54 cha55 cha56 cha57 cha58 cha59 cha60 cha61",
    "cha62 cha63 . . upi2 upi3 iio4 iio5 . . .",
];

/// Where the catalogue knows the die, the map is laid out like it.
#[test]
fn the_map_has_the_layout_of_the_die() {
    let mut state = measured();
    state.floorplan = &DIE;
    state.press(Key::Char('3'));
    for (width, height) in SIZES {
        holds(&format!("die-{width}x{height}.txt"), &screen(&state, (width, height)));
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
