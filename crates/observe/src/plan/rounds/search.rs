//! The search: which items share a round.

use super::Rules;

/// Depth-first search for a partition of the items with the fewest rounds.
pub(super) struct Search<'a> {
    rules: &'a Rules<'a>,
    items: Vec<Vec<usize>>,
    /// Items that are alike stand next to each other and take rounds in ascending order.
    like_the_last: Vec<bool>,
    left: u32,
    /// Feasibility tests so far, those of the first fit included.
    pub(super) steps: u32,
    /// Numbers of items, by round.
    pub(super) best: Vec<Vec<usize>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(rules: &'a Rules<'a>, mut items: Vec<Vec<usize>>, budget: u32) -> Self {
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
    pub(super) fn run(&mut self, enough: usize) -> bool {
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
    pub(super) fn slots(&self) -> Vec<Vec<usize>> {
        let mut rounds: Vec<Vec<usize>> =
            self.best.iter().map(|round| self.demands_of(round.iter().copied())).collect();
        rounds.sort();
        rounds
    }
}
