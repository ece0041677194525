//! Cuts an expression into tokens, each with its place.

use crate::{ParseError, VARIABLES};

/// A token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Token<'s> {
    /// A number; `integer` if it was written as one and fits 64 bits.
    Number { value: f64, integer: Option<u64> },
    /// A name, dots included.
    Name(&'s str),
    /// A name directly in front of a `/` that is part of it: `imc/`.
    Unit(&'s str),
    /// One of `+ - * / < > ! ( ) { } , =`.
    Sign(char),
    /// The end of the expression.
    End,
}

impl Token<'_> {
    /// How an error names the token.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Number { value, .. } => format!("the number {value}"),
            Self::Name(name) => format!("{name:?}"),
            Self::Unit(name) => format!("\"{name}/\""),
            Self::Sign(sign) => format!("{:?}", sign.to_string()),
            Self::End => "the end of the expression".to_owned(),
        }
    }
}

/// A token and the bytes that it covers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spanned<'s> {
    pub(crate) token: Token<'s>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// All tokens of `source`, [`Token::End`] last.
pub(crate) fn tokens(source: &str) -> Result<Vec<Spanned<'_>>, ParseError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let (token, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first.is_ascii_digit() {
            number(source, at)?
        } else if is_name_start(first) {
            name(source, at)?
        } else if "+-*/<>!(){},=".contains(first) {
            (Token::Sign(first), 1)
        } else {
            let found = format!("the character {first:?}");
            return Err(ParseError::new(
                source,
                at,
                first.len_utf8(),
                "a name, a number or one of + - * / < > ! ( ) { } , =",
                found,
            ));
        };
        tokens.push(Spanned { token, start: at, end: at + length });
        at += length;
    }
    tokens.push(Spanned { token: Token::End, start: source.len(), end: source.len() });
    Ok(tokens)
}

const fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

const fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn run(text: &str, accept: impl Fn(char) -> bool) -> usize {
    text.find(|c| !accept(c)).unwrap_or(text.len())
}

fn name(source: &str, start: usize) -> Result<(Token<'_>, usize), ParseError> {
    let rest = &source[start..];
    let mut length = run(rest, is_name_part);
    while rest[length..].starts_with('.') {
        let part = run(&rest[length + 1..], is_name_part);
        if part == 0 {
            let at = start + length + 1;
            let (found, width) = source[at..]
                .chars()
                .next()
                .map_or_else(|| (Token::End.describe(), 0), |c| (format!("{:?}", c.to_string()), c.len_utf8()));
            return Err(ParseError::new(source, at, width, "a subevent's name after the dot", found));
        }
        length += 1 + part;
    }
    let name = &rest[..length];
    if is_unit(name) && rest[length..].strip_prefix('/').is_some_and(|after| after.starts_with(is_name_start)) {
        return Ok((Token::Unit(name), length + 1));
    }
    Ok((Token::Name(name), length))
}

/// Units are written in lower case; events, metrics and their parts are not.
fn is_unit(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        && !VARIABLES.contains(&name)
}

fn number(source: &str, start: usize) -> Result<(Token<'_>, usize), ParseError> {
    let rest = &source[start..];
    let refuse = |length: usize, expected: &str| {
        let text = &rest[..length];
        Err(ParseError::new(source, start, length, expected, format!("{text:?}")))
    };
    if let Some(digits) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
        let length = 2 + run(digits, is_name_part);
        return match u64::from_str_radix(&rest[2..length], 16) {
            #[expect(clippy::cast_precision_loss, reason = "the language computes in f64; field values use `integer`")]
            Ok(value) => Ok((Token::Number { value: value as f64, integer: Some(value) }, length)),
            Err(_) => refuse(length, "a hexadecimal number of at most 64 bits"),
        };
    }
    let length = decimal_length(rest);
    let text = &rest[..length];
    // A letter glued to a number is a typing error, not the start of a name.
    let glued = run(&rest[length..], is_name_part);
    if glued > 0 {
        return refuse(length + glued, "a number such as 64, 0x1F, 1.5 or 1e9");
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Token::Number { value, integer: text.parse().ok() }, length)),
        _ => refuse(length, "a number below 1.8e308"),
    }
}

/// Digits, a fraction if a digit follows the point, an exponent if it is complete.
fn decimal_length(text: &str) -> usize {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut length = run(text, is_digit);
    if text[length..].starts_with('.') {
        let fraction = run(&text[length + 1..], is_digit);
        length += if fraction == 0 { 0 } else { 1 + fraction };
    }
    if text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let exponent = run(&text[length + 1 + sign..], is_digit);
        length += if exponent == 0 { 0 } else { 1 + sign + exponent };
    }
    length
}
