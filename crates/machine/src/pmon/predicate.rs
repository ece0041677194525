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
