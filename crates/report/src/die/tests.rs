use pericore_metrics::{Validity, Value};

use super::*;
use crate::row::Place;

/// Four rows of five places; one place is another unit's, one is empty.
const FLOORPLAN: [&str; 4] = [
    "cha0 cha1 cha2 cha3 cha4",
    "cha5 m2m0 cha6 cha7 cha8",
    "cha9 cha10 . cha11 cha12",
    "cha13 cha14 cha15 cha16 cha17",
];

fn report(instances: u32) -> Report {
    let row = |number: u32| {
        let value = match number {
            3 => Value::missing(Validity::unreadable("cha3", "it does not answer")),
            8 => Value::new(0.0, Validity::suspect("it stands")),
            _ => Value::measured(f64::from(number) * 1500.0),
        };
        let place = Place { socket: 1, instance: Some(format!("cha{number}")), instances: 1 };
        Row { place: Some(place), ..Row::named("cha/CLOCKTICKS/", value) }
    };
    Report { floorplan: &FLOORPLAN, ..Report::of((0..instances).map(row).collect()) }
}

/// 1,500 times the number of the slice, in thousands; slice 3 has no number, and that of slice 8 is in doubt. The last
/// row has a slice that this machine lacks.
#[test]
fn slices_stand_where_they_lie() {
    let report = report(17);
    let die = Die::of(&report, &report.rows[5]).expect("there are enough");
    assert!(die.begins_with(&report.rows[0]) && !die.begins_with(&report.rows[5]));
    let mut out = Vec::new();
    die.print(&mut out, Digits::Grouped).expect("memory takes all");
    let expected = "  S1 cha/CLOCKTICKS/, in k, by place on the die:
  0      0   1  1.500   2  3.000   3      -!  4  6.000
  5  7.500              6  9.000   7  10.50   8      0?
  9  13.50  10  15.00             11  16.50  12  18.00
 13  19.50  14  21.00  15  22.50  16  24.00
";
    assert_eq!(String::from_utf8(out).expect("UTF-8"), expected);
}

/// Fifteen are a list, and so is a unit that is not on the plan.
#[test]
fn few_instances_are_a_list() {
    let few = report(15);
    assert!(Die::of(&few, &few.rows[0]).is_none());
    let mut many = report(17);
    many.floorplan = &[];
    assert!(Die::of(&many, &many.rows[0]).is_none());
}
