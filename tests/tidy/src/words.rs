//! Words: the field's terms, as `docs/glossary.md` has them. Its table of words that are out is what this rule reads.

use crate::list::{self, Finding};
use crate::sources::{self, Source};

const GLOSSARY: &str = "docs/glossary.md";
const HEADING: &str = "## Words that are out";

/// Where a word is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Names in code; in a sentence the word has its plain meaning.
    Names,
    /// Names, comments, messages and documents.
    Everywhere,
}

#[derive(Debug, PartialEq, Eq)]
struct Word {
    forms: Vec<String>,
    instead: String,
    scope: Scope,
}

/// The rows of the table under [`HEADING`]: forms of the word, what to write, `names` or `everywhere`.
fn words(glossary: &str) -> Result<Vec<Word>, String> {
    let mut rows = Vec::new();
    let lines = (1..).zip(glossary.lines()).skip_while(|(_, line)| *line != HEADING).skip(1);
    let table = lines.take_while(|(_, line)| !line.starts_with('#')).filter(|(_, line)| line.starts_with('|'));
    for (number, line) in table.skip(2) {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [forms, instead, scope] = cells[..] else {
            return Err(format!("{GLOSSARY}:{number}: three cells are wanted: forms, what to write, where"));
        };
        let scope = match scope {
            "names" => Scope::Names,
            "everywhere" => Scope::Everywhere,
            _ => return Err(format!("{GLOSSARY}:{number}: `{scope}` is not `names` or `everywhere`")),
        };
        let forms = forms.split(',').map(|form| form.trim().to_lowercase()).collect();
        rows.push(Word { forms, instead: instead.to_owned(), scope });
    }
    if rows.is_empty() { Err(format!("{GLOSSARY} has no table under `{HEADING}`")) } else { Ok(rows) }
}

/// `SignalSink`, `signal_sink` and `signal-sink` are `signal` and `sink`.
fn parts(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for word in text.split(|c: char| !c.is_alphabetic()) {
        let mut part = String::new();
        let mut before_is_small = false;
        for c in word.chars() {
            if c.is_uppercase() && before_is_small {
                parts.push(std::mem::take(&mut part));
            }
            before_is_small = c.is_lowercase();
            part.extend(c.to_lowercase());
        }
        if !part.is_empty() {
            parts.push(part);
        }
    }
    parts
}

fn out(source: &Source, words: &[Word]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut look = |text: &str, line: usize, scope: Scope| {
        for part in parts(text) {
            let word = words.iter().filter(|word| word.scope == scope).find(|word| word.forms.contains(&part));
            if let Some(word) = word {
                let advice = format!("`{part}` is out ({GLOSSARY}): write {}", word.instead);
                found.push(Finding::new(format!("{} {part}", source.path), &source.path, line, advice));
            }
        }
    };
    for (name, line) in source.facts.iter().flat_map(|facts| &facts.identifiers) {
        look(name, *line, Scope::Names);
    }
    for (number, line) in (1..).zip(source.text.lines()) {
        look(line, number, Scope::Everywhere);
    }
    found
}

fn is_ours(source: &Source) -> bool {
    let text = [".rs", ".md"].iter().any(|end| source.path.ends_with(end));
    text && source.path != GLOSSARY && !source.path.starts_with("tests/tidy/")
}

#[test]
fn no_word_is_used_that_is_out() {
    let glossary = sources::ALL.iter().find(|source| source.path == GLOSSARY).expect("the glossary is there");
    let words = words(&glossary.text).unwrap_or_else(|error| panic!("{error}"));
    let found: Vec<_> =
        sources::ALL.iter().filter(|source| is_ours(source)).flat_map(|source| out(source, &words)).collect();
    list::check("words", &found);
}

#[cfg(test)]
const SMALL: &str = "# G\n\n## Words that are out\n\nWhy.\n\n| out | write | where |\n|---|---|---|\n\
                     | deed, deeds | event | everywhere |\n| said | printed | names |\n\n## Next\n\n| a | b | names |\n";

#[test]
fn words_are_found_in_names_and_text_by_their_scope() {
    let words = words(SMALL).expect("a table");
    assert_eq!(words.len(), 2, "{words:?}");
    let text = "// The guide said it. Deeds!\nfn what_was_said() { println!(\"a deed\"); }\nstruct DeedIndeed;\n";
    let found = out(&Source::new("a.rs", text), &words);
    let places: Vec<_> = found.iter().map(|found| (found.key.as_str(), found.place.as_str())).collect();
    let expected =
        [("a.rs said", "a.rs:2"), ("a.rs deeds", "a.rs:1"), ("a.rs deed", "a.rs:2"), ("a.rs deed", "a.rs:3")];
    assert_eq!(places, expected);
}

#[test]
fn a_damaged_glossary_names_its_line() {
    let error = |text: &str| words(text).unwrap_err();
    assert_eq!(error("# G"), "docs/glossary.md has no table under `## Words that are out`");
    assert_eq!(
        error(&SMALL.replace("| everywhere", "| here")),
        "docs/glossary.md:9: `here` is not `names` or `everywhere`"
    );
    assert!(error(&SMALL.replace("| printed ", "")).starts_with("docs/glossary.md:10: three cells"));
}
