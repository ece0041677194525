//! What a simulated request costs, beside the figures of other simulators.
//!
//! `cargo bench -p pericore-machine` prints nanoseconds of processor time for each request; with `-- --instructions` also the
//! instructions, counted by callgrind as the difference of two runs, which no other load on the machine disturbs. Other arguments
//! choose cases by a part of their name. `-- --calibration` prints the model's figures beside published measurements instead.
//! `cargo test` runs every case once, with few requests, so that none breaks unseen.

mod calibration;
mod controller;
mod emerald_rapids;
mod instructions;
mod loaded;
mod nehalem;
mod part;
mod path;
mod stopwatch;

use std::process::ExitCode;

use path::Path;

/// Peers' figures are those of `published-numbers`: one channel of DDR4-3200, a 2-core virtual machine, ns for each request.
struct Case {
    name: &'static str,
    /// What the project promises, ns.
    limit: Option<f64>,
    /// The fastest peer on the same traffic: name and ns.
    peer: Option<(&'static str, f64)>,
    run: Run,
    /// Requests of a timed run.
    requests: u64,
}

/// What a case runs.
enum Run {
    /// Something that needs no accesses before those that are measured.
    Part(fn(u64) -> Measured),
    /// The whole way of a request, with nothing behind the signals.
    Unheard(&'static Path),
    /// The same with sixteen counters.
    Heard(&'static Path),
}

impl Run {
    /// Runs so many requests, and the warm ones before them divided by `shorter`; gives the time of the measured part and its requests.
    fn measure(&self, requests: u64, shorter: u64) -> Measured {
        match self {
            Self::Part(run) => run(requests),
            Self::Unheard(path) => path.run_unheard(path.warm / shorter, requests),
            Self::Heard(path) => path.run(path.warm / shorter, requests),
        }
    }
}

/// A measured part of a run.
#[derive(Debug)]
pub struct Measured {
    seconds: f64,
    requests: u64,
    /// Simulated DRAM cycles for each request, where that tells something.
    cycles: Option<f64>,
}

const E5: &str = "e5-2680";
/// 128 caching and home agents.
const EMR: &str = "8592+:sockets=2";
const NEHALEM: &str = "x5570:sockets=2";

/// In full caches: each line that comes drives another out, from the LLC and from a core.
const E5_MISS: Path = Path { machine: E5, workload: "random:footprint=16G", warm: 500_000, counters: path::e5_2600 };
const E5_STREAM: Path = Path { workload: "stream:footprint=256M", ..E5_MISS };
/// Beyond what the L2s hold, within the LLC.
const E5_HIT: Path = Path { workload: "random:footprint=8M", warm: 1_000_000, ..E5_MISS };

/// In full L2s: each line that comes sends another to the LLC, whose ten million lines would take longer to fill.
const EMR_MISS: Path = Path { machine: EMR, counters: path::emerald_rapids, warm: 5_000_000, ..E5_MISS };
/// A core of each socket, whose L2 has an eighth of what it reads: seven of eight accesses hit the LLC, and what gives way to them in the L2
/// goes back there.
const EMR_HIT: Path = Path { workload: "random:footprint=16M,threads=2", warm: 4_000_000, ..EMR_MISS };

/// A socket has 12 GB.
const NEHALEM_MISS: Path =
    Path { machine: NEHALEM, workload: "random:footprint=8G", counters: path::nehalem, ..E5_MISS };
const NEHALEM_HIT: Path = Path { workload: "random:footprint=6M", warm: 1_000_000, ..NEHALEM_MISS };

const RAMULATOR: &str = "Ramulator 2.1";

const CASES: &[Case] = &[
    Case {
        name: "controller/random",
        limit: Some(200.0),
        peer: Some((RAMULATOR, 3743.0)),
        run: Run::Part(controller::random),
        requests: 2_000_000,
    },
    Case {
        name: "controller/sequential",
        limit: Some(50.0),
        peer: Some(("DRAMSys 5.1", 2380.0)),
        run: Run::Part(controller::sequential),
        requests: 4_000_000,
    },
    Case {
        name: "controller/random-32",
        limit: None,
        peer: Some((RAMULATOR, 2746.0)),
        run: Run::Part(controller::random_32),
        requests: 2_000_000,
    },
    Case {
        name: "controller/every-8",
        limit: None,
        peer: Some((RAMULATOR, 2149.0)),
        run: Run::Part(controller::every_8),
        requests: 2_000_000,
    },
    Case {
        name: "controller/chase",
        limit: None,
        peer: Some((RAMULATOR, 2937.0)),
        run: Run::Part(controller::chase),
        requests: 2_000_000,
    },
    Case {
        name: "controller/ddr4-random",
        limit: Some(200.0),
        peer: Some((RAMULATOR, 3743.0)),
        run: Run::Part(controller::ddr4_random),
        requests: 2_000_000,
    },
    Case {
        name: "controller/ddr4-sequential",
        limit: Some(50.0),
        peer: Some(("DRAMSys 5.1", 2380.0)),
        run: Run::Part(controller::ddr4_sequential),
        requests: 4_000_000,
    },
    Case {
        name: "controller/ddr4-every-8",
        limit: None,
        peer: Some((RAMULATOR, 2149.0)),
        run: Run::Part(controller::ddr4_every_8),
        requests: 2_000_000,
    },
    Case {
        name: "controller/ddr4-chase",
        limit: None,
        peer: Some((RAMULATOR, 2937.0)),
        run: Run::Part(controller::ddr4_chase),
        requests: 2_000_000,
    },
    Case { name: "path/miss", limit: None, peer: None, run: Run::Unheard(&E5_MISS), requests: 1_000_000 },
    Case {
        name: "path/miss-16-counters",
        limit: Some(350.0),
        peer: Some(("ChampSim", 163_934.0)),
        run: Run::Heard(&E5_MISS),
        requests: 1_000_000,
    },
    Case { name: "path/stream", limit: None, peer: None, run: Run::Unheard(&E5_STREAM), requests: 1_000_000 },
    Case { name: "path/stream-16-counters", limit: None, peer: None, run: Run::Heard(&E5_STREAM), requests: 1_000_000 },
    Case { name: "path/hit", limit: None, peer: None, run: Run::Unheard(&E5_HIT), requests: 3_000_000 },
    Case {
        name: "path/hit-16-counters",
        limit: Some(120.0),
        peer: Some(("ChampSim", 41_152.0)),
        run: Run::Heard(&E5_HIT),
        requests: 3_000_000,
    },
    Case {
        name: "emr/build, two sockets",
        limit: Some(1e8),
        peer: None,
        run: Run::Part(|n| path::build(EMR, n)),
        requests: 5,
    },
    Case { name: "emr/miss", limit: None, peer: None, run: Run::Unheard(&EMR_MISS), requests: 300_000 },
    Case {
        name: "emr/miss-16-counters",
        limit: Some(450.0),
        peer: None,
        run: Run::Heard(&EMR_MISS),
        requests: 300_000,
    },
    Case { name: "emr/hit", limit: None, peer: None, run: Run::Unheard(&EMR_HIT), requests: 1_000_000 },
    Case {
        name: "emr/hit-16-counters",
        limit: Some(150.0),
        peer: None,
        run: Run::Heard(&EMR_HIT),
        requests: 1_000_000,
    },
    Case { name: "nehalem/miss", limit: None, peer: None, run: Run::Unheard(&NEHALEM_MISS), requests: 1_000_000 },
    Case {
        name: "nehalem/miss-16-counters",
        limit: None,
        peer: None,
        run: Run::Heard(&NEHALEM_MISS),
        requests: 1_000_000,
    },
    Case { name: "nehalem/hit", limit: None, peer: None, run: Run::Unheard(&NEHALEM_HIT), requests: 3_000_000 },
    Case {
        name: "nehalem/hit-16-counters",
        limit: None,
        peer: None,
        run: Run::Heard(&NEHALEM_HIT),
        requests: 3_000_000,
    },
];

/// How much shorter a run is that only shows that the case works.
const SHORTER: u64 = 100;

fn main() -> ExitCode {
    // Cargo adds --bench, but not for a test.
    let (bench, arguments): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|argument| argument == "--bench");
    if let [only, name, requests] = &arguments[..]
        && only == instructions::ONE
    {
        let case = CASES.iter().find(|case| case.name == name);
        let (Some(case), Ok(requests)) = (case, requests.parse()) else { return ExitCode::FAILURE };
        case.run.measure(requests, 1);
        return ExitCode::SUCCESS;
    }
    if bench.is_empty() {
        for case in CASES {
            let measured = case.run.measure((case.requests / SHORTER).max(1), SHORTER);
            assert!(measured.requests > 0, "{} measures nothing", case.name);
            println!("bench {} runs", case.name);
        }
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|argument| argument == "--calibration") {
        return if calibration::print() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let count = arguments.iter().any(|argument| argument == "--instructions");
    let chosen = |case: &&Case| {
        let mut parts = arguments.iter().filter(|argument| !argument.starts_with("--")).peekable();
        parts.peek().is_none() || parts.any(|part| case.name.contains(part.as_str()))
    };
    println!("{:<26}{:>10}{:>11}{:>9}{:>9}  fastest peer", "", "ns", "limit", "instr.", "cycles");
    for case in CASES.iter().filter(chosen) {
        // The least of three disturbs least.
        let runs: Vec<Measured> = (0..3).map(|_| case.run.measure(case.requests, 1)).collect();
        let ns = |run: &Measured| run.seconds * 1e9 / run.requests as f64;
        let best = runs.iter().map(ns).fold(f64::INFINITY, f64::min);
        let limit = case.limit.map_or(String::new(), |limit| format!("{limit:.0}"));
        let cycles = runs[0].cycles.map_or(String::new(), |cycles| format!("{cycles:.2}"));
        let counted = if count { instructions::each(case.name) } else { None };
        let counted = counted.map_or(String::new(), |count| count.to_string());
        let peer = case.peer.map_or(String::new(), |(name, ns)| format!("{name} {ns:.0} ns, {:.0} x", ns / best));
        println!("{:<26}{best:>10.0}{limit:>11}{counted:>9}{cycles:>9}  {peer}", case.name);
    }
    ExitCode::SUCCESS
}
