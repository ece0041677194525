//! A steady window as bytes, for a cache: what was recorded under a key is taken back under the same key only, and only
//! if no byte of it has changed.
//!
//! The bytes are [`MAGIC`], the format (4 bytes, little-endian), the key's length (4) and the key, the contents' length
//! (8) and the contents, and a checksum of all that (8). Contents are numbers of seven bits a byte: when the window
//! began, its cells, for each instance what its levels hold at the start, what is emitted at all, the most frequent
//! first, and then each emission: which of these, and how much later than the one before.

use pericore_engine::Tick;
use pericore_hardware::pmon::Entries;
use pericore_hardware::signal::{Wire, Wiring};

use super::super::Steady;
use super::{Change, Emission, Emitted, Recording, Stream};

const MAGIC: &[u8; 16] = b"pericore window\n";
const FORMAT: u32 = 1;
const CHECKSUM_BYTES: usize = 8;

/// Why bytes are no window that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SavedError {
    /// Something else.
    #[error("no window that pericore has saved")]
    Foreign,
    /// Another format.
    #[error("saved in format {found}, and this pericore has {FORMAT}")]
    Format {
        /// The format.
        found: u32,
    },
    /// That of another machine, workload or program.
    #[error("saved for another machine, workload or program")]
    Key,
    /// Cut off, or changed.
    #[error("damaged: {0}")]
    Damaged(&'static str),
}

/// A checksum that finds accidents, not forgeries.
fn checksum(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(bytes.len() as u64, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(sum, |sum, &byte| mix(sum, byte.into()))
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The sign goes last, so that small differences are small numbers.
const fn folded(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}

const fn unfolded(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// What has not been read yet.
struct Contents<'a>(&'a [u8]);

impl Contents<'_> {
    fn number(&mut self) -> Result<u64, SavedError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or(SavedError::Damaged("it ends too early"))?;
            self.0 = rest;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(SavedError::Damaged("a number has no end"))
    }

    /// A number that fits a narrower type.
    fn narrow<T: TryFrom<u64>>(&mut self) -> Result<T, SavedError> {
        T::try_from(self.number()?).map_err(|_| SavedError::Damaged("a number is too large"))
    }
}

impl Steady {
    /// The window as bytes, under a key.
    pub fn to_bytes(&self, key: &str) -> Vec<u8> {
        let contents = self.contents();
        let mut bytes = Vec::with_capacity(contents.len() + key.len() + 64);
        bytes.extend(MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend((key.len() as u32).to_le_bytes());
        bytes.extend(key.as_bytes());
        bytes.extend((contents.len() as u64).to_le_bytes());
        bytes.extend(contents);
        let sum = checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    fn contents(&self) -> Vec<u8> {
        let recording = &*self.recording;
        let mut bytes = Vec::with_capacity(recording.emissions() * 4);
        put(&mut bytes, self.base);
        put(&mut bytes, recording.cell);
        put(&mut bytes, recording.cells.into());
        put(&mut bytes, recording.streams.len() as u64);
        for stream in &recording.streams {
            let levels = &stream.levels[0];
            put(&mut bytes, levels.len() as u64);
            for entries in levels {
                let parts = [entries.signal.into(), entries.tag, entries.count.into()];
                parts.into_iter().for_each(|part| put(&mut bytes, part));
            }
        }
        let numbers = put_emitted(&mut bytes, recording);
        // By their order over all instances, which numbers them from 0.
        let mut emissions = vec![(0_u32, 0_u32); recording.emissions()];
        for (stream, numbers) in recording.streams.iter().zip(&numbers) {
            for emission in &stream.emissions {
                emissions[emission.order as usize] = (numbers[emission.emitted as usize], emission.offset);
            }
        }
        put(&mut bytes, emissions.len() as u64);
        let mut before = 0;
        for (number, offset) in emissions {
            put(&mut bytes, number.into());
            put(&mut bytes, folded(i64::from(offset) - before));
            before = offset.into();
        }
        bytes
    }

    /// The window that was saved under a key, on a machine with this wiring.
    ///
    /// # Errors
    /// [`SavedError`] if the bytes are something else, of another key, or damaged.
    pub fn from_bytes(bytes: &[u8], key: &str, wiring: &Wiring) -> Result<Self, SavedError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(SavedError::Foreign)?;
        let early = || SavedError::Damaged("it ends too early");
        let (format, rest) = rest.split_first_chunk().ok_or_else(early)?;
        let found = u32::from_le_bytes(*format);
        if found != FORMAT {
            return Err(SavedError::Format { found });
        }
        let (length, rest) = rest.split_first_chunk().ok_or_else(early)?;
        let (saved_key, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(early)?;
        let (length, rest) = rest.split_first_chunk().ok_or_else(early)?;
        if rest.len() as u64 != u64::from_le_bytes(*length).saturating_add(CHECKSUM_BYTES as u64) {
            return Err(SavedError::Damaged("it has another length than it says"));
        }
        let (summed, sum) = bytes.split_at(bytes.len() - CHECKSUM_BYTES);
        if checksum(summed).to_le_bytes() != sum {
            return Err(SavedError::Damaged("its checksum is another"));
        }
        if saved_key != key.as_bytes() {
            return Err(SavedError::Key);
        }
        read(&rest[..rest.len() - CHECKSUM_BYTES], wiring)
    }
}

/// Writes what instances emit at all, the most frequent first; gives the number of each, instance by instance.
fn put_emitted(bytes: &mut Vec<u8>, recording: &Recording) -> Vec<Vec<u32>> {
    let mut numbers: Vec<Vec<u32>> = recording.streams.iter().map(|stream| vec![0; stream.emitted.len()]).collect();
    for (stream, counts) in recording.streams.iter().zip(&mut numbers) {
        stream.emissions.iter().for_each(|emission| counts[emission.emitted as usize] += 1);
    }
    let mut all: Vec<(u32, usize, usize)> = Vec::new();
    for (instance, counts) in numbers.iter().enumerate() {
        all.extend(counts.iter().enumerate().map(|(emitted, &count)| (count, instance, emitted)));
    }
    all.sort_unstable_by_key(|&(count, instance, emitted)| (std::cmp::Reverse(count), instance, emitted));
    put(bytes, all.len() as u64);
    for (number, (_, instance, emitted)) in all.into_iter().enumerate() {
        let Emitted { wire, tag, change } = recording.streams[instance].emitted[emitted];
        let (kind, count) = match change {
            Change::Pulse(count) => (0, count),
            Change::Enter => (1, 0),
            Change::Leave => (2, 0),
        };
        let parts = [wire.instance.into(), wire.signal.into(), tag, kind, count.into()];
        parts.into_iter().for_each(|part| put(bytes, part));
        numbers[instance][emitted] = number as u32;
    }
    numbers
}

/// The wire of a signal of an instance, if there is one.
fn wire(wiring: &Wiring, instance: u16, signal: u16) -> Option<Wire> {
    let unit = (instance < wiring.instances()).then(|| wiring.locate(instance).1)?;
    let signals = wiring.family().units[unit].signals.len();
    (usize::from(signal) < signals).then(|| wiring.wire(instance, signal))
}

fn read(contents: &[u8], wiring: &Wiring) -> Result<Steady, SavedError> {
    let contents = &mut Contents(contents);
    let base = contents.number()?;
    let (cell, cells): (Tick, u32) = (contents.number()?, contents.narrow()?);
    let window = cell.checked_mul(cells.into()).filter(|window| (1..=u64::from(u32::MAX)).contains(window));
    let window = window.ok_or(SavedError::Damaged("its length makes no sense"))?;
    if contents.number()? != u64::from(wiring.instances()) {
        return Err(SavedError::Damaged("it is of another machine"));
    }
    let mut streams: Vec<Stream> = Vec::new();
    for instance in 0..wiring.instances() {
        let mut levels = Vec::new();
        for _ in 0..contents.number()? {
            let (signal, tag, count) = (contents.narrow()?, contents.number()?, contents.narrow()?);
            wire(wiring, instance, signal).ok_or(SavedError::Damaged("a level is of no signal"))?;
            levels.push(Entries { signal, tag, count });
        }
        streams.push(Stream { levels: vec![levels], ..Stream::default() });
    }
    let mut emitted: Vec<(u16, u32)> = Vec::new();
    for _ in 0..contents.number()? {
        let (instance, signal, tag) = (contents.narrow()?, contents.narrow()?, contents.number()?);
        let wire = wire(wiring, instance, signal).ok_or(SavedError::Damaged("an emission is of no signal"))?;
        let change = match (contents.number()?, contents.narrow()?) {
            (0, count) => Change::Pulse(count),
            (1, 0) => Change::Enter,
            (2, 0) => Change::Leave,
            _ => return Err(SavedError::Damaged("a signal changes in no known way")),
        };
        let of_stream = &mut streams[usize::from(instance)].emitted;
        of_stream.push(Emitted { wire, tag, change });
        emitted.push((instance, of_stream.len() as u32 - 1));
    }
    let mut before = 0_i64;
    for order in 0..contents.narrow::<u32>()? {
        let &(instance, emitted) =
            emitted.get(contents.narrow::<usize>()?).ok_or(SavedError::Damaged("an emission is of no kind"))?;
        before = before.wrapping_add(unfolded(contents.number()?));
        let offset = u32::try_from(before).ok().filter(|offset| u64::from(*offset) < window);
        let offset = offset.ok_or(SavedError::Damaged("an emission is beyond the window"))?;
        let emissions = &mut streams[usize::from(instance)].emissions;
        if emissions.last().is_some_and(|last| last.offset > offset) {
            return Err(SavedError::Damaged("time goes back"));
        }
        emissions.push(Emission { offset, emitted, order });
    }
    if !contents.0.is_empty() {
        return Err(SavedError::Damaged("something comes after its end"));
    }
    let recording = Recording { cell, cells, streams }.finished();
    Ok(Steady { recording: recording.into(), base })
}
