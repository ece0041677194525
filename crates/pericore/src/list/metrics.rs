//! Derived metrics.

use std::io::{self, Write};

use pericore_catalog::event_file::FileMetric;
use pericore_catalog::{Family, Side};
use serde::Serialize;

use super::{Request, heading, line, paragraph};

/// A line of the contract.
#[derive(Serialize)]
struct MetricLine<'a> {
    family: &'a str,
    unit: &'a str,
    metric: &'a str,
    expression: &'a str,
    unit_of_measure: &'a str,
    quantity: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    side: Option<&'a str>,
    description: &'a str,
    source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    printed: Option<&'a str>,
    /// Per cent, and what it means to be above.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_means: Option<&'a str>,
}

/// Prints a family's metrics; gives the number of rows.
pub fn print(out: &mut impl Write, family: &'static Family, request: &Request<'_>) -> io::Result<usize> {
    let mut rows = 0;
    for (_, unit, query) in request.units(family) {
        let mut headed = false;
        for metric in unit.metrics.iter().filter(|m| query.matches(&[m.name], &[m.description, m.expression])) {
            rows += 1;
            if request.args.json {
                let row = MetricLine {
                    family: family.name,
                    unit: unit.name,
                    metric: metric.name,
                    expression: metric.expression,
                    unit_of_measure: metric.unit_of_measure,
                    quantity: metric.quantity.name(),
                    side: metric.side.map(Side::name),
                    description: metric.description,
                    source: metric.source,
                    printed: metric.printed,
                    limit: metric.limit.map(|limit| limit.above),
                    limit_means: metric.limit.map(|limit| limit.means),
                };
                line(out, &row)?;
                continue;
            }
            if !headed {
                heading(out, family, unit, request.paint)?;
                headed = true;
            }
            let side = metric.side.map_or_else(String::new, |side| format!(", {}", side.words()));
            writeln!(out, "  {} [{}{side}]", request.paint.strong(metric.name), metric.unit_of_measure)?;
            paragraph(out, 6, metric.description)?;
            paragraph(out, 6, &format!("= {}", metric.expression))?;
            if let Some(limit) = metric.limit {
                paragraph(out, 6, &format!("Above {} %: {}", limit.above, limit.means))?;
            }
        }
    }
    Ok(rows)
}

/// A metric of a file: the contract's keys, and no unit of ours.
#[derive(Serialize)]
struct FileMetricLine<'a> {
    family: &'a str,
    unit: Option<&'a str>,
    metric: &'a str,
    expression: &'a str,
    unit_of_measure: &'a str,
    description: &'a str,
    source: &'a str,
    evaluated: bool,
}

/// Prints the metrics of event files; gives the number of rows. Those that need events of the cores are left out.
pub fn print_files(
    out: &mut impl Write,
    families: &[&'static Family],
    metrics: &[(String, FileMetric<'_>)],
    request: &Request<'_>,
) -> io::Result<usize> {
    let [family] = families else { return Ok(0) };
    let wanted = |metric: &FileMetric<'_>| {
        metric.is_uncore() && request.query.matches(&[&metric.name], &[&metric.description, &metric.formula])
    };
    let shown: Vec<_> = metrics.iter().filter(|(_, metric)| wanted(metric)).collect();
    if !shown.is_empty() && !request.args.json {
        let text = format!("{} / metrics of event files: listed, not evaluated", family.name);
        writeln!(out, "\n{}", request.paint.strong(&text))?;
    }
    for (source, metric) in &shown {
        if request.args.json {
            let row = FileMetricLine {
                family: family.name,
                unit: None,
                metric: &metric.name,
                expression: &metric.formula,
                unit_of_measure: &metric.unit_of_measure,
                description: &metric.description,
                source,
                evaluated: false,
            };
            line(out, &row)?;
            continue;
        }
        writeln!(out, "  {} [{}]", request.paint.strong(&metric.name), metric.unit_of_measure)?;
        paragraph(out, 6, &metric.description)?;
        paragraph(out, 6, &format!("= {}", metric.formula))?;
    }
    Ok(shown.len())
}
