//! Users' own folders of catalogue data: events, metrics, blocks and families without a new build.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::ours::{PERICORE, command};

/// A folder with files, by their paths in it.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    }
    folder
}

fn with(folder: &Path) -> Command {
    let mut command = command(PERICORE);
    command.env("PERICORE_CATALOG", folder);
    command
}

/// Exit status, standard output and standard error.
fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const METRICS: (&str, &str) = (
    "blocks/imc-ddr3-v1/metrics-mine.toml",
    r#"[[metric]]
name = "MY_READ_BYTES"
expression = "CAS_COUNT.RD * 64"
unit_of_measure = "B"
description = "What my machine reads."
source = "me"
"#,
);

const EVENTS: (&str, &str) = (
    "blocks/imc-ddr3-v1/events-mine.toml",
    r#"[[event]]
name = "MY_EVENT"
code = 0x7E
counters = [0, 1]
source = "my laboratory"
description = "Something that no guide has."
"#,
);

#[test]
fn events_and_metrics_of_ones_own_are_like_the_shipped_ones() {
    let mine = folder(&[METRICS, EVENTS]);
    let (status, rows, errors) = run(with(mine.path()).args(["list", "--machine", "e5-2600", "--json", "MY_EVENT"]));
    assert!(status == Some(0) && rows.contains(r#""config":"0x7e""#), "{rows}{errors}");
    let (_, sheet, _) = run(with(mine.path()).args(["explain", "--machine", "snbep", "MY_EVENT"]));
    assert!(sheet.contains("0,1 of 4") && sheet.contains("my laboratory"), "{sheet}");
    let (_, _, plan) =
        run(with(mine.path()).args(["stat", "--machine", "e5-2600", "--dry-run", "-e", "imc/MY_EVENT/"]));
    assert!(plan.contains("<- 0x40007e  (select and enable)"), "{plan}");
    let (status, _, rows) = run(with(mine.path()).args([
        "stat",
        "--machine",
        "e5-2600",
        "-j",
        "-e",
        "imc/CAS_COUNT.RD/",
        "-M",
        "imc/MY_READ_BYTES",
        "--workload",
        "stream:requests=3000",
    ]));
    assert_eq!(status, Some(0), "{rows}");
    assert!(rows.contains(r#""counter-value":"3000.000000""#), "{rows}");
    // 3,000 lines of 64 bytes.
    assert!(rows.contains(r#""metric-value":"192000.000000""#), "{rows}");
    // Without the folder nobody knows them.
    let (status, _, errors) = run(command(PERICORE).args(["explain", "--machine", "snbep", "MY_EVENT"]));
    assert!(status != Some(0) && errors.contains("has no \"MY_EVENT\""), "{errors}");
}

/// The XDG base directory rules: the user's directory, and the system's.
#[test]
fn data_directories_are_looked_at_in_the_usual_places() {
    let mine = folder(&[(&format!("pericore/catalog/{}", METRICS.0), METRICS.1)]);
    for variable in ["XDG_DATA_HOME", "XDG_DATA_DIRS"] {
        let mut command = command(PERICORE);
        command.env_remove("PERICORE_CATALOG").env("XDG_DATA_HOME", "/nowhere").env("XDG_DATA_DIRS", "/nowhere");
        command.env(variable, mine.path()).args(["list", "--machine", "e5-2600", "--metrics", "--json"]);
        let (status, rows, errors) = run(&mut command);
        assert!(status == Some(0) && rows.contains("MY_READ_BYTES"), "{variable}: {errors}");
    }
    let (status, _, errors) = run(with(Path::new("/nowhere/data")).args(["list", "--machine", "e5-2600"]));
    assert!(status == Some(129) && errors.contains("/nowhere/data: no folder of catalogue data"), "{errors}");
}

#[test]
fn all_errors_come_at_once_with_line_and_fix() {
    let broken = folder(&[
        ("blocks/imc-ddr3-v1/metrics-mine.toml", &METRICS.1.replace("CAS_COUNT.RD", "CAS_COUNT.RDD")),
        ("blocks/imc-ddr3-v1/events-mine.toml", &EVENTS.1.replace("counters", "countres")),
        ("blocks/imc-ddr3-v1/events.toml", EVENTS.1),
        ("metrics/mine.toml", METRICS.1),
    ]);
    let (status, _, errors) = run(with(broken.path()).args(["list", "--machine", "nehalem"]));
    assert_eq!(status, Some(129), "{errors}");
    let file = |name: &str| broken.path().join(name).display().to_string();
    for part in [
        format!("{}:1", file("blocks/imc-ddr3-v1/metrics-mine.toml")),
        format!("{}:4: unknown key \"countres\"", file("blocks/imc-ddr3-v1/events-mine.toml")),
        "did you mean \"counters\"?".to_owned(),
        format!(
            "{}: blocks/imc-ddr3-v1/events.toml (shipped) is there already",
            file("blocks/imc-ddr3-v1/events.toml")
        ),
        format!("{}: no file of a catalogue", file("metrics/mine.toml")),
    ] {
        assert!(errors.contains(&part), "{part}\n{errors}");
    }
    // What puts registers back does not depend on it.
    let scratch = tempfile::tempdir().expect("a folder");
    let (status, _, errors) = run(with(broken.path()).env("XDG_STATE_HOME", scratch.path()).arg("restore"));
    assert!(errors.contains("defects in the catalogue") && status != Some(129), "{errors}");
    let (status, version, _) = run(with(broken.path()).arg("--version"));
    assert!(status == Some(0) && version.starts_with("pericore "), "{version}");
}

/// The data says which registers are written: root must not take it from others who may write into a folder.
#[test]
fn what_others_could_have_written_is_not_read() {
    let with_mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).expect("its owner");
    let list = ["list", "--machine", "e5-2600", "--metrics"];
    for (place, mode) in [("", 0o777), ("blocks/imc-ddr3-v1", 0o770), (METRICS.0, 0o646), (METRICS.0, 0o664)] {
        let mine = folder(&[METRICS]);
        let path = mine.path().join(place);
        let was = fs::metadata(&path).expect("it is there").permissions().mode();
        with_mode(&path, mode);
        let (status, _, errors) = run(with(mine.path()).args(list));
        let refusal =
            format!("{}: not read: other users can write it", path.display().to_string().trim_end_matches('/'));
        assert!(status == Some(129) && errors.contains("chmod go-w"), "{errors}");
        assert!(errors.replace("/:", ":").contains(&refusal), "{refusal}\n{errors}");
        with_mode(&path, was);
        assert_eq!(run(with(mine.path()).args(list)).0, Some(0));
    }
    let mine = folder(&[METRICS]);
    let file = mine.path().join(METRICS.0);
    fs::remove_file(&file).expect("ours");
    assert!(Command::new("mkfifo").arg(&file).status().expect("coreutils").success());
    let (status, _, errors) = run(with(mine.path()).args(list));
    assert!(status == Some(129) && errors.contains("metrics-mine.toml: not read: a pipe, a device"), "{errors}");
}

/// Under sudo with the user's home, the data is the user's and not root's. 65534 is nobody.
#[test]
fn data_of_another_user_is_left_aside_unless_it_is_named() {
    let theirs = folder(&[(&format!("pericore/catalog/{}", METRICS.0), METRICS.1)]);
    let data = theirs.path().join("pericore/catalog");
    if std::os::unix::fs::chown(&data, Some(65_534), None).is_err() {
        eprintln!("SKIPPED: catalogue data of another user, which takes root");
        return;
    }
    let list = ["list", "--machine", "e5-2600", "--metrics"];
    let (status, _, errors) = run(with(&data).args(list));
    assert!(status == Some(129) && errors.contains("not read: it belongs to user 65534"), "{errors}");
    let mut unnamed = command(PERICORE);
    unnamed.env_remove("PERICORE_CATALOG").env("XDG_DATA_HOME", theirs.path()).env("XDG_DATA_DIRS", "/nowhere");
    let (status, rows, errors) = run(unnamed.args(list));
    assert!(status == Some(0) && !rows.contains("MY_READ_BYTES"), "{errors}");
    assert!(errors.contains("pericore/catalog is left aside: it belongs to user 65534"), "{errors}");
}

/// A family that nobody ships, over a shipped block and one of its own.
#[test]
fn a_family_of_ones_own_needs_no_build() {
    const FAMILY: &str = r#"family = "mine"
aliases = ["mn"]
title = "My processor"
documents = [{ cite = "me", title = "My notes" }]
cpus = [{ family = 6, model = 200 }]
clocks = [{ name = "uclk", description = "Its clock." }]

[[unit]]
name = "uncore"
block = "uncore-v1"

[[unit.placement]]
space = "msr"
base = 0x790
"#;
    let mine = folder(&[("families/mine.toml", FAMILY)]);
    let (status, rows, errors) = run(with(mine.path()).args(["list", "--machine", "mn", "--registers", "--json"]));
    assert!(status == Some(0) && rows.contains(r#""address":"0x791""#), "{rows}{errors}");
    // The others are there as before.
    let (status, _, errors) = run(with(mine.path()).args(["explain", "--machine", "nehalem", "QMC_NORMAL_READS.ANY"]));
    assert_eq!(status, Some(0), "{errors}");
    let taken = folder(&[("families/mine.toml", &FAMILY.replace("\"mn\"", "\"nhm\""))]);
    let (status, _, errors) = run(with(taken.path()).args(["list", "--machine", "nhm"]));
    assert!(status == Some(129) && errors.contains("a shipped family is called \"nhm\""), "{errors}");
}

/// Stacks with PCI buses of their own, of a family in a user's folder: two sockets of six stacks share 256 buses, so a
/// stack has 21, and those of socket 1 begin at 0x80. Stack 2 of each has the memory controllers.
#[test]
fn a_family_of_ones_own_has_stacks_with_buses_of_their_own() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/examples/own-data");
    let machine = ["--machine", "6st:sockets=2"];
    let (status, _, plan) =
        run(with(&examples).arg("stat").args(machine).args(["--dry-run", "-e", "imc5/CAS_COUNT.RD/"]));
    assert_eq!(status, Some(0), "{plan}");
    // D13:F2, first control at 0xD8; code 0x04, umask 0x03, enabled.
    for write in ["0000:2a:0d.2+0xd8", "0000:aa:0d.2+0xd8"] {
        assert!(plan.contains(&format!("pci {write} <- 0x400304  (select and enable)")), "{plan}");
    }
    let (status, sheet, errors) = run(with(&examples).args(["machine", "show"]).args(machine));
    assert!(sheet.contains("first, stacks on buses 0x80 0x95 0xaa 0xbf 0xd4 0xe9"), "{status:?} {sheet}{errors}");
}

/// A code with subevents is its event's, and so are names with a dot: an event of one's own that took either would have
/// the shipped event's counts, and metrics would read 0.
#[test]
fn an_event_of_ones_own_takes_no_shipped_ones_code_or_name() {
    let event = |from: &str, to: &str| EVENTS.1.replace(from, to);
    for (text, words) in [
        // Guide, table 2-66: CAS_COUNT is 0x04.
        (event("0x7E", "0x04"), ["MY_EVENT selects 0x4, the code of CAS_COUNT", "events-mine.toml:1"]),
        (event("MY_EVENT", "CAS_COUNT.RD"), ["event \"CAS_COUNT.RD\": no name has '.'", "events-mine.toml:1"]),
        (event("MY_EVENT", "MY\\u001b[2JEVENT"), ["no name has '\\u{1b}'", "events-mine.toml:1"]),
    ] {
        let mine = folder(&[(EVENTS.0, &text)]);
        let arguments = ["stat", "--machine", "e5-2600", "--workload", "stream:requests=500", "-M", "MEM_BANDWIDTH"];
        let (status, out, err) = run(with(mine.path()).args(arguments));
        assert_ne!(status, Some(0), "{text}: {out}{err}");
        assert!(words.iter().all(|word| err.contains(word)), "{words:?}: {err}");
    }
}
