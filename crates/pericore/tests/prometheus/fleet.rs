//! A Prometheus that scrapes many servers, each in a network namespace: rules fire, of the hosts that they are
//! about alone, and every query finds numbers. Each host is a software machine that plays its recorded window again
//! and again.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::network::Network;
use super::{Prometheus, RULES, Running, WANTED, awaited, queries_find_numbers};
use crate::ours::PERICORE;

/// The host whose channels do not do the same, and the one that ends.
const UNBALANCED: usize = 1;
const DOWN: usize = 2;

/// Servers that start at the same time: each fills caches and records its window first.
const AT_ONCE: usize = 4;

/// The servers, by host; all are told to end before one is waited for.
struct Fleet(Vec<Running>);

impl Drop for Fleet {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(self.0.iter().map(|server| server.0.id().to_string())).status();
    }
}

/// The rules of `deploy`, which wait for seconds where a real fleet waits for minutes.
fn hasty_rules() -> String {
    let mut rules = std::fs::read_to_string(format!("{RULES}/pericore.rules.yml")).expect("the rules");
    for minutes in ["1m", "5m", "10m", "15m", "30m"] {
        rules = rules.replace(&format!("for: {minutes}\n"), "for: 1s\n").replace(&format!("[{minutes}]"), "[1m]");
    }
    assert!(rules.contains("for: 1s") && !rules.contains("m\n        labels"), "{rules}");
    rules
}

fn server(network: &Network, host: usize, interval: &str, state: &Path) -> Running {
    let mut program = network.command(Some(host), PERICORE);
    program.env("XDG_STATE_HOME", state.join(host.to_string()));
    if host == UNBALANCED {
        // 100 and 20 million lines of 64 bytes a second from two channels of four: 7.7 GB/s, the busiest 3.3 times the
        // mean.
        let machine = "machine run --machine e5-2600:sockets=2 --inject imc0/CAS_COUNT.RD_REG=100000000 --inject \
                       imc1/CAS_COUNT.RD_REG=20000000 --";
        program.args(machine.split(' ')).args([PERICORE, "serve"]);
    } else {
        let workload = format!("stream:footprint=32M,remote=20,seed={host}");
        program.args(["serve", "--machine", "e5-2600:sockets=2,cores=2,slices=2", "--workload", &workload]);
    }
    let listen = format!("{}:9988", Network::address(host));
    program.args(["-I", interval, "--listen", &listen]).args(WANTED.split(' '));
    Running::start(&mut program, "http://").0
}

fn scrape(hosts: usize, interval: &str) {
    let began = Instant::now();
    let (network, folder) = (Network::of(hosts), tempfile::tempdir().expect("a folder of ours"));
    let mut fleet = Fleet(Vec::new());
    let all: Vec<usize> = (0..hosts).collect();
    for some in all.chunks(AT_ONCE) {
        std::thread::scope(|scope| {
            let start = |host: usize| {
                scope.spawn({
                    let (network, state) = (&network, folder.path());
                    move || server(network, host, interval, state)
                })
            };
            let started: Vec<_> = some.iter().map(|host| start(*host)).collect();
            fleet.0.extend(started.into_iter().map(|server| server.join().expect("it starts")));
        });
    }
    let started = began.elapsed();

    let file = folder.path().join("rules.yml");
    std::fs::write(&file, hasty_rules()).expect("a file of ours");
    let rules = format!("global: {{ evaluation_interval: 1s }}\nrule_files: [{}]\n", file.display());
    let place = |host: usize| format!("{}:9988", Network::address(host));
    let targets: Vec<String> = all.iter().map(|host| format!("\"{}\"", place(*host))).collect();
    let prometheus = Prometheus::of(&targets.join(", "), "2s", &rules, Some(&network));
    let number = |query: &str| prometheus.by("", query).first().map(|(_, value)| *value as usize);
    awaited("each server's samples", || {
        (number("count(pericore_samples_total >= 2)") == Some(hosts) && number("sum(up)") == Some(hosts)).then_some(())
    });
    let killed = Command::new("kill").arg(fleet.0[DOWN].0.id().to_string()).status();
    assert!(killed.expect("kill runs").success());

    let firing = |alert: &str| {
        let query = format!("ALERTS{{alertname=\"{alert}\", alertstate=\"firing\"}}");
        let mut hosts: Vec<String> = prometheus.by("instance", &query).into_iter().map(|(host, _)| host).collect();
        hosts.dedup();
        hosts
    };
    awaited("an alert on the host that is down", || (firing("PericoreDown") == [place(DOWN)]).then_some(()));
    awaited("an alert on the host that is unbalanced", || {
        (firing("MemoryChannelsUnbalanced") == [place(UNBALANCED)]).then_some(())
    });
    // Both sockets of it, and no other host's.
    assert_eq!(number("count(ALERTS{alertname=\"MemoryChannelsUnbalanced\", alertstate=\"firing\"})"), Some(2));
    let emulated = firing("PericoreEmulated");
    assert!(emulated.len() >= hosts - 1, "{emulated:?}");
    assert_eq!(firing("PericoreSamplesStale"), [""; 0]);
    assert_eq!(number("sum(up)"), Some(hosts - 1));

    queries_find_numbers(&prometheus);
    let worst = prometheus.by("instance", "topk(1, pericore:memory_channels:imbalance_ratio)");
    let [(host, imbalance)] = &worst[..] else { panic!("{worst:?}") };
    // 100 / ((100 + 20 + 0 + 0) / 4).
    assert!(*host == place(UNBALANCED) && (imbalance / (100.0 / 30.0) - 1.0).abs() < 0.02, "{worst:?}");
    let read = "count(count by (instance) (pericore:memory_read:bytes_per_second > 1e8))";
    assert_eq!(number(read), Some(hosts - 1), "all but the one that is down, which has gone from the numbers, too");
    let all = began.elapsed();
    println!("{hosts} hosts: up after {} s, done after {} s", started.as_secs(), all.as_secs());
}

#[test]
fn three_hosts_are_scraped_and_rules_fire() {
    scrape(3, "1000");
}

#[test]
#[ignore = "minutes, and 8 GB of memory: the long form"]
fn fifty_hosts_are_scraped_and_rules_fire() {
    scrape(50, "10000");
}
