//! The model as a whole: its signals against its ledger, its laws, its figures.

mod by_hand;
mod coherence;
mod coverage;
mod directory;
mod figures;
mod idle;
mod laws;
mod link_power;
mod mutation;
mod naive;
mod noncoherent;
mod power_unit;
mod ranks;
mod truth;

use pericore_dram::Timing;
use pericore_hardware::signal::{Tick, Wiring};

use super::E5;
use crate::uncore::set;
use crate::uncore::tests::recorder::Recorder;
use pericore_models::e5_2600::{Parameters, SETTINGS};
use pericore_parts::work::Worker;
use pericore_workload::{Scenario, Workload};

/// Small enough for a quick test, and between them every path of the model: hits, shared lines, upgrades, evictions,
/// writebacks, merges, forwards, full queues, conflicts, idle memory.
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
    "chase:requests=400,footprint=1G,pages=2M",
    "random:requests=6000,footprint=64M,threads=16,read=60,pages=4K",
    "2 random:requests=4000,footprint=16M,threads=32,read=60,remote=40,pages=4K",
    "ntstore:requests=3000,threads=4,footprint=64M,stride=3k,pages=4K",
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
    "regions=12 random:requests=3000,footprint=64G",
    RANKS,
    "cores=3 mixed:requests=5000,threads=6",
    "cores=6 slices=6 random:requests=6000,threads=12,footprint=24M,stride=4k,read=50",
    "slices=7 cores=5 2 random:requests=5000,threads=20,remote=50,read=60,footprint=1M",
    "2 random:requests=6000,remote=50,read=90,stride=128k,footprint=24M",
    "2 dma-read:requests=3000,threads=16,remote=60,footprint=1M",
    "directory=1 4 mixed:requests=5000,remote=60,footprint=64k,read=50",
    "directory=1 2 random:requests=5000,remote=50,footprint=256k,read=50",
    FAR,
    FAR_AND_BUSY,
    SAVING,
    "2 stream:requests=8000,remote=50,read=60,footprint=2M",
    "2 random:requests=8000,remote=50,read=60,footprint=1M",
    "2 stream:requests=8000,stride=128k,footprint=1G,read=0,remote=40",
    "2 ntstore:requests=2000,remote=50,partial=30",
    "4 mixed:requests=6000,remote=60,footprint=64k",
    "4 mixed:requests=8000,remote=75,read=60,footprint=1M",
    "2 mixed:requests=12000,remote=60,footprint=64k",
    "isochronous=2 dma-read:requests=4000,threads=16,stride=128k,footprint=4G,isoc=50",
    "isochronous=2 dma-write:requests=4000,threads=16,stride=128k,footprint=4G,isoc=50",
    "direct2core=0 2 random:requests=3000,remote=50,read=90,footprint=256k",
    "2 dma-read:requests=4000,threads=16,remote=100,stride=128k,footprint=4G",
    DAMAGED,
    DOORBELLS,
    "dma-write:requests=6000,threads=16,stride=128k,footprint=4G",
    "few-credits 2 random:requests=4000,remote=50,read=50,footprint=1M",
    "few-credits 2 stream:requests=8000,stride=128k,footprint=1G,read=0,remote=90",
    "few-credits 4 random:requests=4000,remote=75,read=50,footprint=256k",
];

/// Cores of four sockets reach for devices of the others, as often as they can.
const DOORBELLS: &str = "4 \nphase doorbells
  idle 30us
  remote-device-write every 100ns
  device-write every 100ns
phase polling
  idle 30us
  remote-device-read every 100ns
  device-read every 100ns
phase rest
  idle 3us
";

/// Links that damage one packet in twenty.
const DAMAGED: &str = "2 \nphase damaged
  workload stream:requests=6000,remote=90,stride=128k,footprint=1G,read=0
  link-error every 20packets
";

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

/// Channels of eight ranks, each throttled by itself, and all of them asleep.
const RANKS: &str = "ranks=8 \nphase all
  workload random:requests=3000,footprint=64G,threads=16
  throttle ranks 30%
phase few
  workload random:requests=1500,footprint=64G,threads=16
  throttle rank5 40%
phase rest
  idle 20us
";

/// Cores that use the devices and interrupt the processors of other sockets.
const FAR: &str = "4 \nphase far
  idle 60us
  remote-device-write every 300ns
  remote-device-read every 500ns
  remote-ipi every 300ns
  device-write every 400ns
phase rest
  idle 3us
";

/// The same while the links are busy.
const FAR_AND_BUSY: &str = "few-credits 2 \nphase far
  workload stream:requests=6000,stride=128k,footprint=1G,read=20,remote=90
  remote-device-write every 150ns
  remote-device-read every 150ns
  remote-ipi every 150ns
phase rest
  idle 3us
";

/// Links that go to half their width and off, with little and with much to carry.
const SAVING: &str = "2 \nphase half
  workload random:requests=2000,remote=30,footprint=1M
  link-half after 200ns
phase seldom
  idle 40us
  remote-ipi every 3us
  link-half after 200ns
  link-off after 1us
phase burst
  workload stream:requests=3000,remote=90
  link-half after 100ns
  link-off after 2us
phase busy
  workload chase:requests=60,threads=1,remote=100
  link-off after 100ns
phase full
  workload random:requests=500,remote=50
phase damaged
  workload random:requests=500,remote=50,seed=2
  link-error every 9packets
";

/// Sockets of a workload: those with a number before their name have so many.
fn sockets(workload: &str) -> u8 {
    machine(workload).0.sockets
}

/// The machine that the words before a workload's name ask for, and the workload without them: a number of sockets, a
/// mark, or one of the settings that a machine's name can have.
fn machine(text: &str) -> (Parameters, &str) {
    let (mut parameters, mut rest) = (Parameters::e5_2680(), text);
    while let Some((word, after)) = rest.split_once(' ').filter(|_| !rest.starts_with('\n')) {
        parameters = match (word.parse(), word.split_once('=')) {
            (Ok(sockets), _) => parameters.with_sockets(sockets),
            (_, Some((key, value))) if !key.contains(':') => {
                set(SETTINGS, &mut parameters, key, value.parse().unwrap()).unwrap();
                parameters
            }
            _ if word == FEW_CREDITS => Parameters { link_credits: 3, ..parameters },
            _ if word == QUICK_REFRESH => {
                Parameters { dram: Timing { trefi: QUICK_TREFI, ..parameters.dram.clone() }, ..parameters }
            }
            _ => break,
        };
        rest = after;
    }
    (parameters, rest)
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
const FEW_CREDITS: &str = "few-credits";

/// Marks workloads that run with refreshes so frequent that some are put off until they are forced.
const QUICK_REFRESH: &str = "quick-refresh";
/// DRAM cycles between refreshes, then.
const QUICK_TREFI: u64 = 700;

/// DRAM cycles between the refreshes of a workload.
fn trefi(workload: &str) -> u64 {
    machine(workload).0.dram.trefi
}

fn model(workload: &str) -> (E5, Wiring) {
    let (parameters, workload) = machine(workload);
    model_of(parameters, workload)
}

fn model_of(parameters: Parameters, workload: &str) -> (E5, Wiring) {
    let family = pericore_catalog::family("e5-2600").unwrap();
    let sockets = parameters.sockets;
    let limits = parameters.limits();
    let scenario = if workload.contains('\n') {
        Scenario::parse(workload, &limits).unwrap()
    } else {
        Scenario::from(Workload::parse(workload, &limits).unwrap())
    };
    let mut wiring = Wiring::new(family, sockets.into());
    let model = E5::for_scenario(parameters, scenario, &mut wiring).unwrap();
    (model, wiring)
}

/// Runs a model to its end, and a little beyond.
fn run(model: &mut E5, recorder: &mut Recorder) {
    while !model.finished() {
        model.run_until_any(model.now() + 10_000, recorder);
        assert!(model.now() < 1_000_000_000, "the workload does not end: {:?}", model.progress());
    }
    let end = model.now() + 12_345;
    model.run_until_any(end, recorder);
}

/// A prime number of ticks that falls on no clock's edge.
const ODD: Tick = 1_000_003;
