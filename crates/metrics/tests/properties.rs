//! Properties of the language over random trees and random text.

use pericore_metrics::{BinaryOperator, Expression, Function, Reference, SettingValue, Validity, Value, evaluate};
use proptest::prelude::*;

fn reference() -> impl Strategy<Value = Reference> {
    let name = "[A-Za-z_][A-Za-z0-9_]{0,8}(\\.[A-Za-z0-9_]{1,5}){0,2}";
    let value =
        prop_oneof![any::<u64>().prop_map(SettingValue::Number), "[A-Z][a-zA-Z]{0,5}".prop_map(SettingValue::Name)];
    let unit =
        "[a-z][a-z0-9]{0,4}".prop_filter("variables are no units", |unit| unit != "seconds" && unit != "instances");
    (prop::option::of(unit), name, prop::collection::vec(("[a-z][a-z_]{0,6}", value), 0..3))
        .prop_map(|(unit, name, settings)| Reference { unit, name, settings })
}

fn expression() -> impl Strategy<Value = Expression> {
    let number = prop_oneof![
        any::<u32>().prop_map(f64::from),
        any::<f64>().prop_map(f64::abs).prop_filter("numbers are finite", |n| n.is_finite()),
        Just(0.0),
    ];
    let leaf = prop_oneof![number.prop_map(Expression::Number), reference().prop_map(Expression::Reference)];
    let operator = prop::sample::select(vec![
        BinaryOperator::Add,
        BinaryOperator::Subtract,
        BinaryOperator::Multiply,
        BinaryOperator::Divide,
        BinaryOperator::Less,
        BinaryOperator::GreaterOrEqual,
        BinaryOperator::NotEqual,
    ]);
    leaf.prop_recursive(8, 64, 4, move |inner| {
        prop_oneof![
            inner.clone().prop_map(|e| Expression::Negate(Box::new(e))),
            (operator.clone(), inner.clone(), inner.clone()).prop_map(|(o, a, b)| Expression::Binary(
                o,
                Box::new(a),
                Box::new(b)
            )),
            (prop::sample::select(Function::ALL.to_vec()), prop::collection::vec(inner.clone(), 1..4))
                .prop_map(|(f, arguments)| Expression::Call(f, arguments)),
            [inner.clone(), inner.clone(), inner].prop_map(|parts| Expression::Choice(Box::new(parts))),
        ]
    })
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => any::<f64>().prop_map(Value::measured),
        2 => Just(Value::measured(0.0)),
        1 => Just(Value::missing(Validity::unreadable("imc0", "reads all ones"))),
        1 => (0.01..1.0).prop_map(|duty| Value::new(1.0, Validity::scaled(duty))),
    ]
}

proptest! {
    #[test]
    fn printing_then_parsing_gives_the_same_tree(tree in expression()) {
        let text = tree.to_string();
        prop_assert_eq!(Expression::parse(&text), Ok(tree), "{}", text);
    }

    #[test]
    fn no_number_is_ever_not_a_number(tree in expression(), values in prop::collection::vec(value(), 1..6)) {
        let next = std::cell::Cell::new(0);
        let resolver = |_: &Reference| {
            next.set(next.get() + 1);
            values[next.get() % values.len()].clone()
        };
        let result = evaluate(&tree, &resolver);
        match result.number() {
            Some(number) => prop_assert!(number.is_finite()),
            None => prop_assert!(!result.validity().grade().has_number()),
        }
    }

    #[test]
    fn parsing_never_panics_and_errors_point_inside(text in "\\PC{0,60}|[A-Za-z0-9_./{}()=,+*\\- \n\t]{0,60}") {
        if let Err(error) = Expression::parse(&text) {
            prop_assert!(error.spot.offset + error.spot.length <= text.len());
            prop_assert!(error.caret().contains('^'));
        }
    }
}
