//! How many rounds any plan needs at least, and why.

use std::fmt;

use super::rounds::Rules;

/// A lower bound for the number of rounds, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// Rounds that every plan needs.
    pub rounds: usize,
    /// Why.
    pub why: Why,
}

/// What a lower bound follows from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// There is something to count.
    Anything,
    /// So many events share so few counters.
    Counters {
        /// Events that count nowhere else.
        events: usize,
        /// The counters, as a bit mask.
        counters: u16,
    },
    /// One filter field is needed with different values, each for so many events that they fill rounds of their own.
    Filter {
        /// The field.
        field: &'static str,
        /// Number of values.
        values: usize,
        /// The counters that these events share, as a bit mask.
        counters: u16,
    },
    /// No two of these can be counted at the same time.
    Exclusive {
        /// How many.
        items: usize,
    },
    /// All plans with fewer rounds were tried.
    Searched,
}

impl Bound {
    /// One round, for what is counted without choice.
    pub const ONE: Self = Self { rounds: 1, why: Why::Anything };

    /// Found by trying all plans with fewer rounds.
    pub(super) const fn searched(rounds: usize) -> Self {
        Self { rounds, why: Why::Searched }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |mask: u16| {
            let numbers: Vec<String> = (0..16).filter(|n| mask >> n & 1 == 1).map(|n| n.to_string()).collect();
            format!("counter{} {}", if numbers.len() == 1 { "" } else { "s" }, numbers.join(", "))
        };
        match &self.why {
            Why::Anything => f.write_str("something is counted"),
            Why::Counters { events, counters } => write!(f, "{events} events count only on {}", list(*counters)),
            Why::Filter { field, values, counters } => {
                write!(f, "the filter {field} is needed with {values} values, by events on {}", list(*counters))
            }
            Why::Exclusive { items } => write!(f, "no two of {items} events or groups can be counted at once"),
            Why::Searched => f.write_str("all plans with fewer rounds were tried"),
        }
    }
}

/// The best of the bounds that counters, filters and pairs give.
pub(super) fn lower_bound(rules: &Rules<'_>, items: &[Vec<usize>]) -> Bound {
    let candidates =
        [Bound::ONE].into_iter().chain(by_counters(rules)).chain(by_filters(rules)).chain(by_pairs(rules, items));
    // Of equal bounds the first, which is the simplest reason.
    candidates.reduce(|best, next| if next.rounds > best.rounds { next } else { best }).unwrap_or(Bound::ONE)
}

/// All sets of counters that some demands are restricted to (unions of their masks).
fn counter_sets(rules: &Rules<'_>) -> Vec<u16> {
    let mut sets: Vec<u16> = Vec::new();
    for demand in rules.demands {
        let mask = demand.counters & rules.available;
        let unions: Vec<u16> = sets.iter().map(|set| set | mask).chain([mask]).collect();
        for union in unions {
            if union != 0 && !sets.contains(&union) {
                sets.push(union);
            }
        }
    }
    sets.sort_by_key(|set| (std::cmp::Reverse(set.count_ones()), *set));
    sets
}

fn confined(rules: &Rules<'_>, set: u16) -> impl Iterator<Item = usize> {
    let masks: Vec<u16> = rules.demands.iter().map(|demand| demand.counters & rules.available).collect();
    (0..masks.len()).filter(move |&index| masks[index] & !set == 0)
}

fn by_counters(rules: &Rules<'_>) -> Vec<Bound> {
    let bound = |set: u16| {
        let events = confined(rules, set).count();
        Bound { rounds: events.div_ceil(set.count_ones() as usize), why: Why::Counters { events, counters: set } }
    };
    counter_sets(rules).into_iter().map(bound).collect()
}

fn by_filters(rules: &Rules<'_>) -> Vec<Bound> {
    let mut fields: Vec<&'static pericore_catalog::Field> = Vec::new();
    for filter in rules.demands.iter().flat_map(|demand| demand.filters) {
        if !fields.iter().any(|field| field.id == filter.field.id) {
            fields.push(filter.field);
        }
    }
    let mut bounds = Vec::new();
    for set in counter_sets(rules) {
        for field in &fields {
            let mut values: Vec<(u64, usize)> = Vec::new();
            for index in confined(rules, set) {
                let setting = rules.demands[index].filters.iter().find(|filter| filter.field.id == field.id);
                let Some(setting) = setting else { continue };
                match values.iter_mut().find(|(value, _)| *value == setting.value) {
                    Some((_, events)) => *events += 1,
                    None => values.push((setting.value, 1)),
                }
            }
            let rounds = values.iter().map(|(_, events)| events.div_ceil(set.count_ones() as usize)).sum();
            bounds.push(Bound { rounds, why: Why::Filter { field: field.name, values: values.len(), counters: set } });
        }
    }
    bounds
}

/// Largest item counts for which cliques are looked for: the search is quadratic in it.
const MOST_ITEMS: usize = 256;

/// A set of items of which no two fit together, grown from each item in turn.
fn by_pairs(rules: &Rules<'_>, items: &[Vec<usize>]) -> Option<Bound> {
    if items.len() > MOST_ITEMS {
        return None;
    }
    let exclude = |one: &[usize], other: &[usize]| {
        let mut both: Vec<usize> = one.iter().chain(other).copied().collect();
        both.sort_unstable();
        both.dedup();
        rules.seats(&both).is_none()
    };
    let conflicts: Vec<Vec<bool>> =
        items.iter().map(|one| items.iter().map(|other| exclude(one, other)).collect()).collect();
    let degree = |item: usize| conflicts[item].iter().filter(|conflict| **conflict).count();
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&item| (std::cmp::Reverse(degree(item)), item));
    let grown = |start: usize| {
        let mut clique = vec![start];
        clique.extend(order.iter().copied().filter(|&item| item != start).fold(
            Vec::new(),
            |mut more: Vec<usize>, item| {
                if conflicts[start][item] && more.iter().all(|&other| conflicts[other][item]) {
                    more.push(item);
                }
                more
            },
        ));
        clique.len()
    };
    let rounds = (0..items.len()).map(grown).max()?;
    Some(Bound { rounds, why: Why::Exclusive { items: rounds } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_prints_its_reason() {
        for (why, text) in [
            (Why::Anything, "something is counted"),
            (Why::Counters { events: 3, counters: 0b100 }, "3 events count only on counter 2"),
            (Why::Counters { events: 5, counters: 0x800b }, "5 events count only on counters 0, 1, 3, 15"),
            (
                Why::Filter { field: "opc", values: 4, counters: 0b11 },
                "the filter opc is needed with 4 values, by events on counters 0, 1",
            ),
            (Why::Exclusive { items: 6 }, "no two of 6 events or groups can be counted at once"),
            (Why::Searched, "all plans with fewer rounds were tried"),
        ] {
            assert_eq!(Bound { rounds: 2, why }.to_string(), text);
        }
        assert_eq!((Bound::searched(4).rounds, Bound::ONE.rounds), (4, 1));
    }
}
