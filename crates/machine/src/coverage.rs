//! In which of the shipped scenarios an event counts on the software machine, and by what: the files of
//! `crates/machine/coverage`, which the models' tests write and hold against what runs.
//!
//! A file begins with its labels, one a line: an origin and scenarios (`emergent: day, system`), or why nothing counts
//! (`absent: ...`, `out: ...`). Behind an empty line there is a row for each event: unit, event, the number of its
//! label, and those of its subevents.

use std::collections::HashMap;

/// What makes a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountOrigin {
    /// A mechanism of the model.
    Emergent,
    /// Arithmetic: a clock, or another counter.
    Derived,
    /// A scenario's key that names it: without the key it does not happen.
    Scripted,
}

impl CountOrigin {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Emergent, Self::Derived, Self::Scripted];

    /// Name in files and lists.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Emergent => "emergent",
            Self::Derived => "derived",
            Self::Scripted => "scripted",
        }
    }
}

/// What is known of an event or a subevent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Label {
    /// It counts.
    Counts {
        /// By what.
        origin: CountOrigin,
        /// In which scenarios.
        scenarios: Vec<&'static str>,
    },
    /// It does not, and why.
    Absent(&'static str),
    /// It cannot: no public document defines it, or it is of what this family does not have.
    OutOfCount(&'static str),
}

/// The labels of a family.
#[derive(Debug)]
pub struct Coverage {
    labels: Vec<Label>,
    /// By unit and event.
    rows: HashMap<&'static str, HashMap<&'static str, Vec<u16>>>,
}

/// The files.
const FILES: [(&str, &str); 2] = [
    ("e5-2600", include_str!("../coverage/e5-2600.txt")),
    ("emerald-rapids", include_str!("../coverage/emerald-rapids.txt")),
];

impl Coverage {
    /// Those of a family; `None` without a file of it.
    pub fn of(family: &str) -> Option<Self> {
        FILES.iter().find(|(name, _)| *name == family).map(|(_, text)| Self::read(text))
    }

    /// Reads a file. Lines that say nothing are left out: the test that wrote it has read it.
    fn read(text: &'static str) -> Self {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let labels = lines.by_ref().take_while(|line| !line.is_empty()).filter_map(label).collect();
        let mut rows = HashMap::<_, HashMap<_, _>>::new();
        for line in lines {
            let mut words = line.split(' ');
            if let (Some(unit), Some(event)) = (words.next(), words.next()) {
                let numbers = words.filter_map(|word| word.parse().ok()).collect();
                rows.entry(unit).or_default().insert(event, numbers);
            }
        }
        Self { labels, rows }
    }

    /// The labels, in the order of their numbers.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The numbers of an event's labels: its own, then those of its subevents.
    pub fn numbers(&self, unit: &str, event: &str) -> &[u16] {
        self.rows.get(unit).and_then(|rows| rows.get(event)).map_or(&[], Vec::as_slice)
    }
}

/// A label's line.
fn label(line: &'static str) -> Option<Label> {
    let (kind, rest) = line.split_once(": ")?;
    Some(match kind {
        "absent" => Label::Absent(rest),
        "out" => Label::OutOfCount(rest),
        _ => {
            let origin = CountOrigin::ALL.into_iter().find(|origin| origin.name() == kind)?;
            Label::Counts { origin, scenarios: rest.split(", ").collect() }
        }
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{CountOrigin, Coverage, Label};
    use std::fmt::Write;

    /// An event's label and those of its subevents.
    pub type Row = (&'static str, &'static str, Vec<Label>);

    /// A file with these rows. An event counts by the best origin of its subevents, wherever one of them does.
    pub fn text(about: &str, rows: &[Row]) -> String {
        let (mut labels, mut body) = (Vec::new(), String::new());
        for (unit, event, of) in rows {
            write!(body, "{unit} {event}").unwrap();
            let whole = if of.len() == 1 { None } else { Some(whole(of)) };
            for label in whole.iter().chain(of) {
                let known = labels.iter().position(|known| known == label);
                let number = known.unwrap_or_else(|| {
                    labels.push(label.clone());
                    labels.len() - 1
                });
                write!(body, " {number}").unwrap();
            }
            body.push('\n');
        }
        let mut text = format!("# {about}\n");
        for label in &labels {
            match label {
                Label::Counts { origin, scenarios } => {
                    writeln!(text, "{}: {}", origin.name(), scenarios.join(", ")).unwrap();
                }
                Label::Absent(reason) => writeln!(text, "absent: {reason}").unwrap(),
                Label::OutOfCount(reason) => writeln!(text, "out: {reason}").unwrap(),
            }
        }
        text + "\n" + &body
    }

    /// The label of an event with subevents.
    pub fn whole(of: &[Label]) -> Label {
        let (mut best, mut all) = (None, Vec::new());
        for label in of {
            if let Label::Counts { origin, scenarios } = label {
                let better = best.is_none_or(|best| *origin as u8 <= best as u8);
                best = if better { Some(*origin) } else { best };
                all.extend(scenarios.iter().copied().filter(|name| !all.contains(name)).collect::<Vec<_>>());
            }
        }
        match best {
            Some(origin) => Label::Counts { origin, scenarios: all },
            None => of.iter().find(|label| matches!(label, Label::Absent(_))).unwrap_or(&of[0]).clone(),
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let counts = |origin, scenarios: &[&'static str]| Label::Counts { origin, scenarios: scenarios.to_vec() };
        let (by_hand, never) = (counts(CountOrigin::Scripted, &["day"]), Label::OutOfCount("none of it: product data"));
        let itself = counts(CountOrigin::Emergent, &["night", "day"]);
        let rows: [Row; 3] = [
            ("imc", "A", vec![by_hand.clone(), itself.clone(), Label::Absent("nothing does")]),
            ("imc", "B", vec![never.clone()]),
            ("cha", "A", vec![Label::Absent("nothing does"), never.clone()]),
        ];
        let text = text("Two lines\n# of comment.", &rows);
        let read = Coverage::read(Box::leak(text.into_boxed_str()));
        let of = |unit, event| -> Vec<&Label> {
            read.numbers(unit, event).iter().map(|&number| &read.labels()[usize::from(number)]).collect()
        };
        let event = counts(CountOrigin::Emergent, &["day", "night"]);
        assert_eq!(of("imc", "A"), [&event, &by_hand, &itself, &Label::Absent("nothing does")]);
        assert_eq!(of("imc", "B"), [&never]);
        assert_eq!(of("cha", "A"), [&Label::Absent("nothing does"), &Label::Absent("nothing does"), &never]);
        assert!(of("cha", "B").is_empty() && Coverage::of("none").is_none());
    }
}
