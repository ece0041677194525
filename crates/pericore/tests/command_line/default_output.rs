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

/// Of families without a software machine there is what can be looked up, and of Sapphire Rapids, whose machine is its
/// successor's. Each has a unit that looks lines up in the last-level cache, but for one, which has an event.
const LOOKED_UP: [&str; 2] = ["list --machine {}", "explain --machine {} {of}"];

const LOOKED_UP_ONLY: [(&str, &str); 14] = [
    ("broadwell", "cbo"),
    ("broadwell-de", "cbo"),
    ("cascade-lake", "cha"),
    ("clearwater-forest", "cha"),
    ("grand-ridge", "cha"),
    ("granite-rapids", "cha"),
    ("haswell", "cbo"),
    ("ice-lake", "cha"),
    ("ivy-bridge", "cbo"),
    ("knights-landing", "cha"),
    ("sapphire-rapids", "imc/CAS_COUNT.RD"),
    ("sierra-forest", "cha"),
    ("skylake", "cha"),
    ("snow-ridge", "cha"),
];

/// How long the host took.
fn without_real_time(line: &str) -> String {
    line.split_once("real time:").map_or_else(|| line.to_owned(), |(before, _)| format!("{before}real time: …"))
}

/// Both streams of each command, one below the other.
fn printed(family: &str, commands: &[String]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = String::new();
    for line in commands.iter().map(|line| line.replace("{}", family)) {
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

/// Checks what a family's commands print against its file.
fn check(family: &str, commands: &[String]) {
    let text = printed(family, commands);
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

#[test]
fn default_outputs_fit_a_terminal_and_are_as_they_were_read() {
    for family in ["nehalem", "e5-2600", "emerald-rapids"] {
        check(family, &COMMANDS.map(str::to_owned));
    }
    for (family, of) in LOOKED_UP_ONLY {
        check(family, &LOOKED_UP.map(|line| line.replace("{of}", of)));
    }
}
