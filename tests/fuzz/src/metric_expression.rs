//! The metric language: no input may crash it, and what it prints it reads back.

use pericore_metrics::{Expression, Reference, Value, evaluate};

/// Any bytes.
pub fn run(data: &[u8]) {
    let text = crate::text(data);
    let Ok(expression) = Expression::parse(text) else { return };
    let printed = expression.to_string();
    assert_eq!(Expression::parse(&printed).as_ref(), Ok(&expression), "{printed}");
    let value = evaluate(&expression, &|reference: &Reference| Value::measured(reference.name.len() as f64));
    assert!(value.number().is_none_or(f64::is_finite));
}
