//! The model's own figures for what was counted, from its ledger.

use pericore_catalog::Role;
use pericore_machine::Window;
use pericore_machine::ledger::Question;
use pericore_observe::selection::{EventSource, SelectedEvent, Selection};
use pericore_observe::session::{Count, Sample};

/// `sample` with every count replaced by the truth; without a number where the ledger has none.
pub fn sample(selection: &Selection, sample: &Sample, window: &Window<'_>) -> Sample {
    let truth = |count: &Count| of(&selection.events[count.event], (count.socket, count.instance), window);
    sample.with_truth(sample.counts.iter().map(truth))
}

/// The truth of an event in an instance of a socket; `None` where the ledger has none.
pub fn of(event: &SelectedEvent, (socket, instance): (u16, u16), window: &Window<'_>) -> Option<u64> {
    match &event.source {
        EventSource::Fixed(register) => window.count(socket, instance, Question::new(event.unit.name, register.event?)),
        EventSource::FreeRunning { .. } => None,
        EventSource::Programmed(programming) => {
            let row = programming.event?;
            let control = event.unit.register(Role::Control)?;
            let config = programming.subevent.map_or(row.config, |subevent| subevent.config);
            let tid_en = control.field("tid_en").map_or(0, |field| field.bits.mask());
            let numbers = || control.fields.iter().filter(|field| row.is_compared_with(field.name));
            let other = numbers().fold(!tid_en, |other, number| other & !number.bits.mask());
            if (programming.control ^ config) & other != 0 {
                // Thresholds, inversion and edges are the counter's doing: the ledger knows what happened, not how it
                // was counted.
                return None;
            }
            let by_thread = programming.control & tid_en != 0;
            let set = programming.filters.iter().filter(|filter| by_thread || filter.field.name != "tid");
            let filters: Vec<(&str, u64)> = set
                .map(|filter| (filter.field.name, filter.value))
                .chain(numbers().map(|number| (number.name, number.bits.get(programming.control))))
                .collect();
            let subevent = programming.subevent.map(|subevent| subevent.name);
            window.count(
                socket,
                instance,
                Question::new(event.unit.name, row.name).subevent(subevent).filtered(&filters),
            )
        }
    }
}
