//! Every count of a software E5-2600 equals the ledger's figure, exactly; and any harm to any signal shows.
//!
//! The events, their filters and the ledger's names for them stand here by hand.

use pericore_machine::ledger::Question;
use pericore_machine::ledger::e5_2600::Window;
use pericore_machine::signal::Wiring;
use pericore_machine::workload::{Scenario, Workload};
use pericore_machine::{Machine, MachineSpec};
use pericore_observe::results::{Scope, metric_totals};
use pericore_observe::selection::Selection;
use pericore_tests::rig::{Harm, Measured, Rig, Sabotage, family, measure, plan};

use crate::metrics_equal_the_ledger::run;

/// Ticks of a run at most: 20 virtual milliseconds.
const RUN: u64 = 21_600_000_000 / 50;

/// Each named workload. Strides of 128 KiB crowd a few sets of the LLC, so that lines leave it and writes reach memory soon; one
/// random workload is larger than the LLC instead.
const WORKLOADS: [&str; 7] = [
    "stream:requests=20k,read=70,seed=1",
    "stream:requests=6000,stride=128k,footprint=1G,read=0,seed=2",
    "copy:requests=20k,stride=64k,footprint=1G,seed=3",
    "random:requests=400k,footprint=256M,read=60,seed=4",
    "random:requests=8000,threads=16,footprint=1M,read=50,seed=5",
    "chase:requests=2000,threads=8,footprint=256M,seed=6",
    "mixed:requests=20k,footprint=128M,read=50,seed=7",
];

/// Event and subevent, and the filter that goes with them.
type Row = (&'static str, &'static str, &'static [(&'static str, u64)]);

const DATA_READ: u64 = 0x182;
const READ_FOR_OWNERSHIP: u64 = 0x180;
const WRITE_BACK: u64 = 0x1c4;

const CBO: &[Row] = &[
    ("CLOCKTICKS", "", &[]),
    ("LLC_LOOKUP", "DATA_READ", &[("state", 0x1f)]),
    ("LLC_LOOKUP", "DATA_READ", &[("state", 0x01)]),
    ("LLC_LOOKUP", "WRITE", &[("state", 0x1f)]),
    ("LLC_LOOKUP", "WRITE", &[("state", 0x08)]),
    ("LLC_LOOKUP", "NID", &[("state", 0x1f), ("nid", 0x01)]),
    ("LLC_VICTIMS", "M_STATE", &[]),
    ("LLC_VICTIMS", "E_STATE", &[]),
    ("LLC_VICTIMS", "S_STATE", &[]),
    ("LLC_VICTIMS", "MISS", &[]),
    ("LLC_VICTIMS", "NID", &[("nid", 0x01)]),
    ("RxR_INSERTS", "IRQ", &[]),
    ("RxR_OCCUPANCY", "IRQ", &[]),
    ("TOR_INSERTS", "OPCODE", &[("opc", DATA_READ)]),
    ("TOR_INSERTS", "OPCODE", &[("opc", WRITE_BACK)]),
    ("TOR_INSERTS", "EVICTION", &[]),
    ("TOR_INSERTS", "WB", &[]),
    ("TOR_INSERTS", "MISS_OPCODE", &[("opc", DATA_READ)]),
    ("TOR_INSERTS", "MISS_OPCODE", &[("opc", READ_FOR_OWNERSHIP)]),
    ("TOR_INSERTS", "MISS_ALL", &[]),
    ("TOR_INSERTS", "NID_MISS_OPCODE", &[("opc", DATA_READ), ("nid", 0x01)]),
    ("TOR_INSERTS", "NID_ALL", &[("nid", 0x01)]),
    ("TOR_OCCUPANCY", "OPCODE", &[("opc", DATA_READ)]),
    ("TOR_OCCUPANCY", "MISS_OPCODE", &[("opc", DATA_READ)]),
    ("TOR_OCCUPANCY", "MISS_ALL", &[]),
    ("TOR_OCCUPANCY", "EVICTION", &[]),
    ("TOR_OCCUPANCY", "ALL", &[]),
    ("TOR_OCCUPANCY", "NID_ALL", &[("nid", 0x01)]),
    ("TxR_INSERTS", "AD_CACHE", &[]),
    ("TxR_INSERTS", "AK_CACHE", &[]),
    ("TxR_INSERTS", "BL_CACHE", &[]),
    ("TxR_INSERTS", "IV_CACHE", &[]),
    ("TxR_INSERTS", "AD_CORE", &[]),
    ("TxR_INSERTS", "AK_CORE", &[]),
    ("TxR_INSERTS", "BL_CORE", &[]),
];

const HA: &[Row] = &[
    ("CLOCKTICKS", "", &[]),
    ("REQUESTS", "READS", &[]),
    ("REQUESTS", "WRITES", &[]),
    ("TRACKER_INSERTS", "ALL", &[]),
    ("IMC_WRITES", "FULL", &[]),
    ("IMC_WRITES", "ALL", &[]),
    ("DIRECT2CORE_COUNT", "", &[]),
    ("TAD_REQUESTS_G0", "REGION0", &[]),
    ("TxR_AK_NDR", "", &[]),
    ("TxR_BL", "DRS_CACHE", &[]),
    ("TxR_BL", "DRS_CORE", &[]),
];

const IMC: &[Row] = &[
    ("CLOCKTICKS", "", &[]),
    ("ACT_COUNT", "", &[]),
    ("PRE_COUNT", "PAGE_MISS", &[]),
    ("PRE_COUNT", "PAGE_CLOSE", &[]),
    ("CAS_COUNT", "RD_REG", &[]),
    ("CAS_COUNT", "RD", &[]),
    ("CAS_COUNT", "WR_WMM", &[]),
    ("CAS_COUNT", "WR_RMM", &[]),
    ("CAS_COUNT", "WR", &[]),
    ("CAS_COUNT", "ALL", &[]),
    ("DRAM_REFRESH", "PANIC", &[]),
    ("DRAM_REFRESH", "HIGH", &[]),
    ("DRAM_PRE_ALL", "", &[]),
    ("MAJOR_MODES", "READ", &[]),
    ("MAJOR_MODES", "WRITE", &[]),
    ("RPQ_INSERTS", "", &[]),
    ("RPQ_OCCUPANCY", "", &[]),
    ("RPQ_CYCLES_NE", "", &[]),
    ("RPQ_CYCLES_FULL", "", &[]),
    ("WPQ_INSERTS", "", &[]),
    ("WPQ_OCCUPANCY", "", &[]),
    ("WPQ_CYCLES_NE", "", &[]),
    ("WPQ_CYCLES_FULL", "", &[]),
    ("WPQ_READ_HIT", "", &[]),
    ("WPQ_WRITE_HIT", "", &[]),
];

fn rows() -> Vec<(&'static str, Row)> {
    let of = |unit: &'static str, rows: &'static [Row]| rows.iter().map(move |row| (unit, *row));
    of("cbo", CBO).chain(of("ha", HA)).chain(of("imc", IMC)).collect()
}

fn text(unit: &str, (event, subevent, filters): Row) -> String {
    let name = if subevent.is_empty() { event.to_owned() } else { format!("{event}.{subevent}") };
    let filters: String = filters.iter().map(|(field, value)| format!(",{field}={value:#x}")).collect();
    format!("{unit}/{name}{filters}/")
}

/// Splits all rows into lists that fit the counters together.
fn rounds(workload: &str) -> Vec<Vec<(&'static str, Row)>> {
    let mut rig = Rig::new(workload, None);
    let mut rounds: Vec<Vec<(&'static str, Row)>> = Vec::new();
    for (unit, row) in rows() {
        let fits = rounds.iter().position(|round| {
            let texts: Vec<String> = round.iter().chain([&(unit, row)]).map(|(unit, row)| text(unit, *row)).collect();
            plan(&mut rig, &texts, &[]).is_some()
        });
        match fits {
            Some(index) => rounds[index].push((unit, row)),
            None => rounds.push(vec![(unit, row)]),
        }
    }
    rounds
}

/// Every count of every instance beside the ledger's figure: event, count, truth.
fn compare(workload: &str, rounds: &[Vec<(&'static str, Row)>], sabotage: Option<Sabotage>) -> Vec<(String, u64, u64)> {
    let mut compared = Vec::new();
    for round in rounds {
        let texts: Vec<String> = round.iter().map(|(unit, row)| text(unit, *row)).collect();
        let mut rig = Rig::new(workload, sabotage);
        let plan = plan(&mut rig, &texts, &[]).expect("the round fits");
        let Measured { plan, sample, truth: (before, after) } = measure(rig, plan, RUN);
        let window = Window::between(&before, &after);
        for (listed, (unit, (event, subevent, filters))) in plan.selection.listed.iter().zip(round) {
            let subevent = Some(*subevent).filter(|name| !name.is_empty());
            let counts: Vec<_> = sample.counts.iter().filter(|count| count.event == listed.event).collect();
            assert!(!counts.is_empty(), "{} was not counted", listed.label);
            for count in counts {
                let truth =
                    window.truth(count.instance, Question::new(unit, event).subevent(subevent).filtered(filters));
                let truth = truth.unwrap_or_else(|| panic!("the ledger has no truth for {}", listed.label));
                let counted = count.count.unwrap_or_else(|| panic!("{}: {}", listed.label, count.validity));
                compared.push((format!("{} in instance {}", listed.label, count.instance), counted, truth));
            }
        }
    }
    compared
}

#[test]
fn every_count_equals_the_ledger_for_every_workload() {
    let mut selection = Selection::new(family());
    for (unit, row) in rows() {
        let name = text(unit, row);
        selection.add_events(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let mut alive = std::collections::BTreeSet::new();
    for workload in WORKLOADS {
        let run = run::run("e5-2680", workload, selection.clone());
        let listed = &run.plan.selection.listed;
        assert_eq!(listed.len(), rows().len());
        for (listed, (unit, (event, subevent, filters))) in listed.iter().zip(rows()) {
            let name = &listed.label;
            let question = Question::new(unit, event).subevent(Some(subevent).filter(|name| !name.is_empty()));
            let counts: Vec<_> = run.sample.counts.iter().filter(|count| count.event == listed.event).collect();
            assert!(!counts.is_empty(), "{name} was not counted");
            for count in counts {
                let truth = run.count((count.socket, count.instance), question.filtered(filters));
                let truth = truth.unwrap_or_else(|| panic!("the ledger has no truth for {name}"));
                let counted = count.count.unwrap_or_else(|| panic!("{name}: {}", count.validity));
                assert_eq!(counted, truth, "{name} in instance {} under {workload}", count.instance);
                if counted > 0 {
                    alive.insert(name.clone());
                }
            }
        }
    }
    // What never counts proves nothing. One socket has no lines in S, and refreshes never become urgent.
    let dead: Vec<String> =
        rows().into_iter().map(|(unit, row)| text(unit, row)).filter(|text| !alive.contains(text)).collect();
    assert!(alive.len() >= 40, "only {} events counted anything; none of {dead:?} did", alive.len());
}

/// Bandwidths, miss ratio and mean latency agree to rounding with figures that the ledger keeps apart from events.
#[test]
fn metrics_agree_with_physical_quantities() {
    // Without data reads there is no miss ratio and no latency.
    for workload in WORKLOADS.into_iter().filter(|workload| !workload.contains("read=0")) {
        let metric = |names: &[&str]| {
            let mut rig = Rig::new(workload, None);
            let plan = plan(&mut rig, &[], names).expect("the metrics fit");
            let measured = measure(rig, plan, RUN);
            let values: Vec<f64> = measured
                .plan
                .selection
                .metrics
                .iter()
                .map(|metric| {
                    let totals = metric_totals(&measured.plan.layout(), &measured.sample, metric, Scope::System);
                    totals[0]
                        .value
                        .number()
                        .unwrap_or_else(|| panic!("{}: {}", metric.name, totals[0].value.validity()))
                })
                .collect();
            (values, measured.truth)
        };
        let close = |name: &str, measured: f64, truth: f64| {
            assert!(
                (measured - truth).abs() <= truth.abs() * 1e-12,
                "{name} under {workload}: {measured}, in truth {truth}"
            );
        };
        let (values, (before, after)) =
            metric(&["imc/MEM_READ_BANDWIDTH", "imc/MEM_WRITE_BANDWIDTH", "cbo/AVG_TOR_DRD_MISS_LATENCY"]);
        let window = Window::between(&before, &after);
        let channels = (0..4).map(|channel| window.bytes(channel).expect("four channels"));
        let (read, written) =
            channels.fold((0, 0), |(read, written), bytes| (read + bytes.read, written + bytes.written));
        let reads = window.data_reads();
        close("read bandwidth", values[0], read as f64 / window.seconds());
        close("write bandwidth", values[1], written as f64 / window.seconds());
        close("miss latency", values[2], reads.miss_latency.expect("data reads missed"));
        let (values, (before, after)) = metric(&["cbo/LLC_DRD_MISS_RATIO"]);
        let reads = Window::between(&before, &after).data_reads();
        close("miss ratio", values[0], reads.misses as f64 / reads.lookups as f64);
    }
}

/// True if a row's counter sees what is emitted on a signal with a tag.
fn is_counted(wiring: &mut Wiring, (unit, signal, tag): (usize, u16, u64)) -> bool {
    let row = family().units[unit];
    rows().into_iter().filter(|(name, _)| *name == row.name).any(|(name, (event, subevent, _))| {
        let listens = row.event(event).is_some_and(|event| event.signal == Some(signal));
        let mut selected = || wiring.subevent(0, name, 0, event, subevent).is_ok_and(|(_, bits)| bits & tag != 0);
        listens && (tag == 0 || selected())
    })
}

/// Every signal that the rows count, dropped and doubled in turn, makes some count differ from the ledger. The machine's own tests do the
/// same with every signal of every unit.
#[test]
fn any_harm_to_any_signal_shows() {
    let mut wiring: Wiring = pericore_machine::modelled(family()).expect("the family has a model");
    // What this machine emits, not what another of its family can.
    let spec = MachineSpec::parse("e5-2600").expect("a machine");
    let workload = Workload::parse("stream", &spec.limits().expect("limits")).expect("a workload");
    let machine = Machine::for_scenario(&spec, &Scenario::from(workload)).expect("a model");
    let mut emissions: Vec<(usize, u16, u64)> = machine.chassis().wiring().bound().to_vec();
    // A wire that subevents share is listed by its subevents; without them, by itself.
    let with_tags: Vec<(usize, u16)> = emissions.iter().filter(|e| e.2 != 0).map(|e| (e.0, e.1)).collect();
    emissions.retain(|&(unit, signal, tag)| tag != 0 || !with_tags.contains(&(unit, signal)));
    emissions.sort_unstable();
    emissions.dedup();
    emissions.retain(|&emission| is_counted(&mut wiring, emission));
    assert!(emissions.len() >= 25, "only {} emissions", emissions.len());
    let workloads = [
        "stream:requests=6000,stride=128k,footprint=1G,read=0,seed=1",
        "random:requests=8000,threads=16,footprint=1M,read=50,seed=2",
        "random:requests=4000,threads=16,footprint=2k,read=50,seed=3",
        "stream:requests=4000,stride=128k,threads=16,read=60,seed=4",
        "stream:requests=5000,stride=128k,footprint=24M,threads=1,read=0,seed=5",
        "ntstore:requests=3000,partial=50,seed=6",
        // Writes that find the line's last one still queued.
        "ntstore:requests=3000,threads=8,partial=50,footprint=4k,seed=7",
    ];
    let rounds = rounds(workloads[0]);
    let mut unnoticed = Vec::new();
    for &(unit, signal, tag) in &emissions {
        let row = family().units[unit];
        let name = row.signals[usize::from(signal)].name;
        // To save time, only rounds with an event of the harmed signal are run.
        let listens = |event: &str| row.event(event).is_some_and(|event| event.signal == Some(signal));
        let concerned: Vec<_> = rounds
            .iter()
            .filter(|round| round.iter().any(|(u, (event, ..))| *u == row.name && listens(event)))
            .collect();
        for harm in [Harm::Drop, Harm::Double] {
            let sabotage = Some(Sabotage { unit, signal, tag, harm });
            let noticed = workloads.iter().any(|workload| {
                concerned.iter().any(|round| {
                    let compared = compare(workload, std::slice::from_ref(*round), sabotage);
                    compared.iter().any(|(_, counted, truth)| counted != truth)
                })
            });
            if !noticed {
                unnoticed.push(format!("{harm:?} {}/{name} tag {tag:#x}", row.name));
            }
        }
    }
    assert!(unnoticed.is_empty(), "nobody notices: {unnoticed:#?}");
}
