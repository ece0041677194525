//! Unfinished notes: what is left to do stands in an issue, and a test that is skipped says why.

use crate::list::{self, Finding};
use crate::sources::{self, Source};

// In parts, so that this file is not found.
const NOTES: [&str; 4] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];

fn is_word(text: &str, start: usize, length: usize) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    !text[..start].ends_with(part) && !text[start + length..].starts_with(part)
}

fn unfinished(source: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    if ["rs", "md", "toml", "sh", "py", "c"].contains(&source.path.rsplit('.').next().unwrap_or_default()) {
        for (number, line) in (1..).zip(source.text.lines()) {
            for note in NOTES {
                let said = line.match_indices(note).any(|(start, _)| is_word(line, start, note.len()));
                let advice = format!("`{note}`: finish it, or open an issue and take the note out");
                found.extend(
                    said.then(|| Finding::new(format!("{} {note}", source.path), &source.path, number, advice)),
                );
            }
        }
    }
    let Some(facts) = &source.facts else { return found };
    for (name, line) in facts.macros.iter().filter(|(name, _)| MACROS.contains(&name.as_str())) {
        let advice = format!("`{name}!`: write what belongs here");
        found.push(Finding::new(format!("{} {name}!", source.path), &source.path, *line, advice));
    }
    for line in &facts.ignored {
        let advice = "#[ignore] without a reason: write #[ignore = \"why, and how it is run\"]";
        found.push(Finding::new(format!("{} #[ignore]", source.path), &source.path, *line, advice));
    }
    found
}

#[test]
fn nothing_is_left_unfinished() {
    let found: Vec<_> = sources::ALL.iter().flat_map(unfinished).collect();
    list::check("notes", &found);
}

#[test]
fn notes_macros_and_bare_ignores_are_found() {
    let text = format!(
        "// {}: later\nfn f() {{ {}!() }}\n#[test]\n#[ignore]\nfn g() {{ vec![{}!()] }}\n#[test]\n#[ignore = \"slow\"]\nfn h() {{}}\n",
        NOTES[0], "todo", "unimplemented"
    );
    let found = unfinished(&Source::new("a.rs", &text));
    let places: Vec<_> = found.iter().map(|found| (found.place.as_str(), found.key.as_str())).collect();
    let note = format!("a.rs {}", NOTES[0]);
    let expected = [
        ("a.rs:1", note.as_str()),
        ("a.rs:2", "a.rs todo!"),
        ("a.rs:5", "a.rs unimplemented!"),
        ("a.rs:4", "a.rs #[ignore]"),
    ];
    assert_eq!(places, expected);
    assert!(unfinished(&Source::new("a.md", "TODOS and Hack")).is_empty(), "whole words, in capitals");
}
