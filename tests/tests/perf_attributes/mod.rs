//! Every event of Intel's files is selected as stock perf selects it: by its name where perf has Intel's row under that
//! name, else by our terms.
//!
//! perf runs on trees of PMUs that are made of facts of the driver's source. Where perf's own tables differ from
//! Intel's files or from the driver, the log has the row and a [`Difference`]. Any other row that differs fails, and so
//! does more than one row of a hundred in a family. The short form compares a tenth of the rows. The long form does so
//! with the perf that is installed (Debian 12's, of Linux 6.1), and with that of Linux 6.12 ([`newer`]).

mod newer;
pub mod perf;
pub mod pmus;

use perf::{Perf, Program};
use pericore_catalog::kernel::{self, IntelEvent, PerfEvent};
use pmus::{FamilyPmus, Words};

/// What the long form has found: every row that differs, and why. A new one is looked at, then written there.
const LOG: &str = include_str!("../../logs/perf_attributes.log");

/// Which tenth of the rows the short form compares.
const TENTH: u64 = 3;

/// Bit 8 of a QPI unit's event in its control register (snbep_uncore_qpi_format_group: event=config:0-7,21).
const EVENT_EXTENSION: u64 = 1 << 21;

/// Where perf's tables are not Intel's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// perf's table has the name and not the row: Intel's script for perf (github.com/intel/perfmon,
    /// scripts/create_perf_json.py) takes a umask of 0 for none, and drops its extension with it. Under this name perf
    /// counts another event; the row itself is compared by terms.
    NoUmask,
    /// perf's table has the name and not bit 21 of the event select: in Linux 6.12
    /// tools/perf/pmu-events/arch/x86/{jaketown,ivytown,haswellx,broadwellx}/uncore-interconnect.json are without the
    /// key `ExtSel`, of which tools/perf/pmu-events/jevents.py makes that bit (perf of 6.1 has `event=0x102` where that
    /// of 6.12 has `event=2`). Under this name perf counts another event; the row itself is compared by terms.
    NoEventExtension,
    /// perf 6.12 knows the name, and refuses it: its table has the port and FC masks a second time, as upper bits of
    /// the umask (`UMask` in tools/perf/pmu-events/arch/x86/*/uncore-io.json, 0x7001004), the driver's IIO has a umask
    /// of eight bits (snr_uncore_iio_format_group), and tools/perf/util/pmu.c refuses what is too big for a format:
    /// `perf stat -v` says so. The row itself is compared by terms.
    Refused,
    /// perf's older tables lack bits of the umask's extension, or of the port and FC masks that stand beside it.
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
        if ours.config == perf.config | EVENT_EXTENSION && ours.config != perf.config && only_config(ours, perf) {
            return Some(Self::NoEventExtension);
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
    /// Names under which perf's table has no row of Intel's.
    incomplete: usize,
    /// Rows that differ, each with its [`Difference`], as the log has them.
    differences: Vec<String>,
}

impl Outcome {
    /// Rows that perf selects in another way.
    fn differing(&self) -> usize {
        self.differences.len() - self.incomplete - self.refused_by_perf
    }

    /// What the log has of the family.
    fn log(&self, code: &str) -> String {
        let Self { of_cores, by_name, by_terms, not_offered, refused_by_perf, incomplete, differences, .. } = self;
        let mut log = format!(
            "{code}: {} rows and {of_cores} of the cores; {by_name} compared by name, {by_terms} by terms; \
             {not_offered} that the driver has not; {refused_by_perf} names that perf refuses, \
             {incomplete} that lack a part in its table; {} differ\n",
            self.rows - of_cores,
            self.differing(),
        );
        differences.iter().for_each(|text| log.extend([text, "\n"]));
        log
    }
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

/// A row of Intel's that the driver has.
struct Row {
    terms: String,
    ours: Words,
    /// What Intel's script for perf makes of it, if its umask is 0 and has an extension.
    bare: Option<Words>,
}

impl Row {
    /// The log's line, if perf selects something else under the row's name.
    fn difference(&self, event: &str, found: Option<Words>) -> Option<String> {
        let Some(words) = found else {
            return Some(format!("  {:?}: {event}: ours {:x?}", Difference::Refused, self.ours));
        };
        let text = format!("{event}: ours {:x?}, perf {words:x?}", self.ours);
        match self.kind(words) {
            _ if words == self.ours => None,
            Some(difference) => Some(format!("  {difference:?}: {text}")),
            None => Some(format!("  Unknown: {text}")),
        }
    }

    fn kind(&self, found: Words) -> Option<Difference> {
        if self.bare == Some(found) { Some(Difference::NoUmask) } else { Difference::of(self.ours, found) }
    }

    /// True if perf's table has the name, and another event there.
    fn is_incomplete(&self, found: Option<Words>) -> bool {
        let kind = found.filter(|words| *words != self.ours).and_then(|words| self.kind(words));
        matches!(kind, Some(Difference::NoUmask | Difference::NoEventExtension))
    }
}

fn without_umask(family: &FamilyPmus, event: &PerfEvent) -> Option<Words> {
    let is_umask = |(name, _): &&(&str, u64)| *name == "umask";
    let (_, umask) = event.terms.iter().find(is_umask)?;
    let terms: Vec<_> = event.terms.iter().filter(|term| !is_umask(term)).copied().collect();
    (*umask != 0 && umask & 0xff == 0).then(|| family.words(event.pmu(), &terms))?
}

fn compare(
    program: &Program,
    family: &FamilyPmus,
    is_chosen: impl Fn(&IntelEvent) -> bool,
    all_by_terms: bool,
) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let perf = Perf::of(program, family, folder.path());
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
        let row = Row { terms: perf_event.to_string(), ours, bare: without_umask(family, perf_event) };
        if is_known {
            named.push((event.name.to_lowercase(), row));
        } else {
            termed.push(row);
        }
    }
    let (names, rows): (Vec<String>, Vec<Row>) = named.into_iter().unzip();
    for ((event, row), found) in names.iter().zip(rows).zip(perf.words(&names)) {
        let is_incomplete = row.is_incomplete(found);
        outcome.differences.extend(row.difference(event, found));
        outcome.refused_by_perf += usize::from(found.is_none());
        outcome.by_name += usize::from(found.is_some() && !is_incomplete);
        outcome.incomplete += usize::from(is_incomplete);
        if all_by_terms || is_incomplete || found.is_none() {
            termed.push(row);
        }
    }
    outcome.by_terms = termed.len();
    let events: Vec<String> = termed.iter().map(|row| row.terms.clone()).collect();
    for (row, found) in termed.iter().zip(perf.words(&events)) {
        assert_eq!(found, Some(row.ours), "{}: {}", family.code, row.terms);
    }
    outcome.differences.sort();
    outcome
}

#[test]
fn a_tenth_of_intels_events_is_selected_as_perf_selects_it() {
    let mut rows = 0;
    for family in pmus::families() {
        let outcome = compare(&Program::default(), &family, |event| spread(&event.name) % 10 == TENTH, false);
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
    every_event_is_selected_alike(&Program::default(), LOG);
}

fn every_event_is_selected_alike(program: &Program, known: &str) {
    let (mut log, mut rows) = (String::new(), 0);
    for family in pmus::families() {
        let outcome = compare(program, &family, |_| true, true);
        rows += outcome.rows - outcome.of_cores;
        log.push_str(&outcome.log(family.code));
    }
    println!("{log}");
    assert_eq!(log, known);
    assert_eq!(rows, 26_193);
}

/// What the long form found holds: at most one row of a hundred differs, and each has a reason.
#[test]
fn perf_selects_at_most_one_row_of_a_hundred_in_another_way() {
    at_most_one_of_a_hundred_differs(LOG);
}

fn at_most_one_of_a_hundred_differs(log: &str) {
    let heads: Vec<&str> = log.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(heads.len(), 16, "{heads:#?}");
    for head in heads {
        let number = |word: Option<&str>| word.and_then(|word| word.parse::<usize>().ok()).expect(head);
        let rows = number(head.split(' ').nth(1));
        let differing = number(head.strip_suffix(" differ").and_then(|head| head.rsplit(' ').next()));
        assert!(differing * 100 <= rows, "{head}");
    }
    assert!(!log.contains("Unknown"));
}
