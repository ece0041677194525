//! LIKWID and PCM on an E5-2600 under workloads of the traffic model: what they count is what the ledger says, to the last unit, and
//! their bandwidths differ by no more than their own timing.

use super::rig::{Access, Count, Event, Rig, Run, config, msr, reads, require, writes};

/// A function of an uncore bus, and the ledger's number of the channel behind it.
const CHANNELS: [(u8, u16); 4] = [(0, 0), (1, 1), (4, 2), (5, 3)];

/// Reads and writes, hits and misses: every counted signal moves. Memory sees writes when the LLC is full of dirty lines: few sets
/// are soon.
const WORKLOAD: &str = "mixed:read=60,stride=64k,footprint=1G";

/// Uncore buses of two sockets; of one, the last.
const BUSES: [u8; 2] = [0x7f, 0xff];

/// The same with two sockets, each of whose threads uses the other's memory, too.
const SHARED: &str = "mixed:read=60,stride=64k,footprint=1G,remote=30";

fn rig(workload: &'static str) -> Rig {
    require("likwid-perfctr", "likwid");
    require("pcm-memory", "pcm");
    Rig { workload: Some(workload), ..Rig::default() }
}

/// The value of a row of LIKWID's CSV output, of the first HW thread.
fn cell(run: &Run, start: &str) -> f64 {
    cells(run, start)[0]
}

/// The values of a row, of each HW thread.
fn cells(run: &Run, start: &str) -> Vec<f64> {
    let line = run.stdout.lines().find_map(|line| line.strip_prefix(start));
    let line = line.unwrap_or_else(|| panic!("{start} in\n{}{}", run.stdout, run.stderr));
    let cells: Vec<f64> = line.split(',').filter_map(|cell| cell.parse().ok()).collect();
    assert!(!cells.is_empty(), "{start}: {line}");
    cells
}

/// From the last clearing of a counter before its last reading to that reading: LIKWID does not freeze PCI units.
fn cleared_to_read(run: &Run, bus: u8, device: u8, function: u8, counter: u16) -> (u64, u64) {
    let place = || config(bus, device, function, counter);
    let read = *run.all(reads(place())).last().expect("read");
    let clear = run.all(writes(0, place())).into_iter().rfind(|clear| clear.at < read.at).expect("cleared before");
    (clear.at, read.at)
}

/// From the last start of an MSR unit to the freeze after it, which for the PCU has bit 0, too.
fn started_to_frozen(run: &Run, control: u32) -> (u64, u64) {
    let start = run.log.iter().rposition(writes(0x2, msr(control))).expect("started");
    let stops = |access: &&Access| [0x10100, 0x10101].iter().any(|&value| writes(value, msr(control))(access));
    let stop = run.log[start..].iter().find(stops).expect("frozen");
    (run.log[start].at, stop.at)
}

#[test]
fn likwid_counts_what_the_ledger_says() {
    // State 0x3F: LIKWID puts STATE one bit too low, so that state F needs a sixth bit. The PCU's occupancies need the option
    // OCCUPANCY: without it LIKWID chooses no C-state.
    let events = "CAS_COUNT_RD:MBOX0C0,CAS_COUNT_WR:MBOX0C1,RPQ_OCCUPANCY:MBOX1C0,ACT_COUNT:MBOX2C1,DRAM_CLOCKTICKS:MBOX2FIX,\
                  REQUESTS_READS:BBOX0,REQUESTS_WRITES:BBOX1,LLC_LOOKUP_DATA_READ:CBOX0C0:STATE=0x3F,\
                  POWER_STATE_OCCUPANCY_CORES_C0:WBOX0:OCCUPANCY=1,UNCORE_CLOCK:UBOXFIX,LLC_VICTIMS_M_STATE:CBOX1C1,TOR_OCCUPANCY_MISS_ALL:CBOX2C0,TOR_INSERTS_MISS_ALL:CBOX2C1";
    let run = rig(WORKLOAD).succeed("likwid-perfctr", &["-M", "0", "-C", "0", "-g", events, "-O", "-S", "300ms"]);
    let shown = |row: &str| cell(&run, &format!("{row},")) as u64;
    let pci = |row: &str, device, function, counter, event: Event| Count {
        shown: shown(row),
        ran: vec![cleared_to_read(&run, 0xff, device, function, counter)],
        socket: 0,
        event,
    };
    let unit = |row: &str, control, event: Event| Count {
        shown: shown(row),
        ran: vec![started_to_frozen(&run, control)],
        socket: 0,
        event,
    };
    // The fixed counter of a channel restarts with bit 19 of its control.
    let restart = run.log.iter().rposition(writes(0x48_0000, config(0xff, 16, 4, 0xf0))).expect("restarted");
    let read = run.log[restart..].iter().find(|access| reads(config(0xff, 16, 4, 0xd0))(access)).expect("read");
    let dram = (run.log[restart].at, read.at);
    // The UBox' one is cleared and runs on.
    let read = *run.all(reads(msr(0xc09))).last().expect("read");
    let clear = run.all(writes(0, msr(0xc09))).into_iter().rfind(|clear| clear.at < read.at).expect("cleared before");
    let uncore = (clear.at, read.at);
    let fixed = |row: &str, ran, event: Event| Count { shown: shown(row), ran: vec![ran], socket: 0, event };
    let counts = [
        pci("CAS_COUNT_RD,MBOX0C0", 16, 0, 0xa0, ("imc", 0, "CAS_COUNT", "RD", &[])),
        pci("CAS_COUNT_WR,MBOX0C1", 16, 0, 0xa8, ("imc", 0, "CAS_COUNT", "WR", &[])),
        pci("RPQ_OCCUPANCY,MBOX1C0", 16, 1, 0xa0, ("imc", 1, "RPQ_OCCUPANCY", "", &[])),
        pci("ACT_COUNT,MBOX2C1", 16, 4, 0xa8, ("imc", 2, "ACT_COUNT", "", &[])),
        fixed("DRAM_CLOCKTICKS,MBOX2FIX", dram, ("imc", 2, "DCLK_FIXED", "", &[])),
        fixed("UNCORE_CLOCK,UBOXFIX", uncore, ("ubox", 0, "CLOCKTICKS", "", &[])),
        unit(
            "POWER_STATE_OCCUPANCY_CORES_C0,WBOX0:OCCUPANCY=1",
            0xc24,
            ("pcu", 0, "POWER_STATE_OCCUPANCY", "CORES_C0", &[]),
        ),
        pci("REQUESTS_READS,BBOX0", 14, 1, 0xa0, ("ha", 0, "REQUESTS", "READS", &[])),
        pci("REQUESTS_WRITES,BBOX1", 14, 1, 0xa8, ("ha", 0, "REQUESTS", "WRITES", &[])),
        unit(
            "LLC_LOOKUP_DATA_READ,CBOX0C0:STATE=0x3F",
            0xd04,
            ("cbo", 0, "LLC_LOOKUP", "DATA_READ", &[("state", 0x1f)]),
        ),
        unit("LLC_VICTIMS_M_STATE,CBOX1C1", 0xd24, ("cbo", 1, "LLC_VICTIMS", "M_STATE", &[])),
        unit("TOR_OCCUPANCY_MISS_ALL,CBOX2C0", 0xd44, ("cbo", 2, "TOR_OCCUPANCY", "MISS_ALL", &[])),
        unit("TOR_INSERTS_MISS_ALL,CBOX2C1", 0xd44, ("cbo", 2, "TOR_INSERTS", "MISS_ALL", &[])),
    ];
    assert!(counts.iter().all(|count| count.shown > 100_000), "everything moves: {counts:?}");
    run.assert_true(&counts);
}

#[test]
fn likwids_mem_group_shows_the_models_bandwidth() {
    mem_group(&rig(WORKLOAD), "0", &[0xff]);
}

#[test]
fn likwids_mem_group_shows_each_sockets_bandwidth() {
    mem_group(&Rig { sockets: 2, ..rig(SHARED) }, "0,1", &BUSES);
}

/// A counter of the links between sockets: LIKWID's event, kind of box and counter, the link, and the ledger's name for the event.
type LinkCounter = (&'static str, &'static str, u8, Event);

/// Link layers: their clock, flits, and data that goes straight to a core.
#[test]
fn likwid_counts_what_goes_over_the_links_of_two_sockets() {
    links(&[
        ("SBOX_CLOCKTICKS", "SBOX", 0, ("qpi", 0, "CLOCKTICKS", "", &[])),
        ("DIRECT2CORE_SUCCESS", "SBOX", 1, ("qpi", 0, "DIRECT2CORE", "SUCCESS", &[])),
        ("TXL_FLITS_G0_DATA", "SBOX", 2, ("qpi", 0, "TxL_FLITS_G0", "DATA", &[])),
        ("RXL_FLITS_G0_NON_DATA", "SBOX", 3, ("qpi", 0, "RxL_FLITS_G0", "NON_DATA", &[])),
        ("RXL_FLITS_G0_DATA", "SBOX", 0, ("qpi", 1, "RxL_FLITS_G0", "DATA", &[])),
        ("TXL_FLITS_G0_IDLE", "SBOX", 1, ("qpi", 1, "TxL_FLITS_G0", "IDLE", &[])),
        ("RXL_BYPASSED", "SBOX", 2, ("qpi", 1, "RxL_BYPASSED", "", &[])),
        ("DIRECT2CORE_FAILURE_RBT", "SBOX", 3, ("qpi", 1, "DIRECT2CORE", "FAILURE_RBT", &[])),
    ]);
}

/// The buffers of the link layers, and the ring stops that feed them. LIKWID does not set the bit that selects the second half of a link
/// layer's events (classes of flits, credits): what it calls home requests are flits of payload.
#[test]
fn likwid_counts_what_waits_for_the_links_of_two_sockets() {
    links(&[
        ("TXL_INSERTS", "SBOX", 0, ("qpi", 0, "TxL_INSERTS", "", &[])),
        ("TXL_OCCUPANCY", "SBOX", 1, ("qpi", 0, "TxL_OCCUPANCY", "", &[])),
        ("RXL_INSERTS", "SBOX", 2, ("qpi", 0, "RxL_INSERTS", "", &[])),
        ("RXL_OCCUPANCY", "SBOX", 3, ("qpi", 0, "RxL_OCCUPANCY", "", &[])),
        ("TXL_CYCLES_NE", "SBOX", 0, ("qpi", 1, "TxL_CYCLES_NE", "", &[])),
        ("TXL_BYPASSED", "SBOX", 1, ("qpi", 1, "TxL_BYPASSED", "", &[])),
        ("RXL0_POWER_CYCLES", "SBOX", 2, ("qpi", 1, "RxL0_POWER_CYCLES", "", &[])),
        ("TXL_FLITS_G1_HOM_REQ", "SBOX", 3, ("qpi", 1, "TxL_FLITS_G0", "DATA", &[])),
        ("RXR_OCCUPANCY_DRS", "RBOX", 0, ("r3qpi", 0, "RxR_OCCUPANCY", "DRS", &[])),
        ("VNA_CREDITS_ACQUIRED", "RBOX", 1, ("r3qpi", 0, "VNA_CREDITS_ACQUIRED", "", &[])),
        ("RXR_OCCUPANCY_NDR", "RBOX", 0, ("r3qpi", 1, "RxR_OCCUPANCY", "NDR", &[])),
        ("VNA_CREDITS_ACQUIRED", "RBOX", 1, ("r3qpi", 1, "VNA_CREDITS_ACQUIRED", "", &[])),
    ]);
}

/// LIKWID's counts of both sockets are the ledger's.
fn links(counters: &[LinkCounter]) {
    let place = |&(_, kind, counter, event): &LinkCounter| format!("{kind}{}C{counter}", event.1);
    let events: Vec<String> = counters.iter().map(|counter| format!("{}:{}", counter.0, place(counter))).collect();
    let rig = Rig { sockets: 2, ..rig(SHARED) };
    let run = rig.succeed("likwid-perfctr", &["-M", "0", "-C", "0,1", "-g", &events.join(","), "-O", "-S", "300ms"]);
    let mut counts = Vec::new();
    for counter @ &(name, kind, number, event) in counters {
        let shown = cells(&run, &format!("{name},{},", place(counter)));
        for ((socket, bus), shown) in (0..).zip(BUSES).zip(shown) {
            let link = event.1 as u8;
            // The link layers belong to two devices, their ring stops are functions of one.
            let (device, function) = if kind == "SBOX" { (8 + link, 2) } else { (19, 5 + link) };
            let ran = vec![reset_to_read(&run, (bus, device, function), 0xa0 + 8 * u16::from(number))];
            counts.push(Count { shown: shown as u64, ran, socket, event });
        }
    }
    assert_eq!(counts.len(), 2 * counters.len());
    assert!(counts.iter().all(|count| count.shown > 10_000), "everything moves: {counts:?}");
    run.assert_true(&counts);
}

/// From the last reset of a unit's counters before the last reading of one to that reading: LIKWID resets these units, and does not
/// freeze them.
fn reset_to_read(run: &Run, (bus, device, function): (u8, u8, u8), counter: u16) -> (u64, u64) {
    let read = *run.all(reads(config(bus, device, function, counter))).last().expect("read");
    let resets = run.all(writes(0x2, config(bus, device, function, 0xf4)));
    let reset = resets.into_iter().rfind(|reset| reset.at < read.at).expect("reset before");
    (reset.at, read.at)
}

fn mem_group(rig: &Rig, cpus: &str, buses: &[u8]) {
    let run = rig.succeed("likwid-perfctr", &["-M", "0", "-C", cpus, "-g", "MEM", "-O", "-S", "300ms"]);
    let mut counts = Vec::new();
    for (number, (function, instance)) in CHANNELS.into_iter().enumerate() {
        for (row, counter, register, subevent) in [("CAS_COUNT_RD", 0, 0xa0, "RD"), ("CAS_COUNT_WR", 1, 0xa8, "WR")] {
            let shown = cells(&run, &format!("{row},MBOX{number}C{counter},"));
            for ((socket, &bus), shown) in (0..).zip(buses).zip(shown) {
                let ran = vec![cleared_to_read(&run, bus, 16, function, register)];
                let event = ("imc", instance, "CAS_COUNT", subevent, &[][..]);
                counts.push(Count { shown: shown as u64, ran, socket, event });
            }
        }
    }
    assert_eq!(counts.len(), 8 * buses.len());
    run.assert_true(&counts);
    // LIKWID divides by its own time: how far that is from the time that its counters ran is its uncertainty.
    let runtimes = cells(&run, "Runtime (RDTSC) [s],");
    for (name, subevent) in [("Memory read bandwidth [MBytes/s],", "RD"), ("Memory write bandwidth [MBytes/s],", "WR")]
    {
        for (socket, shown) in (0..).zip(cells(&run, name)).take(buses.len()) {
            let of = |count: &&Count| count.event.3 == subevent && count.socket == socket;
            let seconds = |count: &Count| (count.ran[0].1 - count.ran[0].0) as f64 / 1e9;
            let truth: f64 = counts.iter().filter(of).map(|count| count.shown as f64 * 64e-6 / seconds(count)).sum();
            let runtime = runtimes[usize::from(socket)];
            let own = counts.iter().filter(of).map(|count| (seconds(count) / runtime - 1.0).abs()).fold(0.0, f64::max);
            let error = (shown / truth - 1.0).abs();
            assert!(error <= own + 0.001, "{name} {shown}, the model {truth}, LIKWID's clock is off by {own}");
            assert!(truth > 1000.0, "{name}: hardly any traffic: {truth} MB/s");
        }
    }
}

/// When a counter of a unit with freezes ran before each of its readings, since it was last cleared: from its unit's start (or its
/// own, if that is later) to the freeze. Its control enables it with the event select `code`.
fn runs(
    run: &Run,
    unit: impl Fn(&Access) -> bool,
    (control, code): (impl Fn(&Access) -> bool, u64),
    counter: impl Fn(&Access) -> bool,
) -> Vec<(Access, Vec<(u64, u64)>)> {
    use pericore_doors::log::Kind;
    let (mut enabled, mut thawed, mut since) = (false, true, None);
    let (mut ran, mut readings): (Vec<(u64, u64)>, _) = (Vec::new(), Vec::new());
    for access in &run.log {
        let Kind::Write(value) = access.entry.kind else {
            if counter(access) && (enabled || !ran.is_empty()) {
                let open = since.map(|since| (since, access.at));
                readings.push((*access, ran.iter().copied().chain(open).collect()));
            }
            continue;
        };
        if counter(access) {
            ran.clear();
            since = since.map(|_| access.at);
        } else if control(access) {
            // Bit 22 enables; a tool may have it count something else before.
            enabled = value & 1 << 22 != 0 && value & 0xff == code;
            // Bit 19 clears fixed counters.
            if value & 1 << 19 != 0 {
                ran.clear();
                since = since.map(|_| access.at);
            }
        } else if unit(access) {
            // Freeze enable and freeze; bit 1 clears the counters.
            thawed = value & 0x10100 != 0x10100;
            if value & 0x2 != 0 {
                ran.clear();
                since = since.map(|_| access.at);
            }
        }
        match (enabled && thawed, since) {
            (true, None) => since = Some(access.at),
            (false, Some(from)) => {
                ran.push((from, access.at));
                since = None;
            }
            _ => {}
        }
    }
    readings
}

/// Readings as counts to compare with the ledger.
fn counts(readings: &[(Access, Vec<(u64, u64)>)], socket: u16, event: Event) -> Vec<Count> {
    assert!(readings.len() > 1, "{event:?} was hardly read");
    readings.iter().map(|(access, ran)| Count { shown: access.value, ran: ran.clone(), socket, event }).collect()
}

fn channel(run: &Run, bus: u8, function: u8, control: u16, counter: u16) -> Vec<(Access, Vec<(u64, u64)>)> {
    // CAS_COUNT.
    let control = (config(bus, 16, function, control), 0x04);
    runs(run, config(bus, 16, function, 0xf4), control, config(bus, 16, function, counter))
}

#[test]
fn pcm_memory_reads_what_the_ledger_says_and_shows_its_bandwidth() {
    let run = rig(WORKLOAD).succeed("pcm-memory", &["0.3", "-i=2", "-csv"]);
    let rows: Vec<Vec<&str>> = run.stdout.lines().map(|line| line.split(',').collect()).collect();
    let header = rows.iter().position(|row| row.contains(&"Ch0Read")).unwrap_or_else(|| panic!("{}", run.stdout));
    let shown = |name: &str| -> Vec<f64> {
        let column = rows[header].iter().position(|cell| *cell == name).unwrap_or_else(|| panic!("{name}"));
        rows[header + 1..].iter().filter_map(|row| row.get(column)?.trim().parse().ok()).collect()
    };
    let mut all = Vec::new();
    // PCM's channels 2, 3, 0 and 1 are the functions 0, 1, 4 and 5.
    for ((function, instance), name) in CHANNELS.into_iter().zip(["Ch2", "Ch3", "Ch0", "Ch1"]) {
        for (what, control, counter, subevent) in [("Read", 0xd8, 0xa0, "RD"), ("Write", 0xdc, 0xa8, "WR")] {
            let readings = channel(&run, 0xff, function, control, counter);
            all.extend(counts(&readings, 0, ("imc", instance, "CAS_COUNT", subevent, &[])));
            let values = shown(&format!("{name}{what}"));
            assert_eq!(values.len(), 2, "{}", run.stdout);
            values.iter().for_each(|shown| assert_bandwidth(&run, &format!("{name}{what}"), *shown, &readings));
        }
    }
    run.assert_true(&all);
}

#[test]
fn pcm_memory_reads_both_sockets() {
    let run = Rig { sockets: 2, ..rig(SHARED) }.succeed("pcm-memory", &["0.3", "-i=1"]);
    let mut all = Vec::new();
    for (socket, bus) in (0..).zip(BUSES) {
        for (function, instance) in CHANNELS {
            let readings = channel(&run, bus, function, 0xd8, 0xa0);
            all.extend(counts(&readings, socket, ("imc", instance, "CAS_COUNT", "RD", &[])));
        }
        assert!(run.stdout.contains(&format!("NODE {socket} Mem Read (MB/s)")), "{}", run.stdout);
    }
    assert!(all.iter().all(|count| count.shown > 100_000 || count.ran.is_empty()), "{all:?}");
    run.assert_true(&all);
}

/// PCM divides by its own time, which begins and ends somewhere around its accesses: it is at least what PCM was told to wait, and at
/// most from the first access of the first round to the last of the last. Both are measured; how far they lie apart is PCM's
/// uncertainty.
fn assert_bandwidth(run: &Run, name: &str, shown: f64, readings: &[(Access, Vec<(u64, u64)>)]) {
    const WAIT: f64 = 0.3;
    /// Accesses that lie so far apart belong to two rounds: PCM slept. A busy host's pauses are shorter.
    const PAUSE: u64 = 250_000_000;
    let rounds = run.log.chunk_by(|a, b| b.at - a.at < PAUSE).map(|round| (round[0].at, round[round.len() - 1].at));
    let rounds: Vec<(u64, u64)> = rounds.collect();
    let round =
        |access: &Access| *rounds.iter().find(|round| (round.0..=round.1).contains(&access.at)).expect("a round");
    let fits = readings.windows(2).any(|pair| {
        let (first, second) = (&pair[0].0, &pair[1].0);
        let taken = (second.value - first.value) as f64 * 64.0 / (shown * 1e6);
        let most = (round(second).1 - round(first).0) as f64 / 1e9;
        let least = WAIT.min((second.at - first.at) as f64 / 1e9);
        (least * 0.999..=most * 1.001).contains(&taken)
    });
    assert!(fits, "{name}: {shown} MB/s, rounds {rounds:?}, readings {readings:?}");
}

/// DRAM clocks of a channel and clocks of the power control unit.
#[test]
fn pcm_power_shows_the_models_clocks() {
    let run = rig(WORKLOAD).succeed("pcm-power", &["0.3", "-i=1"]);
    let dram = runs(&run, config(0xff, 16, 0, 0xf4), (config(0xff, 16, 0, 0xf0), 0), config(0xff, 16, 0, 0xd0));
    let pcu = runs(&run, msr(0xc24), (msr(0xc30), 0), msr(0xc36));
    let mut all = counts(&dram, 0, ("imc", 0, "DCLK_FIXED", "", &[]));
    all.extend(counts(&pcu, 0, ("pcu", 0, "CLOCKTICKS", "", &[])));
    run.assert_true(&all);
    for (start, name, readings) in [("S0CH2", "DRAMClocks:", dram), ("S0; PCUClocks", "PCUClocks:", pcu)] {
        let line = run.stdout.lines().find(|line| line.starts_with(start));
        let shown = line.and_then(|line| line.split(';').find_map(|part| part.trim().strip_prefix(name)));
        let shown: u64 = shown.unwrap_or_else(|| panic!("{name} in\n{}", run.stdout)).trim().parse().expect("a count");
        let mut pairs = readings.iter().enumerate().flat_map(|(i, a)| readings[i..].iter().map(move |b| (a, b)));
        let found = pairs.any(|(first, last)| last.0.value.wrapping_sub(first.0.value) == shown);
        assert!(found && shown > 100_000_000, "{name} {shown} is no difference of {readings:?}");
    }
}

#[test]
fn pcm_raw_reads_what_the_ledger_says() {
    let events = ["imc/config=0x304,name=RD/", "imc/config=0xc04,name=WR/", "imc/fixed,name=CLK/"];
    // LLC_LOOKUP.DATA_READ in all states: the filter's bits 22:18.
    let look_ups = ["-e", "cbo/config=0x334,config1=0x7c0000,name=LOOKUP/"];
    let events: Vec<&str> = events.iter().flat_map(|event| ["-e", event]).chain(look_ups).collect();
    let run = rig(WORKLOAD).succeed("pcm-raw", &[&["0.3", "-i=2"], &events[..]].concat());
    let mut all = counts(&channel(&run, 0xff, 0, 0xd8, 0xa0), 0, ("imc", 0, "CAS_COUNT", "RD", &[]));
    all.extend(counts(&channel(&run, 0xff, 5, 0xdc, 0xa8), 0, ("imc", 3, "CAS_COUNT", "WR", &[])));
    let slice = runs(&run, msr(0xd04), (msr(0xd10), 0x34), msr(0xd16));
    all.extend(counts(&slice, 0, ("cbo", 0, "LLC_LOOKUP", "DATA_READ", &[("state", 0x1f)])));
    run.assert_true(&all);
    // What it prints are differences of two readings.
    let rows: Vec<Vec<&str>> = run.stdout.lines().map(|line| line.split(',').collect()).collect();
    let top = rows.iter().position(|row| row.contains(&"SKT0CHAN2")).unwrap_or_else(|| panic!("{}", run.stdout));
    for (place, event, readings) in
        [("SKT0CHAN2", "RD", channel(&run, 0xff, 0, 0xd8, 0xa0)), ("SKT0C0", "LOOKUP", slice)]
    {
        let column = (0..rows[top].len()).find(|&c| rows[top][c] == place && rows[top + 1][c].ends_with(event));
        let column = column.unwrap_or_else(|| panic!("{place} {event} in\n{}", run.stdout));
        let printed: Vec<u64> = rows[top + 2..].iter().filter_map(|row| row.get(column)?.parse().ok()).collect();
        assert_eq!(printed.len(), 2, "{}", run.stdout);
        for value in printed {
            let mut pairs = readings.iter().enumerate().flat_map(|(i, a)| readings[i..].iter().map(move |b| (a, b)));
            let found = pairs.any(|(first, last)| last.0.value.wrapping_sub(first.0.value) == value);
            assert!(found && value > 100_000, "{place} {event}: {value} is no difference of {readings:?}");
        }
    }
}
