//! Computes what rows leave to the compiler: the complete control value of each event, and the signal behind it.

use pericore_catalog_schema::{Measure, Role, SignalKind};

use crate::diagnostics::nearest;
use crate::schema::{Catalogue, Event, Field, FieldSet, Signal, Unit};
use crate::{Diagnostics, Place};

/// Resolves every unit of every family.
pub fn all(catalogue: &mut Catalogue, diagnostics: &mut Diagnostics) {
    for unit in catalogue.families.iter_mut().flat_map(|family| &mut family.units) {
        encodings(unit, diagnostics);
        register_signals(unit, diagnostics);
        signals(unit, diagnostics);
    }
}

/// The control fields and field sets that a unit's rows may name.
struct Fields<'a> {
    unit: &'a str,
    control: &'a [Field],
    sets: &'a [FieldSet],
}

impl<'a> Fields<'a> {
    fn find(&self, name: &str, set: Option<&str>) -> Option<&'a Field> {
        let set = set.and_then(|set| self.sets.iter().find(|s| s.name == set));
        self.control.iter().chain(set.into_iter().flat_map(|s| &s.fields)).find(|field| field.name == name)
    }

    /// `config` with a field set; reports unknown names and values that do not fit.
    fn place(
        &self,
        config: u64,
        (name, value): (&str, u64),
        event: &Event,
        place: Place,
        diagnostics: &mut Diagnostics,
    ) -> u64 {
        let Some(field) = self.find(name, event.field_set.as_deref()) else {
            let known = self.control.iter().map(|field| field.name.as_str());
            let fix = match nearest(name, known) {
                Some(near) => format!("did you mean {near:?}?"),
                None => "remove it, or add the field to the control register or to the event's field_set".to_owned(),
            };
            diagnostics.report(place, format!("unit {} has no control field {name:?}", self.unit), fix);
            return config;
        };
        let most = field.mask() >> field.lsb;
        if value > most {
            let message = format!("{name} = {value:#x} does not fit bits {}:{}", field.msb, field.lsb);
            diagnostics.report(place, message, format!("the largest value is {most:#x}"));
        }
        (config & !field.mask()) | ((value & most) << field.lsb)
    }
}

fn encodings(unit: &mut Unit, diagnostics: &mut Diagnostics) {
    let no_fields = Vec::new();
    let control = unit.registers.iter().find(|register| register.role == Role::Control);
    let fields = Fields {
        unit: &unit.name,
        control: control.map_or(&no_fields, |register| &register.fields),
        sets: &unit.field_sets,
    };
    if control.is_none() && !unit.events.is_empty() {
        let fix = "add a [[register]] with role = \"control\"";
        diagnostics.report(unit.place, format!("unit {} has events and no control register", unit.name), fix);
        return;
    }
    for event in &mut unit.events {
        let mut config = fields.place(0, ("ev_sel", u64::from(event.code)), event, event.place, diagnostics);
        for (name, value) in &event.select {
            config = fields.place(config, (name, *value), event, event.place, diagnostics);
        }
        event.config = config;
        let mut subevents = std::mem::take(&mut event.subevents);
        for subevent in &mut subevents {
            let umask = subevent.umask.map(|umask| ("umask", umask));
            let selected = subevent.select.iter().map(|(name, value)| (name.as_str(), *value));
            subevent.config = umask
                .into_iter()
                .chain(selected)
                .fold(config, |config, row| fields.place(config, row, event, subevent.place, diagnostics));
        }
        event.subevents = subevents;
    }
}

/// Gives each counting register its signal: the one it names, or one of its own that carries the member.
fn register_signals(unit: &mut Unit, diagnostics: &mut Diagnostics) {
    for register in unit.registers.iter_mut().filter(|register| register.role == Role::FreeRunning) {
        if register.measure == Measure::Clock {
            continue;
        }
        let name = register.signal.clone().or_else(|| register.event.clone()).unwrap_or_else(|| register.name.clone());
        let found = unit.signals.iter().position(|signal| signal.name == name);
        if found.is_none() && register.signal.is_some() {
            let fix = format!("add a [[signal]] named {name:?} to the unit's file");
            diagnostics.report(register.place, format!("unit {} has no signal {name:?}", unit.name), fix);
            continue;
        }
        register.signal_index = Some(found.unwrap_or(unit.signals.len()) as u16);
        if found.is_none() {
            unit.signals.push(Signal {
                place: register.place,
                name,
                kind: kind_behind(register.measure),
                description: register.description.clone(),
                attributes: if register.count > 1 { vec![("member".to_owned(), 8)] } else { Vec::new() },
            });
        }
    }
}

/// Gives each event its signal: the one it names, or one of its own that carries what selects its subevents.
fn signals(unit: &mut Unit, diagnostics: &mut Diagnostics) {
    let control = unit.registers.iter().find(|register| register.role == Role::Control);
    for event in &mut unit.events {
        if matches!(event.measure, Measure::Clock | Measure::HalfClock | Measure::Counter0) {
            continue;
        }
        if let Some(name) = &event.signal {
            event.signal_index = unit.signals.iter().position(|signal| signal.name == *name).map(|index| index as u16);
            if event.signal_index.is_none() {
                let fix = match nearest(name, unit.signals.iter().map(|signal| signal.name.as_str())) {
                    Some(near) => format!("did you mean {near:?}?"),
                    None => format!("add a [[signal]] named {name:?} to the unit's file"),
                };
                diagnostics.report(event.place, format!("unit {} has no signal {name:?}", unit.name), fix);
            }
            continue;
        }
        let mut attributes = Vec::new();
        if event.subevents.iter().any(|subevent| subevent.umask.is_some_and(|umask| umask != 0)) {
            attributes.push(("sub".to_owned(), 8));
        }
        for (name, _) in event.subevents.iter().flat_map(|subevent| &subevent.select) {
            let field = control.and_then(|control| control.field(name));
            if let Some(field) = field.filter(|_| attributes.iter().all(|(known, _)| known != name)) {
                attributes.push((name.clone(), field.msb - field.lsb + 1));
            }
        }
        // A control with tid_en narrows the event to a thread: its signal must carry one.
        let thread = unit
            .registers
            .iter()
            .filter(|register| register.role == Role::Filter)
            .find_map(|register| register.field("tid"));
        if let Some(thread) = thread.filter(|_| event.filters.iter().any(|filter| filter.field == "tid")) {
            attributes.push(("tid".to_owned(), thread.msb - thread.lsb + 1));
        }
        event.signal_index = Some(unit.signals.len() as u16);
        unit.signals.push(Signal {
            place: event.place,
            name: event.name.clone(),
            kind: kind_behind(event.measure),
            description: event.description.clone(),
            attributes,
        });
    }
}

/// The kind of signal that an event or register of its own has.
const fn kind_behind(measure: Measure) -> SignalKind {
    match measure {
        Measure::Occupancy | Measure::NonEmpty => SignalKind::Level,
        Measure::Arrivals | Measure::Clock | Measure::HalfClock | Measure::Counter0 => SignalKind::Pulses,
    }
}
