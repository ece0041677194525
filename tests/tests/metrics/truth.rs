//! What the ledger says of a run.

use pericore_catalog::Role;
use pericore_machine::ledger::{Level, Shaped};
use pericore_metrics::Validity;
use pericore_observe::selection::{EventSource, Programming, SelectedEvent};
use pericore_observe::session::{Count, Sample};

use super::run::Run;

/// Slices of a socket.
const SLICES: u16 = 8;

impl Run {
    /// A named event's count in an instance.
    pub fn count(
        &self,
        (socket, instance): (u16, u16),
        unit: &str,
        event: &str,
        subevent: Option<&str>,
        filters: &[(&str, u64)],
    ) -> Option<u64> {
        let at = |snapshot: &pericore_machine::ledger::Snapshot| {
            snapshot.count(socket, unit, instance, event, subevent, filters)
        };
        Some(at(&self.after)? - at(&self.before)?)
    }

    /// The sample with every count replaced by the truth; without a number where the ledger has none.
    pub fn in_truth(&self) -> Sample {
        let told = |count: &Count| {
            let truth = self.of(&self.plan.selection.events[count.event], (count.socket, count.instance));
            let validity = truth.map_or_else(|| Validity::not_defined("no truth"), |_| Validity::MEASURED);
            Count { count: truth, validity, ..count.clone() }
        };
        Sample { counts: self.sample.counts.iter().map(told).collect(), ..self.sample.clone() }
    }

    fn of(&self, event: &SelectedEvent, place: (u16, u16)) -> Option<u64> {
        let unit = event.unit;
        match &event.source {
            EventSource::Fixed(register) => self.count(place, unit.name, register.event?, None, &[]),
            EventSource::FreeRunning { .. } => None,
            EventSource::Programmed(programming) => {
                let row = programming.event?;
                let control = unit.register(Role::Control)?;
                let field = |name: &str| control.field(name).map_or(0, |field| field.bits.get(programming.control));
                if row.name == "COUNTER0_OCCUPANCY" {
                    assert_eq!(field("invert"), 0, "no metric inverts");
                    let first = self.plan.selection.events[programming.companion?].programming()?;
                    let shaped = self.shaped(place, first, field("thresh"))?;
                    return Some(if field("edge_det") == 1 { shaped.rises } else { shaped.cycles });
                }
                let config = programming.subevent.map_or(row.config, |subevent| subevent.config);
                if programming.control != config {
                    return None;
                }
                let subevent = programming.subevent.map(|subevent| subevent.name);
                self.count(place, unit.name, row.name, subevent, &filters(programming))
            }
        }
    }

    /// What an occupancy on counter 0 gives behind a threshold.
    fn shaped(&self, (socket, instance): (u16, u16), first: &Programming, threshold: u64) -> Option<Shaped> {
        let opcode = filters(first).iter().find(|(name, _)| *name == "opc").map(|&(_, value)| value);
        let level = match (first.event?.name, first.subevent?.name) {
            ("RxR_OCCUPANCY", "IRQ") => Level::RequestQueue,
            ("TOR_OCCUPANCY", "OPCODE") => Level::Table { opcode: opcode?, missed: false },
            ("TOR_OCCUPANCY", "MISS_OPCODE") => Level::Table { opcode: opcode?, missed: true },
            _ => return None,
        };
        self.model.ledger().shaped(socket * SLICES + instance, level, threshold)
    }
}

fn filters(programming: &Programming) -> Vec<(&'static str, u64)> {
    // No metric asks for a thread, so that its filter is not in force.
    let set = programming.filters.iter().filter(|filter| filter.field.name != "tid");
    set.map(|filter| (filter.field.name, filter.value)).collect()
}
