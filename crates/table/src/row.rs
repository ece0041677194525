//! A row: a count of a sample, and all that belongs to it.

use bytes::Bytes;
use parquet::data_type::ByteArray;
use pericore_observe::record::Header;
use pericore_observe::session::Count;

use crate::held::Settled;

/// What is the same in all samples of a recording.
#[derive(Debug)]
pub struct Constants {
    pub host: Option<ByteArray>,
    /// When the recording began, in microseconds since 1970; 0 for virtual time.
    started: i64,
    places: Vec<CountPlace>,
}

/// What a number of a sample is.
#[derive(Debug)]
pub struct CountPlace {
    pub socket: u16,
    pub unit: ByteArray,
    pub instance: u16,
    pub event: ByteArray,
}

/// A row.
#[derive(Debug)]
pub struct TableRow<'a> {
    /// End of the sample, in microseconds since 1970.
    pub time: i64,
    pub place: &'a CountPlace,
    /// The count as it was taken.
    pub count: &'a Count,
    /// The share of the time in which it was counted; nothing if there is no number.
    pub duty: Option<f64>,
    /// The grade, with what was withdrawn since.
    pub validity: &'static str,
    /// Length of the sample in this socket, in seconds.
    pub seconds: f64,
    /// Seconds from the start of the measurement to the end of the sample.
    pub elapsed: f64,
    /// The sample's number, from 0.
    pub sample: u64,
    pub tsc_cycles: u64,
    pub truth: Option<u64>,
}

impl Constants {
    /// What a recording's first line says of all samples.
    pub fn of(header: &Header) -> Self {
        let text = |text: &str| ByteArray::from(Bytes::copy_from_slice(text.as_bytes()));
        let place = |&(event, instance): &(usize, usize)| {
            let instance = &header.instances[instance];
            CountPlace {
                socket: instance.socket,
                unit: text(&instance.unit),
                instance: instance.number,
                event: text(&header.events[event].label),
            }
        };
        Self {
            host: header.about.host.as_deref().map(text),
            started: header.about.started.as_deref().and_then(microseconds).unwrap_or(0),
            places: header.counts.iter().map(place).collect(),
        }
    }

    /// Rows of a sample.
    pub const fn rows(&self) -> usize {
        self.places.len()
    }

    /// The rows of a sample.
    pub fn rows_of<'a>(&'a self, settled: &'a Settled) -> impl Iterator<Item = TableRow<'a>> {
        let Settled { number, recorded, grades } = settled;
        let (elapsed, sample) = (recorded.end, &recorded.sample);
        let time = self.started.saturating_add(microseconds_of(elapsed));
        let truths = recorded.truth.as_ref().map(|truth| &truth.counts);
        self.places.iter().enumerate().map(move |(at, place)| {
            let length = sample.sockets.get(&place.socket);
            let grade = &grades[at];
            TableRow {
                time,
                place,
                count: &sample.counts[at],
                duty: grade.grade().has_number().then(|| grade.duty()),
                validity: grade.grade().name(),
                seconds: length.map_or(sample.seconds, |length| length.seconds),
                elapsed,
                sample: *number,
                tsc_cycles: length.map_or(sample.tsc_cycles, |length| length.tsc_cycles),
                truth: truths.and_then(|truths| truths[at].count),
            }
        })
    }
}

/// A time of RFC 3339 in microseconds since 1970; nothing for what is no such time.
fn microseconds(text: &str) -> Option<i64> {
    Some(chrono::DateTime::parse_from_rfc3339(text).ok()?.timestamp_micros())
}

/// Seconds in microseconds.
#[expect(clippy::cast_possible_truncation, reason = "what is beyond 64 bits ends there")]
fn microseconds_of(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}
