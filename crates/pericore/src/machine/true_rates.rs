//! `--truth FILE`: what a live machine's workload really does, by its ledger.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use pericore_catalog::{Family, Unit};
use pericore_doors::endless;
use pericore_machine::ledger::Question;
use pericore_machine::steady::Steady;
use pericore_machine::{MachineSpec, Window};
use serde_json::json;

use crate::failure::Failure;

/// Writes a JSON line for each event and subevent that the ledger knows, on each socket: how often it happens in each
/// instance, a second.
///
/// The machine runs a second time for that, so nothing of it goes through a counter.
///
/// # Errors
/// The file cannot be written, or the workload is none of the machine's.
pub fn write(
    path: &Path,
    spec: &MachineSpec,
    workload: &str,
    steady: &Steady,
    ticks_per_second: u64,
) -> Result<(), Failure> {
    let mut machine = endless(spec, workload).map_err(Failure::usage)?;
    let sockets = machine.chassis().shape().sockets;
    let account = steady.account(&mut machine, []);
    let seconds = steady.window() as f64 / ticks_per_second as f64;
    let per_second = |socket, instance, question| {
        let times =
            account.between(0, steady.window(), |from, to| Window::between(from, to).count(socket, instance, question));
        times.map(|times| times as f64 / seconds)
    };
    let lines = |out: &mut dyn Write| -> io::Result<()> {
        for (unit, event, subevent) in names(spec.family()) {
            let question = Question::new(unit.name, event).subevent(subevent);
            for socket in 0..sockets {
                let rates: Vec<f64> =
                    (0..unit.instances).map_while(|instance| per_second(socket, instance, question)).collect();
                if !rates.is_empty() {
                    let line = json!({
                        "unit": unit.name, "event": event, "subevent": subevent, "socket": socket, "per_second": rates
                    });
                    writeln!(out, "{line}")?;
                }
            }
        }
        out.flush()
    };
    let written = File::create(path).and_then(|file| lines(&mut BufWriter::new(file)));
    written.map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))
}

fn names(family: &'static Family) -> impl Iterator<Item = (&'static Unit, &'static str, Option<&'static str>)> {
    family.units.iter().flat_map(|&unit| {
        unit.events.iter().flat_map(move |event| {
            let subevents = event.subevents.iter().map(|subevent| Some(subevent.name));
            std::iter::once(None).chain(subevents).map(move |subevent| (unit, event.name, subevent))
        })
    })
}
