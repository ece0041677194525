//! The file `aliases`: events that drivers have names for.

use std::collections::BTreeMap;

use super::lines::TableLines;
use crate::Diagnostics;

/// Names and the terms that they stand for, by the name of the list.
pub type Aliases = BTreeMap<String, Vec<(String, String)>>;

/// Reads `aliases NAME`, and below it lines of an event's name and its terms: `cas_count_read event=0x04,umask=0x03`.
pub fn read(lines: &TableLines, diagnostics: &mut Diagnostics) -> Aliases {
    let mut aliases = Aliases::new();
    let mut current = None;
    for (place, line) in lines.iter() {
        if let Some(name) = line.strip_prefix("aliases ") {
            current = Some(aliases.entry(name.trim().to_owned()).or_default());
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match (&mut current, &words[..]) {
            (Some(list), [name, terms]) if terms.starts_with("event=") => {
                list.push(((*name).to_owned(), (*terms).to_owned()));
            }
            (None, _) => diagnostics.report(place, "names of no list", "write `aliases NAME` above them"),
            _ => diagnostics.report(
                place,
                format!("{line:?} is no name of an event"),
                "write `NAME event=0x04,umask=0x03`",
            ),
        }
    }
    aliases
}
