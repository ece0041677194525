//! A line of `list --json` about an event.
//!
//! A family has thousands of lines, whose keys and most of whose texts need no escapes: they are put together by hand.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use pericore_machine::coverage::{CountOrigin, Label};

/// A line of the contract: one event, or one subevent.
#[cfg_attr(test, derive(serde::Serialize))]
pub(super) struct EventLine<'a> {
    pub(super) family: &'a str,
    pub(super) unit: &'a str,
    pub(super) event: &'a str,
    pub(super) subevent: Option<&'a str>,
    /// Intel's name in its public event files.
    pub(super) intel_name: Option<String>,
    pub(super) code: String,
    pub(super) umask: Option<String>,
    pub(super) config: String,
    /// How Linux's driver selects it, as perf takes it; none if the driver cannot.
    pub(super) perf: Option<String>,
    pub(super) counters: Vec<u8>,
    pub(super) max_increment: Option<u16>,
    pub(super) filters: BTreeMap<&'a str, FilterInfo<'a>>,
    pub(super) modelled: bool,
    pub(super) model_only: bool,
    pub(super) source: &'a str,
    pub(super) description: &'a str,
    #[cfg_attr(test, serde(skip_serializing_if = "<[_]>::is_empty"))]
    pub(super) caveats: &'a [&'a str],
    #[cfg_attr(test, serde(skip_serializing_if = "std::ops::Not::not"))]
    pub(super) later: bool,
    /// The keys of what its counts on the software machine come from; none for families without shipped scenarios. Many
    /// lines share them: they are written once.
    #[cfg_attr(test, serde(skip))]
    pub(super) coverage: Option<&'a str>,
}

/// In which shipped scenarios it counts and by what, or why it does not.
#[cfg_attr(test, derive(serde::Serialize))]
pub(super) struct CoverageInfo<'a> {
    pub(super) counts_in: &'a [&'a str],
    pub(super) origin: Option<&'static str>,
    pub(super) scripted: bool,
    pub(super) out_of_count: bool,
    #[cfg_attr(test, serde(skip_serializing_if = "Option::is_none"))]
    pub(super) reason: Option<&'a str>,
}

impl<'a> CoverageInfo<'a> {
    /// That of a label.
    pub(super) fn of(label: &'a Label) -> Self {
        let nothing = Self { counts_in: &[], origin: None, scripted: false, out_of_count: false, reason: None };
        match label {
            Label::Counts { origin, scenarios } => Self {
                counts_in: scenarios,
                origin: Some(origin.name()),
                scripted: *origin == CountOrigin::Scripted,
                ..nothing
            },
            Label::Absent(reason) => Self { reason: Some(reason), ..nothing },
            Label::OutOfCount(reason) => Self { out_of_count: true, reason: Some(reason), ..nothing },
        }
    }

    /// The keys that it adds to a line.
    pub(super) fn keys(&self) -> String {
        let mut keys = String::new();
        let line = &mut keys;
        list(line, ",\"counts_in\":[", self.counts_in, |line, name| text(line, "", name));
        optional(line, ",\"origin\":", self.origin);
        line.push_str(if self.scripted { ",\"scripted\":true" } else { ",\"scripted\":false" });
        line.push_str(if self.out_of_count { ",\"out_of_count\":true" } else { ",\"out_of_count\":false" });
        if let Some(reason) = self.reason {
            text(line, ",\"reason\":", reason);
        }
        keys
    }
}

/// Where a filter stands and whether it must be set.
#[cfg_attr(test, derive(serde::Serialize))]
pub(super) struct FilterInfo<'a> {
    pub(super) register: &'a str,
    pub(super) bits: String,
    pub(super) need: &'static str,
    #[cfg_attr(test, serde(skip_serializing_if = "Option::is_none"))]
    pub(super) default: Option<String>,
}

impl EventLine<'_> {
    /// Writes the line.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut line = String::with_capacity(1024);
        text(&mut line, "{\"family\":", self.family);
        text(&mut line, ",\"unit\":", self.unit);
        text(&mut line, ",\"event\":", self.event);
        optional(&mut line, ",\"subevent\":", self.subevent);
        optional(&mut line, ",\"intel_name\":", self.intel_name.as_deref());
        text(&mut line, ",\"code\":", &self.code);
        optional(&mut line, ",\"umask\":", self.umask.as_deref());
        text(&mut line, ",\"config\":", &self.config);
        optional(&mut line, ",\"perf\":", self.perf.as_deref());
        list(&mut line, ",\"counters\":[", &self.counters, |line, counter| {
            // Without the formatter, as for hexadecimal numbers.
            if let tens @ 1.. = counter / 10 {
                line.push(char::from(b'0' + tens % 10));
            }
            line.push(char::from(b'0' + counter % 10));
        });
        match self.max_increment {
            Some(number) => value(&mut line, ",\"max_increment\":", number),
            None => line.push_str(",\"max_increment\":null"),
        }
        line.push_str(",\"filters\":{");
        for (number, (name, filter)) in self.filters.iter().enumerate() {
            text(&mut line, if number == 0 { "" } else { "," }, name);
            text(&mut line, ":{\"register\":", filter.register);
            text(&mut line, ",\"bits\":", &filter.bits);
            text(&mut line, ",\"need\":", filter.need);
            if let Some(default) = &filter.default {
                text(&mut line, ",\"default\":", default);
            }
            line.push('}');
        }
        line.push_str(if self.modelled { "},\"modelled\":true" } else { "},\"modelled\":false" });
        line.push_str(if self.model_only { ",\"model_only\":true" } else { ",\"model_only\":false" });
        text(&mut line, ",\"source\":", self.source);
        text(&mut line, ",\"description\":", self.description);
        if !self.caveats.is_empty() {
            list(&mut line, ",\"caveats\":[", self.caveats, |line, caveat| text(line, "", caveat));
        }
        if self.later {
            line.push_str(",\"later\":true");
        }
        line.push_str(self.coverage.unwrap_or_default());
        line.push_str("}\n");
        out.write_all(line.as_bytes())
    }
}

/// A number as `{:#x}` writes it, with so many digits at least. By hand: a family has thousands, and the formatter pads
/// each.
pub(super) fn hexadecimal(value: u64, digits: usize) -> String {
    let significant = value.checked_ilog2().map_or(1, |highest| highest as usize / 4 + 1);
    let mut text = String::with_capacity(18);
    text.push_str("0x");
    for place in (0..significant.max(digits)).rev() {
        let digit = (value >> (4 * place) & 0xf) as u32;
        text.push(char::from_digit(digit, 16).unwrap_or('0'));
    }
    text
}

/// A key and what needs no escapes.
fn value(line: &mut String, key: &str, value: impl Display) {
    line.push_str(key);
    // A string takes everything.
    let _ = write!(line, "{value}");
}

fn optional(line: &mut String, key: &str, value: Option<&str>) {
    match value {
        Some(value) => text(line, key, value),
        None => {
            line.push_str(key);
            line.push_str("null");
        }
    }
}

/// A key and a text.
fn text(line: &mut String, key: &str, value: &str) {
    line.push_str(key);
    let needs_escape = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    // Without a way out of the loop the compiler compares many bytes at once.
    if value.bytes().fold(false, |any, byte| any | needs_escape(byte)) {
        let _ = write!(line, "{}", serde_json::Value::from(value));
        return;
    }
    line.push('"');
    line.push_str(value);
    line.push('"');
}

fn list<T: Copy>(line: &mut String, key: &str, values: &[T], each: impl Fn(&mut String, T)) {
    line.push_str(key);
    for (number, value) in values.iter().enumerate() {
        if number > 0 {
            line.push(',');
        }
        each(line, *value);
    }
    line.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_formatter() {
        for value in [0, 1, 0xf, 0x10, 0xff, 0x100, 0xc817_fe01, 1 << 63, u64::MAX] {
            assert_eq!(hexadecimal(value, 1), format!("{value:#x}"));
            assert_eq!(hexadecimal(value, 2), format!("{value:#04x}"));
        }
    }

    /// serde_json is the judge.
    #[test]
    fn a_line_is_what_a_serializer_makes_of_it() {
        let filter = |default: Option<&str>| FilterInfo {
            register: "filter",
            bits: "4:0".to_owned(),
            need: "default",
            default: default.map(str::to_owned),
        };
        let scenarios = vec!["day", "night"];
        let labels = [
            Label::Counts { origin: CountOrigin::Scripted, scenarios },
            Label::Absent("nothing \"does\""),
            Label::OutOfCount("of other parts"),
        ];
        let infos = labels.each_ref().map(CoverageInfo::of);
        let keys = infos.each_ref().map(CoverageInfo::keys);
        let row = |is_full: bool, number: usize| EventLine {
            family: "e5-2600",
            unit: "cbo",
            event: "A",
            subevent: is_full.then_some("B"),
            intel_name: is_full.then(|| "UNC_A.B".to_owned()),
            code: "0x01".to_owned(),
            umask: is_full.then(|| "0x02".to_owned()),
            config: "0x201".to_owned(),
            perf: is_full.then(|| "uncore_cbox/event=0x1/".to_owned()),
            counters: if is_full { vec![0, 1, 15] } else { Vec::new() },
            max_increment: is_full.then_some(20),
            filters: if is_full {
                BTreeMap::from([("opc", filter(None)), ("nid", filter(Some("0x1")))])
            } else {
                BTreeMap::new()
            },
            modelled: is_full,
            model_only: !is_full,
            source: "2.3.7 \"x\"",
            description: "Tab\t, back\\slash, \u{1}, µ and \u{7f}.",
            caveats: if is_full { &["One.", "T\nwo."] } else { &[] },
            later: is_full,
            coverage: keys.get(number).map(String::as_str),
        };
        for (is_full, number) in [(true, 0), (false, 1), (true, 2), (false, 3)] {
            let row = row(is_full, number);
            let mut written = Vec::new();
            row.write(&mut written).expect("memory");
            let mut expected = serde_json::to_string(&row).expect("JSON");
            if let Some(info) = infos.get(number) {
                // The line's object goes on with the keys of the other.
                let more = serde_json::to_string(info).expect("JSON");
                expected = format!("{},{}", expected.trim_end_matches('}'), &more[1..]);
            }
            assert_eq!(String::from_utf8(written).expect("UTF-8"), expected + "\n");
        }
    }
}
