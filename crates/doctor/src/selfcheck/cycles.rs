//! An event that counts cycles for every counter there is.

use pericore_catalog::{Event, Measure, Role, Unit};
use pericore_observe::discover::Topology;
use pericore_observe::selection::{Selection, SelectionError};

/// What every counter of a machine is to count: cycles. A unit without an event for them counts those in which
/// something is below a threshold that it cannot reach.
///
/// # Errors
/// The catalogue's own names are not understood.
pub fn cycles_everywhere(topology: &Topology) -> Result<Selection, SelectionError> {
    let mut selection = Selection::new(topology.family);
    selection.on_every_counter = true;
    let is_there = |unit: &&&'static Unit| topology.sockets.iter().any(|socket| !socket.present(unit).is_empty());
    for unit in topology.family.units.iter().filter(is_there) {
        for register in unit.with_role(Role::FixedCounter) {
            if let Some(event) = register.event {
                selection.add_events(&format!("{}/{event}/", unit.name))?;
            }
        }
        let mut covered = 0;
        let clock = unit.events.iter().find(|event| event.measure == Measure::Clock);
        if let Some(clock) = clock {
            selection.add_events(&event_text(unit, clock, ""))?;
            covered = clock.counters;
        }
        let all = ((1_u32 << unit.counters.min(16)) - 1) as u16;
        if let Some((event, settings)) = never_reached(unit).filter(|_| covered & all != all) {
            selection.add_events(&event_text(unit, event, &settings))?;
        }
    }
    Ok(selection)
}

/// An event and a threshold that it never reaches, turned round: true in every cycle.
fn never_reached(unit: &'static Unit) -> Option<(&'static Event, String)> {
    let control = unit.register(Role::Control)?;
    let most = control.field("thresh")?.bits.max();
    control.field("invert")?;
    let fits = |event: &&&'static Event| {
        event.measure == Measure::Arrivals
            && event.filters.is_empty()
            && event.field_set.is_none()
            && event.code != 0
            && event.max_increment.is_none_or(|increment| u64::from(increment) < most)
    };
    let most_counters = |event: &&&'static Event| event.counters.count_ones();
    // Of those on as many counters the first.
    let event = unit.events.iter().rev().filter(|event| fits(&event)).max_by_key(|event| most_counters(&event))?;
    Some((event, format!(",thresh={most},invert=1")))
}

/// An event, or the first of its subevents where it does not count by itself, as it is named on the command line.
pub fn event_text(unit: &Unit, event: &Event, settings: &str) -> String {
    let subevent = event.subevents.first().filter(|_| !event.is_whole);
    let subevent = subevent.map_or_else(String::new, |subevent| format!(".{}", subevent.name));
    format!("{}/{}{subevent}{settings}/", unit.name, event.name)
}
