//! Bandwidth-latency curves, as the Mess benchmark and the Memory Latency Checker measure them: the cores of a socket
//! load memory at a set rate and share of reads, while one thread's dependent loads tell the latency.

mod cores;
mod footprints;

pub use cores::{ByCores, CoresPoint, numbers_of_cores};
pub use footprints::{FootprintPoint, Footprints};

use crate::{BuildError, Machine, MachineSpec, MemoryKind, Parameters};
use pericore_workload::{Kind, Scenario, Workload};

/// The memory that is loaded, always from socket 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loaded {
    /// The socket's own.
    Local,
    /// The next socket's.
    Remote,
    /// That behind the socket's CXL links.
    Cxl,
}

impl Loaded {
    /// Checks that a machine has the memory.
    fn check(self, parameters: &Parameters, preset: &'static str) -> Result<(), CurveError> {
        let limits = parameters.limits();
        match self {
            Self::Remote if limits.sockets < 2 => Err(CurveError::OneSocket { preset }),
            Self::Cxl if !limits.expander => Err(CurveError::NoCxl { preset }),
            _ => Ok(()),
        }
    }

    /// A workload of socket 0 on this memory.
    fn of_socket_0(self, workload: Workload) -> Workload {
        Workload {
            socket: Some(0),
            memory: (self == Self::Remote).then_some(1),
            expander: if self == Self::Cxl { 100 } else { 0 },
            ..workload
        }
    }

    const fn kind(self) -> MemoryKind {
        if matches!(self, Self::Cxl) { MemoryKind::Expander } else { MemoryKind::Dram }
    }
}

/// Why there is no curve.
#[derive(Debug, thiserror::Error)]
pub enum CurveError {
    /// The machine cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// It has one socket.
    #[error("{preset} has one socket: name it with sockets=2 to load the memory of another")]
    OneSocket {
        /// Preset.
        preset: &'static str,
    },
    /// It has no such memory.
    #[error("{preset} has no CXL memory: give --memory local or remote, or a machine with it, such as 8568")]
    NoCxl {
        /// Preset.
        preset: &'static str,
    },
    /// Stores bring a read each.
    #[error(
        "reads are {read} % of the transfers: give 50 to 100, since a line that is stored to is read first: each \
         write has its read"
    )]
    Read {
        /// Per cent.
        read: u8,
    },
    /// The dependent loads do not come back.
    #[error("the dependent loads of {preset} do not end: this is a defect of the model")]
    Stuck {
        /// Preset.
        preset: &'static str,
    },
}

/// Checks a share of reads among the transfers of memory, per cent.
///
/// # Errors
/// [`CurveError::Read`] for one that no loads and stores make.
pub fn check_read(read: u8) -> Result<(), CurveError> {
    if (50..=100).contains(&read) { Ok(()) } else { Err(CurveError::Read { read }) }
}

/// A machine whose caches are warm and which is about to make a workload's requests; and whether its rates had settled.
fn steady(spec: &MachineSpec, workload: Workload) -> Result<(Machine, bool), CurveError> {
    let scenario = Scenario::from(workload).warmed();
    let mut machine = Machine::for_scenario(spec, &scenario)?.without_truth();
    let settled = machine.warm_up(&scenario).is_some_and(|warm_up| warm_up.settled);
    Ok((machine, settled))
}

/// Makes all requests.
fn finish(machine: &mut Machine) {
    while !machine.finished() {
        machine.run_for(machine.clocks().ticks_per_second() / 1_000_000);
    }
}

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Bytes per second that the memory reads and writes.
    pub bandwidth: f64,
    /// Reads among these transfers, per cent.
    pub read: f64,
    /// Nanoseconds of a dependent load, from the core's issue to its data.
    pub latency: f64,
    /// The rates had settled before the window was measured.
    pub settled: bool,
}

/// Loads, as shares of the greatest bandwidth, between the unloaded machine and that without a pause between accesses.
pub const LOADS: [f64; 11] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.05];
/// Dependent loads of a window while the machine settles, and of the one that is measured; of the unloaded machine
/// they cost little.
const TO_SETTLE: u64 = 150;
const MEASURED: u64 = 800;
const UNLOADED: u64 = 4000;
/// Accesses of the window that is measured, at least: as many as the caches have lines, but no more than this. What is
/// written back was read a cache's size before, and comes in bursts where walks meet.
const MOST_ACCESSES: u64 = 150_000;
/// Rates have settled when bandwidth and latency of a window differ from those of the window before by no more than
/// these shares.
const SAME_BANDWIDTH: f64 = 0.03;
const SAME_LATENCY: f64 = 0.06;
/// Points of a hundred between the share of reads that was asked for and that which memory saw.
const SAME_SHARE: f64 = 5.0;
/// Windows after which a machine that never settles is measured all the same.
const MOST_WINDOWS: usize = 12;
/// Times that the footprint is larger than the caches.
const BEYOND_CACHES: u64 = 4;

/// A curve to be measured.
#[derive(Debug, Clone)]
pub struct Curve<'a> {
    spec: &'a MachineSpec,
    memory: Loaded,
    read: u8,
    cores: u16,
    footprint: u64,
    /// Lines that the caches hold.
    lines: u64,
}

impl<'a> Curve<'a> {
    /// The curve of a machine's memory with `read` per cent of reads among the transfers.
    ///
    /// # Errors
    /// [`CurveError`] if the machine has no such memory, or cannot be loaded so.
    pub fn new(spec: &'a MachineSpec, memory: Loaded, read: u8) -> Result<Self, CurveError> {
        let (parameters, preset) = (spec.parameters()?, spec.preset());
        memory.check(&parameters, preset)?;
        check_read(read)?;
        let footprint = (BEYOND_CACHES * parameters.cache_bytes()).min(parameters.limits().memory);
        let (cores, lines) = (parameters.active_cores(), parameters.cache_bytes() / 64);
        Ok(Self { spec, memory, read, cores, footprint, lines })
    }

    /// Threads, one on each core of a socket, of which one makes dependent loads.
    pub const fn threads(&self) -> u16 {
        self.cores
    }

    /// Bytes that all threads reach together.
    pub const fn footprint(&self) -> u64 {
        self.footprint
    }

    /// Measures the curve in rising load, the unloaded machine first.
    ///
    /// # Errors
    /// [`CurveError`] if the machine cannot be built.
    pub fn measure(&self) -> Result<Vec<Point>, CurveError> {
        let unloaded = self.point(1, 0, self.read)?;
        if self.cores < 2 {
            return Ok(vec![unloaded]);
        }
        let mut most = self.point(self.cores, 0, self.read)?;
        let read = self.accesses_that_read(most.read);
        if read != self.read {
            most = self.point(self.cores, 0, read)?;
        }
        // Transfers of an access: a store's line is read and written.
        let bytes = 64.0 * 100.0 / f64::from(self.read);
        let mut points = vec![unloaded];
        for load in LOADS {
            let rate = load * most.bandwidth / f64::from(self.cores - 1);
            points.push(self.point(self.cores, (bytes / rate * 1e12) as u64, read)?);
        }
        points.push(most);
        Ok(points)
    }

    /// What the generator of accesses is told, so that memory sees the share of reads that is asked for, when it saw
    /// `measured` per cent with one write for each store: a store to another socket's memory writes more than its
    /// line, where the directory lies in memory.
    fn accesses_that_read(&self, measured: f64) -> u8 {
        let read = f64::from(self.read);
        if self.read == 100 || (measured - read).abs() <= SAME_SHARE {
            return self.read;
        }
        let writes = |read: f64| (100.0 - read) / read;
        let stores = writes(read) * writes(read) / writes(measured);
        (100.0 / (1.0 + stores)).round() as u8
    }

    /// One point: so many threads, all but the first with so many picoseconds between accesses.
    fn point(&self, threads: u16, delay: u64, read: u8) -> Result<Point, CurveError> {
        let workload = self.memory.of_socket_0(Workload {
            requests: 1 << 60,
            threads,
            footprint: self.footprint,
            read,
            delay,
            warm: threads > 1,
            ..Workload::new(Kind::Loaded)
        });
        let mut machine = Machine::for_scenario(self.spec, &Scenario::from(workload))?.without_truth();
        if threads == 1 {
            self.window(&mut machine, TO_SETTLE, 0)?;
            return Ok(Point { settled: true, ..self.window(&mut machine, UNLOADED, 0)? });
        }
        let mut before = self.window(&mut machine, TO_SETTLE, 0)?;
        let mut settled = false;
        for _ in 0..MOST_WINDOWS {
            let window = self.window(&mut machine, TO_SETTLE, 0)?;
            let near = |a: f64, b: f64, share: f64| (a - b).abs() <= share * b;
            settled = near(window.bandwidth, before.bandwidth, SAME_BANDWIDTH)
                && near(window.latency, before.latency, SAME_LATENCY);
            if settled {
                break;
            }
            before = window;
        }
        Ok(Point { settled, ..self.window(&mut machine, MEASURED, self.lines.min(MOST_ACCESSES))? })
    }

    /// Runs until so many dependent loads are over, and so many accesses of all threads.
    fn window(&self, machine: &mut Machine, loads: u64, accesses: u64) -> Result<Point, CurveError> {
        let kind = self.memory.kind();
        let second = machine.clocks().ticks_per_second();
        // Looked at each microsecond; no load waits for a hundred of them.
        let (step, most) = (second / 1_000_000, (loads + accesses) * 100);
        let done = machine.progress().done + accesses;
        let ([r0, w0], began, from) = (machine.memory_lines(kind), machine.now(), machine.dependent_loads());
        let mut steps = 0;
        while machine.dependent_loads().loads < from.loads + loads || machine.progress().done < done {
            machine.run_for(step);
            steps += 1;
            if steps > most {
                return Err(CurveError::Stuck { preset: self.spec.preset() });
            }
        }
        let ([r1, w1], to) = (machine.memory_lines(kind), machine.dependent_loads());
        let (reads, writes) = ((r1 - r0) as f64, (w1 - w0) as f64);
        let seconds = (machine.now() - began) as f64 / second as f64;
        let waited = (to.ticks - from.ticks) as f64 / (to.loads - from.loads) as f64;
        Ok(Point {
            bandwidth: (reads + writes) * 64.0 / seconds,
            read: 100.0 * reads / (reads + writes),
            latency: waited * 1e9 / second as f64,
            settled: false,
        })
    }
}
