//! What was counted where: as much of a plan as results need, so that samples can be evaluated where there is no plan any more.

use pericore_catalog::Unit;

use super::{Part, Scope};
use crate::plan::{Plan, Through, instance_name};
use crate::selection::Selection;

/// What was counted, and in which instances.
#[derive(Debug, Clone)]
pub struct Layout<'a> {
    /// What was asked for; counts refer to its events by index.
    pub selection: &'a Selection,
    /// The instances in use.
    pub instances: Vec<Instance>,
    /// The sockets that were looked at, in ascending order: one in which nothing answers has no instance.
    pub looked_at: Vec<u16>,
}

/// An instance in use.
#[derive(Debug, Clone, Copy)]
pub struct Instance {
    /// Socket.
    pub socket: u16,
    /// Unit.
    pub unit: &'static Unit,
    /// Instance within the socket.
    pub number: u16,
    /// How its counters were reached, where that is known.
    pub through: Option<Through>,
}

impl Instance {
    /// Unit and number: `cbo3`.
    pub fn name(&self) -> String {
        instance_name(self.unit, self.number)
    }
}

impl Plan {
    /// What is counted where.
    pub fn layout(&self) -> Layout<'_> {
        let of_socket = |socket: &crate::plan::SocketPlan| {
            let number = socket.socket;
            let instances = socket.instances.iter();
            let instance = move |i: &crate::plan::InstancePlan| Instance {
                socket: number,
                unit: i.unit,
                number: i.number,
                through: Some(i.through),
            };
            instances.map(instance).collect::<Vec<_>>()
        };
        let looked_at = self.sockets.iter().map(|socket| socket.socket).collect();
        Layout { selection: &self.selection, instances: self.sockets.iter().flat_map(of_socket).collect(), looked_at }
    }
}

impl Layout<'_> {
    /// Sockets with an instance in use.
    pub(super) fn sockets(&self) -> Vec<u16> {
        let mut sockets: Vec<u16> = self.instances.iter().map(|instance| instance.socket).collect();
        sockets.sort_unstable();
        sockets.dedup();
        sockets
    }

    /// The parts of the machine in which a unit is in use, in ascending order, each with its number of instances.
    pub(super) fn parts_of(&self, unit: &Unit, scope: Scope) -> Vec<(Part, usize)> {
        let mut parts: Vec<(Part, usize)> = Vec::new();
        for instance in self.instances.iter().filter(|instance| instance.unit.id == unit.id) {
            let part = scope.part(instance.socket, instance.number);
            match parts.binary_search_by_key(&part, |(known, _)| *known) {
                Ok(at) => parts[at].1 += 1,
                Err(at) => parts.insert(at, (part, 1)),
            }
        }
        parts
    }
}
