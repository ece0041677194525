//! `pericore top FILE` in tmux, a terminal of other people's: what it shows of a recording that a seed has made,
//! against files that people have read. `PERICORE_BLESS=1` writes them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::ours::{PERICORE, command};

/// Longer than anything takes here, however busy the host is.
const PATIENCE: Duration = Duration::from_secs(60);
const MOMENT: Duration = Duration::from_millis(100);

/// A server of tmux of its own, with one window.
struct Window {
    socket: PathBuf,
}

impl Window {
    /// With `top` in it, whose current folder this is.
    fn open(folder: &Path, (width, height): (u16, u16), options: &str) -> Self {
        let window = Self { socket: folder.join(format!("tmux-{width}")) };
        let (width, height) = (width.to_string(), height.to_string());
        let line =
            format!("cd {} && LC_ALL=C.UTF-8 NO_COLOR=1 XDG_STATE_HOME=. {PERICORE} top {options}", folder.display());
        window.tmux(&["-u", "new-session", "-d", "-x", &width, "-y", &height, &line]);
        window
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        tmux.args(["-f", "/dev/null", "-S"]).arg(&self.socket).args(arguments).env("LC_ALL", "C.UTF-8");
        // Its status line would take a line of ours.
        if arguments.contains(&"new-session") {
            tmux.args([";", "set-option", "-g", "status", "off"]);
        }
        let output = tmux.output().expect("tmux is installed (tests/tiers/tools.sh)");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn text(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// What stands there when a picture is whole.
    #[track_caller]
    fn until(&self, words: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let text = self.text();
            if text.contains(words) && text == self.text() {
                return text;
            }
            assert!(Instant::now() < end, "no {words:?}:\n{text}");
            std::thread::sleep(MOMENT);
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// A time of day is that of the recording.
fn without_times(text: &str) -> String {
    let mut signs: Vec<char> = text.chars().collect();
    for at in 0..signs.len().saturating_sub(7) {
        let is_time = (0..8).all(|place| match place {
            2 | 5 => signs[at + place] == ':',
            _ => signs[at + place].is_ascii_digit(),
        });
        if is_time {
            [0, 1, 3, 4, 6, 7].into_iter().for_each(|place| signs[at + place] = '0');
        }
    }
    let lines: Vec<String> = signs.iter().collect::<String>().lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// Compares what `top` shows at its end, in three sizes, with the files of a name.
#[track_caller]
fn check(folder: &Path, name: &str, options: &str) {
    let batch = command(PERICORE).current_dir(folder).args(["top", "-b"]).args(options.split(' ')).output();
    let batch = batch.expect("it starts");
    assert!(batch.status.success(), "{}", String::from_utf8_lossy(&batch.stderr));
    let samples = String::from_utf8_lossy(&batch.stdout).split_terminator("\n\n").count();
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let window = Window::open(folder, (width, height), options);
        let text = without_times(&window.until(&format!(" {samples} samples")));
        let golden =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/golden/top/{name}-{width}x{height}.txt"));
        if std::env::var_os("PERICORE_BLESS").is_some() {
            std::fs::write(&golden, &text).expect("a file");
        }
        let known = std::fs::read_to_string(&golden).unwrap_or_default();
        assert!(text == known, "{width}x{height} shows otherwise:\n{text}\n--- {} has\n{known}", golden.display());
        window.tmux(&["send-keys", "q"]);
        let end = Instant::now() + PATIENCE;
        while !window.text().is_empty() {
            assert!(Instant::now() < end, "q does not end it");
            std::thread::sleep(MOMENT);
        }
    }
}

#[test]
fn a_recording_looks_in_tmux_as_it_was_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.jsonl");
    let mut record = command(PERICORE);
    record.args(["record", "-o"]).arg(&file).args(["--machine", "e5-2600:sockets=2", "-M", "memory,limits,latency"]);
    record.args(["--workload", "random:requests=40k,footprint=64M,remote=30"]);
    let output = record.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    check(folder.path(), "recording", "-I 20 x.jsonl");
}

/// A scenario runs in virtual time, so that all pictures are the same; at its end the last one stays.
#[test]
fn a_software_machine_looks_in_tmux_as_it_was_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = "phase load\n  workload random:requests=20k,footprint=64M,remote=30\n\
        phase stores\n  workload ntstore:requests=20k,footprint=64M\n";
    std::fs::write(folder.path().join("x.scenario"), scenario).expect("a file");
    let options = "--machine e5-2600:sockets=2 --workload x.scenario -M memory,link -I 0.005";
    check(folder.path(), "machine", options);
}
