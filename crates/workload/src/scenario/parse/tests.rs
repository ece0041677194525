use super::{Limits, parse};
use crate::{CoreSleep, Errand, Kind, MessageKind, PhaseSettings};

const LIMITS: Limits = Limits::of_tests();

fn message(text: &str) -> String {
    parse(text, &LIMITS).unwrap_err().to_string()
}

#[test]
fn phases_have_a_workload_or_a_pause_and_conditions() {
    let text = "# Of a day.\n\nphase busy   # the day\n  workload chase:requests=2k\n  for 3ms\n  msi every 20us\n\
                phase night\n  idle 300us\n  sleep c6\n  wake every 50us\n  frequency 1200MHz\n  thermal-limit 2GHz\n\
                \tthrottle rank1 30%\n  memory-error every 500reads\n  self-refresh after 10us\n";
    let scenario = parse(text, &LIMITS).unwrap();
    let [busy, night] = &scenario.phases[..] else { panic!("two phases") };
    assert_eq!((busy.name.as_str(), busy.nanoseconds), ("busy", Some(3_000_000)));
    assert_eq!(busy.workload.as_ref().unwrap().kind, Kind::Chase);
    assert_eq!(busy.conditions.errands, [Errand { kind: MessageKind::Interrupt, every: 20_000 }]);
    assert_eq!(scenario.requests(), 2048);
    assert_eq!((night.workload.as_ref(), night.nanoseconds), (None, Some(300_000)));
    let conditions = &night.conditions;
    assert_eq!((conditions.sleep, conditions.wake), (CoreSleep::C6, Some(50_000)));
    assert_eq!((conditions.frequency.request, conditions.frequency.thermal), (Some(12), Some(20)));
    assert_eq!((conditions.memory.throttle, conditions.memory.error_every), (Some((2, 30)), 500));
    assert_eq!(conditions.memory.self_refresh, Some(10_000));
}

#[test]
fn a_mistake_is_shown_with_its_line_and_a_mark() {
    let message = message("phase a\n  workload stream\n  frequncy 1200MHz\n");
    let lines: Vec<&str> = message.lines().collect();
    assert!(
        lines[0].starts_with("line 3, column 3: a phase has no setting \"frequncy\"; did you mean frequency?"),
        "{message}"
    );
    assert_eq!(&lines[1..], ["    frequncy 1200MHz", "    ^^^^^^^^"]);
}

#[test]
fn the_mark_stands_under_the_word() {
    let mark = |text: &str| message(text).lines().last().unwrap_or_default().to_owned();
    assert_eq!(mark("phase a\nidle 3 us\n"), "       ^");
    assert_eq!(mark("phase a\nidle"), "      ^");
    assert_eq!(mark("phase a\nidle 1us 2us"), "           ^^^");
    assert_eq!(mark("phase a\n\tsleep c9"), "  \t      ^^");
    assert_eq!(mark("phase a\nworkload stream:reed=1"), "           ^^^^^^^^^^^^^");
}

#[test]
fn messages_tell_what_to_do() {
    for (text, part) in [
        ("", "line 1, column 1: there is no phase: begin with"),
        ("idle 3us", "stands before the first phase"),
        ("phase", "the phase's name is missing: write phase NAME"),
        ("phase a b", "nothing may follow here"),
        ("phase a", "phase \"a\" has neither"),
        ("phase a\nphase b\nidle 1us", "line 1, column 1: phase \"a\" has neither"),
        ("phase a\nfor 3us", "has neither"),
        ("phase a\nidle 3us\nworkload stream", "not both"),
        ("phase a\nidle 3us\nidle 4us", "set twice"),
        ("phase a\nidle 99ns", "goes from 100ns to 10000ms"),
        ("phase a\nidle 99999999999999999999ns", "expected the pause's length, found"),
        ("phase a\nfrequency 4GHz", "goes from 1200MHz to 3500MHz"),
        ("phase a\nthrottle rank0 99%", "goes from 1% to 90%"),
        ("phase a\nthrottle rank8 9%", "expected the rank, found \"rank8\": write throttle rank0 30%"),
        ("phase a\nlink-error every 5packets", "link-error needs a second socket"),
        ("phase a\nmsi each 9us", "expected every, found \"each\": write msi every 20us"),
        ("phase a\nworkload steam", "did you mean stream?"),
        ("phase ä\nä 1", "line 2, column 1: a phase has no setting \"ä\""),
        ("phase ä\nidle 1us ä", "line 2, column 10: nothing may follow"),
    ] {
        assert!(message(text).contains(part), "{text:?} gives {}", message(text));
    }
}

#[test]
fn a_setting_of_another_machine_is_no_spelling_mistake() {
    const BARE: PhaseSettings = PhaseSettings { family: "nehalem", settings: &[], messages: &[], ratios: [16, 29, 33] };
    let limits = Limits { phase_settings: BARE, ..LIMITS };
    let message = |text: &str| parse(text, &limits).unwrap_err().to_string();
    let throttle = message("phase a\n  idle 1us\n  throttle ranks 50%\n");
    assert!(
        throttle.starts_with("line 3, column 3: the traffic model of nehalem has no setting \"throttle\""),
        "{throttle}"
    );
    assert!(message("phase a\nidle 1us\nmsi every 1us").contains("no setting \"msi\", though others have"));
    assert!(message("phase a\nidel 1us").contains("did you mean idle?"));
    assert!(parse("phase a\nworkload stream\nfor 1us\nphase b\nidle 1us\n", &limits).is_ok());
}
