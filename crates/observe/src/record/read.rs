//! Reading, line by line, without trust in the file.

use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, Read as _};

use pericore_metrics::{Grade, Validity};
use serde_json::Value;

use super::header::{About, Counted, Header, Place, Source};
use super::spot::Spot;
use super::{Ending, FORMAT, KEY, LARGEST_ERROR, LONGEST_LINE, LONGEST_SECONDS, RecordError};
use crate::selection::Asked;
use crate::session::{Count, Sample, Slices};

/// Reads a recording: its header at once, then one sample after the other, as an iterator. After an error there are no more.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    buffer: Vec<u8>,
    line: usize,
    header: Header,
    samples: u64,
    end: f64,
    ending: Option<Ending>,
    failed: bool,
}

/// A sample as it was recorded; its counts refer to the header's events.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Seconds from the start of the measurement to the end of the sample.
    pub end: f64,
    /// The counts.
    pub sample: Sample,
    /// The same with the model's counts, if they were recorded.
    pub truth: Option<Sample>,
}

/// What a line turned out to be.
enum Line {
    Whole(Value),
    Half,
    None,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line.
    ///
    /// # Errors
    /// It is none of a recording, or one of a version that is not known.
    pub fn open(input: R) -> Result<Self, RecordError> {
        let header = Header {
            about: About::default(),
            family: String::new(),
            asked: Vec::new(),
            events: Vec::new(),
            instances: Vec::new(),
            counts: Vec::new(),
        };
        let buffer = Vec::new();
        let mut reader = Self { input, buffer, line: 0, header, samples: 0, end: 0.0, ending: None, failed: false };
        let first = match reader.next_line() {
            Ok(Line::Whole(first)) => first,
            Ok(Line::Half | Line::None) => return Err(reader.beginning()),
            Err(RecordError::Damaged { what, .. }) => return Err(RecordError::Foreign { what }),
            Err(error) => return Err(error),
        };
        match first.get(KEY) {
            None => return Err(RecordError::Foreign { what: format!("it has no field {KEY:?}") }),
            Some(version) if version.as_u64() != Some(FORMAT) => {
                let found: String = version.to_string().chars().take(20).collect();
                return Err(RecordError::Version { found });
            }
            Some(_) => {}
        }
        reader.header = header_of(&Spot::whole(1, &first))?;
        Ok(reader)
    }

    /// What was measured.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// How it ended; nothing before the last sample was taken.
    pub const fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Why there is no first line.
    fn beginning(&self) -> RecordError {
        // What begins as a recording was cut; a text of another kind is none.
        let begins: &[u8] = b"{\"pericore-recording\":";
        let length = begins.len().min(self.buffer.len());
        if self.buffer[..length] == begins[..length] {
            return RecordError::Nothing;
        }
        RecordError::Foreign { what: "it does not begin as one".to_owned() }
    }

    fn next_line(&mut self) -> Result<Line, RecordError> {
        self.buffer.clear();
        self.line += 1;
        let line = self.line;
        let limit = LONGEST_LINE as u64 + 1;
        let read = (&mut self.input).take(limit).read_until(b'\n', &mut self.buffer);
        read.map_err(|error| RecordError::Io { line, message: error.to_string() })?;
        let damaged = |what: String| RecordError::Damaged { line, field: None, what };
        if self.buffer.is_empty() {
            return Ok(Line::None);
        }
        if self.buffer.len() > LONGEST_LINE {
            return Err(damaged(format!("it is longer than {} MB", LONGEST_LINE >> 20)));
        }
        if self.buffer.last() != Some(&b'\n') {
            return Ok(Line::Half);
        }
        let parsed = serde_json::from_slice(&self.buffer);
        parsed.map(Line::Whole).map_err(|error| damaged(format!("it is no JSON (column {})", error.column())))
    }

    fn next_sample(&mut self) -> Result<Option<Recorded>, RecordError> {
        let value = match self.next_line()? {
            Line::Whole(value) => value,
            half => {
                let half = matches!(half, Line::Half).then_some(self.line);
                self.ending = Some(Ending::Cut { half });
                return Ok(None);
            }
        };
        let spot = Spot::whole(self.line, &value);
        if spot.optional("ended")?.is_none() {
            let recorded = self.sample_of(&spot)?;
            self.samples += 1;
            self.end = recorded.end;
            return Ok(Some(recorded));
        }
        let ending = self.ending_of(&spot)?;
        if !matches!(self.next_line()?, Line::None) {
            let what = "there is a line behind the last one".to_owned();
            return Err(RecordError::Damaged { line: self.line, field: None, what });
        }
        self.ending = Some(ending);
        Ok(None)
    }

    fn sample_of(&self, spot: &Spot<'_>) -> Result<Recorded, RecordError> {
        let end = spot.field("end")?;
        let ended = end.number(LONGEST_SECONDS)?;
        if ended < self.end {
            return Err(end.refuse(format!("it lies before the end of the sample before, {}", self.end)));
        }
        let mut sample = Sample {
            seconds: spot.field("seconds")?.number(LONGEST_SECONDS)?,
            tsc_cycles: spot.field("tsc-cycles")?.whole_number()?,
            stood_before_reading: spot.optional("stood")?.map_or(Ok(false), |stood| stood.flag())?,
            counts: Vec::with_capacity(self.header.counts.len()),
        };
        for (count, &(event, instance)) in self.numbers(spot, "counts")?.into_iter().zip(&self.header.counts) {
            let place = &self.header.instances[instance];
            sample.counts.push(Count {
                event,
                socket: place.socket,
                instance: place.number,
                count,
                validity: Validity::MEASURED,
                slices: Slices::default(),
                standard_error: None,
            });
        }
        if let Some(list) = spot.optional("validity")? {
            let mut last = None;
            for item in list.items()? {
                let which = item.field("count")?;
                let at: usize = which.whole_number()?;
                if last.is_some_and(|last| at <= last) {
                    return Err(which.refuse("it does not come after the one before"));
                }
                last = Some(at);
                let count = sample.counts.get_mut(at).ok_or_else(|| which.refuse("there is no such count"))?;
                qualify(count, &item)?;
            }
        }
        for (at, count) in sample.counts.iter().enumerate() {
            if count.count.is_none() && count.validity.grade().has_number() {
                let what = format!("counts[{at}] is null, and no reason for it stands in \"validity\"");
                return Err(spot.refuse(what));
            }
        }
        let truth = self.header.about.truth.then(|| self.numbers(spot, "truth")).transpose()?;
        let truth = truth.map(|truth| sample.with_truth(truth));
        Ok(Recorded { end: ended, sample, truth })
    }

    /// A list of as many counts as the header announces.
    fn numbers(&self, spot: &Spot<'_>, name: &str) -> Result<Vec<Option<u64>>, RecordError> {
        let list = spot.field(name)?;
        let items = list.items()?;
        let (found, wanted) = (items.len(), self.header.counts.len());
        if found != wanted {
            return Err(list.refuse(format!("it has {found} numbers where the first line announces {wanted}")));
        }
        items.map(|item| item.count()).collect()
    }

    fn ending_of(&self, spot: &Spot<'_>) -> Result<Ending, RecordError> {
        let samples = spot.field("samples")?;
        let told: u64 = samples.whole_number()?;
        if told != self.samples {
            return Err(samples.refuse(format!("it says {told}, and there are {}", self.samples)));
        }
        let ended = spot.field("ended")?;
        Ok(match ended.text()? {
            "whole" => Ending::Whole,
            "interrupted" => Ending::Interrupted { signal: spot.field("signal")?.whole_number()? },
            "failed" => Ending::Failed { why: spot.field("why")?.text()?.to_owned() },
            other => return Err(ended.refuse(format!("{other:?} is none of whole, interrupted, failed"))),
        })
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Recorded, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.ending.is_some() {
            return None;
        }
        let next = self.next_sample();
        self.failed = next.is_err();
        next.transpose()
    }
}

/// What is to be said of a count that is not plainly measured.
fn qualify(count: &mut Count, item: &Spot<'_>) -> Result<(), RecordError> {
    let concerns = item.field("concerns")?;
    for concern in concerns.items()? {
        count.validity = std::mem::take(&mut count.validity).and(&concern_of(&concern)?);
    }
    if count.count.is_some() && !count.validity.grade().has_number() {
        return Err(concerns.refuse("there is a number that, by this, cannot be"));
    }
    if let Some(slices) = item.optional("slices")? {
        for slice in slices.items()? {
            let [seconds, counted] = slice.pair()?;
            count.slices.push(seconds.number(LONGEST_SECONDS)?, counted.whole_number()?);
        }
    }
    if let Some(error) = item.optional("standard-error")? {
        count.standard_error = Some(error.number(LARGEST_ERROR)?);
    }
    Ok(())
}

fn concern_of(spot: &Spot<'_>) -> Result<Validity, RecordError> {
    let grade = spot.field("grade")?;
    let name = grade.text()?;
    let is = |known: Grade| known.name() == name;
    let (which, why) = (|| spot.field("which")?.text(), || spot.field("why")?.text());
    if is(Grade::Scaled) {
        let duty = spot.field("duty")?;
        let share = duty.number(1.0)?;
        if share <= 0.0 || share >= 1.0 {
            return Err(duty.refuse("it does not lie between 0 and 1"));
        }
        return Ok(Validity::scaled(share));
    }
    if is(Grade::Suspect) {
        Ok(Validity::suspect(why()?))
    } else if is(Grade::WrappedUnknown) {
        Ok(Validity::wrapped_unknown(which()?))
    } else if is(Grade::NotDefined) {
        Ok(Validity::not_defined(why()?))
    } else if is(Grade::Unreadable) {
        Ok(Validity::unreadable(which()?, why()?))
    } else {
        Err(grade.refuse(format!("{name:?} is no grade that needs a word")))
    }
}

fn header_of(spot: &Spot<'_>) -> Result<Header, RecordError> {
    let text = |name: &str| Ok::<String, RecordError>(spot.field(name)?.text()?.to_owned());
    let optional = |name: &str| spot.optional(name)?.map(|found| found.text().map(str::to_owned)).transpose();
    let list = spot.field("event-files")?;
    let event_files = list.items()?.map(|file| file.text().map(str::to_owned)).collect::<Result<_, _>>()?;
    let about = About {
        pericore: text("pericore")?,
        title: text("title")?,
        emulated: optional("emulated")?,
        started: optional("started")?,
        event_files,
        truth: spot.field("truth")?.flag()?,
    };
    if about.emulated.is_some() && !about.title.starts_with("EMULATED") {
        return Err(spot.field("title")?.refuse("it does not begin with EMULATED, as that of a software machine"));
    }
    let list = spot.field("selection")?;
    let asked = list.items()?.map(|item| asked_of(&item)).collect::<Result<_, _>>()?;
    let list = spot.field("events")?;
    let events = list.items()?.map(|item| event_of(&item)).collect::<Result<Vec<_>, _>>()?;
    for item in list.items()? {
        if let Some(companion) = item.optional("companion")?
            && companion.whole_number::<usize>()? >= events.len()
        {
            return Err(companion.refuse("there is no such event"));
        }
    }
    let list = spot.field("instances")?;
    let mut seen = HashSet::new();
    let mut instances = Vec::new();
    for item in list.items()? {
        let place = Place {
            socket: item.field("socket")?.whole_number()?,
            unit: item.field("unit")?.text()?.to_owned(),
            number: item.field("number")?.whole_number()?,
        };
        if !seen.insert(place.clone()) {
            return Err(item.refuse("it is there twice"));
        }
        instances.push(place);
    }
    let list = spot.field("counts")?;
    let mut seen = HashSet::new();
    let mut counts: Vec<(usize, usize)> = Vec::new();
    for item in list.items()? {
        let [event, instance] = item.pair()?;
        let pair = (event.whole_number()?, instance.whole_number()?);
        let counted: &Counted = events.get(pair.0).ok_or_else(|| event.refuse("there is no such event"))?;
        let place: &Place = instances.get(pair.1).ok_or_else(|| instance.refuse("there is no such instance"))?;
        if counted.unit != place.unit || counted.instance.is_some_and(|only| only != place.number) {
            return Err(item.refuse("the event is not one of this instance"));
        }
        if !seen.insert(pair) {
            return Err(item.refuse("it is there twice"));
        }
        counts.push(pair);
    }
    Ok(Header { about, family: text("family")?, asked, events, instances, counts })
}

fn asked_of(spot: &Spot<'_>) -> Result<Asked, RecordError> {
    match (spot.optional("events")?, spot.optional("metrics")?) {
        (Some(events), None) => Ok(Asked::Events(events.text()?.to_owned())),
        (None, Some(metrics)) => Ok(Asked::Metrics(metrics.text()?.to_owned())),
        _ => Err(spot.refuse("it has neither \"events\" nor \"metrics\", or both")),
    }
}

fn event_of(spot: &Spot<'_>) -> Result<Counted, RecordError> {
    let source = match (spot.optional("control")?, spot.optional("fixed")?, spot.optional("free-running")?) {
        (Some(control), None, None) => {
            let mut filters = BTreeMap::new();
            if let Some(object) = spot.optional("filters")? {
                for (name, value) in object.fields()? {
                    filters.insert(name.to_owned(), value.hex()?);
                }
            }
            let companion = spot.optional("companion")?.map(|index| index.whole_number()).transpose()?;
            Source::Programmed { control: control.hex()?, filters, companion }
        }
        (None, Some(register), None) => Source::Fixed { register: register.text()?.to_owned() },
        (None, None, Some(register)) => {
            Source::FreeRunning { register: register.text()?.to_owned(), member: spot.field("member")?.whole_number()? }
        }
        _ => return Err(spot.refuse("it has none of \"control\", \"fixed\" and \"free-running\", or several")),
    };
    Ok(Counted {
        label: spot.field("label")?.text()?.to_owned(),
        unit: spot.field("unit")?.text()?.to_owned(),
        instance: spot.optional("instance")?.map(|number| number.whole_number()).transpose()?,
        source,
    })
}
