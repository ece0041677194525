//! What `--to` names: a time, or a form.

use clap::ValueEnum;
use clap::builder::PossibleValue;

/// A form that a recording can be brought into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Conversion {
    /// JSON lines, as `record` writes them
    Jsonl,
    /// A Parquet table
    Parquet,
    /// Comma-separated values, with the names of the columns
    Csv,
    /// Chrome's trace format, for Perfetto: rates over time
    Trace,
}

/// What `--to` names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// The end of the part that is wanted, in seconds from the start of the recording.
    Seconds(f64),
    /// What to convert to.
    Form(Conversion),
}

impl std::str::FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(seconds) = text.parse() {
            return Ok(Self::Seconds(seconds));
        }
        let known = Conversion::value_variants().iter().filter_map(Conversion::to_possible_value);
        let names: Vec<String> = known.map(|value: PossibleValue| value.get_name().to_owned()).collect();
        Conversion::from_str(text, true).map(Self::Form).map_err(|_| {
            format!("give a number of seconds from the start of the recording, or a form: {}", names.join(", "))
        })
    }
}
