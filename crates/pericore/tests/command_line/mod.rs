//! The program as a user meets it.

mod adversity;
mod buffer_depths;
mod completion;
mod conduct;
mod default_output;
mod forms;
mod histogram;
mod lookup;
mod names_and_files;
mod perf_habits;
mod plain_words;
mod quantities;
mod search;
mod sheets;
mod turns;

use std::process::Output;

use crate::ours::pericore;

const SMALL: &str = "random:requests=30k,footprint=64M";

/// `stat` of a small workload.
fn measured(arguments: &[&str]) -> Output {
    pericore(&[&["stat", "--machine", "e5-2600", "--workload", SMALL], arguments].concat())
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// A wrong command line: perf's exit status, one message, and in it every one of these words.
fn refused(arguments: &[&str], status: i32, words: &[&str]) {
    let output = pericore(arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(status), "{arguments:?} said {said}");
    for word in words {
        assert!(said.contains(word), "{arguments:?} did not mention {word:?}: {said}");
    }
    assert!(stdout(&output).is_empty());
}
