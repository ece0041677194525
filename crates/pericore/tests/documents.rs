//! The commands that README and documents show: whoever copies one gets what is promised there.

use std::path::{Path, PathBuf};

use crate::ours::PERICORE;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of a document's code blocks, as they stand there but for the comments.
fn commands(document: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(document)).expect("the document is there");
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines = blocks.flat_map(str::lines).map(|line| line.split(" #").next().unwrap_or(line).trim());
    // The first command builds the program as well; what it runs then is what counts here.
    let of_ours = lines.filter_map(|line| {
        line.strip_prefix("pericore ").or_else(|| line.split_once(" --bin pericore -- ").map(|(_, ours)| ours))
    });
    of_ours.map(str::to_owned).collect()
}

/// Commands that need more than this program: a Xeon, a file of the user's, other people's tools. `programs.rs`, `this_machine.rs` and
/// the tests of the doors run their like.
fn needs_more(command: &str) -> bool {
    let placeholder = |word: &str| matches!(word, "EVENT" | "FILE.json" | "NAME" | "FOLDER");
    // `doctor` says on any machine what it lacks; its self-check needs counters to check.
    let looks = command.starts_with("explain") || command.starts_with("doctor") && !command.contains("--selfcheck");
    let on_software = command.contains("--machine") || looks;
    !on_software
        || ["machine run", "machine boot"].iter().any(|door| command.starts_with(door))
        || command.contains(" -- ")
        || command.split(' ').any(placeholder)
}

#[test]
fn the_commands_that_documents_show_run() {
    let mut runs = 0;
    for document in ["README.md", "docs/interop.md"] {
        for line in commands(document).iter().filter(|line| !needs_more(line)) {
            let mut program = crate::ours::command(PERICORE);
            let output = program.current_dir(root()).args(line.split_whitespace()).output().expect("it starts");
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            // `doctor` finds what a machine lacks, and says so in its status.
            let finds = line.starts_with("doctor") && output.status.code() == Some(1);
            assert!(output.status.success() || finds, "{document}: pericore {line}: {said}");
            assert!(!said.trim().is_empty(), "{document}: pericore {line} says nothing");
            runs += 1;
        }
    }
    assert!(runs >= 10, "only {runs} commands were found");
}

/// Blocks of commands, each with the block of output that comes right after it.
fn shown(document: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let text = std::fs::read_to_string(root().join(document)).expect("the document is there");
    let lines = |block: &str| block.lines().map(|line| line.trim_end().to_owned()).collect();
    let with_output = text.split("```sh\n").skip(1).filter_map(|rest| {
        let (commands, rest) = rest.split_once("```")?;
        let (output, _) = rest.trim_start().strip_prefix("```text\n")?.split_once("```")?;
        Some((lines(commands), lines(output)))
    });
    with_output.collect()
}

/// Documents leave out lines, but those that they show are printed, in this order. The host's time is not shown.
#[test]
fn documents_show_what_is_printed() {
    for (document, examples) in [("docs/counting/questions.md", 10), ("docs/counting/stat.md", 2)] {
        let blocks = shown(document);
        assert_eq!(blocks.len(), examples, "{document}");
        for (commands, output) in blocks {
            let folder = tempfile::tempdir().expect("a folder");
            let mut printed = String::new();
            for line in &commands {
                let words = line.strip_prefix("pericore ").expect("ours");
                let mut program = crate::ours::command(PERICORE);
                program.current_dir(folder.path()).args(words.split_whitespace()).env("LC_ALL", "C.UTF-8");
                let output = program.output().expect("it starts");
                printed += &String::from_utf8_lossy(&[output.stdout, output.stderr].concat());
            }
            let mut left = printed.lines().map(str::trim_end);
            for line in &output {
                assert!(
                    left.any(|found| found == line),
                    "{document}: {line:?} is not printed there by {commands:?}:\n{printed}"
                );
            }
        }
    }
}
