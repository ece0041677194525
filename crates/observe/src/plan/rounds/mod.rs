//! Sharing counters by turns: the fewest rounds in which every event gets a counter, with the bound that proves it.
//!
//! A round is a set of events that fit the counters and filters together. Events that must be counted at the same time
//! (a group, or an event that repeats another's increments) form an item; an event that is in several items may be
//! counted in several rounds.

mod search;
#[cfg(test)]
mod tests;

use self::search::Search;
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
    let mut search = Search::new(&rules, items, budget);
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
            others.into_iter().any(|set| set.field.id == filter.field.id && set.value != filter.value)
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
