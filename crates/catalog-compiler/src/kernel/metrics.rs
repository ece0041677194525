//! The files `CODE.metrics`: formulas over letters, and the events and constants that these stand for.

use pericore_catalog_schema::KernelMetric;

use super::lines::{TableLines, text};
use crate::Diagnostics;

/// A family's metrics.
#[derive(Debug, Default)]
pub struct MetricTable {
    pub metrics: Vec<KernelMetric>,
    /// Intel's file with its version; none if the metrics are this project's.
    pub file: Option<String>,
}

/// Reads `NAME | UNIT OF MEASURE | FORMULA | LETTER=NAME …`, and `file NAME VERSION DATE` above them.
pub fn read(lines: &TableLines, diagnostics: &mut Diagnostics) -> MetricTable {
    let mut table = MetricTable::default();
    for (place, line) in lines.iter() {
        if let Some(file) = line.strip_prefix("file ") {
            table.file = Some(file.to_owned());
            continue;
        }
        match metric(line) {
            Some(metric) => table.metrics.push(metric),
            None => {
                let fix = "write NAME | UNIT OF MEASURE | FORMULA | LETTER=EVENT …";
                diagnostics.report(place, format!("{line:?} is no metric"), fix);
            }
        }
    }
    table
}

fn metric(line: &str) -> Option<KernelMetric> {
    let parts: Vec<&str> = line.split('|').map(str::trim).collect();
    let [name, unit_of_measure, formula, symbols] = parts[..] else { return None };
    let symbol = |word: &str| {
        let (symbol, name) = word.split_once('=')?;
        Some((text(symbol), text(name)))
    };
    let symbols: Vec<_> = symbols.split_whitespace().map(symbol).collect::<Option<_>>()?;
    let is_named = |(symbol, _): &(&str, &str)| formula.contains(symbol);
    (!symbols.is_empty() && symbols.iter().all(is_named)).then(|| KernelMetric {
        name: text(name),
        unit_of_measure: text(unit_of_measure),
        formula: text(formula),
        symbols: symbols.leak(),
    })
}
