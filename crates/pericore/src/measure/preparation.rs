//! From a selection to a plan for the machine at hand: find what answers, leave alone what others use.

use pericore_observe::discover::{Cpu, DiscoverError, Socket, Topology, discover};
use pericore_observe::plan::{Freeze, Plan, Trigger, freezes_sockets};
use pericore_observe::run::Schedule;
use pericore_observe::selection::Selection;
use pericore_observe::session::{Entrance, Manners, Neighbour, OtherSessions, Refusal, prepare};
use pericore_registers::{AccessError, RegisterSpace};

use super::Task;
use crate::failure::Failure;
use crate::notice;

/// The plan for a selection on the machine behind `space`, beside the counters that others have running, unless these
/// are to be taken.
///
/// # Errors
/// Registers that cannot be reached, or events that cannot be counted here.
pub fn plan(
    task: Task<'_>,
    space: &mut impl RegisterSpace,
    cpus: &[Cpu],
    selection: Selection,
) -> Result<Plan, Failure> {
    let topology = topology(task, space, cpus, &selection)?;
    plan_on(task, space, &topology, selection)
}

/// What there is of the units that the selection needs; of all units where a socket can be frozen at once, so that
/// nobody is frozen unseen.
fn topology(
    task: Task<'_>,
    space: &mut impl RegisterSpace,
    cpus: &[Cpu],
    selection: &Selection,
) -> Result<Topology, Failure> {
    let whole = !task.args.no_freeze && freezes_sockets(selection.family);
    let mut unseen = None;
    let topology = match discover(space, selection.family, cpus, |unit| whole || selection.uses(unit)) {
        // What is denied for units that are not wanted denies only the look at them.
        Err(DiscoverError::Access(denied @ AccessError::Permission { .. })) if whole => {
            let topology = discover(space, selection.family, cpus, |unit| selection.uses(unit));
            let topology = topology.map_err(Failure::failed)?;
            unseen = Some(without_a_look(selection, &denied));
            topology
        }
        topology => topology.map_err(Failure::failed)?,
    };
    beyond_the_documents(&topology, selection).iter().chain(&unseen).for_each(notice::warn);
    Ok(topology)
}

/// What could not be looked at, and what follows from that.
fn without_a_look(selection: &Selection, denied: &AccessError) -> String {
    let others = selection.family.units.iter().filter(|unit| !selection.uses(unit)).map(|unit| unit.name);
    let others: Vec<&str> = others.collect();
    format!(
        "not looked at: {} ({denied}). Somebody may count there, so sockets are not frozen as a whole for reading, only the \
         units that are counted",
        others.join(", ")
    )
}

/// What would be missing from sums without a word: instances that a discovery table has and no document.
fn beyond_the_documents(topology: &Topology, selection: &Selection) -> Vec<String> {
    let of_socket = |socket: &Socket| {
        let faults = socket.table().map_or(&[][..], |table| &table.faults);
        let missing = faults.iter().filter_map(|fault| fault.beyond);
        let used = topology.family.units.iter().filter(|unit| selection.uses(unit)).map(|unit| unit.name);
        used.map(|unit| (unit, missing.clone().filter(|other| *other == unit).count()))
            .filter(|(_, count)| *count > 0)
            .map(|(unit, count)| {
                format!(
                    "socket {}: the discovery table has {count} more of {unit} than the documents: what they count is in no number here; \
                     `pericore doctor` names them",
                    socket.number
                )
            })
            .collect::<Vec<_>>()
    };
    topology.sockets.iter().flat_map(of_socket).collect()
}

/// The same where it is known what there is.
///
/// # Errors
/// As [`plan`].
pub fn plan_on(
    task: Task<'_>,
    space: &mut impl RegisterSpace,
    topology: &Topology,
    selection: Selection,
) -> Result<Plan, Failure> {
    sampled(task, topology, prepare(space, topology, selection, manners(task), None).map_err(failure)?)
}

/// With `-c`, the plan with samples at the overflows of the first event.
fn sampled(task: Task<'_>, topology: &Topology, plan: Plan) -> Result<Plan, Failure> {
    match (task.course.period, plan.sockets.first().map(|part| part.socket)) {
        (Some(period), Some(socket)) => {
            plan.sampled(topology, Trigger { socket, event: 0, period }).map_err(Failure::usage)
        }
        _ => Ok(plan),
    }
}

/// The same beside other sessions of ours. With `--wait`, `outwait` waits for each that is in the way, and says
/// whether it has ended: else there is no plan. Until the session has started nobody else may enter.
///
/// # Errors
/// As [`plan`], and if other sessions are in the way.
pub fn plan_among(
    task: Task<'_>,
    space: &mut impl RegisterSpace,
    cpus: &[Cpu],
    selection: &Selection,
    other_sessions: &OtherSessions,
    mut outwait: impl FnMut(&Neighbour) -> Result<bool, Failure>,
) -> Result<Option<(Plan, Entrance)>, Failure> {
    let topology = topology(task, space, cpus, selection)?;
    loop {
        let waiting = |holder: &str| notice::warn(format!("waiting for {holder} to set up or put back"));
        let entrance = other_sessions.enter_telling(waiting).map_err(Failure::failed)?;
        // What is no journal keeps nobody from counting.
        other_sessions.look().map_err(Failure::failed)?.left_aside.iter().for_each(notice::warn);
        match prepare(space, &topology, selection.clone(), manners(task), Some(other_sessions)) {
            Ok(plan) => {
                unknown_to_others(other_sessions, &entrance).iter().for_each(notice::warn);
                return Ok(Some((sampled(task, &topology, plan)?, entrance)));
            }
            Err(Refusal::Busy { neighbours, .. }) if task.args.wait => {
                drop(entrance);
                for neighbour in neighbours {
                    notice::warn(format!("waiting for process {} to end", neighbour.pid));
                    if !outwait(&neighbour)? {
                        return Ok(None);
                    }
                }
            }
            Err(refusal) => return Err(failure(refusal)),
        }
    }
}

/// What keeps sessions of other users from knowing of this one: they meet where this user cannot write.
fn unknown_to_others(other_sessions: &OtherSessions, entrance: &Entrance) -> Option<String> {
    let place = other_sessions.meeting_place().filter(|_| !entrance.is_among_all())?.path();
    place.exists().then(|| {
        format!(
            "sessions of other users do not know of this one, since it cannot write to {}: give the folder to this \
             user (chown, or RuntimeDirectory=pericore in a unit)",
            place.display()
        )
    })
}

const fn manners(task: Task<'_>) -> Manners {
    let freeze = if task.args.no_freeze { Freeze::Never } else { Freeze::Cheapest };
    Manners { freeze, take_over: task.args.take_over }
}

fn failure(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::Plan(error) => Failure::usage(error),
        other => Failure::failed(other),
    }
}

/// Warns if an interval ends before all events that take turns have had theirs.
pub fn warn_of_turns(task: Task<'_>, schedule: &Schedule, plan: &Plan) {
    if let (Some(needed), Some(interval)) = (schedule.misses_turns(plan), task.course.interval) {
        notice::warn(format!(
            "-I {interval}: the events take turns, {} rounds in {} ms: those whose turn does not come in an interval have no number \
             there; choose a longer interval, or fewer events",
            plan.rounds(),
            needed * 1e3
        ));
    }
}

/// Warns if counters may wrap twice between two lines.
pub fn warn_of_wraps(task: Task<'_>, schedule: &Schedule, plan: &Plan) {
    if let (Some(safe), Some(interval)) = (schedule.risks_wraps(plan), task.course.interval) {
        notice::warn(format!(
            "-I {interval}: a counter may wrap twice within {safe:.0} s, and such counts are not shown; choose a shorter interval"
        ));
    }
}
