//! Recursive descent over the tokens.

mod choice;

use crate::lexer::{Spanned, Token, tokens};
use crate::{BinaryOperator, Expression, Function, ParseError, Reference, SettingValue};

/// The deepest tree, and the deepest nesting, that the parser accepts. A chain such as `A + B + C` is as deep as it is
/// long. The limit keeps every walk over a tree within a small stack.
pub const MAX_DEPTH: usize = 200;

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// A [`ParseError`] that points at the first spot that does not fit.
    pub fn parse(source: &str) -> Result<Self, ParseError> {
        let mut parser = Parser { source, tokens: tokens(source)?, at: 0, nesting: 0 };
        let Node { expression, .. } = parser.choice()?;
        match parser.token() {
            Token::End => Ok(expression),
            _ => Err(parser.refuse("an operator or the end of the expression")),
        }
    }
}

/// An expression and its depth, kept beside it because measuring it again at each level would take quadratic time.
struct Node {
    expression: Expression,
    depth: usize,
}

impl Node {
    const fn leaf(expression: Expression) -> Self {
        Self { expression, depth: 1 }
    }
}

/// Reads a part. Without optimisation a function's frame holds all that it ever needs, and 200 levels have to fit in
/// 2 MiB: what is needed behind the next level only is in functions of its own.
type Parse<'s> = fn(&mut Parser<'s>) -> Result<Node, ParseError>;

struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Spanned<'s>>,
    at: usize,
    nesting: usize,
}

impl<'s> Parser<'s> {
    fn spanned(&self) -> Spanned<'s> {
        // The last token is `End` and is never passed over.
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn token(&self) -> Token<'s> {
        self.spanned().token
    }

    fn advance(&mut self) {
        self.at += 1;
    }

    fn accept(&mut self, sign: char) -> bool {
        let fits = self.token() == Token::Sign(sign);
        if fits {
            self.advance();
        }
        fits
    }

    fn expect(&mut self, sign: char, expected: &str) -> Result<(), ParseError> {
        if self.accept(sign) { Ok(()) } else { Err(self.refuse(expected)) }
    }

    fn refuse(&self, expected: impl Into<String>) -> ParseError {
        let Spanned { token, start, end } = self.spanned();
        ParseError::new(self.source, start, end - start, expected, token.describe())
    }

    fn check_depth(&self, depth: usize) -> Result<usize, ParseError> {
        if depth <= MAX_DEPTH {
            return Ok(depth);
        }
        Err(self.refuse(format!("an expression of at most {MAX_DEPTH} levels (split it into several metrics)")))
    }

    /// Runs `parse` one level further in.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, ParseError>) -> Result<T, ParseError> {
        self.nesting = self.check_depth(self.nesting + 1)?;
        let result = parse(self)?;
        self.nesting -= 1;
        Ok(result)
    }

    fn binary(&mut self, operator: BinaryOperator, left: Node, right: Node) -> Result<Node, ParseError> {
        let depth = self.check_depth(1 + left.depth.max(right.depth))?;
        let expression = Expression::Binary(operator, Box::new(left.expression), Box::new(right.expression));
        Ok(Node { expression, depth })
    }

    /// What stands behind an operator, joined with what stands before it.
    fn joined(&mut self, left: Node, operator: BinaryOperator, parse: Parse<'s>) -> Result<Node, ParseError> {
        self.advance();
        let right = parse(self)?;
        self.binary(operator, left, right)
    }

    fn sum(&mut self) -> Result<Node, ParseError> {
        let mut left = self.product()?;
        loop {
            let operator = match self.token() {
                Token::Sign('+') => BinaryOperator::Add,
                Token::Sign('-') => BinaryOperator::Subtract,
                _ => return Ok(left),
            };
            left = self.joined(left, operator, Self::product)?;
        }
    }

    fn product(&mut self) -> Result<Node, ParseError> {
        let mut left = self.factor()?;
        loop {
            let operator = match self.token() {
                Token::Sign('*') => BinaryOperator::Multiply,
                Token::Sign('/') => BinaryOperator::Divide,
                _ => return Ok(left),
            };
            left = self.joined(left, operator, Self::factor)?;
        }
    }

    fn factor(&mut self) -> Result<Node, ParseError> {
        match self.token() {
            Token::Sign('-') => self.negated(),
            Token::Sign('(') => self.in_parentheses(),
            Token::Number { value, .. } => {
                self.advance();
                Ok(Node::leaf(Expression::Number(value)))
            }
            Token::Unit(unit) => {
                self.advance();
                self.reference(Some(unit))
            }
            Token::Name(name) => {
                if self.tokens[self.at + 1].token == Token::Sign('(') {
                    return self.call(name);
                }
                self.reference(None)
            }
            _ => Err(self.refuse("a number, a name, \"-\" or \"(\"")),
        }
    }

    fn negated(&mut self) -> Result<Node, ParseError> {
        self.advance();
        let inner = self.nested(Self::factor)?;
        let depth = self.check_depth(inner.depth + 1)?;
        Ok(Node { expression: Expression::Negate(Box::new(inner.expression)), depth })
    }

    fn in_parentheses(&mut self) -> Result<Node, ParseError> {
        self.advance();
        let inner = self.nested(Self::choice)?;
        self.expect(')', "an operator or \")\"").map(|()| inner)
    }

    fn call(&mut self, name: &str) -> Result<Node, ParseError> {
        let Some(function) = Function::ALL.into_iter().find(|function| function.name() == name) else {
            return Err(self.refuse("one of the functions min and max, or a name without \"(\""));
        };
        self.advance();
        self.advance();
        let mut arguments = Vec::new();
        let mut depth = 0;
        loop {
            let argument = self.nested(Self::choice)?;
            depth = depth.max(argument.depth);
            arguments.push(argument.expression);
            if !self.accept(',') {
                break;
            }
        }
        self.expect(')', "an operator, \",\" or \")\"")?;
        let depth = self.check_depth(depth + 1)?;
        Ok(Node { expression: Expression::Call(function, arguments), depth })
    }

    fn reference(&mut self, unit: Option<&str>) -> Result<Node, ParseError> {
        let name = self.name("an event's or a metric's name")?;
        let mut settings = Vec::new();
        if self.accept('{') {
            loop {
                let key = self.name("the name of a field or filter")?;
                let value = if self.accept('=') { self.setting_value()? } else { SettingValue::Number(1) };
                settings.push((key, value));
                if !self.accept(',') {
                    break;
                }
            }
            self.expect('}', "\",\" or \"}\"")?;
        }
        Ok(Node::leaf(Expression::Reference(Reference { unit: unit.map(str::to_owned), name, settings })))
    }

    fn name(&mut self, expected: &str) -> Result<String, ParseError> {
        let Token::Name(name) = self.token() else { return Err(self.refuse(expected)) };
        self.advance();
        Ok(name.to_owned())
    }

    fn setting_value(&mut self) -> Result<SettingValue, ParseError> {
        let value = match self.token() {
            Token::Number { integer: Some(integer), .. } => SettingValue::Number(integer),
            Token::Name(name) => SettingValue::Name(name.to_owned()),
            _ => return Err(self.refuse("a whole number of at most 64 bits, or a named value")),
        };
        self.advance();
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(source: &str) -> (usize, String) {
        let error = Expression::parse(source).unwrap_err();
        (error.spot.offset, error.to_string())
    }

    #[test]
    fn a_glued_lower_case_name_is_a_unit_and_anything_else_divides() {
        let reference = |unit: Option<&str>, name: &str| {
            Expression::Reference(Reference { unit: unit.map(str::to_owned), ..Reference::named(name) })
        };
        assert_eq!(Expression::parse("imc/CAS_COUNT.RD").unwrap(), reference(Some("imc"), "CAS_COUNT.RD"));
        for source in ["A/B", "A / B", "seconds/B", "imc / B", "a_b/B", "imc/(B)"] {
            let parsed = Expression::parse(source).unwrap();
            assert!(matches!(parsed, Expression::Binary(BinaryOperator::Divide, ..)), "{source}");
        }
    }

    #[test]
    fn multiplication_binds_tighter_and_chains_lean_left() {
        let same = |a: &str, b: &str| assert_eq!(Expression::parse(a).unwrap(), Expression::parse(b).unwrap(), "{a}");
        same("A + B * C", "A + (B * C)");
        same("A / B / C", "(A / B) / C");
        same("-A * B", "(-A) * B");
        same("0x10 * 1.5e2", "16 * 150");
    }

    #[test]
    fn errors_point_at_the_spot() {
        assert_eq!(refusal("A + * B").0, 4);
        assert_eq!(
            refusal(""),
            (0, "column 1: expected a number, a name, \"-\" or \"(\", found the end of the expression".into())
        );
        assert_eq!(refusal("(A + B").0, 6);
        assert_eq!(refusal("A B").0, 2);
        assert_eq!(refusal("A.B{opc=1.5}").0, 8);
        assert_eq!(refusal("A.B{opc=0x1ffffffffffffffff}").0, 8);
        assert_eq!(refusal("A. + B").0, 2);
        assert_eq!(refusal("64k * A").0, 0);
        assert_eq!(refusal("avg(A)").0, 0);
        assert_eq!(
            refusal("é").1,
            "column 1: expected a name, a number or one of + - * / < > ! ( ) { } , =, found the character 'é'"
        );
        assert_eq!(Expression::parse("A +\n\tB %").unwrap_err().caret(), "\tB %\n\t  ^");
    }

    #[test]
    fn depth_is_limited_in_every_direction() {
        let deep = 100_000;
        for source in [
            "(".repeat(deep),
            "-".repeat(deep),
            "min(".repeat(deep),
            vec!["A"; deep].join("+"),
            format!("{}A{}", "(".repeat(deep), ")".repeat(deep)),
        ] {
            assert!(Expression::parse(&source).unwrap_err().to_string().contains("levels"));
        }
        assert!(Expression::parse(&vec!["A"; MAX_DEPTH].join("+")).is_ok());
    }

    /// What is found is named as it was written, and what would have been right is said.
    #[test]
    fn errors_name_what_was_found_and_what_was_expected() {
        let operand = "a number, a name, \"-\" or \"(\"";
        for (source, column, expected, found) in [
            ("A + 0x10 2.5", 10, "an operator or the end of the expression", "the number 2.5"),
            ("A imc/B", 3, "an operator or the end of the expression", "\"imc/\""),
            ("A )", 3, "an operator or the end of the expression", "\")\""),
            ("A +", 4, operand, "the end of the expression"),
            ("A * / B", 5, operand, "\"/\""),
            ("-)", 2, operand, "\")\""),
            ("(A B)", 4, "an operator or \")\"", "\"B\""),
            ("max(A B)", 7, "an operator, \",\" or \")\"", "\"B\""),
            ("max()", 5, operand, "\")\""),
            ("sum(A)", 1, "one of the functions min and max, or a name without \"(\"", "\"sum\""),
            ("A{", 3, "the name of a field or filter", "the end of the expression"),
            ("A{x=}", 5, "a whole number of at most 64 bits, or a named value", "\"}\""),
            (
                "A{x=18446744073709551616}",
                5,
                "a whole number of at most 64 bits, or a named value",
                "the number 18446744073709552000",
            ),
            ("A{x y}", 5, "\",\" or \"}\"", "\"y\""),
            ("A{x,}", 5, "the name of a field or filter", "\"}\""),
            ("A + $", 5, "a name, a number or one of + - * / < > ! ( ) { } , =", "the character '$'"),
            ("A.", 3, "a subevent's name after the dot", "the end of the expression"),
            ("A.+", 3, "a subevent's name after the dot", "\"+\""),
            ("2 * 64k", 5, "a number such as 64, 0x1F, 1.5 or 1e9", "\"64k\""),
            ("1e", 1, "a number such as 64, 0x1F, 1.5 or 1e9", "\"1e\""),
            ("1e+", 1, "a number such as 64, 0x1F, 1.5 or 1e9", "\"1e\""),
            ("0x", 1, "a hexadecimal number of at most 64 bits", "\"0x\""),
            ("A * 0xfg", 5, "a hexadecimal number of at most 64 bits", "\"0xfg\""),
            ("0x10000000000000000", 1, "a hexadecimal number of at most 64 bits", "\"0x10000000000000000\""),
            ("1e309", 1, "a number below 1.8e308", "\"1e309\""),
        ] {
            assert_eq!(refusal(source).1, format!("column {column}: expected {expected}, found {found}"), "{source}");
        }
        // The carets cover the whole token, and nothing at the end.
        let length = |source: &str| Expression::parse(source).unwrap_err().spot.length;
        assert_eq!(["2 * 64k", "A * 0xfg", "A imc/B", "A +", "A + ä"].map(length), [3, 4, 4, 0, 2]);
    }

    #[test]
    fn numbers_are_read_as_written() {
        for (source, number) in [
            ("0", 0.0),
            ("64", 64.0),
            ("0x1F", 31.0),
            ("0Xff", 255.0),
            ("1.5", 1.5),
            ("1e9", 1e9),
            ("1E9", 1e9),
            ("2e+3", 2000.0),
            ("25e-2", 0.25),
            ("1.25e2", 125.0),
            ("0xffffffffffffffff", 18_446_744_073_709_551_615.0),
        ] {
            assert_eq!(Expression::parse(source), Ok(Expression::Number(number)), "{source}");
        }
        let setting = |source: &str| match Expression::parse(source).unwrap() {
            Expression::Reference(reference) => reference.settings[0].1.clone(),
            other => panic!("{other}"),
        };
        // Every bit of a mask counts: a f64 would round it.
        assert_eq!(setting("A{x=18446744073709551615}"), SettingValue::Number(u64::MAX));
        assert_eq!(setting("A{x=0x8000000000000001}"), SettingValue::Number(0x8000_0000_0000_0001));
        assert_eq!(setting("A{ x = I_M }"), SettingValue::Name("I_M".to_owned()));
        // Without digits behind it the point is no part of the number, nor of anything else.
        assert!(Expression::parse("1.").is_err() && Expression::parse(".5").is_err());
    }

    /// `seconds/B` divides, as do names with capitals or underscores; a unit may have digits, and its `/` a name right behind it.
    #[test]
    fn units_are_told_from_quotients() {
        let unit_of = |source: &str| match Expression::parse(source) {
            Ok(Expression::Reference(reference)) => reference.unit,
            _ => None,
        };
        assert_eq!(unit_of("r2pcie/RING_AD.CW").as_deref(), Some("r2pcie"));
        assert_eq!(unit_of("imc/_X").as_deref(), Some("imc"));
        for source in ["imc/2", "instances/B", "sockets/B", "Imc/B", "imc.x/B"] {
            let parsed = Expression::parse(source).unwrap();
            assert!(matches!(parsed, Expression::Binary(BinaryOperator::Divide, ..)), "{source}");
        }
        assert_eq!(refusal("imc/").0, 4);
    }

    /// 200 levels are taken, and 201 are not; what stands side by side is no deeper than one of it.
    #[test]
    fn the_limit_of_depth_is_exact() {
        let nested =
            |open: &str, levels: usize, close: &str| format!("{}A{}", open.repeat(levels), close.repeat(levels));
        let right = |levels: usize| format!("{}A{}", "B + (".repeat(levels), ")".repeat(levels));
        for (fits, too_deep) in [
            (nested("(", 200, ")"), nested("(", 201, ")")),
            // The name is a level of the tree, as each minus, call and sum is.
            (nested("-", 199, ""), nested("-", 200, "")),
            (nested("max(", 199, ")"), nested("max(", 200, ")")),
            (vec!["A"; 200].join(" * "), vec!["A"; 201].join(" * ")),
            (right(199), right(200)),
            (format!("max({}, A)", vec!["A"; 199].join("+")), format!("max({}, A)", vec!["A"; 200].join("+"))),
            (format!("-({})", vec!["A"; 199].join("+")), format!("-({})", vec!["A"; 200].join("+"))),
        ] {
            assert!(Expression::parse(&fits).is_ok(), "{fits}");
            let said = Expression::parse(&too_deep).unwrap_err().to_string();
            assert!(said.contains("an expression of at most 200 levels (split it into several metrics)"), "{said}");
        }
        let side_by_side = vec!["-(A)"; 150].join("+");
        assert!(Expression::parse(&side_by_side).unwrap().depth() <= MAX_DEPTH);
    }
}
