//! How latencies are spread, by the model's records, against what counters make of the same reads.

use super::{pericore, refused, stderr};

/// Little's law of each family: entries of a table, added up over cycles, are the cycles that reads were in it, added
/// up over reads. So the mean of the records is the quotient of two counters, and their number a third. The guides:
/// Nehalem's QHL_OCCUPANCY and QHL_REQUESTS of reads alone, Table 2-14 with DRd (0x182), Tables 2-89 and 2-90.
#[test]
fn the_mean_of_the_records_is_that_of_the_counters() {
    for (machine, workload, occupancy, entries, clock) in [
        (
            "nehalem:sockets=2",
            "random:requests=20k,footprint=64M,remote=30,seed=3",
            "uncore/QHL_OCCUPANCY.LOCAL/",
            "uncore/QHL_REQUESTS.LOCAL_READS/",
            "uncore/CLK_UNHALTED/",
        ),
        (
            "e5-2600",
            "mixed:requests=20k,footprint=64M,read=70,seed=3",
            "cbo/TOR_OCCUPANCY.MISS_OPCODE,opc=0x182/",
            "cbo/TOR_INSERTS.MISS_OPCODE,opc=0x182/",
            "cbo/CLOCKTICKS/",
        ),
        (
            "emerald-rapids:sockets=2",
            "mixed:requests=20k,footprint=256M,read=70,remote=30,seed=3",
            "cha/TOR_OCCUPANCY.IA_MISS_DRD/",
            "cha/TOR_INSERTS.IA_MISS_DRD/",
            "cha/CLOCKTICKS/",
        ),
    ] {
        let events = format!("{occupancy},{entries},{clock}");
        let line = ["stat", "--cold", "--machine", machine, "--workload", workload, "--histogram", "-j", "-e", &events];
        let output = pericore(&line);
        let text = stderr(&output);
        assert!(output.status.success(), "{text}");
        let rows: Vec<serde_json::Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let count = |event: &str| -> f64 {
            let row = rows.iter().find(|row| row["event"] == event).unwrap_or_else(|| panic!("no {event}: {text}"));
            row["counter-value"].as_str().and_then(|value| value.parse().ok()).expect("a number")
        };
        let histogram = rows.iter().find(|row| row["histogram"].is_string()).expect("a histogram");
        let number = |key: &str| histogram[key].as_f64().expect("a number");
        assert_eq!(number("reads"), count(entries), "{machine}: {text}");
        assert!(number("reads") > 1000.0, "{text}");
        // In cycles: how long one is follows from the machine's clock and its time, on the same counters.
        let instances = INSTANCES.iter().find(|(name, _)| machine.starts_with(name)).expect("it is there").1;
        let runtime = rows.iter().find(|row| row["event"] == clock).expect("it is there")["event-runtime"].as_f64();
        let cycle = runtime.expect("nanoseconds") / (count(clock) / instances);
        let (mean, quotient) = (number("mean") / cycle, count(occupancy) / count(entries));
        assert!((mean / quotient - 1.0).abs() < 1e-3, "{machine}: {mean} and {quotient} cycles: {text}");
        let of_buckets = histogram["buckets"].as_array().expect("buckets").iter();
        assert_eq!(of_buckets.filter_map(|bucket| bucket["reads"].as_f64()).sum::<f64>(), number("reads"));
        let rising = ["median", "p95", "p99", "most"].map(number);
        assert!(rising.is_sorted() && rising[0] > 0.0, "{rising:?}");
    }
}

/// Whose clock is counted: sockets, slices of a socket, CHAs of two.
const INSTANCES: [(&str, f64); 3] = [("nehalem", 2.0), ("e5-2600", 8.0), ("emerald-rapids", 128.0)];

#[test]
fn a_histogram_is_drawn_for_people_and_of_software_machines_only() {
    let line = ["stat", "--machine", "e5-2600", "--workload", "random:requests=10k", "--histogram", "-M", "latency"];
    let text = stderr(&pericore(&line));
    let (_, histogram) =
        text.split_once("latency of loads that missed the LLC, in the table of requests:\n").expect("it");
    assert!(histogram.contains(" reads\n   mean ") && histogram.contains("99 % within"), "{text}");
    assert!(histogram.lines().filter(|line| line.contains(" to ")).count() > 4, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    refused(&["stat", "--histogram"], 129, &["--machine"]);
}
