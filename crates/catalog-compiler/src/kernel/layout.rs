//! The file `layouts`: fields of `perf_event_attr` that PMUs have.

use std::collections::BTreeMap;

use pericore_catalog_schema::{AttributeWord, FieldBits};
use pericore_registers::BitRange;

use super::lines::TableLines;
use crate::Diagnostics;

/// A field.
#[derive(Debug, Clone)]
pub struct LayoutField {
    pub name: String,
    pub word: AttributeWord,
    pub bits: Vec<FieldBits>,
}

/// Layouts by name.
pub type Layouts = BTreeMap<String, Vec<LayoutField>>;

/// Reads `layout NAME`, and below it fields as the kernel writes them: `umask=config:8-15,32-55`.
pub fn read(lines: &TableLines, diagnostics: &mut Diagnostics) -> Layouts {
    let mut layouts = Layouts::new();
    let mut current = None;
    for (place, line) in lines.iter() {
        if let Some(name) = line.strip_prefix("layout ") {
            current = Some(layouts.entry(name.trim().to_owned()).or_default());
            continue;
        }
        let Some(fields) = &mut current else {
            diagnostics.report(place, "fields of no layout", "write `layout NAME` above them");
            continue;
        };
        for word in line.split_whitespace() {
            match field(word) {
                Some(field) => fields.push(field),
                None => {
                    let fix = "write NAME=config:0-7, with config, config1 or config2, and bits below 64";
                    diagnostics.report(place, format!("{word:?} is no field"), fix);
                }
            }
        }
    }
    layouts
}

fn field(word: &str) -> Option<LayoutField> {
    let (name, place) = word.split_once('=')?;
    let (word, ranges) = place.split_once(':')?;
    let word = match word {
        "config" => AttributeWord::Config,
        "config1" => AttributeWord::Config1,
        "config2" => AttributeWord::Config2,
        _ => return None,
    };
    let bits = ranges.split(',').map(range).collect::<Option<_>>()?;
    Some(LayoutField { name: name.to_owned(), word, bits })
}

/// `8-15`, or a single bit.
fn range(text: &str) -> Option<FieldBits> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let (low, high) = (low.parse().ok()?, high.parse().ok()?);
    (low <= high && high < 64).then(|| FieldBits(BitRange::new(high, low)))
}
