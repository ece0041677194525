//! Why a selection cannot be counted here.

use pericore_catalog::Unit;

use super::assign::{Demand, Misfit, Reason};
use crate::discover::{LocateError, Presence, Topology};
use crate::selection::SelectedEvent;

/// A selection that cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The selection is empty.
    #[error("nothing to count; choose events with -e or metrics with -M, `pericore list` shows them")]
    NothingToCount,
    /// No instance of the unit answers.
    #[error("{label}: no {unit} answers on this machine ({why}); leave the event out")]
    Absent {
        /// The event.
        label: String,
        /// Unit and number.
        unit: String,
        /// What was seen.
        why: String,
    },
    /// The unit has no programmable counters.
    #[error("{unit} has no programmable counters; choose its fixed or free-running ones")]
    NoCounters {
        /// Unit.
        unit: &'static str,
    },
    /// An event that the unit cannot count, or a group that it cannot count at once.
    #[error(
        "{unit} cannot count {} at the same time: {}{}; {}",
        if .fits.is_empty() { names(.left_out) } else { "this group".to_owned() },
        reasons(.left_out),
        if .fits.is_empty() { String::new() } else { format!("; these fit together: {}", join(.fits)) },
        if .fits.is_empty() { "leave it out" } else { "take events out of the group: outside they take turns" },
    )]
    OverSubscribed {
        /// Unit.
        unit: &'static str,
        /// Instance.
        instance: u16,
        /// Events that fit together.
        fits: Vec<String>,
        /// Events that do not fit beside them, each with the reason.
        left_out: Vec<(String, String)>,
    },
    /// An event that samples cannot be taken by.
    #[error("samples cannot be taken by {label}: {why}")]
    NoSampling {
        /// The event.
        label: String,
        /// Why.
        why: String,
    },
    /// A register cannot be reached.
    #[error(transparent)]
    Locate(#[from] LocateError),
}

impl PlanError {
    pub(super) fn absent(topology: &Topology, event: &SelectedEvent) -> Self {
        let number = event.instance.map_or_else(String::new, |number| number.to_string());
        let seen = topology.sockets.iter().find_map(|socket| {
            let instance = usize::from(event.instance.unwrap_or(0));
            match socket.presence(event.unit).get(instance)? {
                Presence::Absent { why } => Some(why.clone()),
                Presence::Present => None,
            }
        });
        let why = seen.unwrap_or_else(|| "it was not looked for".to_owned());
        Self::Absent { label: event.label.clone(), unit: format!("{}{number}", event.unit.name), why }
    }

    pub(super) fn does_not_fit(
        unit: &Unit,
        instance: u16,
        demands: &[Demand<'_>],
        available: u16,
        misfit: &Misfit,
    ) -> Self {
        let label = |index: usize| demands[index].label.to_owned();
        let fits = misfit.fits.iter().map(|&index| label(index)).collect();
        let explain = |index: usize, reason: &Reason| match reason {
            Reason::NoCounter if demands[index].counters & ((1_u32 << unit.counters) - 1) as u16 & !available != 0 => {
                format!(
                    "it counts only on {}, which another tool uses (--take-over takes them)",
                    counters(demands[index].counters, unit.counters)
                )
            }
            Reason::NoCounter => format!("{} counts on none of its {} counters", unit.name, unit.counters),
            Reason::CountersTaken { by } => {
                let (wanted, others) = (demands[index].counters, by.iter().map(|&other| label(other)));
                let others = join(&others.collect::<Vec<_>>());
                let foreign = wanted & ((1_u32 << unit.counters) - 1) as u16 & !available;
                let by_tool = match foreign {
                    0 => return format!("it counts only on {}, needed by {others}", counters(wanted, unit.counters)),
                    _ => counters(foreign, unit.counters),
                };
                format!(
                    "it counts only on {}: another tool uses {by_tool} (--take-over takes them), and {others} needs {}",
                    counters(wanted, unit.counters),
                    counters(wanted & available, unit.counters)
                )
            }
            Reason::Filter { field, needed, set, by } => {
                format!(
                    "it needs the filter {field}={needed:#x}, but {} sets {field}={set:#x} in the same register",
                    label(*by)
                )
            }
            Reason::NoCompanion => "the event that it repeats is not on counter 0".to_owned(),
        };
        let left_out = misfit.left_out.iter().map(|(index, reason)| (label(*index), explain(*index, reason))).collect();
        Self::OverSubscribed { unit: unit.name, instance, fits, left_out }
    }
}

fn counters(mask: u16, available: u8) -> String {
    let numbers: Vec<String> = (0..available).filter(|n| mask >> n & 1 == 1).map(|n| n.to_string()).collect();
    let plural = if numbers.len() == 1 { "" } else { "s" };
    format!("counter{plural} {}", numbers.join(", "))
}

fn join(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn names(left_out: &[(String, String)]) -> String {
    join(&left_out.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>())
}

fn reasons(left_out: &[(String, String)]) -> String {
    left_out.iter().map(|(name, reason)| format!("{name}: {reason}")).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::assign::assign;
    use crate::testing::e5_2600;

    fn refusal(available: u16, demands: &[Demand<'_>], fits: &[usize], left_out: (usize, Reason)) -> String {
        // One that nothing fits, with what is in the way put in its place.
        let nothing = Demand { label: "", counters: 0, filters: &[], companion: None };
        let mut refused = assign(&[nothing], available).unwrap_err();
        (refused.fits, refused.left_out) = (fits.to_vec(), vec![left_out]);
        let cbo = e5_2600().unit("cbo").unwrap();
        PlanError::does_not_fit(cbo, 0, demands, available, &refused).to_string()
    }

    /// Who is in the way of an event: others of the group, another tool, or both; and what would help.
    #[test]
    fn what_does_not_fit_names_who_is_in_the_way() {
        let demand = |label, counters| Demand { label, counters, filters: &[], companion: None };
        let demands = [demand("a", 0b0011), demand("b", 0b0001), demand("c", 0b0011)];
        let taken = |by: &[usize]| (2, Reason::CountersTaken { by: by.to_vec() });
        for (available, fits, left_out, words) in [
            (
                0b1111,
                &[0, 1][..],
                taken(&[0, 1]),
                "c: it counts only on counters 0, 1, needed by a and b; these fit together: a and b",
            ),
            (0b1111, &[0], taken(&[0]), "cbo cannot count this group at the same time: c: "),
            (0b1101, &[1], taken(&[1]), "another tool uses counter 1 (--take-over takes them), and b needs counter 0"),
            (
                0b1100,
                &[],
                (2, Reason::NoCounter),
                "it counts only on counters 0, 1, which another tool uses (--take-over",
            ),
            (
                0b1100,
                &[],
                (1, Reason::NoCounter),
                "cbo cannot count b at the same time: b: it counts only on counter 0, which",
            ),
            (0b1111, &[], (2, Reason::NoCompanion), "c: the event that it repeats is not on counter 0; leave it out"),
            (0b1111, &[0], (2, Reason::NoCompanion), "take events out of the group: outside they take turns"),
            (
                0b1111,
                &[0],
                (2, Reason::Filter { field: "opc", needed: 0x182, set: 0x187, by: 0 }),
                "it needs the filter opc=0x182, but a sets opc=0x187 in the same register",
            ),
        ] {
            let printed = refusal(available, &demands, fits, left_out);
            assert!(printed.contains(words), "{printed}");
        }
    }

    #[test]
    fn names_are_joined_as_people_do() {
        let join = |names: &[&str]| join(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            [join(&[]), join(&["a"]), join(&["a", "b"]), join(&["a", "b", "c"])],
            ["none", "a", "a and b", "a, b and c"]
        );
        assert_eq!(
            [counters(0b1, 4), counters(0b1010, 4), counters(0b1_0001, 4)],
            ["counter 0", "counters 1, 3", "counter 0"]
        );
    }
}
