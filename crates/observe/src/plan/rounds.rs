//! Sharing counters by turns: the fewest rounds in which every event gets a counter, with the bound that proves it.
//!
//! A round is a set of events that fit the counters and filters together. Events that must be counted at the same time
//! (a group, or an event that repeats another's increments) form an item; an event that is in several items may be
//! counted in several rounds.

use super::assign::{Demand, Misfit, assign, matching};
use super::bound::{self, Bound};

/// Feasibility tests that the search may make: a count, so that the same request gives the same plan on any computer.
/// Well below a second of CPU.
pub const BUDGET: u32 = 200_000;

/// A demand's number and its counter.
pub type Seat = (usize, u8);

/// Events spread over rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounds {
    /// For each round, which demand is on which counter.
    pub rounds: Vec<Vec<Seat>>,
    /// No plan has fewer rounds than this.
    pub bound: Bound,
    /// Feasibility tests that the search has made: the work, on any computer.
    pub steps: u32,
}

impl Rounds {
    /// Rounds above the proven lower bound; 0 means that there is no better plan.
    pub fn gap(&self) -> usize {
        self.rounds.len().saturating_sub(self.bound.rounds)
    }
}

/// Spreads all demands over as few rounds as the search finds within `budget` feasibility tests.
///
/// `together` lists demands that must share a round; `friends` lists those that should if it costs no round. `available` is the
/// bit mask of the unit's usable counters.
///
/// # Errors
/// [`Misfit`], in terms of `demands`, if some demand or group cannot be met even in a round of its own.
pub fn spread(
    demands: &[Demand<'_>],
    together: &[Vec<usize>],
    friends: &[Vec<usize>],
    available: u16,
    budget: u32,
) -> Result<Rounds, Misfit> {
    let rules = Rules { demands, available };
    let items = items(demands, together);
    for item in &items {
        rules.check(item)?;
    }
    let bound = bound::lower_bound(&rules, &items);
    let mut search = Search::new(&rules, items.clone(), budget);
    let proven = search.run(bound.rounds);
    let mut best = search.slots();
    let mut steps = search.steps;
    let bound = if proven && best.len() > bound.rounds { Bound::searched(best.len()) } else { bound };
    // Events of one metric are best counted at the same time, so that what varies cancels out.
    let mut kept = together.to_vec();
    for friend in friends.iter().filter(|friend| friend.len() > 1) {
        if best.len() == 1 {
            break;
        }
        kept.push(friend.clone());
        let items = self::items(demands, &kept);
        if items.iter().all(|item| rules.seats(item).is_some()) {
            let mut search = Search::new(&rules, items, budget / 16);
            search.run(best.len());
            steps += search.steps;
            if search.best.len() <= best.len() {
                best = search.slots();
                continue;
            }
        }
        kept.pop();
    }
    let seats = |round: &Vec<usize>| {
        let counters = rules.seats(round).unwrap_or_default();
        round.iter().copied().zip(counters).collect()
    };
    Ok(Rounds { rounds: best.iter().map(seats).collect(), bound, steps })
}

/// What must be counted at the same time: groups and lone demands, each with the events that they repeat. What another item
/// contains is left out.
fn items(demands: &[Demand<'_>], together: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let close = |members: &[usize]| {
        let companions = members.iter().filter_map(|&member| demands[member].companion);
        let mut all: Vec<usize> = members.iter().copied().chain(companions.filter(|c| *c < demands.len())).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let groups = together.iter().filter(|group| !group.is_empty()).map(|group| close(group));
    let mut all: Vec<Vec<usize>> = groups.chain((0..demands.len()).map(|index| close(&[index]))).collect();
    all.sort();
    all.dedup();
    let is_within = |small: &[usize], large: &[usize]| small.iter().all(|member| large.contains(member));
    let contained = |item: &Vec<usize>| all.iter().any(|other| other.len() > item.len() && is_within(item, other));
    all.iter().filter(|item| !contained(item)).cloned().collect()
}

/// When demands fit a round.
#[derive(Debug)]
pub(super) struct Rules<'a> {
    pub(super) demands: &'a [Demand<'a>],
    pub(super) available: u16,
}

impl Rules<'_> {
    /// A counter for each of the demands in one round, or nothing if they do not fit.
    pub(super) fn seats(&self, members: &[usize]) -> Option<Vec<u8>> {
        if members.len() > self.available.count_ones() as usize {
            return None;
        }
        for (at, &member) in members.iter().enumerate() {
            if members[..at].iter().any(|&other| self.filters_differ(member, other)) {
                return None;
            }
        }
        let is_repeated = |member: usize| members.iter().any(|&other| self.demands[other].companion == Some(member));
        let masks: Vec<u16> = members
            .iter()
            .map(|&member| self.demands[member].counters & self.available & if is_repeated(member) { 1 } else { !0 })
            .collect();
        matching(&masks)
    }

    /// True if two demands need different values in one filter field.
    pub(super) fn filters_differ(&self, one: usize, other: usize) -> bool {
        self.demands[one].filters.iter().any(|filter| {
            let others = self.demands[other].filters.iter();
            others.into_iter().any(|set| std::ptr::eq(set.field, filter.field) && set.value != filter.value)
        })
    }

    /// Refuses an item that does not fit a round of its own.
    fn check(&self, item: &[usize]) -> Result<(), Misfit> {
        let alone: Vec<Demand<'_>> = item
            .iter()
            .map(|&member| {
                let demand = self.demands[member];
                let companion = demand
                    .companion
                    .map(|companion| item.iter().position(|&other| other == companion).unwrap_or(usize::MAX));
                Demand { companion, ..demand }
            })
            .collect();
        assign(&alone, self.available).map(|_| ()).map_err(|misfit| misfit.renumbered(item))
    }
}

/// Depth-first search for a partition of the items with the fewest rounds.
struct Search<'a> {
    rules: &'a Rules<'a>,
    items: Vec<Vec<usize>>,
    /// Items that are alike stand next to each other and take rounds in ascending order.
    like_the_last: Vec<bool>,
    left: u32,
    /// Feasibility tests so far, those of the first fit included.
    steps: u32,
    /// Numbers of items, by round.
    best: Vec<Vec<usize>>,
}

impl<'a> Search<'a> {
    fn new(rules: &'a Rules<'a>, mut items: Vec<Vec<usize>>, budget: u32) -> Self {
        let filters = |item: &[usize]| {
            let settings = item.iter().flat_map(|&member| rules.demands[member].filters);
            let mut keys: Vec<(&str, u64)> = settings.map(|filter| (filter.field.name, filter.value)).collect();
            keys.sort_unstable();
            keys
        };
        let masks = |item: &[usize]| {
            let mut masks: Vec<u16> =
                item.iter().map(|&member| rules.demands[member].counters & rules.available).collect();
            masks.sort_unstable();
            masks
        };
        let narrowest = |item: &[usize]| masks(item).iter().map(|mask| mask.count_ones()).min().unwrap_or(0);
        // What is hardest to place comes first.
        items.sort_by_cached_key(|item| {
            (
                narrowest(item),
                std::cmp::Reverse(item.len()),
                filters(item).is_empty(),
                filters(item),
                masks(item),
                item.clone(),
            )
        });
        let is_plain = |item: &[usize]| matches!(item, [only] if rules.demands[*only].companion.is_none());
        let mut times = vec![0_u32; rules.demands.len()];
        items.iter().flatten().for_each(|&demand| times[demand] += 1);
        // Demands that are in several items, or that others repeat, are not interchangeable.
        let is_alone = |item: &[usize]| times[item[0]] == 1;
        let alike = |a: &[usize], b: &[usize]| {
            is_plain(a) && is_plain(b) && filters(a) == filters(b) && masks(a) == masks(b) && is_alone(a) && is_alone(b)
        };
        let like_the_last = (0..items.len()).map(|at| at > 0 && alike(&items[at - 1], &items[at])).collect();
        Self { rules, items, like_the_last, left: budget, steps: 0, best: Vec::new() }
    }

    /// Finds a partition, and a better one as long as the budget lasts. True if none has fewer rounds, or if `enough` is met.
    fn run(&mut self, enough: usize) -> bool {
        self.best = self.first_fit();
        if self.best.len() <= enough {
            return true;
        }
        let mut rounds = Vec::new();
        let mut places = Vec::with_capacity(self.items.len());
        self.descend(enough, &mut rounds, &mut places);
        self.best.len() <= enough || self.left > 0
    }

    /// Each item into the first round that takes it.
    fn first_fit(&mut self) -> Vec<Vec<usize>> {
        let mut rounds: Vec<Vec<usize>> = Vec::new();
        // What has a demand in common with another item may find it in a round already.
        let shared = self.shared();
        let counters = self.rules.available.count_ones() as usize;
        let mut used: Vec<usize> = Vec::new();
        for (item, is_shared) in shared.into_iter().enumerate() {
            let size = self.items[item].len();
            let has_room = |round: &usize| is_shared || used[*round] + size <= counters;
            let found = (0..rounds.len()).filter(has_room).find(|&round| {
                self.steps += 1;
                self.fits(&rounds[round], item)
            });
            let round = found.unwrap_or_else(|| {
                rounds.push(Vec::new());
                used.push(0);
                rounds.len() - 1
            });
            rounds[round].push(item);
            // Shared demands count once for sure, and no round is full for them alone.
            used[round] += if is_shared { 0 } else { size };
        }
        rounds
    }

    /// Which items have a demand that another item has, too.
    fn shared(&self) -> Vec<bool> {
        let mut times = vec![0_u32; self.rules.demands.len()];
        self.items.iter().flatten().for_each(|&demand| times[demand] += 1);
        self.items.iter().map(|item| item.iter().any(|&demand| times[demand] > 1)).collect()
    }

    fn descend(&mut self, enough: usize, rounds: &mut Vec<Vec<usize>>, places: &mut Vec<usize>) {
        let at = places.len();
        if rounds.len() >= self.best.len() {
            return;
        }
        if at == self.items.len() {
            self.best.clone_from(rounds);
            return;
        }
        let first = if self.like_the_last[at] { places[at - 1] } else { 0 };
        for round in first..=rounds.len() {
            if self.left == 0 || self.best.len() <= enough {
                return;
            }
            if round == rounds.len() {
                rounds.push(Vec::new());
            } else {
                self.left -= 1;
                self.steps += 1;
                if !self.fits(&rounds[round], at) {
                    continue;
                }
            }
            rounds[round].push(at);
            places.push(round);
            self.descend(enough, rounds, places);
            places.pop();
            rounds[round].pop();
            if rounds[round].is_empty() {
                rounds.pop();
            }
        }
    }

    fn fits(&self, round: &[usize], item: usize) -> bool {
        self.rules.seats(&self.demands_of(round.iter().copied().chain([item]))).is_some()
    }

    fn demands_of(&self, items: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut all: Vec<usize> = items.flat_map(|item| self.items[item].iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The demands of each round.
    fn slots(&self) -> Vec<Vec<usize>> {
        let mut rounds: Vec<Vec<usize>> =
            self.best.iter().map(|round| self.demands_of(round.iter().copied())).collect();
        rounds.sort();
        rounds
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::selection::FilterSetting;
    use crate::testing::e5_2600;

    fn plain(counters: u16) -> Demand<'static> {
        Demand { label: "", counters, filters: &[], companion: None }
    }

    fn count(rounds: &Rounds) -> usize {
        rounds.rounds.len()
    }

    #[test]
    fn events_beyond_the_counters_take_turns_and_the_bound_says_why() {
        let found = spread(&[plain(0b0011); 5], &[], &[], 0b1111, BUDGET).unwrap();
        assert_eq!((count(&found), found.gap()), (3, 0));
        assert_eq!(found.bound.to_string(), "5 events count only on counters 0, 1");
    }

    #[test]
    fn a_group_stays_together() {
        let demands = [plain(0b11); 4];
        let found = spread(&demands, &[vec![0, 3], vec![1, 3]], &[], 0b11, BUDGET).unwrap();
        let shared = found.rounds.iter().filter(|round| round.iter().any(|(demand, _)| *demand == 3)).count();
        assert_eq!((count(&found), shared), (3, 2), "3 is counted with 0 and with 1");
        let misfit = spread(&demands, &[vec![0, 1, 2]], &[], 0b11, BUDGET).unwrap_err();
        assert_eq!(misfit.left_out.len(), 1);
    }

    #[test]
    fn friends_meet_where_it_costs_nothing() {
        let demands = [plain(0b11); 4];
        let found = spread(&demands, &[], &[vec![0, 2], vec![0, 1, 2]], 0b11, BUDGET).unwrap();
        let of_0 = found.rounds.iter().find(|round| round.iter().any(|(demand, _)| *demand == 0)).unwrap();
        assert_eq!(count(&found), 2);
        assert!(of_0.iter().any(|(demand, _)| *demand == 2), "{:?}", found.rounds);
    }

    #[test]
    fn without_budget_the_gap_is_shown() {
        // First fit goes wrong here on purpose: see the search find better.
        let demands = [plain(0b0001), plain(0b0011), plain(0b0011), plain(0b0111), plain(0b0111), plain(0b0111)];
        let found = spread(&demands, &[], &[], 0b0111, BUDGET).unwrap();
        assert_eq!((count(&found), found.gap()), (2, 0));
        let groups = [vec![0, 1], vec![2, 3], vec![4, 5]];
        let hard = spread(&[plain(0b111); 6], &groups, &[], 0b111, 0).unwrap();
        assert_eq!((count(&hard), hard.bound.rounds), (3, 3), "pairs exclude each other");
    }

    /// The fewest rounds over all ways to put each item into one of as many rounds as there are items.
    fn brute_force(rules: &Rules<'_>, items: &[Vec<usize>]) -> usize {
        let mut best = items.len();
        let mut places = vec![0; items.len()];
        loop {
            let used = places.iter().max().unwrap() + 1;
            let fits = |round: usize| {
                let mut all: Vec<usize> =
                    (0..items.len()).filter(|&i| places[i] == round).flat_map(|i| items[i].clone()).collect();
                all.sort_unstable();
                all.dedup();
                all.is_empty() || naive_fit(rules, &all, 0, &mut Vec::new())
            };
            if used < best && (0..used).all(fits) {
                best = used;
            }
            let Some(at) = (0..items.len()).rev().find(|&at| places[at] + 1 < items.len()) else { return best };
            places[at] += 1;
            places[at + 1..].fill(0);
        }
    }

    fn naive_fit(rules: &Rules<'_>, members: &[usize], at: usize, counters: &mut Vec<u16>) -> bool {
        let clash = |a: &FilterSetting, b: &FilterSetting| std::ptr::eq(a.field, b.field) && a.value != b.value;
        let Some(&member) = members.get(at) else {
            let filters = || members.iter().flat_map(|&member| rules.demands[member].filters);
            let on_zero = members.iter().all(|&member| {
                rules.demands[member].companion.is_none_or(|companion| {
                    members.iter().position(|&other| other == companion).is_some_and(|place| counters[place] == 0)
                })
            });
            return on_zero && !filters().any(|a| filters().any(|b| clash(a, b)));
        };
        (0..16).any(|counter: u16| {
            let usable = rules.demands[member].counters & rules.available;
            if usable >> counter & 1 == 0 || counters.contains(&counter) {
                return false;
            }
            counters.push(counter);
            let found = naive_fit(rules, members, at + 1, counters);
            counters.pop();
            found
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn as_few_rounds_as_brute_force_finds(
            raw in prop::collection::vec((1_u16..16, prop::option::weighted(0.15, 0_usize..6), prop::option::weighted(0.4, (0_usize..2, 0_u64..3))), 1..7),
            groups in prop::collection::vec(prop::collection::vec(0_usize..6, 2..4), 0..2),
            available in 1_u16..16,
        ) {
            let unit = e5_2600().unit("cbo").unwrap();
            let fields: Vec<_> = ["opc", "state"].iter().map(|name| unit.filter_field(name).unwrap()).collect();
            let settings: Vec<Vec<FilterSetting>> = raw
                .iter()
                .map(|(_, _, filter)| filter.iter().map(|&(f, value)| FilterSetting { register: fields[f].0, field: fields[f].1, value }).collect())
                .collect();
            let is_echo = |index: usize| raw.get(index).is_none_or(|(_, companion, _)| companion.is_some());
            let demands: Vec<Demand<'_>> = raw
                .iter()
                .zip(&settings)
                .enumerate()
                .map(|(index, (&(counters, companion, _), filters))| Demand {
                    label: "",
                    counters,
                    filters,
                    companion: companion.filter(|&c| c != index && !is_echo(c)),
                })
                .collect();
            let together: Vec<Vec<usize>> =
                groups.iter().map(|group| group.iter().copied().filter(|&member| member < demands.len()).collect()).collect();
            let rules = Rules { demands: &demands, available };
            let items = items(&demands, &together);
            let possible = items.iter().all(|item| naive_fit(&rules, item, 0, &mut Vec::new()));
            match spread(&demands, &together, &[], available, BUDGET) {
                Err(misfit) => prop_assert!(!possible, "{:?}", misfit),
                Ok(found) => {
                    prop_assert!(possible);
                    let best = brute_force(&rules, &items);
                    prop_assert_eq!(found.rounds.len(), best);
                    prop_assert!(found.bound.rounds <= best, "{:?}", found.bound);
                    prop_assert_eq!(found.gap(), 0, "the search ends within its budget here");
                    for item in &items {
                        let holds = |round: &Vec<Seat>| item.iter().all(|member| round.iter().any(|(d, _)| d == member));
                        prop_assert!(found.rounds.iter().any(holds));
                    }
                    for round in &found.rounds {
                        for (at, &(demand, counter)) in round.iter().enumerate() {
                            prop_assert!(demands[demand].counters & available & 1 << counter != 0);
                            prop_assert!(round[..at].iter().all(|(_, other)| *other != counter));
                        }
                    }
                }
            }
        }
    }
}
