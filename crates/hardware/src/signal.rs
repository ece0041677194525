//! The interface between the traffic model and the PMON hardware.
//!
//! The model says what happens, by signal; the PMON side decides what of it a counter sees. Neither knows the other:
//! signals are bound by name through the catalogue when a machine is built, and from then on a [`Wire`] is a few small integers.

use std::collections::HashMap;

use pericore_catalog::{BitRange, Event, Family, FilterNeed, Register, Role, Subevent, Unit};

use crate::pmon::{Compiled, compile_event, free_running};
pub use pericore_engine::Tick;

/// One signal of one PMON instance. [`Wiring::wire`] makes it; the default stands for the first signal that there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Wire {
    /// PMON instance, numbered over the whole machine.
    pub instance: u16,
    /// Index into the unit's signals.
    pub signal: u16,
    /// Number among the signals of all instances, instance by instance, so that one look finds what belongs to the wire.
    place: u32,
}

impl Wire {
    /// Number among the signals of all instances.
    #[inline]
    pub const fn place(self) -> usize {
        self.place as usize
    }

    /// The same signal of another instance of its unit: so many sockets and instances further on. `signals` is the number of the
    /// unit's signals.
    #[inline]
    #[must_use]
    pub const fn further(self, stride: Stride, socket: u16, instance: u16, signals: u16) -> Self {
        Self {
            instance: self.instance + socket * stride.instances + instance,
            signal: self.signal,
            place: self.place + socket as u32 * stride.places + instance as u32 * signals as u32,
        }
    }
}

/// How far the same wire of the next socket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stride {
    instances: u16,
    places: u32,
}

/// Receives what the model emits. Calls come in order of time; `tag` packs the signal's attributes.
///
/// A sink hears a wire or does not. The model asks when it begins to run, and keeps to the answer until it stops; a wire that it does not ask
/// about is told always. On one that is not heard, nothing need be said: then the entries that came and went meanwhile are made up for by
/// [`Self::occupancy`], before anybody hears the wire again.
pub trait SignalSink {
    /// `count` increments at `tick`.
    fn pulse(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32);
    /// An entry arrives: a level rises by one.
    fn enter(&mut self, wire: Wire, tag: u64, tick: Tick);
    /// An entry leaves; `tag` is the one that it entered with.
    fn leave(&mut self, wire: Wire, tag: u64, tick: Tick);
    /// What stands on a wire that was not heard: so many entries with each tag, equal tags adding up. It takes the place of all that was
    /// said of the wire's entries, and none of them counts as one that arrives. A sink that hears everything from the start is never told.
    fn occupancy(&mut self, _wire: Wire, _entries: &[(u64, u32)], _tick: Tick) {}
    /// False if what is said of this wire has no effect until registers are written again, so that it need not be said.
    fn observes(&self, _wire: Wire) -> bool {
        true
    }
    /// False if that holds for all wires of an instance.
    fn observes_any(&self, _instance: u16) -> bool {
        true
    }
}

/// Names that the model asked for and the catalogue does not have: a defect of the model or of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WiringError {
    /// No such unit.
    #[error(
        "{family} has no unit {unit:?}: correct the name in the model or add the unit to catalog/families/{family}.toml"
    )]
    NoUnit {
        /// Family.
        family: &'static str,
        /// Unit asked for.
        unit: String,
    },
    /// No such signal or event.
    #[error(
        "unit {unit} has no signal or event {name:?}: correct the name in the model or add it to the unit's catalogue files"
    )]
    NoSignal {
        /// Unit.
        unit: &'static str,
        /// Signal, event or attribute asked for.
        name: String,
    },
    /// An instance beyond the unit's last.
    #[error("unit {unit} has {count} instances a socket; the model asked for number {instance}")]
    NoInstance {
        /// Unit.
        unit: &'static str,
        /// Instances that there are.
        count: u16,
        /// Instance asked for.
        instance: u16,
    },
}

/// Where in the machine-wide numbering each unit's instances start, and which signals the model has bound.
#[derive(Debug)]
pub struct Wiring {
    family: &'static Family,
    sockets: u16,
    /// First machine-wide instance number of each unit, in socket 0.
    starts: Vec<u16>,
    /// First wire of each unit, in socket 0.
    places: Vec<u32>,
    stride: Stride,
    bound: Vec<(usize, u16, u64)>,
    /// The same, the tags of each signal.
    signals: HashMap<(usize, u16), Vec<u64>>,
    /// Of some signals all tags that they can have, whole.
    tags: HashMap<(usize, u16), Vec<u64>>,
}

impl Wiring {
    /// Numbers all PMON instances of `sockets` sockets: socket by socket, unit by unit in catalogue order.
    pub fn new(family: &'static Family, sockets: u16) -> Self {
        let mut stride = Stride { instances: 0, places: 0 };
        let (mut starts, mut places) = (Vec::new(), Vec::new());
        for unit in family.units {
            starts.push(stride.instances);
            places.push(stride.places);
            stride.instances += unit.instances;
            stride.places += u32::from(unit.instances) * unit.signals.len() as u32;
        }
        let (bound, signals, tags) = (Vec::new(), HashMap::new(), HashMap::new());
        Self { family, sockets, starts, places, stride, bound, signals, tags }
    }

    /// The family.
    pub const fn family(&self) -> &'static Family {
        self.family
    }

    /// Sockets.
    pub const fn sockets(&self) -> u16 {
        self.sockets
    }

    /// Instances of the whole machine.
    pub const fn instances(&self) -> u16 {
        self.stride.instances * self.sockets
    }

    /// Machine-wide number of an instance. `unit` is an index into the family's units.
    pub fn instance(&self, socket: u16, unit: usize, instance: u16) -> u16 {
        socket * self.stride.instances + self.starts[unit] + instance
    }

    /// Socket, unit index and instance of a machine-wide number.
    pub fn locate(&self, number: u16) -> (u16, usize, u16) {
        let (socket, within) = (number / self.stride.instances, number % self.stride.instances);
        // Units without instances share their successor's start: the last one of them holds the number.
        let unit = self.starts.partition_point(|&start| start <= within) - 1;
        (socket, unit, within - self.starts[unit])
    }

    /// Binds a signal by its name in the unit's `[[signal]]` rows, or by the name of an event that has a signal of its own.
    ///
    /// # Errors
    /// [`WiringError`] if the catalogue does not have the name.
    pub fn signal(&mut self, socket: u16, unit: &str, instance: u16, signal: &str) -> Result<Wire, WiringError> {
        let (unit_index, unit) = self.unit(unit)?;
        let index = unit
            .signals
            .iter()
            .position(|s| s.name == signal)
            .ok_or_else(|| WiringError::NoSignal { unit: unit.name, name: signal.to_owned() })?;
        self.signal_at(socket, unit_index, instance, index as u16)
    }

    /// Binds a signal of a unit by its index.
    fn signal_at(&mut self, socket: u16, unit: usize, instance: u16, signal: u16) -> Result<Wire, WiringError> {
        let row = self.family.units[unit];
        if instance >= row.instances {
            return Err(WiringError::NoInstance { unit: row.name, count: row.instances, instance });
        }
        if !self.signals.contains_key(&(unit, signal)) {
            self.bind(unit, signal, 0);
        }
        Ok(self.wire(self.instance(socket, unit, instance), signal))
    }

    /// Notes that the model asked for a tag of a signal.
    fn bind(&mut self, unit: usize, signal: u16, tag: u64) {
        self.bound.push((unit, signal, tag));
        self.signals.entry((unit, signal)).or_default().push(tag);
    }

    /// A signal, by its index, of an instance by its machine-wide number.
    pub fn wire(&self, number: u16, signal: u16) -> Wire {
        let (socket, unit, instance) = self.locate(number);
        let place = self.places[unit] + u32::from(signal);
        Wire { instance: self.instance(0, unit, 0), signal, place }.further(
            self.stride,
            socket,
            instance,
            self.family.units[unit].signals.len() as u16,
        )
    }

    /// How far the same wire of the next socket is.
    pub const fn stride(&self) -> Stride {
        self.stride
    }

    /// Binds the signal behind an event and gives the tag that selects one subevent of it: the subevent's bits in the
    /// signal's `sub` attribute. For signals that events share, any event of the signal may name the subevent.
    ///
    /// # Errors
    /// [`WiringError`] if the catalogue does not have the names, or the signal carries no `sub`.
    pub fn subevent(
        &mut self,
        socket: u16,
        unit: &str,
        instance: u16,
        event: &str,
        subevent: &str,
    ) -> Result<(Wire, u64), WiringError> {
        let (unit_index, unit_row) = self.unit(unit)?;
        let missing = |name: String| WiringError::NoSignal { unit: unit_row.name, name };
        let event_row = unit_row.event(event).ok_or_else(|| missing(event.to_owned()))?;
        let row = event_row.subevent(subevent).ok_or_else(|| missing(format!("{event}.{subevent}")))?;
        let signal = unit_row.signal_of(event_row).ok_or_else(|| missing(format!("{event}, a clock")))?;
        let bits = self.attribute(unit, signal.name, "sub")?;
        let tag = bits.set(0, u64::from(row.umask.unwrap_or(0)));
        let wire = self.signal(socket, unit, instance, signal.name)?;
        self.bind(unit_index, wire.signal, tag);
        Ok((wire, tag))
    }

    /// Binds the signal behind an event and gives a tag that the event, or its subevent, selects: every attribute that is named after
    /// a field of the control register has what the event sets there.
    ///
    /// # Errors
    /// [`WiringError`] if the catalogue does not have the names.
    pub fn tagged(
        &mut self,
        socket: u16,
        unit: &str,
        instance: u16,
        event: &str,
        subevent: Option<&str>,
    ) -> Result<(Wire, u64), WiringError> {
        let (unit_index, unit_row) = self.unit(unit)?;
        let missing = |name: String| WiringError::NoSignal { unit: unit_row.name, name };
        let event_row = unit_row.event(event).ok_or_else(|| missing(event.to_owned()))?;
        let row = subevent.map(|name| event_row.subevent(name).ok_or_else(|| missing(format!("{event}.{name}"))));
        let config = row.transpose()?.map_or(event_row.config, |row| row.config);
        let index = event_row.signal.ok_or_else(|| missing(format!("{event}, a clock")))?;
        let control = unit_row.register(Role::Control).ok_or_else(|| missing("a control register".to_owned()))?;
        let mut tag = 0;
        for attribute in unit_row.signals[usize::from(index)].attributes {
            let field = if attribute.name == "sub" { "umask" } else { attribute.name };
            if let Some(field) = control.field(field) {
                tag = attribute.bits.set(tag, field.bits.get(config));
            }
        }
        let wire = self.signal_at(socket, unit_index, instance, index)?;
        self.bind(unit_index, index, tag);
        Ok((wire, tag))
    }

    /// The bits of a tag that hold an attribute.
    ///
    /// # Errors
    /// [`WiringError`] if the catalogue does not have the name.
    pub fn attribute(&self, unit: &str, signal: &str, attribute: &str) -> Result<BitRange, WiringError> {
        let (_, unit) = self.unit(unit)?;
        let missing = || WiringError::NoSignal { unit: unit.name, name: format!("{signal}.{attribute}") };
        let signal = unit.signals.iter().find(|s| s.name == signal).ok_or_else(missing)?;
        Ok(signal.attributes.iter().find(|a| a.name == attribute).ok_or_else(missing)?.bits)
    }

    /// Says which tags a bound signal can have, each as it will be emitted, beside those that were said before. Without a word a signal
    /// has what [`Wiring::subevent`] asked for.
    pub fn can_have(&mut self, wire: Wire, tags: impl IntoIterator<Item = u64>) {
        let (_, unit, _) = self.locate(wire.instance);
        let known = self.tags.entry((unit, wire.signal)).or_default();
        for tag in tags {
            if let Err(place) = known.binary_search(&tag) {
                known.insert(place, tag);
            }
        }
    }

    /// True if the model emits what the event, or the subevent of it, counts: with some values of the filters that it must have in the
    /// control register.
    pub fn is_modelled(&self, unit: usize, event: &Event, subevent: Option<&Subevent>) -> bool {
        if subevent.is_none() && !event.subevents.is_empty() {
            return event.subevents.iter().any(|subevent| self.is_modelled(unit, event, Some(subevent)));
        }
        let (control, filters) =
            subevent.map_or((event.config, event.filters), |subevent| (subevent.config, subevent.filters));
        let mut controls = vec![control];
        for filter in filters.iter().filter(|filter| matches!(filter.need, FilterNeed::Required)) {
            if let Some((bits, values)) = self.filter_values(unit, event, filter.field) {
                let with = |control: u64| values.iter().map(move |&value| bits.set(control, value));
                controls = controls.into_iter().flat_map(with).collect();
            }
        }
        let row = self.family.units[unit];
        let mut controls = controls.into_iter();
        controls.any(|control| self.emits_what(unit, event, subevent, || Compiled::of_event(row, event, control)))
    }

    /// True if the model emits what a counter takes that has this control value, which is one of the event's, or of its subevent's.
    pub fn emits(&self, unit: usize, event: &Event, subevent: Option<&Subevent>, control: u64) -> bool {
        self.emits_what(unit, event, subevent, || compile_event(self.family.units[unit], control))
    }

    fn emits_what(
        &self,
        unit: usize,
        event: &Event,
        subevent: Option<&Subevent>,
        what: impl Fn() -> Option<Compiled>,
    ) -> bool {
        let row = self.family.units[unit];
        let Some(index) = event.signal else { return true };
        if let Some(tags) = self.tags.get(&(unit, index)) {
            return what().is_some_and(|what| tags.iter().any(|&tag| what.matches(tag)));
        }
        let sub = row.signals[usize::from(index)].attributes.iter().find(|a| a.name == "sub");
        let umask = subevent.and_then(|subevent| subevent.umask);
        self.signals.get(&(unit, index)).into_iter().flatten().any(|&tag| match (sub, umask) {
            (Some(sub), Some(umask)) => sub.bits.get(tag) & u64::from(umask) != 0,
            _ => true,
        })
    }

    /// True if the model emits what a free-running counter counts.
    pub fn runs(&self, unit: usize, register: &Register, member: u8) -> bool {
        let Some(signal) = register.signal else { return true };
        let what = free_running(self.family.units[unit], register, member);
        match self.tags.get(&(unit, signal)) {
            Some(tags) => tags.iter().any(|&tag| what.hears(signal, tag)),
            None => self.bound.iter().any(|&(u, s, tag)| (u, s) == (unit, signal) && what.hears(signal, tag)),
        }
    }

    /// Where in the control register a filter of an event stands, and which values of it the model emits; none if it stands elsewhere.
    fn filter_values(&self, unit: usize, event: &Event, name: &str) -> Option<(BitRange, Vec<u64>)> {
        let (row, index) = (self.family.units[unit], event.signal?);
        let set = event.field_set.map(|set| row.field_sets[usize::from(set)].fields).unwrap_or_default();
        let field = set.iter().find(|field| field.name == name);
        let field = field.or_else(|| row.register(Role::Control)?.field(name))?;
        let attribute = row.signals[usize::from(index)].attributes.iter().find(|attribute| attribute.name == name)?;
        let mut values: Vec<u64> = self.tags.get(&(unit, index))?.iter().map(|&tag| attribute.bits.get(tag)).collect();
        values.sort_unstable();
        values.dedup();
        Some((field.bits, values))
    }

    /// Every signal that the model bound, once for each tag it asked for: unit index, signal, tag.
    pub fn bound(&self) -> &[(usize, u16, u64)] {
        &self.bound
    }

    fn unit(&self, name: &str) -> Result<(usize, &'static Unit), WiringError> {
        let found = self.family.unit_index(name).map(|index| (index, self.family.units[index]));
        found.ok_or_else(|| WiringError::NoUnit { family: self.family.name, unit: name.to_owned() })
    }
}
