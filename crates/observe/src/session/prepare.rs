//! From a selection to a plan that gets on with everybody else on the machine.

use pericore_registers::RegisterSpace;

use super::SessionError;
use super::neighbours::{Neighbour, OtherSessions};
use super::on_disk::JournalError;
use super::survey::{check_free, survey, survey_sockets};
use crate::discover::Topology;
use crate::plan::{Freeze, InstancePlan, Occupied, Plan, PlanError};
use crate::selection::Selection;

/// How a session is to get on with others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Manners {
    /// Whether counters are stopped for reading.
    pub freeze: Freeze,
    /// Use counters even if another tool has them running; those of sessions of ours never are.
    pub take_over: bool,
}

/// Why there is no plan now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The selection does not fit, whoever else counts.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The user lacks rights, or another tool counts.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The journals of others cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Sessions of ours are in the way.
    #[error(
        "pericore is counting there already, in process {}: {why}; add --wait to begin when it has ended, or run both with --no-freeze to share units",
        pids(.neighbours)
    )]
    Busy {
        /// Those that run.
        neighbours: Vec<Neighbour>,
        /// What they are in the way of.
        why: String,
    },
    /// A session of ours was killed and nothing was put back.
    #[error(
        "process {pid} of pericore was killed while it was counting here; put its registers back with `pericore restore --journal {path}`, then try again"
    )]
    Left {
        /// The process.
        pid: u32,
        /// Its journal.
        path: String,
    },
    /// The same of a session of another user, of which a note tells.
    #[error(
        "process {pid} of pericore, of user {user}, was killed while it was counting here; that user puts its \
         registers back with `pericore restore` (a service: start it again), which also removes {path}"
    )]
    LeftByOther {
        /// The process.
        pid: u32,
        /// The user.
        user: u32,
        /// The note.
        path: String,
    },
}

fn pids(neighbours: &[Neighbour]) -> String {
    neighbours.iter().map(|neighbour| neighbour.pid.to_string()).collect::<Vec<_>>().join(", ")
}

/// The plan for a selection beside everybody who counts on the machine. Only reads. With those of others, [`OtherSessions::enter`] must be held from
/// before this until the session has started.
///
/// # Errors
/// [`Refusal`]; of [`Refusal::Busy`] the caller may wait for the neighbours' end and try again.
pub fn prepare(
    space: &mut impl RegisterSpace,
    topology: &Topology,
    selection: Selection,
    manners: Manners,
    other_sessions: Option<&OtherSessions>,
) -> Result<Plan, Refusal> {
    let neighbours = other_sessions.map_or_else(|| Ok(Vec::new()), OtherSessions::others)?;
    if let Some(left) = neighbours.iter().find(|neighbour| !neighbour.runs) {
        let (pid, path) = (left.pid, left.path.display().to_string());
        return Err(match left.user {
            None => Refusal::Left { pid, path },
            Some(user) => Refusal::LeftByOther { pid, user, path },
        });
    }
    // What the selection comes to with nobody else: what is wrong with it alone is no neighbour's fault.
    let alone = Plan::with_freeze(topology, selection, &Occupied::default(), manners.freeze)?;
    let mut occupied = Occupied::default();
    if !manners.take_over {
        occupied.merge(&survey_sockets(space, topology)?);
        occupied.merge(&survey(space, &alone)?);
    }
    neighbours.iter().for_each(|neighbour| neighbour.claim(topology, &mut occupied));
    let busy = |why: String| Refusal::Busy { neighbours: neighbours.clone(), why };
    let plan = match Plan::with_freeze(topology, alone.selection, &occupied, manners.freeze) {
        Ok(plan) => plan,
        Err(error) if neighbours.is_empty() => return Err(error.into()),
        Err(error) => return Err(busy(error.to_string())),
    };
    // A fixed counter needs no choice, but would stand with its unit.
    let whole = |instance: &&InstancePlan| {
        instance.taken.is_whole() && instance.counters.iter().any(|counter| counter.control.is_some())
    };
    if let Some(instance) = plan.instances().find(whole) {
        return Err(busy(format!("{} is in use as a whole", instance.name())));
    }
    if !manners.take_over {
        match check_free(space, &plan) {
            Ok(()) => {}
            Err(SessionError::InUse { counters }) if !neighbours.is_empty() => return Err(busy(counters.join(", "))),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(plan)
}
