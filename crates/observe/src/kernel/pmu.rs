//! PMUs of the kernel's uncore drivers, as `/sys/bus/event_source/devices` has them.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::PmuError;
use super::format::{Attributes, TermFormat};
use crate::linux::Root;
use crate::linux::cpu_list::cpu_list;

/// Where the kernel lists PMUs.
const DEVICES: &str = "sys/bus/event_source/devices";
/// More files of a folder than any driver has.
const MOST_FILES: usize = 1024;
/// More bytes than any file of a PMU has: sysfs ends at a page.
const MOST_BYTES: u64 = 4096;

/// A PMU: an instance of a unit, or several instances of it, one for each CPU of the mask.
#[derive(Debug, Clone, PartialEq)]
pub struct Pmu {
    /// Its name: `uncore_imc_0`.
    pub name: String,
    /// The number by which events are opened.
    pub kind: u32,
    /// The CPUs that count: one for each die. None if each CPU counts for itself, as those of the cores' PMU do.
    pub cpus: Vec<u32>,
    /// Terms, and where they lie.
    formats: Vec<(String, TermFormat)>,
    /// Events that the driver has a name for.
    pub events: Vec<NamedEvent>,
}

/// An event that the driver has a name for.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedEvent {
    /// Name: `cas_count_read`.
    pub name: String,
    /// What it stands for.
    pub terms: Vec<(String, u64)>,
    /// What a count is multiplied with, if the driver says.
    pub scale: Option<f64>,
    /// The unit of measure after that, such as `MiB`.
    pub unit: Option<String>,
}

/// The names of all PMUs of uncore drivers, in order; none without such a driver.
///
/// # Errors
/// [`PmuError::NoDevices`] if the kernel lists no PMUs at all.
pub fn uncore_pmus(root: &Root) -> Result<Vec<String>, PmuError> {
    pmus(root).map(|(uncore, _)| uncore)
}

/// The names of all PMUs: those of uncore drivers, and others, such as that of the cores.
pub(super) fn pmus(root: &Root) -> Result<(Vec<String>, Vec<String>), PmuError> {
    let path = root.join(DEVICES);
    let entries = fs::read_dir(&path).map_err(|error| PmuError::NoDevices { why: error.to_string() })?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    Ok(names.into_iter().partition(|name| is_uncore(name)))
}

fn is_uncore(name: &str) -> bool {
    name == "uncore" || name.starts_with("uncore_")
}

impl Pmu {
    /// Reads all that the kernel tells of a PMU.
    ///
    /// # Errors
    /// [`PmuError`] with the file that is missing or does not say what it should.
    pub fn read(root: &Root, name: &str) -> Result<Self, PmuError> {
        let folder = root.join(DEVICES).join(name);
        let fault = |file: &str, why: String| PmuError::File { pmu: name.to_owned(), file: file.to_owned(), why };
        let mut formats = Vec::new();
        for (term, text) in files(&folder, "format").map_err(|error| fault("format", error.to_string()))? {
            let format = text.parse().map_err(|error| fault(&format!("format/{term}"), format!("{error}")))?;
            formats.push((term, format));
        }
        // Not every PMU has names for events; those of the cores' are not needed, and are of other forms, too.
        let events = match files(&folder, "events") {
            _ if !is_uncore(name) => Vec::new(),
            Ok(files) => named_events(&files).map_err(|(file, why)| fault(&format!("events/{file}"), why))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(fault("events", error.to_string())),
        };
        Self { name: name.to_owned(), kind: 0, cpus: Vec::new(), formats, events }.also(root, name)
    }

    /// The PMU of this name, which the same driver has made for the same kind of unit: it has the same terms and
    /// events, so only what is its own is read.
    ///
    /// # Errors
    /// As [`Pmu::read`].
    pub fn also(&self, root: &Root, name: &str) -> Result<Self, PmuError> {
        let folder = root.join(DEVICES).join(name);
        let fault = |file: &str, why: String| PmuError::File { pmu: name.to_owned(), file: file.to_owned(), why };
        let text = |file: &str| text(&folder.join(file)).map_err(|error| fault(file, error.to_string()));
        let kind = text("type")?;
        let kind = kind.trim().parse().map_err(|_| fault("type", format!("it reads {kind:?}")))?;
        if !is_uncore(name) && !folder.join("cpumask").exists() {
            return Ok(Self { name: name.to_owned(), kind, cpus: Vec::new(), ..self.clone() });
        }
        let mask = text("cpumask")?;
        let cpus = cpu_list(mask.trim());
        let cpus =
            cpus.filter(|cpus| !cpus.is_empty()).ok_or_else(|| fault("cpumask", format!("it reads {mask:?}")))?;
        Ok(Self { name: name.to_owned(), kind, cpus, ..self.clone() })
    }

    /// Where a term lies, if the PMU has it.
    pub fn format(&self, term: &str) -> Option<&TermFormat> {
        self.formats.iter().find(|(known, _)| known == term).map(|(_, format)| format)
    }

    /// The terms that the PMU has.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.formats.iter().map(|(term, _)| term.as_str())
    }

    /// The same with another format in place of a term's: where the kernel's own says what is not so.
    #[must_use]
    pub(super) fn with_format(mut self, term: &str, format: &TermFormat) -> Self {
        self.formats.iter_mut().filter(|(known, _)| known == term).for_each(|(_, known)| *known = format.clone());
        self
    }

    /// The event that the driver has a name for.
    pub fn event(&self, name: &str) -> Option<&NamedEvent> {
        self.events.iter().find(|event| event.name.eq_ignore_ascii_case(name))
    }

    /// The attributes of an event given by terms, each placed where the PMU's format says.
    ///
    /// # Errors
    /// [`PmuError::NoTerm`] and [`PmuError::TooWide`], with the term that the PMU does not have or that does not fit.
    pub fn attributes<'t>(&self, terms: impl IntoIterator<Item = (&'t str, u64)>) -> Result<Attributes, PmuError> {
        let mut attributes = Attributes::default();
        for (term, value) in terms {
            let Some(format) = self.format(term) else {
                let known = self.terms().collect::<Vec<_>>().join(" ");
                return Err(PmuError::NoTerm { pmu: self.name.clone(), term: term.to_owned(), value, known });
            };
            attributes = format.set(attributes, value).ok_or_else(|| PmuError::TooWide {
                pmu: self.name.clone(),
                term: term.to_owned(),
                value,
                format: format.to_string(),
            })?;
        }
        Ok(attributes)
    }
}

/// Reads terms as perf writes them: `event=0x4,umask=0x3,edge`.
pub fn parse_terms(text: &str) -> Option<Vec<(String, u64)>> {
    let term = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, "1"));
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let value = match value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => value.parse(),
        };
        Some((name.to_owned(), value.ok()?)).filter(|_| is_name)
    };
    text.trim_end().split(',').map(term).collect()
}

/// The events of a folder's files: `NAME`, and beside it `NAME.scale` and `NAME.unit`.
fn named_events(files: &[(String, String)]) -> Result<Vec<NamedEvent>, (String, String)> {
    let beside = |name: &str, what: &str| {
        let file = format!("{name}.{what}");
        files.iter().find(|(other, _)| *other == file).map(|(_, text)| text.trim())
    };
    let is_beside = |file: &str| [".scale", ".unit", ".snapshot", ".per-pkg"].iter().any(|end| file.ends_with(end));
    let mut events = Vec::new();
    for (name, text) in files.iter().filter(|(file, _)| !is_beside(file)) {
        let terms = parse_terms(text).ok_or_else(|| (name.clone(), format!("it reads {:?}", text.trim_end())))?;
        let scale = match beside(name, "scale") {
            Some(text) => {
                let scale = text.parse::<f64>().ok().filter(|scale| scale.is_finite() && *scale > 0.0);
                Some(scale.ok_or_else(|| (format!("{name}.scale"), format!("it reads {text:?}")))?)
            }
            None => None,
        };
        let unit = beside(name, "unit").map(str::to_owned);
        events.push(NamedEvent { name: name.clone(), terms, scale, unit });
    }
    Ok(events)
}

/// Names and texts of a folder's files, by name.
fn files(folder: &Path, name: &str) -> io::Result<Vec<(String, String)>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder.join(name))?.take(MOST_FILES) {
        paths.push(entry?.path());
    }
    paths.sort_unstable();
    let named = paths.iter().filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), path)));
    named.map(|(name, path)| Ok((name, text(path)?))).collect()
}

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// perf's own syntax: names with values in either base, and a name alone is 1.
    #[test]
    fn terms_have_names_and_values() {
        let terms = |text: &str| {
            parse_terms(text)
                .map(|terms| terms.iter().map(|(name, value)| format!("{name}:{value}")).collect::<Vec<_>>())
        };
        assert_eq!(terms("event=0x4,umask=3,edge\n").unwrap(), ["event:4", "umask:3", "edge:1"]);
        assert_eq!(terms("event=0XfF").unwrap(), ["event:255"]);
        for text in ["", "=1", "event=", "event=0x", "event=4,", "a-b=1", "event=-1", "event=0x10000000000000000"] {
            assert_eq!(terms(text), None, "{text:?}");
        }
    }

    /// `NAME.scale` and `NAME.unit` stand beside an event; what cannot be one names its file.
    #[test]
    fn events_of_a_driver_have_scales_and_units() {
        let own = |files: &[(&str, &str)]| {
            let files: Vec<_> = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
            named_events(&files)
        };
        let events = own(&[
            ("a", "event=0x1\n"),
            ("a.scale", "6.5e-5\n"),
            ("a.unit", "MiB\n"),
            ("a.snapshot", "1"),
            ("a.per-pkg", "1"),
            ("b", "event=0x2"),
        ])
        .unwrap();
        let found: Vec<_> =
            events.iter().map(|event| (event.name.as_str(), event.scale, event.unit.as_deref())).collect();
        assert_eq!(found, [("a", Some(6.5e-5), Some("MiB")), ("b", None, None)]);
        assert_eq!(events[1].terms, [("event".to_owned(), 2)]);
        for (scale, is_scale) in [("1", true), ("0", false), ("-1", false), ("inf", false), ("x", false)] {
            let outcome = own(&[("a", "event=1"), ("a.scale", scale)]);
            assert_eq!(outcome.is_ok(), is_scale, "{scale}");
            assert!(outcome.err().is_none_or(|(file, why)| file == "a.scale" && why == format!("it reads {scale:?}")));
        }
        assert_eq!(own(&[("a", "event=x\n")]).unwrap_err(), ("a".to_owned(), "it reads \"event=x\"".to_owned()));
    }

    #[test]
    fn only_the_uncores_drivers_are_the_uncores() {
        let names = ["uncore", "uncore_imc_0", "uncores", "cpu", "power", "my_uncore_x"];
        assert_eq!(names.map(is_uncore), [true, true, false, false, false, false]);
    }
}
