//! The tree that an expression is, and its printed form.

use std::fmt;

/// Names that stand for facts about the sample and not for events: seconds of the sample, TSC cycles of the sample,
/// number of unit instances in the aggregate, number of sockets that they are in, hardware threads of a core.
pub const VARIABLES: [&str; 5] = ["seconds", "SAMPLE_INTERVAL", "instances", "sockets", "threads_per_core"];

/// An expression of the metric language. Its printed form parses to the same tree.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A number, finite and not negative.
    Number(f64),
    /// A count, another metric or a variable.
    Reference(Reference),
    /// Unary minus.
    Negate(Box<Expression>),
    /// An operation on two operands.
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// A function of one or more arguments.
    Call(Function, Vec<Expression>),
    /// The first if the second is not 0, else the third: `A if B else C`.
    Choice(Box<[Expression; 3]>),
}

/// `+ - * / < > <= >= == !=`. A comparison is 1 where it holds, else 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOperator {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient.
    Divide,
    /// Is less than.
    Less,
    /// Is less than, or equal to.
    LessOrEqual,
    /// Is greater than.
    Greater,
    /// Is greater than, or equal to.
    GreaterOrEqual,
    /// Is equal to.
    Equal,
    /// Is not equal to.
    NotEqual,
}

impl BinaryOperator {
    /// The operator as written.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        }
    }

    /// True for an operator that compares.
    pub const fn is_comparison(self) -> bool {
        self.binding() == COMPARISON
    }

    const fn binding(self) -> u8 {
        match self {
            Self::Add | Self::Subtract => COMPARISON + 1,
            Self::Multiply | Self::Divide => COMPARISON + 2,
            Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual | Self::Equal | Self::NotEqual => {
                COMPARISON
            }
        }
    }
}

/// How tightly comparisons bind: more than a choice, which binds least, and less than sums.
const COMPARISON: u8 = 1;

/// A function of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// The smallest argument.
    Min,
    /// The largest argument.
    Max,
}

impl Function {
    /// All functions.
    pub const ALL: [Self; 2] = [Self::Min, Self::Max];

    /// The name as written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

/// The name of a quantity, with the unit it belongs to and the fields it needs set.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    /// Unit, if the expression names one; else the unit that the metric belongs to.
    pub unit: Option<String>,
    /// `EVENT`, `EVENT.SUBEVENT`, a metric or a variable.
    pub name: String,
    /// Fields and filters in braces, in the order written. A key without a value is set to 1.
    pub settings: Vec<(String, SettingValue)>,
}

impl Reference {
    /// A bare name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { unit: None, name: name.into(), settings: Vec::new() }
    }

    /// True for one of [`VARIABLES`].
    pub fn is_variable(&self) -> bool {
        self.unit.is_none() && VARIABLES.contains(&self.name.as_str())
    }
}

/// What a field is set to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SettingValue {
    /// A number.
    Number(u64),
    /// A named value of the field, for example an opcode.
    Name(String),
}

impl Expression {
    /// What the expression needs: each reference once, in order of appearance, variables included.
    pub fn references(&self) -> Vec<&Reference> {
        let mut found = Vec::new();
        self.visit(&mut |reference| {
            if !found.contains(&reference) {
                found.push(reference);
            }
        });
        found
    }

    /// Calls `visit` with every reference, left to right.
    pub fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Reference)) {
        match self {
            Self::Number(_) => {}
            Self::Reference(reference) => visit(reference),
            Self::Negate(inner) => inner.visit(visit),
            Self::Binary(_, left, right) => {
                left.visit(visit);
                right.visit(visit);
            }
            Self::Call(_, arguments) => arguments.iter().for_each(|argument| argument.visit(visit)),
            Self::Choice(parts) => parts.iter().for_each(|part| part.visit(visit)),
        }
    }

    /// The expression with each reference replaced by what `replace` returns for it.
    ///
    /// # Errors
    /// The first error of `replace`.
    pub fn try_map<E>(&self, replace: &mut impl FnMut(&Reference) -> Result<Self, E>) -> Result<Self, E> {
        Ok(match self {
            Self::Number(number) => Self::Number(*number),
            Self::Reference(reference) => replace(reference)?,
            Self::Negate(inner) => Self::Negate(Box::new(inner.try_map(replace)?)),
            Self::Binary(operator, left, right) => {
                let left = left.try_map(replace)?;
                Self::Binary(*operator, Box::new(left), Box::new(right.try_map(replace)?))
            }
            Self::Call(function, arguments) => Self::Call(
                *function,
                arguments.iter().map(|argument| argument.try_map(replace)).collect::<Result<_, _>>()?,
            ),
            Self::Choice(parts) => {
                let [first, condition, other] = &**parts;
                let (first, condition) = (first.try_map(replace)?, condition.try_map(replace)?);
                Self::Choice(Box::new([first, condition, other.try_map(replace)?]))
            }
        })
    }

    /// Levels of the tree.
    pub fn depth(&self) -> usize {
        1 + match self {
            Self::Number(_) | Self::Reference(_) => 0,
            Self::Negate(inner) => inner.depth(),
            Self::Binary(_, left, right) => left.depth().max(right.depth()),
            Self::Call(_, arguments) => arguments.iter().map(Self::depth).max().unwrap_or(0),
            Self::Choice(parts) => parts.iter().map(Self::depth).max().unwrap_or(0),
        }
    }

    const fn binding(&self) -> u8 {
        match self {
            Self::Choice(_) => 0,
            Self::Binary(operator, ..) => operator.binding(),
            Self::Negate(_) => COMPARISON + 3,
            Self::Number(_) | Self::Reference(_) | Self::Call(..) => COMPARISON + 4,
        }
    }

    fn print(&self, f: &mut fmt::Formatter<'_>, least_binding: u8) -> fmt::Result {
        if self.binding() < least_binding {
            f.write_str("(")?;
            self.print(f, 0)?;
            return f.write_str(")");
        }
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Reference(reference) => write!(f, "{reference}"),
            Self::Negate(inner) => {
                f.write_str("-")?;
                inner.print(f, COMPARISON + 3)
            }
            Self::Binary(operator, left, right) => {
                // Comparisons do not chain.
                left.print(f, operator.binding() + u8::from(operator.is_comparison()))?;
                write!(f, " {} ", operator.symbol())?;
                right.print(f, operator.binding() + 1)
            }
            Self::Call(function, arguments) => {
                write!(f, "{}(", function.name())?;
                for (index, argument) in arguments.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    argument.print(f, 0)?;
                }
                f.write_str(")")
            }
            Self::Choice(parts) => {
                let [first, condition, other] = &**parts;
                first.print(f, COMPARISON)?;
                f.write_str(" if ")?;
                condition.print(f, COMPARISON)?;
                f.write_str(" else ")?;
                other.print(f, 0)
            }
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, 0)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(unit) = &self.unit {
            write!(f, "{unit}/")?;
        }
        f.write_str(&self.name)?;
        if self.settings.is_empty() {
            return Ok(());
        }
        for (index, (key, value)) in self.settings.iter().enumerate() {
            write!(f, "{}{key}={value}", if index == 0 { '{' } else { ',' })?;
        }
        f.write_str("}")
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number @ 0..=9) => write!(f, "{number}"),
            Self::Number(number) => write!(f, "{number:#x}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(source: &str) -> String {
        Expression::parse(source).unwrap().to_string()
    }

    #[test]
    fn prints_the_fewest_parentheses_that_keep_the_tree() {
        assert_eq!(printed("((A.B) - C) * (64) / seconds"), "(A.B - C) * 64 / seconds");
        assert_eq!(printed("A - (B - C)"), "A - (B - C)");
        assert_eq!(printed("A - B - C"), "A - B - C");
        assert_eq!(printed("-(A+B)*--C"), "-(A + B) * --C");
        assert_eq!(printed("max(A ,min(B,1e3))"), "max(A, min(B, 1000))");
    }

    #[test]
    fn settings_without_a_value_are_one() {
        assert_eq!(printed("COUNTER0_OCCUPANCY{edge_det, thresh=0x1}"), "COUNTER0_OCCUPANCY{edge_det=1,thresh=1}");
        assert_eq!(printed("cbo/TOR_INSERTS.OPCODE{opc=DRd,nid=0x1f}"), "cbo/TOR_INSERTS.OPCODE{opc=DRd,nid=0x1f}");
    }

    #[test]
    fn references_are_listed_once_in_order() {
        let expression = Expression::parse("B{x=1} / (A + B{x=1} + B{x=2}) * seconds").unwrap();
        let names: Vec<String> = expression.references().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["B{x=1}", "A", "B{x=2}", "seconds"]);
        assert!(expression.references()[3].is_variable());
    }

    #[test]
    fn try_map_puts_expressions_in_place_of_names() {
        let total = Expression::parse("2 * (READS + WRITES)").unwrap();
        let mapped = total.try_map(&mut |reference| Expression::parse(&format!("{}.RD * 64", reference.name)));
        assert_eq!(mapped.unwrap().to_string(), "2 * (READS.RD * 64 + WRITES.RD * 64)");
    }

    /// `list --metrics` prints it, and a user types it back.
    #[test]
    fn references_are_printed_as_they_are_typed() {
        for text in [
            "A",
            "imc/CAS_COUNT.RD",
            "X{a=1}",
            "X{a=9,b=0xa,c=0xffffffffffffffff,d=DRd}",
            "cha/X.Y.Z{tid=0}",
            "min(A, B) + max(C)",
            "-A / -(B * C) - -(D - E)",
            "A / (B / C) / (D * E) * F",
            "A + (B + C)",
            "-min(A, -B)",
            "0.5 * 18446744073709552000",
            "A if B > C + 1 else D if E else F",
            "(A if B else C) / (D < E)",
            "(A <= B) == (C != D)",
            "(A if B else C) if (D if E else F) >= G else max(A if B else C, D)",
        ] {
            assert_eq!(printed(text), text);
        }
        assert_eq!(printed("(A * B) / C - (D / E)"), "A * B / C - D / E");
    }

    #[test]
    fn only_a_bare_name_is_a_variable() {
        for name in ["seconds", "SAMPLE_INTERVAL", "instances", "sockets", "threads_per_core"] {
            assert!(Reference::named(name).is_variable(), "{name}");
            assert!(!Reference { unit: Some("imc".to_owned()), ..Reference::named(name) }.is_variable(), "{name}");
        }
        assert!(!Reference::named("CLOCKTICKS").is_variable());
    }

    #[test]
    fn a_tree_is_as_deep_as_its_longest_branch() {
        for (source, depth) in [
            ("1", 1),
            ("A", 1),
            ("-A", 2),
            ("A + B", 2),
            ("A + B * C", 3),
            ("(A + B) * C", 3),
            ("max(A, -B, C)", 3),
            ("A if -B else C", 3),
            ("--A", 3),
        ] {
            assert_eq!(Expression::parse(source).unwrap().depth(), depth, "{source}");
        }
    }

    #[test]
    fn try_map_reaches_every_name_and_keeps_all_else() {
        let source = "-A + max(B, 2, min(C)) / (D{x=3} - 1) if E else F";
        let mut seen = Vec::new();
        let same = Expression::parse(source).unwrap().try_map(&mut |reference| {
            seen.push(reference.name.clone());
            Ok::<_, String>(Expression::Reference(reference.clone()))
        });
        assert_eq!(same.unwrap().to_string(), source);
        assert_eq!(seen, ["A", "B", "C", "D", "E", "F"]);
        for bad in ["A", "B", "C", "D", "E", "F"] {
            let refused = Expression::parse(source).unwrap().try_map(&mut |reference| {
                if reference.name == bad { Err(bad) } else { Ok(Expression::Number(1.0)) }
            });
            assert_eq!(refused, Err(bad));
        }
    }
}
