//! Units of which fewer answer than such a machine can have: a part with fewer has them never, but firmware may hide
//! them, too, and a sum over
//! three channels is no sum over four.

use std::fmt;

use pericore_catalog::Unit;
use pericore_observe::results::{Instance, Layout};
use pericore_observe::selection::{EventSource, SelectedEvent};

/// How many instances of a unit a number adds up, and how many there can be: the first is the smaller one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answering {
    /// Instances that answer.
    pub counted: usize,
    /// Instances that such a machine can have.
    pub possible: usize,
}

/// A unit of which not all answer in a socket.
#[derive(Debug, Clone, Copy)]
pub struct Fewer {
    socket: u16,
    unit: &'static Unit,
    answering: Answering,
}

impl Fewer {
    /// All of them, for the units that were to be counted in every instance.
    pub fn of(layout: &Layout<'_>) -> Vec<Self> {
        let events = || layout.selection.events.iter().filter(|event| event.instance.is_none());
        let possible = |unit: &Unit| events().filter(|event| event.unit.id == unit.id).map(places).max();
        let units = layout.selection.family.units.iter().filter_map(|&unit| Some((unit, possible(unit)?)));
        let at =
            |(unit, possible)| layout.looked_at.iter().map(move |&socket| Self::at(layout, socket, unit, possible));
        units.flat_map(at).filter(|fewer| fewer.answering.counted < fewer.answering.possible).collect()
    }

    fn at(layout: &Layout<'_>, socket: u16, unit: &'static Unit, possible: usize) -> Self {
        let is_one = |instance: &&Instance| instance.socket == socket && instance.unit.id == unit.id;
        let counted = layout.instances.iter().filter(is_one).count();
        Self { socket, unit, answering: Answering { counted, possible } }
    }

    /// Of a number that adds up instances of a unit, in one socket or in all: how many do, and how many there could be,
    /// if that is more.
    pub fn in_sum(layout: &Layout<'_>, all: &[Self], unit: &Unit, socket: Option<u16>) -> Option<Answering> {
        let is_there = |of: &Unit, at: u16| of.id == unit.id && socket.is_none_or(|socket| socket == at);
        let fewer = all.iter().filter(|fewer| is_there(fewer.unit, fewer.socket)).map(|fewer| fewer.answering);
        let missing: usize = fewer.map(|answering| answering.possible - answering.counted).sum();
        if missing == 0 {
            return None;
        }
        let counted = layout.instances.iter().filter(|instance| is_there(instance.unit, instance.socket)).count();
        Some(Answering { counted, possible: counted + missing })
    }
}

/// In how many places of a socket an event can be counted: neighbours may share a counter that runs by itself.
fn places(event: &SelectedEvent) -> usize {
    match event.source {
        EventSource::FreeRunning { register, .. } => event.unit.places(register).into(),
        EventSource::Programmed(_) | EventSource::Fixed(_) => event.unit.instances.into(),
    }
}

impl fmt::Display for Fewer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { socket, unit, answering: Answering { counted, possible } } = self;
        write!(f, "socket {socket}: {counted} {} answer, where such a machine has up to {possible}", unit.name)
    }
}
