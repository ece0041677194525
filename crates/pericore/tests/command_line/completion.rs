//! Names that shells complete, in bash itself: what it puts in place of the word before the cursor.

use std::path::Path;

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
    let folder = Path::new(PERICORE).parent().expect("a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("a path"));
    let output = command("bash").args(["-c", script, "bash", line]).env("PATH", path).output().expect("bash starts");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
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
        ("pericore list --machine emerald-r", &["emerald-rapids"]),
        ("pericore stat --machine emr -M memory,pcie", &["memory,PCIE_FULL_WRITES", "memory,pcie"]),
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
