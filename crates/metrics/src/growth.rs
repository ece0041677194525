//! How a value grows with the part of the machine that its counts are added up over.

use std::collections::BTreeMap;

use crate::{BinaryOperator, Expression, Reference};

/// Stands for the number of sockets, which no unit is named after.
const SOCKETS: &str = "";

/// With what power of each unit's number of instances a value grows when counts are added up: the first for a count,
/// none for a
/// quotient of two counts of one unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Growth(BTreeMap<String, i32>);

/// Terms are added up or compared that grow differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its terms grow differently with the number of instances")]
pub struct Uneven;

impl Growth {
    /// The growth of an expression whose bare names belong to `unit`. `metric` gives that of a reference to another
    /// metric.
    ///
    /// # Errors
    /// [`Uneven`], if it has none.
    ///
    /// ```
    /// use pericore_metrics::{Expression, Growth, Reference};
    ///
    /// let growth = |text| Growth::of(&Expression::parse(text).unwrap(), "upi", &|_: &Reference| None).unwrap();
    /// assert!(growth("CLOCKTICKS * 8 / seconds").adds_up());
    /// assert!(growth("1 - OCCUPANCY / INSERTS").is_none());
    /// ```
    pub fn of(
        expression: &Expression,
        unit: &str,
        metric: &impl Fn(&Reference) -> Option<Result<Self, Uneven>>,
    ) -> Result<Self, Uneven> {
        let of = |part: &Expression| Self::of(part, unit, metric);
        match expression {
            Expression::Number(_) => Ok(Self::default()),
            Expression::Reference(reference) => metric(reference).unwrap_or_else(|| Ok(Self::of_name(reference, unit))),
            Expression::Negate(inner) => of(inner),
            Expression::Binary(operator, left, right) => {
                let (left, right) = (of(left)?, of(right)?);
                match operator {
                    BinaryOperator::Add | BinaryOperator::Subtract => left.like(&right),
                    BinaryOperator::Multiply => Ok(left.times(&right, 1)),
                    BinaryOperator::Divide => Ok(left.times(&right, -1)),
                    _ => left.like(&right).map(|_| Self::default()),
                }
            }
            Expression::Call(_, arguments) => {
                let mut all = arguments.iter().map(of);
                let first = all.next().unwrap_or_else(|| Ok(Self::default()))?;
                all.try_fold(first, |first, next| first.like(&next?))
            }
            Expression::Choice(parts) => {
                let [first, _, other] = &**parts;
                of(first)?.like(&of(other)?)
            }
        }
    }

    /// True if it is the same over one instance and over all: the value is a mean or a share.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// True if it grows as a sum over instances does: with the number of one kind of them.
    pub fn adds_up(&self) -> bool {
        self.0.values().all(|power| *power > 0) && self.0.values().sum::<i32>() == 1
    }

    /// True if it grows as a sum over the instances of `unit` does.
    pub fn is_of(&self, unit: &str) -> bool {
        self.adds_up() && self.0.contains_key(unit)
    }

    fn of_name(reference: &Reference, unit: &str) -> Self {
        let grows_with = match (reference.is_variable(), reference.name.as_str()) {
            (true, "instances") => unit,
            (true, "sockets") => SOCKETS,
            (true, _) => return Self::default(),
            (false, _) => reference.unit.as_deref().unwrap_or(unit),
        };
        Self([(grows_with.to_owned(), 1)].into())
    }

    fn like(self, other: &Self) -> Result<Self, Uneven> {
        if self == *other { Ok(self) } else { Err(Uneven) }
    }

    fn times(mut self, other: &Self, sign: i32) -> Self {
        for (unit, power) in &other.0 {
            *self.0.entry(unit.clone()).or_default() += sign * power;
        }
        self.0.retain(|_, power| *power != 0);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(text: &str) -> Result<Growth, Uneven> {
        let inner = |reference: &Reference| (reference.name == "MEAN").then(|| Ok(Growth::default()));
        Growth::of(&Expression::parse(text).unwrap(), "cha", &inner)
    }

    #[test]
    fn quotients_of_counts_do_not_grow_and_rates_do() {
        for text in [
            "A / B",
            "(A + B) / (3 * C)",
            "1 - A / B",
            "A / instances / seconds",
            "MEAN * 1000000000",
            "2",
            "max(A / B, 0)",
            "A / B if A > B else 1",
            "A < B",
        ] {
            assert!(growth(text).unwrap().is_none(), "{text}");
        }
        for text in [
            "A",
            "A * 64 / seconds",
            "-A",
            "A / B * instances",
            "A / SAMPLE_INTERVAL",
            "MEAN * A",
            "A / (instances / sockets)",
            "A / 2 if threads_per_core > 1 else B",
        ] {
            let growth = growth(text).unwrap();
            assert!(growth.adds_up() && !growth.is_none(), "{text}");
        }
        assert!(growth("A").unwrap().is_of("cha") && !growth("imc/A").unwrap().is_of("cha"));
    }

    /// Sixty-four slices over eight channels are no share, and a product of counts is none of both.
    #[test]
    fn counts_of_different_units_do_not_mix() {
        for text in ["A / imc/B", "A * B", "1 / A"] {
            let growth = growth(text).unwrap();
            assert!(!growth.adds_up() && !growth.is_none(), "{text}");
        }
        for text in ["A + imc/B", "1 - A", "max(A, 1)", "A / B + C", "A if B else 1", "A < 2"] {
            assert_eq!(growth(text), Err(Uneven), "{text}");
        }
    }
}
