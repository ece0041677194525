//! likwid-perfctr 5.2.2, direct access (`-M 0`).

use super::rig::{Rig, Run, Source, assert_counted, config, msr, reads, require, ticks, writes};

const READS: Source = Source::Subevent("imc", 0, "CAS_COUNT", "RD");
const WRITES: Source = Source::Subevent("imc", 1, "CAS_COUNT", "WR");

fn rig(rates: &[(Source, u64)]) -> Rig {
    require("likwid-perfctr", "likwid");
    Rig { rates: rates.to_vec(), ..Rig::default() }
}

/// The value of an event's row in the table, for each HW thread.
fn row(run: &Run, event: &str, counter: &str) -> Vec<u64> {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let found = run
        .stdout
        .lines()
        .map(cells)
        .find(|cells| cells.len() > 3 && cells[1] == event && cells[2].starts_with(counter));
    let cells = found.unwrap_or_else(|| panic!("no row {event} {counter} in\n{}{}", run.stdout, run.stderr));
    let values = cells[3..].iter().filter(|cell| !cell.is_empty());
    values.map(|cell| cell.parse().unwrap_or_else(|_| panic!("{event}: {cell:?} is no count"))).collect()
}

#[test]
fn every_kind_of_box_counts_what_happens() {
    let rates = [
        (READS, 10_000_000),
        (WRITES, 5_000_000),
        (Source::Signal("cbo", 0, "llc_lookup", &[("read", 1), ("state", 3)]), 3_000_000),
        (Source::Subevent("ha", 0, "REQUESTS", "READS"), 20_000_000),
        (Source::Subevent("ubox", 0, "EVENT_MSG", "DOORBELL_RCVD"), 1_000_000),
        (Source::Signal("pcu", 0, "VOLT_TRANS_CYCLES_INCREASE", &[]), 2_000_000),
        (Source::Subevent("qpi", 1, "TxL_FLITS_G0", "DATA"), 40_000_000),
    ];
    let events = "CAS_COUNT_RD:MBOX0C0,CAS_COUNT_WR:MBOX1C1,DRAM_CLOCKTICKS:MBOX2FIX,LLC_LOOKUP_DATA_READ:CBOX0C0:STATE=0x3F,\
                  REQUESTS_READS:BBOX0,EVENT_MSG_DOORBELL_RCVD:UBOX0,UNCORE_CLOCK:UBOXFIX,\
                  VOLT_TRANS_CYCLES_INCREASE:WBOX1,TXL_FLITS_G0_DATA:SBOX1C1";
    let run = rig(&rates).succeed("likwid-perfctr", &["-M", "0", "-C", "0", "-g", events, "-S", "500ms"]);
    // LIKWID clears a counter's high half, then its low half, and never freezes PCI units: they count from the
    // clearing of the low half to its reading. It freezes MSR units with 0x10100, the PCU with 0x10101, and starts them with 0x2.
    let pci = |rate, device, function, counter| {
        let place = || config(0xff, device, function, counter);
        // The last clearing is that of the clean-up: the one before the last reading started the measurement.
        let read = *run.all(reads(place())).last().expect("read");
        let clears = run.all(writes(0, place()));
        let clear = clears.iter().rfind(|clear| clear.at < read.at).expect("cleared before");
        ticks(rate, read.at) - ticks(rate, clear.at)
    };
    let frozen = |rate, control, stop| run.counted(rate, writes(0x2, msr(control)), writes(stop, msr(control)));
    let check = |event, counter, expected| assert_counted(event, row(&run, event, counter)[0], expected);
    check("CAS_COUNT_RD", "MBOX0C0", pci(10_000_000, 16, 0, 0xa0));
    check("CAS_COUNT_WR", "MBOX1C1", pci(5_000_000, 16, 1, 0xa8));
    check("REQUESTS_READS", "BBOX0", pci(20_000_000, 14, 1, 0xa0));
    // QPI boxes have a reset for their counters, and are not frozen either.
    let qpi = run.counted(40_000_000, writes(0x2, config(0xff, 9, 2, 0xf4)), reads(config(0xff, 9, 2, 0xa8)));
    check("TXL_FLITS_G0_DATA", "SBOX1C1", qpi);
    check("LLC_LOOKUP_DATA_READ", "CBOX0C0", frozen(3_000_000, 0xd04, 0x10100));
    check("VOLT_TRANS_CYCLES_INCREASE", "WBOX1", frozen(2_000_000, 0xc24, 0x10101));
    // The fixed counter of a channel restarts with bit 19 of its control.
    let dram = run.counted(800_000_000, writes(0x48_0000, config(0xff, 16, 4, 0xf0)), reads(config(0xff, 16, 4, 0xd0)));
    check("DRAM_CLOCKTICKS", "MBOX2FIX", dram);
    // The UBox has no box control: LIKWID enables its counter last, and only clears the fixed one.
    let doorbells = run.counted(1_000_000, writes(0x42_0842, msr(0xc10)), reads(msr(0xc16)));
    check("EVENT_MSG_DOORBELL_RCVD", "UBOX0", doorbells);
    let read = *run.all(reads(msr(0xc09))).last().expect("read");
    let clear = run.all(writes(0, msr(0xc09))).into_iter().rfind(|clear| clear.at < read.at).expect("cleared before");
    check("UNCORE_CLOCK", "UBOXFIX", ticks(2_700_000_000, read.at) - ticks(2_700_000_000, clear.at));
}

#[test]
fn the_mem_group_gives_the_bandwidth_of_each_of_two_sockets() {
    let rig = Rig { sockets: 2, ..rig(&[(READS, 10_000_000), (WRITES, 5_000_000)]) };
    let run = rig.succeed("likwid-perfctr", &["-M", "0", "-C", "0,1", "-g", "MEM", "-O", "sleep", "0.5"]);
    let metric = |name: &str| -> Vec<f64> {
        let line = run
            .stdout
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap_or_else(|| panic!("{name} in\n{}", run.stdout));
        line.split(',').skip(1).filter(|cell| !cell.is_empty()).map(|cell| cell.parse().unwrap()).collect()
    };
    let count = |event: &str, counter: &str| -> Vec<u64> {
        let start = format!("{event},{counter},");
        let line = run
            .stdout
            .lines()
            .find_map(|line| line.strip_prefix(&start))
            .unwrap_or_else(|| panic!("{start}\n{}", run.stdout));
        line.split(',').filter(|cell| !cell.is_empty()).map(|cell| cell.parse().unwrap()).collect()
    };
    let (reads_shown, writes_shown) = (count("CAS_COUNT_RD", "MBOX0C0"), count("CAS_COUNT_WR", "MBOX1C1"));
    for (socket, bus) in [0x7f, 0xff].into_iter().enumerate() {
        let window = |function, counter| {
            let read = *run.all(reads(config(bus, 16, function, counter))).last().expect("read");
            let clears = run.all(writes(0, config(bus, 16, function, counter)));
            (clears.into_iter().rfind(|clear| clear.at < read.at).expect("cleared before").at, read.at)
        };
        let (start, stop) = window(0, 0xa0);
        assert_counted("reads", reads_shown[socket], ticks(10_000_000, stop) - ticks(10_000_000, start));
        // LIKWID divides by its own time, which does not cover its accesses: the bandwidth may be off by as much.
        let runtime = metric("Runtime (RDTSC) [s]")[socket];
        let seconds = (stop - start) as f64 / 1e9;
        let own_error = (seconds / runtime - 1.0).abs();
        let shown = metric("Memory read bandwidth [MBytes/s]")[socket];
        assert!(
            (shown / 640.0 - 1.0).abs() <= own_error + 0.001,
            "socket {socket}: {shown} MB/s, {seconds} s for {runtime} s"
        );
        let (start, stop) = window(1, 0xa8);
        assert_counted("writes", writes_shown[socket], ticks(5_000_000, stop) - ticks(5_000_000, start));
        assert!(own_error < 0.1, "LIKWID measured {runtime} s and counted for {seconds} s");
    }
}

/// LIKWID 5.2.2 puts STATE one bit too low (at 17 instead of 18): with the documented 0x1F a line in state F is not counted.
/// The emulated filter follows the guide (Table 2-12), so the tool's slip shows.
#[test]
fn a_slip_of_likwid_shows() {
    let rig = rig(&[(Source::Signal("cbo", 0, "llc_lookup", &[("read", 1), ("state", 4)]), 3_000_000)]);
    let events = "LLC_LOOKUP_DATA_READ:CBOX0C0:STATE=0x1F";
    let run = rig.succeed("likwid-perfctr", &["-M", "0", "-C", "0", "-g", events, "-S", "200ms"]);
    assert_eq!(row(&run, "LLC_LOOKUP_DATA_READ", "CBOX0C0"), [0]);
    assert!(run.text.contains("wrmsr cpu0 0xd14 <- 0x3e0000"), "{}", run.text);
}

#[test]
fn the_topology_is_the_machines() {
    let run = Rig { sockets: 2, ..rig(&[]) }.succeed("likwid-topology", &[]);
    for text in [
        "E5-2680 0 @ 2.70GHz",
        "Intel Xeon SandyBridge EN/EP processor",
        "Sockets:\t\t2",
        "NUMA domains:\t\t2",
        "20 MB",
    ] {
        assert!(run.stdout.contains(text), "{text:?} in\n{}", run.stdout);
    }
}
