//! What the uncore counts meanwhile: `pericore stat` for as long as a window.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::notice;

/// The metric: what memory reads and writes.
const METRIC: &str = "MEM_BANDWIDTH";

/// Measures the uncore beside our own threads, until it cannot.
#[derive(Debug, Default)]
pub struct Uncore {
    failed: bool,
    /// The machine that stands in for this one's uncore, if one does.
    pub emulated: Option<String>,
}

/// A measurement that is under way.
#[derive(Debug)]
pub struct Measuring(Option<Child>);

impl Uncore {
    /// Begins to measure for so long.
    pub fn begin(&mut self, window: Duration) -> Measuring {
        if self.failed {
            return Measuring(None);
        }
        let milliseconds = window.as_millis().to_string();
        let started = std::env::current_exe().and_then(|program| {
            let mut stat = Command::new(program);
            stat.args(["stat", "-j", "-M", METRIC, "--timeout", &milliseconds]);
            stat.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()
        });
        match started {
            Ok(child) => Measuring(Some(child)),
            Err(error) => {
                self.give_up(&error.to_string());
                Measuring(None)
            }
        }
    }

    /// Bytes per second that memory read and wrote, if they could be measured. The first failure is told, and is the
    /// last try.
    pub fn end(&mut self, measuring: Measuring) -> Option<f64> {
        let output = match measuring.0?.wait_with_output() {
            Ok(output) => output,
            Err(error) => {
                self.give_up(&error.to_string());
                return None;
            }
        };
        let printed = String::from_utf8_lossy(&output.stderr);
        let measured = output.status.success().then(|| bandwidth(&printed)).flatten();
        let Some((bandwidth, emulated)) = measured else {
            let first = printed.lines().next().unwrap_or("it prints nothing");
            self.give_up(first.strip_prefix("pericore: ").unwrap_or(first));
            return None;
        };
        self.emulated = emulated;
        bandwidth
    }

    fn give_up(&mut self, why: &str) {
        self.failed = true;
        notice::warn(format_args!("bandwidth is that of our own threads alone, without the uncore's view: {why}"));
    }
}

/// The sum over what is printed, a line of JSON for each socket or machine, unless a number of it is in doubt; and the
/// machine if it is emulated. Nothing if no line has the metric.
fn bandwidth(printed: &str) -> Option<(Option<f64>, Option<String>)> {
    let rows = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_metric = |row: &Value| row["event"].as_str().is_some_and(|event| event.ends_with(METRIC));
    let rows: Vec<Value> = rows.filter(is_metric).collect();
    let emulated = rows.first()?["emulated"].as_str().map(str::to_owned);
    // There is no room for a mark beside the sum.
    let is_sound = |row: &&Value| ["measured", "scaled"].map(Some).contains(&row["validity"].as_str());
    let numbers = rows.iter().map(|row| Some(row).filter(is_sound)?["metric-value"].as_str()?.parse::<f64>().ok());
    Some((numbers.sum(), emulated))
}

#[cfg(test)]
mod tests {
    use super::bandwidth;

    #[test]
    fn rows_of_the_metric_are_added_up() {
        let row =
            |event: &str, value: &str| format!(r#"{{"event":"{event}","metric-value":{value},"validity":"measured"}}"#);
        let two = format!(
            "pericore: a word\n{}\n{}",
            row("imc/MEM_BANDWIDTH", "\"2.5e9\""),
            row("imc/MEM_BANDWIDTH", "\"1e9\"")
        );
        assert_eq!(bandwidth(&two), Some((Some(3.5e9), None)));
        let emulated = two.replace('}', r#","emulated":"e5-2680"}"#);
        assert_eq!(bandwidth(&emulated), Some((Some(3.5e9), Some("e5-2680".to_owned()))));
        assert_eq!(bandwidth(&row("imc/MEM_PEAK_BANDWIDTH", "\"1\"")), None);
        assert_eq!(bandwidth(&row("imc/MEM_BANDWIDTH", "null")), Some((None, None)));
        assert_eq!(bandwidth(&two.replacen("measured", "suspect", 1)), Some((None, None)));
        assert_eq!(bandwidth(""), None);
    }
}
