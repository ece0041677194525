//! Intel PCM 202302: pcm-memory, pcm-raw, pcm-power and pcm-msr on E5-2600, pcm-memory on Sapphire Rapids.

use pericore_registers::Address;

use super::rig::{Access, Rig, Run, Source, config, msr, reads, require, ticks, writes};

const READS: Source = Source::Subevent("imc", 0, "CAS_COUNT", "RD");
const WRITES: Source = Source::Subevent("imc", 1, "CAS_COUNT", "WR");
const READ_RATE: u64 = 10_000_000;
const WRITE_RATE: u64 = 5_000_000;

fn rig() -> Rig {
    require("pcm-memory", "pcm");
    Rig { rates: vec![(READS, READ_RATE), (WRITES, WRITE_RATE)], ..Rig::default() }
}

/// What a counter of a channel must have shown at each reading of its low half: it runs while the channel is not frozen
/// (its unit control was written `runs`), from when its event is selected.
fn shown(
    run: &Run,
    rate: u64,
    (is_box, runs): (impl Fn(&Access) -> bool, u64),
    selects: impl Fn(&Access) -> bool,
    reads: impl Fn(&Access) -> bool,
) -> Vec<(Access, u64)> {
    let (mut selected, mut since, mut total, mut shown) = (false, None, 0, Vec::new());
    for access in &run.log {
        if selects(access) {
            selected = true;
        } else if writes(runs, &is_box)(access) {
            since = selected.then_some(access.at);
        } else if is_box(access) {
            total += since.take().map_or(0, |since| ticks(rate, access.at) - ticks(rate, since));
        } else if reads(access) && selected {
            shown.push((*access, total));
        }
    }
    shown
}

/// The same of a channel of the E5-2600, which is a function of configuration space.
fn shown_by_function(
    run: &Run,
    rate: u64,
    function: u8,
    (control, select): (u16, u64),
    counter: u16,
) -> Vec<(Access, u64)> {
    let at = |offset| config(0xff, 16, function, offset);
    shown(run, rate, (at(0xf4), 0x10000), writes(select, at(control)), reads(at(counter)))
}

fn assert_exact(readings: &[(Access, u64)]) {
    assert!(readings.len() > 1);
    for (index, (access, expected)) in readings.iter().enumerate() {
        let error = access.value.abs_diff(*expected);
        assert!(error <= 2 * (index as u64 + 1), "reading {index}: {} for {expected}", access.value);
    }
}

/// PCM divides by its own time, which it takes somewhere between waking up and reading the counters: at least what it was told to
/// wait, at most from one reading to the next and the rounds of accesses at either end. How far these two lie apart is its uncertainty.
fn assert_bandwidth(name: &str, shown: f64, readings: &[(Access, u64)], wait: f64, round: f64) {
    let bytes = readings.windows(2).map(|pair| (pair[1].0.value - pair[0].0.value) as f64 * 64.0);
    let seconds = readings.windows(2).map(|pair| (pair[1].0.at - pair[0].0.at) as f64 / 1e9);
    let fits = bytes.zip(seconds).any(|(bytes, seconds)| {
        let taken = bytes / (shown * 1e6);
        (wait.min(seconds) * 0.999..=(seconds + 2.0 * round) * 1.001).contains(&taken)
    });
    assert!(fits, "{name}: {shown} MB/s, readings {readings:?}, a round takes {round} s");
}

/// A column of pcm-memory's table.
fn column(run: &Run, name: &str) -> Vec<f64> {
    let rows: Vec<Vec<&str>> = run.stdout.lines().map(|line| line.split(',').collect()).collect();
    let header = rows.iter().position(|row| row.contains(&"Ch0Read")).unwrap_or_else(|| panic!("{}", run.stdout));
    let column = rows[header].iter().position(|cell| *cell == name);
    let column = column.unwrap_or_else(|| panic!("{name}: {:?}", rows[header]));
    rows[header + 1..].iter().filter_map(|row| row.get(column)?.trim().parse().ok()).collect()
}

#[test]
fn pcm_memory_shows_the_bandwidth_of_each_channel() {
    let run = rig().succeed("pcm-memory", &["0.5", "-i=2", "-csv"]);
    let values = |name: &str| column(&run, name);
    let read = shown_by_function(&run, READ_RATE, 0, (0xd8, 0x40_0304), 0xa0);
    let written = shown_by_function(&run, WRITE_RATE, 1, (0xdc, 0x40_0c04), 0xa8);
    assert_exact(&read);
    assert_exact(&written);
    let round = longest_round(&run);
    // PCM calls the function at 16.0 channel 2 and the one at 16.1 channel 3.
    for shown in values("Ch2Read") {
        assert_bandwidth("reads", shown, &read, 0.5, round);
    }
    for shown in values("Ch3Write") {
        assert_bandwidth("writes", shown, &written, 0.5, round);
    }
    assert!(values("Ch0Read").iter().chain(&values("Ch2Write")).all(|shown| *shown == 0.0), "{}", run.stdout);
    assert_eq!(values("Ch2Read").len(), 2, "{}", run.stdout);
}

/// The longest time from the freezing of the first channel to the last access before the tool sleeps.
fn longest_round(run: &Run) -> f64 {
    const PAUSE: u64 = 400_000_000;
    let mut longest = 0;
    let mut first = run.log.first().map_or(0, |access| access.at);
    for pair in run.log.windows(2) {
        if pair[1].at - pair[0].at > PAUSE {
            longest = longest.max(pair[0].at - first);
            first = pair[1].at;
        }
    }
    // The first round holds the set-up; the ones between pauses are readings.
    longest.max(5_000_000) as f64 / 1e9
}

#[test]
fn pcm_raw_shows_raw_counts() {
    let mut rig = rig();
    rig.rates.push((Source::Signal("cbo", 0, "llc_lookup", &[("read", 1), ("state", 1)]), 3_000_000));
    let events = [
        "-e",
        "imc/config=0x304,name=RD/",
        "-e",
        "imc/config=0xc04,name=WR/",
        "-e",
        "imc/fixed,name=CLK/",
        "-e",
        "cbo/config=0x334,config1=0x7c0000,name=LOOKUP/",
    ];
    let run = rig.succeed("pcm-raw", &[&["0.5", "-i=2"], &events[..]].concat());
    let rows: Vec<Vec<&str>> = run.stdout.lines().map(|line| line.split(',').collect()).collect();
    let top = rows.iter().position(|row| row.contains(&"SKT0CHAN2")).unwrap_or_else(|| panic!("{}", run.stdout));
    let shown = |place: &str, event: &str| -> Vec<u64> {
        let column = (0..rows[top].len()).find(|&c| rows[top][c] == place && rows[top + 1][c].ends_with(event));
        let column = column.unwrap_or_else(|| panic!("{place} {event} in\n{}", run.stdout));
        rows[top + 2..].iter().filter_map(|row| row.get(column)?.parse().ok()).collect()
    };
    // Differences of two readings, exactly: the values are in the log. PCM reads more often than it prints.
    let differences = |of: &dyn Fn(&Access) -> bool| -> Vec<u64> {
        let values: Vec<u64> = run.all(reads(of)).iter().map(|access| access.value).collect();
        let pairs = values
            .iter()
            .enumerate()
            .flat_map(|(index, first)| values[index..].iter().map(move |last| (*first, *last)));
        pairs.map(|(first, last)| last.wrapping_sub(first)).filter(|rise| *rise > 0 && *rise < 1 << 40).collect()
    };
    for (place, event, counter) in [
        ("SKT0CHAN2", "RD", config(0xff, 16, 0, 0xa0)),
        ("SKT0CHAN3", "WR", config(0xff, 16, 1, 0xa8)),
        ("SKT0CHAN0", "CLK", config(0xff, 16, 4, 0xd0)),
    ] {
        let rises = differences(&counter);
        for value in shown(place, event) {
            assert!(rises.contains(&value), "{event}: {value} is none of {rises:?}");
        }
        assert_eq!(shown(place, event).len(), 2, "{}", run.stdout);
    }
    let rises = differences(&msr(0xd16));
    for value in shown("SKT0C0", "LOOKUP") {
        assert!(value > 1_000_000 && rises.contains(&value), "look-ups: {value} is none of {rises:?}");
    }
}

#[test]
fn pcm_power_shows_clocks_and_joules() {
    let run = rig().succeed("pcm-power", &["0.5", "-i=1"]);
    let number = |start: &str, name: &str| -> f64 {
        let line = run
            .stdout
            .lines()
            .find(|line| line.starts_with(start))
            .unwrap_or_else(|| panic!("{start}: {}", run.stdout));
        let text =
            line.split(';').find_map(|part| part.trim().strip_prefix(name)).unwrap_or_else(|| panic!("{name}: {line}"));
        text.trim_start_matches(':').trim().trim_end_matches('%').parse().unwrap()
    };
    let rise = |of: &dyn Fn(&Access) -> bool| {
        let values = run.all(reads(of));
        let last = values.last().expect("read");
        values.iter().map(|first| last.value.wrapping_sub(first.value)).collect::<Vec<_>>()
    };
    let dram = number("S0CH2", "DRAMClocks") as u64;
    assert!(rise(&config(0xff, 16, 0, 0xd0)).contains(&dram), "{dram}");
    let pcu = number("S0; PCUClocks", "PCUClocks") as u64;
    assert!(rise(&msr(0xc36)).contains(&pcu), "{pcu}");
    let energy = number("S0; Consumed energy", "Consumed energy units") as u64;
    assert!(rise(&msr(0x611)).contains(&energy), "{energy}");
    assert!((number("S0; Consumed energy", "Consumed Joules") - energy as f64 / 65536.0).abs() < 0.01);
}

#[test]
fn pcm_msr_reads_and_writes() {
    let run = rig().succeed("pcm-msr", &["-w", "0x7c0000", "0xd14"]);
    assert!(run.stdout.contains("Read value 0x7c0000 from MSR 0xd14"), "{}", run.stdout);
    let run = rig().succeed("pcm-msr", &["-a", "0xce"]);
    assert!(run.stdout.contains("Read value 0xc0000001b00 from MSR 0xce on core 0x1"), "{}", run.stdout);
}

#[test]
fn pcm_sees_two_sockets() {
    let run = Rig { sockets: 2, ..rig() }.succeed("pcm-memory", &["0.3", "-i=1"]);
    assert!(run.stderr.contains("Num sockets: 2") || run.stdout.contains("Num sockets: 2"), "{}", run.stderr);
    for socket in 0..2 {
        assert!(run.stdout.contains(&format!("NODE {socket} Mem Read (MB/s)")), "{}", run.stdout);
    }
}

/// A register of the machine's memory windows, which begin at 0xf0000000 (config registers 0xD0 and 0xD8).
fn memory(at: u64) -> impl Fn(&Access) -> bool {
    move |access| matches!(access.entry.address, Address::Mmio { physical } if physical == at)
}

/// Controllers lie 0x80000 apart, their two channels 0x8000 (Linux's spr_uncore_imc, PCM): unit control at 0x22800,
/// controls at +0x40, counters at +0x08. Reads are event 0x05 with umask 0xCF, writes 0xF0 (Intel's event file). PCM
/// counts three channels a controller.
#[test]
fn pcm_memory_shows_the_channels_of_sapphire_rapids() {
    // Kinds of CAS: 0 a read, 4 a write.
    let reads_here = Source::Signal("imc", 0, "cas", &[("kind", 0)]);
    let writes_there = Source::Signal("imc", 3, "cas", &[("kind", 4)]);
    let rates = vec![(reads_here, READ_RATE), (writes_there, WRITE_RATE)];
    let rig = Rig { family: "sapphire-rapids", rates, ..rig() };
    let run = rig.succeed("pcm-memory", &["0.5", "-i=2", "-csv"]);
    let counted = |rate, channel: u64, number: u64, select: u64| {
        let (unit, control) = (memory(channel), memory(channel + 0x40 + 4 * number));
        shown(&run, rate, (unit, 0), writes(select, control), reads(memory(channel + 0x08 + 8 * number)))
    };
    let read = counted(READ_RATE, 0xf002_2800, 0, 0xcf05);
    let written = counted(WRITE_RATE, 0xf00a_a800, 1, 0xf005);
    assert_exact(&read);
    assert_exact(&written);
    let round = longest_round(&run);
    for shown in column(&run, "Ch0Read") {
        assert_bandwidth("reads", shown, &read, 0.5, round);
    }
    for shown in column(&run, "Ch5Write") {
        assert_bandwidth("writes", shown, &written, 0.5, round);
    }
    for silent in ["Ch0Write", "Ch5Read"] {
        assert_eq!(column(&run, silent), [0.0; 2], "{silent}: {}", run.stdout);
    }
    // It prints nothing for channels without traffic.
    for silent in ["Ch1Read", "Ch2Read", "Ch3Write", "Ch6Read", "Ch11Read"] {
        assert!(column(&run, silent).is_empty(), "{silent}: {}", run.stdout);
    }
    assert_eq!((column(&run, "Ch0Read").len(), column(&run, "Ch5Write").len()), (2, 2), "{}", run.stdout);
}
