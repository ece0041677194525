//! Latency by footprint: dependent loads of one core, from what its first cache holds to what none does.

use pericore_workload::{Kind, PageSize, Workload};

use super::{BEYOND_CACHES, CurveError, Loaded, finish, steady};
use crate::MachineSpec;

/// What one footprint takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FootprintPoint {
    /// Bytes.
    pub footprint: u64,
    /// Nanoseconds of a dependent load, from the core's issue to its data.
    pub latency: f64,
    /// Lines that memory has read for a load, per cent.
    pub from_memory: f64,
    /// The rates had settled before the loads were measured.
    pub settled: bool,
}

/// The least footprint: half of what the first caches hold.
const LEAST: u64 = 16 << 10;
/// Footprints are multiples of this.
const PAGE: u64 = 1 << PageSize::Small.bits();
/// Loads that are measured.
const MEASURED: u64 = 6000;

/// Footprints to be measured.
#[derive(Debug, Clone)]
pub struct Footprints<'a> {
    spec: &'a MachineSpec,
    memory: Loaded,
    pages: PageSize,
    caches: u64,
    /// Bytes of memory of a socket.
    within: u64,
}

impl<'a> Footprints<'a> {
    /// Footprints in a machine's memory, in pages that each have a frame anywhere in it.
    ///
    /// # Errors
    /// [`CurveError`] if the machine has no such memory.
    pub fn new(spec: &'a MachineSpec, memory: Loaded, pages: PageSize) -> Result<Self, CurveError> {
        let parameters = spec.parameters()?;
        memory.check(&parameters, spec.preset())?;
        Ok(Self { spec, memory, pages, caches: parameters.cache_bytes(), within: parameters.limits().memory })
    }

    /// The footprints, rising: two for each doubling, eight where the caches of a socket become full.
    pub fn sizes(&self) -> Vec<u64> {
        let whole_pages = |bytes: f64| bytes as u64 / PAGE * PAGE;
        let rising = |first: u64, steps: f64| {
            (0_u32..).map(move |step| whole_pages(first as f64 * (f64::from(step) / steps).exp2()))
        };
        let near = self.caches / 4;
        let mut sizes: Vec<u64> = rising(LEAST, 2.0).take_while(|&size| size < near).collect();
        sizes.extend(rising(near, 8.0).take_while(|&size| size <= 2 * self.caches));
        sizes.push(BEYOND_CACHES * self.caches / PAGE * PAGE);
        sizes.retain(|&size| size <= self.within);
        sizes
    }

    /// Measures one of them.
    ///
    /// # Errors
    /// [`CurveError`] if the machine cannot be built.
    pub fn measure(&self, footprint: u64) -> Result<FootprintPoint, CurveError> {
        let workload = self.memory.of_socket_0(Workload {
            requests: MEASURED,
            footprint,
            pages: Some(self.pages),
            within: self.within,
            ..Workload::new(Kind::Chase)
        });
        let (mut machine, settled) = steady(self.spec, workload)?;
        let (from, [read, _]) = (machine.dependent_loads(), machine.memory_lines(self.memory.kind()));
        finish(&mut machine);
        let (to, [all, _]) = (machine.dependent_loads(), machine.memory_lines(self.memory.kind()));
        let loads = (to.loads - from.loads) as f64;
        let seconds = (to.ticks - from.ticks) as f64 / machine.clocks().ticks_per_second() as f64;
        let from_memory = 100.0 * (all - read) as f64 / loads;
        Ok(FootprintPoint { footprint, latency: seconds * 1e9 / loads, from_memory, settled })
    }
}
