//! Reading a workload's text, and the checks that need to know the machine.

use super::nearest::nearest;
use super::{Kind, PageSize, PhaseSetting, PhaseSettings, Workload, WorkloadError, number};

/// What a machine can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory of a socket.
    pub memory: u64,
    /// Hardware threads.
    pub threads: u16,
    /// Sockets.
    pub sockets: u16,
    /// Bytes of the caches of all sockets: the L2s of the cores that take part, and the LLCs.
    pub caches: u64,
    /// There is memory behind CXL links.
    pub expander: bool,
    /// Devices reach each other, and change memory by atomic operations.
    pub peers: bool,
    /// Devices have reads with deadlines.
    pub isochronous: bool,
    /// What the phases of a scenario can set.
    pub phase_settings: PhaseSettings,
}

impl Limits {
    /// True if threads can be placed, and calculate with vectors.
    fn has_placement(&self) -> bool {
        self.phase_settings.settings.contains(&PhaseSetting::Air)
    }
}

#[cfg(test)]
impl Limits {
    /// One socket with everything that can be set.
    pub const fn of_tests() -> Self {
        Self {
            memory: 64 << 30,
            threads: 16,
            sockets: 1,
            caches: 22 << 20,
            expander: false,
            peers: true,
            isochronous: true,
            phase_settings: PhaseSettings::OF_TESTS,
        }
    }
}

/// Requests beyond which a run would outlast anyone's patience: 2^40 are four days at 300 ns each.
const MOST_REQUESTS: u64 = 1 << 40;
const LINE: u64 = 64;
/// Times that the default footprint is at least larger than the caches of the machine.
const BEYOND_CACHES: u64 = 4;
/// Virtual microseconds of a warm-up at most: a second.
const LONGEST_WARM_UP: u64 = 1_000_000;

pub fn parse(text: &str, limits: &Limits) -> Result<Workload, WorkloadError> {
    let (name, options) = text.split_once(':').map_or((text, None), |(name, options)| (name, Some(options)));
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name.trim()).ok_or_else(|| unknown_workload(name))?;
    let mut workload = Workload::new(kind);
    if workload.threads > 1 {
        // As many on every socket.
        workload.threads *= limits.sockets;
    }
    workload.threads = workload.threads.min(limits.threads);
    workload.footprint = workload.footprint.max(BEYOND_CACHES * limits.caches).min(limits.memory);
    let mut seen: Vec<(&'static str, String)> = Vec::new();
    for option in options.into_iter().flat_map(|options| options.split(',')) {
        let (key, value) = option.split_once('=').map_or((option, ""), |(key, value)| (key, value));
        let (key, value) = (key.trim(), value.trim());
        let key = *kind.keys().iter().find(|known| **known == key).ok_or_else(|| unknown_key(kind, key))?;
        if value.is_empty() {
            return Err(WorkloadError::NoValue { key: key.to_owned() });
        }
        if seen.iter().any(|(earlier, _)| *earlier == key) {
            return Err(WorkloadError::Repeated { key, value: value.to_owned() });
        }
        let number = number::parse(value);
        set(
            &mut workload,
            key,
            number.ok_or_else(|| WorkloadError::NotANumber { key, value: value.to_owned() })?,
            value,
            limits,
        )?;
        seen.push((key, value.to_owned()));
    }
    if workload.socket_of_threads().is_some() {
        let most = limits.threads / limits.sockets;
        if seen.iter().all(|(key, _)| *key != "threads") {
            workload.threads = Workload::new(kind).threads.min(most);
        }
        if workload.threads > most {
            return Err(WorkloadError::OutOfRange {
                key: "threads",
                value: workload.threads.to_string(),
                least: 1,
                most: most.into(),
                why: "hardware threads of the socket that is named",
            });
        }
    }
    check_together(&workload, limits, &seen)?;
    Ok(workload)
}

fn set(
    workload: &mut Workload,
    key: &'static str,
    number: u64,
    value: &str,
    limits: &Limits,
) -> Result<(), WorkloadError> {
    let range = |least: u64, most: u64, why: &'static str| {
        if (least..=most).contains(&number) {
            Ok(())
        } else {
            Err(WorkloadError::OutOfRange { key, value: value.to_owned(), least, most, why })
        }
    };
    match key {
        "requests" => {
            range(1, MOST_REQUESTS, "")?;
            workload.requests = number;
        }
        "threads" => {
            range(
                1,
                u64::from(limits.threads),
                "hardware threads of the machine: sockets= and cores= in its name tell how many",
            )?;
            workload.threads = number as u16;
        }
        "footprint" => {
            if number > limits.memory {
                return Err(WorkloadError::FootprintBeyondMemory { value: value.to_owned(), memory: limits.memory });
            }
            range(LINE, limits.memory, "one cache line to the machine's memory")?;
            workload.footprint = number;
        }
        "pages" => {
            let sizes = [PageSize::Small, PageSize::Large];
            let size = sizes.into_iter().find(|size| 1 << size.bits() == number);
            workload.pages = Some(size.ok_or_else(|| WorkloadError::NoSuchPages { value: value.to_owned() })?);
            workload.within = limits.memory;
        }
        "read" => {
            range(0, 100, "per cent of the accesses")?;
            workload.read = number as u8;
        }
        "stride" => {
            range(1, limits.memory, "bytes")?;
            workload.stride = number;
        }
        "remote" => {
            range(0, if limits.sockets > 1 { 100 } else { 0 }, "per cent; more than 0 needs a second socket")?;
            workload.remote = number as u8;
        }
        "cxl" => {
            let most = if limits.expander { 100 } else { 0 };
            range(0, most, "per cent of the accesses; more than 0 needs a machine with CXL memory, such as 8592+")?;
            workload.expander = number as u8;
        }
        "partial" if workload.kind == Kind::DmaWrite && !limits.peers => {
            range(0, 0, "per cent of the writes; more than 0 needs a machine such as 8592+")?;
        }
        "partial" => {
            range(0, 100, "per cent of the stores or writes")?;
            workload.partial = number as u8;
        }
        "allocate" => {
            range(0, 100, "per cent of the writes")?;
            workload.allocate = number as u8;
        }
        "isoc" => {
            let most = if limits.isochronous { 100 } else { 0 };
            range(
                0,
                most,
                "per cent of the devices; more than 0 needs a machine such as nehalem, or e5-2600:isochronous=4",
            )?;
            workload.isochronous = number as u8;
        }
        "cpu" => {
            let most = if limits.has_placement() { u64::from(limits.threads / limits.sockets) - 1 } else { 0 };
            range(0, most, "hardware threads of a socket; more than 0 needs a machine such as 8592+")?;
            workload.cpu = number as u16;
        }
        "vectors" => {
            let most = if limits.has_placement() { 512 } else { 0 };
            range(0, most, "bits, 256 or 512; more than 0 needs a machine such as 8592+")?;
            if ![0, 256, 512].contains(&number) {
                return Err(WorkloadError::OutOfRange {
                    key,
                    value: value.to_owned(),
                    least: 256,
                    most: 512,
                    why: "bits, 256 or 512",
                });
            }
            workload.vectors = number as u16;
        }
        "peer" | "atomic" => {
            let most = if limits.peers { 100 } else { 0 };
            range(0, most, "per cent of the accesses; more than 0 needs a machine such as 8592+")?;
            *(if key == "peer" { &mut workload.peer } else { &mut workload.atomic }) = number as u8;
        }
        "socket" | "memory" => {
            range(0, u64::from(limits.sockets) - 1, "the machine's sockets, numbered from 0")?;
            *(if key == "socket" { &mut workload.socket } else { &mut workload.memory }) = Some(number as u8);
        }
        "warmup" => {
            range(0, LONGEST_WARM_UP, "virtual microseconds")?;
            workload.warm_up = Some(number);
        }
        _ => workload.seed = number,
    }
    Ok(())
}

/// Checks of one value against another, once all are known.
fn check_together(workload: &Workload, limits: &Limits, seen: &[(&'static str, String)]) -> Result<(), WorkloadError> {
    let given = |key: &str, default: u64| {
        seen.iter().find(|(k, _)| *k == key).map_or_else(|| default.to_string(), |(_, value)| value.clone())
    };
    let arrays = workload.arrays();
    let least = LINE * u64::from(workload.threads) * arrays;
    if workload.footprint < least {
        let value = given("footprint", workload.footprint);
        let why = "every thread needs a line of its own, copy two, and triad four";
        return Err(WorkloadError::OutOfRange { key: "footprint", value, least, most: limits.memory, why });
    }
    if workload.footprint > limits.memory {
        let value = given("footprint", workload.footprint);
        return Err(WorkloadError::FootprintBeyondMemory { value, memory: limits.memory });
    }
    if let Some(tables) = workload.page_tables()
        && workload.footprint > tables.start()
    {
        let (value, why) = (given("footprint", workload.footprint), "bytes of memory without the page tables");
        return Err(WorkloadError::OutOfRange { key: "footprint", value, least, most: tables.start(), why });
    }
    if workload.memory.is_some() {
        if workload.remote > 0 {
            let why = "memory names the socket of all accesses, remote a share of them elsewhere";
            return Err(WorkloadError::Exclude { key: "memory", other: "remote", why });
        }
        if workload.expander > 0 {
            let why = "only a socket's own threads and devices reach its CXL memory";
            return Err(WorkloadError::Exclude { key: "memory", other: "cxl", why });
        }
    }
    let share = workload.footprint / u64::from(workload.threads) / arrays / LINE * LINE;
    if workload.stride > share {
        let value = given("stride", workload.stride);
        let why = "a thread's share of the footprint";
        return Err(WorkloadError::OutOfRange { key: "stride", value, least: 1, most: share, why });
    }
    Ok(())
}

fn unknown_workload(name: &str) -> WorkloadError {
    let names = Kind::ALL.map(Kind::name);
    WorkloadError::UnknownWorkload { name: name.to_owned(), nearest: nearest(name, &names), known: names.join(", ") }
}

fn unknown_key(kind: Kind, key: &str) -> WorkloadError {
    WorkloadError::UnknownKey {
        workload: kind.name(),
        key: key.to_owned(),
        nearest: nearest(key, kind.keys()),
        known: kind.keys().join(", "),
    }
}

#[cfg(test)]
mod tests;
