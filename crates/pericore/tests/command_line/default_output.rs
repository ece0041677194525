//! What commands print when they are asked for nothing special, of each family: against files that people have read.
//! `PERICORE_BLESS=1` writes them.

use std::path::Path;

use crate::ours::{PERICORE, command};

/// `{}` is the family. Options that make it short, and nothing of the form.
const COMMANDS: [&str; 9] = [
    "stat --machine {} --workload stream:requests=20k",
    "stat --machine {} --workload stream:requests=20k -I 0.005",
    "stat --machine {} --workload stream:requests=20k -M limits",
    "list --machine {}",
    "explain --machine {} MEM_BANDWIDTH",
    "machine show --machine {}:sockets=1",
    "record --machine {} --workload stream:requests=20k -o x.jsonl",
    "report x.jsonl",
    "top -b x.jsonl",
];

/// How long the host took.
fn without_real_time(line: &str) -> String {
    line.split_once("real time:").map_or_else(|| line.to_owned(), |(before, _)| format!("{before}real time: …"))
}

/// Both streams of each command, one below the other.
fn printed(family: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = String::new();
    for line in COMMANDS.map(|line| line.replace("{}", family)) {
        let mut program = command(PERICORE);
        program.current_dir(folder.path()).args(line.split(' ')).env("LC_ALL", "C.UTF-8");
        let output = program.output().expect("it starts");
        let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
        assert!(output.status.success(), "pericore {line}: {text}");
        let lines: Vec<String> = text.lines().map(without_real_time).collect();
        all += &format!("$ pericore {line}\n{}\n\n", lines.join("\n"));
    }
    all
}

#[test]
fn default_outputs_fit_a_terminal_and_are_as_they_were_read() {
    for family in ["nehalem", "e5-2600", "emerald-rapids"] {
        let text = printed(family);
        let wide: Vec<&str> = text.lines().filter(|line| !line.starts_with('$') && line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{family}: {wide:#?}");
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/golden/commands/{family}.txt"));
        if std::env::var_os("PERICORE_BLESS").is_some() {
            std::fs::write(&golden, &text).expect("a file");
        }
        let known = std::fs::read_to_string(&golden).unwrap_or_default();
        let differ = text.lines().zip(known.lines()).find(|(now, known)| now != known);
        assert!(text == known, "{}: {differ:?}", golden.display());
    }
}
