//! What a sample costs beside what others pay for the same task, counted in the traces of `tests/golden/pmon`. `docs/costs.md` is the table;
//! `PERICORE_WRITE_TABLES=1` writes it anew.
//!
//! An access is one register read or written as a whole; configuration space takes a cycle for each 4 bytes. System calls are those of a tool
//! in user space on Linux: one for each access to an MSR or to configuration space, none to memory. perf reads in the kernel: there the calls are
//! one for each counter, at the best, and the
//! traces hold how it stops, reads and goes on; between two lines of `-I` it reads without stopping.

mod dead_time;

use pericore_observe::discover::{Cpu, discover};
use pericore_observe::plan::Plan;
use pericore_observe::selection::Selection;
use pericore_observe::session::{Guard, Moment, Options, Session, survey_sockets};
use pericore_registers::{AccessCounts, Counting};
use pericore_tests::pmon::raw::{CYCLE, Raw};

/// What a reading of a task's counters costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Cost {
    accesses: u64,
    calls: u64,
}

/// A peer that reads the same registers in a trace.
struct Peer {
    tool: &'static str,
    /// File in `tests/golden/pmon`.
    file: &'static str,
    /// First and last line of one reading, from 1.
    lines: (usize, usize),
    /// What the addresses of the task's unit begin with; nothing if all lines belong to the task.
    unit: &'static [&'static str],
    /// How many times as many units or counters the task has as the trace reads.
    times: u64,
    /// Counters of the task, if the kernel reads them: a call each.
    in_kernel: Option<u64>,
    /// Counted by hand in those lines, times included.
    cost: Cost,
}

/// A task on one socket.
struct Task {
    name: &'static str,
    family: &'static str,
    events: &'static str,
    /// Ours: reads of counters, and writes to stop and start them.
    reads: u64,
    writes: u64,
    calls: u64,
    peers: &'static [Peer],
}

const fn cost(accesses: u64, calls: u64) -> Cost {
    Cost { accesses, calls }
}

const PCM_EMR: &str = "pcm-memory-emerald-rapids.txt";
const PERF_EMR: &str = "linux-perf-emerald-rapids.txt";
const PCM_E5: &str = "pcm-memory-e5-2600.txt";
const PERF_E5: &str = "linux-perf-e5-2600.txt";
const PERF_E5_IMC: &str = "linux-perf-e5-2600-imc.txt";
const LIKWID_E5: &str = "likwid-e5-2600.txt";
const LIKWID_E5_IMC: &str = "likwid-e5-2600-mbox.txt";

const TASKS: &[Task] = &[
    Task {
        name: "memory bandwidth",
        family: "emerald-rapids",
        events: "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/",
        // The minimum: 8 channels by 2 counters, and the socket's freeze.
        reads: 16,
        writes: 2,
        calls: 2,
        peers: &[
            // All that it reads between two lines of output: 40 counters of channels, 32 cycles of M2M, 24 writes, 87 MSRs.
            Peer {
                tool: "pcm-memory",
                file: PCM_EMR,
                lines: (326, 508),
                unit: &[],
                times: 1,
                in_kernel: None,
                cost: cost(183, 127),
            },
            Peer {
                tool: "perf",
                file: PERF_EMR,
                lines: (191, 194),
                unit: &[],
                times: 16,
                in_kernel: Some(16),
                cost: cost(64, 16),
            },
        ],
    },
    Task {
        name: "memory bandwidth",
        family: "e5-2600",
        events: "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/",
        reads: 8,
        writes: 8,
        calls: 16,
        peers: &[
            Peer {
                tool: "pcm-memory",
                file: PCM_E5,
                lines: (132, 195),
                unit: &[],
                times: 1,
                in_kernel: None,
                cost: cost(64, 64),
            },
            Peer {
                tool: "likwid",
                file: LIKWID_E5_IMC,
                lines: (15, 19),
                unit: &[],
                times: 4,
                in_kernel: None,
                cost: cost(20, 20),
            },
            Peer {
                tool: "perf",
                file: PERF_E5_IMC,
                lines: (49, 55),
                unit: &[],
                times: 8,
                in_kernel: Some(8),
                cost: cost(56, 8),
            },
        ],
    },
    Task {
        name: "CHA hit and miss",
        family: "emerald-rapids",
        events: "cha/TOR_INSERTS.IA_HIT/,cha/TOR_INSERTS.IA_MISS/",
        reads: 128,
        writes: 2,
        calls: 130,
        peers: &[Peer {
            tool: "perf",
            file: PERF_EMR,
            lines: (199, 202),
            unit: &[],
            times: 128,
            in_kernel: Some(128),
            cost: cost(512, 128),
        }],
    },
    Task {
        name: "LLC hit and miss",
        family: "e5-2600",
        events: "cbo/LLC_LOOKUP.DATA_READ,state=0x1F/",
        reads: 8,
        writes: 16,
        calls: 24,
        peers: &[
            Peer {
                tool: "likwid",
                file: LIKWID_E5,
                lines: (59, 74),
                unit: &["0xd04", "0xd16"],
                times: 8,
                in_kernel: None,
                cost: cost(24, 24),
            },
            Peer {
                tool: "perf",
                file: PERF_E5,
                lines: (74, 79),
                unit: &[],
                times: 8,
                in_kernel: Some(8),
                cost: cost(48, 8),
            },
        ],
    },
    Task {
        name: "link",
        family: "emerald-rapids",
        events: "upi/TxL_FLITS.ALL_DATA/,upi/RxL_FLITS.ALL_DATA/",
        reads: 8,
        writes: 2,
        calls: 10,
        peers: &[],
    },
    Task {
        name: "link",
        family: "e5-2600",
        events: "qpi/TxL_FLITS_G0.DATA/",
        reads: 2,
        writes: 4,
        calls: 6,
        peers: &[
            Peer {
                tool: "likwid",
                file: LIKWID_E5,
                lines: (59, 74),
                unit: &["ff:08.2"],
                times: 2,
                in_kernel: None,
                cost: cost(6, 6),
            },
            Peer {
                tool: "perf",
                file: PERF_E5,
                lines: (132, 138),
                unit: &[],
                times: 2,
                in_kernel: Some(2),
                cost: cost(14, 2),
            },
        ],
    },
    Task {
        name: "PCIe",
        family: "emerald-rapids",
        // Free-running counters of one port of each stack: nothing to stop.
        events: "iio/free_bw_in0/,iio/free_bw_out0/",
        reads: 20,
        writes: 0,
        calls: 20,
        peers: &[],
    },
    Task {
        name: "PCIe",
        family: "e5-2600",
        events: "r2pcie/TxR_INSERTS/",
        reads: 1,
        writes: 2,
        calls: 3,
        peers: &[Peer {
            tool: "perf",
            file: PERF_E5,
            lines: (148, 154),
            unit: &[],
            times: 1,
            in_kernel: Some(1),
            cost: cost(7, 1),
        }],
    },
];

/// What a sample of ours costs on the emulated hardware, as the wrapper counts it.
fn ours(task: &Task, guard: Guard) -> (AccessCounts, usize) {
    let mut raw = Raw::with_period(task.family, 1, CYCLE);
    let shape = raw.machine.shape().clone();
    let cpus: Vec<Cpu> = (0..shape.cpus()).map(|number| Cpu { number, package: 0 }).collect();
    let topology = discover(&mut raw.machine, shape.family, &cpus, |_| true).expect("the uncore is found");
    let mut selection = Selection::new(shape.family);
    selection.add_events(task.events).unwrap_or_else(|error| panic!("{}: {error}", task.events));
    let occupied = survey_sockets(&mut raw.machine, &topology).expect("readable");
    let plan = Plan::beside(&topology, selection, &occupied).expect("it fits");
    let foretold = plan.cost();
    assert_eq!((foretold.reads as u64, foretold.writes as u64), (task.reads, task.writes), "--cost of {}", task.events);
    assert_eq!(foretold.system_calls as u64, task.calls, "--cost of {}", task.events);
    let options = Options { guard, ..Options::default() };
    let now = |_: &mut Counting<&mut pericore_machine::chassis::Chassis>| Moment::default();
    let mut session = Session::start(Counting::new(&mut raw.machine), plan, options, now).expect("free");
    let before = session.space_mut().counts();
    session.sample(now);
    let after = session.space_mut().counts();
    let count = |of: fn(&AccessCounts) -> u64| of(&after) - of(&before);
    let counts = AccessCounts {
        msr_reads: count(|c| c.msr_reads),
        msr_writes: count(|c| c.msr_writes),
        pci_reads: count(|c| c.pci_reads),
        pci_writes: count(|c| c.pci_writes),
        pci_cycles: count(|c| c.pci_cycles),
        mmio_reads: count(|c| c.mmio_reads),
        mmio_writes: count(|c| c.mmio_writes),
        batches: count(|c| c.batches),
    };
    (counts, session.samples_to_notice())
}

/// What the trace's lines come to.
fn counted(peer: &Peer) -> Cost {
    let path = format!("{}/golden/pmon/{}", env!("CARGO_MANIFEST_DIR"), peer.file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (first, last) = peer.lines;
    let lines = text.lines().skip(first - 1).take(last + 1 - first);
    let of_unit = |line: &&str| peer.unit.is_empty() || peer.unit.iter().any(|unit| line.contains(unit));
    let lines: Vec<&str> = lines.filter(of_unit).collect();
    let in_memory = lines.iter().filter(|line| line.starts_with("rdmem") || line.starts_with("wrmem")).count() as u64;
    let accesses = lines.len() as u64 * peer.times;
    Cost { accesses, calls: peer.in_kernel.unwrap_or(accesses - in_memory * peer.times) }
}

#[test]
fn no_peer_needs_fewer_accesses_or_calls() {
    let mut table = String::from(
        "# What a sample costs\n\nRegister accesses and system calls of one reading of a socket, beside what other tools need for the same registers, counted in\n\
         traces of them. perf's are what it does to stop, read and go on, in the kernel: one call for each counter at the best. Checks for changes by others come\n\
         on top: `docs/others.md` has them. `tests/tests/session_costs.rs` measures, counts and writes this table.\n\n\
         | task | family | tool | accesses | calls | counted in |\n|---|---|---|---|---|---|\n",
    );
    let mut row = |words: [&dyn std::fmt::Display; 6]| {
        table += &words.iter().fold(String::from("|"), |line, word| format!("{line} {word} |"));
        table.push('\n');
    };
    for task in TASKS {
        let (cost, _) = ours(task, Guard::Off);
        let calls = cost.msr_reads + cost.msr_writes + cost.pci_reads + cost.pci_writes;
        row([&task.name, &task.family, &"pericore", &(cost.reads() + cost.writes()), &calls, &"the emulated hardware"]);
        assert_eq!(
            (cost.reads(), cost.writes(), calls),
            (task.reads, task.writes, task.calls),
            "{} of {}",
            task.name,
            task.family
        );
        for peer in task.peers {
            let theirs = counted(peer);
            let source = format!("{}, lines {} to {}, {} times", peer.file, peer.lines.0, peer.lines.1, peer.times);
            row([&task.name, &task.family, &peer.tool, &theirs.accesses, &theirs.calls, &source]);
            assert_eq!(theirs, peer.cost, "{} {:?}", peer.file, peer.lines);
            assert!(cost.reads() + cost.writes() <= theirs.accesses, "{} of {}: {}", task.name, task.family, peer.tool);
            // In the kernel an access costs no call of its own, and a read of the counter by the user is another matter.
            assert!(
                peer.in_kernel.is_some() || calls <= theirs.calls,
                "{} of {}: {}",
                task.name,
                task.family,
                peer.tool
            );
        }
    }
    table += &dead_time::table();
    println!("{table}");
    let path = format!("{}/../docs/costs.md", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("PERICORE_WRITE_TABLES").is_some() {
        std::fs::write(&path, &table).expect("docs can be written");
    }
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(old, table, "docs/costs.md is old: PERICORE_WRITE_TABLES=1 writes it");
}

/// 16 loads from memory and two writes. With the guard the socket's freeze is read before it is written, then 16 controls and 8 unit controls.
#[test]
fn memory_bandwidth_of_an_emerald_rapids_socket_is_at_its_minimum() {
    let task = &TASKS[0];
    let (bare, _) = ours(task, Guard::Off);
    assert_eq!((bare.mmio_reads, bare.mmio_writes, bare.msr_writes), (16, 0, 2));
    assert_eq!((bare.msr_reads, bare.pci_reads, bare.pci_writes), (0, 0, 0));
    let (guarded, within) = ours(task, Guard::InTurn);
    assert_eq!((guarded.reads(), guarded.writes()), (16, 2));
    assert_eq!(within, 20, "all within so many samples");
    let (all, within) = ours(task, Guard::All);
    assert_eq!((all.reads(), all.writes(), within), (16 + 1 + 24, 2, 1));
}
