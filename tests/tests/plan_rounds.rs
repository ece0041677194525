//! Realistic requests, the rounds that they take, and the lower bound beside each. The expectations are reasoned by hand from the guides'
//! tables of counter restrictions and filters. `docs/counting/rounds.md` is the table; `PERICORE_WRITE_TABLES=1` writes
//! it anew.

use std::fmt::Write;

use pericore_machine::chassis::{Chassis, Shape};
use pericore_machine::signal::Wiring;
use pericore_observe::discover::{Cpu, discover};
use pericore_observe::plan::{Plan, rounds_of};
use pericore_observe::selection::Selection;

/// Unit, request (events, or metrics if it starts with `-M `), rounds.
type Request = (&'static str, &'static str, usize);

const E5_2600: &[Request] = &[
    // One counter each.
    ("imc", "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/", 1),
    ("imc", "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/,imc/ACT_COUNT/,imc/PRE_COUNT.PAGE_MISS/", 1),
    // Four counters for five events.
    ("imc", "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/,imc/ACT_COUNT/,imc/PRE_COUNT.PAGE_MISS/,imc/RPQ_INSERTS/", 2),
    // A group of four leaves the fifth alone.
    ("imc", "{imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/,imc/ACT_COUNT/,imc/PRE_COUNT.PAGE_MISS/},imc/RPQ_INSERTS/", 2),
    // Groups of three never share four counters.
    (
        "imc",
        "{imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/,imc/ACT_COUNT/},{imc/PRE_COUNT.PAGE_MISS/,imc/RPQ_INSERTS/,imc/WPQ_INSERTS/}",
        2,
    ),
    // LLC_VICTIMS counts on counters 0 and 1 only.
    ("cbo", "cbo/LLC_VICTIMS.M_STATE/,cbo/LLC_VICTIMS.E_STATE/", 1),
    ("cbo", "cbo/LLC_VICTIMS.M_STATE/,cbo/LLC_VICTIMS.E_STATE/,cbo/LLC_VICTIMS.S_STATE/", 2),
    // Two values of the one state filter.
    ("cbo", "-M cbo/LLC_DRD_MISS_PCT", 2),
    // Only counter 0 takes occupancies.
    ("cbo", "cbo/TOR_OCCUPANCY.ALL/,cbo/RxR_OCCUPANCY.IRQ/", 2),
    ("cbo", "-M cbo/AVG_TOR_DRD_HIT_LATENCY", 2),
    // Data reads and ownership requests need the opcode filter in turn.
    ("cbo", "-M cbo/LLC_DRD_MISS_RATIO,cbo/LLC_RFO_MISS_PCT", 2),
    // Two opcodes by two sets of nodes.
    ("cbo", "-M cbo/LLC_DRD_RFO_MISS_TO_NODE0", 4),
    // Opcode and state are different fields: both filters hold at once.
    ("cbo", "cbo/TOR_INSERTS.OPCODE,opc=DRd/,cbo/LLC_LOOKUP.DATA_READ,state=0x1F/", 1),
    ("ha", "ha/REQUESTS.READS/,ha/REQUESTS.WRITES/,ha/CLOCKTICKS/", 1),
];

const EMERALD_RAPIDS: &[Request] = &[
    ("imc", "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/", 1),
    // Occupancies of the TOR count on counter 0 only, insertions anywhere.
    ("cha", "cha/TOR_OCCUPANCY.IA_MISS/,cha/TOR_INSERTS.IA_MISS/,cha/TOR_INSERTS.IA_HIT/,cha/CLOCKTICKS/", 1),
    ("cha", "cha/TOR_OCCUPANCY.IA_MISS/,cha/TOR_OCCUPANCY.IA_HIT/,cha/TOR_INSERTS.IA_MISS/", 2),
    // Five events on four counters.
    (
        "upi",
        "upi/TxL_FLITS.ALL_DATA/,upi/TxL_FLITS.NON_DATA/,upi/RxL_FLITS.ALL_DATA/,upi/RxL_FLITS.NON_DATA/,upi/CLOCKTICKS/",
        2,
    ),
];

const NEHALEM: &[Request] = &[
    // Eight counters, and none is special; the fixed counter of clocks takes none of them.
    (
        "uncore",
        "uncore/LLC_HITS.READ/,uncore/LLC_HITS.WRITE/,uncore/LLC_HITS.PROBE/,uncore/LLC_MISS.READ/,uncore/LLC_MISS.WRITE/,uncore/LLC_MISS.PROBE/,\
         uncore/LLC_LINES_IN.ANY/,uncore/LLC_LINES_OUT.ANY/,uncore/CLK_UNHALTED/",
        1,
    ),
    (
        "uncore",
        "uncore/LLC_HITS.READ/,uncore/LLC_HITS.WRITE/,uncore/LLC_HITS.PROBE/,uncore/LLC_MISS.READ/,uncore/LLC_MISS.WRITE/,uncore/LLC_MISS.PROBE/,\
         uncore/LLC_LINES_IN.ANY/,uncore/LLC_LINES_OUT.ANY/,uncore/QHL_REQUESTS.LOCAL_READS/",
        2,
    ),
];

fn selection(family: &str, request: &str) -> Selection {
    let mut selection = Selection::new(pericore_catalog::family(family).expect("a family"));
    match request.strip_prefix("-M ") {
        Some(metrics) => selection.add_metrics(metrics),
        None => selection.add_events(request),
    }
    .unwrap_or_else(|error| panic!("{request}: {error}"));
    selection
}

#[test]
fn requests_take_the_rounds_reasoned_by_hand() {
    let mut table = String::from(
        "# Rounds of twenty requests\n\nEvents that do not fit the counters and filters of a unit take turns, in rounds. No plan has fewer rounds than the\n\
         bound, for the reason given. `tests/tests/plan_rounds.rs` writes this table and checks it.\n\n\
         | family | request | rounds | bound | why |\n|---|---|---|---|---|\n",
    );
    let all = [("e5-2600", E5_2600), ("emerald-rapids", EMERALD_RAPIDS), ("nehalem", NEHALEM)];
    for (family, &(unit, request, expected)) in
        all.iter().flat_map(|(name, all)| all.iter().map(move |one| (*name, one)))
    {
        let selection = selection(family, request);
        let rounds =
            rounds_of(&selection, selection.family.unit(unit).expect("a unit")).expect("it fits").expect("events");
        let (count, bound) = (rounds.rounds.len(), &rounds.bound);
        assert_eq!((count, rounds.gap()), (expected, 0), "{request}: {bound}");
        writeln!(table, "| {family} | `{request}` | {count} | {} | {bound} |", bound.rounds).expect("text");
    }
    assert_eq!(all.iter().map(|(_, requests)| requests.len()).sum::<usize>(), 20);
    let path = format!("{}/../docs/counting/rounds.md", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("PERICORE_WRITE_TABLES").is_some() {
        std::fs::write(&path, &table).expect("docs can be written");
    }
    assert_eq!(
        std::fs::read_to_string(&path).unwrap_or_default(),
        table,
        "docs/counting/rounds.md is old: PERICORE_WRITE_TABLES=1 writes it"
    );
}

/// Every subevent of every unit of Emerald Rapids in one plan: at the bound, and far fewer feasibility tests than a second has time for (one takes about
/// a microsecond).
#[test]
fn all_of_emerald_rapids_fits_one_plan() {
    let family = pericore_catalog::family("emerald-rapids").expect("a family");
    let shape = Shape::new(family, 1, 4, 1).expect("a machine");
    let mut machine = Chassis::new(shape, Wiring::new(family, 1), |_| 8);
    let cpus: Vec<Cpu> = (0..4).map(|number| Cpu { number, package: 0 }).collect();
    let topology = discover(&mut machine, family, &cpus, |_| true).expect("the uncore is found");
    let mut names = Vec::new();
    for unit in family.units {
        for event in unit.events.iter().filter(|event| event.name != "COUNTER0_OCCUPANCY") {
            let subevents = event.subevents.iter().map(|subevent| format!("{}.{}", event.name, subevent.name));
            let all: Vec<String> =
                if event.subevents.is_empty() { vec![event.name.to_owned()] } else { subevents.collect() };
            let opcode = |name: &str| match event.name {
                "TOR_INSERTS" | "TOR_OCCUPANCY" if name.ends_with("_OPC") => ",opc=0x102",
                "TxL_BASIC_HDR_MATCH" | "RxL_BASIC_HDR_MATCH" if name.ends_with("_OPC") => ",opc=0x1",
                _ => "",
            };
            names.extend(all.iter().map(|name| format!("{}/{name}{}/", unit.name, opcode(name))));
        }
    }
    let asked = names.len();
    assert!(asked > 4000, "{asked}");
    let mut selection = Selection::new(family);
    selection.add_events(&names.join(",")).unwrap_or_else(|error| panic!("{error}"));
    let steps: u32 =
        family.units.iter().filter_map(|unit| rounds_of(&selection, unit).expect("it fits")).map(|r| r.steps).sum();
    println!("{asked} subevents, {} counts, {steps} feasibility tests", selection.events.len());
    assert!(steps < 100_000, "{steps} feasibility tests");
    let plan = Plan::new(&topology, selection).expect("it fits in rounds");
    assert!(plan.instances().all(|instance| instance.rounds == instance.bound.rounds), "at the bound");
    let counted: std::collections::BTreeSet<usize> =
        plan.instances().flat_map(|instance| &instance.counters).flat_map(|counter| counter.events.clone()).collect();
    assert_eq!(counted.len(), plan.selection.events.len(), "everything has its turn");
}

/// Every event and subevent of a family that needs no filter: unit by unit, each once, and no better bound than the plan.
#[test]
fn whole_families_are_planned_at_the_bound() {
    for family in pericore_catalog::families() {
        for unit in family.units {
            let mut selection = Selection::new(family);
            for event in unit.events {
                let names = event.subevents.iter().map(|subevent| format!("{}.{}", event.name, subevent.name));
                for name in names.chain([event.name.to_owned()]) {
                    // What needs a subevent, a filter or a companion is not for a list without thought.
                    let _ = selection.add_events(&format!("{}/{name}/", unit.name));
                }
            }
            let Some(rounds) = rounds_of(&selection, unit).unwrap_or_else(|error| panic!("{}: {error}", unit.name))
            else {
                continue;
            };
            let counted: usize = rounds.rounds.iter().map(Vec::len).sum();
            println!(
                "{} {}: {counted} events in {} rounds, at least {} ({})",
                family.name,
                unit.name,
                rounds.rounds.len(),
                rounds.bound.rounds,
                rounds.bound
            );
            assert_eq!(rounds.gap(), 0, "{} {}", family.name, unit.name);
            assert!(counted <= rounds.rounds.len() * usize::from(unit.counters));
        }
    }
}
