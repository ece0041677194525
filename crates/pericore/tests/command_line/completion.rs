//! Names that shells complete, in the shells themselves: what they put in place of the word before the cursor.

use std::path::Path;
use std::process::Output;

use crate::ours::{PERICORE, command};

/// What bash offers for the last word of a line, broken into words as bash does at `=`.
fn offered(line: &str) -> Vec<String> {
    let script = r#"
        eval "$("$P" completions bash)" || exit 9
        # It may only be called while bash completes.
        compopt() { :; }
        COMP_LINE=$1 COMP_POINT=${#1}
        read -ra COMP_WORDS <<< "${1//=/ = }"
        [[ $1 == *[[:space:]] ]] && COMP_WORDS+=("")
        COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
        name=$(complete -p pericore | sed 's/.*-F \([^ ]*\) .*/\1/')
        "$name" pericore "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" || exit 8
        printf '%s\n' "${COMPREPLY[@]}""#;
    let output = shell("bash", &["-c", script, "bash", line]).expect("bash starts");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// What a shell does where `pericore` is a command; none if there is no such shell, which is printed.
fn shell(name: &str, arguments: &[&str]) -> Option<Output> {
    let folder = Path::new(PERICORE).parent().expect("a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("a path"));
    let output = command(name).args(arguments).env("PATH", path).output();
    output.inspect_err(|error| eprintln!("SKIPPED: {name}: {error}; tests/tiers/tools.sh installs it")).ok()
}

/// The line that zsh makes of one, after a tab.
fn completed_by_zsh(line: &str) -> Option<String> {
    // A zsh of its own in a terminal: only there it completes. Control and X prints the line.
    let script = r##"
        zmodload zsh/zpty || exit 9
        zpty inner zsh -f -i
        zpty -w inner 'PS1= PS2= RPS1=; autoload -Uz compinit && compinit -D -u; eval "$($P completions zsh)"
            show() { zle -I; print -r -- "<[$BUFFER]>"; BUFFER=; }; zle -N show; bindkey "^X" show; print READ""Y'
        zpty -r inner text '*READY*' || exit 8
        zpty -w -n inner "$1"$'\t\x18'
        zpty -r inner text '*<\[*\]>*' || exit 7
        text=${text##*<\[}
        print -r -- ${text%%\]>*}"##;
    let output = shell("zsh", &["-f", "-c", script, "zsh", line])?;
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned())
}

/// What fish offers for the last word of a line, without what it says about them.
fn offered_by_fish(line: &str) -> Option<Vec<String>> {
    let script = "$P completions fish | source; or exit 9; complete -C $argv[1]";
    let output = shell("fish", &["--no-config", "-c", script, line])?;
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(text.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect())
}

/// Names as the documents and Intel's files have them.
#[test]
fn bash_completes_names_of_events_metrics_and_machines() {
    for (line, words) in [
        ("pericore stat --machine e5-2600 -e cbo/TOR_I", &["cbo/TOR_INSERTS."][..]),
        ("pericore stat --machine emr -e cha/clockt", &["cha/CLOCKTICKS/"]),
        ("pericore stat --machine e5-2600 --event=cb", &["cbo/"]),
        (
            "pericore stat --machine e5-2600 -e '{imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR_R",
            &["{imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR_RMM/"],
        ),
        ("pericore stat --machine=gn", &["gnr"]),
        ("pericore stat --machine 859", &["8592+"]),
        ("pericore machine boot --machine e5-268", &["e5-2680"]),
        ("pericore list --machine emerald-r", &["emerald-rapids"]),
        ("pericore stat --machine emr -M memory,pcie", &["memory,pcie"]),
    ] {
        assert_eq!(offered(line), words, "{line}");
    }
    let lookups = offered("pericore stat --machine e5-2600 -e cbo2/LLC_LOOKUP.");
    assert!(lookups.iter().any(|word| word == "cbo2/LLC_LOOKUP.DATA_READ/"), "{lookups:?}");
    // What is no name comes from the options.
    let options = offered("pericore stat --per-");
    assert!(options.iter().any(|word| word == "--per-socket"), "{options:?}");
    assert!(offered("pericore expl").iter().any(|word| word == "explain"));
}

/// A line, its last word, and what becomes of that.
const LINES: &[(&str, &str, &str)] = &[
    ("pericore stat --machine e5-2600 -e ", "cbo/TOR_I", "cbo/TOR_INSERTS."),
    ("pericore stat --machine e5-2600 ", "--event=cb", "--event=cbo/"),
    (
        "pericore stat --machine e5-2600 -e ",
        "{imc/CAS_COUNT.RD/,imc/cas_count.wr_r",
        "{imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR_RMM/",
    ),
    (
        "pericore stat --machine e5-2600 -e ",
        "'{imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR_R",
        "'{imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR_RMM/",
    ),
    ("pericore list --machine e5-2600 --unit ", "r3", "r3qpi"),
    ("pericore stat --machine ", "gn", "gnr"),
    ("pericore stat --machine ", "859", "8592+"),
    ("pericore stat ", "--machine=e5-268", "--machine=e5-2680"),
    ("pericore stat --machine emr -M ", "memory,pci", "memory,pcie"),
    ("pericore ", "expl", "explain"),
    ("pericore stat ", "--per-so", "--per-socket"),
];

#[test]
fn zsh_completes_the_same_names() {
    for (before, last, becomes) in LINES {
        let Some(line) = completed_by_zsh(&format!("{before}{last}")) else { return };
        // A space is behind a word that is whole.
        assert_eq!(line.trim_end(), format!("{before}{becomes}"), "{before}{last}");
    }
}

#[test]
fn fish_completes_the_same_names() {
    for (before, last, becomes) in LINES {
        let Some(words) = offered_by_fish(&format!("{before}{last}")) else { return };
        assert!(words.iter().any(|word| word == becomes), "{before}{last}: {words:?}");
    }
}
