//! What `--to` names: a time, or a form.

use pericore_recordings::Conversion;

/// The forms by their names.
const FORMS: [(&str, Conversion); 4] = [
    ("jsonl", Conversion::Jsonl),
    ("parquet", Conversion::Parquet),
    ("csv", Conversion::Csv),
    ("trace", Conversion::Trace),
];

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
        let form = FORMS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        form.map(|(_, form)| Self::Form(*form)).ok_or_else(|| {
            let names = FORMS.map(|(name, _)| name).join(", ");
            format!("give a number of seconds from the start of the recording, or a form: {names}")
        })
    }
}
