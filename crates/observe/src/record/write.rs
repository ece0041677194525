//! Writing: each line in one write.

use std::io::{self, Write};

use serde::Serialize;

use super::fields::{EndLine, HeaderLine, SampleLine, ValidityItem};
use super::header::Header;
use super::{Ending, LONGEST_LINE};
use crate::session::{Count, Sample};

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
        EndLine::of(ending, self.samples).map_or(Ok(()), |line| self.line(&line))
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

/// The first line of a recording, for those that keep it in a form of their own.
///
/// # Errors
/// None that memory does not make.
pub fn header_text(header: &Header) -> io::Result<String> {
    Ok(serde_json::to_string(&HeaderLine::of(header))?)
}

/// A sample's line without its counts and what is to be said of them; `end` is in seconds from the start.
///
/// # Errors
/// None that memory does not make.
pub fn sample_text(end: f64, sample: &Sample) -> io::Result<String> {
    Ok(serde_json::to_string(&SampleLine::without_counts(end, sample))?)
}

/// What a sample's line says of a count, without its position; nothing if it is plainly measured.
///
/// # Errors
/// None that memory does not make.
pub fn count_text(count: &Count) -> io::Result<Option<String>> {
    Ok(ValidityItem::of(None, count).map(|item| serde_json::to_string(&item)).transpose()?)
}

/// The last line after so many samples; nothing if the recording was cut.
///
/// # Errors
/// None that memory does not make.
pub fn ending_text(ending: &Ending, samples: u64) -> io::Result<Option<String>> {
    Ok(EndLine::of(ending, samples).map(|line| serde_json::to_string(&line)).transpose()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    use pericore_metrics::Validity;

    use crate::session::{Length, Slices};

    /// What stands in columns of a recording's other form (docs/recording.md), as it stands in the lines.
    #[test]
    fn parts_of_lines_are_written_by_themselves() {
        let mut slices = Slices::default();
        slices.push(0.5, 3);
        let (event, socket, instance, validity) = (0, 0, 1, Validity::MEASURED);
        let plain = Count {
            event,
            socket,
            instance,
            count: Some(7),
            validity,
            slices: Slices::default(),
            standard_error: None,
        };
        assert_eq!(count_text(&plain).unwrap(), None);
        let scaled = Count { validity: Validity::scaled(0.5), slices, standard_error: Some(1.5), ..plain.clone() };
        assert_eq!(
            count_text(&scaled).unwrap().unwrap(),
            r#"{"concerns":[{"grade":"scaled","duty":0.5}],"slices":[[0.5,3]],"standard-error":1.5}"#
        );
        let doubtful = Count { validity: Validity::suspect("a\nb"), ..plain.clone() };
        assert_eq!(count_text(&doubtful).unwrap().unwrap(), r#"{"concerns":[{"grade":"suspect","why":"a b"}]}"#);
        let only_error = Count { standard_error: Some(2.0), ..plain.clone() };
        assert_eq!(count_text(&only_error).unwrap().unwrap(), r#"{"concerns":[],"standard-error":2.0}"#);
        let sample = Sample { seconds: 1.0, tsc_cycles: 9, counts: vec![plain], ..Sample::default() };
        assert_eq!(sample_text(2.5, &sample).unwrap(), r#"{"end":2.5,"seconds":1.0,"tsc-cycles":9}"#);
        let length = Length { seconds: 0.75, tsc_cycles: 8 };
        let sockets = [(1, length)].into();
        let odd = Sample { stood_before_reading: true, paused: 0.25, sockets, ..sample };
        assert_eq!(
            sample_text(2.5, &odd).unwrap(),
            concat!(
                r#"{"end":2.5,"seconds":1.0,"tsc-cycles":9,"stood":true,"paused":0.25,"#,
                r#""sockets":[{"socket":1,"seconds":0.75,"tsc-cycles":8}]}"#
            )
        );
        for (ending, text) in [
            (Ending::Whole, Some(r#"{"ended":"whole","samples":4}"#)),
            (Ending::Interrupted { signal: 15 }, Some(r#"{"ended":"interrupted","samples":4,"signal":15}"#)),
            (Ending::Failed { why: "x\ty".to_owned() }, Some(r#"{"ended":"failed","samples":4,"why":"x y"}"#)),
            (Ending::Cut { half: Some(3) }, None),
        ] {
            assert_eq!(ending_text(&ending, 4).unwrap().as_deref(), text);
        }
    }
}
