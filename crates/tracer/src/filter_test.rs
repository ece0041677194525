//! The filter against a plain list for each set.

use crate::filter::{Filter, Outcome};
use proptest::prelude::*;
use std::sync::atomic::AtomicU64;

/// The latest first: line address, dirty.
struct Plain {
    sets: Vec<Vec<(u64, bool)>>,
    ways: usize,
}

impl Plain {
    fn touch(&mut self, address: u64, store: bool) -> Outcome {
        let line = address & !63;
        let index = (address / 64) as usize % self.sets.len();
        let set = &mut self.sets[index];
        if let Some(at) = set.iter().position(|&(tag, _)| tag == line) {
            let (_, dirty) = set.remove(at);
            set.insert(0, (line, dirty || store));
            return if store && !dirty { Outcome::Upgrade } else { Outcome::Hit };
        }
        set.insert(0, (line, store));
        let out = if set.len() > self.ways { set.pop() } else { None };
        Outcome::Miss(out.filter(|&(_, dirty)| dirty).map(|(tag, _)| tag))
    }

    fn remove(&mut self, address: u64) -> bool {
        let index = (address / 64) as usize % self.sets.len();
        let found = self.sets[index].iter().position(|&(tag, _)| tag == address & !63);
        found.is_some_and(|at| self.sets[index].remove(at).1)
    }
}

proptest! {
    #[test]
    fn agrees_with_a_plain_list(
        log2_sets in 0_u32..4,
        ways in 1_usize..6,
        steps in prop::collection::vec((0_u64..64, 0_u8..12, 0_u64..64), 1..600),
    ) {
        let sets = 1 << log2_sets;
        let tags: Vec<AtomicU64> = (0..sets * ways).map(|_| AtomicU64::new(0)).collect();
        let filter = Filter::new(&tags, sets as u32, ways as u32);
        let mut plain = Plain { sets: vec![Vec::new(); sets], ways };
        for (line, what, offset) in steps {
            let address = 0x7FFF_0000_0000 + line * 64 + offset;
            match what {
                0 => prop_assert_eq!(filter.remove(address), plain.remove(address)),
                1 => {
                    filter.remove_range(address, 130);
                    for line in 0..4 {
                        if (address & !63) + line * 64 <= address + 129 {
                            plain.remove(address + line * 64);
                        }
                    }
                }
                _ => {
                    let store = what % 2 == 0;
                    let first = filter.hits_first(address, store);
                    let outcome = filter.touch(address, store);
                    prop_assert_eq!(outcome, plain.touch(address, store));
                    prop_assert!(!first || outcome == Outcome::Hit);
                    prop_assert!(filter.hits_first(address, store));
                }
            }
        }
    }
}

#[test]
fn a_clean_line_asks_again() {
    let tags: Vec<AtomicU64> = (0..8).map(|_| AtomicU64::new(0)).collect();
    let filter = Filter::new(&tags, 1, 8);
    assert_eq!(filter.touch(0x1000, true), Outcome::Miss(None));
    assert_eq!(filter.touch(0x1000, true), Outcome::Hit);
    assert!(filter.clean(0x1010));
    assert_eq!(filter.touch(0x1000, false), Outcome::Hit);
    assert_eq!(filter.touch(0x1000, true), Outcome::Upgrade);
}

#[test]
fn what_is_held_is_listed_and_known_by_any_address_of_its_line() {
    let tags: Vec<AtomicU64> = (0..8).map(|_| AtomicU64::new(0)).collect();
    let filter = Filter::new(&tags, 4, 2);
    filter.touch(0x1000, true);
    filter.touch(0x2040, false);
    let mut lines: Vec<_> = filter.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, [(0x1000, true), (0x2040, false)]);
    assert!(filter.holds(0x103f) && filter.holds(0x2040) && !filter.holds(0x1040));
    filter.remove(0x1000);
    assert!(!filter.holds(0x1000));
}
