//! Families of samples, and their text: Prometheus' text format 0.0.4, and OpenMetrics 1.0.
//!
//! Both have the same samples. OpenMetrics names a counter's family without `_total`, says the unit in a line of its own, and ends with `# EOF`.

use std::fmt::{self, Write};

/// Which text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Prometheus' text format 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

/// What a family's numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Never goes down; its samples end in `_total`.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Words in labels; its one sample ends in `_info` and is 1.
    Info,
}

/// Samples of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    name: String,
    help: String,
    kind: Kind,
    unit: Option<&'static str>,
    samples: Vec<Sample>,
}

/// A number and what tells it from others of its family.
#[derive(Debug, Clone, PartialEq)]
struct Sample {
    labels: Labels,
    number: Number,
}

/// Names and values of labels, in the order in which they are written.
pub type Labels = Vec<(&'static str, String)>;

/// A sample's number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Exact.
    Whole(u128),
    /// As near as computing came; finite.
    Real(f64),
}

impl Family {
    /// A family without samples. The name ends in the unit, which is added if it does not; what only a kind of family has at its end is not part of it.
    pub fn new(name: &str, kind: Kind, unit: Option<&'static str>, help: impl Into<String>) -> Self {
        let mut name = name_of(name);
        if let Some(unit) = unit.filter(|unit| !name.strip_suffix(unit).is_some_and(|rest| rest.ends_with('_'))) {
            name = format!("{name}_{unit}");
        }
        Self { name, help: help.into(), kind, unit, samples: Vec::new() }
    }

    /// The name, without what only this kind of family has at its end.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is about, for people.
    pub fn help(&self) -> &str {
        &self.help
    }

    /// What its numbers are.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The unit, if it has one.
    pub const fn unit(&self) -> Option<&'static str> {
        self.unit
    }

    /// Its samples.
    pub fn samples(&self) -> impl Iterator<Item = (&Labels, Number)> {
        self.samples.iter().map(|sample| (&sample.labels, sample.number))
    }

    /// True if there is nothing to write.
    pub const fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Adds a sample. A number that is none is left out: whoever has one says why somewhere else.
    pub fn push(&mut self, labels: Labels, number: Number) {
        if matches!(number, Number::Real(number) if !number.is_finite()) {
            return;
        }
        self.samples.push(Sample { labels, number });
    }

    fn write(&self, text: &mut String, format: Format) -> fmt::Result {
        let suffix = match self.kind {
            Kind::Counter => "_total",
            Kind::Gauge => "",
            Kind::Info => "_info",
        };
        let (family, kind) = match (format, self.kind) {
            (Format::OpenMetrics, Kind::Info) => (self.name.clone(), "info"),
            (Format::OpenMetrics, Kind::Counter) => (self.name.clone(), "counter"),
            (Format::Prometheus, Kind::Counter) => (format!("{}{suffix}", self.name), "counter"),
            // The older format has no such kind.
            (Format::Prometheus, Kind::Info) => (format!("{}{suffix}", self.name), "gauge"),
            (_, Kind::Gauge) => (self.name.clone(), "gauge"),
        };
        writeln!(text, "# HELP {family} {}", Escaped { text: &self.help, quotes: format == Format::OpenMetrics })?;
        writeln!(text, "# TYPE {family} {kind}")?;
        if let Some(unit) = self.unit.filter(|_| format == Format::OpenMetrics) {
            writeln!(text, "# UNIT {family} {unit}")?;
        }
        for Sample { labels, number } in &self.samples {
            write!(text, "{}{suffix}", self.name)?;
            for (index, (name, value)) in labels.iter().enumerate() {
                let before = if index == 0 { '{' } else { ',' };
                write!(text, "{before}{name}=\"{}\"", Escaped { text: value, quotes: true })?;
            }
            let after = if labels.is_empty() { "" } else { "}" };
            writeln!(text, "{after} {number}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            // Exponents where digits would only fill the line.
            Self::Real(number) if *number != 0.0 && !(1e-6..1e16).contains(&number.abs()) => write!(f, "{number:e}"),
            Self::Real(number) => number.fmt(f),
        }
    }
}

/// The text of all families that have samples.
pub fn exposition<'a>(families: impl IntoIterator<Item = &'a Family>, format: Format) -> String {
    let mut text = String::new();
    for family in families.into_iter().filter(|family| !family.is_empty()) {
        // A string takes whatever is written to it.
        let _ = family.write(&mut text, format);
    }
    if format == Format::OpenMetrics {
        text.push_str("# EOF\n");
    }
    text
}

/// A name that metrics may have: small letters, digits and single underscores, not beginning with a digit.
///
/// ```
/// use pericore_exporter::text::name_of;
/// assert_eq!(name_of("pericore_imc_MEM-BANDWIDTH (all)"), "pericore_imc_mem_bandwidth_all");
/// assert_eq!(name_of("2lm"), "_2lm");
/// ```
pub fn name_of(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for character in text.chars() {
        match character.to_ascii_lowercase() {
            letter @ ('a'..='z' | '0'..='9') => name.push(letter),
            _ if name.ends_with('_') => {}
            _ => name.push('_'),
        }
    }
    let name = name.trim_end_matches('_');
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name.to_owned()
    }
}

/// Text within a line of the formats.
struct Escaped<'a> {
    text: &'a str,
    quotes: bool,
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.text;
        // Mostly there is none to escape.
        while let Some(at) = rest.find(['\\', '\n', '"']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'\\' => "\\\\",
                b'\n' => "\\n",
                _ if self.quotes => "\\\"",
                _ => "\"",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the format's documents, in both: a counter with awkward labels, a gauge with a unit, words.
    #[test]
    fn both_formats_have_the_same_samples() {
        let mut counter = Family::new("x_events", Kind::Counter, None, "Say \"how\\many\"\nthere are.");
        counter.push(vec![("path", "C:\\DIR".to_owned()), ("error", "no \"file\"\n".to_owned())], Number::Whole(3));
        counter.push(vec![("path", String::new())], Number::Whole(u128::from(u64::MAX) + 1));
        let mut gauge = Family::new("x_rate", Kind::Gauge, Some("bytes_per_second"), "Speed.");
        for number in [0.25, 12.5e9, 1e300, 0.0, f64::NAN, f64::INFINITY] {
            gauge.push(Vec::new(), Number::Real(number));
        }
        let mut words = Family::new("x_build", Kind::Info, None, "Version.");
        words.push(vec![("version", "1".to_owned())], Number::Whole(1));
        let empty = Family::new("x_nothing", Kind::Gauge, None, "Nothing.");
        let families = [counter, gauge, words, empty];
        let prometheus = "\
            # HELP x_events_total Say \"how\\\\many\"\\nthere are.\n\
            # TYPE x_events_total counter\n\
            x_events_total{path=\"C:\\\\DIR\",error=\"no \\\"file\\\"\\n\"} 3\n\
            x_events_total{path=\"\"} 18446744073709551616\n\
            # HELP x_rate_bytes_per_second Speed.\n\
            # TYPE x_rate_bytes_per_second gauge\n\
            x_rate_bytes_per_second 0.25\n\
            x_rate_bytes_per_second 12500000000\n\
            x_rate_bytes_per_second 1e300\n\
            x_rate_bytes_per_second 0\n\
            # HELP x_build_info Version.\n\
            # TYPE x_build_info gauge\n\
            x_build_info{version=\"1\"} 1\n";
        assert_eq!(exposition(&families, Format::Prometheus), prometheus);
        let open_metrics = prometheus
            .replace("HELP x_events_total Say \"how\\\\many\"", "HELP x_events Say \\\"how\\\\many\\\"")
            .replace("TYPE x_events_total", "TYPE x_events")
            .replace("second gauge\n", "second gauge\n# UNIT x_rate_bytes_per_second bytes_per_second\n")
            .replace("HELP x_build_info", "HELP x_build")
            .replace("TYPE x_build_info gauge", "TYPE x_build info");
        assert_eq!(exposition(&families, Format::OpenMetrics), open_metrics + "# EOF\n");
    }

    #[test]
    fn a_unit_stands_at_the_end_once() {
        let named = |name: &str, unit| Family::new(name, Kind::Gauge, Some(unit), "").name().to_owned();
        assert_eq!(named("LLC_MISS_RATIO", "ratio"), "llc_miss_ratio");
        assert_eq!(named("RATIO", "ratio"), "ratio_ratio");
        assert_eq!(named("LATENCY", "seconds"), "latency_seconds");
    }

    fn number(number: Number) -> String {
        let mut family = Family::new("x", Kind::Gauge, None, "h");
        family.push(Vec::new(), number);
        exposition([&family], Format::Prometheus).replace("# HELP x h\n# TYPE x gauge\nx ", "")
    }

    /// Each is read back as the number that it was: digits while they are few, an exponent beyond.
    #[test]
    fn numbers_are_written_in_full() {
        for (real, written) in [
            (1e-6, "0.000001"),
            (9.5e-7, "9.5e-7"),
            (-1e-7, "-1e-7"),
            (9_999_999_999_999_998.0, "9999999999999998"),
            (1e16, "1e16"),
            (-2.5e16, "-2.5e16"),
            (-0.125, "-0.125"),
            (0.1 + 0.2, "0.30000000000000004"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(number(Number::Real(real)), format!("{written}\n"));
            assert_eq!(written.parse::<f64>(), Ok(real));
        }
        assert_eq!(number(Number::Whole(0)), "0\n");
        assert_eq!(number(Number::Whole(u128::MAX)), "340282366920938463463374607431768211455\n");
        assert_eq!(number(Number::Real(f64::NAN)), "", "a family without samples is not written");
        assert_eq!(number(Number::Real(f64::NEG_INFINITY)), "");
    }

    #[test]
    fn names_are_ones_that_both_formats_take() {
        for (text, name) in [
            ("MEM_BANDWIDTH", "mem_bandwidth"),
            ("a__b--c", "a_b_c"),
            ("%busy", "_busy"),
            ("busy %", "busy"),
            ("9lives", "_9lives"),
            ("0", "_0"),
            ("a1Z", "a1z"),
            ("é", "_"),
            ("", "_"),
        ] {
            assert_eq!(name_of(text), name, "{text:?}");
        }
        let named = |name: &str, unit| Family::new(name, Kind::Counter, unit, "").name().to_owned();
        // A unit stands behind an underscore, or it is only the end of a word.
        assert_eq!(named("x_bytes", Some("bytes")), "x_bytes");
        assert_eq!(named("kilobytes", Some("bytes")), "kilobytes_bytes");
        assert_eq!(named("bytes_read", Some("bytes")), "bytes_read_bytes");
        assert_eq!(named("x bytes", None), "x_bytes");
    }

    /// A counter with a unit in both: OpenMetrics names the unit, and its family without `_total`. Without samples there is only the end.
    #[test]
    fn a_counter_with_a_unit_and_a_text_without_samples() {
        let mut family = Family::new("x_read", Kind::Counter, Some("bytes"), "a\\b\nc \"d\"");
        assert!(family.is_empty());
        assert_eq!(exposition([&family], Format::Prometheus), "");
        assert_eq!(exposition([&family], Format::OpenMetrics), "# EOF\n");
        family.push(vec![("a", "1".to_owned()), ("b", "2".to_owned()), ("c", "\\n".to_owned())], Number::Real(0.5));
        assert!(!family.is_empty());
        let sample = "x_read_bytes_total{a=\"1\",b=\"2\",c=\"\\\\n\"} 0.5\n";
        assert_eq!(
            exposition([&family], Format::OpenMetrics),
            format!(
                "# HELP x_read_bytes a\\\\b\\nc \\\"d\\\"\n# TYPE x_read_bytes counter\n# UNIT x_read_bytes bytes\n{sample}# EOF\n"
            )
        );
        assert_eq!(
            exposition([&family], Format::Prometheus),
            format!("# HELP x_read_bytes_total a\\\\b\\nc \"d\"\n# TYPE x_read_bytes_total counter\n{sample}")
        );
    }
}
