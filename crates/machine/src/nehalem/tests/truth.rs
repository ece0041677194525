//! Every event that the ledger knows, counted naively from the signals over windows that cut requests in two; and a
//! lost or doubled emission must show.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pericore_hardware::signal::{Tick, Wire, Wiring};

use super::{ODD, WORKLOADS, model, run};
use crate::uncore::tests::recorder::{Change, Emission, Recorder};
use pericore_truth::Question;
use pericore_truth::nehalem::{NAMES, Snapshot};

/// Ticks of an uncore cycle, written again.
const PERIOD: Tick = 33;

/// What a counter takes from a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Arrivals,
    Occupancy,
    NonEmpty,
}

/// Umasks of the subevents, by hand from the public event lists (reference/nehalem-events.csv).
fn umask(event: &str, subevent: &str) -> u64 {
    let position = |names: &[&str]| names.iter().position(|name| *name == subevent).map(|n| 1 << n);
    let of = |names: &[&str]| position(names).unwrap_or_else(|| panic!("{event}.{subevent}"));
    match (event, subevent) {
        ("LLC_LINES_IN", "ANY") => 0x0F,
        ("LLC_LINES_OUT", "ANY") => 0x1F,
        ("LLC_HITS" | "LLC_MISS", "ANY") => 0x03,
        ("QMC_WRITES", "FULL_ANY") | (_, "ANY" | "LINK_0") => 0x07,
        ("QMC_WRITES", "PARTIAL_ANY") | (_, "LINK_1") => 0x38,
        (_, "HITM") => 0x24,
        ("QHL_ADDRESS_CONFLICTS", _) => of(&["", "2WAY", "3WAY"]),
        ("QHL_REQUESTS", _) => {
            of(&["IOH_READS", "IOH_WRITES", "REMOTE_READS", "REMOTE_WRITES", "LOCAL_READS", "LOCAL_WRITES"])
        }
        ("QHL_FRC_ACK_CNFLTS", _) => 0x04,
        ("GQ_ALLOC", _) => of(&[
            "READ_TRACKER",
            "RT_LLC_MISS",
            "RT_TO_LLC_RESP",
            "RT_TO_RTID_ACQUIRED",
            "WT_TO_RTID_ACQUIRED",
            "WRITE_TRACKER",
            "PEER_PROBE_TRACKER",
        ]),
        ("GQ_DATA_FROM", _) => of(&["QPI", "QMC", "LLC", "CORES_02", "CORES_13"]),
        ("GQ_DATA_TO", _) => of(&["QPI_QMC", "LLC", "CORES"]),
        ("LLC_HITS" | "LLC_MISS", _) => of(&["READ", "WRITE", "PROBE"]),
        ("LLC_LINES_IN", _) => of(&["M_STATE", "E_STATE", "S_STATE", "F_STATE"]),
        ("LLC_LINES_OUT", _) => of(&["M_STATE", "E_STATE", "S_STATE", "I_STATE", "F_STATE"]),
        ("QPI_TX_STALLED_SINGLE_FLIT", _) => {
            of(&["HOME_LINK_0", "SNOOP_LINK_0", "NDR_LINK_0", "HOME_LINK_1", "SNOOP_LINK_1", "NDR_LINK_1"])
        }
        ("QPI_TX_STALLED_MULTI_FLIT", _) => {
            of(&["DRS_LINK_0", "NCB_LINK_0", "NCS_LINK_0", "DRS_LINK_1", "NCB_LINK_1", "NCS_LINK_1"])
        }
        ("QPI_TX_HEADER", _) => of(&["", "BUSY_LINK_0", "", "BUSY_LINK_1"]),
        ("QPI_RX_NO_PPT_CREDIT", _) => of(&["STALLS_LINK_0", "STALLS_LINK_1"]),
        ("DRAM_READ_CAS" | "DRAM_WRITE_CAS", _) => {
            of(&["CH0", "AUTOPRE_CH0", "CH1", "AUTOPRE_CH1", "CH2", "AUTOPRE_CH2"])
        }
        (_, "I_STATE" | "S_STATE" | "FWD_S_STATE" | "FWD_I_STATE" | "CONFLICT" | "WB") => {
            of(&["I_STATE", "S_STATE", "FWD_S_STATE", "FWD_I_STATE", "CONFLICT", "WB"])
        }
        (_, "READ_TRACKER" | "WRITE_TRACKER" | "PEER_PROBE_TRACKER") => {
            of(&["READ_TRACKER", "WRITE_TRACKER", "PEER_PROBE_TRACKER"])
        }
        (_, "IOH" | "REMOTE" | "LOCAL") => of(&["IOH", "REMOTE", "LOCAL"]),
        (_, "CH0" | "CH1" | "CH2") => of(&["CH0", "CH1", "CH2"]),
        ("QMC_WRITES", _) => of(&["FULL_CH0", "FULL_CH1", "FULL_CH2", "PARTIAL_CH0", "PARTIAL_CH1", "PARTIAL_CH2"]),
        _ => of(&["READ_CH0", "READ_CH1", "READ_CH2", "WRITE_CH0", "WRITE_CH1", "WRITE_CH2"]),
    }
}

fn measure(event: &str, subevent: Option<&str>) -> Measure {
    match event {
        "QMC_BUSY" => Measure::NonEmpty,
        "GQ_CYCLES_FULL" | "GQ_CYCLES_NOT_EMPTY" | "GQ_DATA_FROM" | "GQ_DATA_TO" => Measure::Occupancy,
        "QHL_CYCLES_FULL" | "QHL_CYCLES_NOT_EMPTY" | "QHL_OCCUPANCY" | "QHL_CONFLICT_CYCLES" => Measure::Occupancy,
        "QMC_NORMAL_FULL" | "QMC_ISOC_FULL" | "QMC_OCCUPANCY" | "IMC_ISOC_OCCUPANCY" => Measure::Occupancy,
        // Any of three classes; of one class, there is one at a time.
        _ if event.starts_with("QPI_TX_STALLED") && matches!(subevent, Some("LINK_0" | "LINK_1")) => Measure::NonEmpty,
        _ if event.starts_with("QPI") => Measure::Occupancy,
        _ => Measure::Arrivals,
    }
}

/// An event ready to be counted.
pub struct Case {
    event: &'static str,
    subevent: Option<&'static str>,
    filters: Vec<(&'static str, u64)>,
    measure: Measure,
    mask: u64,
    /// By socket.
    pub wires: Vec<Wire>,
    sub: Option<(u8, u64)>,
    opcode: u8,
}

/// All events of the ledger but the clock.
pub fn cases(wiring: &mut Wiring) -> Vec<Case> {
    let mut cases = Vec::new();
    for &(event, subevents) in NAMES.iter().filter(|(event, _)| *event != "CLK_UNHALTED") {
        let signal = match event {
            "QMC_OCCUPANCY" | "QMC_NORMAL_READS" => "qmc",
            "ADDR_OPCODE_MATCH" => "match",
            _ => event,
        };
        let wires: Vec<Wire> =
            (0..wiring.sockets()).map(|socket| wiring.signal(socket, "uncore", 0, signal).unwrap()).collect();
        let named: Vec<Option<&str>> =
            if subevents.is_empty() { vec![None] } else { subevents.iter().copied().map(Some).collect() };
        let filters: Vec<Vec<(&str, u64)>> = if signal == "match" {
            [0x19, 0x1A, 0x1D].iter().map(|&opcode| vec![("msel", 2), ("opcode", opcode)]).collect()
        } else {
            vec![vec![]]
        };
        let sub = wiring.attribute("uncore", signal, "sub").ok().map(|bits| (bits.lsb, bits.max()));
        let opcode = wiring.attribute("uncore", "match", "opcode").unwrap().lsb;
        for subevent in named {
            for filters in &filters {
                cases.push(Case {
                    event,
                    subevent,
                    filters: filters.clone(),
                    measure: measure(event, subevent),
                    mask: subevent.map_or(0, |name| umask(event, name)),
                    wires: wires.clone(),
                    sub,
                    opcode,
                });
            }
        }
    }
    cases
}

impl Case {
    fn wants(&self, tag: u64) -> bool {
        let opcode = self.filters.iter().find(|(key, _)| *key == "opcode");
        let by_sub =
            self.subevent.is_none() || self.sub.is_some_and(|(shift, most)| tag >> shift & most & self.mask != 0);
        by_sub && opcode.is_none_or(|&(_, opcode)| tag >> self.opcode & 0xFF == opcode)
    }

    /// Counts up to each of the cuts, which must rise: counters sample at the end of a cycle, so that a change shows in
    /// its own.
    fn count(&self, emissions: &[Emission], cuts: &[Tick]) -> Vec<u64> {
        let mut mine = emissions.iter().filter(|emission| self.wants(emission.tag)).peekable();
        let (mut cycle, mut level, mut sum) = (0, 0_i64, 0_i64);
        let mut counts = Vec::new();
        for &cut in cuts {
            if self.measure == Measure::Arrivals {
                while let Some(emission) = mine.next_if(|emission| emission.tick < cut) {
                    sum += match emission.change {
                        Change::Pulse(count) => i64::from(count),
                        Change::Enter => 1,
                        Change::Leave => 0,
                    };
                }
                counts.push(sum as u64);
                continue;
            }
            let value = |level: i64| if self.measure == Measure::NonEmpty { i64::from(level > 0) } else { level };
            let end = cut / PERIOD;
            while let Some(emission) = mine.next_if(|emission| emission.tick < end * PERIOD) {
                let now = emission.tick / PERIOD;
                sum += value(level) * (now - cycle) as i64;
                cycle = now;
                level += match emission.change {
                    Change::Enter => 1,
                    Change::Leave => -1,
                    Change::Pulse(_) => panic!("pulse on a level"),
                };
            }
            sum += value(level) * (end - cycle) as i64;
            cycle = end;
            counts.push(sum as u64);
        }
        counts
    }

    pub fn truth(&self, socket: usize, at: &Snapshot) -> u64 {
        let question = Question::new("uncore", self.event).subevent(self.subevent).filtered(&self.filters);
        let truth = at.count(socket as u16, 0, question);
        truth.unwrap_or_else(|| panic!("no truth for {}.{:?}", self.event, self.subevent))
    }

    /// The first snapshot at which the naive count of a socket differs from the truth: its index, the count, the truth.
    pub fn differs(&self, emissions: &[Emission], socket: usize, snapshots: &[Snapshot]) -> Option<(usize, u64, u64)> {
        let cuts: Vec<Tick> = snapshots.iter().map(Snapshot::now).collect();
        let truths = snapshots.iter().map(|at| self.truth(socket, at));
        let counts = self.count(emissions, &cuts).into_iter();
        counts.zip(truths).enumerate().find(|(_, (count, truth))| count != truth).map(|(n, (c, t))| (n, c, t))
    }
}

pub fn by_wire(recorder: &Recorder) -> HashMap<Wire, Vec<Emission>> {
    let mut by_wire = HashMap::<Wire, Vec<Emission>>::new();
    for emission in &recorder.emissions {
        by_wire.entry(emission.wire).or_default().push(*emission);
    }
    by_wire
}

#[test]
fn naive_counts_of_the_signals_equal_the_ledger() {
    let mut alive = BTreeSet::new();
    WORKLOADS.iter().for_each(|workload| counts_equal_the_ledger(workload, &mut alive));
    let dead: Vec<_> = NAMES
        .iter()
        .flat_map(|(event, subevents)| subevents.iter().map(move |subevent| (*event, *subevent)))
        .filter(|name| !alive.contains(name))
        .collect();
    assert!(dead.is_empty(), "no workload makes these count: {dead:?}");
}

/// The same of a few requests, which is quick.
#[test]
fn a_few_requests_count_as_in_the_ledger() {
    for workload in ["2 mixed:requests=600,footprint=64k,remote=50,read=60", "2 ntstore:requests=200,remote=50"] {
        counts_equal_the_ledger(workload, &mut BTreeSet::new());
    }
}

/// Counts of a workload over windows that cut requests in two; adds what counts to `alive`.
fn counts_equal_the_ledger(workload: &str, alive: &mut BTreeSet<(&'static str, &'static str)>) {
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
    let by_wire = by_wire(&recorder);
    for case in cases(&mut wiring) {
        for (socket, wire) in case.wires.iter().enumerate() {
            let emissions = by_wire.get(wire).map_or(&[][..], Vec::as_slice);
            let differs = case.differs(emissions, socket, &snapshots);
            let (event, subevent, filters) = (case.event, case.subevent, &case.filters);
            assert_eq!(differs, None, "{workload}: socket {socket} {event}.{subevent:?},{filters:?}");
            if case.count(emissions, &[snapshots[4].now()]) != [0] {
                alive.insert((event, subevent.unwrap_or_default()));
            }
        }
    }
}

#[test]
fn dropping_or_doubling_any_emission_shows() {
    let mut seen = BTreeSet::new();
    let mut bound = Vec::new();
    for workload in WORKLOADS {
        let (mut model, mut wiring) = model(workload);
        if wiring.sockets() > 1 {
            bound = wiring.bound().to_vec();
        }
        let mut recorder = Recorder::default();
        let mut snapshots = vec![model.snapshot()];
        run(&mut model, &mut recorder);
        snapshots.push(model.snapshot());
        let cases = cases(&mut wiring);
        for (wire, emissions) in by_wire(&recorder) {
            let (socket, _, _) = wiring.locate(wire.instance);
            // For each tag and each kind of change, one emission in the middle; the match's addresses are one kind.
            let mut classes = BTreeMap::<(u64, Change), Vec<usize>>::new();
            for (index, emission) in emissions.iter().enumerate() {
                classes.entry((emission.tag & 0xFFFF, emission.change)).or_default().push(index);
            }
            for ((tag, _), members) in classes {
                seen.insert((wire.signal, tag));
                let index = members[members.len() / 2];
                let mut dropped = emissions.clone();
                dropped.remove(index);
                let mut doubled = emissions.clone();
                doubled.insert(index, doubled[index]);
                for (harm, harmed) in [("dropping", dropped), ("doubling", doubled)] {
                    let shows = cases
                        .iter()
                        .filter(|case| case.wires[usize::from(socket)] == wire)
                        .any(|case| case.differs(&harmed, socket.into(), &snapshots).is_some());
                    assert!(shows, "{workload}: {harm} {:?} goes unnoticed", emissions[index]);
                }
            }
        }
    }
    let unit = pericore_catalog::family("nehalem").unwrap().units[0];
    for (_, signal, tag) in bound {
        // Binding by name alone says nothing of what is emitted.
        let emitted = seen.iter().any(|&(s, t)| s == signal && (tag == 0 || t & tag != 0));
        let name = unit.signals[usize::from(signal)].name;
        assert!(emitted, "{name} with tag {tag:#x} is bound but no workload emits it");
    }
}
