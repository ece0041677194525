//! `A if B else C` and comparisons.

use super::{Node, Parser};
use crate::lexer::Token;
use crate::{BinaryOperator, Expression, ParseError};

impl Parser<'_> {
    /// `A if B else C`, as Intel's formulas have it.
    pub(super) fn choice(&mut self) -> Result<Node, ParseError> {
        let first = self.comparison()?;
        if self.token() == Token::Name("if") { self.chosen(first) } else { Ok(first) }
    }

    /// `if B else C`, behind what is chosen if B holds.
    fn chosen(&mut self, first: Node) -> Result<Node, ParseError> {
        self.advance();
        let condition = self.comparison()?;
        if self.token() != Token::Name("else") {
            return Err(self.refuse("an operator or \"else\""));
        }
        self.advance();
        let other = self.nested(Self::choice)?;
        let depth = self.check_depth(1 + first.depth.max(condition.depth).max(other.depth))?;
        let parts = [first, condition, other].map(|part| part.expression);
        Ok(Node { expression: Expression::Choice(Box::new(parts)), depth })
    }

    fn comparison(&mut self) -> Result<Node, ParseError> {
        let left = self.sum()?;
        match self.token() {
            Token::Sign('<') => self.compared(left, BinaryOperator::Less),
            Token::Sign('>') => self.compared(left, BinaryOperator::Greater),
            Token::Sign('=') => self.compared(left, BinaryOperator::Equal),
            Token::Sign('!') => self.compared(left, BinaryOperator::NotEqual),
            _ => Ok(left),
        }
    }

    /// The operator, which has begun, and what stands behind it.
    fn compared(&mut self, left: Node, operator: BinaryOperator) -> Result<Node, ParseError> {
        self.advance();
        let operator = match operator {
            BinaryOperator::Less if self.accept('=') => BinaryOperator::LessOrEqual,
            BinaryOperator::Greater if self.accept('=') => BinaryOperator::GreaterOrEqual,
            BinaryOperator::Equal | BinaryOperator::NotEqual => {
                self.expect('=', "\"=\"")?;
                operator
            }
            _ => operator,
        };
        let right = self.sum()?;
        self.binary(operator, left, right)
    }
}

#[cfg(test)]
mod tests {
    use crate::Expression;

    fn same(a: &str, b: &str) {
        assert_eq!(Expression::parse(a).unwrap(), Expression::parse(b).unwrap(), "{a}");
    }

    /// Python's rules, which Intel's formulas follow; in their files `> =` stands for `>=`.
    #[test]
    fn a_choice_binds_least_and_leans_right() {
        same("A + B if C > D else E / F", "(A + B) if (C > D) else (E / F)");
        same("A if B else C if D else E", "A if B else (C if D else E)");
        same("A if ( B > = 0 ) else ( C )", "A if B >= 0 else C");
        same("100 * ( A / 2 if B else ( C ) )", "100 * ((A / 2) if B else C)");
        same("A < B + C * D", "A < (B + (C * D))");
    }

    #[test]
    fn what_is_incomplete_is_named() {
        for (source, column, expected) in [
            ("A if B", 7, "an operator or \"else\""),
            ("A if else B", 11, "an operator or \"else\""),
            ("A if B else", 12, "a number, a name"),
            ("A = B", 5, "\"=\""),
            ("A ! B", 5, "\"=\""),
            ("A < B < C", 7, "an operator or the end"),
            ("A else B", 3, "an operator or the end"),
        ] {
            let error = Expression::parse(source).unwrap_err().to_string();
            assert!(error.starts_with(&format!("column {column}: expected {expected}")), "{source}: {error}");
        }
    }
}
