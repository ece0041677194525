//! Emerald Rapids under a workload of the traffic model: the bandwidth that perf shows in the guest is the ledger's, to the last line.

use std::sync::{Arc, Mutex};

use pericore_doors::guest::Hardware;
use pericore_doors::{LiveMachine, endless};
use pericore_machine::ledger::Question;
use pericore_machine::steady::Pace;
use pericore_machine::{MachineSpec, Window};

use super::boot;
use super::emerald_rapids::block;
use super::sections::{count, section};
use super::switch::switched_off;
use super::truth::mmio;

/// Reads and writes. Memory sees writes when the LLC is full of dirty lines: few sets are soon.
const WORKLOAD: &str = "mixed:read=60,stride=64k,footprint=1G,threads=8";
const PACE: Pace = Pace { warm_up: None, window: 20, cells: 64 };

/// Four controllers with two channels each (1.10.3 and Table 1-12).
const CHANNELS: u64 = 8;

/// CAS_COUNT (2.4): all kinds of reads, all kinds of writes.
const EVENTS: [(&str, u64, &str); 2] = [("event=0x5,umask=0xcf", 0xcf05, "RD"), ("event=0x5,umask=0xf0", 0xf005, "WR")];

#[test]
#[ignore = "long form: half a minute; the driver's counts on Sapphire Rapids are in each run"]
fn perf_counts_the_ledgers_bandwidth_on_emerald_rapids() {
    if switched_off() {
        return;
    }
    let spec = MachineSpec::parse("8592+").unwrap();
    let (live, steady) = LiveMachine::with_workload(&spec, WORKLOAD, &PACE).unwrap();
    let ticks_per_second = live.ticks_per_second();
    let mut hardware = Hardware::new(live.into_chassis(), Box::new(steady.replay()), ticks_per_second);
    hardware.keep_accesses();
    let name = |channel: u64, event: &str| format!("uncore_imc_{channel}/{event}/");
    let events: String =
        (0..CHANNELS).flat_map(|channel| EVENTS.map(|(event, ..)| format!(" -e {}", name(channel, event)))).collect();
    let script = format!("echo '@@ perf'; perf stat -a -x, -o /dev/stdout{events} -- sleep 0.1; echo '@@ end'");
    let run = boot::run(&Arc::new(Mutex::new(hardware)), &script);

    let lines = section(&run.output, "perf");
    let mut rows = Vec::new();
    for channel in 0..CHANNELS {
        let window = 0xf000_0000 + 0x8_0000 * (channel / 2) + 0x2_2800 + 0x8000 * (channel % 2);
        let place = block(mmio(window), mmio(window + 0x40), 4, 4);
        for (event, config, subevent) in EVENTS {
            rows.push((channel, subevent, count(&lines, &name(channel, event)), place.runs(&run.accesses, config)));
        }
    }
    let times = rows.iter().flat_map(|(.., runs)| runs).flat_map(|&(from, to)| [from, to]);
    // The machine does the same a second time, and is asked for its account at the times when the driver let counters run.
    let account = steady.account(&mut endless(&spec, WORKLOAD).unwrap(), times);
    let mut wrong = Vec::new();
    for (channel, subevent, counted, runs) in &rows {
        let between = |&(from, to): &(u64, u64)| {
            account.between(from, to, |a, b| {
                Window::between(a, b).count(0, *channel as u16, Question::new("imc", "CAS_COUNT").subevent(*subevent))
            })
        };
        let truth: u64 = runs.iter().map(|run| between(run).expect("the ledger knows it")).sum();
        if *counted != truth {
            wrong
                .push(format!("channel {channel}, {subevent}: perf says {counted}, the ledger {truth}, over {runs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}\n{}", run.errors);
    let least = rows.iter().map(|(_, _, counted, _)| *counted).min();
    assert!(least > Some(10_000), "everything moves: {rows:?}");
}
