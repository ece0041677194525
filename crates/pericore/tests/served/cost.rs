//! What serving costs: of a core, and of memory, beside the software machine that it measures, which is another
//! process. What a sample costs is looked at, with the changes of rounds in it: at one a second it is the share of a
//! core. The time of the process that reads registers is not in it: each of its system calls sleeps until the doors
//! have done what hardware does in a microsecond, and comes back to cold caches. What it takes without doors,
//! access by access, is measured in `observe/src/register_process/tests.rs`; its memory counts here.

use std::fs;
use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use super::{awaited_for, serve_by};

/// Twenty metrics of five units; those of caching agents take three turns, those of memory controllers two.
const METRICS: &str = "MEM_READ_BANDWIDTH,MEM_WRITE_BANDWIDTH,MEM_BANDWIDTH,imc/PCT_RD_REQUESTS,imc/RPQ_RESIDENCY,\
    cha/UNCORE_FREQUENCY,cha/LLC_DRD_MISS_PCT,cha/AVG_DRD_MISS_LATENCY,cha/DRD_MISS_LATENCY_NS,cha/PCT_RD_REQUESTS,\
    upi/UPI_SPEED,upi/UPI_TX_UTIL,upi/UPI_DATA_TX_BANDWIDTH,upi/UPI_DATA_RX_BANDWIDTH,iio/IO_READ_BANDWIDTH,\
    iio/IO_WRITE_BANDWIDTH,iio/MMIO_READ_BANDWIDTH,iio/MMIO_WRITE_BANDWIDTH,pcu/CORES_IN_C0,\
    pcu/PCT_CYC_FREQ_POWER_LTD";

/// The binary that is measured: what `cargo build` makes without `--release` is several times as large and as slow.
const MEASURED: &str = "PERICORE_MEASURED";

/// Windows of so many samples, after some in which memory grows to what it stays at. The cheapest counts: what others
/// do on this machine only adds.
const FIRST: f64 = 3.0;
const SAMPLES: f64 = 5.0;
const WINDOWS: usize = 4;
/// For so many: a sample takes some ten seconds where the software machine has half a core.
const PATIENCE: Duration = Duration::from_secs(900);

/// Milliseconds of a core a sample, 10 less what the process that reads takes of them, and bytes.
const MOST_TIME: f64 = 9.0;
const MOST_MEMORY: f64 = 40e6;

/// A sample a second of both sockets of Emerald Rapids: less than 1 % of a core, and less than 40 MB.
#[test]
#[ignore = "minutes: the long form"]
fn twenty_metrics_a_second_cost_less_than_a_hundredth_of_a_core_and_40_mb() {
    let Some(program) = std::env::var_os(MEASURED) else {
        // Past the capture of the test's output.
        let words = format!("\nSKIPPED: the cost of serving, since {MEASURED} names no release build\n\n");
        std::io::stderr().write_all(words.as_bytes()).expect("stderr takes text");
        return;
    };
    assert_eq!(METRICS.split(',').count(), 20);
    let machine = "emerald-rapids:sockets=2,cores=8";
    let (server, port, _) = serve_by(&program, machine, "idle", &["-I", "1000", "-M", METRICS]);
    let url = format!("http://127.0.0.1:{port}/metrics");
    let scraped = |least: f64| {
        let output = Command::new("curl").args(["-sf", "--max-time", "20", &url]).output().expect("curl");
        let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        let number = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name))?;
            line.rsplit(' ').next()?.parse::<f64>().ok()
        };
        let [cpu, samples] = ["process_cpu_seconds_total", "pericore_samples_total"].map(|name| number(name).unwrap());
        let series = text.lines().filter(|line| !line.starts_with('#')).count();
        (samples >= least).then_some((cpu, samples, series))
    };
    let (mut before, mut first, series) = awaited_for(PATIENCE, "the first samples", || scraped(FIRST));
    let [serving, reading] = processes_under(server.0.id());
    let read_before = user_seconds(reading);
    let mut windows = Vec::new();
    for _ in 0..WINDOWS {
        let (cpu, last, _) = awaited_for(PATIENCE, "more samples", || scraped(first + SAMPLES));
        windows.push((cpu - before) / (last - first) * 1e3);
        (before, first) = (cpu, last);
    }
    let read = (user_seconds(reading) - read_before) / (WINDOWS as f64 * SAMPLES) * 1e3;
    let memory = [memory(serving, &["Rss"]), memory(reading, &["Private_Clean", "Private_Dirty"])];
    println!(
        "{series} series: {windows:.2?} ms of CPU a sample, {read:.1} ms in user mode to read registers; {:.1} and \
         {:.1} MB",
        memory[0] / 1e6,
        memory[1] / 1e6
    );
    let least = windows.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(least < MOST_TIME, "{windows:.2?} ms of CPU a sample");
    assert!(memory.iter().sum::<f64>() < MOST_MEMORY, "{memory:?} bytes");
}

/// The server, which the software machine starts, and what reads registers for it: it is started by the server, and
/// starts nothing.
fn processes_under(machine: u32) -> [u32; 2] {
    let all: Vec<(u32, u32)> = fs::read_dir("/proc").expect("/proc").flatten().filter_map(process).collect();
    let mut under = vec![machine];
    for at in 0.. {
        let Some(&parent) = under.get(at) else { break };
        under.extend(all.iter().filter(|(_, of)| *of == parent).map(|(number, _)| number));
    }
    let starts_none = |number: u32| all.iter().all(|(_, of)| *of != number);
    let last: Vec<&(u32, u32)> =
        all.iter().filter(|(number, _)| under.contains(number) && starts_none(*number)).collect();
    let [(reading, serving)] = last[..] else { panic!("one process reads registers: {last:?}") };
    [*serving, *reading]
}

/// A process's number, and its parent's.
fn process(entry: fs::DirEntry) -> Option<(u32, u32)> {
    let number = entry.file_name().to_str()?.parse().ok()?;
    Some((number, field(number, 1)?.parse().ok()?))
}

/// A field of /proc/NUMBER/stat, behind the name, which may have spaces: the state is the first.
fn field(number: u32, index: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(index).map(str::to_owned)
}

/// In USER_HZ: hundredths of a second on every Linux.
fn user_seconds(number: u32) -> f64 {
    field(number, 11).and_then(|ticks| ticks.parse::<f64>().ok()).expect("it runs") / 100.0
}

/// Bytes of a process: the sum of these lines. What the process that reads registers shares with the server is counted
/// there.
fn memory(number: u32, names: &[&str]) -> f64 {
    let text = fs::read_to_string(format!("/proc/{number}/smaps_rollup")).expect("it is ours");
    let of_name = |name: &&str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok()).expect("a number")
    };
    names.iter().map(of_name).sum::<f64>() * 1024.0
}
