//! Files with mistakes, and the place that each error names.

use std::path::Path;

use super::{MOST_RUNS, Sweep};

fn error(text: &str) -> String {
    Sweep::parse(Path::new("x.toml"), text, MOST_RUNS).expect_err("a mistake").to_string()
}

/// A grid of one line, after one line that this grid may share.
fn grid(first: &str, rest: &str) -> String {
    format!("{first}\n[[grid]]\nmachines = [\"e5-2600\"]\nworkloads = [\"stream\"]\n{rest}")
}

#[test]
fn an_error_names_line_and_column_of_what_is_wrong() {
    let cases = [
        (grid("", "machine.cores = [2, 99]"), "x.toml:5:21: cores=99: give a number from 1 to 8"),
        (grid("", "machine = { sockets = 2, core = 1 }"), "x.toml:5:33: e5-2680 has no key \"core\""),
        (grid("", "workload = { threads = 1, request = 5 }"), "x.toml:5:37: "),
        (grid("", "workload.threads = [1, 64]"), "x.toml:5:24: "),
        (grid("events = [\"imc/CAS_COUNT.RD/\", \"imc/NOTHING/\"]", ""), "x.toml:1:32: "),
        (grid("metrics = \"nothing\"", ""), "x.toml:1:11: "),
        (grid("interval = -0.5", ""), "x.toml:1:12: -0.5: give a number of milliseconds above 0"),
        (grid("", "timeout = 0"), "x.toml:5:11: 0: give a number of milliseconds above 0"),
        (grid("", "timeout = \"1s\""), "x.toml:5:1: timeout: takes a number of milliseconds"),
        (grid("cold = 1", ""), "x.toml:1:1: cold: takes true or false"),
        (grid("machine = 1", ""), "x.toml:1:1: no key \"machine\" here"),
        (grid("", "eventz = 1"), "x.toml:5:1: no key \"eventz\" here; did you mean events"),
        (grid("", "workload.seed = { from = 2, to = 1 }"), "x.toml:5:10: seed: the range is empty"),
        (grid("", "workload.seed = []"), "x.toml:5:10: seed: has no value"),
        (grid("", "workload.seed = [1, 1]"), "x.toml:2:1: this grid has a run that the grid of line 2 has, too"),
        (grid("", "workload.seed = [1"), "x.toml:5:19: "),
        (grid("", "workload.seed = 1.5"), "x.toml:5:17: seed: give whole numbers"),
        (grid("", "[[grid]]\nworkloads = \"stream\""), "x.toml:5:1: this grid has no machines"),
        ("output = \"x\"".to_owned(), "x.toml:1:1: no [[grid]] in this file"),
        (
            grid("", "").replace("\"stream\"", "\"idle\", \"no.scenario\""),
            "x.toml:4:22: cannot read no.scenario: No such file",
        ),
        (grid("", "").replace("e5-2600", "gnr"), "x.toml:3:13: there is no software granite-rapids"),
        (
            grid("", "workload.seed = { from = 0, to = 999_999 }\nmachine.cores = [1, 2]"),
            "x.toml:2:1: 2000000 runs, and 1000000 are the most",
        ),
    ];
    for (text, expected) in cases {
        let error = error(&text);
        assert!(error.starts_with(expected), "{error}\nis not {expected} of\n{text}");
    }
}

/// Files that the sweep names are damaged: the error has the line of the sweep, and that of the file.
#[test]
fn a_damaged_file_is_named_with_the_line_of_the_sweep() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.toml");
    let read = |text: &str| {
        std::fs::write(&path, text).expect("written");
        Sweep::read(&path).expect_err("a mistake").to_string().replace(&*folder.path().to_string_lossy(), "")
    };
    std::fs::write(folder.path().join("bad.scenario"), "phase one\n  nothing random\n").expect("written");
    let of_scenario = grid("", "").replace("\"stream\"", "\"bad.scenario\"");
    let error = read(&of_scenario);
    assert!(error.starts_with("/x.toml:4:14: bad.scenario, ") && error.contains("line 2"), "{error}");
    std::fs::write(folder.path().join("bad.snapshot"), "nothing of the kind\n").expect("written");
    let error = read(&grid("", "").replace("e5-2600", "bad.snapshot"));
    assert!(error.starts_with("/x.toml:3:13: bad.snapshot: not a snapshot of version 1: the first line"), "{error}");
    std::fs::write(folder.path().join("own.toml"), "part = \"own-8\"\nfamily = \"e5-2600\"\n").expect("written");
    let error = read(&grid("", "").replace("e5-2600", "own.toml"));
    assert!(error.starts_with("/x.toml:3:13: own.toml: family cannot be e5-2600: give one of"), "{error}");
    let head = "part = \"own-16\"\nfamily = \"sapphire-rapids\"\nlike = \"8480+\"\n";
    let own = format!("{head}[datasheet]\ncores = 16\nslices = 16\n[fitted]\n");
    std::fs::write(folder.path().join("own.toml"), own).expect("written");
    let error = read(&grid("", "machine.cores = [8, 17]").replace("e5-2600", "own.toml"));
    assert!(error.starts_with("/x.toml:5:21: cores=17: give a number from 1 to 16"), "{error}");
    std::fs::write(&path, b"a = 1\nb = \"\xff\"\n").expect("written");
    let error = Sweep::read(&path).expect_err("a mistake").to_string();
    assert!(error.contains("line 2 is not UTF-8 text"), "{error}");
}

/// The key of a run changes with each part of the experiment, and with nothing else.
#[test]
fn a_key_is_of_all_that_a_table_depends_on() {
    let key = |first: &str, rest: &str| {
        Sweep::parse(Path::new("x.toml"), &grid(first, rest), 1).expect("no mistake").runs()[0].key.clone()
    };
    let plain = key("", "");
    assert_eq!(key("title = \"x\"", "\n# nothing\n"), plain);
    assert_eq!(key("output = \"elsewhere\"", ""), plain);
    let mut keys: Vec<String> = ["cold = true", "truth = true", "interval = 1", "timeout = 1", "rotate = 1"]
        .iter()
        .map(|part| key(part, ""))
        .chain([key("metrics = \"memory\"", ""), key("events = \"imc/CAS_COUNT.RD/\"", "")])
        .chain([key("", "workload.seed = 2"), key("", "machine.cores = 2"), plain])
        .collect();
    keys.sort();
    let count = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), count);
}
