//! Which counters of a plan stand, and when.

use super::{InstancePlan, Plan, SocketPlan};

/// When everything that is counted stands: such time belongs to no sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paused {
    /// While counters are read.
    pub for_reading: bool,
    /// While rounds change.
    pub for_turns: bool,
    /// Those that take turns, while rounds change.
    pub in_turn: bool,
    /// From the overflow that is waited for until the counters go on.
    pub from_overflow: bool,
}

impl Plan {
    /// When all counters in use stand; never, if one of them runs freely.
    pub fn paused(&self) -> Paused {
        Paused {
            for_reading: self.all_stand(SocketPlan::stops),
            for_turns: self.all_stand(SocketPlan::stops_for_turns),
            in_turn: self.sockets.iter().all(|part| {
                let mut instances = part.instances.iter().enumerate();
                instances.all(|(index, instance)| instance.rounds == 1 || part.stops(index))
            }),
            // Without a gate the overflow stops the counters of the one unit there is.
            from_overflow: self.all_stand(|part, index| part.gate.is_none() || part.gate_stops(index)),
        }
    }

    /// True if what counts an event of the selection in an instance of a socket stands while it is read.
    pub fn stops_to_read(&self, event: usize, socket: u16, number: u16) -> bool {
        let unit = self.selection.events[event].unit;
        let Some(part) = self.sockets.iter().find(|part| part.socket == socket) else { return false };
        let own = |instance: &InstancePlan| (instance.unit.name, instance.number) == (unit.name, number);
        part.instances.iter().position(own).is_some_and(|index| {
            let mut counters = part.instances[index].counters.iter().filter(|counter| counter.events.contains(&event));
            part.stops(index) && counters.all(|counter| counter.control.is_some())
        })
    }

    /// True if all counters in use can be stopped, and this says of each instance that has any that they are.
    fn all_stand(&self, stand: impl Fn(&SocketPlan, usize) -> bool) -> bool {
        self.sockets.iter().all(|part| {
            let mut used = part.instances.iter().enumerate().filter(|(_, instance)| !instance.counters.is_empty());
            used.all(|(index, instance)| {
                stand(part, index) && instance.counters.iter().all(|counter| counter.control.is_some())
            })
        })
    }
}

impl SocketPlan {
    /// True if the socket's freeze is used, and stops an instance.
    pub fn gate_stops(&self, instance: usize) -> bool {
        self.gate.is_some() && !self.instances[instance].is_isolated()
    }

    /// True if an instance's programmed counters stand while rounds change, whether they take turns or not.
    pub fn stops_for_turns(&self, instance: usize) -> bool {
        let turns = |instance: &InstancePlan| instance.rounds > 1;
        if turns(&self.instances[instance]) {
            self.stops(instance)
        } else {
            // The gate is closed only where something takes turns.
            self.gate_stops(instance) && self.instances.iter().any(turns)
        }
    }

    /// True if an instance's programmed counters stand while they are set up and read: by the socket's freeze, or by
    /// its own.
    pub fn stops(&self, instance: usize) -> bool {
        self.gate_stops(instance) || self.freeze.iter().any(|step| step.instance == instance)
    }
}

impl InstancePlan {
    /// True if the instance neither hears the socket's freeze nor tells of overflows.
    pub fn is_isolated(&self) -> bool {
        self.unit.isolated.contains(&self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::discover::discover;
    use crate::selection::Selection;
    use crate::testing::{CPUS, Fake, e5_2600};

    fn plan(events: &str) -> Plan {
        let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
        let mut selection = Selection::new(e5_2600());
        selection.add_events(events).unwrap();
        Plan::new(&topology, selection).unwrap()
    }

    const FIVE: &str =
        "imc1/CAS_COUNT.RD/,imc1/CAS_COUNT.WR/,imc1/ACT_COUNT/,imc1/PRE_COUNT.PAGE_MISS/,imc1/RPQ_INSERTS/";

    /// Channels have a freeze each, the U-Box has none (guide, 2.2), and nothing freezes an E5-2600's socket: what is
    /// counted in another channel runs on while rounds change.
    #[test]
    fn counters_stand_where_all_of_them_have_a_freeze() {
        let of = |events: &str| {
            let Paused { for_reading, for_turns, in_turn, from_overflow } = plan(events).paused();
            (for_reading, for_turns, in_turn, from_overflow)
        };
        assert_eq!(of("imc1/CAS_COUNT.RD/"), (true, false, true, true));
        assert_eq!(of("imc1/CAS_COUNT.RD/,ubox/UCLK_FIXED/"), (false, false, true, true));
        assert_eq!(of(FIVE), (true, true, true, true));
        assert_eq!(of(&format!("{FIVE},imc2/CAS_COUNT.RD/")), (true, false, true, true));
    }

    #[test]
    fn what_is_stopped_to_be_read_is_known_by_event_and_place() {
        let plan = plan("imc1/CAS_COUNT.RD/,ubox/UCLK_FIXED/,cbo/CLOCKTICKS/");
        for (event, socket, number, stops) in [
            (0, 0, 1, true),
            (0, 1, 1, true),
            (0, 0, 2, false),
            (0, 2, 1, false),
            (1, 0, 0, false),
            (2, 1, 7, true),
            (2, 1, 8, false),
        ] {
            assert_eq!(plan.stops_to_read(event, socket, number), stops, "{event} in {number} of {socket}");
        }
    }
}
