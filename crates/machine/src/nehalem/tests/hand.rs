//! Small runs whose every count is worked out by hand from the parameters. Times are uncore cycles of 33 ticks; a DRAM
//! cycle is four of them.

use pericore_hardware::signal::Wiring;

use super::super::Nehalem;
use super::laws::{Nothing, count};
use super::{model, run};
use pericore_models::nehalem::Parameters;
use pericore_parts::work::Worker;
use pericore_truth::nehalem::Snapshot;
use pericore_workload::{ProgramAccess, ProgramKind, ProgramSettings, ProgramSource, Workload};

fn expect(at: &Snapshot, socket: usize, expected: &[(&str, u64)]) {
    for (name, value) in expected {
        assert_eq!(count(at, socket, name), *value, "socket {socket}, {name}");
    }
}

/// The sum over the three channels.
fn channels(at: &Snapshot, socket: usize, event: &str) -> u64 {
    (0..3).map(|channel| count(at, socket, &format!("{event}.CH{channel}"))).sum()
}

#[test]
fn one_read_of_local_memory() {
    let (mut model, _) = model("chase:requests=1");
    run(&mut model, &mut Nothing);
    let at = &model.snapshot();
    // In the tracker at 10 (ten core cycles of 30 ticks), looked up at 14, answered at 22, at home at 28. The home
    // logic is empty: past it in 8, at the next DRAM edge 40 in the channel. Row open at once, column nine DRAM cycles
    // later at 76, data after 9 + 4 of them at 128, at home at 138. Four cycles for memory's port, of 16 bytes a cycle,
    // two for the cores': with the core at 144.
    expect(
        at,
        0,
        &[
            ("GQ_ALLOC.READ_TRACKER", 1),
            ("GQ_ALLOC.RT_TO_LLC_RESP", 1),
            ("GQ_ALLOC.RT_LLC_MISS", 1),
            ("GQ_ALLOC.RT_TO_RTID_ACQUIRED", 1),
            ("GQ_CYCLES_NOT_EMPTY.READ_TRACKER", 144 - 10),
            ("GQ_CYCLES_FULL.READ_TRACKER", 0),
            ("LLC_MISS.READ", 1),
            ("LLC_LINES_IN.E_STATE", 1),
            ("LLC_LINES_OUT.I_STATE", 1),
            ("QHL_REQUESTS.LOCAL_READS", 1),
            ("QHL_OCCUPANCY.LOCAL", 138 - 28),
            ("QHL_CYCLES_NOT_EMPTY.LOCAL", 138 - 28),
            ("QHL_TO_QMC_BYPASS", 1),
            ("QMC_NORMAL_READS.ANY", 1),
            ("GQ_DATA_FROM.QMC", 64 / 16),
            ("GQ_DATA_TO.LLC", 2),
            ("GQ_DATA_TO.CORES", 2),
            ("GQ_DATA_FROM.LLC", 0),
        ],
    );
    assert_eq!(channels(at, 0, "QMC_OCCUPANCY"), 76 - 40);
    assert_eq!((channels(at, 0, "DRAM_OPEN"), channels(at, 0, "DRAM_READ_CAS")), (1, 1));
}

#[test]
fn one_read_of_the_other_sockets_memory() {
    let (mut model, _) = model("2 chase:requests=1,remote=100");
    run(&mut model, &mut Nothing);
    let at = &model.snapshot();
    // Numbered at 22. The snoop's flit is sent after 55 ticks, the request's after 110: they arrive 48 cycles later at
    // 72 and 74, the edges after. The snoop is looked up at 76 and answered at 84. The request is in the channel at 88,
    // the DRAM edge after 74 + 12; column at 124, data at 176, at home at 186. Nine flits are 15 cycles: over the link
    // at 249; four for the links' port, two for the cores': with the core at 255.
    expect(
        at,
        0,
        &[
            ("GQ_CYCLES_NOT_EMPTY.READ_TRACKER", 255 - 10),
            // Two flits, the last of which the edge at 26 sees gone.
            ("QPI_TX_HEADER.BUSY_LINK_0", 26 - 22),
            ("GQ_DATA_FROM.QPI", 64 / 16),
            ("GQ_DATA_TO.CORES", 2),
            ("QHL_REQUESTS.LOCAL_READS", 0),
            ("LLC_LINES_IN.E_STATE", 1),
        ],
    );
    expect(
        at,
        1,
        &[
            ("GQ_ALLOC.PEER_PROBE_TRACKER", 1),
            ("GQ_CYCLES_NOT_EMPTY.PEER_PROBE_TRACKER", 84 - 72),
            ("LLC_MISS.PROBE", 1),
            ("SNP_RESP_TO_LOCAL_HOME.I_STATE", 1),
            ("SNP_RESP_TO_REMOTE_HOME.I_STATE", 0),
            ("QHL_REQUESTS.REMOTE_READS", 1),
            ("QHL_OCCUPANCY.REMOTE", 186 - 74),
            ("QHL_TO_QMC_BYPASS", 0),
            ("QPI_TX_HEADER.BUSY_LINK_0", 15),
            ("GQ_DATA_FROM.QMC", 0),
        ],
    );
}

#[test]
fn one_line_written_around_the_caches() {
    let (mut model, _) = model("ntstore:requests=1,threads=1");
    run(&mut model, &mut Nothing);
    let at = &model.snapshot();
    expect(
        at,
        0,
        &[
            ("GQ_ALLOC.WRITE_TRACKER", 1),
            // "Number of writeback requests that miss the L3": this is none.
            ("LLC_MISS.WRITE", 0),
            ("GQ_ALLOC.WT_TO_RTID_ACQUIRED", 1),
            ("QHL_REQUESTS.LOCAL_WRITES", 1),
            ("QHL_OCCUPANCY.LOCAL", 0),
            ("QMC_WRITES.FULL_ANY", 1),
            ("GQ_DATA_FROM.CORES_02", 2),
            ("GQ_DATA_TO.QPI_QMC", 2),
            ("LLC_LINES_IN.ANY", 0),
        ],
    );
    assert_eq!(channels(at, 0, "DRAM_WRITE_CAS"), 1);
}

/// A device reads lines that a core has modified. The LLC keeps them, so it gets the core's data, too: two cycles of
/// its port for each line that comes in for the core, and two for each that the snoop gets from there.
#[test]
fn what_a_snoop_gets_from_a_core_goes_to_the_llc_too() {
    let phases = "2 \nphase dirty\nworkload stream:requests=16,read=0,threads=1,footprint=1k\n\
        phase read\nworkload dma-read:requests=16,threads=1,footprint=1k";
    let (mut model, _) = model(phases);
    run(&mut model, &mut Nothing);
    let at = &model.snapshot();
    expect(at, 0, &[("GQ_DATA_TO.LLC", 16 * 2 + 16 * 2), ("GQ_DATA_FROM.CORES_02", 16 * 2)]);
}

/// SDM, event 29H: cycles with an outstanding read request to a channel, of whatever priority.
#[test]
fn an_isochronous_read_keeps_its_channel_busy() {
    let (mut model, _) = model("dma-read:requests=1,threads=1,isoc=100");
    run(&mut model, &mut Nothing);
    let at = &model.snapshot();
    // The row opens at once, and the column command comes nine DRAM cycles later.
    let busy = |what: &str| (0..3).map(|channel| count(at, 0, &format!("QMC_BUSY.{what}_CH{channel}"))).sum::<u64>();
    assert_eq!((busy("READ"), busy("WRITE")), (9 * 4, 0));
    assert_eq!((channels(at, 0, "IMC_ISOC_OCCUPANCY"), channels(at, 0, "QMC_OCCUPANCY")), (9 * 4, 0));
}

/// SDM, events 63H and 61H: a read with auto-precharge closes its page; no timer has to.
#[test]
fn a_lone_read_closes_its_page_behind_it() {
    for (machine, closing, idle) in [("closed ", 1, 0), ("", 0, 1)] {
        let (mut model, _) = model(&format!("{machine}chase:requests=1"));
        run(&mut model, &mut Nothing);
        // The timer is 250 ns; a nanosecond has 88 ticks.
        model.run_until_any(model.now() + 250 * 88, &mut Nothing);
        let at = &model.snapshot();
        let of = |event: &str| (0..3).map(|channel| count(at, 0, &format!("{event}CH{channel}"))).sum::<u64>();
        let found = (of("DRAM_OPEN."), of("DRAM_READ_CAS."), of("DRAM_READ_CAS.AUTOPRE_"), of("DRAM_PAGE_CLOSE."));
        assert_eq!(found, (1, 1, closing, idle), "{machine}");
    }
}

/// SDM, event 31H: an isochronous request comes to the home logic while a normal one for the same line is in the memory
/// controller.
#[test]
fn an_isochronous_read_hurries_the_normal_one_of_its_line() {
    // A core marks the last line of each of the two transfers: its request is at home at 28 and in the channel by 44,
    // where the row takes at least until 76 to open. A hub that takes one cycle has the device's own read of the line
    // at home at 51. From a hub that takes two hundred the read comes at 250, when the core has its line.
    for (hub_latency, updates) in [(1, 2), (200, 0)] {
        let parameters = Parameters { hub_latency, ..Parameters::x5570() };
        let text = "dma-read:requests=48,threads=1,isoc=100,stride=512k,footprint=1G";
        let workload = Workload::parse(text, &parameters.limits()).unwrap();
        let mut wiring = Wiring::new(pericore_catalog::family("nehalem").unwrap(), 1);
        let mut model = Nehalem::for_scenario(parameters, workload.into(), &mut wiring).unwrap();
        run(&mut model, &mut Nothing);
        let at = &model.snapshot();
        expect(
            at,
            0,
            &[
                ("QMC_HIGH_PRIORITY_READS.ANY", 46),
                ("QMC_CRITICAL_PRIORITY_READS.ANY", 2),
                ("QMC_NORMAL_READS.ANY", 2),
                ("QMC_PRIORITY_UPDATES.ANY", updates),
            ],
        );
        assert_eq!(channels(at, 0, "QMC_PRIORITY_UPDATES"), updates);
    }
}

/// Accesses of a program, as a list.
#[derive(Debug)]
struct List(std::vec::IntoIter<ProgramAccess>);

impl ProgramSource for List {
    fn next_access(&mut self) -> Option<ProgramAccess> {
        self.0.next()
    }
}

/// An access to a line, by a thread that has come as many instructions far.
const fn access(kind: ProgramKind, thread: u32, line: u64) -> ProgramAccess {
    ProgramAccess {
        address: line * 64,
        size: 8,
        instructions: line,
        thread,
        process: 0,
        forked_from: None,
        kind,
        after: 0,
    }
}

fn program(accesses: Vec<ProgramAccess>) -> Nehalem {
    let settings = ProgramSettings::parse("prefetch=off,pages=2M").unwrap();
    let mut wiring = Wiring::new(pericore_catalog::family("nehalem").unwrap(), 1);
    let source = Box::new(List(accesses.into_iter()));
    Nehalem::for_program(Parameters::x5570(), source, settings, &mut wiring).unwrap()
}

/// The LLC has 8,192 sets of 16 ways. A core keeps line 0 in its first level by storing to it, which the LLC does not
/// see: of 17 lines of a set it gives that one up, and the core has its data.
#[test]
fn a_line_that_the_llc_gives_up_comes_from_the_core_that_has_modified_it() {
    let mut accesses = vec![access(ProgramKind::Store, 0, 0)];
    for way in 1..=16 {
        let apart = 5000 * way;
        accesses.push(ProgramAccess { instructions: apart, ..access(ProgramKind::Load, 0, way * 8192) });
        accesses.push(ProgramAccess { instructions: apart + 2500, ..access(ProgramKind::Store, 0, 0) });
    }
    // The last store comes after line 0 has gone.
    accesses.pop();
    let mut model = program(accesses);
    run(&mut model, &mut Nothing);
    let data = [("GQ_DATA_FROM.CORES_02", 2), ("GQ_DATA_FROM.LLC", 0)];
    expect(&model.snapshot(), 0, &[&data[..], &[("LLC_MISS.READ", 17), ("QMC_WRITES.FULL_ANY", 1)]].concat());
}

#[test]
fn a_program_reads_writes_and_streams() {
    let mut accesses: Vec<ProgramAccess> = Vec::new();
    accesses.extend((0..40).map(|line| access(ProgramKind::Load, 0, line)));
    accesses.extend((100..120).map(|line| access(ProgramKind::Store, 1, line)));
    // Six whole lines, and parts of four.
    let stream = |line: u64, size| ProgramAccess { size, ..access(ProgramKind::NonTemporal, 2, line) };
    accesses.extend((200..210).map(|line| stream(line, if line < 206 { 64 } else { 8 })));
    // A thread that needs nothing from outside its core for two million instructions: time, and nothing else.
    accesses.push(ProgramAccess { address: 0, instructions: 2_000_000, ..access(ProgramKind::Progress, 3, 0) });
    let mut model = program(accesses);
    run(&mut model, &mut Nothing);
    assert_eq!(model.program().unwrap().of(ProgramKind::Load), 40);
    // Half a cycle an instruction, at 2.93 GHz.
    let seconds = model.model.parameters().clocks().seconds(0, model.now());
    assert!((0.000_341..0.000_36).contains(&seconds), "{seconds}");
    let at = &model.snapshot();
    expect(
        at,
        0,
        &[
            ("LLC_MISS.READ", 60),
            ("LLC_HITS.READ", 0),
            ("QMC_NORMAL_READS.ANY", 60),
            ("GQ_ALLOC.WRITE_TRACKER", 10),
            ("QMC_WRITES.FULL_ANY", 6),
            ("QMC_WRITES.PARTIAL_ANY", 4),
            // Thread 2 runs on core 2.
            ("GQ_DATA_FROM.CORES_02", 20),
            ("GQ_DATA_FROM.CORES_13", 0),
        ],
    );
}
