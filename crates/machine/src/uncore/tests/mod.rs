//! The model as a whole: its signals against its ledger, its laws, its figures.

mod coverage;
mod figures;
mod idle;
mod laws;
mod mutation;
mod naive;
pub mod recorder;
mod truth;

use crate::ledger::Opcodes;
use crate::signal::{Tick, Wiring};
use crate::uncore::{Model, Parameters};
use crate::workload::{Scenario, Workload};
use recorder::Recorder;

/// Small enough for a quick test, and between them every path of the model: hits, shared lines, upgrades, evictions, writebacks,
/// merges, forwards, full queues, conflicts, idle memory.
const WORKLOADS: &[&str] = &[
    "stream:requests=6000",
    "stream:requests=6000,read=0,footprint=2M",
    "stream:requests=3000,stride=8,threads=2",
    "stream:requests=4000,stride=128k,threads=16,read=60",
    "stream:requests=5000,stride=128k,footprint=24M,threads=1,read=0",
    "stream:requests=6000,stride=128k,footprint=1G,read=0",
    "copy:requests=6000",
    "random:requests=8000,footprint=1M,read=60,threads=16",
    "random:requests=4000,footprint=2k,read=50,threads=16",
    "random:requests=6000,footprint=8G,read=50",
    "random:requests=5000,footprint=64G",
    "chase:requests=300",
    "chase:requests=2000,footprint=256k,threads=16",
    "mixed:requests=8000",
    "quick-refresh mixed:requests=5000,read=50",
    HOT,
    NIGHT,
    MESSAGES,
    "ntstore:requests=4000,partial=30",
    "ntstore:requests=3000,partial=100,stride=4k,footprint=512M",
    "dma-read:requests=4000,footprint=1M",
    "dma-read:requests=4000,threads=16,stride=128k,footprint=4G",
    "dma-write:requests=4000,threads=16,allocate=0,stride=128k,footprint=4G",
    "dma-write:requests=4000,allocate=60,threads=16,footprint=24M,stride=16k",
    SHARED,
    "2 stream:requests=8000,remote=50,read=60,footprint=2M",
    "2 random:requests=8000,remote=50,read=60,footprint=1M",
    "2 stream:requests=8000,stride=128k,footprint=1G,read=0,remote=40",
    "2 ntstore:requests=2000,remote=50,partial=30",
    "4 mixed:requests=6000,remote=60,footprint=64k",
    "few-credits 2 random:requests=4000,remote=50,read=50,footprint=1M",
    "few-credits 2 stream:requests=8000,stride=128k,footprint=1G,read=0,remote=90",
    "few-credits 4 random:requests=4000,remote=75,read=50,footprint=256k",
];

/// Heat, bounds of the frequency, throttling and errors.
const HOT: &str = "
phase turbo
  workload mixed:requests=1500,threads=4
  frequency 3500MHz
  power-limit 3100MHz
  current-limit 3100MHz
  memory-error every 50reads
  throttle rank0 30%
phase warm
  workload random:requests=1500,threads=16,footprint=1G
  thermal-limit 2GHz
  throttle ranks 50%
  regulator-hot
phase hot
  workload random:requests=1500,footprint=1G
  prochot internal
  critical 60%
phase melting
  workload stream:requests=500
  for 3us
  prochot external
  throttle rank1 90%
phase floor
  idle 100us
  frequency 1200MHz
  io-floor 1500MHz
phase peers
  idle 100us
  frequency 1200MHz
  peer-floor 1800MHz
phase slow
  idle 10us
  frequency 1300MHz
";

/// Cores asleep, some woken too soon to sleep deep again; memory asleep, both ways.
const NIGHT: &str = "
phase evening
  workload stream:requests=200,threads=2
  sleep c3
phase nap
  idle 60us
  sleep c6
  power-down slow
phase night
  idle 330us
  sleep c6
  wake every 30us
  self-refresh after 2us
phase alarm
  workload random:requests=2000,footprint=1G
  power-down slow
phase rest
  idle 20us
";

/// Lines that cores have written, then streaming stores and devices on the same lines.
const SHARED: &str = "
phase written
  workload stream:requests=2000,read=0,footprint=64k
phase streamed
  workload ntstore:requests=600,footprint=64k,partial=50
phase again
  workload stream:requests=2000,read=0,footprint=64k
phase fetched
  workload dma-read:requests=600,footprint=64k
phase overwritten
  workload dma-write:requests=900,footprint=64k,allocate=50
";

/// Everything that the system agent does.
const MESSAGES: &str = "
phase all
  idle 80us
  vlw every 2us
  msi every 1us
  ipi every 1us
  doorbell every 2us
  priority every 1us
  lock every 2us
  phold every 3us
  monitor0 every 1us
  monitor1 every 2us
  livelock every 4us
  lterror every 5us
  cmc every 3us
  umc every 9us
  trap every 4us
  other every 5us
  register every 1us
  message4 every 1us
  message8 every 2us
  device-write every 200ns
  device-read every 200ns
";

/// Sockets of a workload: those with a number before their name have so many.
fn sockets(workload: &str) -> u8 {
    let workload = workload.trim_start_matches(FEW_CREDITS);
    workload.split_once(' ').and_then(|(number, _)| number.parse().ok()).unwrap_or(1)
}

/// Ticks of a cycle of each unit's clock, written again: 21.6 GHz make whole periods of 2.7 GHz and 800 MHz (DRAM,
/// power unit), and five times that
/// also of the links' 1 GHz.
fn period(unit: &str, sockets: u8) -> Tick {
    match (unit, sockets) {
        ("imc" | "pcu", 1) => 27,
        ("imc" | "pcu", _) => 135,
        ("qpi", 2..) => 108,
        (_, 1) => 8,
        _ => 40,
    }
}

/// Marks workloads whose links have so few shared credits that reserved ones are used, and run out.
const FEW_CREDITS: &str = "few-credits ";

/// Marks workloads that run with refreshes so frequent that some are put off until they are forced.
const QUICK_REFRESH: &str = "quick-refresh ";
/// DRAM cycles between refreshes, then.
const QUICK_TREFI: u64 = 700;

/// DRAM cycles between the refreshes of a workload.
fn trefi(workload: &str) -> u64 {
    if workload.starts_with(QUICK_REFRESH) { QUICK_TREFI } else { Parameters::e5_2680().dram.trefi }
}

fn model(workload: &str) -> (Model, Wiring) {
    let family = pericore_catalog::family("e5-2600").unwrap();
    let sockets = sockets(workload);
    let mut parameters = Parameters::e5_2680().with_sockets(sockets);
    parameters.dram.trefi = trefi(workload);
    if workload.starts_with(FEW_CREDITS) {
        parameters.link_credits = 3;
    }
    let workload = workload.trim_start_matches(FEW_CREDITS);
    let workload =
        workload.trim_start_matches(QUICK_REFRESH).trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    let opcodes = Opcodes::by_name(|name| family.named_value("idi-opcodes", name)).unwrap();
    let limits = parameters.limits();
    let scenario = if workload.contains('\n') {
        Scenario::parse(workload, &limits).unwrap()
    } else {
        Scenario::from(Workload::parse(workload, &limits).unwrap())
    };
    let mut wiring = Wiring::new(family, sockets.into());
    let model = Model::for_scenario(parameters, opcodes, scenario, &mut wiring).unwrap();
    (model, wiring)
}

/// Runs a model to its end, and a little beyond.
fn run(model: &mut Model, recorder: &mut Recorder) {
    while !model.finished() {
        model.run_until(model.now() + 10_000, recorder);
        assert!(model.now() < 1_000_000_000, "the workload does not end: {:?}", model.progress());
    }
    let end = model.now() + 12_345;
    model.run_until(end, recorder);
}

/// A prime number of ticks that falls on no clock's edge.
const ODD: Tick = 1_000_003;
