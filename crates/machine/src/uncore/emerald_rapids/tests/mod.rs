//! The model as a whole: its signals against its ledger, its laws, its figures.

mod by_hand;
mod coherence;
mod coverage;
mod directory;
mod evaluate;
mod figures;
mod four_dies;
mod idle;
mod independence;
mod laws;
mod light_load;
mod links;
mod mesh;
mod platform;
mod program;
mod registers;
mod shortage;
mod system;
mod truth;

use pericore_hardware::signal::{Tick, Wiring};
use pericore_parts::work::Worker;

use super::{Model, Parameters};
use crate::emerald_rapids::{EmeraldRapids, MachineReaders};
use pericore_workload::{Scenario, Workload};

/// Small enough for a quick test, and between them most paths of the model.
const WORKLOADS: &[&str] = &[
    "stream:requests=6000,threads=8,footprint=256M",
    "stream:requests=12000,threads=64,stride=16M,footprint=64G,read=30",
    "stream:requests=6000,threads=64,stride=16M,footprint=64G,read=20,cxl=60",
    "random:requests=6000,footprint=1M,read=60,threads=40",
    "random:requests=8000,footprint=32G,threads=128",
    "copy:requests=5000,threads=64,footprint=256M",
    "mixed:requests=30000,read=50,threads=16,footprint=1G",
    "chase:requests=400,footprint=256M",
    "ntstore:requests=3000,threads=16,cxl=30,partial=20,footprint=256M",
    "dma-read:requests=6000,threads=40,footprint=256M",
    "dma-write:requests=3000,threads=40,allocate=50,partial=30,footprint=256M",
    "idle",
    "two mixed:requests=15000,read=50,threads=64,footprint=64M,remote=40",
    "two random:requests=12000,read=40,threads=128,footprint=256k,remote=60",
    "two stream:requests=8000,threads=64,stride=16M,footprint=64G,read=20,remote=50",
    "two chase:requests=600,remote=5,footprint=256M",
    "two random:requests=8000,threads=128,footprint=256M,read=60,remote=30,cxl=10,pages=4K",
    "snc=4 chase:requests=1000,threads=8,footprint=8G,pages=2M",
    "two snc=4 random:requests=6000,read=60,threads=256,footprint=1M,remote=20,cxl=20",
    "two ntstore:requests=4000,threads=128,remote=100,partial=20,footprint=256M",
    "two mixed:requests=12000,threads=256,read=40,remote=100,footprint=16G",
    include_str!("../../../../scenarios/day.scenario"),
    include_str!("../../../../scenarios/package.scenario"),
    include_str!("../../../../scenarios/modules.scenario"),
    concat!("two ", include_str!("../../../../scenarios/messages.scenario")),
    concat!("two ", include_str!("../../../../scenarios/system.scenario")),
    "accelerators=2 stream:requests=3000,threads=64,read=50,footprint=4G,cxl=60",
    "two dma-write:requests=2500,threads=64,remote=50,footprint=64M,peer=25,atomic=40,partial=30,allocate=60",
    "two dma-read:requests=1500,threads=32,remote=50,footprint=64M,peer=25",
    "two isochronous=4 dma-read:requests=2000,threads=32,remote=50,footprint=1G,isoc=50",
    "isochronous=4 dma-write:requests=2000,threads=32,footprint=1G,isoc=70,allocate=50",
];

/// The same on a part with four dies.
const FOUR_DIES: &[&str] = &[
    "8480+ stream:requests=4000,threads=112,footprint=256M",
    "8480+ random:requests=5000,footprint=1M,read=60,threads=40",
    "8480+ dma-write:requests=2000,threads=48,allocate=50,partial=30,footprint=256M",
    "8480+ two mixed:requests=12000,read=50,threads=64,footprint=64M,remote=40",
    "8480+ two snc=4 random:requests=5000,read=60,threads=224,footprint=1M,remote=20,cxl=20",
];

/// A model that is about to run a workload. What stands before it: a part, `two` sockets, `cores=20`, `slices=45`,
/// `snc=4`, `closed` pages, `isochronous=4`, `accelerators=2`.
fn model(workload: &str) -> (EmeraldRapids, Wiring) {
    let (part, workload) = workload.strip_prefix("8480+ ").map_or(("8592+", workload), |rest| ("8480+", rest));
    let part = Parameters::preset(part).unwrap();
    let (sockets, workload) = workload.strip_prefix("two ").map_or((1, workload), |rest| (2, rest));
    let (active_cores, workload) = workload.strip_prefix("cores=20 ").map_or((part.cores, workload), |rest| (20, rest));
    let (slices, workload) = workload.strip_prefix("slices=45 ").map_or((part.slices, workload), |rest| (45, rest));
    let (mesh_bridge, workload) = workload.strip_prefix("bridge=2 ").map_or((1, workload), |rest| (2, rest));
    let (clusters, workload) = workload.strip_prefix("snc=4 ").map_or((1, workload), |rest| (4, rest));
    let (closes_pages, workload) = workload.strip_prefix("closed ").map_or((false, workload), |rest| (true, rest));
    let (isochronous_entries, workload) =
        workload.strip_prefix("isochronous=4 ").map_or((0, workload), |rest| (4, rest));
    let (accelerators, workload) = workload.strip_prefix("accelerators=2 ").map_or((0, workload), |rest| (2, rest));
    let family = pericore_catalog::family(part.phases.family).unwrap();
    let dram = pericore_dram::Timing { closes_pages, ..part.dram };
    let parameters = Parameters {
        dram,
        sockets,
        clusters,
        active_cores,
        slices,
        mesh_bridge,
        isochronous_entries,
        accelerators,
        ..part
    };
    let limits = parameters.limits();
    let scenario = if workload.contains('\n') {
        Scenario::parse(workload, &limits).unwrap()
    } else {
        Workload::parse(workload, &limits).unwrap().into()
    };
    let mut wiring = Wiring::new(family, sockets.into());
    let model = EmeraldRapids::for_scenario(parameters, scenario, &mut wiring).unwrap();
    (model, wiring)
}

impl std::ops::Deref for EmeraldRapids {
    type Target = Model;

    fn deref(&self) -> &Model {
        self.model()
    }
}

impl std::ops::DerefMut for EmeraldRapids {
    fn deref_mut(&mut self) -> &mut Model {
        self.split(Box::leak(Box::new(()))).0
    }
}

/// Does something with a machine's model that its readers, the signals with this sink, read.
fn with<S, T>(
    machine: &mut EmeraldRapids,
    sink: &mut S,
    act: impl FnOnce(&mut Model, &mut MachineReaders<'_, S>) -> T,
) -> T {
    let (model, mut readers) = machine.split(sink);
    act(model, &mut readers)
}

/// A microsecond of virtual time.
const MICROSECOND: Tick = 70_000;

/// Runs a model to its end, and a little beyond.
fn run<S: pericore_hardware::signal::SignalSink>(model: &mut EmeraldRapids, sink: &mut S) {
    while !model.finished() {
        model.run_until_any(model.now() + MICROSECOND, sink);
        assert!(model.now() < 2_000 * MICROSECOND, "the workload does not end: {:?}", model.progress());
    }
    let end = model.now() + 8 * MICROSECOND + 12_345;
    model.run_until_any(end, sink);
}
