//! What the ledger says of a run.

use pericore_catalog::{Event, Role, Unit};
use pericore_machine::Window;
use pericore_machine::ledger::Question;
use pericore_metrics::Validity;
use pericore_observe::selection::{EventSource, Programming, SelectedEvent};
use pericore_observe::session::{Count, Sample};

use super::run::Run;

impl Run {
    /// A named event's count in an instance of a socket.
    pub fn count(&self, (socket, instance): (u16, u16), question: Question<'_>) -> Option<u64> {
        Window::between(&self.before, &self.after).count(socket, instance, question)
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
        match &event.source {
            EventSource::Fixed(register) => self.count(place, Question::new(event.unit.name, register.event?)),
            EventSource::FreeRunning { .. } => None,
            EventSource::Programmed(programming) => self.programmed(event.unit, programming, place),
        }
    }

    fn programmed(&self, unit: &'static Unit, programming: &Programming, place: (u16, u16)) -> Option<u64> {
        let row = programming.event?;
        let control = unit.register(Role::Control)?;
        let field = |name: &str| control.field(name).map_or(0, |field| field.bits.get(programming.control));
        if row.name == "COUNTER0_OCCUPANCY" {
            assert_eq!(field("invert"), 0, "no metric inverts");
            let first = self.plan.selection.events[programming.companion?].programming()?;
            let filters = filters(unit, first);
            let question =
                Question::new(unit.name, first.event?.name).subevent(first.subevent?.name).filtered(&filters);
            let shaped = self.machine.shaped(place.0, place.1, question, field("thresh"))?;
            return Some(if field("edge_det") == 1 { shaped.rises } else { shaped.cycles });
        }
        let subevent = programming.subevent.map(|subevent| subevent.name);
        let filters = filters(unit, programming);
        let question = Question::new(unit.name, row.name).filtered(&filters);
        let count = |subevent: Option<&'static str>| self.count(place, question.subevent(subevent));
        // A mask without a name is several named ones, whose counts add up, or are of the same cycles.
        let several = programming.subevent.is_none() && !row.subevents.is_empty();
        let Some(parts) = several.then(|| named(row, field("umask"))).flatten() else { return count(subevent) };
        let mut counts = parts.into_iter().map(|part| count(Some(part)));
        if AT_ONCE.contains(&row.name) { counts.next()? } else { counts.sum() }
    }
}

/// Events whose subevents hold in the same cycles: a channel too hot holds all its modules back.
const AT_ONCE: &[&str] = &["POWER_CRIT_THROTTLE_CYCLES"];

/// Subevents of one bit each whose bits together are the mask.
fn named(event: &Event, mask: u64) -> Option<Vec<&'static str>> {
    let bits: Vec<u64> = (0..8).map(|bit| 1 << bit).filter(|bit| mask & bit != 0).collect();
    let of_bit = |bit: u64| event.subevents.iter().find(|subevent| subevent.umask.map(u64::from) == Some(bit));
    bits.into_iter().map(|bit| of_bit(bit).map(|subevent| subevent.name)).collect()
}

/// The values of the filter register, and of what an event has of a filter in its control.
fn filters(unit: &Unit, programming: &Programming) -> Vec<(&'static str, u64)> {
    // No metric asks for a thread, so that its filter is not in force.
    let set = programming.filters.iter().filter(|filter| filter.field.name != "tid");
    let overlaid = programming.event.and_then(|event| event.field_set);
    let overlaid = overlaid.map_or(&[][..], |index| unit.field_sets[usize::from(index)].fields);
    let in_control = overlaid.iter().map(|field| (field.name, field.bits.get(programming.control)));
    set.map(|filter| (filter.field.name, filter.value)).chain(in_control).collect()
}
