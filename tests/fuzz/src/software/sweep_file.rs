//! Files of sweeps: any text is a sweep, each of whose runs can be sent as JSON and has a partition of its own, or a
//! mistake with its line and column.

use std::collections::HashSet;
use std::path::Path;

use pericore_sweep::{Sweep, SweepRun};

/// A folder that is not there, so that no file is read but one with an absolute path.
const PLACE: &str = "/nowhere/x.toml";
/// More runs take longer to check, and nothing else.
const MOST_RUNS: u64 = 64;

/// Any bytes.
pub fn run(data: &[u8]) {
    let text = crate::text(data);
    match Sweep::parse(Path::new(PLACE), text, MOST_RUNS) {
        Err(error) => {
            let message = error.to_string();
            let (line, column, what) = place(&message).unwrap_or_else(|| panic!("no line and column: {message}"));
            assert!(!what.trim().is_empty(), "{message}");
            // A mistake may be at the end of the text, behind its last line.
            let before = text.split('\n').nth(line - 1).unwrap_or_else(|| panic!("no such line: {message}"));
            assert!(column <= before.chars().count() + 1, "{message}");
        }
        Ok(sweep) => {
            assert!(!sweep.runs().is_empty());
            let partitions: HashSet<&str> = sweep.runs().iter().map(|run| &*run.partition).collect();
            assert_eq!(partitions.len(), sweep.runs().len(), "two runs with one partition");
            for run in sweep.runs() {
                let goes_up = run.partition.split('/').any(|part| matches!(part, "" | "." | ".."));
                assert!(!goes_up, "{} leads out of the data set", run.partition);
                let sent = serde_json::to_string(run).expect("a run is JSON");
                let received: SweepRun = serde_json::from_str(&sent).expect("what was sent");
                assert_eq!(received, *run);
            }
        }
    }
}

/// Line and column of an error, both from 1, and what is wrong there.
fn place(message: &str) -> Option<(usize, usize, &str)> {
    let (line, rest) = message.strip_prefix(PLACE)?.strip_prefix(':')?.split_once(':')?;
    let (column, what) = rest.split_once(':')?;
    Some((line.parse().ok()?, column.parse().ok()?, what))
}
