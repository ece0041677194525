//! What commands print when they are asked for nothing special, of each family: against files that people have read.
//! `PERICORE_BLESS=1` writes them.

use std::path::Path;

use crate::ours::{PERICORE, command};

/// `{}` is the family, `{control}` a counter's control register, `{value}` what selects an event in it, `{event}` that
/// event. Options that make it short, and nothing of the form.
const COMMANDS: [&str; 16] = [
    "stat --machine {} --workload stream:requests=20k",
    "stat --machine {} --workload stream:requests=20k -I 0.005",
    "stat --machine {} --workload stream:requests=20k -M limits",
    "list --machine {}",
    "explain --machine {} MEM_BANDWIDTH",
    "machine show --machine {}:sockets=1",
    "record --machine {} --workload stream:requests=20k -o x.jsonl",
    "report x.jsonl",
    "top -b x.jsonl",
    "doctor --machine {}",
    "decode --machine {} {control} {value}",
    "encode --machine {} {event}",
    "machine peek --machine {}:sockets=1 {instance}",
    "machine poke --machine {}:sockets=1 {instance}={value} -o x.snapshot",
    "machine dump --machine x.snapshot",
    "machine load x.snapshot",
];

/// Families that have a software machine: an event of each with its control register, and with the instance that has
/// it. By hand: SDM, 18.8.2.2 (L3 misses of reads); Tables 2-8, 2-13 and 2-17; Tables 1-5 and 2-89 of the guides.
const MODELLED: [(&str, &str, &str, &str, &str); 3] = [
    ("nehalem", "uncore.ctl0", "0x400109", "uncore/LLC_MISS.READ/", "uncore/ctl0"),
    ("e5-2600", "cbo0.ctl1", "0x400137", "cbo/LLC_VICTIMS.M_STATE/", "cbo0/ctl1"),
    ("emerald-rapids", "cha0.ctl0", "0xc817fe00000135", "cha/TOR_INSERTS.IA_MISS_DRD/", "cha0/ctl0"),
];

/// Commands without such an output, and where what they print is looked at.
const ELSEWHERE: [(&str, &str); 8] = [
    ("serve", "one line when it begins (tests/golden/serve has what is scraped)"),
    ("restore", "nothing, unless a session was killed: this_machine.rs, hardened/journals.rs"),
    ("sweep", "a data set: sweep"),
    ("completions", "scripts for shells: completion.rs runs them"),
    ("help", "that of the commands: conduct.rs has its width"),
    ("machine run", "what the program prints: machine_run.rs"),
    ("machine boot", "what the program prints: guest"),
    ("machine curve", "minutes: machine_curve.rs has its width"),
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
    for (family, control, value, event, instance) in MODELLED {
        let replaced = |line: &str| {
            let line = line.replace("{control}", control).replace("{value}", value);
            line.replace("{event}", event).replace("{instance}", instance)
        };
        check(family, &COMMANDS.map(replaced));
    }
    for (family, of) in LOOKED_UP_ONLY {
        check(family, &LOOKED_UP.map(|line| line.replace("{of}", of)));
    }
}

/// A new command has a file of what it prints, or a reason against it.
#[test]
fn each_command_has_its_default_output_in_a_file() {
    let listed = |words: &[&str]| -> Vec<String> {
        let output = command(PERICORE).args(words).arg("--help").output().expect("it starts");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let (_, rest) = text.split_once("\nCommands:\n").expect("a list of commands");
        let lines = rest.lines().take_while(|line| !line.is_empty());
        // A description that goes on in the next line is further in.
        let names = lines.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
        names.map(|name| [words, &[name]].concat().join(" ")).collect()
    };
    let of_machine = listed(&["machine"]).into_iter().filter(|name| name != "machine help");
    let all: Vec<String> = listed(&[]).into_iter().filter(|name| name != "machine").chain(of_machine).collect();
    assert!(all.len() > 18, "{all:?}");
    let in_a_file = |name: &str| COMMANDS.iter().any(|line| line.starts_with(&format!("{name} ")));
    let elsewhere = |name: &str| ELSEWHERE.iter().any(|(known, _)| *known == name);
    let neither: Vec<&String> = all.iter().filter(|name| in_a_file(name) == elsewhere(name)).collect();
    assert!(neither.is_empty(), "in COMMANDS or in ELSEWHERE, and not in both: {neither:?}");
    let gone: Vec<&str> =
        ELSEWHERE.iter().map(|(name, _)| *name).filter(|name| !all.iter().any(|it| it == name)).collect();
    assert!(gone.is_empty(), "no such commands: {gone:?}");
}
