//! What a run would do: register accesses, and counters that the kernel is asked for.

use pericore_observe::kernel::KernelPlan;
use pericore_observe::plan::Plan;

/// The plans of a run, one for each way.
#[derive(Debug)]
pub struct Planned {
    /// By registers.
    pub registers: Option<Plan>,
    /// Through the kernel.
    pub kernel: Option<KernelPlan>,
    /// Which way, and why; nothing on a software machine.
    pub reasons: Vec<String>,
}
