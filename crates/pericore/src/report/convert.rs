//! A recording in another form.

use std::fs::File;
use std::io::{BufWriter, Write};

use pericore_observe::record::{Ending, Reader};
use pericore_recordings::{Conversion, Converter, Input, TimeSpan};

use super::recording::{damaged, refused_input, warn_of_ending};
use crate::failure::Failure;

/// Writes the recording in another form.
///
/// # Errors
/// A recording that cannot be read, or an output that cannot be written.
pub fn run(form: Conversion, file: File, name: &str, span: TimeSpan, out: Box<dyn Write>) -> Result<(), Failure> {
    let input = Input::of(file).map_err(|error| refused_input(name, &error))?;
    let (is_table, behind) = (input.is_table(), input.behind());
    let failed = |error| damaged(name, &error, is_table);
    let mut reader = Reader::open(input).map_err(failed)?.as_written();
    let mut converter = Converter::begin(form, BufWriter::new(out), reader.header())?;
    let mut samples = 0_u64;
    let outcome = loop {
        match reader.next() {
            None => break Ok(()),
            Some(Err(error)) => break Err(failed(error)),
            Some(Ok(recorded)) if span.has(recorded.end, recorded.sample.seconds) => {
                converter.sample(&recorded)?;
                samples += 1;
            }
            Some(Ok(_)) => {}
        }
    };
    // What was whole before a damage is worth having.
    let cut = Ending::Cut { half: None };
    let ending = if outcome.is_ok() { reader.ending().unwrap_or(&cut) } else { &cut };
    converter.end(ending)?;
    outcome.map_err(|failure| failure.with_advice(&format!("the {samples} samples before that were written")))?;
    warn_of_ending(name, ending, samples, is_table, behind);
    Ok(())
}
