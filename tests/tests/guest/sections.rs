//! The output of a script whose parts announce themselves with `@@ name`.

/// The lines of a part.
pub fn section<'a>(output: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = output.lines().skip_while(|line| *line != format!("@@ {name}"));
    assert!(lines.next().is_some(), "no part {name:?} in:\n{output}");
    lines.take_while(|line| !line.starts_with("@@ ")).collect()
}

/// The count of an event in perf's CSV output: `count,unit,event,…`.
pub fn count(lines: &[&str], event: &str) -> u64 {
    let line =
        lines.iter().find(|line| line.contains(event)).unwrap_or_else(|| panic!("no line for {event} in {lines:#?}"));
    let first = line.split(',').next().unwrap();
    first.parse().unwrap_or_else(|_| panic!("{event} was not counted: {line}"))
}
