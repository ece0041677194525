//! Chrome's trace format, which Perfetto draws: a process for each socket, a counter track for each event of each
//! instance.

use std::io::{self, Write};

use pericore_observe::record::Header;
use pericore_observe::session::Sample;
use serde_json::json;

/// Writes rates over time.
#[derive(Debug)]
pub struct TrackWriter<W> {
    out: W,
    /// Socket and name of each number of a sample.
    tracks: Vec<(u16, String)>,
}

impl<W: Write> TrackWriter<W> {
    /// Writes the names of the processes, which are the sockets.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn begin(mut out: W, header: &Header) -> io::Result<Self> {
        let about = json!({ "title": header.about.title, "pericore": header.about.pericore, "host": header.about.host,
            "started": header.about.started, "emulated": header.about.emulated });
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":[")?;
        let mut sockets: Vec<u16> = header.instances.iter().map(|place| place.socket).collect();
        sockets.sort_unstable();
        sockets.dedup();
        for (at, socket) in sockets.iter().enumerate() {
            let args = json!({ "name": format!("socket {socket}") });
            let name = json!({ "ph": "M", "name": "process_name", "pid": socket, "args": args });
            write!(out, "{}\n{name}", if at == 0 { "" } else { "," })?;
        }
        let track = |&(event, instance): &(usize, usize)| {
            let (place, label) = (&header.instances[instance], &header.events[event].label);
            let event = label.split_once('/').map_or(label.as_str(), |(_, event)| event.trim_end_matches('/'));
            (place.socket, format!("{}{} {event} /s", place.unit, place.number))
        };
        let tracks = header.counts.iter().map(track).collect();
        Ok(Self { out, tracks })
    }

    /// Writes the rates of a sample, from its beginning on. What has no number is left out: the track keeps its height
    /// there.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn sample(&mut self, end: f64, sample: &Sample) -> io::Result<()> {
        for ((socket, name), count) in self.tracks.iter().zip(&sample.counts) {
            let seconds = sample.sockets.get(socket).map_or(sample.seconds, |length| length.seconds);
            let Some(number) = count.count.filter(|_| seconds > 0.0) else { continue };
            let rate = number as f64 / seconds;
            let event = json!({ "ph": "C", "name": name, "pid": socket, "tid": 0, "ts": (end - sample.seconds) * 1e6,
                "args": { "rate": rate } });
            write!(self.out, ",\n{event}")?;
        }
        Ok(())
    }

    /// Ends the list of events.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn end(&mut self) -> io::Result<()> {
        writeln!(self.out, "\n]}}")?;
        self.out.flush()
    }
}
