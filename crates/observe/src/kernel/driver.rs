//! What the kernel's drivers call what the catalogue has, and where they are odd: `catalog/kernel/driver.txt`.

use std::sync::OnceLock;

use super::format::{Privilege, TermFormat};
use super::pmu::{Pmu, parse_terms};

/// The table that ships with the program.
const TABLE: &str = pericore_catalog::tables::KERNEL_DRIVER;

/// The drivers' words.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DriverNames {
    terms: Vec<TermNames>,
    /// What stands for a unit's fixed counter.
    pub(super) fixed: Vec<(String, u64)>,
    /// What is added to a PMU's name for its free-running counters.
    pub(super) free_running: String,
    /// Fields for what users' code and the kernel's does.
    privilege: Option<[String; 2]>,
    leaders: Vec<Led>,
    formats: Vec<WrongFormat>,
    filters: Vec<FilterUse>,
}

/// The terms of a field, or of a field and its extension.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TermNames {
    pub(super) fields: Vec<String>,
    pub(super) terms: Vec<String>,
}

/// Events that count only in a group with a certain leader.
#[derive(Debug, PartialEq, Eq)]
struct Led {
    pmu: String,
    mask: u64,
    value: u64,
    leader: u64,
}

/// A format file that says what is not so.
#[derive(Debug, PartialEq, Eq)]
struct WrongFormat {
    family: String,
    pmu: String,
    term: String,
    text: String,
    truth: TermFormat,
}

/// Events for which the driver takes a filter.
#[derive(Debug, PartialEq, Eq)]
struct FilterUse {
    family: String,
    pmu: String,
    /// None for any.
    term: Option<String>,
    mask: u64,
    value: u64,
}

/// A line of the table that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("catalog/kernel/driver.txt, line {line}: {text:?} is no row of this table; its first lines say what is")]
pub struct DriverTableError {
    /// Line, from 1.
    pub line: usize,
    /// What it says.
    pub text: String,
}

impl DriverNames {
    /// The table that ships with the program.
    pub fn shipped() -> &'static Self {
        static SHIPPED: OnceLock<DriverNames> = OnceLock::new();
        // A test reads it: what ships is right.
        SHIPPED.get_or_init(|| Self::read(TABLE).unwrap_or_default())
    }

    /// Reads a table.
    ///
    /// # Errors
    /// [`DriverTableError`] for the first line that is no row.
    pub fn read(table: &str) -> Result<Self, DriverTableError> {
        let mut names = Self::default();
        for (line, text) in (1..).zip(table.lines()) {
            let words: Vec<&str> = text.split('#').next().unwrap_or("").split_whitespace().collect();
            if !words.is_empty() && names.row(&words).is_none() {
                return Err(DriverTableError { line, text: text.to_owned() });
            }
        }
        Ok(names)
    }

    fn row(&mut self, words: &[&str]) -> Option<()> {
        let own = |word: &str| word.to_owned();
        let hexadecimal = |word: &str| u64::from_str_radix(word, 16).ok();
        match *words {
            ["term", fields, first, ref others @ ..] => {
                let terms = [&[first], others].concat().iter().map(|term| own(term)).collect();
                self.terms.push(TermNames { fields: fields.split('+').map(own).collect(), terms });
            }
            ["fixed", terms] => self.fixed = parse_terms(terms)?,
            ["free", suffix] => self.free_running = own(suffix),
            ["privilege", user, kernel] => self.privilege = Some([user, kernel].map(own)),
            ["leader", pmu, mask, value, leader] => {
                let (mask, value, leader) = (hexadecimal(mask)?, hexadecimal(value)?, hexadecimal(leader)?);
                self.leaders.push(Led { pmu: own(pmu), mask, value, leader });
            }
            ["format", family, pmu, term, text, truth] => {
                let truth = truth.parse().ok()?;
                let (family, pmu, term, text) = (own(family), own(pmu), own(term), own(text));
                self.formats.push(WrongFormat { family, pmu, term, text, truth });
            }
            ["only", family, pmu, term, mask, value] => {
                let term = (term != "*").then(|| own(term));
                let (mask, value) = (hexadecimal(mask)?, hexadecimal(value)?);
                self.filters.push(FilterUse { family: own(family), pmu: own(pmu), term, mask, value });
            }
            _ => return None,
        }
        Some(())
    }

    /// The row of a field that goes by another name, or together with another field.
    pub(super) fn of_field(&self, field: &str) -> Option<&TermNames> {
        self.terms.iter().find(|row| row.fields.iter().any(|known| known == field))
    }

    /// The PMU with what its format files should say.
    pub(super) fn corrected(&self, family: &str, stem: &str, pmu: Pmu) -> Pmu {
        let rows = self.formats.iter().filter(|row| row.family == family && row.pmu == stem);
        rows.fold(pmu, |pmu, row| {
            let is_wrong = pmu.format(&row.term).is_some_and(|format| format.to_string() == row.text);
            if is_wrong { pmu.with_format(&row.term, &row.truth) } else { pmu }
        })
    }

    /// True for a field that says whose occurrences count.
    pub(super) fn is_privilege(&self, field: &str) -> bool {
        self.privilege.iter().flatten().any(|known| known == field)
    }

    /// Whose occurrences count where these fields are set: both mean all.
    pub(super) fn privilege_of<'f>(&self, fields: impl Iterator<Item = &'f str>) -> Privilege {
        let fields: Vec<&str> = fields.collect();
        match &self.privilege {
            Some([user, _]) if fields == [user.as_str()] => Privilege::User,
            Some([_, kernel]) if fields == [kernel.as_str()] => Privilege::Kernel,
            _ => Privilege::All,
        }
    }

    /// What must lead the group of an event: the `config` of another event.
    pub(super) fn leader_of(&self, pmu: &str, config: u64) -> Option<u64> {
        let mut rows = self.leaders.iter().filter(|row| row.pmu == pmu);
        rows.find(|row| config & row.mask == row.value).map(|row| row.leader)
    }

    /// True if an event leads a group of such events.
    pub(super) fn is_leader(&self, pmu: &str, config: u64) -> bool {
        self.leaders.iter().any(|row| row.pmu == pmu && row.leader == config)
    }

    /// False if the driver would count the event of `config` without this filter, and without a word.
    pub(super) fn takes_filter(&self, family: &str, stem: &str, term: &str, config: u64) -> bool {
        let is_for = |row: &&FilterUse| {
            row.family == family && row.pmu == stem && row.term.as_ref().is_none_or(|known| known == term)
        };
        let mut rows = self.filters.iter().filter(is_for).peekable();
        rows.peek().is_none() || rows.any(|row| config & row.mask == row.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_is_read_to_its_end() {
        let names = DriverNames::read(TABLE).expect("every line is a row");
        assert_eq!(names.fixed, [("event".to_owned(), 0xff)]);
        assert_eq!(names.of_field("ev_sel_ext").unwrap().terms, ["event"]);
        assert!(names.of_field("tid_en").is_none());
    }

    /// snbep_uncore_cbox_extra_regs of Linux 6.1: LLC_LOOKUP has filters for some umasks, not for 0x11.
    #[test]
    fn a_filter_that_the_driver_would_drop_is_known() {
        let names = DriverNames::shipped();
        assert!(names.takes_filter("e5-2600", "uncore_cbox", "filter_state", 0x0334));
        assert!(!names.takes_filter("e5-2600", "uncore_cbox", "filter_state", 0x1134));
        assert!(names.takes_filter("e5-2600", "uncore_cbox", "filter_tid", 0x8_0135));
        assert!(
            names.takes_filter("e5-2600", "uncore_qpi", "match_opc", 0x38)
                && !names.takes_filter("e5-2600", "uncore_qpi", "match_opc", 0x39)
        );
        assert!(names.takes_filter("emerald-rapids", "uncore_cha", "filter_tid", 0x1134));
        // skx_uncore_cha_extra_regs: the state for six umasks of LLC_LOOKUP, opcodes for the table of requests.
        assert!(names.takes_filter("skylake", "uncore_cha", "filter_state", 0x9134));
        assert!(!names.takes_filter("skylake", "uncore_cha", "filter_state", 0x2134));
        assert!(names.takes_filter("cascade-lake", "uncore_cha", "filter_opc1", 0x2135));
        assert!(!names.takes_filter("cascade-lake", "uncore_cha", "filter_opc1", 0x2134));
        // knl_cha_filter_mask has no bit of the link.
        assert!(!names.takes_filter("knights-landing", "uncore_cha", "filter_link", 0x0035));
    }

    /// is_metric_event and is_slots_event of Linux's perf_event.h: 0x8000 to 0x8700, and 0x0400.
    #[test]
    fn shares_of_the_slots_are_led_by_the_slots() {
        let names = DriverNames::shipped();
        for config in [0x8000, 0x8300, 0x8700] {
            assert_eq!(names.leader_of("cpu", config), Some(0x0400), "{config:#x}");
            assert_eq!(names.leader_of("uncore_cha_0", config), None);
        }
        for config in [0x0400, 0x003c, 0x8001, 0x8800] {
            assert_eq!(names.leader_of("cpu", config), None, "{config:#x}");
        }
        assert!(names.is_leader("cpu", 0x0400) && !names.is_leader("cpu", 0x003c));
        assert_eq!(names.privilege, Some(["usr", "os"].map(str::to_owned)));
    }

    #[test]
    fn what_is_no_row_is_named() {
        for (text, line) in
            [("term", 1), ("# all\nonly a b c zz 1", 2), ("format f p t config:0 config:9-1", 1), ("nothing x", 1)]
        {
            assert_eq!(DriverNames::read(text).unwrap_err().line, line, "{text}");
        }
    }

    /// Users' code alone, the kernel's alone, or whatever runs.
    #[test]
    fn privileges_follow_from_the_fields_that_are_set() {
        let names = DriverNames::shipped();
        for (fields, privilege) in [
            (&["usr"][..], Privilege::User),
            (&["os"], Privilege::Kernel),
            (&["usr", "os"], Privilege::All),
            (&[], Privilege::All),
            (&["umask"], Privilege::All),
        ] {
            assert_eq!(names.privilege_of(fields.iter().copied()), privilege, "{fields:?}");
        }
        assert_eq!(["usr", "os", "umask"].map(|field| names.is_privilege(field)), [true, true, false]);
        let without = DriverNames::read("fixed event=0xff").unwrap();
        assert!(!without.is_privilege("usr") && without.privilege_of(std::iter::once("usr")) == Privilege::All);
    }

    /// A table by hand: comments, and each kind of row.
    #[test]
    fn rows_mean_what_their_first_word_names() {
        let table = "# words\nterm a+b first second # why\nfree _free\nfixed event=0x10,edge\n\n\
                     leader p ff00 8000 400\nonly f p * ff 35\nonly f p t ff00 300\n\
                     format f p t config:0-7 config:0-15\n";
        let names = DriverNames::read(table).unwrap();
        for field in ["a", "b"] {
            let row = names.of_field(field).unwrap();
            assert_eq!((row.fields.join(" "), row.terms.join(" ")), ("a b".to_owned(), "first second".to_owned()));
        }
        assert!(names.of_field("c").is_none());
        assert_eq!(names.fixed, [("event".to_owned(), 0x10), ("edge".to_owned(), 1)]);
        assert_eq!(names.free_running, "_free");
        let leaders = [("p", 0x80ff), ("p", 0x81ff), ("q", 0x8000)].map(|(pmu, config)| names.leader_of(pmu, config));
        assert_eq!(leaders, [Some(0x400), None, None]);
        assert_eq!(
            [names.is_leader("p", 0x400), names.is_leader("p", 0x401), names.is_leader("q", 0x400)],
            [true, false, false]
        );
        for (family, stem, term, config, takes) in [
            ("f", "p", "t", 0x035, true),
            ("f", "p", "t", 0x336, true),
            ("f", "p", "u", 0x336, false),
            ("f", "p", "u", 0x235, true),
            ("f", "p", "t", 0x236, false),
            ("g", "p", "t", 0x236, true),
            ("f", "q", "t", 0x236, true),
        ] {
            assert_eq!(names.takes_filter(family, stem, term, config), takes, "{family} {stem} {term} {config:#x}");
        }
    }
}
