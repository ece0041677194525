//! What is said of a program when its measurement is over.

use std::fmt::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};

use pericore_machine::uncore::ProgramCounts;
use pericore_machine::workload::ProgramKind;
use pericore_report::figures::thousands;
use pericore_tracer::Summary;

use crate::notice;

/// What shells add to a signal's number.
const KILLED: i32 = 128;

/// How a program ended, and what was not seen of it.
#[derive(Debug)]
pub struct Said {
    /// Its exit status; `None` for a trace, or if it was ended early.
    pub status: Option<ExitStatus>,
    /// Why it died, if emulation is to blame.
    pub cause: Option<String>,
    /// Totals and notes, once it has ended.
    pub summary: Option<Summary>,
    /// The measurement ended first.
    pub cut_short: bool,
    /// … and so did its trace.
    pub trace_cut_short: bool,
    /// It was a trace.
    pub replay: bool,
}

impl Said {
    /// The program's own exit status, as a shell would report it.
    pub fn exit(&self) -> ExitCode {
        let number = self.status.map_or(0, |status| status.code().unwrap_or(KILLED + status.signal().unwrap_or(0)));
        ExitCode::from(u8::try_from(number).unwrap_or(u8::MAX))
    }

    /// The lines under a table.
    pub fn print(&self, out: &mut dyn Write, counts: &ProgramCounts) -> fmt::Result {
        if let Some(summary) = &self.summary {
            let total = summary.total;
            let plural = |number: u32, one: &'static str, more: &'static str| if number == 1 { one } else { more };
            let threads = plural(summary.threads, "thread", "threads");
            let processes = plural(summary.processes, "process", "processes");
            let figures = [total.instructions, total.loads, total.stores].map(grouped);
            let [instructions, loads, stores] = &figures;
            writeln!(out, " program: {instructions} instructions, {loads} loads, {stores} stores")?;
            writeln!(out, "   in {} {threads} of {} {processes}", summary.threads, summary.processes)?;
        }
        let of = |kind| grouped(counts.of(kind));
        let (loads, stores, upgrades) = (of(ProgramKind::Load), of(ProgramKind::Store), of(ProgramKind::Upgrade));
        writeln!(out, " beyond the first-level caches: {loads} loads, {stores} stores,")?;
        let fetches = of(ProgramKind::Fetch);
        writeln!(out, "   {upgrades} upgrades, {fetches} fetches, {} write-backs;", of(ProgramKind::WriteBack))?;
        let touched = counts.touched.div_ceil(1 << 20);
        writeln!(out, "   {} L2 prefetches; {touched} MiB touched", grouped(counts.prefetches))?;
        if counts.of(ProgramKind::NonTemporal) > 0 {
            writeln!(out, "   {} lines of non-temporal stores", of(ProgramKind::NonTemporal))?;
        }
        writeln!(out, " not seen: the kernel's own accesses for the program")?;
        writeln!(out, " waiting for other threads or the kernel takes no time: instructions and sleep do")?;
        for note in self.summary.iter().flat_map(|summary| &summary.notes) {
            writeln!(out, " not seen: {note}")?;
        }
        if self.cut_short && !self.replay {
            writeln!(out, " the measurement ended before the program, which was ended too")?;
        }
        Ok(())
    }

    /// What must be said whatever the form of the output.
    pub fn warn(&self) {
        if let Some(cause) = &self.cause {
            notice::warn(format!("the program died under emulation: {cause}"));
        }
        if self.trace_cut_short {
            notice::warn("the trace is incomplete because the program was cut short; it cannot be replayed");
        }
    }
}

fn grouped(number: u64) -> String {
    thousands(number as f64)
}
