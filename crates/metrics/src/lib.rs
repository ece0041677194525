//! The metric language: arithmetic over event counts, evaluated together with how far each number can be trusted.
//!
//! Pure: it knows no events, no units of hardware and no registers. [`Expression::parse`] reads an expression,
//! [`Expression::references`] says what it needs, [`evaluate`] computes it over a [`Resolver`].
//!
//! ```
//! use pericore_metrics::{Expression, Reference, Value, evaluate};
//!
//! let expression = Expression::parse("imc/CAS_COUNT.RD * 64 / seconds")?;
//! assert_eq!(expression.references().len(), 2);
//! let counts = |reference: &Reference| Value::measured(if reference.name == "seconds" { 2.0 } else { 1000.0 });
//! assert_eq!(evaluate(&expression, &counts).number(), Some(32_000.0));
//! # Ok::<(), pericore_metrics::ParseError>(())
//! ```
//!
//! # Grammar
//!
//! ```text
//! choice    = compare [ "if" compare "else" choice ]
//! compare   = sum [ ("<" | ">" | "<=" | ">=" | "==" | "!=") sum ]
//! sum       = product { ("+" | "-") product }
//! product   = factor { ("*" | "/") factor }
//! factor    = "-" factor | number | "(" choice ")" | function | reference
//! function  = ("min" | "max") "(" choice { "," choice } ")"
//! reference = [ unit "/" ] name [ "{" name [ "=" (integer | name) ] { "," … } "}" ]
//! ```
//!
//! A name in lower case that is glued to a `/` with a name right behind it is a unit: `imc/CAS_COUNT.RD`. The
//! variables ([`VARIABLES`]) never are; elsewhere put a space around the `/` to divide.

mod alike;
mod evaluate;
mod expression;
mod growth;
mod lexer;
mod measure;
mod parse;
mod parse_error;
mod spot;
mod validity;
mod weight;

pub use evaluate::{Resolver, Value, evaluate};
pub use expression::{BinaryOperator, Expression, Function, Reference, SettingValue, VARIABLES};
pub use growth::{Growth, Uneven};
pub use measure::UnitOfMeasure;
pub use parse::MAX_DEPTH;
pub use parse_error::ParseError;
pub use spot::Spot;
pub use validity::{Concern, Grade, Validity};
