//! Samples as `stat` prints them.

use std::io::{self, Write};

use pericore_emulation::sampled::Estimate;
use pericore_machine::workload::SampleRequest;
use pericore_observe::plan::Plan;
use pericore_observe::results::Scope;
use pericore_observe::session::Sample;
use pericore_report::histogram::Histogram;
use pericore_report::runs::Runs;
use pericore_report::sampled::{self, Sampled};
use pericore_report::sheet::Sheet;
use pericore_report::stacks::UnitStacks;
use pericore_report::{Form, Report, Style, figures, form, rows, table};

use super::{StatArgs, verbose};
use crate::failure::Failure;
use crate::measure::{Receiver, Subject, Taken, Widest};
use crate::notice;
use crate::terminal;

/// Prints each sample, or the mean of all runs at the end.
pub struct Printer<'a> {
    args: &'a StatArgs,
    out: Option<Box<dyn Write>>,
    runs: Runs,
    /// The software machine, if it is one.
    emulated: Option<String>,
    /// Whether rows show how their counters were reached: on a software machine there is one way.
    shows_ways: bool,
    sheet: Sheet,
    /// What is behind the I/O stacks, if they are counted.
    stacks: Option<UnitStacks>,
    /// All intervals so far, if they are to be shown together.
    whole: Option<Whole>,
    /// Intervals that were printed and no check has confirmed yet, with their ends.
    pending: Vec<(Sample, f64)>,
}

/// Intervals added up.
struct Whole {
    plan: Plan,
    sample: Sample,
    truth: Option<Sample>,
}

impl<'a> Printer<'a> {
    /// Nothing is opened before the measurement begins.
    pub fn new(args: &'a StatArgs) -> Self {
        let runs = Runs::new(args.repeat);
        let sheet = Sheet::new(args.output.width(io::stderr()), !args.metric_only, args.digits());
        let (out, emulated, stacks, whole, pending) = (None, None, None, None, Vec::new());
        Self { args, out, runs, emulated, shows_ways: false, sheet, stacks, whole, pending }
    }

    fn print(&mut self, report: &Report) -> Result<(), Failure> {
        let Self { args, out: Some(out), sheet, emulated, .. } = self else { return Ok(()) };
        let style = style(args, emulated.as_deref());
        if args.metric_only {
            let mut text = Vec::new();
            sheet.print(&mut text, report, args.output.form(), style.emulated)?;
            out.write_all(&text)?;
            return Ok(out.flush()?);
        }
        args.output.print(out, report, style, sheet)
    }

    /// True if a report is a line, where there is no room for what was withdrawn.
    fn is_line(&self, report: &Report) -> bool {
        let style = style(self.args, self.emulated.as_deref());
        self.args.metric_only || form::is_line(report, self.args.output.form(), style)
    }

    /// The numbers of each I/O stack, with the devices behind it.
    fn print_stacks(&mut self, taken: &Taken<'_>) -> Result<(), Failure> {
        let (Some(stacks), Some(out)) = (&self.stacks, &mut self.out) else { return Ok(()) };
        if self.args.metric_only {
            return Ok(());
        }
        let report = rows::report(&taken.plan.layout(), taken.sample, None, Scope::Instance, taken.end);
        let mut text = Vec::new();
        match self.args.output.form() {
            Form::Table => stacks.print(&mut text, &report)?,
            Form::Json => stacks.json(&mut text, &report)?,
            // perf's fields have no place for it.
            Form::Separated(_) => {}
        }
        Ok(out.write_all(&text)?)
    }

    /// Prints again what was printed before and is in doubt by now, with the reason.
    fn withdraw(&mut self, taken: &Taken<'_>) -> Result<(), Failure> {
        let mut pending = std::mem::take(&mut self.pending);
        if let Some(withdrawn) = &taken.sample.withdrawn {
            let range = withdrawn.among(pending.len());
            for (sample, end) in &mut pending[range] {
                let shown = self.report(taken.plan, sample, None, Some(*end)).rows;
                sample.withdraw(withdrawn);
                let mut report = self.report(taken.plan, sample, None, Some(*end));
                // The same rows in the same order: those with another validity are in doubt only now.
                let mut before = shown.iter().map(|row| row.value.validity());
                report.rows.retain(|row| before.next() != Some(row.value.validity()));
                report.is_withdrawn = true;
                if self.is_line(&report) && !report.rows.is_empty() {
                    let (end, names) = (figures::seconds(*end), report.rows.iter().map(|row| row.name.as_str()));
                    let names: Vec<&str> = names.collect();
                    let why = report.rows[0].value.validity();
                    notify(format!("at {end} s: {}: {why}", names.join(", ")));
                } else if !report.rows.is_empty() {
                    self.print(&report)?;
                }
            }
        }
        if let Some(end) = taken.end.filter(|_| !taken.sample.is_checked) {
            pending.push((taken.sample.clone(), end));
            self.pending = pending;
        }
        Ok(())
    }

    fn report(&self, plan: &Plan, sample: &Sample, truth: Option<&Sample>, end: Option<f64>) -> Report {
        let mut report = rows::report(&plan.layout(), sample, truth, self.args.output.scope(), end);
        if !self.shows_ways {
            report.rows.iter_mut().for_each(|row| row.through = None);
        }
        report
    }
}

impl Printer<'_> {
    /// The rows of a sample, with their intervals if it is one of windows.
    fn report_of(&self, taken: &Taken<'_>) -> Report {
        let mut report = self.report(taken.plan, taken.sample, taken.truth, taken.end);
        if let Some(Estimate { without, share, by_function, .. }) = taken.estimate {
            let of = |sample| self.report(taken.plan, sample, None, None);
            let requested = self.args.sample.and_then(SampleRequest::error);
            let in_order = !self.args.measure.is_of_program();
            let sampled = Sampled { share: *share, by_function: *by_function, in_order, requested };
            sampled::add_intervals(&mut report, &without.iter().map(of).collect::<Vec<_>>(), sampled);
        }
        report
    }
}

impl Receiver for Printer<'_> {
    fn open(&mut self) -> Result<(), Failure> {
        self.out = Some(self.args.output.open()?);
        Ok(())
    }

    fn begin(&mut self, subject: &Subject<'_>) -> Result<(), Failure> {
        self.emulated.clone_from(&subject.emulated);
        self.shows_ways = !subject.ways.is_empty();
        self.stacks = subject.stacks.cloned();
        if self.args.summary {
            self.whole = Some(Whole { plan: subject.plan.clone(), sample: Sample::default(), truth: None });
        }
        if self.args.verbose {
            let lines = verbose::counters(subject.plan)
                .into_iter()
                .chain(subject.kernel.into_iter().flat_map(verbose::requests));
            subject.ways.iter().cloned().chain(lines).for_each(notice::warn);
        }
        let Some(out) = self.out.as_mut() else { return Ok(()) };
        if self.args.output.is_for_people() {
            writeln!(out, "\n {}", terminal::title_lines(&subject.title, 3))?;
        }
        self.args.output.print_fewer(out, &subject.plan.layout(), self.args.metric_only)
    }

    fn take(&mut self, taken: Taken<'_>) -> Result<(), Failure> {
        if taken.cut && self.runs.have_any() {
            notify("the interrupted run is not part of the means");
            return Ok(());
        }
        let report = self.report_of(&taken);
        if let Some(whole) = &mut self.whole {
            whole.sample.add(taken.sample);
            if let Some(truth) = taken.truth {
                whole.truth.get_or_insert_default().add(truth);
            }
        }
        self.withdraw(&taken)?;
        match self.runs.take(report) {
            Some(report) => {
                self.print(&report)?;
                self.print_stacks(&taken)
            }
            None => Ok(()),
        }
    }

    fn widest(&self, taken: &Taken<'_>) -> Option<Widest> {
        let report = self.report_of(taken);
        let (half, row) = sampled::widest(&report)?;
        Some(Widest { half, name: figures::placed(row.place.as_ref(), &row.name) })
    }

    fn remark(&mut self, words: &str) -> Result<(), Failure> {
        match &mut self.out {
            Some(out) if self.args.output.is_for_people() && !self.runs.are_several() => {
                Ok(out.write_all(words.as_bytes())?)
            }
            _ => Ok(()),
        }
    }

    fn takes_latencies(&self) -> bool {
        self.args.histogram
    }

    fn latencies(&mut self, histogram: &Histogram) -> Result<(), Failure> {
        let style = style(self.args, self.emulated.as_deref());
        match &mut self.out {
            Some(out) => Ok(histogram.print(out, self.args.output.form(), style)?),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), Failure> {
        if let Some(report) = self.runs.finish() {
            self.print(&report)?;
            let out = self.out.as_mut().filter(|_| self.args.table && self.args.output.is_for_people());
            if let Some(out) = out {
                table::runs(out, &report, self.runs.each(), self.args.digits())?;
            }
        }
        if let Some(whole) = self.whole.take().filter(|whole| !whole.sample.counts.is_empty()) {
            let report = self.report(&whole.plan, &whole.sample, whole.truth.as_ref(), None);
            self.print(&Report { is_summary: true, ..report })?;
        }
        Ok(self.out.as_mut().map_or(Ok(()), Write::flush)?)
    }
}

fn style<'a>(args: &StatArgs, emulated: Option<&'a str>) -> Style<'a> {
    Style { truth: args.truth, emulated, digits: args.digits(), unicode: terminal::is_unicode() }
}

/// A line on standard error.
fn notify(words: impl std::fmt::Display) {
    notice::warn(words);
}
