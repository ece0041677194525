//! What a user gets wrong, and what the system refuses: with the line of the file.

use super::{files, tables, write};
use crate::ours::command;
use crate::recordings::folder::{Folder, stderr_of};

/// A tmpfs of 256 kB has room for some of the tables. The error names the line of `output`; with more room the sweep
/// goes on.
#[test]
fn a_disk_that_is_full_is_named_with_the_line() {
    let folder = Folder::new();
    write(
        &folder,
        "run.toml",
        "title = \"x\"\n  output = \"disk\"\n[[grid]]\nmachines = [\"e5-2600\"]\nworkloads = \
         [\"stream:requests=100\"]\nworkload.seed = { from = 1, to = 40 }\n",
    );
    std::fs::create_dir(folder.file("disk")).expect("made");
    let script = r#"mount -t tmpfs -o size=256k none disk && "$P" sweep run.toml; echo status $?
        find disk -name '*.part'; mount -o remount,size=64m disk && "$P" sweep run.toml; echo status $?"#;
    let mut shell = command("unshare");
    shell.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).current_dir(folder.file("."));
    let output = shell.output().expect("unshare of util-linux");
    let (shown, stderr) = (String::from_utf8_lossy(&output.stdout), stderr_of(&output));
    assert_eq!(shown, "status 255\nstatus 0\n", "{stderr}");
    assert!(stderr.contains("run.toml:2:12: cannot write disk/machine=e5-2600/"), "{stderr}");
    assert!(
        stderr.contains("No space left on device (os error 28); make room and run the same command again"),
        "{stderr}"
    );
    let counts: Vec<u32> = stderr
        .lines()
        .filter_map(|line| line.trim_start_matches("pericore: ").split_once(" of 40 runs done")?.0.parse().ok())
        .collect();
    assert!(counts.len() == 2 && counts[0] > 0 && counts[1] > 0 && counts[0] + counts[1] == 40, "{stderr}");
}

#[test]
fn mistakes_end_with_the_status_of_a_wrong_command_line_and_make_nothing() {
    let folder = Folder::new();
    write(&folder, "run.toml", "[[grid]]\nmachines = [\"e5-2600\",\n  \"x5571\"]\nworkloads = [\"stream\"]\n");
    let output = folder.run(&[&["sweep", "run.toml"]]);
    assert_eq!(output.status.code(), Some(129));
    assert!(stderr_of(&output).starts_with("pericore: run.toml:3:3: no machine \"x5571\"; did you mean x5570"));
    assert_eq!(folder.names(), ["run.toml"]);
    let missing = folder.run(&[&["sweep", "other.toml"]]);
    assert!(stderr_of(&missing).contains("cannot read other.toml: No such file"), "{}", stderr_of(&missing));
}

#[test]
fn a_dry_run_makes_nothing() {
    let folder = Folder::new();
    write(&folder, "run.toml", "[[grid]]\nmachines = \"x5570\"\nworkloads = \"stream\"\nworkload.seed = [1, 2]\n");
    let listed = folder.shown(&[&["sweep", "run.toml", "--dry-run"]]);
    let expected = [1, 2].map(|seed| format!("missing machine=x5570/workload=stream/workload_seed={seed}\n"));
    assert_eq!(listed, expected.concat());
    assert_eq!(folder.names(), ["run.toml"]);
}

/// Tables of a workload that was taken out of the file are named, and removed only when the user says so. Two sweeps do
/// not write to one folder.
#[test]
fn tables_of_no_run_are_named_and_pruned() {
    let folder = Folder::new();
    let text = "cold = true\ntimeout = 0.001\n[[grid]]\nmachines = \"x5570\"\n\
                workloads = [\"stream:requests=100\", \"idle\"]\n";
    write(&folder, "run.toml", text);
    assert!(folder.run(&[&["sweep", "run.toml"]]).status.success());
    write(&folder, "run.toml", &text.replace(", \"idle\"", ""));
    let named = stderr_of(&folder.run(&[&["sweep", "run.toml"]]));
    assert!(
        named.contains("1 tables in run are of no run of this file, such as run/machine=x5570/workload=idle/"),
        "{named}"
    );
    assert_eq!(tables(&files(&folder, "run")).len(), 2);
    let script = r#"exec 9>>run/.pericore-sweep.lock; flock 9; "$P" sweep run.toml"#;
    let busy = stderr_of(&folder.shell(script));
    assert!(busy.contains("another sweep is writing to run; wait until it has ended"), "{busy}");
    assert!(folder.run(&[&["sweep", "run.toml", "--prune"]]).status.success());
    let left = files(&folder, "run");
    assert!(
        tables(&left).len() == 1 && tables(&left)[0].starts_with("machine=x5570/workload=stream%3Arequests%3D100/")
    );
}
