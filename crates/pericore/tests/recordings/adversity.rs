//! Recordings on disks, clocks and beside writers that misbehave.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::folder::{Folder, stderr_of};
use crate::live::rig::{Rig, Source};
use crate::live::script;
use crate::ours::command;
use crate::ours::python::python_json;

const ENDLESS: [&str; 4] = ["--machine", "e5-2600", "--workload", "random:requests=1G,footprint=64M"];

/// A clock that the system sets anew at each look: 2001, then a day later, then two days earlier and so on.
const JUMPS: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    static long looks;
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, time);
    if (clock == CLOCK_REALTIME) {
        time->tv_sec = 1000000000 + (looks == 0 ? 0 : looks % 2 ? 86400 : -86400);
        looks++;
    }
    return status;
}
"#;

/// The second recording to a file is refused in words; the first goes on, and all that it has flushed is there.
#[test]
fn two_writers_do_not_disturb_each_other() {
    let folder = Folder::new();
    for file in ["x.parquet", "x.rec"] {
        let mut first =
            folder.command(&[&["record", "-o", file], &ENDLESS]).stderr(Stdio::null()).spawn().expect("it starts");
        let patience = Instant::now() + Duration::from_secs(120);
        while !folder.file(file).exists() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(5));
        }
        // It would end, if it were not refused.
        let second = folder.run(&[&["record", "-o", file, "--timeout", "1"], &ENDLESS]);
        let before = fs::metadata(folder.file(file)).expect("a recording").len();
        first.kill().expect("it runs");
        first.wait().expect("it ended");
        assert_eq!(second.status.code(), Some(255));
        assert!(
            stderr_of(&second).contains(&format!("cannot write {file}: another pericore is recording to it")),
            "{}",
            stderr_of(&second)
        );
        assert_eq!(folder.names(), [file], "there is no other file");
        let after = fs::metadata(folder.file(file)).expect("a recording").len();
        let report = folder.run(&[&["report", file, "-j"]]);
        assert!(after >= before && report.status.success() && !report.stdout.is_empty(), "{}", stderr_of(&report));
        fs::remove_file(folder.file(file)).expect("ours");
    }
}

/// A disk of 400 kB: what was flushed before it was full can be read.
#[test]
fn a_disk_that_is_full_is_named() {
    let folder = Folder::new();
    let script = r#"mount -t tmpfs -o size=400k none . && cd "$PWD" && "$P" record -o x.parquet "$@"; echo status $?
        "$P" report x.parquet -j; ls -a"#;
    let mut shell = command("unshare");
    shell.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]).args(ENDLESS);
    let output = shell.current_dir(folder.file(".")).output().expect("unshare of util-linux");
    let (shown, stderr) = (String::from_utf8_lossy(&output.stdout), stderr_of(&output));
    assert!(shown.starts_with("status 255\n{"), "{shown}{stderr}");
    assert!(stderr.contains("cannot write x.parquet: No space left on device (os error 28); make room"), "{stderr}");
    assert!(stderr.contains("samples before it are in x.parquet"), "{stderr}");
    let names: Vec<&str> = shown.lines().filter(|line| !line.starts_with('{')).collect();
    assert_eq!(names, ["status 255", ".", "..", "x.parquet"]);
}

/// The system's clock is set by a day, forwards and backwards, at each look: times in the table go on by the time that
/// has passed, and the folder is that of the day on which the recording began.
#[test]
fn a_clock_that_jumps_does_not_disturb_times() {
    let folder = Folder::new();
    let (source, shim, table) = (folder.file("jumps.c"), folder.file("jumps.so"), folder.file("fleet/run.parquet"));
    fs::write(&source, JUMPS).expect("written");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&shim, &source]).arg("-ldl").status();
    assert!(built.expect("apt-get install gcc").success());
    let rig = Rig { rates: vec![(Source::Signal("imc", 0, "ACT_COUNT", &[]), 5_000_000)], ..Rig::default() };
    let line = format!(
        "LD_PRELOAD={}:$LD_PRELOAD \"$P\" record --partition -o {} -I 50 --timeout 3000 -e imc/ACT_COUNT/ && \
         find {} -name '*.parquet'",
        shim.display(),
        table.display(),
        folder.file("fleet").display(),
    );
    let (run, _) = script(&rig, &line);
    let made = run.stdout.trim();
    assert!(made.contains("/date=2001-09-0") && made.lines().count() == 1, "{}{}", run.stdout, run.stderr);
    let query = "SELECT count(DISTINCT sample) AS samples, \
                 max(abs(epoch_us(time) - epoch_us(first) - 1e6 * (elapsed - least))) AS off, \
                 min(year(time)) AS least_year, max(year(time)) AS most_year, max(elapsed) AS length FROM (SELECT *, \
                 min(time) OVER () AS first, min(elapsed) OVER () AS least FROM read_parquet('FILE'))";
    let rows = python_json(include_str!("readers.py"), &["query", &query.replace("FILE", made)]);
    let row = &rows[0];
    let number = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name} in {rows}"));
    assert!(number("samples") > 10.0 && number("length") > 1.0 && number("length") < 60.0, "{rows}");
    // Both are rounded to microseconds.
    assert!(number("off") <= 2.0, "{rows}");
    assert_eq!((number("least_year"), number("most_year")), (2001.0, 2001.0), "{rows}");
}
