//! Every event of the three catalogues, asked for as a user would and counted through plan and session, beside a random signal injected
//! into the machine: documented, strict and lenient, with one, two and eight sockets.
//!
//! What an event's signal and tag are comes from the event texts (`pmon/tags.rs`), not from the catalogue. More events are asked for than an
//! instance has counters, so that they take turns: in every slice every signal is sent, and counts must hold those of their own turns only.
//!
//! The short forms take each event in one instance of each socket. In every instance, too:
//! `cargo test -p pericore-tests --test all session_all_events -- --ignored --nocapture`.

use std::collections::BTreeMap;

use pericore_machine::chassis::{Chassis, Rules, Shape, Variant};
use pericore_machine::signal::Wiring;
use pericore_metrics::Grade;
use pericore_observe::discover::{Cpu, Topology, discover};
use pericore_observe::plan::{Occupied, Plan};
use pericore_observe::selection::Selection;
use pericore_observe::session::{Options, Session, survey_sockets};
use pericore_tests::pmon::raw::{CYCLE, Raw};
use pericore_tests::pmon::tags;
use pericore_tests::session::feed::{Feed, Random, Registers, feed, moment};
use pericore_tests::session::requests::{Request, requests};

/// Cycles of a slice.
const SLICE: u64 = 12;
/// Events of one instance in one batch: more than four counters, so that they take turns.
const MOST: usize = 6;

fn machine(family: &str, sockets: u16, rules: Rules) -> (Raw, Topology) {
    let family = pericore_catalog::family(family).expect("the family is in the catalogue");
    let shape = Shape::new(family, sockets, 8, 2).expect("a machine of that size");
    let cpus: Vec<Cpu> =
        (0..shape.cpus()).map(|number| Cpu { number, package: shape.socket_of_cpu(number).expect("a CPU") }).collect();
    let mut raw = Raw::of(shape.clone());
    raw.machine = Chassis::new(shape, Wiring::new(family, sockets), |_| CYCLE)
        .with_variant(&Variant { rules, ..Variant::default() })
        .expect("no block is named");
    let topology = discover(&mut raw.machine, family, &cpus, |_| true).expect("the uncore is found");
    (raw, topology)
}

/// An event and where it is counted: in one instance, or in all.
type Ask = (usize, Option<u16>);

/// Batches in which no instance gets one signal twice: nothing but its own signal moves an event.
fn batches(raw: &Raw, topology: &Topology, all: &[Request], everywhere: bool) -> Vec<Vec<Ask>> {
    let family = topology.family.name;
    let mut batches: Vec<Vec<Ask>> = Vec::new();
    let mut used: Vec<BTreeMap<(&str, u16), Vec<String>>> = Vec::new();
    for (index, request) in all.iter().enumerate().filter(|(_, request)| request.row.event != "COUNTER0_OCCUPANCY") {
        let present = topology.sockets[0].present(request.unit);
        let Some(&instance) = present.get(index % present.len().max(1)) else { continue };
        let at = if everywhere { None } else { Some(instance) };
        let key = (request.unit.name, at.unwrap_or(0));
        let signal = match feed(raw, family, &request.row) {
            Feed::Signal { name, .. } => name,
            Feed::Clock => "clock".to_owned(),
            Feed::HalfClock => "half clock".to_owned(),
            Feed::Deaf => tags::signal(family, &request.row),
        };
        let takes = |used: &BTreeMap<(&str, u16), Vec<String>>| {
            used.get(&key).is_none_or(|signals| signals.len() < MOST && !signals.contains(&signal))
        };
        let batch = used.iter().position(takes).unwrap_or_else(|| {
            used.push(BTreeMap::new());
            batches.push(Vec::new());
            used.len() - 1
        });
        used[batch].entry(key).or_default().push(signal);
        batches[batch].push((index, at));
    }
    batches
}

/// When a count's turn comes, and what must have been counted in its turns.
#[derive(Clone, Copy)]
struct Turns {
    round: Option<usize>,
    rounds: usize,
    counted: u64,
    turns: u64,
}

/// Counts a batch and compares; returns how many counts were compared.
fn check(
    raw: &mut Raw,
    topology: &Topology,
    all: &[Request],
    batch: &[Ask],
    random: &mut Random,
    defects: &mut Vec<String>,
) -> usize {
    let family = topology.family;
    let mut selection = Selection::new(family);
    for &(index, instance) in batch {
        let text = all[index].event(instance);
        selection.add_events(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    assert_eq!(selection.events.len(), batch.len(), "no event is like another");
    let feeds: Vec<Feed> = batch.iter().map(|&(index, _)| feed(raw, family.name, &all[index].row)).collect();
    // With the socket's freeze where there is one, or with those of the units.
    let occupied = if random.below(2) == 0 {
        Occupied::default()
    } else {
        survey_sockets(&mut raw.machine, topology).expect("readable")
    };
    let plan = Plan::beside(topology, selection, &occupied).expect("they fit in rounds");
    let slices = plan.rounds() as u64;
    let mut expected: BTreeMap<(usize, u16, u16), Turns> = BTreeMap::new();
    for part in &plan.sockets {
        for instance in &part.instances {
            for counter in &instance.counters {
                for &event in &counter.events {
                    let key = (event, part.socket, instance.number);
                    expected.insert(key, Turns { round: counter.round, rounds: instance.rounds, counted: 0, turns: 0 });
                }
            }
        }
    }
    let mut session = match Session::start(Registers(raw), plan, Options::default(), |space| moment(space.0)) {
        Ok(session) => session,
        Err(error) => {
            defects.push(error.to_string());
            return 0;
        }
    };
    for slice in 0..slices {
        let raw = &mut *session.space_mut().0;
        let begin = raw.machine.now() / CYCLE;
        for (&(event, socket, instance), own) in &mut expected {
            let in_turn = own.round.is_none_or(|round| round as u64 == slice % own.rounds as u64);
            own.turns += u64::from(in_turn);
            let added = match &feeds[event] {
                Feed::Clock => SLICE,
                Feed::HalfClock => SLICE / 2,
                Feed::Deaf => 0,
                Feed::Signal { name, tag, other } => {
                    let wire = raw.wire_of(socket, all[batch[event].0].unit.name, instance, name);
                    let added = 1 + random.below(1 << 24);
                    raw.pulse(wire, *tag, begin + 2, added as u32);
                    if let Some(other) = *other {
                        raw.pulse(wire, other, begin + 2, 1 + random.below(1000) as u32);
                    }
                    added
                }
            };
            own.counted += if in_turn { added } else { 0 };
        }
        raw.at(begin + SLICE);
        if slice + 1 < slices {
            session.rotate(|space| moment(space.0));
        }
    }
    let sample = session.sample(|space| moment(space.0));
    if let Err(error) = session.stop() {
        defects.push(error.to_string());
    }
    assert_eq!(sample.counts.len(), expected.len(), "each count once");
    for count in &sample.counts {
        let Turns { round, counted, turns, .. } = expected[&(count.event, count.socket, count.instance)];
        // Exact in its own turns, and scaled up to all slices.
        let scaled = (counted as f64 * (slices as f64 / turns as f64)).round() as u64;
        let in_turns = if count.slices.is_empty() { count.count } else { Some(count.slices.count()) };
        let grade = if round.is_some() && turns < slices { Grade::Scaled } else { Grade::Measured };
        if in_turns != Some(counted)
            || count.count.is_none_or(|found| found.abs_diff(scaled) > 1)
            || count.validity.grade() != grade
        {
            let label = all[batch[count.event].0].event(Some(count.instance));
            let (socket, found, validity) = (count.socket, count.count, &count.validity);
            defects.push(format!(
                "{label} in socket {socket}: {in_turns:?} ({found:?}), not {counted} ({scaled}); {validity}"
            ));
        }
    }
    sample.counts.len()
}

/// The occupancy of counter 0 beside its repetition on another counter: an entry of 5 cycles.
fn check_repetition(
    raw: &mut Raw,
    topology: &Topology,
    all: &[Request],
    repetition: &Request,
    defects: &mut Vec<String>,
) {
    let unit = repetition.unit.name;
    let occupancy = all.iter().find(|request| request.unit.name == unit && request.words == "TOR_OCCUPANCY.ALL");
    let Feed::Signal { name, tag, .. } = feed(raw, topology.family.name, &occupancy.expect("it is there").row) else {
        panic!("it has a signal")
    };
    let mut selection = Selection::new(topology.family);
    selection.add_events(&format!("{{{unit}/TOR_OCCUPANCY.ALL/,{unit}/{}/}}", repetition.words)).expect("a group");
    let plan = Plan::new(topology, selection).expect("it fits");
    let mut session = Session::start(Registers(raw), plan, Options::default(), |space| moment(space.0)).expect("free");
    let raw = &mut *session.space_mut().0;
    let begin = raw.machine.now() / CYCLE;
    let wires: Vec<_> = topology.sockets.iter().map(|socket| raw.wire_of(socket.number, unit, 3, &name)).collect();
    wires.iter().for_each(|&wire| raw.enter(wire, tag, begin + 1));
    wires.iter().for_each(|&wire| raw.leave(wire, tag, begin + 6));
    raw.at(begin + SLICE);
    let sample = session.sample(|space| moment(space.0));
    session.stop().expect("all is put back");
    for count in &sample.counts {
        let expected = if count.instance == 3 { 5 } else { 0 };
        if count.count != Some(expected) {
            let (event, socket, instance, found) = (count.event, count.socket, count.instance, count.count);
            defects.push(format!("{unit}{instance} in socket {socket}, event {event}: {found:?}, not {expected}"));
        }
    }
}

/// Counters that need no event, all of clocks: the fixed ones, and the free-running ones of Table 1-9.
const CLOCKS: [(&str, &str); 7] = [
    ("nehalem", "uncore/CLK_UNHALTED/"),
    ("e5-2600", "ubox/UCLK_FIXED/"),
    ("e5-2600", "imc/DCLK_FIXED/"),
    ("emerald-rapids", "ubox/UCLK_FIXED/"),
    ("emerald-rapids", "imc/DCLK_FIXED/"),
    ("emerald-rapids", "imc/free_dclk/"),
    ("emerald-rapids", "iio/free_ioclk/"),
];

fn check_clocks(raw: &mut Raw, topology: &Topology, defects: &mut Vec<String>) {
    let mut selection = Selection::new(topology.family);
    for (_, event) in CLOCKS.iter().filter(|(family, _)| *family == topology.family.name) {
        selection.add_events(event).unwrap_or_else(|error| panic!("{error}"));
    }
    let plan = Plan::new(topology, selection).expect("they need no choice");
    let mut session = Session::start(Registers(raw), plan, Options::default(), |space| moment(space.0)).expect("free");
    let raw = &mut *session.space_mut().0;
    let end = raw.machine.now() / CYCLE + SLICE;
    raw.at(end);
    let sample = session.sample(|space| moment(space.0));
    let labels: Vec<String> = session.plan().selection.events.iter().map(|event| event.label.clone()).collect();
    session.stop().expect("all is put back");
    let wrong = sample.counts.iter().filter(|count| count.count != Some(SLICE));
    defects.extend(wrong.map(|count| format!("{}: {:?}, not {SLICE}", labels[count.event], count.count)));
}

const RULES: [Rules; 3] = [Rules::Documented, Rules::Strict, Rules::Lenient];

/// One machine; `everywhere` counts each event in every instance.
fn check_machine(family: &str, sockets: u16, rules: Rules, everywhere: bool, seed: u64) -> usize {
    let (mut raw, topology) = machine(family, sockets, rules);
    let (all, missing) = requests(topology.family);
    assert!(missing.is_empty(), "no event text has these: {missing:#?}");
    let batches = batches(&raw, &topology, &all, everywhere);
    let mut random = Random(seed ^ u64::from(sockets) << 8 ^ (rules as u64) << 16);
    let mut defects = Vec::new();
    let mut checked = 0;
    for batch in &batches {
        checked += check(&mut raw, &topology, &all, batch, &mut random, &mut defects);
    }
    for request in all.iter().filter(|request| request.row.event == "COUNTER0_OCCUPANCY") {
        check_repetition(&mut raw, &topology, &all, request, &mut defects);
    }
    check_clocks(&mut raw, &topology, &mut defects);
    let number = defects.len();
    defects.truncate(40);
    assert!(
        defects.is_empty(),
        "{family}, {sockets} sockets, {rules:?}, seed {seed}: {number} of {checked}:\n{}",
        defects.join("\n")
    );
    println!(
        "{family}, {sockets} sockets, {rules:?}: {} events, {} batches, {checked} counts",
        all.len(),
        batches.len()
    );
    checked
}

#[test]
fn nehalem() {
    for rules in RULES {
        for sockets in [1, 2, 8] {
            assert!(check_machine("nehalem", sockets, rules, true, 1) > 100);
        }
    }
}

#[test]
fn e5_2600() {
    for rules in RULES {
        for sockets in [1, 2, 8] {
            assert!(check_machine("e5-2600", sockets, rules, false, 2) > 300);
        }
    }
}

#[test]
fn emerald_rapids() {
    for rules in RULES {
        for sockets in [1, 2, 8] {
            assert!(check_machine("emerald-rapids", sockets, rules, false, 3) > 4000);
        }
    }
}

/// Every event on every machine, then in every instance of one socket.
#[test]
#[ignore = "minutes: see the module's text for the command"]
fn everything() {
    for family in ["nehalem", "e5-2600", "emerald-rapids"] {
        for rules in RULES {
            for sockets in [1, 2, 8] {
                check_machine(family, sockets, rules, false, 5);
            }
            check_machine(family, 1, rules, true, 6);
        }
    }
}
