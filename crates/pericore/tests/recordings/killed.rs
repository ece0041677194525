//! SIGKILL at seeded moments: what was flushed before is there, to the byte.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::folder::{Folder, stderr_of};
use crate::ours::python::python_json;

/// 50 samples are flushed together: 0.1 ms of virtual time at 0.002 ms a sample.
const RUN: [&str; 7] = ["--machine", "e5-2600", "--workload", "random:requests=1G,footprint=64M", "-I", "0.002", "-e"];
const EVENTS: &str = "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/";
/// Virtual milliseconds of the run that nobody kills: more than the others reach.
const WHOLE: &str = "8";
/// A run is killed so long after its first flush at most.
const LATEST: u64 = 300_000;

/// Kills so many runs and compares each file with the one of a run that ended by itself: a run with the same seed
/// writes the same bytes at the same virtual time.
fn kill(moments: u64) {
    let folder = Folder::new();
    let record = |file: &'static str| [&["record", "-o", file][..], &RUN, &[EVENTS]].concat();
    folder.shown(&[&record("whole.parquet"), &["--timeout", WHOLE]]);
    let whole = fs::read(folder.file("whole.parquet")).expect("a table");
    let groups =
        python_json(include_str!("readers.py"), &["groups", folder.file("whole.parquet").to_str().expect("UTF-8")]);
    let groups: Vec<u64> = serde_json::from_value(groups).expect("numbers");
    // The first is cut short by the samples that wait, the last by the end.
    let middle = &groups[1..groups.len() - 1];
    assert!(middle.len() > 20 && middle.iter().all(|samples| (49..=51).contains(samples)), "{groups:?}");
    let lines = |file: &str| {
        let output = folder.run(&[&["report", file, "--to", "jsonl"]]);
        assert!(output.status.success(), "{file}: {}", stderr_of(&output));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let all = lines("whole.parquet");
    let mut state = 30_u64;
    let mut reached = Vec::new();
    for moment in 0..moments {
        // Knuth's generator, MMIX.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let file = folder.file("x.parquet");
        let _ = fs::remove_file(&file);
        let mut run =
            folder.command(&[&record("x.parquet")]).stderr(Stdio::null()).spawn().expect("the program starts");
        let patience = Instant::now() + Duration::from_secs(120);
        while !file.exists() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros((state >> 33) % LATEST));
        let before = fs::metadata(&file).expect("a table").len();
        run.kill().expect("it runs");
        run.wait().expect("it ended");
        let killed = fs::read(&file).expect("a table");
        assert!(killed.len() as u64 >= before && whole.starts_with(&killed), "moment {moment}: {} bytes", killed.len());
        let found = lines("x.parquet");
        assert!(all.starts_with(&found), "moment {moment}: {found}");
        // All flushes that had come to an end: the rest of the file is a part of one.
        let samples = found.lines().count() as u64 - 1;
        let mut sum = 0;
        let flushed: Vec<u64> = groups
            .iter()
            .map(|group| {
                sum += group;
                sum
            })
            .collect();
        assert!(flushed.contains(&samples), "moment {moment}: {samples} samples");
        fs::write(folder.file("before.parquet"), &whole[..before as usize]).expect("written");
        let before = lines("before.parquet").lines().count() as u64 - 1;
        assert!(samples >= before, "moment {moment}: {samples} of {before} samples");
        reached.push(samples);
    }
    let (least, most) = (reached.iter().min(), reached.iter().max());
    println!(
        "{moments} runs killed at {least:?} to {most:?} samples of {}: all that was flushed is there",
        all.lines().count()
    );
}

#[test]
fn nothing_flushed_is_lost_at_twenty_moments() {
    kill(20);
}

#[test]
#[ignore = "two minutes: the long form"]
fn nothing_flushed_is_lost_at_two_hundred_moments() {
    kill(200);
}
