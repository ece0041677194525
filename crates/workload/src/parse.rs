//! Reading a workload's text, and the checks that need to know the machine.

use super::nearest::nearest;
use super::{Kind, PhaseSetting, PhaseSettings, Workload, WorkloadError, number};

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
            range(0, most, "per cent of the devices; more than 0 needs a machine such as nehalem")?;
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
    if workload.memory.is_some() {
        if workload.remote > 0 {
            let why = "memory names the socket of all accesses, remote a share of them elsewhere";
            return Err(WorkloadError::Exclude { key: "memory", other: "remote", why });
        }
        if workload.expander > 0 {
            let why = "devices reach the CXL memory of their own socket only";
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
mod tests {
    use super::{Limits, parse};
    use crate::{Kind, PhaseSetting, PhaseSettings, Workload, WorkloadError};

    const LIMITS: Limits = Limits::of_tests();

    fn message(text: &str) -> String {
        parse(text, &LIMITS).unwrap_err().to_string()
    }

    #[test]
    fn a_name_alone_takes_the_defaults() {
        for kind in Kind::ALL {
            assert_eq!(parse(kind.name(), &LIMITS), Ok(Workload::new(kind)));
        }
    }

    /// Only the Xeon 5500's devices have deadlines: elsewhere the key would change nothing.
    #[test]
    fn what_a_machine_lacks_is_refused() {
        let without = Limits { isochronous: false, peers: false, ..LIMITS };
        for (text, words) in
            [("dma-read:isoc=50", "needs a machine such as nehalem"), ("dma-read:peer=5", "such as 8592+")]
        {
            assert!(parse(text, &LIMITS).is_ok(), "{text}");
            let message = parse(text, &without).unwrap_err().to_string();
            assert!(message.contains("from 0 to 0") && message.contains(words), "{message}");
        }
        assert!(parse("dma-read:isoc=0", &without).is_ok());
    }

    /// Four threads of a copy take two lines each; what the message has is what was written, with its suffix.
    #[test]
    fn a_value_that_another_rules_out_is_in_the_message_as_it_was_written() {
        let text = message("copy:threads=4,footprint=256,seed=5");
        assert!(text.starts_with("footprint=256 is out of range: footprint goes from 512 to "), "{text}");
        let text = message("stream:seed=5,stride=1M,footprint=1k");
        assert!(text.starts_with("stride=1M is out of range: "), "{text}");
    }

    #[test]
    fn keys_and_suffixes() {
        let workload =
            parse("mixed:requests=2k,threads=3,footprint=1M,read=70,stride=128,remote=0,seed=9", &LIMITS).unwrap();
        let expected = Workload {
            kind: Kind::Mixed,
            requests: 2048,
            threads: 3,
            footprint: 1 << 20,
            read: 70,
            delay: 0,
            stride: 128,
            vectors: 0,
            cpu: 0,
            remote: 0,
            expander: 0,
            partial: 0,
            allocate: 100,
            isochronous: 0,
            peer: 0,
            atomic: 0,
            socket: None,
            memory: None,
            warm: false,
            warm_up: None,
            seed: 9,
        };
        assert_eq!(workload, expected);
        assert_eq!(parse(&workload.to_string(), &LIMITS), Ok(workload));
    }

    #[test]
    fn devices_have_a_socket_and_a_memory() {
        let two = Limits { sockets: 2, expander: true, ..LIMITS };
        let workload = parse("dma-write:socket=1,memory=0", &two).unwrap();
        assert_eq!((workload.socket, workload.memory), (Some(1), Some(0)));
        assert_eq!(parse(&workload.to_string(), &two), Ok(workload));
        let message = |text: &str| parse(text, &two).unwrap_err().to_string();
        assert!(message("dma-read:memory=2").contains("memory goes from 0 to 1"));
        assert_eq!(
            message("dma-read:memory=1,remote=30"),
            "memory and remote exclude each other (memory names the socket of all accesses, remote a share of them elsewhere): keep one of them"
        );
        assert!(message("dma-write:memory=1,cxl=30").contains("memory and cxl exclude each other"));
        assert_eq!(parse("dma-write:socket=1,cxl=30", &two).map(|workload| workload.expander), Ok(30));
    }

    #[test]
    fn messages_name_key_value_and_limits() {
        assert!(message("steam").contains("did you mean stream?"));
        assert!(
            message("chase:stride=64")
                .contains("its keys: requests, threads, cpu, footprint, remote, cxl, warmup, seed")
        );
        assert!(message("stream:foot=1").contains("no key \"foot\""));
        assert!(message("stream:thread=1").contains("did you mean threads?"));
        assert_eq!(message("random:requests=0"), "requests=0 is out of range: requests goes from 1 to 1099511627776");
        assert!(message("stream:threads=17").contains("threads goes from 1 to 16"));
        assert!(message("stream:cpu=1").contains("from 0 to 0"));
        assert!(message("triad:vectors=512").contains("needs a machine such as 8592+"));
        let air = PhaseSettings { settings: &[PhaseSetting::Air], ..LIMITS.phase_settings };
        let placed = Limits { phase_settings: air, ..LIMITS };
        let workload = parse("triad:vectors=512,cpu=15", &placed).unwrap();
        assert_eq!((workload.vectors, workload.cpu), (512, 15));
        assert_eq!(parse(&workload.to_string(), &placed), Ok(workload));
        assert!(parse("triad:vectors=128", &placed).is_err() && parse("triad:cpu=16", &placed).is_err());
        assert!(message("stream:read=101").contains("read goes from 0 to 100"));
        assert!(message("stream:remote=5").contains("needs a second socket"));
        assert!(message("stream:cxl=5").contains("needs a machine with CXL memory"));
        let with = Limits { expander: true, ..LIMITS };
        assert_eq!(parse("stream:cxl=5", &with).map(|workload| workload.expander), Ok(5));
        assert!(
            message("chase:footprint=65G").contains("larger than memory: the machine has 68719476736 bytes (64 GiB)")
        );
        assert!(message("copy:footprint=512").contains("footprint goes from 1024 to"));
        assert!(message("stream:footprint=1M,stride=1M").contains("stride goes from 1 to 131072"));
        assert!(message("stream:requests").contains("has no value"));
        assert!(message("stream:requests=1,requests=2").contains("given twice"));
        assert!(message("stream:requests=many").contains("requests=many is no number"));
        assert_eq!(
            message("dma-read:socket=1"),
            "socket=1 is out of range: socket goes from 0 to 0 (the machine's sockets, numbered from 0)"
        );
        assert!(message("stream:socket=0").contains("no key \"socket\""));
        assert!(matches!(parse("", &LIMITS), Err(WorkloadError::UnknownWorkload { .. })));
        assert!(matches!(parse("stream:", &LIMITS), Err(WorkloadError::UnknownKey { .. })));
    }
}
