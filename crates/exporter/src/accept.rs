//! What a client takes: the header field Accept (RFC 9110, 12.5.1), as far as the two formats go.

use crate::text::Format;

/// The format that a client would rather have. Prometheus' own unless OpenMetrics is named, at least as dear, and of a version that is 1.0's: a client
/// that takes nothing of ours gets it, too, since a text that can be looked at helps more than a refusal.
pub fn format<'a>(fields: impl Iterator<Item = &'a [u8]>) -> Format {
    let (mut open_metrics, mut prometheus) = (0.0, Weighed::default());
    for field in fields {
        let Ok(field) = std::str::from_utf8(field) else { continue };
        for range in field.split(',') {
            let Some((kind, weight, version)) = parsed(range) else { continue };
            match kind.as_str() {
                // The draft's version has the same texts.
                "application/openmetrics-text" if matches!(version, None | Some("1.0.0" | "0.0.1")) => {
                    open_metrics = f64::max(open_metrics, weight);
                }
                "text/plain" if matches!(version, None | Some("0.0.4")) => prometheus.named(weight),
                "text/*" => prometheus.by_group(weight),
                "*/*" => prometheus.by_anything(weight),
                _ => {}
            }
        }
    }
    if open_metrics > 0.0 && open_metrics >= prometheus.weight() { Format::OpenMetrics } else { Format::Prometheus }
}

/// How dear a type is to a client: what is said of it more closely holds.
#[derive(Debug, Default)]
struct Weighed {
    named: Option<f64>,
    group: Option<f64>,
    anything: Option<f64>,
}

impl Weighed {
    fn named(&mut self, weight: f64) {
        self.named = Some(self.named.unwrap_or(0.0).max(weight));
    }

    fn by_group(&mut self, weight: f64) {
        self.group = Some(weight);
    }

    fn by_anything(&mut self, weight: f64) {
        self.anything = Some(weight);
    }

    fn weight(&self) -> f64 {
        self.named.or(self.group).or(self.anything).unwrap_or(0.0)
    }
}

/// Type, weight and version of a media range; nothing if it is none.
fn parsed(range: &str) -> Option<(String, f64, Option<&str>)> {
    let mut parts = range.split(';').map(str::trim);
    let kind = parts.next().filter(|kind| kind.contains('/'))?.to_ascii_lowercase();
    let (mut weight, mut version) = (1.0, None);
    for part in parts {
        let (name, value) = part.split_once('=')?;
        let value = value.trim().trim_matches('"');
        match name.trim().to_ascii_lowercase().as_str() {
            "q" => weight = value.parse().ok().filter(|weight| (0.0..=1.0).contains(weight))?,
            "version" => version = Some(value),
            _ => {}
        }
    }
    Some((kind, weight, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(field: &str) -> Format {
        format(std::iter::once(field.as_bytes()))
    }

    #[test]
    fn a_client_gets_what_it_would_rather_have() {
        // What Prometheus 2 sends, and 3.
        let two = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        let three = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";
        for accepted in [two, three, "application/openmetrics-text", "Application/OpenMetrics-Text; q=0.5, */*; q=0.1"]
        {
            assert_eq!(of(accepted), Format::OpenMetrics, "{accepted}");
        }
        for accepted in [
            "*/*",
            "",
            "text/plain",
            "text/html,application/xhtml+xml,*/*;q=0.8",
            "application/openmetrics-text;q=0",
            "application/openmetrics-text;version=2.0.0",
            "application/openmetrics-text;q=0.3,text/plain;q=0.4",
            "application/openmetrics-text;q=nan",
            "application/openmetrics-text;q=0.5,*/*",
            "image/png",
            ";;,=,q=1/",
        ] {
            assert_eq!(of(accepted), Format::Prometheus, "{accepted}");
        }
        assert_eq!(format(std::iter::empty()), Format::Prometheus);
        assert_eq!(format([b"\xff".as_slice(), b"application/openmetrics-text"].into_iter()), Format::OpenMetrics);
    }
}
