//! Laws that hold when everything has drained.

use pericore_dram::checker::{self, DDR3_1333H};
use pericore_engine::Random;
use pericore_hardware::signal::{SignalSink, Tick, Wire};

use super::super::Nehalem;
use super::{WORKLOADS, model, run};
use crate::signals::nehalem::level::Level;
use crate::uncore::tests::owned;
use crate::uncore::tests::recorder::Recorder;
use pericore_facts::LineState;
use pericore_facts::nehalem::{CHANNELS, Source, TO_HUB, Tracker};
use pericore_parts::work::Worker;
use pericore_truth::Question;
use pericore_truth::nehalem::{Ledger, Snapshot};

/// Hears nothing.
pub struct Nothing;

impl SignalSink for Nothing {
    fn pulse(&mut self, _: Wire, _: u64, _: Tick, _: u32) {}
    fn enter(&mut self, _: Wire, _: u64, _: Tick) {}
    fn leave(&mut self, _: Wire, _: u64, _: Tick) {}
}

/// An event of one socket.
pub fn count(at: &Snapshot, socket: usize, name: &str) -> u64 {
    let (event, subevent) = name.split_once('.').map_or((name, None), |(event, subevent)| (event, Some(subevent)));
    at.count(socket as u16, 0, Question::new("uncore", event).subevent(subevent))
        .unwrap_or_else(|| panic!("no truth for {name}"))
}

/// The laws of counts that a machine at rest breaks.
pub fn broken(at: &Snapshot, sockets: usize) -> Vec<String> {
    let mut broken = Vec::new();
    let mut equal = |left: u64, right: u64, law: &str| {
        if left != right {
            broken.push(format!("{law}: {left} and {right}"));
        }
    };
    for socket in 0..sockets {
        let of = |name: &str| count(at, socket, name);
        let sum = |event: &str, names: &[&str]| names.iter().map(|name| of(&format!("{event}.{name}"))).sum::<u64>();
        equal(of("GQ_ALLOC.READ_TRACKER"), of("LLC_HITS.READ") + of("LLC_MISS.READ"), "reads = hits + misses");
        equal(of("GQ_ALLOC.READ_TRACKER"), of("GQ_ALLOC.RT_TO_LLC_RESP"), "the LLC replies to every read");
        equal(of("GQ_ALLOC.RT_LLC_MISS"), of("LLC_MISS.READ"), "read misses, both ways");
        equal(of("GQ_ALLOC.RT_TO_RTID_ACQUIRED"), of("LLC_MISS.READ"), "every read miss gets a number");
        equal(of("GQ_ALLOC.WRITE_TRACKER"), of("GQ_ALLOC.WT_TO_RTID_ACQUIRED"), "a write that misses gets a number");
        equal(of("GQ_ALLOC.PEER_PROBE_TRACKER"), of("LLC_MISS.PROBE"), "snoops that miss (SDM, 03H/40H)");
        let kinds = ["I_STATE", "S_STATE", "FWD_S_STATE", "FWD_I_STATE", "CONFLICT", "WB"];
        let replies = sum("SNP_RESP_TO_LOCAL_HOME", &kinds) + sum("SNP_RESP_TO_REMOTE_HOME", &kinds);
        equal(replies, of("LLC_HITS.PROBE") + of("LLC_MISS.PROBE"), "every snoop has a reply");
        equal(of("LLC_LINES_IN.ANY"), of("LLC_LINES_OUT.ANY"), "a line in is a way given up");
        let reads = sum("QHL_REQUESTS", &["LOCAL_READS", "REMOTE_READS", "IOH_READS"]);
        let isochronous = of("QMC_HIGH_PRIORITY_READS.ANY") + of("QMC_CRITICAL_PRIORITY_READS.ANY");
        equal(reads, of("QMC_NORMAL_READS.ANY") + isochronous, "reads of the home logic go to memory");
        let updates = of("QMC_PRIORITY_UPDATES.ANY");
        equal(updates.min(isochronous), updates, "only isochronous reads hurry others, each one at most");
        equal(updates.min(of("QMC_NORMAL_READS.ANY")), updates, "only normal reads are hurried");
        let conflicts = of("QHL_ADDRESS_CONFLICTS.2WAY") + of("QHL_ADDRESS_CONFLICTS.3WAY");
        equal((updates > 0 && conflicts == 0).into(), 0, "what hurries another meets it at home");
        for channel in 0..3 {
            let by_channel = |event: &str| of(&format!("{event}CH{channel}"));
            let reads = by_channel("QMC_NORMAL_READS.")
                + by_channel("QMC_HIGH_PRIORITY_READS.")
                + by_channel("QMC_CRITICAL_PRIORITY_READS.");
            equal(by_channel("DRAM_READ_CAS.") + at.forwards(socket, channel), reads, "reads = read CAS + forwards");
            let writes = by_channel("QMC_WRITES.FULL_") + by_channel("QMC_WRITES.PARTIAL_");
            equal(by_channel("DRAM_WRITE_CAS.") + at.merges(socket, channel), writes, "writes = write CAS + merges");
            let of_channel = |event: &str, what: &str| of(&format!("{event}.{what}CH{channel}"));
            let opened = of_channel("DRAM_OPEN", "");
            let closing = of_channel("DRAM_READ_CAS", "AUTOPRE_") + of_channel("DRAM_WRITE_CAS", "AUTOPRE_");
            let closed = closing + of_channel("DRAM_PAGE_MISS", "") + of_channel("DRAM_PAGE_CLOSE", "");
            // Those that are left were open at the end, or before one of the refreshes, of two ranks of eight banks.
            equal(closed.min(opened), closed, "a row is closed once");
            let rest = 16 * (1 + of_channel("DRAM_PRE_ALL", ""));
            equal(
                (opened - closed.min(opened)).min(rest),
                opened - closed.min(opened),
                "rows that are opened are closed",
            );
            let full = of_channel("QMC_ISOC_FULL", "READ_");
            let isochronous = of_channel("IMC_ISOC_OCCUPANCY", "");
            equal((6 * full).min(isochronous), 6 * full, "in a cycle that is full of them there are six");
        }
        equal(at.is_empty(socket).into(), 1, "everything that entered has left");
    }
    equal(at.is_sound().into(), 1, "occupancies are those of the records");
    let all = |name: &str| (0..sockets).map(|socket| count(at, socket, name)).sum::<u64>();
    equal(
        all("QHL_REQUESTS.LOCAL_READS") + all("QHL_REQUESTS.REMOTE_READS"),
        all("GQ_ALLOC.RT_TO_RTID_ACQUIRED"),
        "numbered reads reach a home",
    );
    let writes = ["LOCAL_WRITES", "REMOTE_WRITES", "IOH_WRITES"].map(|name| all(&format!("QHL_REQUESTS.{name}")));
    let snooped = all("SNP_RESP_TO_LOCAL_HOME.WB") + all("SNP_RESP_TO_REMOTE_HOME.WB");
    let written = all("QMC_WRITES.FULL_ANY") + all("QMC_WRITES.PARTIAL_ANY");
    // What is passed on and written back counts among what is written back.
    let passed = ["FWD_S_STATE", "FWD_I_STATE", "WB"].map(|state| {
        all(&format!("SNP_RESP_TO_LOCAL_HOME.{state}")) + all(&format!("SNP_RESP_TO_REMOTE_HOME.{state}"))
    });
    let cancels = all("QMC_CANCEL.ANY");
    equal(cancels.min(passed.iter().sum()), cancels, "a read is cancelled since its line was passed on");
    equal(written, writes.iter().sum::<u64>() + snooped, "memory writes = home writes + lines written back by snoops");
    // The messages by their opcodes on a link: RspFwdS and RspIWb, RspFwdI. A line that is passed on and written back
    // counts among the latter only.
    for (opcodes, states) in [(&[0x1A, 0x1D][..], &["FWD_S_STATE", "WB"][..]), (&[0x19], &["FWD_I_STATE"])] {
        let matched = |socket: usize, source, opcode| {
            let filters = [("msel", 2), ("opcode", opcode)];
            let question = Question::new("uncore", "ADDR_OPCODE_MATCH").subevent(source).filtered(&filters);
            at.count(socket as u16, 0, question).unwrap()
        };
        let of_opcode = |opcode| -> u64 {
            let of_socket = |socket| ["IOH", "REMOTE", "LOCAL"].map(|source| matched(socket, source, opcode));
            (0..sockets).flat_map(of_socket).sum()
        };
        let to = |state: &&str| {
            all(&format!("SNP_RESP_TO_LOCAL_HOME.{state}")) + all(&format!("SNP_RESP_TO_REMOTE_HOME.{state}"))
        };
        let at_homes = opcodes.iter().map(|&opcode| of_opcode(opcode)).sum();
        equal(at_homes, states.iter().map(to).sum(), "replies that are sent reach a home");
    }
    if sockets == 1 {
        equal(all("QHL_REQUESTS.REMOTE_READS") + all("QHL_REQUESTS.REMOTE_WRITES"), 0, "nobody is remote");
        equal(all("LLC_LINES_IN.F_STATE") + all("LLC_LINES_IN.S_STATE"), 0, "nobody shares");
    }
    broken
}

fn check(workload: &str, model: &Nehalem) {
    assert_eq!(broken(&model.snapshot(), model.sockets()), [""; 0], "{workload}");
    for socket in 0..model.sockets() {
        let live = model.signals.live(socket);
        assert!(live.iter().all(|&live| live == 0), "{workload}: everything that entered has left: {live:?}");
    }
    assert!(model.model.is_drained(), "{workload}: entries and numbers come back, and no line is forgotten");
}

/// Every channel's commands keep the standard.
pub fn standard(truth: &Ledger, sockets: usize) {
    for channel in 0..(sockets * CHANNELS) as u16 {
        let of_channel = truth.commands().iter().filter(|(number, _)| *number == channel);
        let commands: Vec<_> = of_channel.map(|(_, command)| *command).collect();
        checker::check(&DDR3_1333H, &commands, Some(DDR3_1333H.refi));
    }
}

/// A line that one socket may write to is nowhere else.
fn coherent(workload: &str, model: &Nehalem) {
    if model.sockets() < 2 {
        return;
    }
    let node = (model.model.parameters().node() / 64) as u32;
    for home in 0..2 {
        for line in (0..1 << 15).chain((0..64).map(|n| n << 13)) {
            let state = |socket| model.model.line_state(socket, home * node + line);
            let (Some(a), Some(b)) = (state(0), state(1)) else { continue };
            let alone = |state| matches!(state, LineState::Exclusive | LineState::Modified);
            assert!(!alone(a) && !alone(b), "{workload}: line {line} of node {home} is {a:?} and {b:?}");
            let forward = |state| state == LineState::Forward;
            assert!(!(forward(a) && forward(b)), "{workload}: line {line} of node {home} has two who pass it on");
        }
    }
}

#[test]
fn laws_hold_and_the_command_streams_keep_the_standard() {
    for workload in WORKLOADS {
        let (mut model, _) = model(workload);
        model.truth.as_mut().expect("it is kept").keep_commands();
        run(&mut model, &mut Nothing);
        assert_eq!(model.progress().done, model.progress().total, "{workload}");
        check(workload, &model);
        coherent(workload, &model);
        standard(model.truth.as_ref().expect("it is kept"), model.sockets());
    }
}

#[test]
fn laws_hold_for_workloads_drawn_at_random() {
    let mut random = Random::new(20_090_330, 0);
    for seed in 0..16 {
        let sockets = 1 + random.below(2);
        let kind = ["stream", "copy", "random", "mixed", "ntstore", "dma-read", "dma-write"][random.below(7) as usize];
        let footprint = 64_u64 << (10 + random.below(16));
        let threads = 1 + random.below(8 * sockets);
        let read = if matches!(kind, "stream" | "random" | "mixed") {
            format!(",read={}", random.below(101))
        } else {
            String::new()
        };
        let remote = if sockets > 1 { format!(",remote={}", random.below(101)) } else { String::new() };
        let prefix = if sockets > 1 { "2 " } else { "" };
        let workload =
            format!("{prefix}{kind}:requests=3000,footprint={footprint},threads={threads},seed={seed}{read}{remote}");
        let (mut model, _) = model(&workload);
        model.truth.as_mut().expect("it is kept").keep_commands();
        run(&mut model, &mut Nothing);
        check(&workload, &model);
        coherent(&workload, &model);
        standard(model.truth.as_ref().expect("it is kept"), model.sockets());
    }
}

#[test]
fn the_same_seed_gives_the_same_signals_however_time_is_cut() {
    let run_in_steps = |workload: &str, step: u64| {
        let (mut model, _) = model(workload);
        let mut recorder = Recorder::default();
        while model.now() < 2_000_000 {
            model.run_until_any((model.now() + step).min(2_000_000), &mut recorder);
        }
        recorder
    };
    let workload = "2 mixed:requests=4000,seed=7,remote=30";
    let whole = run_in_steps(workload, 2_000_000);
    assert!(whole.emissions.len() > 10_000);
    assert!(whole == run_in_steps(workload, 2_000_000), "a second run differs");
    assert!(whole == run_in_steps(workload, 997), "a run in steps differs");
    assert!(whole != run_in_steps("2 mixed:requests=4000,seed=8,remote=30", 2_000_000), "the seed has no effect");
}

/// The data sheet's sizes are reached and never passed.
#[test]
fn nothing_holds_more_than_it_has_room_for() {
    let (mut model, _) = model("2 random:requests=6000,footprint=4G,read=50,remote=30");
    let mut most = [[0; Level::COUNT]; 2];
    while !model.finished() {
        model.run_until_any(model.now() + 33, &mut Nothing);
        for (socket, most) in most.iter_mut().enumerate() {
            most.iter_mut().zip(model.signals.live(socket)).for_each(|(most, live)| *most = (*most).max(*live));
        }
    }
    let at = |level: Level| most[0][usize::from(level.0)];
    assert_eq!(at(Level::tracker(Tracker::Read)), 32);
    assert!(at(Level::tracker(Tracker::Write)) <= 16);
    assert!(at(Level::tracker(Tracker::Peer)) <= 12);
    assert_eq!(at(Level::home(Source::Local)), 24);
    // The other socket's numbers are taken for the way over the link too.
    assert!((8..=16).contains(&at(Level::home(Source::Remote))));
    assert_eq!((at(Level::home(Source::Hub)), at(Level::header(TO_HUB))), (0, 0));
}

#[test]
fn a_line_that_a_core_may_write_is_nowhere_else() {
    for workload in [
        "random:requests=10000,footprint=4k,stride=64,read=50,threads=8",
        "2 random:requests=10000,footprint=4k,stride=64,read=50,threads=16,remote=50",
        "2 mixed:requests=10000,footprint=64k,read=30,threads=16,remote=50",
    ] {
        let (mut model, _) = model(workload);
        let mut most = 0;
        while !model.finished() {
            model.run_until_any(model.now() + 3000, &mut Nothing);
            most = most.max(owned(model.model.cores()));
        }
        assert!(most > 16, "{workload}: {most}");
    }
}
