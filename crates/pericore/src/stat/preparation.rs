//! From a selection to a plan for the machine at hand: find what answers, leave alone what others use.

use std::io::Write;

use pericore_observe::discover::{Cpu, discover};
use pericore_observe::plan::Plan;
use pericore_observe::selection::Selection;
use pericore_observe::session::survey;
use pericore_registers::RegisterSpace;

use super::{StatArgs, forecast};
use crate::failure::Failure;

/// The plan for a selection on the machine behind `space`, beside the counters that others have running, unless these are to be taken.
///
/// # Errors
/// Registers that cannot be reached, or events that cannot be counted here.
pub fn plan(
    args: &StatArgs,
    space: &mut impl RegisterSpace,
    cpus: &[Cpu],
    selection: Selection,
) -> Result<Plan, Failure> {
    let used: Vec<&str> = selection.events.iter().map(|event| event.unit.name).collect();
    let topology =
        discover(space, selection.family, cpus, |unit| used.contains(&unit.name)).map_err(Failure::failed)?;
    let plan = Plan::new(&topology, selection).map_err(Failure::usage)?;
    if args.take_over {
        return Ok(plan);
    }
    let occupied = survey(space, &plan).map_err(Failure::failed)?;
    if occupied.is_empty() {
        return Ok(plan);
    }
    Plan::beside(&topology, plan.selection, &occupied).map_err(Failure::usage)
}

/// Prints what a run would do or cost, if that is asked for instead of the run; true if it was.
///
/// # Errors
/// An output that cannot be written.
pub fn forecast(args: &StatArgs, plan: &Plan) -> Result<bool, Failure> {
    if !args.is_forecast() {
        return Ok(false);
    }
    let mut out = args.open_output()?;
    if args.dry_run {
        forecast::operations(plan, &mut out)?;
    } else {
        forecast::cost(plan, &mut out)?;
    }
    out.flush()?;
    Ok(true)
}

/// Warns if counters may wrap twice between two lines.
pub fn warn_of_wraps(args: &StatArgs, plan: &Plan) {
    if let Some(interval) = args.interval.filter(|interval| interval / 1e3 > plan.safe_interval()) {
        eprintln!(
            "pericore: -I {interval}: a counter may wrap twice within {:.0} s: such counts will not be shown; choose a shorter interval",
            plan.safe_interval()
        );
    }
}
