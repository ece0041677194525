//! How latencies are spread: what a mean does not have.

use std::io::{self, Write};

use serde_json::json;

use crate::figures::thousands;
use crate::style::{Form, Style};
use crate::summary::drawn;

/// Rows at most: the last one has what is longer.
const ROWS: usize = 16;
/// Reads that are shown in rows of their own; the longest are few and far apart.
const SHOWN: f64 = 0.999;
/// Columns of the longest bar.
const BAR: usize = 40;

/// Latencies, in nanoseconds.
#[derive(Debug, Clone)]
pub struct Histogram {
    /// What was measured, in words.
    pub what: &'static str,
    /// Each latency that there was, in rising order, and of how many reads.
    pub counts: Vec<(f64, u64)>,
    /// Mean of all.
    pub mean: f64,
    /// The longest.
    pub most: f64,
}

/// Reads from one latency up to another, without that.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bucket {
    from: f64,
    to: f64,
    reads: u64,
}

impl Histogram {
    fn reads(&self) -> u64 {
        self.counts.iter().map(|(_, reads)| reads).sum()
    }

    /// The latency that a share of the reads did not exceed.
    fn quantile(&self, share: f64) -> f64 {
        let wanted = (share * self.reads() as f64).ceil().max(1.0) as u64;
        let mut sum = 0;
        let found = self.counts.iter().find(|(_, reads)| {
            sum += reads;
            sum >= wanted
        });
        found.map_or(self.most, |(latency, _)| *latency)
    }

    /// Rows of 1, 2 or 5 times a power of ten, as many as there is room for, and one of what is longer.
    fn buckets(&self) -> Vec<Bucket> {
        let Some(least) = self.counts.first().map(|(latency, _)| *latency) else { return Vec::new() };
        let last = self.quantile(SHOWN);
        let rows = |step: f64| (last / step).floor() - (least / step).floor() + 1.0;
        let steps = (0..).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
        let Some(step) = steps.into_iter().find(|step| rows(*step) < ROWS as f64) else { return Vec::new() };
        let first = (least / step).floor();
        let mut buckets: Vec<Bucket> = (0..rows(step) as u32)
            .map(|row| first + f64::from(row))
            .map(|row| Bucket { from: row * step, to: (row + 1.0) * step, reads: 0 })
            .collect();
        let mut longer = Bucket { from: buckets.last().map_or(0.0, |last| last.to), to: f64::INFINITY, reads: 0 };
        for (latency, reads) in &self.counts {
            let row = (latency / step).floor() - first;
            buckets.get_mut(row as usize).unwrap_or(&mut longer).reads += reads;
        }
        buckets.extend(Some(longer).filter(|longer| longer.reads > 0));
        buckets
    }

    /// Prints it: a table for people with its bars, a line for programs. Fields with something between have no place
    /// for it.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn print(&self, out: &mut impl Write, form: Form<'_>, style: Style<'_>) -> io::Result<()> {
        match form {
            Form::Separated(_) => Ok(()),
            Form::Json => self.json(out, style),
            Form::Table => self.table(out, style),
        }
    }

    fn json(&self, out: &mut impl Write, style: Style<'_>) -> io::Result<()> {
        let of_bucket = |bucket: &Bucket| {
            let to = Some(bucket.to).filter(|to| to.is_finite());
            json!({ "from": bucket.from, "to": to, "reads": bucket.reads })
        };
        let mut line = json!({
            "histogram": self.what,
            "unit": "ns",
            "reads": self.reads(),
            "mean": self.mean,
            "median": self.quantile(0.5),
            "p95": self.quantile(0.95),
            "p99": self.quantile(0.99),
            "most": self.most,
            "buckets": self.buckets().iter().map(of_bucket).collect::<Vec<_>>(),
        });
        if let Some(machine) = style.emulated {
            line["emulated"] = machine.into();
        }
        writeln!(out, "{line}")
    }

    fn table(&self, out: &mut impl Write, style: Style<'_>) -> io::Result<()> {
        let reads = self.reads();
        if reads == 0 {
            return writeln!(out, "\n {}: no read ended", self.what);
        }
        writeln!(out, "\n {}:\n   {} reads", self.what, thousands(reads as f64))?;
        let [median, most_of, nearly_all] = [0.5, 0.95, 0.99].map(|share| self.quantile(share));
        writeln!(out, "   mean {:.1} ns, median {median:.1}, longest {:.1}", self.mean, self.most)?;
        writeln!(out, "   95 % within {most_of:.1}, 99 % within {nearly_all:.1}")?;
        let buckets = self.buckets();
        let largest = buckets.iter().map(|bucket| bucket.reads).max().unwrap_or(1).max(1);
        for Bucket { from, to, reads } in buckets {
            let to = if to.is_finite() { format!("to {to:<6}") } else { "and more".to_owned() };
            let range = format!("{from:>6} {to}");
            let bar = drawn(reads as f64 / largest as f64, BAR, style.unicode);
            // What is left of a whole bar tells nothing here.
            let bar = bar.trim_matches(['[', ']', '.', '\u{2591}']);
            writeln!(out, "{}", format!("   {range:<16} {:>11}  {bar}", thousands(reads as f64)).trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(counts: Vec<(f64, u64)>, form: Form<'_>) -> String {
        let all: u64 = counts.iter().map(|(_, reads)| reads).sum();
        let sum: f64 = counts.iter().map(|(latency, reads)| latency * *reads as f64).sum();
        let most = counts.last().map_or(0.0, |(latency, _)| *latency);
        let histogram = Histogram { what: "latency of x", counts, mean: sum / all as f64, most };
        let style =
            Style { truth: false, emulated: Some("m"), digits: crate::figures::Digits::Grouped, unicode: false };
        let mut out = Vec::new();
        histogram.print(&mut out, form, style).expect("memory takes all");
        String::from_utf8(out).expect("UTF-8")
    }

    /// 1,000 reads from 41 to 170 ns and one of a microsecond. Rows of 10 ns would be 14 up to the last but one in a
    /// thousand: as many as have room.
    #[test]
    fn rows_are_round_and_the_longest_share_one() {
        let mut counts: Vec<(f64, u64)> = vec![(41.0, 600), (60.0, 300), (69.9, 80), (170.0, 20)];
        counts.push((1000.0, 1));
        let text = printed(counts.clone(), Form::Table);
        let rows: Vec<(&str, &str)> =
            text.lines().skip(5).filter_map(|line| Some((line.get(..19)?.trim(), line.get(19..31)?.trim()))).collect();
        assert_eq!(rows.len(), 15, "{text}");
        assert_eq!(
            [rows[0], rows[1], rows[2], rows[13], rows[14]].map(|(range, _)| range),
            ["40 to 50", "50 to 60", "60 to 70", "170 to 180", "180 and more"]
        );
        assert_eq!(
            [rows[0], rows[1], rows[2], rows[13], rows[14]].map(|(_, reads)| reads),
            ["600", "0", "380", "20", "1"]
        );
        assert!(
            text.contains(
                "   1,001 reads\n   mean 52.5 ns, median 41.0, longest 1000.0\n   95 % within 69.9, 99 % within 170.0\n"
            ),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let line: serde_json::Value = serde_json::from_str(&printed(counts, Form::Json)).expect("JSON");
        assert_eq!((&line["reads"], &line["p95"], &line["emulated"]), (&1001.into(), &69.9.into(), &"m".into()));
        let sum: u64 =
            line["buckets"].as_array().expect("buckets").iter().filter_map(|bucket| bucket["reads"].as_u64()).sum();
        assert_eq!(sum, 1001);
    }

    #[test]
    fn without_a_read_there_is_a_word() {
        assert_eq!(printed(Vec::new(), Form::Table), "\n latency of x: no read ended\n");
    }
}
