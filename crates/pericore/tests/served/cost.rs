//! What serving costs, as the server itself says: of a core, and of memory, beside the software machine that it
//! measures, which is another process. That is what makes samples rare: each goes through the doors, register by
//! register. So what a sample costs is looked at: at one a second it is the share of a core.

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{awaited, serve_on};

/// Twenty metrics of four units.
const METRICS: &str = "MEM_READ_BANDWIDTH,MEM_WRITE_BANDWIDTH,MEM_BANDWIDTH,cha/UNCORE_FREQUENCY,\
    cha/AVG_DRD_MISS_LATENCY,cha/AVG_CRD_MISS_LATENCY,cha/AVG_RFO_MISS_LATENCY,cha/AVG_DEMAND_RD_HIT_LATENCY,\
    cha/AVG_DEMAND_RD_MISS_LOCAL_LATENCY,cha/AVG_DEMAND_RD_MISS_REMOTE_LATENCY,cha/DRD_MISS_LATENCY_NS,\
    cha/DEMAND_RD_MISS_LOCAL_LATENCY_NS,cha/DEMAND_RD_MISS_REMOTE_LATENCY_NS,cha/AVG_IA_CRD_LLC_HIT_LATENCY,\
    cha/AVG_INGRESS_DEPTH,cha/INGRESS_DEPTH,cha/AVG_INGRESS_LATENCY,cha/PCT_RD_REQUESTS,upi/UPI_TX_UTIL,\
    upi/UPI_DATA_TX_BANDWIDTH";

/// Seconds over which the cost is taken.
const SPAN: Duration = Duration::from_secs(60);

/// A sample a second of both sockets of Emerald Rapids: less than 1 % of a core, and less than 40 MB.
#[test]
#[ignore = "minutes: the long form"]
fn twenty_metrics_a_second_cost_less_than_a_hundredth_of_a_core_and_40_mb() {
    assert_eq!(METRICS.split(',').count(), 20);
    let machine = "emerald-rapids:sockets=2,cores=8";
    let options = ["-I", "1000", "-M", METRICS];
    let (_server, port, _) = serve_on(machine, "stream:footprint=256M,remote=20", &options);
    let url = format!("http://127.0.0.1:{port}/metrics");
    let scraped = || {
        let output = Command::new("curl").args(["-sf", "--max-time", "20", &url]).output().expect("curl");
        let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        let number = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name))?;
            line.rsplit(' ').next()?.parse::<f64>().ok()
        };
        let names = ["process_cpu_seconds_total", "process_resident_memory_bytes", "pericore_samples_total"];
        let [cpu, memory, samples] = names.map(|name| number(name).expect("a number"));
        (samples >= 5.0).then_some((cpu, memory, samples, text.lines().filter(|line| !line.starts_with('#')).count()))
    };
    let (before, began) = (awaited("five samples", scraped), Instant::now());
    sleep(SPAN);
    let (cpu, memory, samples, series) = awaited("another sample", scraped);
    let (taken, seconds) = (samples - before.2, began.elapsed().as_secs_f64());
    assert!(taken >= 3.0, "{taken} samples in {seconds:.0} s");
    let a_sample = (cpu - before.0) / taken;
    println!(
        "{taken} samples in {seconds:.0} s, {series} series: {:.2} ms of CPU a sample, {:.1} MB",
        a_sample * 1e3,
        memory / 1e6
    );
    assert!(a_sample < 0.01, "{:.2} ms of CPU a sample", a_sample * 1e3);
    assert!(memory < 40e6, "{memory} bytes");
}
