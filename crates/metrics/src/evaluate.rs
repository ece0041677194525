//! Evaluation: numbers together with their validity.

use crate::{BinaryOperator, Expression, Function, Reference, Validity};

/// A number and how far it can be trusted. There is no way to get at a number that is not one.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    number: f64,
    validity: Validity,
}

impl Value {
    /// A number with its validity. A number that is not finite becomes "not defined".
    pub fn new(number: f64, validity: Validity) -> Self {
        if number.is_finite() || !validity.grade().has_number() {
            return Self { number, validity };
        }
        Self { number, validity: validity.and(&Validity::not_defined("the result is too large")) }
    }

    /// A plainly measured number.
    pub fn measured(number: f64) -> Self {
        Self::new(number, Validity::MEASURED)
    }

    /// No number; `validity` says why. If it does not, the value is suspect.
    pub fn missing(validity: Validity) -> Self {
        let validity =
            if validity.grade().has_number() { validity.and(&Validity::not_defined("no number")) } else { validity };
        Self { number: 0.0, validity }
    }

    /// The number, finite, or `None` if the validity forbids to show one.
    pub fn number(&self) -> Option<f64> {
        self.validity.grade().has_number().then_some(self.number)
    }

    /// How far it can be trusted.
    pub const fn validity(&self) -> &Validity {
        &self.validity
    }

    fn combine(&self, other: &Self, compute: impl FnOnce(f64, f64) -> f64) -> Self {
        let validity = self.validity.clone().and(&other.validity);
        match (self.number(), other.number()) {
            (Some(a), Some(b)) => Self::new(compute(a, b), validity),
            _ => Self::missing(validity),
        }
    }

    /// 1 if it holds, else 0.
    fn compare(&self, other: &Self, holds: impl FnOnce(f64, f64) -> bool) -> Self {
        self.combine(other, |a, b| if holds(a, b) { 1.0 } else { 0.0 })
    }

    /// The sum, as trustworthy as the worse of the two.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a + b)
    }
}

/// Where evaluation finds the values of names.
pub trait Resolver {
    /// The value of `reference`. A name that has none is a [`Value::missing`] with the reason.
    fn resolve(&self, reference: &Reference) -> Value;
}

impl<F: Fn(&Reference) -> Value> Resolver for F {
    fn resolve(&self, reference: &Reference) -> Value {
        self(reference)
    }
}

/// Computes `expression` over `resolver`.
///
/// A denominator of zero gives a value without a number, never an infinity or NaN.
pub fn evaluate(expression: &Expression, resolver: &impl Resolver) -> Value {
    match expression {
        Expression::Number(number) => Value::measured(*number),
        Expression::Reference(reference) => resolver.resolve(reference),
        Expression::Negate(inner) => {
            let value = evaluate(inner, resolver);
            Value { number: -value.number, validity: value.validity }
        }
        Expression::Binary(operator, left, right) => {
            let a = evaluate(left, resolver);
            let b = evaluate(right, resolver);
            match operator {
                BinaryOperator::Add => a.plus(&b),
                BinaryOperator::Subtract => a.combine(&b, |a, b| a - b),
                BinaryOperator::Multiply => a.combine(&b, |a, b| a * b),
                BinaryOperator::Divide => divide(&a, &b, right),
                BinaryOperator::Less => a.compare(&b, |a, b| a < b),
                BinaryOperator::LessOrEqual => a.compare(&b, |a, b| a <= b),
                BinaryOperator::Greater => a.compare(&b, |a, b| a > b),
                BinaryOperator::GreaterOrEqual => a.compare(&b, |a, b| a >= b),
                BinaryOperator::Equal => a.compare(&b, |a, b| a == b),
                BinaryOperator::NotEqual => a.compare(&b, |a, b| a != b),
            }
        }
        Expression::Call(function, arguments) => {
            let mut values = arguments.iter().map(|argument| evaluate(argument, resolver));
            let Some(first) = values.next() else {
                return Value::missing(Validity::not_defined(format!("{} of nothing", function.name())));
            };
            values.fold(first, |a, b| match function {
                Function::Min => a.combine(&b, f64::min),
                Function::Max => a.combine(&b, f64::max),
            })
        }
        Expression::Choice(parts) => {
            let [first, condition, other] = &**parts;
            let condition = evaluate(condition, resolver);
            let Some(number) = condition.number() else { return condition };
            // What is not chosen may be undefined: often that is what the condition is about.
            let chosen = evaluate(if number != 0.0 { first } else { other }, resolver);
            Value { number: chosen.number, validity: condition.validity.and(&chosen.validity) }
        }
    }
}

fn divide(a: &Value, b: &Value, denominator: &Expression) -> Value {
    if b.number() == Some(0.0) {
        let why = Validity::not_defined(format!("the denominator is zero ({denominator})"));
        return Value::missing(a.validity.clone().and(&b.validity).and(&why));
    }
    a.combine(b, |a, b| a / b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grade;

    fn value_of(source: &str) -> Value {
        let resolver = |reference: &Reference| match reference.name.as_str() {
            "ZERO" => Value::measured(0.0),
            "HALF" => Value::new(0.5, Validity::scaled(0.5)),
            "GONE" => Value::missing(Validity::unreadable("imc1", "reads all ones")),
            _ => Value::measured(10.0),
        };
        evaluate(&Expression::parse(source).unwrap(), &resolver)
    }

    #[test]
    fn computes() {
        assert_eq!(value_of("(TEN - 4) * 64 / 2").number(), Some(192.0));
        assert_eq!(value_of("max(1, TEN, 3) - min(-1, 2)").number(), Some(11.0));
        assert_eq!(value_of("TEN / HALF").number(), Some(20.0));
        assert_eq!(value_of("TEN / HALF").validity().grade(), Grade::Scaled);
    }

    #[test]
    fn a_zero_denominator_is_said_and_not_computed() {
        for source in ["TEN / ZERO", "ZERO / ZERO", "1 + TEN / (ZERO * 5)"] {
            let value = value_of(source);
            assert_eq!(value.number(), None);
            assert!(value.validity().to_string().contains("denominator is zero"), "{source}");
        }
        assert_eq!(value_of("1e308 * 1e308").validity().grade(), Grade::NotDefined);
        // It is not all that is to be said.
        let both = "imc1 unreadable: reads all ones; not defined: the denominator is zero (ZERO)";
        assert_eq!(value_of("GONE / ZERO").validity().to_string(), both);
    }

    #[test]
    fn one_unreadable_input_leaves_no_number_and_names_itself() {
        let value = value_of("TEN + HALF * GONE");
        assert_eq!(value.number(), None);
        assert!(value.validity().to_string().contains("imc1 unreadable: reads all ones"));
    }

    /// Within the stack that threads have, without optimisation too: 199 sums, minima and choices of 10 each, one in
    /// the other.
    #[test]
    fn the_deepest_expressions_are_computed() {
        let nested = |open: &str, close: &str| format!("{}TEN{}", open.repeat(199), close.repeat(199));
        assert_eq!(value_of(&nested("TEN + (", ")")).number(), Some(2000.0));
        assert_eq!(value_of(&nested("min(", ")")).number(), Some(10.0));
        assert_eq!(value_of(&nested("-", "")).number(), Some(-10.0));
        assert_eq!(value_of(&nested("ZERO if ZERO else ", "")).number(), Some(10.0));
    }

    /// Four operators and two functions over 12 and 5, by hand.
    #[test]
    fn each_operator_computes_its_own() {
        let counts = |reference: &Reference| Value::measured(if reference.name == "A" { 12.0 } else { 5.0 });
        for (source, number) in [
            ("A + B", 17.0),
            ("A - B", 7.0),
            ("A * B", 60.0),
            ("A / B", 2.4),
            ("-A", -12.0),
            ("-(A - B)", -7.0),
            ("min(A, B)", 5.0),
            ("max(A, B)", 12.0),
            ("min(B)", 5.0),
            ("max(B, A, 7)", 12.0),
            ("min(7, A, B, 6)", 5.0),
            ("0 / B", 0.0),
            ("A / -B", -2.4),
        ] {
            assert_eq!(evaluate(&Expression::parse(source).unwrap(), &counts), Value::measured(number), "{source}");
        }
    }

    /// As Python has it: comparisons are 1 or 0, and the part that is not chosen is not computed.
    #[test]
    fn choices_take_one_side() {
        for (source, number) in [
            ("TEN < 11", Some(1.0)),
            ("TEN < 10", Some(0.0)),
            ("TEN <= 10", Some(1.0)),
            ("TEN > 10", Some(0.0)),
            ("TEN >= 10", Some(1.0)),
            ("TEN == 10", Some(1.0)),
            ("TEN != 10", Some(0.0)),
            ("5 if TEN > 9 else 7", Some(5.0)),
            ("5 if TEN - 10 else 7", Some(7.0)),
            ("TEN / ZERO if ZERO > 0 else 3", Some(3.0)),
            ("1 if ZERO else 2 if TEN else 3", Some(2.0)),
            ("1 if GONE else 2", None),
            ("GONE if TEN else 2", None),
            ("2 if TEN else GONE", Some(2.0)),
        ] {
            assert_eq!(value_of(source).number(), number, "{source}");
        }
        assert_eq!(value_of("2 if HALF else 3").validity().grade(), Grade::Scaled);
        assert_eq!(value_of("HALF if TEN else 3").validity().grade(), Grade::Scaled);
    }

    #[test]
    fn what_has_no_number_stays_without_one_and_says_why() {
        for (source, said) in [
            ("-GONE", "imc1 unreadable: reads all ones"),
            ("min(TEN, GONE)", "imc1 unreadable: reads all ones"),
            ("max(GONE, 0)", "imc1 unreadable: reads all ones"),
            ("GONE / TEN", "imc1 unreadable: reads all ones"),
            ("0 * GONE", "imc1 unreadable: reads all ones"),
            ("HALF - GONE", "scaled, counted 50.0 % of the time; imc1 unreadable: reads all ones"),
            ("TEN / GONE", "imc1 unreadable: reads all ones"),
            (
                "HALF / (TEN - 10)",
                "scaled, counted 50.0 % of the time; not defined: the denominator is zero (TEN - 10)",
            ),
            ("1e308 + 1e308", "not defined: the result is too large"),
        ] {
            let value = value_of(source);
            assert_eq!((value.number(), value.validity().to_string().as_str()), (None, said), "{source}");
        }
        let nothing = evaluate(&Expression::Call(Function::Max, Vec::new()), &|_: &Reference| Value::measured(1.0));
        assert_eq!(
            (nothing.number(), nothing.validity().to_string()),
            (None, "not defined: max of nothing".to_owned())
        );
    }

    /// A value is built from whatever arithmetic gave, and from what a session knows of its counter.
    #[test]
    fn a_value_has_a_number_only_if_it_is_one_and_may_be_shown() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let value = Value::measured(number);
            assert_eq!((value.number(), value.validity().grade()), (None, Grade::NotDefined), "{number}");
        }
        let wrapped = Validity::wrapped_unknown("imc0 counter 1");
        // It is said once, as it was: that the number is none beside is no news.
        assert_eq!(Value::new(f64::NAN, wrapped.clone()).validity(), &wrapped);
        assert_eq!(Value::new(7.0, wrapped.clone()).number(), None);
        assert_eq!(Value::missing(wrapped.clone()).validity(), &wrapped);
        let suspect = Value::new(7.0, Validity::suspect("frozen"));
        assert_eq!((suspect.number(), suspect.validity().grade()), (Some(7.0), Grade::Suspect));
        let missing = Value::missing(Validity::scaled(0.5));
        assert_eq!(missing.number(), None);
        assert_eq!(missing.validity().to_string(), "scaled, counted 50.0 % of the time; not defined: no number");
        let sum = Value::new(3.0, Validity::scaled(0.5)).plus(&suspect);
        assert_eq!(sum.number(), Some(10.0));
        assert_eq!(sum.validity().to_string(), "scaled, counted 50.0 % of the time; suspect: frozen");
    }
}
