//! The fields of a line, as they are written.

use std::collections::BTreeMap;

use pericore_metrics::Concern;
use serde::Serialize;

use super::header::{Counted, Header, Place, Source};
use super::{Ending, FORMAT};
use crate::selection::Asked;
use crate::session::{Count, Doubt, Length, Sample, Withdrawn};

/// A text that upsets no terminal.
fn plain(text: &str) -> String {
    text.replace(char::is_control, " ")
}

fn hex(value: u64) -> String {
    format!("{value:#x}")
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct HeaderLine {
    pericore_recording: u64,
    pericore: String,
    title: String,
    emulated: Option<String>,
    started: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    family: String,
    event_files: Vec<String>,
    truth: bool,
    selection: Vec<AskedItem>,
    events: Vec<CountedItem>,
    instances: Vec<PlaceItem>,
    counts: Vec<(usize, usize)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads_per_core: Option<u16>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum AskedItem {
    Events(String),
    Metrics(String),
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct CountedItem {
    label: String,
    unit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    control: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    filters: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    companion: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free_running: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<u8>,
}

#[derive(Serialize)]
struct PlaceItem {
    socket: u16,
    unit: String,
    number: u16,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct SampleLine<'a> {
    end: f64,
    seconds: f64,
    tsc_cycles: u64,
    #[serde(skip_serializing_if = "is_false")]
    stood: bool,
    #[serde(skip_serializing_if = "is_nothing")]
    paused: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sockets: Vec<SocketItem>,
    /// None in the details of a sample, which are all but its counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<Vec<Option<u64>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    validity: Vec<ValidityItem<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    withdrawn: Option<WithdrawnItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truth: Option<Vec<Option<u64>>>,
}

/// The length of a sample in a socket.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct SocketItem {
    socket: u16,
    seconds: f64,
    tsc_cycles: u64,
}

/// What is to be said of a number that is not plainly measured.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ValidityItem<'a> {
    /// None in the details of a count, which stand beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    concerns: Vec<ConcernItem>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    slices: &'a [(f64, u64)],
    #[serde(skip_serializing_if = "Option::is_none")]
    standard_error: Option<f64>,
}

#[derive(Default, Serialize)]
struct ConcernItem {
    grade: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    duty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    which: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// What is by now in doubt of samples before.
#[derive(Serialize)]
struct WithdrawnItem {
    samples: u64,
    doubts: Vec<DoubtItem>,
}

#[derive(Serialize)]
struct DoubtItem {
    count: usize,
    why: String,
}

#[derive(Serialize)]
pub(super) struct EndLine {
    ended: &'static str,
    samples: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_nothing(seconds: &f64) -> bool {
    *seconds <= 0.0
}

impl HeaderLine {
    pub(super) fn of(header: &Header) -> Self {
        let Header { about, family, asked, events, instances, counts, threads_per_core } = header;
        Self {
            pericore_recording: FORMAT,
            pericore: plain(&about.pericore),
            title: plain(&about.title),
            emulated: about.emulated.as_deref().map(plain),
            started: about.started.as_deref().map(plain),
            host: about.host.as_deref().map(plain),
            family: plain(family),
            event_files: about.event_files.iter().map(|file| plain(file)).collect(),
            truth: about.truth,
            selection: asked.iter().map(AskedItem::of).collect(),
            events: events.iter().map(CountedItem::of).collect(),
            instances: instances.iter().map(PlaceItem::of).collect(),
            counts: counts.clone(),
            threads_per_core: *threads_per_core,
        }
    }
}

impl AskedItem {
    fn of(asked: &Asked) -> Self {
        match asked {
            Asked::Events(text) => Self::Events(plain(text)),
            Asked::Metrics(text) => Self::Metrics(plain(text)),
        }
    }
}

impl CountedItem {
    fn of(event: &Counted) -> Self {
        let mut item = Self {
            label: plain(&event.label),
            unit: plain(&event.unit),
            instance: event.instance,
            control: None,
            filters: BTreeMap::new(),
            companion: None,
            fixed: None,
            free_running: None,
            member: None,
        };
        match &event.source {
            Source::Programmed { control, filters, companion } => {
                item.control = Some(hex(*control));
                item.filters = filters.iter().map(|(field, value)| (plain(field), hex(*value))).collect();
                item.companion = *companion;
            }
            Source::Fixed { register } => item.fixed = Some(register.clone()),
            Source::FreeRunning { register, member } => {
                item.free_running = Some(register.clone());
                item.member = Some(*member);
            }
        }
        item
    }
}

impl EndLine {
    /// None for a recording that was cut: it has no such line.
    pub(super) fn of(ending: &Ending, samples: u64) -> Option<Self> {
        let (ended, signal, why) = match ending {
            Ending::Whole => ("whole", None, None),
            Ending::Interrupted { signal } => ("interrupted", Some(*signal), None),
            Ending::Failed { why } => ("failed", None, Some(plain(why))),
            Ending::Cut { .. } => return None,
        };
        Some(Self { ended, samples, signal, why })
    }
}

impl PlaceItem {
    fn of(place: &Place) -> Self {
        Self { socket: place.socket, unit: place.unit.clone(), number: place.number }
    }
}

impl<'a> SampleLine<'a> {
    pub(super) fn of(end: f64, sample: &'a Sample, truth: Option<&Sample>) -> Self {
        let counts = |sample: &Sample| sample.counts.iter().map(|count| count.count).collect();
        let validity = sample.counts.iter().enumerate();
        let validity = validity.filter_map(|(at, count)| ValidityItem::of(Some(at), count)).collect();
        Self { counts: Some(counts(sample)), validity, truth: truth.map(counts), ..Self::without_counts(end, sample) }
    }

    pub(super) fn without_counts(end: f64, sample: &Sample) -> Self {
        Self {
            end,
            seconds: sample.seconds,
            tsc_cycles: sample.tsc_cycles,
            stood: sample.stood_before_reading,
            paused: sample.paused,
            sockets: sample.sockets.iter().map(|(&socket, length)| SocketItem::of(socket, *length)).collect(),
            counts: None,
            validity: Vec::new(),
            withdrawn: sample.withdrawn.as_ref().map(|withdrawn| WithdrawnItem::of(withdrawn, sample)),
            truth: None,
        }
    }
}

impl WithdrawnItem {
    fn of(withdrawn: &Withdrawn, sample: &Sample) -> Self {
        let item = |doubt: &Doubt| {
            let place = (doubt.event, doubt.socket, doubt.instance);
            let mut counts = sample.counts.iter();
            let count = counts.position(|count| (count.event, count.socket, count.instance) == place)?;
            Some(DoubtItem { count, why: plain(&doubt.why) })
        };
        Self { samples: withdrawn.samples, doubts: withdrawn.doubts.iter().filter_map(item).collect() }
    }
}

impl SocketItem {
    const fn of(socket: u16, Length { seconds, tsc_cycles }: Length) -> Self {
        Self { socket, seconds, tsc_cycles }
    }
}

impl<'a> ValidityItem<'a> {
    pub(super) fn of(at: Option<usize>, count: &'a Count) -> Option<Self> {
        let concerns: Vec<ConcernItem> = count.validity.reasons().iter().map(ConcernItem::of).collect();
        let slices = count.slices.parts();
        let is_plain = concerns.is_empty() && slices.is_empty() && count.standard_error.is_none();
        (!is_plain).then_some(Self { count: at, concerns, slices, standard_error: count.standard_error })
    }
}

impl ConcernItem {
    fn of(concern: &Concern) -> Self {
        let item = Self { grade: concern.grade().name(), ..Self::default() };
        match concern {
            Concern::Scaled { duty } => Self { duty: Some(*duty), ..item },
            Concern::Suspect { reason } => Self { why: Some(plain(reason)), ..item },
            Concern::WrappedUnknown { which } => Self { which: Some(plain(which)), ..item },
            Concern::NotDefined { why } => Self { why: Some(plain(why)), ..item },
            Concern::Unreadable { which, why } => Self { which: Some(plain(which)), why: Some(plain(why)), ..item },
        }
    }
}
