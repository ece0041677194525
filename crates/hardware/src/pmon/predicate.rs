//! Tests of a signal's tags, compiled so that most are one comparison.

use pericore_catalog::{BitRange, Relation};

/// Which tags match: the conjunction `all`, and one alternative of each group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Predicate {
    never: bool,
    all: Conjunction,
    /// Groups of alternatives, by number.
    groups: Vec<(u8, Vec<Conjunction>)>,
}

impl Predicate {
    /// True if a pulse with this tag counts.
    #[inline]
    pub fn matches(&self, tag: u64) -> bool {
        !self.never
            && self.all.holds(tag)
            && self.groups.iter().all(|(_, group)| group.iter().any(|alternative| alternative.holds(tag)))
    }

    /// A predicate of tests that must all hold.
    pub fn all(tests: impl IntoIterator<Item = Test>) -> Self {
        Self { all: tests.into_iter().collect(), ..Self::default() }
    }

    /// One more test that must hold.
    pub fn require(&mut self, test: Test) {
        self.all.add(test);
    }

    /// Nothing matches from now on.
    pub fn exclude_all(&mut self) {
        self.never = true;
    }

    /// The alternatives of a group. A group without any holds for nothing.
    pub fn group(&mut self, number: u8) -> &mut Vec<Conjunction> {
        let found = self.groups.iter().position(|(group, _)| *group == number).unwrap_or_else(|| {
            self.groups.push((number, Vec::new()));
            self.groups.len() - 1
        });
        &mut self.groups[found].1
    }
}

/// Tests that must all hold. Those for equal bits are one comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conjunction {
    mask: u64,
    value: u64,
    tests: Vec<Test>,
}

impl Conjunction {
    #[inline]
    fn holds(&self, tag: u64) -> bool {
        tag & self.mask == self.value && self.tests.iter().all(|test| test.holds(tag))
    }

    fn add(&mut self, test: Test) {
        let bits = test.bits.mask();
        let compared = (test.mask & test.bits.max()) << test.bits.lsb;
        let fits = test.operand & test.mask <= test.bits.max();
        match test.relation {
            Relation::Equals if fits && self.mask & bits == 0 => {
                self.mask |= compared;
                self.value |= test.operand << test.bits.lsb & compared;
            }
            // A flag that is set.
            Relation::Differs if test.operand == 0 && test.bits.width == 1 && self.mask & bits == 0 => {
                self.mask |= bits;
                self.value |= bits;
            }
            _ => self.tests.push(test),
        }
    }
}

impl FromIterator<Test> for Conjunction {
    fn from_iter<I: IntoIterator<Item = Test>>(tests: I) -> Self {
        let mut conjunction = Self::default();
        tests.into_iter().for_each(|test| conjunction.add(test));
        conjunction
    }
}

/// A test of one attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Test {
    pub bits: BitRange,
    pub relation: Relation,
    pub operand: u64,
    /// The bits that [`Relation::Equals`] compares.
    pub mask: u64,
}

impl Test {
    /// The attribute is exactly `operand`.
    pub const fn equals(bits: BitRange, operand: u64) -> Self {
        Self { bits, relation: Relation::Equals, operand, mask: u64::MAX }
    }

    /// The attribute, a bit mask, shares a bit with `operand`.
    pub const fn has(bits: BitRange, operand: u64) -> Self {
        Self { bits, relation: Relation::Has, operand, mask: u64::MAX }
    }

    fn holds(self, tag: u64) -> bool {
        let value = self.bits.get(tag);
        match self.relation {
            Relation::Equals => (value ^ self.operand) & self.mask == 0,
            Relation::Differs => value != self.operand,
            Relation::In => value < 64 && self.operand >> value & 1 == 1,
            Relation::Has => value & self.operand != 0,
            Relation::AtLeast => value >= self.operand,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Predicate, Test};
    use pericore_catalog::{BitRange, Relation};
    use proptest::prelude::*;

    /// Attributes of one, two and five bits, at bits 0, 1 and 3.
    fn test() -> impl Strategy<Value = (usize, usize, u64, u64)> {
        (0usize..3, 0usize..5, 0u64..40, prop_oneof![Just(u64::MAX), 0u64..40])
    }

    fn compiled((attribute, relation, operand, mask): (usize, usize, u64, u64)) -> Test {
        let (lsb, width) = [(0, 1), (1, 2), (3, 5)][attribute];
        let relations = [Relation::Equals, Relation::Differs, Relation::In, Relation::Has, Relation::AtLeast];
        Test { bits: BitRange { lsb, width }, relation: relations[relation], operand, mask }
    }

    /// One test as `catalog/README.md` defines the relations.
    fn holds((attribute, relation, operand, mask): (usize, usize, u64, u64), tag: u64) -> bool {
        let value = [tag % 2, tag / 2 % 4, tag / 8 % 32][attribute];
        match relation {
            0 => value & mask == operand & mask,
            1 => value != operand,
            2 => (0..64).any(|bit| bit == value && operand >> bit & 1 == 1),
            3 => (0..64).any(|bit| value >> bit & 1 == 1 && operand >> bit & 1 == 1),
            _ => value >= operand,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

        /// However tests are folded into comparisons, all must hold, and one alternative of each group.
        #[test]
        fn folded_tests_are_the_tests(
            all in prop::collection::vec(test(), 0..4),
            required in prop::collection::vec(test(), 0..2),
            groups in prop::collection::vec(prop::collection::vec(prop::collection::vec(test(), 1..3), 0..3), 0..3),
        ) {
            let mut predicate = Predicate::all(all.iter().copied().map(compiled));
            required.iter().for_each(|&test| predicate.require(compiled(test)));
            for (number, group) in (0u8..).zip(&groups) {
                predicate.group(number);
                for tests in group {
                    predicate.group(number).push(tests.iter().copied().map(compiled).collect());
                }
            }
            for tag in 0..256 {
                let each = |tests: &[(usize, usize, u64, u64)]| tests.iter().all(|&test| holds(test, tag));
                let any = groups.iter().all(|group| group.iter().any(|tests| each(tests)));
                prop_assert_eq!(predicate.matches(tag), each(&all) && each(&required) && any, "tag {:#x}", tag);
            }
            predicate.exclude_all();
            prop_assert!((0..256).all(|tag| !predicate.matches(tag)));
        }
    }
}
