//! A run of which only windows are modelled in detail: what was counted in them, and what that says of all of it.

mod block;
mod estimate;
mod extent;
mod numbers;
mod pace;
mod program;
mod regression;
mod stratum;
#[cfg(test)]
mod tests;
mod workload;

use pericore_machine::Machine;
use pericore_observe::run::Passed;
use pericore_observe::session::Sample;

pub use estimate::{Estimate, TooFewWindows};
pub use extent::Extent;
pub use program::ProgramWindows;
pub use workload::WorkloadWindows;

/// What has been counted in windows so far.
#[derive(Debug)]
pub enum WindowCounts {
    /// Of a program.
    Program(Box<ProgramWindows>),
    /// Of a generated workload.
    Workload(WorkloadWindows),
}

impl WindowCounts {
    /// What the driver is to do now that the machine has come so far: to take a sample that goes to
    /// [`WindowCounts::take`], and behind a window to let other events have their turn.
    pub fn look(&self, machine: &Machine) -> Passed {
        match self {
            Self::Program(windows) => windows.look(machine),
            Self::Workload(windows) => windows.look(machine),
        }
    }

    /// A sample that ends where the machine is now. It is kept if it is of what is counted.
    pub fn take(&mut self, machine: &Machine, sample: &Sample, truth: Option<&Sample>) {
        match self {
            Self::Program(windows) => windows.take(machine, sample, truth),
            Self::Workload(windows) => windows.take(machine, sample, truth),
        }
    }

    /// What they say of all that the machine has done and passed over.
    ///
    /// # Errors
    /// There are too few.
    pub fn estimate(&self, machine: &Machine) -> Result<Estimate, TooFewWindows> {
        match self {
            Self::Program(windows) => windows.estimate(machine),
            Self::Workload(windows) => windows.estimate(),
        }
    }

    /// What they say by now, if it is time to see whether that is enough for the error that is requested. What is found
    /// goes to [`WindowCounts::set_pace`].
    pub fn due(&self, machine: &Machine) -> Option<Estimate> {
        let is_due = match self {
            Self::Program(windows) => windows.is_due(),
            Self::Workload(windows) => windows.is_due(),
        };
        is_due.then(|| self.estimate(machine).ok())?
    }

    /// Half of the widest interval is such a share of its number by now; none if no number has an interval. The windows
    /// of a program lie accordingly from now on.
    pub fn set_pace(&mut self, widest: Option<f64>, machine: &mut Machine) {
        match self {
            Self::Program(windows) => {
                windows.set_pace(widest, machine);
                windows.one_in().into_iter().for_each(|one_in| machine.set_density(one_in));
            }
            Self::Workload(windows) => windows.set_pace(widest),
        }
    }

    /// How much is done of what is to be counted at the most, in what; none of a program.
    pub fn progress(&self, machine: &Machine) -> Option<(u64, u64, &'static str)> {
        match self {
            Self::Program(_) => None,
            Self::Workload(windows) => Some(windows.progress(machine)),
        }
    }
}
