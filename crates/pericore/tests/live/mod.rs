//! Commands of ours on a live software machine, under a shell.

mod by_socket;
#[path = "../../../../tests/tests/doors/rig.rs"]
#[allow(dead_code, reason = "other tests use the rest of the rig")]
pub mod rig;
mod two_users;

use std::fs;
use std::path::{Path, PathBuf};

use crate::ours::PERICORE;
use pericore_doors::log::Kind;
use rig::{Rig, Run, config};

/// Kills a process of ours together with the one that holds its registers, which else would put them back.
const KILL_BOTH: &str = r#"kill_both() { held=$(cat /proc/$1/task/*/children); kill -STOP $held; kill -9 $1 $held; }"#;

/// Runs a shell script on the machine, with a state directory of its own and a place where users meet; `$P` is the
/// program. What is left in both comes back too.
pub fn script(rig: &Rig, script: &str) -> (Run, Vec<PathBuf>) {
    let scratch = tempfile::tempdir().expect("a folder");
    let state = scratch.path().join("state");
    let text = format!(
        "XDG_STATE_HOME=$1 PERICORE_RUN=$2 P=$3 PERICORE_CONFIG=\n\
         export XDG_STATE_HOME PERICORE_RUN P PERICORE_CONFIG\n{KILL_BOTH}\n{script}"
    );
    let meeting = scratch.path().join("run");
    let [own, of_all] = [&state, &meeting].map(|path| path.to_str().expect("UTF-8"));
    let run = rig.run("sh", &["-c", &text, "sh", own, of_all, PERICORE]);
    (run, [files(&state), files(&meeting)].concat())
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
