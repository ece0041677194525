//! Bandwidth by cores: so many of a socket's read and write memory in order, as fast as they can.

use pericore_workload::{Kind, Workload};

use super::{BEYOND_CACHES, CurveError, Loaded, check_read, finish, steady};
use crate::MachineSpec;

/// What so many cores move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoresPoint {
    /// Cores, each with one thread.
    pub cores: u16,
    /// Bytes per second that the memory reads and writes.
    pub bandwidth: f64,
    /// Reads among these transfers, per cent.
    pub read: f64,
    /// The rates had settled before the window was measured.
    pub settled: bool,
}

/// Accesses that are measured, and those of each core.
const MEASURED: u64 = 60_000;
const OF_EACH: u64 = 6000;

/// Of so many cores powers of two, the middle between them, and all.
pub fn numbers_of_cores(cores: u16) -> Vec<u16> {
    let mut numbers: Vec<u16> = (0..15).map(|power| 1 << power).flat_map(|two: u16| [two, two / 2 * 3]).collect();
    numbers.push(cores);
    numbers.retain(|number| (1..=cores).contains(number));
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Numbers of cores to be measured.
#[derive(Debug, Clone)]
pub struct ByCores<'a> {
    spec: &'a MachineSpec,
    memory: Loaded,
    read: u8,
    cores: u16,
    footprint: u64,
}

impl<'a> ByCores<'a> {
    /// Cores of socket 0 that load a machine's memory with `read` per cent of reads among the transfers.
    ///
    /// # Errors
    /// [`CurveError`] if the machine has no such memory, or cannot be loaded so.
    pub fn new(spec: &'a MachineSpec, memory: Loaded, read: u8) -> Result<Self, CurveError> {
        let parameters = spec.parameters()?;
        memory.check(&parameters, spec.preset())?;
        check_read(read)?;
        let footprint = (BEYOND_CACHES * parameters.cache_bytes()).min(parameters.limits().memory);
        Ok(Self { spec, memory, read, cores: parameters.active_cores(), footprint })
    }

    /// The numbers of cores.
    pub fn numbers(&self) -> Vec<u16> {
        numbers_of_cores(self.cores)
    }

    /// Bytes that all threads reach together.
    pub const fn footprint(&self) -> u64 {
        self.footprint
    }

    /// Measures so many cores.
    ///
    /// # Errors
    /// [`CurveError`] if the machine cannot be built.
    pub fn measure(&self, cores: u16) -> Result<CoresPoint, CurveError> {
        // A store's line is read and written: of a hundred accesses with `s` stores memory sees a hundred reads.
        let stores = 100.0 * f64::from(100 - self.read) / f64::from(self.read);
        let workload = self.memory.of_socket_0(Workload {
            requests: MEASURED + OF_EACH * u64::from(cores),
            threads: cores,
            footprint: self.footprint,
            read: 100 - stores.round() as u8,
            ..Workload::new(Kind::Stream)
        });
        let (mut machine, settled) = steady(self.spec, workload)?;
        let (began, from) = (machine.now(), machine.memory_lines(self.memory.kind()));
        finish(&mut machine);
        let to = machine.memory_lines(self.memory.kind());
        let seconds = (machine.now() - began) as f64 / machine.clocks().ticks_per_second() as f64;
        let [reads, writes] = [to[0] - from[0], to[1] - from[1]].map(|lines| lines as f64);
        let (all, read) = (reads + writes, 100.0 * reads / (reads + writes));
        Ok(CoresPoint { cores, bandwidth: all * 64.0 / seconds, read, settled })
    }
}
