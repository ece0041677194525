//! `pericore top` on a terminal, on a live software machine behind the files of a Xeon. Needs /dev/fuse, root or user
//! namespaces.

mod multiplexer;
mod terminal;

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ours::{PERICORE, command};
use tempfile::TempDir;
use terminal::Terminal;

/// Lines read a second by each of the four channels, in millions.
const RATE: f64 = 3.0;
const ORDINARY: (u16, u16) = (80, 24);

/// A place for journals and a log.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn log(&self) -> PathBuf {
        self.0.path().join("log")
    }

    /// The shell of a user, on a machine with constant traffic. `$P` is the program.
    fn shell(&self, script: &str) -> Command {
        let mut command = command(PERICORE);
        command.args(["machine", "run", "--machine", "e5-2600", "--inject", "imc/CAS_COUNT.RD_REG=3000000"]);
        command.arg("--log").arg(self.log()).args(["--", "sh", "-c", script]);
        self.at_home(command)
    }

    fn at_home(&self, mut command: Command) -> Command {
        command
            .env("XDG_STATE_HOME", self.0.path().join("state"))
            .env("TMPDIR", self.0.path())
            .env("LC_ALL", "C.UTF-8");
        command
    }

    /// Nothing is left to undo, and the last value of each control that was written is the first that was read: 0.
    #[track_caller]
    fn is_put_back(&self) {
        let left = files(&self.0.path().join("state"));
        assert!(left.is_empty(), "{left:?}");
        let log = std::fs::read_to_string(self.log()).expect("a log");
        for control in ["imc0 ctl0", "imc1 ctl0", "imc2 ctl0", "imc3 ctl0"] {
            let writes: Vec<&str> = log.lines().filter(|line| line.contains("<-") && line.contains(control)).collect();
            // The first write of all changes nothing: it asks whether writing is allowed.
            assert!(writes.iter().any(|write| write.contains("CAS_COUNT")), "{control} was used: {writes:?}");
            assert!(writes.last().is_some_and(|write| write.contains("<- 0x0 ")), "{control}: {writes:?}");
        }
    }
}

impl Scratch {
    /// Not even the folder for the journal is left.
    #[track_caller]
    fn is_empty(&self) {
        let left: Vec<_> = std::fs::read_dir(&self.0).expect("a folder").flatten().map(|entry| entry.path()).collect();
        assert!(left.is_empty(), "{left:?}, with {:?}", files(self.0.path()));
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.flat_map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { vec![entry.path()] }).collect()
}

/// The numbers in a line, marks left out.
fn numbers(line: &str) -> Vec<f64> {
    line.split([' ', '~', '?']).filter_map(|word| word.parse().ok()).collect()
}

/// The mean of a row, if it has samples enough for the host's hiccups to even out; more than half of what it should be,
/// and less than twice that.
fn agrees(line: &str, rate: f64) -> bool {
    let [now, mean, most] = numbers(line)[..] else { return false };
    now <= most && (rate / 2.0..rate * 2.0).contains(&mean)
}

#[test]
fn it_shows_what_the_traffic_is_and_leaves_the_terminal_as_it_was() {
    let scratch = Scratch::new();
    let script = r#"echo here; "$P" top -I 100 -e imc/CAS_COUNT.RD/; echo status $?"#;
    let mut terminal = Terminal::start(scratch.shell(script), ORDINARY);
    let before = terminal.settings_before();
    terminal.until("rate of four channels", |screen| {
        screen.is_other && screen.row("imc/CAS_COUNT.RD/").is_some_and(|line| agrees(line, 4.0 * RATE))
    });
    assert_ne!(terminal.settings(), before, "keys come one by one");
    assert!(terminal.screen.is_cursor_hidden);
    assert!(terminal.screen.lines[0].starts_with("EMULATED e5-2680"), "{}", terminal.screen.text());
    terminal.press("ss");
    terminal.until("instances", |screen| screen.row("S0 imc3 imc/CAS").is_some_and(|line| agrees(line, RATE)));
    assert!(terminal.screen.line("by instance").is_some(), "{}", terminal.screen.text());
    terminal.resize(40, 12);
    terminal.until("narrower frame", |screen| screen.lines[0].chars().count() == 40);
    terminal.press("q");
    terminal.until("end", |screen| screen.before.contains("status 0"));
    assert!(terminal.status().success());
    assert!(!terminal.screen.is_other && !terminal.screen.is_cursor_hidden);
    assert_eq!(terminal.settings(), before);
    let words: Vec<&str> = terminal.screen.before.split_whitespace().collect();
    assert_eq!(words, ["here", "status", "0"], "nothing else is left behind");
    scratch.is_put_back();
}

/// Ctrl-C is a key like q, and so is Escape; an end that was asked for is no failure.
#[test]
fn every_key_for_the_end_ends() {
    let scratch = Scratch::new();
    let script = r#"for run in 1 2 3; do "$P" top -I 50 -e imc/CAS_COUNT.RD/; echo status $?; done"#;
    let mut terminal = Terminal::start(scratch.shell(script), ORDINARY);
    let before = terminal.settings_before();
    for (ends, key) in ["\x03", "\x1b", "Q"].into_iter().enumerate() {
        terminal.until("rows", |screen| screen.is_other && screen.row("imc/CAS_COUNT.RD/").is_some());
        // An arrow begins like Escape, and does not end.
        terminal.press("\x1b[B");
        terminal.until("details", |screen| screen.line("imc/CAS_COUNT.RD/: least").is_some());
        terminal.press(key);
        terminal.until("end", |screen| screen.before.matches("status 0").count() == ends + 1);
    }
    terminal.status();
    assert_eq!(terminal.settings(), before);
    scratch.is_put_back();
}

/// Without a terminal, or with -b, frames are text: no escape sequences, and as many as were asked for.
#[test]
fn frames_are_text_where_there_is_no_terminal() {
    let scratch = Scratch::new();
    let script = r#""$P" top -b -I 50 -n 3 -e imc/CAS_COUNT.RD/"#;
    let output = scratch.shell(script).output().expect("it starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let frames: Vec<&str> = text.split_terminator("\n\n").collect();
    assert!(frames.len() == 3 && frames.iter().all(|frame| frame.starts_with("EMULATED e5-2680")), "{text}");
    let row = frames[2].lines().find(|line| line.contains("imc/CAS_COUNT.RD/")).expect("a row");
    assert!(agrees(row, 4.0 * RATE), "{row}");
    assert!(!text.contains('\x1b') && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    scratch.is_put_back();
}

/// What the model of a software machine does not produce is doubted here as `stat` doubts it.
#[test]
fn what_is_not_modelled_is_doubted() {
    let scratch = Scratch::new();
    let mut command = Command::new(PERICORE);
    command.args(["top", "-b", "-n", "1", "-I", "100", "--machine", "e5-2600:hidden=imc3", "--workload", "stream"]);
    command.args(["-e", "cbo/RxR_INT_STARVED.IRQ/,imc/CAS_COUNT.RD/"]);
    let output = scratch.at_home(command).output().expect("the program starts");
    let frame = String::from_utf8_lossy(&output.stdout).into_owned();
    let row = |name: &str| {
        frame.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_else(|| panic!("{frame}"))
    };
    assert!(row("cbo/RxR_INT_STARVED").contains("0.000?") && frame.contains("socket 0: 3 imc answer"), "{frame}");
    // On a busy host both may be in doubt for what happened to the sample.
    let words = frame.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, remarks) = words.split_once("? cbo/RxR_INT_STARVED.IRQ/: ").unwrap_or_else(|| panic!("{frame}"));
    let of_starved = remarks.split("? imc/").next().unwrap_or_default();
    assert!(of_starved.contains("not modelled") && words.matches("not modelled").count() == 1, "{frame}");
}

/// Nobody reads: counting goes on, all samples are taken, and at the end everything is put back all the same.
#[test]
fn a_terminal_that_takes_nothing_holds_nobody_up() {
    let scratch = Scratch::new();
    let script = r#""$P" top -A -I 10 -n 400 -e imc/CAS_COUNT.RD/"#;
    let mut terminal = Terminal::start(scratch.shell(script), (230, 24));
    let before = terminal.settings_before();
    assert!(terminal.status_unread().success());
    assert_eq!(terminal.settings(), before);
    scratch.is_put_back();
    let log = std::fs::read_to_string(scratch.log()).expect("a log");
    let reads = log.lines().filter(|line| line.contains("imc0 ctr0") && line.contains("->")).count();
    assert!(reads >= 400, "{reads} samples");
}

/// Ctrl-Z gives the terminal back to the shell, `fg` takes it again; a stopped one that is told to end leaves the
/// terminal alone.
#[test]
fn it_stops_and_goes_on_as_a_shell_wants_it() {
    let scratch = Scratch::new();
    let mut command = command("bash");
    command.args(["--norc", "--noprofile", "--noediting", "-i"]).env("PS1", "$ ").env_remove("HISTFILE");
    let mut terminal = Terminal::start(scratch.at_home(command), ORDINARY);
    terminal.until("prompt", |screen| screen.before.ends_with("$ "));
    terminal.press("\"$P\" top --machine e5-2600 --workload idle -I 100 -M MEM_BANDWIDTH\n");
    let shows = |terminal: &mut Terminal| {
        terminal.until("rows", |screen| screen.is_other && screen.row("imc/MEM_BANDWIDTH").is_some());
    };
    shows(&mut terminal);
    for round in 1..=2 {
        terminal.press("\x1a");
        terminal.until("prompt", |screen| !screen.is_other && screen.before.matches("Stopped").count() == round);
        assert!(!terminal.screen.is_cursor_hidden);
        terminal.press("fg\n");
        shows(&mut terminal);
    }
    terminal.press("\x1a");
    terminal.until("prompt", |screen| !screen.is_other && screen.before.matches("Stopped").count() == 3);
    terminal.press("pid=$(jobs -p); kill %1; while kill -0 $pid; do sleep 0.05; done; jobs\n");
    terminal.until("end of the job", |screen| screen.before.contains("Terminated"));
    assert!(!terminal.screen.is_other, "{}", terminal.screen.text());
    terminal.press("exit\n");
    terminal.status();
    scratch.is_empty();
}

/// A stop that comes as a signal, as `kill -TSTP` sends it: the shell gets its terminal back as it was, and `fg` takes
/// it again.
#[test]
fn a_signal_to_stop_gives_the_terminal_back() {
    let scratch = Scratch::new();
    let shell = "exec env PS1='$ ' HISTFILE= bash --norc --noprofile --noediting -i";
    let mut terminal = Terminal::start(scratch.shell(shell), ORDINARY);
    terminal.until("prompt", |screen| screen.before.ends_with("$ "));
    let of_shell = terminal.settings();
    terminal.press("\"$P\" top -I 100 -M MEM_BANDWIDTH\n");
    for round in 1..=2 {
        terminal.until("rows", |screen| screen.is_other && screen.row("imc/MEM_BANDWIDTH").is_some());
        assert_ne!(terminal.settings(), of_shell);
        terminal.signal_job(libc::SIGTSTP);
        terminal.until("prompt", |screen| !screen.is_other && screen.before.matches("Stopped").count() == round);
        assert!(!terminal.screen.is_cursor_hidden);
        assert_eq!(terminal.settings(), of_shell);
        terminal.press("fg\n");
    }
    terminal.until("rows", |screen| screen.is_other && screen.row("imc/MEM_BANDWIDTH").is_some());
    terminal.press("q");
    terminal.until("end", |screen| !screen.is_other && screen.before.ends_with("$ "));
    terminal.press("exit\n");
    terminal.status();
    scratch.is_put_back();
}

/// Names may be of any script: no line is wider than the terminal, where wide characters take two columns.
#[test]
fn wide_names_keep_their_columns() {
    let scratch = Scratch::new();
    let script = r#""$P" top -b -I 50 -n 2 -e imc/CAS_COUNT.RD,name=主記憶からの読み出し/ -e imc/CAS_COUNT.RD/"#;
    let output = scratch.shell(script).output().expect("it starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let columns_before = |words: &str, line: &str| {
        let before = &line[..line.find(words).expect("they are there")];
        before.chars().map(|character| if character.is_ascii() { 1 } else { 2 }).sum::<usize>()
    };
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("M/s")).collect();
    let ends: Vec<usize> = rows.iter().map(|row| columns_before("M/s", row)).collect();
    assert!(rows.len() >= 4 && rows[0].contains("主記憶からの読み出し"), "{text}");
    assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}\n{text}");
    scratch.is_put_back();
}

/// The window is closed: counters are put back, and nothing stays behind.
#[test]
fn a_terminal_that_goes_away_ends_it_in_order() {
    let scratch = Scratch::new();
    let mut command = command(PERICORE);
    command.args(["top", "--machine", "e5-2600", "--workload", "idle", "-I", "100", "-M", "MEM_BANDWIDTH"]);
    let mut terminal = Terminal::start(scratch.at_home(command), ORDINARY);
    terminal.until("rows", |screen| screen.row("imc/MEM_BANDWIDTH").is_some());
    assert_eq!(files(scratch.0.path()).len(), 1, "a journal");
    terminal.hang_up();
    assert_eq!(terminal.status().signal(), Some(libc::SIGHUP));
    scratch.is_empty();
}

/// What a user starts is a keeper and, on its machine, the measurement. A signal to the keeper puts everything back
/// first.
#[test]
fn a_signal_to_the_keeper_ends_the_measurement_in_order() {
    for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGUSR1, libc::SIGPWR] {
        let scratch = Scratch::new();
        let mut command = command(PERICORE);
        command.args(["top", "--machine", "e5-2600", "--workload", "idle", "-I", "100", "-M", "MEM_BANDWIDTH"]);
        let mut terminal = Terminal::start(scratch.at_home(command), ORDINARY);
        let before = terminal.settings_before();
        terminal.until("rows", |screen| screen.row("imc/MEM_BANDWIDTH").is_some());
        terminal.signal(signal);
        assert_eq!(terminal.status().signal(), Some(signal), "{}", terminal.screen.text());
        assert!(!terminal.screen.is_other && !terminal.screen.is_cursor_hidden);
        assert_eq!(terminal.settings(), before);
        scratch.is_empty();
    }
}

/// A recording is played: as text at once, on a terminal sample by sample until a key ends it. What is shown at last is
/// what `report --over-time` says: the mean, and the most.
#[test]
fn a_recording_is_played() {
    let scratch = Scratch::new();
    let file = scratch.0.path().join("x.parquet");
    let file = file.to_str().expect("UTF-8");
    let pericore = |line: &[&str]| {
        let output = scratch.at_home(command(PERICORE)).args(line).output().expect("it starts");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
        text
    };
    let line = ["record", "-o", file, "--machine", "e5-2600", "--workload", "random:requests=27k,footprint=64M"];
    pericore(&line);
    let read = "imc/MEM_READ_BANDWIDTH";
    let over_time = pericore(&["report", file, "--over-time", "-x", ";"]);
    let row: Vec<&str> = over_time.lines().find(|row| row.contains(read)).expect("a row").split(';').collect();
    let giga: Vec<f64> = row.iter().filter_map(|field| Some(field.parse::<f64>().ok()? / 1e9)).collect();
    let known = |number: f64| giga.iter().any(|field| (field - number).abs() < 0.0006);
    let text = pericore(&["top", "-b", file]);
    let shown: Vec<&str> = text.lines().filter(|line| line.contains(read)).collect();
    assert_eq!(shown.len(), 4, "a frame for each sample: {text}");
    let [_now, mean, most] = numbers(shown[3])[..] else { panic!("{text}") };
    assert!(known(mean) && known(most), "{shown:?} of {row:?}");
    let last = shown[3].split_whitespace().take(5).collect::<Vec<_>>().join(" ");

    let mut program = scratch.at_home(command(PERICORE));
    program.args(["top", "-I", "50", file]);
    let mut terminal = Terminal::start(program, ORDINARY);
    terminal.until("the last sample", |screen| {
        let line = screen.row(read).map(|line| line.split_whitespace().take(5).collect::<Vec<_>>().join(" "));
        screen.line("4 samples").is_some() && line.as_deref() == Some(&last)
    });
    assert!(terminal.screen.lines[0].starts_with("EMULATED e5-2600"), "{}", terminal.screen.text());
    terminal.press("q");
    assert!(terminal.status().success());
    assert!(!terminal.screen.is_other && !terminal.screen.is_cursor_hidden);

    let output =
        scratch.at_home(command(PERICORE)).args(["top", "-b", "--timeout", "5", file]).output().expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("--timeout is for measurements") && !output.status.success(), "{error}");
}

/// A scenario runs in virtual time: each run shows the same but for the time of day, and what `stat` counts.
#[test]
fn a_scenario_is_the_same_each_time() {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../machine/scenarios/memory.scenario");
    let run = |line: &[&str]| {
        let mut program = command(PERICORE);
        program.args(line).args(["--machine", "e5-2600", "--workload", scenario, "-M", "MEM_BANDWIDTH"]);
        let output = program.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // `stat` prints where perf does.
        String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8")
    };
    let rows = |text: &str| {
        let rows = text.lines().filter(|line| line.contains("MEM_BANDWIDTH")).map(numbers);
        rows.filter_map(|numbers| numbers.first().copied()).collect::<Vec<f64>>()
    };
    let shown = rows(&run(&["top", "-b", "-I", "0.002"]));
    let counted = run(&["stat", "-j", "-I", "0.002"]);
    let counted = counted.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let number = |row: &serde_json::Value| row["metric-value"].as_str().and_then(|text| text.parse::<f64>().ok());
    // In GB/s, with three digits.
    let counted: Vec<f64> = counted.map(|row| (number(&row).expect("a number") / 1e6).round() / 1e3).collect();
    assert!(shown.len() > 4 && shown[..5] == counted[..5], "{shown:?} {counted:?}");
    assert_eq!(rows(&run(&["top", "-b", "-I", "0.002"])), shown);
}
