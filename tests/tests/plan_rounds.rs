//! Realistic requests, the rounds that they take, and the lower bound beside each. The expectations are reasoned by hand from the guides'
//! tables of counter restrictions and filters; run with `--nocapture` for the table.

use pericore_observe::plan::rounds_of;
use pericore_observe::selection::Selection;

/// Unit, request (events, or metrics if it starts with `-M `), rounds.
const E5_2600: &[(&str, &str, usize)] = &[
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
    println!("{:>6} {:>5}  request", "rounds", "bound");
    for &(unit, request, expected) in E5_2600 {
        let selection = selection("e5-2600", request);
        let rounds =
            rounds_of(&selection, selection.family.unit(unit).expect("a unit")).expect("it fits").expect("events");
        println!("{:>6} {:>5}  {request}", rounds.rounds.len(), rounds.bound.rounds);
        assert_eq!((rounds.rounds.len(), rounds.gap()), (expected, 0), "{request}: {}", rounds.bound);
    }
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
