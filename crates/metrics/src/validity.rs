//! How far a number can be trusted: the project's one notion of it.

use std::fmt;

use smallvec::{SmallVec, smallvec};

use crate::alike::{each_once, without_numbers};

/// What is to be said about a number; nothing at all if it was plainly measured.
///
/// Combining two keeps every concern of both, so that a metric says why each of its inputs is in doubt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Validity {
    /// Mostly one: that it was scaled. It is copied with each step of each metric, and must not be allocated each time.
    concerns: SmallVec<[Concern; 1]>,
}

/// One reason not to take a number at its face.
#[derive(Debug, Clone, PartialEq)]
pub enum Concern {
    /// Counted during part of the time and scaled up.
    Scaled {
        /// Share of the time that was counted, above 0 and below 1.
        duty: f64,
    },
    /// There is a number, but something about it is odd.
    Suspect {
        /// What is odd.
        reason: String,
    },
    /// The counter may have wrapped more than once.
    WrappedUnknown {
        /// The counter.
        which: String,
    },
    /// A quotient without a value.
    NotDefined {
        /// Why there is none.
        why: String,
    },
    /// The hardware gave no number.
    Unreadable {
        /// Unit, instance or counter.
        which: String,
        /// Why.
        why: String,
    },
}

/// How far a number can be trusted, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Counted all the time.
    Measured,
    /// Counted part of the time and scaled.
    Scaled,
    /// A number with a doubt.
    Suspect,
    /// No usable number: the counter may have wrapped more than once.
    WrappedUnknown,
    /// No number: the quotient has none.
    NotDefined,
    /// No number: the hardware gave none.
    Unreadable,
}

impl Grade {
    /// The word used in machine-readable output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Scaled => "scaled",
            Self::Suspect => "suspect",
            Self::WrappedUnknown => "wrapped-unknown",
            Self::NotDefined => "not-defined",
            Self::Unreadable => "unreadable",
        }
    }

    /// False if a number of this grade must not be shown.
    pub const fn has_number(self) -> bool {
        matches!(self, Self::Measured | Self::Scaled | Self::Suspect)
    }
}

impl Concern {
    /// The grade that the concern alone gives.
    pub const fn grade(&self) -> Grade {
        match self {
            Self::Scaled { .. } => Grade::Scaled,
            Self::Suspect { .. } => Grade::Suspect,
            Self::WrappedUnknown { .. } => Grade::WrappedUnknown,
            Self::NotDefined { .. } => Grade::NotDefined,
            Self::Unreadable { .. } => Grade::Unreadable,
        }
    }
}

impl Validity {
    /// Plainly measured.
    pub const MEASURED: Self = Self { concerns: SmallVec::new_const() };

    /// Scaled up from `duty` of the time; a duty of 1 or more is measured.
    pub fn scaled(duty: f64) -> Self {
        if duty >= 1.0 { Self::MEASURED } else { Concern::Scaled { duty }.into() }
    }

    /// A number with a doubt.
    pub fn suspect(reason: impl Into<String>) -> Self {
        Concern::Suspect { reason: reason.into() }.into()
    }

    /// The counter may have wrapped more than once.
    pub fn wrapped_unknown(which: impl Into<String>) -> Self {
        Concern::WrappedUnknown { which: which.into() }.into()
    }

    /// A quotient without a value.
    pub fn not_defined(why: impl Into<String>) -> Self {
        Concern::NotDefined { why: why.into() }.into()
    }

    /// The hardware gave no number.
    pub fn unreadable(which: impl Into<String>, why: impl Into<String>) -> Self {
        Concern::Unreadable { which: which.into(), why: why.into() }.into()
    }

    /// Why it is not plainly measured, in the order met.
    pub fn reasons(&self) -> &[Concern] {
        &self.concerns
    }

    /// What is alike in the words of numbers that have the same to say of different places: the words without their
    /// numbers. Shares of the time that was counted tell such numbers apart.
    pub fn kind(&self) -> String {
        let kind = without_numbers(&self.to_string());
        if self.duty() < 1.0 { format!("{kind} {}", self.duty()) } else { kind }
    }

    /// The worst concern's grade.
    pub fn grade(&self) -> Grade {
        self.concerns.iter().map(Concern::grade).max().unwrap_or(Grade::Measured)
    }

    /// The share of the time that was counted: 1 unless scaled.
    pub fn duty(&self) -> f64 {
        self.concerns
            .iter()
            .find_map(|concern| if let Concern::Scaled { duty } = concern { Some(*duty) } else { None })
            .unwrap_or(1.0)
    }

    /// The validity of a number computed from two: every concern of both, each once; of two duties the lower.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        for concern in &other.concerns {
            self.add(concern);
        }
        self
    }

    fn add(&mut self, concern: &Concern) {
        if let Concern::Scaled { duty: other } = concern {
            let scaled =
                self.concerns.iter_mut().find_map(|c| if let Concern::Scaled { duty } = c { Some(duty) } else { None });
            if let Some(duty) = scaled {
                *duty = duty.min(*other);
                return;
            }
        }
        if !self.concerns.contains(concern) {
            self.concerns.push(concern.clone());
        }
    }
}

impl From<Concern> for Validity {
    fn from(concern: Concern) -> Self {
        Self { concerns: smallvec![concern] }
    }
}

impl fmt::Display for Concern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scaled { duty } => write!(f, "scaled, counted {:.1} % of the time", duty * 100.0),
            Self::Suspect { reason } => write!(f, "suspect: {reason}"),
            Self::WrappedUnknown { which } => write!(f, "{which} may have wrapped more than once"),
            Self::NotDefined { why } => write!(f, "not defined: {why}"),
            Self::Unreadable { which, why } => write!(f, "{which} unreadable: {why}"),
        }
    }
}

impl fmt::Display for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.concerns.is_empty() {
            return f.write_str("measured");
        }
        let all: Vec<String> = self.concerns.iter().map(Concern::to_string).collect();
        for (index, (words, others)) in each_once(&all).into_iter().enumerate() {
            write!(f, "{}{words}", if index == 0 { "" } else { "; " })?;
            if others > 0 {
                write!(f, " (and {others} more like this)")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixty-four agents that somebody has stopped are one reason, and a channel that does not answer is another.
    #[test]
    fn a_reason_of_many_instances_is_there_once() {
        let stopped = |agent: u32| {
            let value = agent % 3 + 1;
            Validity::suspect(format!(
                "someone else stopped counters of cha{agent} in socket 0 (unit_ctl = {value:#x})"
            ))
        };
        let gone = Validity::unreadable("imc2", "ctl0 reads as all ones");
        let all = (0..64).fold(gone, |all, agent| all.and(&stopped(agent)));
        assert_eq!(all, all.clone().and(&stopped(7)), "all are kept");
        assert_eq!(
            all.to_string(),
            "imc2 unreadable: ctl0 reads as all ones; suspect: someone else stopped counters of cha0 in socket 0 \
             (unit_ctl = 0x1) (and 63 more like this)"
        );
    }

    #[test]
    fn combining_takes_the_worst_grade_and_keeps_all_reasons_once() {
        let imc = Validity::unreadable("imc2", "reads all ones");
        let combined =
            Validity::scaled(0.5).and(&imc).and(&Validity::scaled(0.25)).and(&imc).and(&Validity::suspect("frozen"));
        assert_eq!(combined.grade(), Grade::Unreadable);
        assert_eq!(combined.duty(), 0.25);
        assert_eq!(
            combined.to_string(),
            "scaled, counted 25.0 % of the time; imc2 unreadable: reads all ones; suspect: frozen"
        );
        assert_eq!(Validity::MEASURED.and(&Validity::MEASURED).to_string(), "measured");
    }

    /// The words of machine-readable output, from best to worst, and which of them go with a number.
    #[test]
    fn each_concern_has_its_grade_and_its_words() {
        let all = [
            (Validity::MEASURED, "measured", true, "measured"),
            (Validity::scaled(0.125), "scaled", true, "scaled, counted 12.5 % of the time"),
            (Validity::suspect("frozen"), "suspect", true, "suspect: frozen"),
            (Validity::wrapped_unknown("imc0/1"), "wrapped-unknown", false, "imc0/1 may have wrapped more than once"),
            (Validity::not_defined("0 / 0"), "not-defined", false, "not defined: 0 / 0"),
            (Validity::unreadable("imc0", "gone"), "unreadable", false, "imc0 unreadable: gone"),
        ];
        for (index, (validity, name, has_number, said)) in all.iter().enumerate() {
            let grade = validity.grade();
            assert_eq!((grade.name(), grade.has_number(), validity.to_string().as_str()), (*name, *has_number, *said));
            // With any better one the worse grade stays, whichever comes first.
            for (better, ..) in &all[..index] {
                assert_eq!(
                    (better.clone().and(validity).grade(), validity.clone().and(better).grade()),
                    (grade, grade)
                );
                assert!(better.grade() < grade);
            }
        }
    }

    #[test]
    fn what_was_counted_all_the_time_is_measured() {
        for duty in [1.0, 1.5] {
            assert_eq!(Validity::scaled(duty), Validity::MEASURED);
        }
        assert_eq!(Validity::scaled(0.999).grade(), Grade::Scaled);
        assert_eq!(
            (Validity::MEASURED.duty(), Validity::suspect("odd").duty(), Validity::scaled(0.25).duty()),
            (1.0, 1.0, 0.25)
        );
    }

    #[test]
    fn of_two_duties_the_lower_holds_and_all_else_is_kept_in_order() {
        let low = Validity::suspect("odd").and(&Validity::scaled(0.25));
        for combined in [low.clone().and(&Validity::scaled(0.5)), Validity::scaled(0.5).and(&low)] {
            assert_eq!((combined.duty(), combined.reasons().len()), (0.25, 2), "{combined}");
        }
        let two = Validity::unreadable("imc0", "gone").and(&Validity::unreadable("imc1", "gone"));
        assert_eq!(
            two.and(&low).to_string(),
            "imc0 unreadable: gone (and 1 more like this); suspect: odd; scaled, counted 25.0 % of the time"
        );
    }
}
