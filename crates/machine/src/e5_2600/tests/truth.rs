//! Every event that the ledger knows, counted naively from the signals, over windows that cut requests in two.

use std::collections::HashMap;

use pericore_hardware::signal::{Tick, Wire, Wiring};

use super::naive::{Meaning, count, meaning, peaks};
use super::{ODD, WORKLOADS, model, period, run, sockets};
use crate::uncore::tests::recorder::{Emission, Recorder};
use pericore_truth::Question;
use pericore_truth::e5_2600::{NAMES, Snapshot, Window};

/// Instances of a unit in a socket.
fn of_socket(unit: &str) -> u16 {
    match unit {
        "cbo" => 8,
        "qpi" | "r3qpi" => 2,
        "ha" | "pcu" | "ubox" | "r2pcie" => 1,
        _ => 4,
    }
}

/// Instances of a unit in a machine.
pub fn instances(unit: &str, sockets: u8) -> u16 {
    of_socket(unit) * u16::from(sockets)
}

/// Filter settings that tell everything apart that an event can tell apart.
pub fn filters(unit: &str, event: &str, subevent: &str) -> Vec<Vec<(&'static str, u64)>> {
    if event == "CTO_COUNT" {
        return packets();
    }
    if let Some(band) = event.strip_prefix("FREQ_BAND") {
        let name = ["band0", "band1", "band2", "band3"][usize::from(band.as_bytes()[0] - b'0')];
        return [0, 12, 16, 27, 28, 31, 63].map(|ratio| vec![(name, ratio)]).to_vec();
    }
    let filtered = ["LLC_LOOKUP", "LLC_VICTIMS", "TOR_INSERTS", "TOR_OCCUPANCY", "RxR_INSERTS", "RxR_OCCUPANCY"];
    if unit != "cbo" || !filtered.contains(&event) {
        return vec![vec![]];
    }
    let mut all = Vec::new();
    for tid in [None, Some(6), Some(15), Some(30)] {
        let mut base = vec![("nid", 0b101)];
        base.extend(tid.map(|tid| ("tid", tid)));
        if subevent.contains("OPCODE") {
            for opc in [0x180, 0x182, 0x1C4, 0x1C5, 0x18C, 0x18D, 0x194, 0x19C, 0x19E] {
                all.push([base.clone(), vec![("opc", opc)]].concat());
            }
        } else if event == "LLC_LOOKUP" {
            for state in [0x1F, 0x01, 0x02, 0x04, 0x08, 0x10, 0x0C] {
                all.push([base.clone(), vec![("state", state)]].concat());
            }
            all.push(base);
        } else {
            all.push(base);
        }
    }
    if event == "LLC_VICTIMS" {
        // Victims in state F count by their node only: the other of two nodes.
        all.push(vec![("nid", 0b10)]);
    }
    // A node that nothing belongs to.
    all.push(vec![("nid", 2), ("opc", 0x182), ("tid", 0)]);
    all
}

/// Packet filters: everything, and by single fields of the header. Numbers by hand from Tables 2-88 to 2-92, 2-142 and
/// 2-143.
fn packets() -> Vec<Vec<(&'static str, u64)>> {
    let class = |class: u64| vec![("match_mc", class), ("mask_mc", 0xF)];
    let mut all = vec![vec![]];
    // Home requests and answers, responses without data, snoops.
    all.extend([0x0, 0x1, 0x2, 0x3, 0xE].map(class));
    for (opcode, mask) in [(0x0, 0xC), (0x0, 0xF), (0x2, 0xF), (0x4, 0xF), (0x5, 0xF), (0x0, 0x8), (0x8, 0x8)] {
        all.push([class(0xE), vec![("match_opc", opcode), ("mask_opc", mask)]].concat());
    }
    // States E, F and M.
    all.extend([0x4, 0x1, 0x8].map(|state| [class(0xE), vec![("match_rds", state), ("mask_rds", 0xF)]].concat()));
    all.extend([0, 1, 2, 3].map(|node| vec![("match_dnid", node), ("mask_dnid", 0x1F)]));
    all.extend([0, 1, 3].map(|node| vec![("match_rnid30", node), ("mask_rnid30", 0xF)]));
    all.extend([0, 2].map(|network| vec![("match_vnw", network), ("mask_vnw", 0x3)]));
    all
}

/// An event with its filters, ready to be counted.
pub struct Case {
    pub unit: &'static str,
    /// Ticks of a cycle of its clock.
    pub period: Tick,
    pub event: &'static str,
    pub subevent: Option<&'static str>,
    pub filters: Vec<(&'static str, u64)>,
    pub meaning: Meaning,
    pub wires: Vec<Wire>,
}

/// All events of the ledger but the clocks.
pub fn cases(wiring: &mut Wiring, sockets: u8) -> Vec<Case> {
    let mut cases = Vec::new();
    for &(unit, event, subevents) in NAMES {
        // A machine of one socket has no links.
        if sockets == 1 && unit.ends_with("qpi") && !event.starts_with("RING_") {
            continue;
        }
        let named: Vec<Option<&str>> =
            if subevents.is_empty() { vec![None] } else { subevents.iter().copied().map(Some).collect() };
        for subevent in named {
            for filters in filters(unit, event, subevent.unwrap_or("")) {
                let Some(meaning) = meaning(wiring, unit, event, subevent.unwrap_or(""), &filters) else { continue };
                let wire = |i| wiring.signal(i / of_socket(unit), unit, i % of_socket(unit), &meaning.signal).unwrap();
                let wires = (0..instances(unit, sockets)).map(wire).collect();
                cases.push(Case { unit, period: period(unit, sockets), event, subevent, filters, meaning, wires });
            }
        }
    }
    cases
}

impl Case {
    /// The first snapshot at which the naive count of an instance differs from the truth: its index, the count, the
    /// truth.
    pub fn differs(&self, emissions: &[Emission], instance: u16, snapshots: &[Snapshot]) -> Option<(usize, u64, u64)> {
        self.differs_from(emissions, instance, snapshots, &self.truths(instance, snapshots))
    }

    /// The truth of an instance, from each snapshot to the next.
    pub fn truths(&self, instance: u16, snapshots: &[Snapshot]) -> Vec<u64> {
        let question = Question::new(self.unit, self.event).subevent(self.subevent).filtered(&self.filters);
        let truth = |pair: &[Snapshot]| Window::between(&pair[0], &pair[1]).truth(instance, question).unwrap();
        snapshots.windows(2).map(truth).collect()
    }

    /// The same, of known truths.
    pub fn differs_from(
        &self,
        emissions: &[Emission],
        instance: u16,
        snapshots: &[Snapshot],
        truths: &[u64],
    ) -> Option<(usize, u64, u64)> {
        let cuts: Vec<Tick> = snapshots.iter().map(Snapshot::now).collect();
        let counts = count(emissions, self.wires[usize::from(instance)], self.period, &self.meaning, &cuts);
        (1..snapshots.len()).find_map(|index| {
            let (counted, truth) = (counts[index].wrapping_sub(counts[index - 1]), truths[index - 1]);
            (counted != truth).then_some((index, counted, truth))
        })
    }
}

#[test]
fn naive_counts_of_the_signals_equal_the_ledger() {
    WORKLOADS.iter().enumerate().for_each(|(turn, workload)| counts_equal_the_ledger(workload, turn));
}

/// The same of a few requests, which is quick.
fn short_runs_count_as_the_ledger_does(workloads: &[&str]) {
    workloads.iter().enumerate().for_each(|(turn, workload)| counts_equal_the_ledger(workload, turn));
}

#[test]
fn a_few_requests_of_cores_count_as_in_the_ledger() {
    short_runs_count_as_the_ledger_does(&[
        "random:requests=600,footprint=16k,threads=16,read=60",
        "ntstore:requests=200,partial=50,footprint=4k,threads=8",
    ]);
}

#[test]
fn a_few_requests_between_sockets_count_as_in_the_ledger() {
    short_runs_count_as_the_ledger_does(&["directory=1 2 random:requests=600,footprint=16k,remote=50,read=60"]);
}

#[test]
fn links_without_credits_count_as_in_the_ledger() {
    short_runs_count_as_the_ledger_does(&[
        "few-credits 2 stream:requests=600,stride=128k,footprint=1G,read=0,remote=90",
    ]);
}

#[test]
fn a_few_requests_of_devices_count_as_in_the_ledger() {
    short_runs_count_as_the_ledger_does(&[
        "isochronous=2 dma-write:requests=300,threads=16,allocate=50,isoc=50,footprint=64k",
        "dma-read:requests=200,threads=16,stride=128k,footprint=4G",
    ]);
}

/// All states of power and of memory, and all messages, in a few microseconds each.
#[test]
fn short_phases_count_as_in_the_ledger() {
    short_runs_count_as_the_ledger_does(&["
phase hot
  workload mixed:requests=200,threads=4
  frequency 1500MHz
  thermal-limit 2GHz
  memory-error every 20reads
  throttle rank0 30%
phase night
  idle 15us
  sleep c6
  wake every 10us
  self-refresh after 1us
phase messages
  idle 8us
  vlw every 1us
  msi every 1us
  ipi every 1us
  doorbell every 1us
  priority every 1us
  lock every 2us
  phold every 2us
  monitor0 every 1us
  device-write every 200ns
  device-read every 200ns
  power-down slow
"]);
}

/// Counts of a workload over windows that cut requests in two; `turn` chooses which instances meet which filters.
fn counts_equal_the_ledger(workload: &str, turn: usize) {
    let sockets = sockets(workload);
    let (mut model, mut wiring) = model(workload);
    let mut recorder = Recorder::default();
    let mut snapshots = vec![model.snapshot()];
    // Windows that start and end within requests, on no clock's edge.
    for tick in [150_001, 400_000, ODD] {
        model.run_until_any(tick, &mut recorder);
        snapshots.push(model.snapshot());
    }
    run(&mut model, &mut recorder);
    snapshots.push(model.snapshot());
    let mut by_wire = HashMap::<Wire, Vec<Emission>>::new();
    for emission in &recorder.emissions {
        by_wire.entry(emission.wire).or_default().push(*emission);
    }
    for (index, case) in cases(&mut wiring, sockets).iter().enumerate() {
        let all = instances(case.unit, sockets);
        for instance in 0..all {
            // Filters are many and mean the same in each instance: one of them, another in each case and workload.
            if !case.filters.is_empty() && usize::from(instance) != (index + turn) % usize::from(all) {
                continue;
            }
            let emissions = by_wire.get(&case.wires[usize::from(instance)]).map_or(&[][..], Vec::as_slice);
            let differs = case.differs(emissions, instance, &snapshots);
            let (unit, event, subevent, filters) = (case.unit, case.event, case.subevent, &case.filters);
            assert_eq!(differs, None, "{workload}: {unit}{instance}/{event}.{subevent:?},{filters:?}");
        }
    }
    increments(&mut wiring, &by_wire, workload);
}

/// No more in a cycle than the guide's tables say, nothing below zero, nothing left behind.
fn increments(wiring: &mut Wiring, by_wire: &HashMap<Wire, Vec<Emission>>, workload: &str) {
    let sockets = sockets(workload);
    for (unit, signal, arrivals, level) in [
        ("cbo", "llc_lookup", 1, 0),
        ("cbo", "llc_victim", 1, 0),
        ("cbo", "tor", 1, 20),
        // One each into the IRQ, the ordering queue beside it, and among the rejected.
        ("cbo", "ingress", 3, 60),
        ("cbo", "TxR_INSERTS", 1, 0),
        ("ha", "REQUESTS", 1, 0),
        ("ha", "tracker", 1, 128),
        ("ha", "IMC_WRITES", 1, 0),
        ("ha", "TAD_REQUESTS_G0", 2, 0),
        ("ha", "TxR_AK_NDR", 1, 0),
        ("ha", "TxR_AD", 1, 0),
        ("ha", "TxR_BL", 1, 0),
        ("ha", "DIRECT2CORE_COUNT", 1, 0),
        ("cbo", "MISC", 1, 0),
        ("ha", "BYPASS_IMC", 2, 0),
        ("ha", "CONFLICT_CYCLES", 2, 2),
        ("ha", "IGR_NO_CREDIT_CYCLES", 4, 4),
        ("ha", "RPQ_CYCLES_NO_REG_CREDITS", 4, 4),
        ("ha", "WPQ_CYCLES_NO_REG_CREDITS", 4, 4),
        ("qpi", "TxL_FLITS_G0", 2, 2),
        ("qpi", "RxL_FLITS_G0", 2, 2),
        ("qpi", "TxL_FLITS_G1", 2, 0),
        ("qpi", "RxL_FLITS_G1", 2, 0),
        ("qpi", "TxL_FLITS_G2", 2, 0),
        ("qpi", "RxL_FLITS_G2", 2, 0),
        // Flits: two in a clock by the link; those of a packet together from the ring stop, where four packets wait.
        ("qpi", "txq", 11, 44),
        ("qpi", "rxq", 2, 128),
        ("qpi", "TxL_BYPASSED", 2, 0),
        ("qpi", "RxL_BYPASSED", 2, 0),
        ("qpi", "packets", 2, 0),
        ("qpi", "DIRECT2CORE", 1, 0),
        ("qpi", "RxL_CREDITS_CONSUMED_VNA", 1, 0),
        ("r3qpi", "ingress", 2, 32),
        ("r3qpi", "RxR_BYPASSED", 1, 0),
        ("r3qpi", "VNA_CREDITS_ACQUIRED", 4, 0),
        ("r3qpi", "VN0_CREDITS_USED", 1, 0),
        ("imc", "ACT_COUNT", 1, 0),
        ("imc", "PRE_COUNT", 1, 0),
        ("imc", "CAS_COUNT", 1, 0),
        ("imc", "DRAM_REFRESH", 1, 0),
        ("imc", "DRAM_PRE_ALL", 1, 0),
        ("imc", "rpq", 1, 22),
        ("imc", "wpq", 1, 32),
        ("imc", "WPQ_READ_HIT", 1, 0),
        ("imc", "WPQ_WRITE_HIT", 1, 0),
        ("imc", "RPQ_CYCLES_FULL", 1, 1),
        ("imc", "WPQ_CYCLES_FULL", 1, 1),
    ] {
        for instance in 0..instances(unit, sockets) {
            let number = instance % of_socket(unit);
            let wire = wiring.signal(instance / of_socket(unit), unit, number, signal).unwrap();
            let emissions = by_wire.get(&wire).map_or(&[][..], Vec::as_slice);
            let (most, highest, last) = peaks(emissions, wire, period(unit, sockets));
            assert!(most <= arrivals, "{workload}: {unit}{instance}/{signal}: {most} in a cycle");
            // Snoops come beside the twenty requests that the queue holds.
            let level = if sockets > 1 && (unit, signal) == ("cbo", "ingress") { 20 + 128 } else { level };
            assert!(highest <= level, "{workload}: {unit}{instance}/{signal}: level {highest}");
            // What is there when nothing happens: idle slots of a link, no conflict in a home agent.
            let rest = match signal {
                "TxL_FLITS_G0" | "RxL_FLITS_G0" if sockets > 1 => 2,
                "CONFLICT_CYCLES" => 1,
                _ => 0,
            };
            assert_eq!(last, rest, "{workload}: {unit}{instance}/{signal} keeps entries");
        }
    }
}

#[test]
fn clocks_tick_with_time() {
    let (mut model, _) = model("chase:requests=10");
    let before = model.snapshot();
    model.run_until_any(ODD, &mut Recorder::default());
    let after = model.snapshot();
    let window = Window::between(&before, &after);
    let ticks = |unit| window.truth(0, Question::new(unit, "CLOCKTICKS")).unwrap();
    assert_eq!((ticks("cbo"), ticks("ha"), ticks("imc")), (ODD / 8, ODD / 8, ODD / 27));
    let (mut model, _) = super::model("2 chase:requests=10");
    let before = model.snapshot();
    model.run_until_any(ODD, &mut Recorder::default());
    let after = model.snapshot();
    let window = Window::between(&before, &after);
    let ticks = |unit| window.truth(1, Question::new(unit, "CLOCKTICKS")).unwrap();
    assert_eq!((ticks("cbo"), ticks("qpi"), ticks("r3qpi"), ticks("imc")), (ODD / 40, ODD / 108, ODD / 40, ODD / 135));
}

#[test]
fn the_ledger_knows_at_least_45_events() {
    let named = NAMES.iter().map(|(_, _, subevents)| subevents.len().max(1)).sum::<usize>();
    assert!(named >= 45, "{named}");
    let (model, _) = model("chase:requests=10");
    let at = model.snapshot();
    let window = Window::between(&at, &at);
    assert_eq!(window.truth(8, Question::new("cbo", "LLC_LOOKUP").subevent("DATA_READ")), None);
    assert_eq!(window.truth(0, Question::new("cbo", "LLC_LOOKUP").subevent("NO_SUCH")), None);
    assert_eq!(window.truth(0, Question::new("cbo", "NO_SUCH")), None);
}
