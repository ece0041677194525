//! Every event of Intel's files is selected as stock perf selects it: by its name where perf knows the name, else by
//! our terms.
//!
//! perf runs on trees of PMUs that are made of facts of the driver's source. Where perf's own tables differ from
//! Intel's files or from the driver, the log has the row and a [`Difference`]. Any other row that differs fails.

pub mod perf;
pub mod pmus;

use std::fmt::Write;

use perf::Perf;
use pericore_catalog::kernel::{self, IntelEvent};
use pmus::{FamilyPmus, Words};

/// What the long form has found: every row that differs, and why. A new one is looked at, then written there.
const LOG: &str = include_str!("../../logs/perf_attributes.log");

/// Which tenth of the rows the short form compares.
const TENTH: u64 = 3;

/// Where perf's tables are not Intel's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// perf's table lacks bits of the umask's extension. Intel's script for perf (github.com/intel/perfmon,
    /// scripts/create_perf_json.py) takes a umask of 0 for none, and drops its extension with it; older tables lack
    /// others.
    Extension,
    /// perf's table has the second filter register's value in the low half of config1, which skx_cha_hw_config gives to
    /// the first (mended in perf 6.12: `config1=0x4043300000000`).
    FilterHalf,
    /// The driver's fixed and free-running counters are event 0xff (UNCORE_FIXED_EVENT); perf's table has another.
    Fixed,
    /// perf's table presets a filter that Intel leaves to the user.
    Preset,
    /// perf's tables are of an older version of Intel's file, which has another umask or filter.
    Version,
}

impl Difference {
    /// What kind of difference this is.
    fn of(ours: Words, perf: Words) -> Option<Self> {
        let selected = |words: Words| words.config & 0xffff_ffff;
        let only_config = |one: Words, other: Words| (one.config1, one.config2) == (other.config1, other.config2);
        if selected(ours) == selected(perf) && ours.config != perf.config && only_config(ours, perf) {
            return Some(Self::Extension);
        }
        if ours.config == perf.config && ours.config1 != 0 && ours.config1 == perf.config1 << 32 {
            return Some(Self::FilterHalf);
        }
        if ours.config & 0xff == 0xff && perf.config & 0xff != 0xff {
            return Some(Self::Fixed);
        }
        if ours.config == perf.config && ours.config1 == 0 {
            return Some(Self::Preset);
        }
        // The same event: only what chooses among its occurrences is another.
        (ours.config & 0xff == perf.config & 0xff).then_some(Self::Version)
    }
}

/// What came of a family.
#[derive(Debug, Default)]
struct Outcome {
    rows: usize,
    /// Of these, events of the cores.
    of_cores: usize,
    by_name: usize,
    by_terms: usize,
    not_offered: usize,
    refused_by_perf: usize,
    /// Rows that differ, each with its [`Difference`], as the log has them.
    differences: Vec<String>,
}

/// The log's lines about a family.
fn log_of(code: &str) -> Vec<&'static str> {
    let is_head = |line: &str| !line.starts_with(' ');
    let lines = LOG.lines().skip_while(|line| !line.starts_with(&format!("{code}: ")));
    lines.skip(1).take_while(|line| !is_head(line)).collect()
}

/// True if the log has a reason why perf selects an event in another way.
pub fn is_known_difference(code: &str, event: &str) -> bool {
    log_of(code).iter().any(|line| line.contains(&format!(": {event}: ours ")))
}

/// A number that spreads rows over tenths.
fn spread(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
        >> 33
}

fn compare(family: &FamilyPmus, is_chosen: impl Fn(&IntelEvent) -> bool, all_by_terms: bool) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let perf = Perf::new(family, folder.path());
    let names = perf.names();
    let mut outcome = Outcome::default();
    let (mut named, mut termed) = (Vec::new(), Vec::new());
    let shipped = kernel::family(family.code).expect("the catalogue has the family");
    for event in kernel::intel_events(shipped).filter(is_chosen) {
        outcome.rows += 1;
        outcome.of_cores += usize::from(event.unit.name == "cpu");
        let Ok(perf_event) = &event.perf else {
            outcome.not_offered += 1;
            continue;
        };
        let ours = family.words(perf_event.pmu(), &perf_event.terms);
        let ours = ours.unwrap_or_else(|| panic!("{}: {} fits no PMU: {perf_event}", family.code, event.name));
        let is_known = names.contains(&event.name.to_lowercase());
        if is_known {
            named.push((event.name.to_lowercase(), ours));
        }
        if all_by_terms || !is_known {
            termed.push((perf_event.to_string(), ours));
        }
    }
    (outcome.by_name, outcome.by_terms) = (named.len(), termed.len());
    let (events, ours): (Vec<String>, Vec<Words>) = termed.into_iter().unzip();
    for ((event, ours), found) in events.iter().zip(ours).zip(perf.words(&events)) {
        assert_eq!(found, Some(ours), "{}: {event}", family.code);
    }
    let (events, ours): (Vec<String>, Vec<Words>) = named.into_iter().unzip();
    for ((event, ours), found) in events.iter().zip(ours).zip(perf.words(&events)) {
        let Some(found) = found else {
            outcome.refused_by_perf += 1;
            continue;
        };
        if found != ours {
            let text = format!("{event}: ours {ours:x?}, perf {found:x?}");
            match Difference::of(ours, found) {
                Some(difference) => outcome.differences.push(format!("  {difference:?}: {text}")),
                None => outcome.differences.push(format!("  Unknown: {text}")),
            }
        }
    }
    outcome.differences.sort();
    outcome
}

#[test]
fn a_tenth_of_intels_events_is_selected_as_perf_selects_it() {
    let mut rows = 0;
    for family in pmus::families() {
        let outcome = compare(&family, |event| spread(&event.name) % 10 == TENTH, false);
        let known = log_of(family.code);
        let new: Vec<&String> = outcome.differences.iter().filter(|row| !known.contains(&row.as_str())).collect();
        assert!(new.is_empty(), "{}: {new:#?}", family.code);
        rows += outcome.rows - outcome.of_cores;
    }
    assert!((2_300..3_000).contains(&rows), "{rows} rows are no tenth of 26,193");
}

/// With `--nocapture` it prints what the log should be.
#[test]
#[ignore = "two minutes"]
fn every_event_of_intels_files_is_selected_as_perf_selects_it() {
    let (mut log, mut rows) = (String::new(), 0);
    for family in pmus::families() {
        let outcome = compare(&family, |_| true, true);
        rows += outcome.rows - outcome.of_cores;
        let Outcome { of_cores, by_name, by_terms, not_offered, refused_by_perf, differences, .. } = &outcome;
        let _ = writeln!(
            log,
            "{}: {} rows and {of_cores} of the cores; {by_name} compared by name, {by_terms} by terms; \
             {not_offered} that the driver has not; {refused_by_perf} names that perf refuses; {} differ",
            family.code,
            outcome.rows - of_cores,
            differences.len()
        );
        for text in differences {
            let _ = writeln!(log, "{text}");
        }
    }
    println!("{log}");
    assert_eq!(log, LOG);
    assert_eq!(rows, 26_193);
}
