//! Any text as an event file, for every family: an error, or rows that fit the family's registers and formulas in the
//! metric language.

use pericore_catalog::Role;
use pericore_catalog::decode;
use pericore_catalog::event_file::EventFile;
use pericore_metrics::Expression;

/// Any bytes.
pub fn run(data: &[u8]) {
    let text = crate::text(data);
    for family in pericore_catalog::families() {
        let Ok(file) = EventFile::parse(text, family) else { continue };
        let lines = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
        for problem in &file.problems {
            assert!((1..=lines).contains(&problem.line));
            assert!(!problem.to_string().contains(char::is_control), "{problem:?} would upset a terminal");
        }
        for event in &file.events {
            assert!((1..=lines).contains(&event.line));
            let unit = family.unit(event.unit.name).expect("the family's");
            let register = unit.register(Role::Control).expect("rows of units without controls are refused");
            let decoded = decode::register(family, unit, register, 0, event.config).expect("the control value fits");
            assert_eq!(decoded.reserved_bits(), 0, "{event:?}");
            assert!(u32::from(event.counters) < 1 << event.unit.counters && event.counters != 0, "{event:?}");
        }
        for metric in &file.metrics {
            assert!((1..=lines).contains(&metric.line));
            let converted = match metric.convert(family) {
                Ok(converted) => converted,
                Err(problem) => {
                    assert!(!problem.to_string().contains(char::is_control), "{problem:?} would upset a terminal");
                    continue;
                }
            };
            // What comes out is in the metric language, and needs nothing that the family does not have.
            let text = converted.expression.to_string();
            assert!(Expression::parse(&text).is_ok(), "{text}");
            let references = converted.expression.references().into_iter();
            for reference in references.filter(|reference| !reference.is_variable()) {
                assert!(reference.unit.as_deref().is_some_and(|unit| family.unit(unit).is_some()), "{reference}");
            }
        }
        // The overlay is left out: it lives as long as the program, and a fuzzer's program lives long.
    }
}
