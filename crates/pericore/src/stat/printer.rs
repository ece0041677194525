//! Samples as `stat` prints them.

use std::io::Write;

use pericore_observe::plan::Plan;

use super::StatArgs;
use super::repeat::Runs;
use crate::failure::Failure;
use crate::measure::{Receiver, Subject, Taken};
use crate::notice;
use crate::results::{Report, rows};

/// Prints each sample, or the mean of all runs at the end.
pub struct Printer<'a> {
    args: &'a StatArgs,
    out: Option<Box<dyn Write>>,
    runs: Runs,
    /// The software machine, if it is one.
    emulated: Option<String>,
}

impl<'a> Printer<'a> {
    /// Nothing is opened before the measurement begins.
    pub fn new(args: &'a StatArgs) -> Self {
        Self { args, out: None, runs: Runs::new(args.repeat), emulated: None }
    }

    fn print(&mut self, report: &Report) -> Result<(), Failure> {
        match &mut self.out {
            Some(out) => self.args.output.print(out, report, self.args.truth, self.emulated.as_deref()),
            None => Ok(()),
        }
    }
}

impl Receiver for Printer<'_> {
    fn open(&mut self) -> Result<(), Failure> {
        self.out = Some(self.args.output.open()?);
        Ok(())
    }

    fn begin(&mut self, subject: &Subject<'_>) -> Result<(), Failure> {
        self.emulated.clone_from(&subject.emulated);
        let Some(out) = self.out.as_mut().filter(|_| self.args.output.is_for_people()) else { return Ok(()) };
        writeln!(out, "\n {}", subject.title)?;
        for words in fewer(subject.plan) {
            writeln!(out, " {words}")?;
        }
        Ok(())
    }

    fn take(&mut self, taken: Taken<'_>) -> Result<(), Failure> {
        if taken.cut && self.runs.have_any() {
            notice::say("the run that was cut short is left out of the means");
            return Ok(());
        }
        let report = rows::report(&taken.plan.layout(), taken.sample, taken.truth, self.args.output.scope(), taken.end);
        match self.runs.take(report) {
            Some(report) => self.print(&report),
            None => Ok(()),
        }
    }

    fn remark(&mut self, words: &str) -> Result<(), Failure> {
        match &mut self.out {
            Some(out) if self.args.output.is_for_people() && !self.runs.are_several() => {
                Ok(out.write_all(words.as_bytes())?)
            }
            _ => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), Failure> {
        if let Some(report) = self.runs.finish() {
            self.print(&report)?;
        }
        Ok(self.out.as_mut().map_or(Ok(()), Write::flush)?)
    }
}

/// Of which units there are fewer than such a machine can have: a part with fewer has them never, but firmware may hide them, too.
fn fewer(plan: &Plan) -> Vec<String> {
    let events = || plan.selection.events.iter().filter(|event| event.instance.is_none());
    let mut words = Vec::new();
    for unit in plan.selection.family.units.iter().filter(|unit| events().any(|event| std::ptr::eq(event.unit, **unit)))
    {
        for socket in &plan.sockets {
            let counted = socket.instances.iter().filter(|instance| std::ptr::eq(instance.unit, *unit)).count();
            if counted < usize::from(unit.instances) {
                let (name, most) = (unit.name, unit.instances);
                words.push(format!(
                    "socket {}: {counted} {name} answer, where such a machine has up to {most}",
                    socket.socket
                ));
            }
        }
    }
    words
}
