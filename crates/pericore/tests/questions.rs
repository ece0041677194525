//! The ten questions of `docs/counting/questions.md`, put to recordings: `documents.rs` compares the commands' own
//! output with what is shown there.

use std::path::Path;

use crate::ours::{PERICORE, command};

/// The one command of a question, and the lines that are shown for it.
struct Question {
    command: String,
    reply: Vec<String>,
}

/// The lines of a section's code blocks of one kind.
fn lines(section: &str, kind: &str) -> Vec<String> {
    let fence = format!("```{kind}\n");
    let blocks = section.split(&fence).skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).map(str::to_owned).collect()
}

fn questions() -> Vec<Question> {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/counting/questions.md");
    let text = std::fs::read_to_string(document).expect("the document is there");
    let question = |section: &str| {
        let commands: Vec<String> =
            lines(section, "sh").into_iter().filter(|line| !line.starts_with("pericore record ")).collect();
        let [command] = &commands[..] else { panic!("not one command: {commands:?}") };
        let reply = lines(section, "text");
        assert!(!reply.is_empty(), "{command} has no output");
        Question { command: command.clone(), reply }
    };
    text.split("\n## ").skip(1).map(question).collect()
}

/// What a command prints, on both streams.
fn printed(line: &str, folder: &Path) -> String {
    let words = line.strip_prefix("pericore ").expect("a command of ours").split(' ');
    let mut program = command(PERICORE);
    let output = program.current_dir(folder).env("LC_ALL", "C.UTF-8").args(words).output().expect("it starts");
    let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
    assert!(output.status.success(), "{line}: {text}");
    text
}

/// The number that a line of a table begins with.
fn number(line: &str) -> Option<f64> {
    line.split_whitespace().next()?.replace(',', "").parse().ok()
}

/// The row that a line is about: the word with the unit in front.
fn subject(line: &str) -> Option<&str> {
    line.split_whitespace().find(|word| word.contains('/') && !word.ends_with("/s"))
}

/// A run of the same machine, recorded, ends with its last whole interval: its numbers are those of the run but for a
/// hundredth.
#[test]
fn a_recording_is_enough_for_each_question() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut numbers = 0;
    let all = questions();
    assert_eq!(all.len(), 10);
    for Question { command, reply } in all {
        let Some(options) = command.strip_prefix("pericore stat ") else { continue };
        let (machine, selection) = options.split_at(options.find(" -").expect("a workload"));
        let rest = selection.trim_start();
        let (workload, selection) = rest.split_at(rest.find(" -").expect("a selection"));
        let to_record = selection.replace(" -A", "").replace(" --per-socket", "");
        printed(&format!("pericore record {machine} {workload}{to_record} -o x.rec"), folder.path());
        let text = printed(&format!("pericore report x.rec{selection}"), folder.path());
        for line in reply {
            let Some(expected) = number(&line) else { continue };
            let of_same = |other: &&str| subject(other) == subject(&line) && number(other).is_some();
            let near = text.lines().filter(of_same).filter_map(number);
            let near = near.min_by(|one, other| (one - expected).abs().total_cmp(&(other - expected).abs()));
            let near = near.unwrap_or_else(|| panic!("{command}: no {line:?} in\n{text}"));
            assert!((near - expected).abs() <= 0.01 * expected, "{command}: {near}, not {line:?}");
            numbers += 1;
        }
    }
    assert!(numbers >= 15, "only {numbers} numbers");
}
