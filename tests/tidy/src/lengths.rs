//! Lengths: a file is one idea, and a line is read without scrolling.

use crate::list::{self, Finding};
use crate::sources::{self, Source};

/// Lines of a Rust file.
const FILE: usize = 400;
/// Characters of a line of Rust: `max_width` of `rustfmt.toml`. rustfmt leaves comments and strings as they are.
const LINE: usize = 120;
/// Characters of a line of a document.
const PROSE: usize = 160;

fn files(source: &Source) -> Option<Finding> {
    let lines = source.text.lines().count();
    let advice = format!("{lines} lines, and {FILE} are allowed: split the file by what its parts are for");
    (source.path.ends_with(".rs") && lines > FILE).then(|| Finding::new(&source.path, &source.path, FILE + 1, advice))
}

fn lines(source: &Source) -> Vec<Finding> {
    let width = match source.path.rsplit('.').next() {
        Some("rs") => LINE,
        Some("md") => PROSE,
        _ => return Vec::new(),
    };
    let too_long = |(number, line): (usize, &str)| {
        // A row of a table cannot be broken, and neither can an address.
        let whole = source.path.ends_with(".md") && line.starts_with('|') || line.contains("https://");
        let length = line.chars().count();
        let advice = format!("{length} characters, and {width} are allowed: break the line");
        (length > width && !whole).then(|| Finding::new(&source.path, &source.path, number, advice))
    };
    (1..).zip(source.text.lines()).filter_map(too_long).collect()
}

#[test]
fn no_file_is_too_long() {
    let found: Vec<_> = sources::ALL.iter().filter_map(files).collect();
    list::check("file-lengths", &found);
}

#[test]
fn no_line_is_too_long() {
    let found: Vec<_> = sources::ALL.iter().flat_map(lines).collect();
    list::check("line-lengths", &found);
}

#[test]
fn a_file_of_401_lines_is_found() {
    assert_eq!(files(&Source::new("a.rs", &"//\n".repeat(400))), None);
    let found = files(&Source::new("a.rs", &"//\n".repeat(401))).expect("one line too many");
    assert_eq!((found.place.as_str(), found.key.as_str()), ("a.rs:401", "a.rs"));
    assert_eq!(files(&Source::new("a.toml", &"#\n".repeat(401))), None, "data is as long as the hardware");
}

#[test]
fn a_line_of_121_characters_is_found() {
    let text = format!("{}\n{}\n", "//".repeat(60), "//é".repeat(41));
    let found = lines(&Source::new("a.rs", &text));
    assert_eq!(found.iter().map(|found| found.place.as_str()).collect::<Vec<_>>(), ["a.rs:2"], "characters, not bytes");
    let prose = format!("{}\n|{}\n", "x".repeat(161), "x".repeat(161));
    assert_eq!(lines(&Source::new("a.md", &prose)).len(), 1, "a table's row stays whole");
}
