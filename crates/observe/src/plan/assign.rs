//! Which counter takes which event: an exact matching under restrictions, companions and shared filters.

use crate::selection::FilterSetting;

/// What an event asks of the instance that counts it.
#[derive(Debug, Clone, Copy)]
pub struct Demand<'a> {
    /// The event, for messages.
    pub label: &'a str,
    /// Counters that can take it, as a bit mask.
    pub counters: u16,
    /// Filter values that it needs.
    pub filters: &'a [FilterSetting],
    /// Index of the demand that must be on counter 0 at the same time.
    pub companion: Option<usize>,
}

/// The demands that cannot be met together with the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Demands that fit together.
    pub fits: Vec<usize>,
    /// Demands that do not fit beside them, and why.
    pub left_out: Vec<(usize, Reason)>,
}

impl Misfit {
    /// The same in other numbers: `numbers[i]` stands for demand `i`.
    pub(super) fn renumbered(self, numbers: &[usize]) -> Self {
        let new = |old: usize| numbers.get(old).copied().unwrap_or(old);
        let reason = |reason| match reason {
            Reason::CountersTaken { by } => Reason::CountersTaken { by: by.into_iter().map(new).collect() },
            Reason::Filter { field, needed, set, by } => Reason::Filter { field, needed, set, by: new(by) },
            other => other,
        };
        Self {
            fits: self.fits.into_iter().map(new).collect(),
            left_out: self.left_out.into_iter().map(|(index, why)| (new(index), reason(why))).collect(),
        }
    }
}

/// Why a demand does not fit beside others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The unit has none of the counters that it needs.
    NoCounter,
    /// Its counters are needed by others.
    CountersTaken {
        /// The others, by index.
        by: Vec<usize>,
    },
    /// A filter field that it needs is set otherwise.
    Filter {
        /// Field.
        field: &'static str,
        /// The value needed.
        needed: u64,
        /// The value set.
        set: u64,
        /// The demand that set it.
        by: usize,
    },
    /// The event that it repeats is not counted on counter 0 here.
    NoCompanion,
}

/// Gives each demand a counter of its own among `available`, a bit mask.
///
/// # Errors
/// [`Misfit`] exactly if there is no way to meet all demands.
pub fn assign(demands: &[Demand<'_>], available: u16) -> Result<Vec<u8>, Misfit> {
    let mut kept: Vec<usize> = Vec::new();
    let mut left_out = Vec::new();
    // Companions first: an event that repeats another can only be judged once that one is placed.
    let order = (0..demands.len()).filter(|&i| demands[i].companion.is_none());
    let order = order.chain((0..demands.len()).filter(|&i| demands[i].companion.is_some()));
    let mut places = Vec::new();
    for index in order {
        match admit(demands, available, &kept, index) {
            Ok(found) => {
                kept.push(index);
                places = found;
            }
            Err(reason) => left_out.push((index, reason)),
        }
    }
    if !left_out.is_empty() {
        kept.sort_unstable();
        left_out.sort_by_key(|(index, _)| *index);
        return Err(Misfit { fits: kept, left_out });
    }
    let mut result = vec![0; demands.len()];
    for (index, place) in kept.into_iter().zip(places) {
        result[index] = place;
    }
    Ok(result)
}

/// Counters for `kept` and then `index`, if that is possible.
fn admit(demands: &[Demand<'_>], available: u16, kept: &[usize], index: usize) -> Result<Vec<u8>, Reason> {
    let demand = &demands[index];
    if demand.counters & available == 0 {
        return Err(Reason::NoCounter);
    }
    if demand.companion.is_some_and(|companion| !kept.contains(&companion)) {
        return Err(Reason::NoCompanion);
    }
    if let Some(reason) = conflict(demands, kept, demand) {
        return Err(reason);
    }
    let mut all = kept.to_vec();
    all.push(index);
    let pinned: Vec<usize> = all.iter().filter_map(|&member| demands[member].companion).collect();
    let masks: Vec<u16> = all
        .iter()
        .map(|member| demands[*member].counters & available & if pinned.contains(member) { 1 } else { !0 })
        .collect();
    matching(&masks).ok_or_else(|| {
        let in_the_way =
            kept.iter().copied().filter(|&other| demands[other].counters & demand.counters & available != 0);
        Reason::CountersTaken { by: in_the_way.collect() }
    })
}

fn conflict(demands: &[Demand<'_>], kept: &[usize], demand: &Demand<'_>) -> Option<Reason> {
    for filter in demand.filters {
        for &by in kept {
            let set = demands[by].filters.iter().find(|set| set.field.id == filter.field.id);
            if let Some(set) = set.filter(|set| set.value != filter.value) {
                let FilterSetting { field, value, .. } = filter;
                return Some(Reason::Filter { field: field.name, needed: *value, set: set.value, by });
            }
        }
    }
    None
}

/// A counter for each mask, all different, or nothing if there is no way (augmenting paths).
pub(super) fn matching(masks: &[u16]) -> Option<Vec<u8>> {
    let mut holders: [Option<usize>; 16] = [None; 16];
    for member in 0..masks.len() {
        let mut tried = 0;
        if !place(masks, member, &mut holders, &mut tried) {
            return None;
        }
    }
    let mut places = vec![0; masks.len()];
    for (counter, holder) in (0..).zip(holders) {
        if let Some(member) = holder {
            places[member] = counter;
        }
    }
    Some(places)
}

fn place(masks: &[u16], member: usize, holders: &mut [Option<usize>; 16], tried: &mut u16) -> bool {
    for counter in 0..16 {
        let bit = 1 << counter;
        if masks[member] & bit == 0 || *tried & bit != 0 {
            continue;
        }
        *tried |= bit;
        let is_free = match holders[counter] {
            None => true,
            Some(holder) => place(masks, holder, holders, tried),
        };
        if is_free {
            holders[counter] = Some(member);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::e5_2600;

    fn demand(counters: u16, companion: Option<usize>) -> Demand<'static> {
        Demand { label: "", counters, filters: &[], companion }
    }

    #[test]
    fn later_events_move_earlier_ones() {
        let demands = [demand(0b0011, None), demand(0b0001, None), demand(0b1111, None)];
        assert_eq!(assign(&demands, 0b1111).unwrap(), [1, 0, 2]);
    }

    #[test]
    fn a_companion_is_pinned_to_counter_0() {
        let demands = [demand(0b1110, Some(2)), demand(0b0011, None), demand(0b0011, None)];
        assert_eq!(assign(&demands, 0b1111).unwrap(), [2, 1, 0]);
        let misfit = assign(&[demand(0b1110, Some(usize::MAX))], 0b1111).unwrap_err();
        assert_eq!(misfit.left_out, [(0, Reason::NoCompanion)]);
    }

    #[test]
    fn what_is_left_out_is_as_little_as_possible() {
        let demands = [demand(0b0011, None), demand(0b0011, None), demand(0b0011, None), demand(0b1100, None)];
        let misfit = assign(&demands, 0b1111).unwrap_err();
        assert_eq!(misfit.fits, [0, 1, 3]);
        assert_eq!(misfit.left_out, [(2, Reason::CountersTaken { by: vec![0, 1] })]);
    }

    /// Tries every way to place demands from `at` on.
    fn brute_force(demands: &[Demand<'_>], counters: u8, at: usize, places: &mut Vec<u8>) -> bool {
        if at == demands.len() {
            return demands.iter().all(|demand| {
                let companion = demand.companion.is_none_or(|c| places.get(c) == Some(&0));
                let filters = demand.filters.iter().all(|filter| {
                    let mut all = demands.iter().flat_map(|other| other.filters);
                    all.all(|set| set.field.id != filter.field.id || set.value == filter.value)
                });
                companion && filters
            });
        }
        (0..counters).any(|counter| {
            if demands[at].counters >> counter & 1 == 0 || places.contains(&counter) {
                return false;
            }
            places.push(counter);
            let found = brute_force(demands, counters, at + 1, places);
            places.pop();
            found
        })
    }

    proptest! {
        #[test]
        fn equals_brute_force(
            raw in prop::collection::vec((0_u16..32, prop::option::weighted(0.2, 0_usize..5), prop::option::weighted(0.3, (0_usize..2, 0_u64..2))), 1..6),
            counters in 1_u8..6,
        ) {
            let unit = e5_2600().unit("cbo").unwrap();
            let fields: Vec<_> = ["opc", "state"].iter().map(|name| unit.filter_field(name).unwrap()).collect();
            let settings: Vec<Vec<FilterSetting>> = raw
                .iter()
                .map(|(_, _, filter)| filter.iter().map(|&(f, value)| FilterSetting { register: fields[f].0, field: fields[f].1, value }).collect())
                .collect();
            let is_echo = |index: usize| raw.get(index).is_some_and(|(_, companion, _)| companion.is_some());
            let demands: Vec<Demand<'_>> = raw
                .iter()
                .zip(&settings)
                .map(|(&(counters, companion, _), filters)| {
                    // An event that repeats another is never itself repeated.
                    let companion = companion.map(|c| if is_echo(c) { usize::MAX } else { c });
                    Demand { label: "", counters, filters, companion }
                })
                .collect();
            let possible = brute_force(&demands, counters, 0, &mut Vec::new());
            match assign(&demands, (1 << counters) - 1) {
                Ok(places) => {
                    prop_assert!(possible);
                    for (index, demand) in demands.iter().enumerate() {
                        prop_assert!(demand.counters >> places[index] & 1 == 1 && places[index] < counters);
                        prop_assert!(!places[..index].contains(&places[index]));
                        prop_assert!(demand.companion.is_none_or(|companion| places[companion] == 0));
                    }
                }
                Err(misfit) => {
                    prop_assert!(!possible, "left out {:?}", misfit);
                    prop_assert_eq!(misfit.fits.len() + misfit.left_out.len(), demands.len());
                }
            }
        }
    }
}
