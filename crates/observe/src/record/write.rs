//! Writing: each line in one write.

use std::collections::BTreeMap;
use std::io::{self, Write};

use pericore_metrics::Concern;
use serde::Serialize;

use super::header::{Counted, Header, Place, Source};
use super::{Ending, FORMAT, LONGEST_LINE};
use crate::selection::Asked;
use crate::session::{Count, Doubt, Length, Sample, Withdrawn};

/// Writes a recording.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    /// Event, socket and instance of each number of a sample.
    order: Vec<(usize, u16, u16)>,
    samples: u64,
    bytes: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the first line.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn begin(out: W, header: &Header) -> io::Result<Self> {
        let place = |&(event, instance): &(usize, usize)| {
            let place = &header.instances[instance];
            (event, place.socket, place.number)
        };
        let order = header.counts.iter().map(place).collect();
        let mut writer = Self { out, order, samples: 0, bytes: 0 };
        writer.line(&HeaderLine::of(header))?;
        Ok(writer)
    }

    /// Writes a sample that ended so many seconds after the start; `truth` is the same with the model's counts.
    ///
    /// # Errors
    /// The output takes no more, or the sample is not of the header's plan.
    pub fn sample(&mut self, end: f64, sample: &Sample, truth: Option<&Sample>) -> io::Result<()> {
        let order = sample.counts.iter().map(|count| (count.event, count.socket, count.instance));
        if !order.eq(self.order.iter().copied()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a sample of another plan"));
        }
        self.line(&SampleLine::of(end, sample, truth))?;
        self.samples += 1;
        Ok(())
    }

    /// Writes the last line. A recording that was [cut](Ending::Cut) has none.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn end(&mut self, ending: &Ending) -> io::Result<()> {
        let (ended, signal, why) = match ending {
            Ending::Whole => ("whole", None, None),
            Ending::Interrupted { signal } => ("interrupted", Some(*signal), None),
            Ending::Failed { why } => ("failed", None, Some(plain(why))),
            Ending::Cut { .. } => return Ok(()),
        };
        self.line(&EndLine { ended, samples: self.samples, signal, why })
    }

    /// Samples written.
    pub const fn samples(&self) -> u64 {
        self.samples
    }

    /// Bytes of the whole lines written: what is behind them is half a line.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What it writes to.
    pub const fn output(&self) -> &W {
        &self.out
    }

    /// The same, to be changed.
    pub const fn output_mut(&mut self) -> &mut W {
        &mut self.out
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        if text.len() > LONGEST_LINE {
            let why = "a sample of more than 64 MB: name fewer events, or a shorter interval";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        self.out.write_all(&text)?;
        self.bytes += text.len() as u64;
        Ok(())
    }
}

/// A text that upsets no terminal.
fn plain(text: &str) -> String {
    text.replace(char::is_control, " ")
}

fn hex(value: u64) -> String {
    format!("{value:#x}")
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct HeaderLine {
    pericore_recording: u64,
    pericore: String,
    title: String,
    emulated: Option<String>,
    started: Option<String>,
    family: String,
    event_files: Vec<String>,
    truth: bool,
    selection: Vec<AskedItem>,
    events: Vec<CountedItem>,
    instances: Vec<PlaceItem>,
    counts: Vec<(usize, usize)>,
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
struct SampleLine<'a> {
    end: f64,
    seconds: f64,
    tsc_cycles: u64,
    #[serde(skip_serializing_if = "is_false")]
    stood: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sockets: Vec<SocketItem>,
    counts: Vec<Option<u64>>,
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
struct ValidityItem<'a> {
    count: usize,
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
struct EndLine {
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

impl HeaderLine {
    fn of(header: &Header) -> Self {
        let Header { about, family, asked, events, instances, counts } = header;
        Self {
            pericore_recording: FORMAT,
            pericore: plain(&about.pericore),
            title: plain(&about.title),
            emulated: about.emulated.as_deref().map(plain),
            started: about.started.as_deref().map(plain),
            family: plain(family),
            event_files: about.event_files.iter().map(|file| plain(file)).collect(),
            truth: about.truth,
            selection: asked.iter().map(AskedItem::of).collect(),
            events: events.iter().map(CountedItem::of).collect(),
            instances: instances.iter().map(PlaceItem::of).collect(),
            counts: counts.clone(),
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

impl PlaceItem {
    fn of(place: &Place) -> Self {
        Self { socket: place.socket, unit: place.unit.clone(), number: place.number }
    }
}

impl<'a> SampleLine<'a> {
    fn of(end: f64, sample: &'a Sample, truth: Option<&Sample>) -> Self {
        let counts = |sample: &Sample| sample.counts.iter().map(|count| count.count).collect();
        Self {
            end,
            seconds: sample.seconds,
            tsc_cycles: sample.tsc_cycles,
            stood: sample.stood_before_reading,
            sockets: sample.sockets.iter().map(|(&socket, length)| SocketItem::of(socket, *length)).collect(),
            counts: counts(sample),
            validity: sample.counts.iter().enumerate().filter_map(|(at, count)| ValidityItem::of(at, count)).collect(),
            withdrawn: sample.withdrawn.as_ref().map(|withdrawn| WithdrawnItem::of(withdrawn, sample)),
            truth: truth.map(counts),
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
    fn of(at: usize, count: &'a Count) -> Option<Self> {
        let concerns: Vec<ConcernItem> = count.validity.concerns().iter().map(ConcernItem::of).collect();
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
