//! What a client takes: the header field Accept (RFC 9110, 12.5.1), as far as the two formats go, and HTML.

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

/// True if a client names HTML, as browsers do and other programs do not.
pub fn takes_html<'a>(mut fields: impl Iterator<Item = &'a [u8]>) -> bool {
    let is_html = |range: &str| parsed(range).is_some_and(|(kind, weight, _)| kind == "text/html" && weight > 0.0);
    fields.any(|field| std::str::from_utf8(field).is_ok_and(|field| field.split(',').any(is_html)))
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

    #[test]
    fn browsers_name_html() {
        let takes = |field: &str| takes_html(std::iter::once(field.as_bytes()));
        // What Firefox and Chromium send for a page; what curl, Prometheus and scripts of pages send.
        for accepted in [
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
            "TEXT/HTML",
        ] {
            assert!(takes(accepted), "{accepted}");
        }
        for accepted in ["*/*", "text/*", "", "text/plain", "text/html;q=0", "application/json", "\u{e9}"] {
            assert!(!takes(accepted), "{accepted}");
        }
        assert!(!takes_html(std::iter::empty()) && !takes_html(std::iter::once(b"\xfftext/html".as_slice())));
    }

    /// RFC 9110, 12.5.1: weights decide, and of several ranges that fit a type the closest one; without `q` the weight is 1.
    #[test]
    fn weights_are_compared_and_the_closest_range_holds() {
        for (accepted, wanted) in [
            // As dear: OpenMetrics. A thousandth less: not.
            ("application/openmetrics-text;q=0.5,text/plain;q=0.5", Format::OpenMetrics),
            ("application/openmetrics-text;q=0.499,text/plain;q=0.5", Format::Prometheus),
            ("application/openmetrics-text;q=1.0,text/plain", Format::OpenMetrics),
            ("application/openmetrics-text;q=0.999,text/plain", Format::Prometheus),
            ("application/openmetrics-text;q=0.001", Format::OpenMetrics),
            // Whichever comes first.
            ("text/plain;q=0.5,application/openmetrics-text;q=0.6", Format::OpenMetrics),
            ("text/plain;q=0.7,application/openmetrics-text;q=0.6", Format::Prometheus),
            // The dearest of several of one type.
            (
                "application/openmetrics-text;q=0.6,application/openmetrics-text;version=0.0.1;q=0.3,text/plain;q=0.5",
                Format::OpenMetrics,
            ),
            (
                "application/openmetrics-text;q=0.3,application/openmetrics-text;version=0.0.1;q=0.6,text/plain;q=0.5",
                Format::OpenMetrics,
            ),
            ("text/plain;version=0.0.4;q=0.6,text/plain;q=0.4,application/openmetrics-text;q=0.5", Format::Prometheus),
            ("text/plain;version=0.0.4;q=0.4,text/plain;q=0.6,application/openmetrics-text;q=0.5", Format::Prometheus),
            // text/plain before text/*, and that before */*.
            ("text/plain;q=0.2,text/*;q=0.9,*/*;q=0.9,application/openmetrics-text;q=0.5", Format::OpenMetrics),
            ("text/plain;q=0.9,text/*;q=0.2,*/*;q=0.2,application/openmetrics-text;q=0.5", Format::Prometheus),
            ("text/*;q=0.2,*/*;q=0.9,application/openmetrics-text;q=0.5", Format::OpenMetrics),
            ("text/*;q=0.9,*/*;q=0.2,application/openmetrics-text;q=0.5", Format::Prometheus),
            ("*/*;q=0.9,application/openmetrics-text;q=0.5", Format::Prometheus),
            // Another version of either is none of ours.
            ("text/plain;version=1.0.0,application/openmetrics-text;q=0.5", Format::OpenMetrics),
            ("application/openmetrics-text;version=0.0.2", Format::Prometheus),
            ("application/openmetrics-text;version=0.0.4", Format::Prometheus),
            // Parameters: any case, quotes, unknown ones; a range that is none is passed over.
            ("application/openmetrics-text; VERSION=\"1.0.0\"; Charset=utf-8 ;Q=0.3", Format::OpenMetrics),
            ("application/openmetrics-text;q=1.1", Format::Prometheus),
            ("application/openmetrics-text;q=-0.1", Format::Prometheus),
            ("application/openmetrics-text;q", Format::Prometheus),
            ("openmetrics-text, application/openmetrics-text;q=0.1", Format::OpenMetrics),
        ] {
            assert_eq!(of(accepted), wanted, "{accepted}");
        }
        // Several fields are one list.
        let fields = [b"text/plain;q=0.5".as_slice(), b"application/openmetrics-text;q=0.4"];
        assert_eq!(format(fields.into_iter()), Format::Prometheus);
    }
}
