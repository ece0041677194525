//! The self-check: whether counters do what the documents say, by counting what is known.
//!
//! Every counter that nobody else uses counts cycles, in turn and together: [`numbers`] tells which register answers
//! behind which address, [`clocks`] how fast each counts, [`widths`] where it wraps. The counters are those of a
//! session, which has saved what it overwrites and puts it back; those of others are left alone, and named.

mod clocks;
mod codes;
mod cycles;
mod known;
mod laws;
mod numbers;
mod rated;
mod tested;
mod time;
mod traffic;
mod verdict;
mod widths;

use std::collections::{BTreeMap, BTreeSet};

use pericore_catalog::{OnePer, Unit};
use pericore_observe::discover::{Presence, Socket, Topology};
use pericore_observe::plan::{InstancePlan, Plan, instance_name};
use pericore_observe::selection::SelectionError;
use pericore_observe::session::{Entrance, Options, Refusal, Session, SessionError, prepare};
use pericore_registers::RegisterSpace;

use crate::finding::Finding;
pub use codes::{FileCode, check as check_codes};
use cycles::cycles_everywhere;
pub use cycles::event_text;
use numbers::Numbered;
use tested::Bench;
pub use time::TestTime;
pub use traffic::{KnownTraffic, check as check_traffic};
use verdict::Verdicts;
pub use verdict::{AGREES, DIFFERS, UNKNOWN};

const HIDDEN: &str = "sums over the unit lack what these count: look in the firmware's set-up for an option that hides \
                      performance monitors";

/// What the documents have and does not answer.
pub fn absent(topology: &Topology) -> Vec<Finding> {
    let mut verdicts = Verdicts::default();
    for socket in &topology.sockets {
        for unit in topology.family.units {
            let presence = socket.presence(unit);
            let absent = presence.iter().filter(|presence| **presence != Presence::Present).count();
            let (all, present) = (presence.len(), presence.len() - absent);
            let slices = socket.slices().filter(|_| unit.one_per == Some(OnePer::Slice));
            if let Some(slices) = slices.filter(|slices| usize::from(slices.slices) > present) {
                verdicts.differs(
                    unit.name,
                    format!(
                        "{} of socket {} has {} LLC slices, and {present} of them answer: {}",
                        slices.register,
                        socket.number,
                        slices.slices,
                        missing(socket, unit)
                    ),
                    HIDDEN,
                );
            } else if let Some(slices) = slices.filter(|slices| absent > 0 && usize::from(slices.slices) == present) {
                let (number, register) = (socket.number, &slices.register);
                let text = format!(
                    "{present} of {all} in socket {number} answer, as many as there are LLC slices by {register}"
                );
                verdicts.agrees(unit.name, text);
            } else if absent > 0 {
                verdicts.unknown(
                    unit.name,
                    format!(
                        "{absent} of {all} in socket {} do not answer: fused off, or hidden; what is counted elsewhere \
                         has to tell",
                        socket.number
                    ),
                );
            }
        }
    }
    verdicts.findings()
}

/// The instances that do not answer, in words.
fn missing(socket: &Socket, unit: &'static Unit) -> String {
    let absent = (0..).zip(socket.presence(unit)).filter(|(_, presence)| **presence != Presence::Present);
    let name =
        |(number, _): (u16, _)| format!("{} in socket {} does not answer", instance_name(unit, number), socket.number);
    absent.map(name).collect::<Vec<_>>().join(", ")
}

/// Looks at every counter of a session on whose counters cycles are counted.
fn counters<S: RegisterSpace>(session: &mut Session<S>, time: &mut impl TestTime<S>) -> Vec<Finding> {
    let plan = session.plan().clone();
    let mut verdicts = Verdicts::default();
    let mut bench = Bench::new(&plan, session, time);
    let mut state = numbers::check(&mut bench, &mut verdicts);
    let rates = clocks::check(&mut bench, &plan, &mut state, &mut verdicts);
    widths::check(&mut bench, &mut state, &rates, &mut verdicts);
    sound(&bench, &state, &mut verdicts);
    bench.start_all();
    // What counters were set to is no count: the next sample begins after it.
    session.sample(|space| time.now(space));
    let sample = session.sample(|space| time.now(space));
    for reason in sample.doubts_by_others() {
        verdicts.unknown("others", format!("all that is said of these instances, since meanwhile {reason}"));
    }
    in_use(&plan).into_iter().for_each(|(unit, text)| verdicts.unknown(unit, text));
    verdicts.findings()
}

/// What is as it should be, by unit.
fn sound<S: RegisterSpace, P: TestTime<S>>(bench: &Bench<'_, S, P>, state: &[Numbered], verdicts: &mut Verdicts) {
    let mut units: BTreeMap<&str, (usize, BTreeSet<usize>, BTreeSet<u8>)> = BTreeMap::new();
    for (tested, state) in bench.counters.iter().zip(state) {
        if *state == Numbered::Sound {
            let (counters, places, widths) = units.entry(tested.unit.name).or_default();
            *counters += 1;
            places.insert(tested.place);
            widths.insert(tested.bits.width);
        }
    }
    for (unit, (counters, places, widths)) in units {
        let widths: Vec<String> = widths.iter().map(ToString::to_string).collect();
        let (count, plural) = (places.len(), if places.len() == 1 { "" } else { "s" });
        let text = format!(
            "{counters} counters of {count} instance{plural} are where the documents have them, count cycles alike, \
             stand when they are off, and have {} bits",
            widths.join(" or ")
        );
        verdicts.agrees(unit, text);
    }
}

/// The counters that others have.
fn in_use(plan: &Plan) -> Vec<(&'static str, String)> {
    let of = |(socket, instance): (u16, &InstancePlan)| {
        let mut counters: Vec<String> = (0..instance.unit.counters.min(16))
            .filter(|counter| instance.taken.counters >> counter & 1 == 1)
            .map(|counter| counter.to_string())
            .collect();
        counters.extend(instance.taken.fixed.then(|| "fixed".to_owned()));
        (!counters.is_empty()).then(|| {
            let text = format!(
                "counters {} of {} in socket {socket} are in use by others, and were left alone",
                counters.join(", "),
                instance.name()
            );
            (instance.unit.name, text)
        })
    };
    let instances = plan.sockets.iter().flat_map(|part| part.instances.iter().map(|instance| (part.socket, instance)));
    instances.filter_map(of).collect()
}

/// Checks the counters of the machine behind `space`, in a session of its own that puts everything back. Until it
/// has started nobody else may enter.
///
/// # Errors
/// What keeps a session from starting, or from putting back.
pub fn check_counters<S: RegisterSpace>(
    mut space: S,
    topology: &Topology,
    options: Options,
    entrance: Option<Entrance>,
    time: &mut impl TestTime<S>,
) -> Result<Vec<Finding>, CheckError> {
    let selection = cycles_everywhere(topology)?;
    let plan = prepare(&mut space, topology, selection, Default::default(), options.other_sessions.as_ref())?;
    let mut session = Session::start(space, plan, options, |space| time.now(space))?;
    drop(entrance);
    let findings = counters(&mut session, time);
    session.stop()?;
    Ok(findings)
}

/// Why counters could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The catalogue's own names are not understood.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// Others are in the way.
    #[error(transparent)]
    Refusal(#[from] Refusal),
    /// A register refuses.
    #[error(transparent)]
    Session(#[from] SessionError),
}
