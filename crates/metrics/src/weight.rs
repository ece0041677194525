//! What a value weighs in a mean of several.

use crate::{BinaryOperator, Expression, Resolver, evaluate};

impl Expression {
    /// The number by which values of a quotient are weighted, so that their mean is the sum of numerators over the sum
    /// of denominators; none for
    /// what is no quotient of counts: that weighs as much as its time.
    ///
    /// ```
    /// use pericore_metrics::{Expression, Reference, Value};
    ///
    /// let counts = |reference: &Reference| Value::measured(if reference.name == "INSERTS" { 40.0 } else { 8.0 });
    /// let weight = |text| Expression::parse(text).unwrap().weight(&counts);
    /// assert_eq!(weight("OCCUPANCY / INSERTS"), Some(40.0));
    /// assert_eq!(weight("CLOCKTICKS / seconds"), None);
    /// ```
    pub fn weight(&self, resolver: &impl Resolver) -> Option<f64> {
        match self {
            Self::Number(_) | Self::Reference(_) => None,
            Self::Negate(inner) => inner.weight(resolver),
            Self::Binary(BinaryOperator::Divide, numerator, denominator) => numerator.weight(resolver).or_else(|| {
                let counts = denominator.references().iter().any(|reference| !reference.is_variable());
                counts.then(|| evaluate(denominator, resolver).number()).flatten().map(f64::abs)
            }),
            Self::Binary(_, left, right) => left.weight(resolver).or_else(|| right.weight(resolver)),
            Self::Call(_, arguments) => arguments.iter().find_map(|argument| argument.weight(resolver)),
            Self::Choice(parts) => {
                let [first, condition, other] = &**parts;
                let chosen = if evaluate(condition, resolver).number()? == 0.0 { other } else { first };
                chosen.weight(resolver)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reference, Value};

    /// 100 cycles over 10 requests, then 900 over 30: 1000 over 40 is 25, while the mean of 10 and 30 is 20.
    #[test]
    fn a_weighted_mean_of_quotients_is_the_quotient_of_sums() {
        for text in [
            "OCC / INS",
            "OCC / INS / 1",
            "1 * (OCC / INS)",
            "-(0 - OCC / INS)",
            "max(OCC / INS, 0)",
            "OCC / INS if INS else 7",
        ] {
            let expression = Expression::parse(text).unwrap();
            let (mut sum, mut weights) = (0.0, 0.0);
            for (occupancy, inserts) in [(100.0, 10.0), (900.0, 30.0)] {
                let counts =
                    |reference: &Reference| Value::measured(if reference.name == "OCC" { occupancy } else { inserts });
                let weight = expression.weight(&counts).expect(text);
                sum += weight * evaluate(&expression, &counts).number().unwrap();
                weights += weight;
            }
            assert_eq!((sum / weights, weights), (25.0, 40.0), "{text}");
        }
    }

    #[test]
    fn rates_weigh_as_much_as_their_time() {
        for text in ["OCC", "OCC * 64 / seconds", "OCC / instances / seconds", "2", "OCC / 0", "OCC / (INS - INS) * 0"]
        {
            let weight = Expression::parse(text).unwrap().weight(&|_: &Reference| Value::measured(7.0));
            assert!(weight.is_none() || weight == Some(0.0), "{text}: {weight:?}");
        }
    }
}
