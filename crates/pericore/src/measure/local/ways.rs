//! `--through`: which units are counted through the kernel's driver, and which by their registers.

use pericore_catalog::kernel::is_driven_alone;
use pericore_catalog::{Family, Unit, kernel};
use pericore_observe::discover::{Socket, Topology};
use pericore_observe::kernel::{KernelError, KernelPlan, KernelPmus, LinuxPerf};
use pericore_observe::linux::Host;
use pericore_observe::plan::Occupied;
use pericore_observe::selection::{Selection, SelectionPart};
use pericore_observe::session::Seen;

use crate::failure::Failure;
use crate::measure::through::ThroughArg;

/// What the choice depends on, beside the machine.
#[derive(Debug, Clone, Copy)]
pub struct Constraints<'a> {
    /// What the user chose.
    pub through: ThroughArg,
    /// An option that only makes sense where registers are written, if one is given.
    pub registers: Option<&'static str>,
    /// Sessions of ours that count by registers, as far as they are known.
    pub sessions: &'a Seen,
}

/// Which events are counted in which way.
#[derive(Debug)]
pub struct ChosenWays {
    /// What the kernel counts, and the index that each of its events has in the whole selection.
    pub kernel: Option<(KernelPlan, Vec<usize>)>,
    /// What registers count.
    pub registers: Option<SelectionPart>,
    /// Which way, and why: a line for each unit.
    pub reasons: Vec<String>,
    /// Why the kernel does not count what registers are to count, if that was not the user's choice.
    kernel_refusal: Option<String>,
}

impl ChosenWays {
    /// Chooses the ways of a selection's units. Opens no register.
    ///
    /// # Errors
    /// With `--through kernel`, what stands in its way.
    pub fn choose(limits: &Constraints<'_>, host: &Host, selection: &Selection) -> Result<Self, Failure> {
        if kernel::counts_alone(selection.family) {
            return Self::of_kernel_alone(limits, host, selection);
        }
        let chosen = match limits.through {
            ThroughArg::Kernel => return Self::through_kernel(limits, host, selection),
            ThroughArg::Registers => Some("--through registers".to_owned()),
            ThroughArg::Auto => limits.registers.map(|option| format!("{option} is for registers")).or_else(|| {
                host.is_stood_in_for().then(|| "a program stands in for this machine's registers".to_owned())
            }),
        };
        match (chosen, driven_alone(selection)) {
            (None, _) => {}
            (Some(why), None) => return Ok(Self::by_registers(selection, &why)),
            (Some(why), Some(unit)) => {
                let name = unit.name;
                return Err(Failure::usage(format!(
                    "{name} is counted through the kernel alone ({why}); leave out one"
                )));
            }
        }
        match KernelPmus::of(host) {
            Ok(pmus) => Self::auto(&pmus, limits, host, selection),
            Err(why) => Self::refused(selection, why),
        }
    }

    fn auto(pmus: &KernelPmus, limits: &Constraints<'_>, host: &Host, selection: &Selection) -> Result<Self, Failure> {
        let mut reasons = Vec::new();
        let mut refusals = Vec::new();
        let mut counted: Vec<&'static str> = Vec::new();
        for unit in selection.family.units.iter().filter(|unit| selection.uses(unit)) {
            let part = selection.part(|other| other.name == unit.name).selection;
            let prepared = pmus.prepare(part);
            if let (Err(why), true) = (&prepared, is_driven_alone(unit)) {
                return Err(failure(why.clone(), selection.family));
            }
            match prepared.map_err(|error| error.to_string()).and_then(|plan| free_of_sessions(&plan, limits.sessions))
            {
                Ok(()) => {
                    counted.push(unit.name);
                    reasons.push(format!("{}: through the kernel, whose driver counts all that is wanted", unit.name));
                }
                Err(why) => {
                    reasons.push(format!("{}: by registers, because the kernel cannot: {why}", unit.name));
                    refusals.push(why);
                }
            }
        }
        if counted.is_empty() {
            let kernel_refusal = refusals.into_iter().next();
            return Ok(Self { kernel: None, registers: Some(selection.part(|_| true)), reasons, kernel_refusal });
        }
        let is_kernels = |unit: &Unit| counted.contains(&unit.name);
        let of_kernel = selection.part(is_kernels);
        let plan = pmus.prepare(of_kernel.selection);
        match plan.and_then(|plan| plan.probe(&mut LinuxPerf, host.root()).map(|()| plan)) {
            Ok(plan) => {
                let rest = selection.part(|unit| !is_kernels(unit));
                let registers = Some(rest).filter(|rest| !rest.events.is_empty());
                let kernel_refusal = refusals.into_iter().next();
                Ok(Self { kernel: Some((plan, of_kernel.events)), registers, reasons, kernel_refusal })
            }
            Err(why) => Self::refused(selection, why),
        }
    }

    /// What the catalogue has no registers of.
    fn of_kernel_alone(limits: &Constraints<'_>, host: &Host, selection: &Selection) -> Result<Self, Failure> {
        let by_registers = (limits.through == ThroughArg::Registers).then_some("--through registers");
        match by_registers.or(limits.registers) {
            Some(option) => Err(Failure::usage(format!(
                "{option} is for families whose registers pericore knows; {} is counted through the kernel's driver: \
                 leave it out",
                selection.family.name
            ))),
            None => Self::through_kernel(limits, host, selection),
        }
    }

    fn through_kernel(limits: &Constraints<'_>, host: &Host, selection: &Selection) -> Result<Self, Failure> {
        if let Some(option) = limits.registers {
            return Err(Failure::usage(format!(
                "{option} applies to counters reached by registers; leave it out, or use --through registers"
            )));
        }
        if host.is_stood_in_for() {
            return Err(Failure::usage(
                "--through kernel: a program stands in for this machine's registers, and the kernel's counters are \
                 another machine's; take --through registers",
            ));
        }
        let failure = |error| failure(error, selection.family);
        let pmus = KernelPmus::of(host).map_err(failure)?;
        let plan = pmus.prepare(selection.clone()).map_err(failure)?;
        free_of_sessions(&plan, limits.sessions).map_err(Failure::failed)?;
        let units = selection.family.units.iter().filter(|unit| selection.uses(unit));
        let why = match limits.through {
            ThroughArg::Kernel => "--through kernel",
            _ => "pericore does not know this family's registers",
        };
        let reasons = units.map(|unit| format!("{}: through the kernel ({why})", unit.name)).collect();
        let events = (0..selection.events.len()).collect();
        Ok(Self { kernel: Some((plan, events)), registers: None, reasons, kernel_refusal: None })
    }

    /// Everything by registers, because the kernel does not count; what has none is not counted at all.
    fn refused(selection: &Selection, why: KernelError) -> Result<Self, Failure> {
        if driven_alone(selection).is_some() {
            return Err(failure(why, selection.family));
        }
        let why = why.to_string();
        Ok(Self { kernel_refusal: Some(why.clone()), ..Self::by_registers(selection, &why) })
    }

    fn by_registers(selection: &Selection, why: &str) -> Self {
        let reasons = vec![format!("by registers: {why}")];
        Self { kernel: None, registers: Some(selection.part(|_| true)), reasons, kernel_refusal: None }
    }

    /// A failure of the way by registers, and why the other one was not taken.
    pub fn beside(&self, failure: Failure) -> Failure {
        match &self.kernel_refusal {
            Some(why) => failure.with_advice(&format!("through the kernel: {why}")),
            None => failure,
        }
    }
}

/// A unit of the selection that only the kernel's driver counts.
fn driven_alone(selection: &Selection) -> Option<&'static Unit> {
    selection.events.iter().map(|event| event.unit).find(|unit| is_driven_alone(unit))
}

/// Why the kernel does not count, as a failure.
pub fn failure(error: KernelError, family: &Family) -> Failure {
    match error {
        KernelError::Plan(error) => Failure::usage(error),
        error @ (KernelError::Inexpressible { .. } | KernelError::Refused { .. }) if kernel::counts_alone(family) => {
            Failure::usage(error)
        }
        error @ (KernelError::Inexpressible { .. } | KernelError::Refused { .. }) => {
            Failure::usage(format!("{error}, or count it with --through registers"))
        }
        error => Failure::failed(error),
    }
}

/// Looks whether sessions of ours count by registers where the kernel is to: its driver does not know of them, and
/// would take their counters.
fn free_of_sessions(plan: &KernelPlan, seen: &Seen) -> Result<(), String> {
    let sockets = plan.plan.sockets.iter().map(|part| Socket::new(part.socket, 0, None)).collect();
    let topology = Topology { family: plan.plan.selection.family, sockets };
    for session in &seen.sessions {
        let mut occupied = Occupied::default();
        session.claim(&topology, &mut occupied);
        let mut instances =
            plan.plan.sockets.iter().flat_map(|part| part.instances.iter().map(move |i| (part.socket, i)));
        if let Some((_, instance)) = instances.find(|(socket, i)| occupied.of(*socket, i.unit, i.number).any()) {
            return Err(format!(
                "process {} of pericore counts {} by registers, unknown to the kernel's driver; wait until it ends",
                session.pid,
                instance.name()
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
