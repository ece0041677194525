//! Frames, written by hand.

use pericore_metrics::{UnitOfMeasure, Validity, Value};
use pericore_observe::results::Scope;
use pericore_report::{Place, Report, Row};

use crate::clock::TimeOfDay;
use crate::keys::Key;
use crate::picture::frame::{picture, room};
use crate::picture::plain;
use crate::state::{KeyCommand, Look, ScreenPage, State};

/// A picture as lines.
fn frame(state: &State, width: usize, height: usize) -> Vec<String> {
    plain::lines(&picture(state, width, height))
}

fn take(state: &mut State, [system, sockets, instances]: &[Report; 3], at: TimeOfDay) {
    state.take([system, sockets, instances, &report(1.0, Vec::new())], at);
}

fn row(name: &str, socket: Option<(u16, Option<&str>)>, value: Value, unit: Option<UnitOfMeasure>) -> Row {
    let place = socket.map(|(socket, instance)| Place { socket, instance: instance.map(str::to_owned), instances: 1 });
    Row {
        name: name.to_owned(),
        place,
        value,
        seconds: 1.0,
        unit_of_measure: unit,
        standard_error: None,
        spread: None,
        interval: None,
        requested: None,
        truth: None,
        limit: None,
        nature: pericore_report::Nature::default(),
        answering: None,
        through: None,
    }
}

fn report(seconds: f64, rows: Vec<Row>) -> Report {
    Report {
        interval_end: None,
        is_summary: false,
        seconds,
        stood: false,
        paused: 0.0,
        is_withdrawn: false,
        runs: None,
        rows,
        summary: &[],
        floorplan: &[],
    }
}

fn at(second: i32) -> TimeOfDay {
    TimeOfDay { hour: 9, minute: 5, second }
}

const BANDWIDTH: Option<UnitOfMeasure> = Some(UnitOfMeasure::BytesPerSecond);
const SHARE: Option<UnitOfMeasure> = Some(UnitOfMeasure::Percent);

/// A sample of 1 s on two sockets: socket 1 reads a quarter of what socket 0 does.
fn reports(bandwidth: f64, count: Value) -> [Report; 3] {
    let socket = |number: u16| {
        let here = bandwidth / if number == 0 { 1.0 } else { 4.0 };
        row("imc/MEM_BANDWIDTH", Some((number, None)), Value::measured(here), BANDWIDTH)
    };
    let channel = |number: u16, name: &str| {
        row("imc/MEM_BANDWIDTH", Some((number, Some(name))), Value::measured(bandwidth / 8.0), BANDWIDTH)
    };
    let hits = |socket: Option<(u16, Option<&str>)>| row("imc/PAGE_HITS", socket, Value::measured(0.25), SHARE);
    [
        report(
            1.0,
            vec![
                row("cbo/LLC_LOOKUP.ANY/", None, count.clone(), None),
                row("imc/MEM_BANDWIDTH", None, Value::measured(bandwidth * 1.25), BANDWIDTH),
            ],
        ),
        report(1.0, vec![socket(0), socket(1), hits(Some((0, None))), hits(Some((1, None)))]),
        report(1.0, (0..2).flat_map(|number| ["imc0", "imc1", "imc2"].map(|name| channel(number, name))).collect()),
    ]
}

fn state(scope: Option<Scope>) -> State {
    let mut state = State::new(1.0, Look { unicode: true, ..Look::default() }, scope);
    state.page = ScreenPage::Rows;
    state.name("EMULATED e5-2680: Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz, 2 sockets: system wide".to_owned(), 2);
    state
}

/// Three samples: 8, 12 and 4 GB/s in socket 0; the count has no number in the second, and is scaled in the third.
fn measured(scope: Option<Scope>) -> State {
    let mut state = state(scope);
    let none = Value::missing(Validity::unreadable("cbo3 in socket 1", "reads as all ones"));
    let scaled = Value::new(1.5e6, Validity::scaled(0.5));
    for (second, bandwidth, count) in [(1, 8e9, Value::measured(3e6)), (2, 12e9, none), (3, 4e9, scaled)] {
        take(&mut state, &reports(bandwidth, count), at(second));
    }
    state
}

#[track_caller]
fn shows(state: &State, width: usize, height: usize, expected: &str) {
    let lines = frame(state, width, height);
    assert!(lines.len() <= height, "{} lines", lines.len());
    for line in &lines {
        assert!(line.chars().count() <= width, "too wide: {line:?}");
    }
    let expected = expected.trim_start_matches('\n').trim_end_matches(' ');
    let shown = format!("{}\n", lines.join("\n").trim_end());
    assert_eq!(shown, expected, "\n{}\n", lines.join("\n"));
}

#[test]
fn sockets_on_an_ordinary_terminal() {
    shows(
        &measured(None),
        80,
        24,
        "
EMULATED e5-2680: Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz, 2 sockets   09:05:03
 1 Overview [2 Rows] 3 Units  4 History  5 Devices                       ?: help
every 1 s, by socket, 3 samples, least and most since 09:05:01
                          now          mean     most                   last 26 s
 S0 imc/MEM_BANDWIDTH   4.000  GB/s   8.000   12.000                         ▆█▄
 S0 imc/PAGE_HITS      25.000  %     25.000   25.000                         ███
 S1 imc/MEM_BANDWIDTH   1.000  GB/s   2.000    3.000                         ▆█▄
 S1 imc/PAGE_HITS      25.000  %     25.000   25.000                         ███
",
    );
}

/// 3 million in the first second, no number, 1.5 million in the third. The mean of two of three is doubtful.
#[test]
fn what_is_not_plainly_measured_is_marked_and_explained() {
    shows(
        &measured(Some(Scope::System)),
        110,
        8,
        "
EMULATED e5-2680: Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz, 2 sockets                                 09:05:03
every 1 s, whole system, 3 samples, least and most since 09:05:01                  h: help; more from 80x24 on
                         now          mean    least     most  at                                     last 39 s
 cbo/LLC_LOOKUP.ANY/   1.500~ M/s    2.250?   1.500~   3.000  09:05:01                                     █!▅
 imc/MEM_BANDWIDTH     5.000  GB/s  10.000    5.000   15.000  09:05:02                                     ▆█▄


~ cbo/LLC_LOOKUP.ANY/: scaled, counted 50.0 % of the time
",
    );
}

#[test]
fn a_limit_that_is_reached_is_shown() {
    let mut state = state(Some(Scope::Socket));
    let mut taken = reports(8e9, Value::measured(3e6));
    let limit = pericore_catalog::Limit { above: 65, means: "It gives nearly all.", see: &[] };
    for row in taken.iter_mut().flat_map(|report| &mut report.rows) {
        row.limit = (row.name == "imc/PAGE_HITS").then_some(limit);
        row.value = if row.limit.is_some() { Value::measured(0.66) } else { row.value.clone() };
    }
    take(&mut state, &taken, at(1));
    let shown = frame(&state, 80, 12);
    assert_eq!(
        shown.last().map(String::as_str),
        Some("^ S0 imc/PAGE_HITS and 1 more: above 65 %: It gives nearly all."),
        "{shown:?}"
    );
}

#[test]
fn a_number_that_there_is_not_is_no_zero() {
    let mut state = state(Some(Scope::System));
    let none = Value::missing(Validity::unreadable("cbo3 in socket 1", "reads as all ones"));
    take(&mut state, &reports(8e9, none), at(1));
    shows(
        &state,
        60,
        7,
        "
EMULATED e5-2680: Intel(R) Xeon(R) CPU E5-2680 0 @  09:05:01
every 1 s, whole system, 1 sample                    h: help
                         now          most         last 16 s
 cbo/LLC_LOOKUP.ANY/       -! /s         -!                !
 imc/MEM_BANDWIDTH    10.000  GB/s  10.000                 █
! cbo/LLC_LOOKUP.ANY/: cbo3 in socket 1 unreadable: reads as
all ones
",
    );
}

#[test]
fn less_room_shows_less() {
    let mut state = measured(None);
    shows(
        &state,
        40,
        10,
        "
EMULATED e5-2680: Intel(R) Xeon 09:05:03
every 1 s, by socket, 3 samples  h: help
                      now          most
 S0 imc/…ANDWIDTH   4.000  GB/s  12.000
 S0 imc/PAGE_HITS  25.000  %     25.000
 S1 imc/…ANDWIDTH   1.000  GB/s   3.000
 S1 imc/PAGE_HITS  25.000  %     25.000
",
    );
    shows(
        &state,
        10,
        2,
        "
EMULATED e
 S  4.000
",
    );
    shows(&state, 10, 1, "EMULATED e\n");
    state.look.unicode = false;
    shows(
        &state,
        30,
        4,
        "
EMULATED e5-2680: Int 09:05:03
                     now
 S0 imc..NDWIDTH   4.000  GB/s
 S0 imc..GE_HITS  25.000  %
",
    );
}

/// Whatever the size and whatever is asked for: no line is wider than the terminal, and there are not more than it has.
#[test]
fn no_frame_is_larger_than_its_terminal() {
    let mut states = Vec::from([Scope::System, Scope::Socket, Scope::Instance].map(|scope| measured(Some(scope))));
    states.push(state(None));
    for state in &mut states {
        for key in [Key::Char('h'), Key::Down, Key::End, Key::Char(' '), Key::PageUp] {
            state.press(key);
            for width in (0..130).step_by(3) {
                for height in (0..9).chain([24]) {
                    let lines = frame(state, width, height);
                    assert!(lines.len() <= height, "{width}x{height}");
                    assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}x{height}: {lines:?}");
                    assert!(room(state, width, height) <= height);
                }
            }
        }
    }
}

/// 1.8e19 is what a wrap of 64 bits would look like: it is what was counted here, and fits into its column.
#[test]
fn wide_numbers_keep_their_columns() {
    let mut state = state(Some(Scope::System));
    let rows = |count: f64| {
        let ratio = Some(UnitOfMeasure::Ratio);
        report(1.0, vec![row("a", None, Value::measured(count), None), row("b", None, Value::measured(0.5), ratio)])
    };
    let reports = |count| [rows(count), report(1.0, Vec::new()), report(1.0, Vec::new())];
    take(&mut state, &reports(1.8e19), at(1));
    take(&mut state, &reports(1.0), at(2));
    shows(
        &state,
        50,
        5,
        "
EMULATED e5-2680: Intel(R) Xeon(R) CPU E5 09:05:02
        now           mean      most     last 12 s
 a       <1  G/s   9.000e9  1.800e10            █▂
 b    0.500          0.500     0.500            ██
",
    );
}

#[test]
fn a_row_that_is_looked_at_shows_all_and_is_always_in_sight() {
    let mut state = measured(None);
    assert_eq!([Key::Down, Key::Down].map(|key| state.press(key)), [KeyCommand::Nothing; 2]);
    shows(
        &state,
        80,
        10,
        "
EMULATED e5-2680: Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz, 2 sockets   09:05:03
every 1 s, by socket, 3 samples, least and most since 09:05:01           h: help
                          now          mean     most                   last 26 s
 S0 imc/MEM_BANDWIDTH   4.000  GB/s   8.000   12.000                         ▆█▄
>S0 imc/PAGE_HITS      25.000  %     25.000   25.000                         ███
 S1 imc/MEM_BANDWIDTH   1.000  GB/s   2.000    3.000                         ▆█▄
 S1 imc/PAGE_HITS      25.000  %     25.000   25.000                         ███
S0 imc/PAGE_HITS: least 25.000 % at 09:05:01, most 25.000 % at 09:05:01, mean
25.000 % of 3 samples
measured
",
    );
    state.press(Key::Char('s'));
    state.press(Key::End);
    shows(
        &state,
        80,
        6,
        "
EMULATED e5-2680: Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz, 2 sockets   09:05:03
rows 6 to 6 of 6, every 1 s, by instance, 3 samples  h: help; more from 80x24 on
                               now          mean     most              last 21 s
>S1 imc2 imc/MEM_BANDWIDTH   0.500  GB/s   1.000    1.500                    ▆█▄
S1 imc2 imc/MEM_BANDWIDTH: least 0.500 GB/s at 09:05:03, most 1.500 GB/s at
09:05:02, mean 1.000 GB/s of 3 samples
",
    );
}

#[test]
fn a_paused_display_does_not_move_while_samples_come_in() {
    let mut state = measured(None);
    state.press(Key::Char(' '));
    let paused = frame(&state, 80, 24);
    assert!(paused[0].ends_with("PAUSED 09:05:03"), "{paused:?}");
    take(&mut state, &reports(16e9, Value::measured(1.0)), at(4));
    assert_eq!(frame(&state, 80, 24), paused);
    state.press(Key::Char(' '));
    let lines = frame(&state, 80, 24);
    assert_eq!(lines[4], " S0 imc/MEM_BANDWIDTH  16.000  GB/s  10.000   16.000                        ▅▇▃█");
}

#[test]
fn a_reset_begins_anew() {
    let mut state = measured(None);
    state.press(Key::Char('r'));
    take(&mut state, &reports(2e9, Value::measured(1.0)), at(4));
    let lines = frame(&state, 80, 24);
    assert!(lines[2].contains("4 samples, least and most since 09:05:04"), "{}", lines[2]);
    assert_eq!(lines[4], " S0 imc/MEM_BANDWIDTH   2.000  GB/s   2.000    2.000                        ▆█▄▃");
}

/// Colours are not needed to read it, and take no room.
#[test]
fn painted_frames_are_the_same_but_for_the_paint() {
    let mut state = measured(Some(Scope::System));
    state.press(Key::Down);
    for size in [(80, 24), (40, 10), (10, 2)] {
        state.look.colors = false;
        let bare = frame(&state, size.0, size.1);
        state.look.colors = true;
        let painted = frame(&state, size.0, size.1);
        assert_ne!(painted, bare);
        let washed = painted.iter().map(|line| {
            let mut parts = line.split("\x1b[");
            let first = parts.next().unwrap_or_default().to_owned();
            parts.fold(first, |line, part| line + part.split_once('m').expect("a colour").1)
        });
        assert_eq!(washed.collect::<Vec<_>>(), bare);
    }
}

#[test]
fn before_the_first_sample_there_is_nothing_to_show() {
    let lines = frame(&state(None), 80, 24);
    assert_eq!(lines[4], "waiting for the first sample");
}

#[test]
fn keys_end_stop_and_explain() {
    let mut state = measured(None);
    let ends = [Key::Char('q'), Key::Escape, Key::Interrupt].map(|key| state.press(key));
    assert_eq!((ends, state.press(Key::Suspend)), ([KeyCommand::End; 3], KeyCommand::Suspend));
    state.press(Key::Char('?'));
    let lines = frame(&state, 80, 24);
    assert!(lines.iter().any(|line| line.contains("Keys and marks")), "{lines:?}");
    state.press(Key::Char('h'));
    assert!(!frame(&state, 80, 24).iter().any(|line| line.contains("Keys and marks")));
}
