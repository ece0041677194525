//! What serving costs: of a core, and of memory, beside the software machine that it measures, which is another
//! process. That is what makes samples rare: each goes through the doors, register by register. So what a sample costs
//! is looked at: at one a second it is the share of a core. What the process that reads registers takes in user mode is
//! counted, too, to hundredths of a second; its system calls end in the doors, not in hardware.

use std::fs;
use std::process::Command;
use std::time::Duration;

use super::{awaited_for, serve_on};

/// Twenty metrics of four units.
const METRICS: &str = "MEM_READ_BANDWIDTH,MEM_WRITE_BANDWIDTH,MEM_BANDWIDTH,cha/UNCORE_FREQUENCY,\
    cha/AVG_DRD_MISS_LATENCY,cha/AVG_CRD_MISS_LATENCY,cha/AVG_RFO_MISS_LATENCY,cha/AVG_DEMAND_RD_HIT_LATENCY,\
    cha/AVG_DEMAND_RD_MISS_LOCAL_LATENCY,cha/AVG_DEMAND_RD_MISS_REMOTE_LATENCY,cha/DRD_MISS_LATENCY_NS,\
    cha/DEMAND_RD_MISS_LOCAL_LATENCY_NS,cha/DEMAND_RD_MISS_REMOTE_LATENCY_NS,cha/AVG_IA_CRD_LLC_HIT_LATENCY,\
    cha/AVG_INGRESS_DEPTH,cha/INGRESS_DEPTH,cha/AVG_INGRESS_LATENCY,cha/PCT_RD_REQUESTS,upi/UPI_TX_UTIL,\
    upi/UPI_DATA_TX_BANDWIDTH";

/// Samples over which the cost is taken, after as many in which memory grows to what it stays at.
const SAMPLES: f64 = 5.0;
/// For so many: a sample takes some ten seconds where the software machine has half a core.
const PATIENCE: Duration = Duration::from_secs(900);

/// A sample a second of both sockets of Emerald Rapids: less than 1 % of a core, and less than 40 MB.
#[test]
#[ignore = "minutes: the long form"]
fn twenty_metrics_a_second_cost_less_than_a_hundredth_of_a_core_and_40_mb() {
    assert_eq!(METRICS.split(',').count(), 20);
    let machine = "emerald-rapids:sockets=2,cores=8";
    let options = ["-I", "1000", "-M", METRICS];
    let (server, port, _) = serve_on(machine, "stream:footprint=256M,remote=20", &options);
    let url = format!("http://127.0.0.1:{port}/metrics");
    let scraped = |least: f64| {
        let output = Command::new("curl").args(["-sf", "--max-time", "20", &url]).output().expect("curl");
        let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        let number = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name))?;
            line.rsplit(' ').next()?.parse::<f64>().ok()
        };
        let names = ["process_cpu_seconds_total", "process_resident_memory_bytes", "pericore_samples_total"];
        let [cpu, memory, samples] = names.map(|name| number(name).expect("a number"));
        let series = text.lines().filter(|line| !line.starts_with('#')).count();
        (samples >= least).then_some((cpu, memory, samples, series))
    };
    let (before, _, first, _) = awaited_for(PATIENCE, "the first samples", || scraped(SAMPLES));
    let readers_before = user_seconds_of_readers(server.0.id());
    let (cpu, memory, last, series) = awaited_for(PATIENCE, "more samples", || scraped(first + SAMPLES));
    let taken = last - first;
    let (serving, reading) =
        ((cpu - before) / taken * 1e3, (user_seconds_of_readers(server.0.id()) - readers_before) / taken * 1e3);
    println!(
        "{taken} samples, {series} series: {serving:.2} ms of CPU a sample, {reading:.0} ms for registers, {:.1} MB",
        memory / 1e6
    );
    assert!(serving + reading < 10.0, "{serving:.2} + {reading:.0} ms of CPU a sample");
    assert!(memory < 40e6, "{memory} bytes");
}

/// User time of what reads registers for a server: the server starts it, the software machine starts the server, and it
/// starts nothing.
fn user_seconds_of_readers(machine: u32) -> f64 {
    let all: Vec<(u32, u32, f64)> = fs::read_dir("/proc").expect("/proc").flatten().filter_map(process).collect();
    let mut under = vec![machine];
    for at in 0.. {
        let Some(&parent) = under.get(at) else { break };
        under.extend(all.iter().filter(|(_, of, _)| *of == parent).map(|(number, ..)| number));
    }
    let starts_none = |number: u32| all.iter().all(|(_, of, _)| *of != number);
    let readers = all.iter().filter(|(number, ..)| under.contains(number) && starts_none(*number));
    let times: Vec<f64> = readers.map(|(.., seconds)| *seconds).collect();
    assert_eq!(times.len(), 1, "one process reads registers");
    times[0]
}

/// A process's number, its parent's, and its user time.
fn process(entry: fs::DirEntry) -> Option<(u32, u32, f64)> {
    let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
    // Behind the name, which may have spaces: state, parent, and the user time as the twelfth, in USER_HZ: hundredths
    // of a second on every Linux.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = entry.file_name().to_str()?.parse().ok()?;
    Some((number, fields.get(1)?.parse().ok()?, fields.get(11)?.parse::<f64>().ok()? / 100.0))
}
