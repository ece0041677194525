//! Event codes of a file against those of the documents, and what each counts of the same traffic.

use std::collections::BTreeMap;

use pericore_catalog::Family;
use pericore_catalog::search::related::deviations_about;
use pericore_catalog::{Deviation, Role};
use pericore_observe::discover::Topology;
use pericore_observe::selection::Selection;
use pericore_observe::session::{Entrance, Options, Sample, Session, prepare};
use pericore_registers::RegisterSpace;

use super::CheckError;
use super::time::TestTime;
use super::traffic::KnownTraffic;
use super::verdict::Verdicts;
use crate::finding::Finding;

const REMEDY: &str = "mend the file, or report the catalogue's row with the document that has the file's value";

/// Differences of which both codes are counted, for each unit: two codes each.
const COUNTED: usize = 2;

/// An event that a file has with another code than the documents.
#[derive(Debug, Clone)]
pub struct FileCode {
    /// File and line.
    pub place: String,
    /// `unit/EVENT.SUBEVENT`.
    pub name: String,
    /// The documents' control value.
    pub documented: u64,
    /// The file's; or why that is none.
    pub of_file: Result<u64, String>,
}

impl FileCode {
    fn unit(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    fn subject(&self) -> &str {
        self.name.split_once('/').map_or("", |(_, subject)| subject)
    }

    fn event(&self, code: u64) -> String {
        format!("{}/config={code:#x}/", self.unit())
    }

    /// Where documents are known to disagree in just this: the file's umask is the one that Intel's file has.
    fn known_difference(&self, family: &Family) -> Option<&'static Deviation> {
        let unit = family.units.iter().find(|unit| unit.name == self.unit())?;
        let umask = unit.register(Role::Control)?.field("umask")?.bits.get(*self.of_file.as_ref().ok()?);
        let umask = format!("{umask:#04x}");
        let about = deviations_about(family, self.unit(), self.subject());
        about.into_iter().find(|row| row.field.contains("umask") && row.intel.contains(&umask))
    }

    /// Where the documents have it.
    fn source(&self, family: &Family) -> String {
        let name = self.subject().split('.').next().unwrap_or_default();
        let events = family.units.iter().filter(|unit| unit.name == self.unit()).flat_map(|unit| unit.events);
        events.filter(|event| event.name == name).map(|event| event.source.to_owned()).next().unwrap_or_default()
    }
}

/// Holds the codes of files against the documents, and counts both of the first of each unit.
///
/// # Errors
/// What keeps a session from starting, or from putting back.
pub fn check<S: RegisterSpace>(
    space: S,
    topology: &Topology,
    options: Options,
    entrance: Option<Entrance>,
    time: &mut impl TestTime<S>,
    traffic: &mut impl KnownTraffic<S>,
    codes: &[FileCode],
) -> Result<Vec<Finding>, CheckError> {
    let mut verdicts = Verdicts::default();
    let counts = counted(space, topology, options, entrance, time, traffic, codes)?;
    for (number, code) in codes.iter().enumerate() {
        let FileCode { place, name, documented, of_file } = code;
        let of_file = match of_file {
            Ok(of_file) => of_file,
            Err(why) => {
                let source = code.source(topology.family);
                let text = format!(
                    "{place}: {name} is {documented:#x} where it is documented ({source}), and in the file {why}"
                );
                verdicts.differs(code.unit(), text, REMEDY);
                continue;
            }
        };
        let by_traffic = match counts.get(&number) {
            None => String::new(),
            Some((ours, theirs)) => format!("; of {}, that counts {theirs} and this {ours}", traffic.name()),
        };
        let source = code.source(topology.family);
        let text = format!(
            "{place}: {name} is {of_file:#x} in the file and {documented:#x} documented ({source}){by_traffic}"
        );
        match code.known_difference(topology.family) {
            Some(known) => {
                verdicts.unknown(code.unit(), format!("{text}: documents are known to disagree ({})", known.evidence));
            }
            None => verdicts.differs(code.unit(), text, REMEDY),
        }
    }
    Ok(verdicts.findings())
}

/// What both codes of some differences count, the documents' first.
fn counted<S: RegisterSpace>(
    mut space: S,
    topology: &Topology,
    options: Options,
    entrance: Option<Entrance>,
    time: &mut impl TestTime<S>,
    traffic: &mut impl KnownTraffic<S>,
    codes: &[FileCode],
) -> Result<BTreeMap<usize, (u64, u64)>, CheckError> {
    let mut selection = Selection::new(topology.family);
    let mut of_units: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wanted = BTreeMap::new();
    for (number, code) in codes.iter().enumerate() {
        let of_unit = of_units.entry(code.unit()).or_default();
        let Some(of_file) = code.of_file.as_ref().ok().filter(|_| *of_unit < COUNTED) else { continue };
        let mut grown = selection.clone();
        let mut add = |code: String| -> Option<usize> {
            grown.add_events(&code).ok()?;
            grown.listed.last().map(|listed| listed.event)
        };
        if let (Some(ours), Some(theirs)) = (add(code.event(code.documented)), add(code.event(*of_file))) {
            wanted.insert(number, (ours, theirs));
            selection = grown;
            *of_unit += 1;
        }
    }
    // What cannot be counted is reported by its codes alone.
    let Ok(plan) = prepare(&mut space, topology, selection, Default::default(), options.other_sessions.as_ref()) else {
        return Ok(BTreeMap::new());
    };
    let mut session = Session::start(space, plan, options, |space| time.now(space))?;
    drop(entrance);
    traffic.make(session.space_mut());
    let sample = session.sample(|space| time.now(space));
    session.stop()?;
    let sum = |sample: &Sample, event: usize| -> Option<u64> {
        sample.counts.iter().filter(|count| count.event == event).map(|count| count.count).sum()
    };
    let both = wanted
        .into_iter()
        .filter_map(|(number, (ours, theirs))| Some((number, (sum(&sample, ours)?, sum(&sample, theirs)?))));
    Ok(both.collect())
}
