//! Reading, line by line, without trust in the file.

use std::collections::{BTreeMap, VecDeque};
use std::io::BufRead;

use pericore_metrics::{Grade, Validity};

use super::first_line::header_of;
use super::header::Header;
use super::lines::{Line, Lines};
use super::spot::Spot;
use super::{Ending, FORMAT, KEY, LARGEST_ERROR, LONGEST_SECONDS, RecordError};
use crate::session::{Count, Doubt, Length, Sample, Slices, Withdrawn};

/// By this part of the time, and of a second at least, lengths of samples may be off together.
const ROUNDING: f64 = 1e-6;

/// Samples that are read ahead: a later one may withdraw what those before it say.
pub const AHEAD: usize = 20;

/// Reads a recording: its header at once, then one sample after the other, as an iterator. After an error there are no more.
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    header: Header,
    ahead: VecDeque<Recorded>,
    samples: u64,
    end: f64,
    /// Seconds of all samples read.
    measured: f64,
    ending: Option<Ending>,
    failed: Option<RecordError>,
    is_over: bool,
    /// Samples are as they were written, whatever a later one withdraws.
    is_as_written: bool,
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

impl<R: BufRead> Reader<R> {
    /// Reads the first line.
    ///
    /// # Errors
    /// It is none of a recording, or one of a version that is not known.
    pub fn open(input: R) -> Result<Self, RecordError> {
        let mut lines = Lines::new(input);
        let first = match lines.next() {
            Ok(Line::Whole(first)) => first,
            Ok(Line::Half | Line::None) => return Err(beginning(lines.text())),
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
        let header = header_of(&Spot::whole(1, &first))?;
        let ahead = VecDeque::new();
        let (end, measured) = (0.0, 0.0);
        let (is_over, is_as_written) = (false, false);
        Ok(Self { lines, header, ahead, samples: 0, end, measured, ending: None, failed: None, is_over, is_as_written })
    }

    /// Samples are left as they were written, to be written again: what a later one withdraws stands in that one alone.
    #[must_use]
    pub fn as_written(mut self) -> Self {
        self.is_as_written = true;
        self
    }

    /// What was measured.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// How it ended; nothing before the last sample was taken.
    pub const fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    fn next_sample(&mut self) -> Result<Option<Recorded>, RecordError> {
        let value = match self.lines.next()? {
            Line::Whole(value) => value,
            half => {
                let half = matches!(half, Line::Half).then_some(self.lines.number());
                self.ending = Some(Ending::Cut { half });
                return Ok(None);
            }
        };
        let spot = Spot::whole(self.lines.number(), &value);
        if spot.optional("ended")?.is_none() {
            let recorded = self.sample_of(&spot)?;
            self.samples += 1;
            self.end = recorded.end;
            self.measured += recorded.sample.seconds;
            return Ok(Some(recorded));
        }
        let ending = self.ending_of(&spot)?;
        if !matches!(self.lines.next()?, Line::None) {
            let what = "there is a line behind the last one".to_owned();
            return Err(RecordError::Damaged { line: self.lines.number(), field: None, what });
        }
        self.ending = Some(ending);
        Ok(None)
    }

    /// Takes a sample, and marks those that it withdraws.
    fn read_ahead(&mut self, recorded: Recorded) {
        if let Some(withdrawn) = recorded.sample.withdrawn.as_ref().filter(|_| !self.is_as_written) {
            let range = withdrawn.among(self.ahead.len());
            self.ahead.range_mut(range).for_each(|before| {
                before.sample.withdraw(withdrawn);
            });
        }
        self.ahead.push_back(recorded);
    }

    fn sample_of(&self, spot: &Spot<'_>) -> Result<Recorded, RecordError> {
        let end = spot.field("end")?;
        let ended = end.number(LONGEST_SECONDS)?;
        if ended < self.end {
            return Err(end.refuse(format!("it lies before the end of the sample before, {}", self.end)));
        }
        let length = spot.field("seconds")?;
        let seconds = length.number(LONGEST_SECONDS)?;
        // Samples do not overlap, so that all together are no longer than the time until then; sums of times are rounded.
        let together = self.measured + seconds;
        if together > ended + ROUNDING * ended.max(1.0) {
            return Err(
                length.refuse(format!("the samples until here are longer than the time until their end, {ended}"))
            );
        }
        let optional = |name| spot.optional(name);
        let mut sample = Sample {
            seconds,
            tsc_cycles: spot.field("tsc-cycles")?.whole_number()?,
            stood_before_reading: optional("stood")?.map_or(Ok(false), |stood| stood.flag())?,
            paused: optional("paused")?.map_or(Ok(0.0), |paused| paused.number(LONGEST_SECONDS))?,
            sockets: optional("sockets")?.map_or_else(|| Ok(BTreeMap::new()), |list| self.lengths_of(&list))?,
            counts: Vec::with_capacity(self.header.counts.len()),
            ..Sample::default()
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
        sample.withdrawn = spot.optional("withdrawn")?.map(|item| withdrawn_of(&item, &sample.counts)).transpose()?;
        let truth = self.header.about.truth.then(|| self.numbers(spot, "truth")).transpose()?;
        let truth = truth.map(|truth| sample.with_truth(truth));
        Ok(Recorded { end: ended, sample, truth })
    }

    /// The lengths of sockets, which the header knows.
    fn lengths_of(&self, list: &Spot<'_>) -> Result<BTreeMap<u16, Length>, RecordError> {
        let mut lengths = BTreeMap::new();
        for item in list.items()? {
            let which = item.field("socket")?;
            let socket: u16 = which.whole_number()?;
            if self.header.instances.iter().all(|place| place.socket != socket) {
                return Err(which.refuse("nothing was counted in this socket"));
            }
            let seconds = item.field("seconds")?.number(LONGEST_SECONDS)?;
            let tsc_cycles = item.field("tsc-cycles")?.whole_number()?;
            if lengths.insert(socket, Length { seconds, tsc_cycles }).is_some() {
                return Err(which.refuse("it is there twice"));
            }
        }
        Ok(lengths)
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
        while !self.is_over && self.ahead.len() <= AHEAD {
            match self.next_sample() {
                Ok(Some(recorded)) => self.read_ahead(recorded),
                Ok(None) => self.is_over = true,
                Err(error) => (self.is_over, self.failed) = (true, Some(error)),
            }
        }
        self.ahead.pop_front().map(Ok).or_else(|| self.failed.take().map(Err))
    }
}

/// Why there is no first line: what begins as a recording was cut, and a text of another kind is none.
fn beginning(text: &[u8]) -> RecordError {
    let begins = format!("{{\"{KEY}\":").into_bytes();
    let length = begins.len().min(text.len());
    if text[..length] == begins[..length] {
        return RecordError::Nothing;
    }
    RecordError::Foreign { what: "it does not begin as one".to_owned() }
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

/// What a sample says of those before it.
fn withdrawn_of(list: &Spot<'_>, counts: &[Count]) -> Result<Withdrawn, RecordError> {
    let mut doubts = Vec::new();
    for item in list.field("doubts")?.items()? {
        let which = item.field("count")?;
        let at: usize = which.whole_number()?;
        let count = counts.get(at).ok_or_else(|| which.refuse("there is no such count"))?;
        let why = item.field("why")?.text()?.to_owned();
        doubts.push(Doubt { event: count.event, socket: count.socket, instance: count.instance, why });
    }
    Ok(Withdrawn { samples: list.field("samples")?.whole_number()?, doubts })
}

fn concern_of(item: &Spot<'_>) -> Result<Validity, RecordError> {
    let grade = item.field("grade")?;
    let name = grade.text()?;
    let is = |known: Grade| known.name() == name;
    let (which, why) = (|| item.field("which")?.text(), || item.field("why")?.text());
    if is(Grade::Scaled) {
        let duty = item.field("duty")?;
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
