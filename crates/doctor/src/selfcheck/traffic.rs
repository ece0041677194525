//! Counts of traffic of which is known how much there is.

use std::collections::BTreeMap;

use pericore_observe::discover::Topology;
use pericore_observe::plan::{Plan, instance_name};
use pericore_observe::selection::{SelectedEvent, Selection};
use pericore_observe::session::{Count, Entrance, Options, Refusal, Sample, Session, prepare};
use pericore_registers::RegisterSpace;

use super::CheckError;
use super::known::{Known, ReadLines};
use super::laws::{Law, all_events, index_of};
use super::time::TestTime;
use super::verdict::Verdicts;
use crate::finding::Finding;

const CHANNEL: &str =
    "compare the unit's addresses with the documents of this part, and send this report with --bundle FILE";
const HIDDEN: &str = "sums over the unit lack what it counts: look in the firmware's set-up for an option that hides \
                      performance monitors";
const LINES: &str = "sums of memory traffic are wrong by as much: send this report with --bundle FILE";

/// Seconds in which what others read is counted.
const QUIET: f64 = 0.1;

/// If others read more than this part of what is known, nothing can be said.
const BUSY: f64 = 0.3;

/// Traffic of known size.
pub trait KnownTraffic<S> {
    /// What it is, in words.
    fn name(&self) -> String;

    /// Makes it.
    fn make(&mut self, space: &mut S);

    /// What an event of an instance has to have counted of it, where that is known exactly.
    fn count(&self, event: &SelectedEvent, socket: u16, instance: u16) -> Option<u64>;

    /// Lines that it has read from memory, at the least and at the most, where that is known for the whole machine
    /// alone.
    fn lines(&self) -> Option<(f64, f64)>;

    /// True if others may read memory meanwhile: then a moment without it is counted first.
    fn is_among_others(&self) -> bool;
}

/// Counts traffic in a session of its own, and holds it against what is known, and against the family's laws.
///
/// # Errors
/// What keeps a session from starting, or from putting back.
pub fn check<S: RegisterSpace>(
    mut space: S,
    topology: &Topology,
    options: Options,
    entrance: Option<Entrance>,
    time: &mut impl TestTime<S>,
    traffic: &mut impl KnownTraffic<S>,
) -> Result<Vec<Finding>, CheckError> {
    let mut selection = Selection::new(topology.family);
    let is_there = |unit: &str| {
        let unit = topology.family.unit(unit);
        unit.is_some_and(|unit| topology.sockets.iter().any(|socket| !socket.present(unit).is_empty()))
    };
    all_events(&mut selection, is_there)?;
    let mut verdicts = Verdicts::default();
    if selection.events.is_empty() {
        let text = "counts against known traffic: nothing to hold them against is known of this family yet".to_owned();
        verdicts.unknown("traffic", text);
        return Ok(verdicts.findings());
    }
    let plan = match prepare(&mut space, topology, selection, Default::default(), options.other_sessions.as_ref()) {
        Ok(plan) => plan,
        Err(Refusal::Plan(error)) => {
            verdicts.unknown("traffic", format!("its counts: {error}"));
            return Ok(verdicts.findings());
        }
        Err(other) => return Err(other.into()),
    };
    let takes_turns = plan.rounds() > 1;
    let mut session = Session::start(space, plan, options, |space| time.now(space))?;
    drop(entrance);
    let mut quiet = None;
    if traffic.is_among_others() {
        session.sample(|space| time.now(space));
        time.pass(session.space_mut(), QUIET);
        quiet = Some(session.sample(|space| time.now(space)));
    }
    traffic.make(session.space_mut());
    let begin = time.now(session.space_mut()).seconds;
    let sample = session.sample(|space| time.now(space));
    let reading = match stand_together(session.plan()) {
        true => 0.0,
        false => time.now(session.space_mut()).seconds - begin,
    };
    let selection = session.plan().selection.clone();
    session.stop()?;
    if takes_turns {
        let text = "its traffic: others use so many counters that the events do not fit at once".to_owned();
        verdicts.unknown("traffic", text);
        return Ok(verdicts.findings());
    }
    for reason in sample.doubts_by_others() {
        verdicts.unknown("others", format!("all counts of traffic, since meanwhile {reason}"));
    }
    instances(&selection, &sample, traffic, &mut verdicts);
    absent(topology, &selection, traffic, &mut verdicts);
    lines(&selection, &sample, quiet.as_ref(), traffic, &mut verdicts);
    Law::of(&selection).iter().for_each(|law| law.check(&selection, &sample, reading, &mut verdicts));
    Ok(verdicts.findings())
}

/// True if all that is counted in a socket is stopped by one write.
fn stand_together(plan: &Plan) -> bool {
    plan.sockets.iter().all(|part| (0..part.instances.len()).all(|instance| part.gate_stops(instance)))
}

/// Compares each count with what is known of it.
fn instances<S>(selection: &Selection, sample: &Sample, traffic: &impl KnownTraffic<S>, verdicts: &mut Verdicts) {
    let mut agreed: BTreeMap<&str, u64> = BTreeMap::new();
    for count in &sample.counts {
        let event = &selection.events[count.event];
        let known = |count: &Count| traffic.count(event, count.socket, count.instance);
        let (Some(counted), Some(right)) = (count.count, known(count)) else { continue };
        if counted == right {
            *agreed.entry(event.unit.name).or_default() += 1;
            continue;
        }
        let place = |count: &Count| format!("{} in socket {}", instance_name(event.unit, count.instance), count.socket);
        let of_others = sample.counts.iter().filter(|other| other.event == count.event);
        let exchanged = of_others.filter(|other| *other != count).find(|other| known(other) == Some(counted));
        let through = exchanged.map_or_else(String::new, |other| {
            format!(", which is what went through {}: one has the other's address", place(other))
        });
        let text = format!("{} counted {counted} of {}, and {right} were there{through}", place(count), event.label);
        verdicts.differs(event.unit.name, text, CHANNEL);
    }
    for (unit, counts) in agreed {
        let of_traffic =
            if counts == 1 { "1 count is exactly that" } else { &format!("{counts} counts are exactly those") };
        verdicts.agrees(unit, format!("{of_traffic} of {}", traffic.name()));
    }
}

/// Looks for traffic through instances that do not answer.
fn absent<S>(topology: &Topology, selection: &Selection, traffic: &impl KnownTraffic<S>, verdicts: &mut Verdicts) {
    for socket in &topology.sockets {
        for event in &selection.events {
            let present = socket.present(event.unit);
            for instance in (0..event.unit.instances).filter(|instance| !present.contains(instance)) {
                if let Some(missed @ 1..) = traffic.count(event, socket.number, instance) {
                    let text = format!(
                        "{} in socket {} does not answer, and {missed} of {} went through it",
                        instance_name(event.unit, instance),
                        socket.number,
                        event.label
                    );
                    verdicts.differs(event.unit.name, text, HIDDEN);
                }
            }
        }
    }
}

/// Compares what memory was read with what was made.
#[expect(clippy::cast_precision_loss, reason = "a comparison within per cents")]
fn lines<S>(
    selection: &Selection,
    sample: &Sample,
    quiet: Option<&Sample>,
    traffic: &impl KnownTraffic<S>,
    verdicts: &mut Verdicts,
) {
    let Some((least, most)) = traffic.lines() else { return };
    for ReadLines { reads, source } in Known::of(selection.family).lines {
        let Some(event) = index_of(selection, &reads) else { continue };
        let unit = selection.events[event].unit.name;
        let sum = |sample: &Sample| -> Option<f64> {
            let counts = sample.counts.iter().filter(|count| count.event == event);
            counts.map(|count| count.count.map(|count| count as f64)).sum()
        };
        let rate = quiet.map_or(Some(0.0), |quiet| Some(sum(quiet)? / quiet.seconds.max(f64::MIN_POSITIVE)));
        let (Some(counted), Some(rate)) = (sum(sample), rate) else {
            verdicts.unknown(unit, format!("whether {reads} counts what {} reads: it has no number", traffic.name()));
            continue;
        };
        let others = rate * sample.seconds;
        let text = format!(
            "{counted:.0} of {reads} over {}, where {least:.0} to {most:.0} are of its size, and {others:.0} of others",
            traffic.name()
        );
        if others > least * BUSY {
            verdicts.unknown(unit, format!("{text}: too much else runs"));
        } else if (least..=most + 2.0 * others).contains(&counted) {
            verdicts.agrees(unit, text);
        } else {
            verdicts.differs(unit, format!("{text} ({source})"), LINES);
        }
    }
}
