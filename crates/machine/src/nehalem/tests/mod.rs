//! The model as a whole: its signals against its ledger, its laws, its figures.

mod figures;
mod hand;
mod independence;
mod laws;
mod truth;

use pericore_hardware::signal::{SignalSink, Tick, Wiring};

use pericore_models::nehalem::Parameters;
use pericore_parts::work::Worker;

use super::Nehalem;
use pericore_workload::{Scenario, Workload};

/// A model that is about to run a workload. What stands before a space: `cores=3`; `closed`, pages; `probes=2`, entries
/// of the peer probe tracker, whose twelve nothing fills for long; `2` sockets.
fn model(text: &str) -> (Nehalem, Wiring) {
    let family = pericore_catalog::family("nehalem").unwrap();
    let (active_cores, text) = text.strip_prefix("cores=3 ").map_or((4, text), |rest| (3, rest));
    let (closes_pages, text) = text.strip_prefix("closed ").map_or((false, text), |text| (true, text));
    let mut trackers = Parameters::x5570().trackers;
    let text = text.strip_prefix("probes=2 ").inspect(|_| trackers[2] = 2).unwrap_or(text);
    let (sockets, workload) = text.strip_prefix("2 ").map_or((1, text), |workload| (2, workload));
    let mut parameters = Parameters { active_cores, trackers, ..Parameters::x5570() }.with_sockets(sockets);
    parameters.dram.closes_pages = closes_pages;
    let limits = parameters.limits();
    let scenario = if workload.contains('\n') { Scenario::parse(workload, &limits).ok() } else { None };
    let scenario = scenario.unwrap_or_else(|| Workload::parse(workload, &limits).unwrap().into());
    let mut wiring = Wiring::new(family, sockets.into());
    (Nehalem::for_scenario(parameters, scenario, &mut wiring).unwrap(), wiring)
}

/// Runs a model to its end, and a little beyond.
fn run<S: SignalSink>(model: &mut Nehalem, sink: &mut S) {
    while !model.finished() {
        model.run_until_any(model.now() + 10_000, sink);
        assert!(model.now() < 3_000_000_000, "the workload does not end: {:?}", model.progress());
    }
    let end = model.now() + 12_345;
    model.run_until_any(end, sink);
}

impl Nehalem {
    fn sockets(&self) -> usize {
        self.model.parameters().sockets.into()
    }
}

/// A prime number of ticks that falls on no clock's edge.
const ODD: Tick = 1_000_003;

/// Small enough for a quick test, and between them every path of the model.
const WORKLOADS: &[&str] = &[
    "stream:requests=6000",
    "random:requests=4000,footprint=64M,read=60,pages=4K",
    "2 chase:requests=2000,footprint=512M,threads=4,remote=30,pages=2M",
    "ntstore:requests=3000,threads=4,footprint=64M,stride=3k,pages=4K",
    "closed random:requests=4000,footprint=1G,read=60",
    "closed ntstore:requests=3000,threads=8,footprint=1G",
    "stream:requests=6000,read=0,footprint=2M",
    "stream:requests=4000,stride=128k,threads=8,read=60",
    "stream:requests=4000,stride=512k,footprint=1G,read=0",
    "copy:requests=6000",
    "random:requests=8000,footprint=1M,read=60,threads=8",
    "random:requests=4000,footprint=2k,read=50,threads=8",
    "random:requests=6000,footprint=4G,read=50",
    "chase:requests=300",
    "ntstore:requests=5000",
    "dma-read:requests=4000",
    "dma-read:requests=4000,isoc=50",
    // Devices read pages of both sockets: rows take long to open, and some reads hurry a core's read of their line.
    "2 dma-read:requests=2400,threads=4,isoc=100,remote=50,stride=4k",
    "dma-write:requests=4000,footprint=1M",
    // Devices with priority whose pages are all of one channel.
    "dma-read:requests=3000,isoc=100,stride=192,footprint=1G",
    "dma-write:requests=3000,isoc=100,stride=192,footprint=1G",
    "2 stream:requests=6000,remote=50",
    "2 stream:requests=6000,remote=100,read=0",
    "2 random:requests=8000,footprint=1M,read=60,threads=16,remote=50",
    "2 random:requests=6000,footprint=2k,read=50,threads=16,remote=50",
    "2 random:requests=6000,footprint=64k,read=80,threads=16,remote=50",
    "2 random:requests=6000,footprint=4G,read=50,remote=30",
    "2 ntstore:requests=5000,remote=40",
    "2 dma-read:requests=4000,remote=50,isoc=25",
    "2 dma-write:requests=4000,footprint=1M,remote=50",
    "2 dma-read:requests=4000,footprint=64k,remote=50",
    "2 dma-write:requests=4000,footprint=64k,remote=50",
    "probes=2 2 random:requests=4000,footprint=64k,read=50,threads=16,remote=50",
    "probes=2 2 dma-read:requests=2000,footprint=64k",
    // Sixteen devices read what a core has modified: snoops that come every 1.7 cycles take 32.
    "2 \nphase dirty\nworkload stream:requests=1024,read=0,threads=1,footprint=64k\n\
    phase read\nworkload dma-read:requests=3000,threads=16,footprint=64k",
    "2 chase:requests=500,remote=100",
    // All lines in one set of the LLC, of the same memory channels: lines are shared, and pushed out again.
    "2 random:requests=12000,stride=512k,footprint=20M,read=90,threads=16,remote=50",
    "random:requests=4000,stride=192,footprint=1G",
    "stream:requests=4000,stride=1536k,footprint=1G,read=30",
    "cores=3 2 mixed:requests=6000,remote=40,threads=12,footprint=1M",
    "cores=3 2 dma-write:requests=3000,footprint=1M,remote=50,threads=8",
    include_str!("../../../scenarios/day.scenario"),
];
