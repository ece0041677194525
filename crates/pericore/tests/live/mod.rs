//! Commands of ours on a live software machine, under a shell.

#[path = "../../../../tests/tests/doors/rig.rs"]
#[allow(dead_code, reason = "other tests use the rest of the rig")]
pub mod rig;

use std::fs;
use std::path::{Path, PathBuf};

use crate::ours::PERICORE;
use pericore_doors::log::Kind;
use rig::{Rig, Run, config};

/// Runs a shell script on the machine, with a state directory of its own; `$P` is the program. What is left in the directory
/// comes back too.
pub fn script(rig: &Rig, script: &str) -> (Run, Vec<PathBuf>) {
    let scratch = tempfile::tempdir().expect("a folder");
    let state = scratch.path().join("state");
    let text = format!("XDG_STATE_HOME=$1 P=$2 PERICORE_CONFIG=; export XDG_STATE_HOME P PERICORE_CONFIG\n{script}");
    let run = rig.run("sh", &["-c", &text, "sh", state.to_str().expect("UTF-8"), PERICORE]);
    (run, files(&state))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.flat_map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { vec![entry.path()] }).collect()
}

/// When channel 0 counted, from a start to the stop after it: it stands while it is read, and the last time ends when
/// the unit's control is put back.
pub fn running(run: &Run) -> Vec<(u64, u64)> {
    let mut spans = Vec::new();
    let mut began = None;
    for access in run.all(config(0xff, 16, 0, 0xf4)) {
        match access.entry.kind {
            Kind::Write(0x10000) => began = began.or(Some(access.at)),
            Kind::Write(_) => spans.extend(began.take().map(|began| (began, access.at))),
            Kind::Read => {}
        }
    }
    spans
}
