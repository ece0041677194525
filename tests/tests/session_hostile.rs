//! Sessions on broken machines: each fault is named, and the numbers of all other units stay right.
//!
//! Everything of a session follows from its seed, which a failure prints. The long form:
//! `cargo test -p pericore-tests --test all session_hostile -- --ignored --nocapture`.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pericore_catalog::Family;
use pericore_machine::chassis::{Block, Chassis, DiscoveryFault, Faults, Intrusion, Shape, Variant};
use pericore_machine::signal::Wiring;
use pericore_metrics::Grade;
use pericore_observe::discover::{Cpu, Presence, Topology, discover};
use pericore_observe::plan::{Plan, Purpose, rounds_of};
use pericore_observe::selection::Selection;
use pericore_observe::session::{Count, Guard, Options, Session, survey_sockets};
use pericore_registers::{Operation, RegisterSpace};
use pericore_tests::pmon::raw::{CYCLE, Raw};
use pericore_tests::session::feed::{Feed, Random, Registers, feed, is_clock, moment};
use pericore_tests::session::requests::{Request, requests};

/// Cycles of a run: more than the longest delay of a write, and enough for every clock to tick.
const RUN: u64 = 4000;

/// A family with its requests: what counts, and the clocks.
struct Menu {
    family: &'static Family,
    all: Vec<Request>,
}

fn menus() -> Vec<Menu> {
    let of = |name: &str| {
        let family = pericore_catalog::family(name).expect("the family is in the catalogue");
        Menu { family, all: requests(family).0 }
    };
    ["nehalem", "e5-2600", "emerald-rapids"].into_iter().map(of).collect()
}

fn machine(family: &'static Family, sockets: u16, faults: Faults) -> Raw {
    let shape = Shape::new(family, sockets, 4, 1).expect("a machine of that size");
    let mut raw = Raw::of(shape.clone());
    raw.machine = Chassis::new(shape, Wiring::new(family, sockets), |_| CYCLE)
        .with_variant(&Variant { faults, ..Variant::default() })
        .expect("the blocks are there");
    raw
}

fn find(raw: &mut Raw) -> Result<Topology, String> {
    let shape = raw.machine.shape().clone();
    let cpus: Vec<Cpu> =
        (0..shape.cpus()).map(|number| Cpu { number, package: shape.socket_of_cpu(number).expect("a CPU") }).collect();
    discover(&mut raw.machine, shape.family, &cpus, |_| true).map_err(|error| error.to_string())
}

/// Some of the hostile machine's faults, so that each also comes alone.
fn some(wiring: &Wiring, seed: u64, random: &mut Random) -> Faults {
    let whole = Variant::hostile(wiring, seed).faults;
    let mut keep = || random.below(3) == 0;
    Faults {
        all_ones: if keep() { whole.all_ones } else { Vec::new() },
        hidden: if keep() { whole.hidden } else { Vec::new() },
        stuck: if keep() { whole.stuck } else { Vec::new() },
        discovery: if keep() { whole.discovery } else { DiscoveryFault::None },
        write_delay: if keep() { whole.write_delay } else { 0 },
        ..Faults::default()
    }
}

/// A clock and up to two other events of each unit that fit beside it, the clock first; with their places in the menu.
fn choose(raw: &Raw, menu: &Menu, topology: &Topology, random: &mut Random) -> (Selection, Vec<usize>) {
    let (mut selection, mut chosen) = (Selection::new(menu.family), Vec::new());
    let mut fits = |at: usize| {
        let mut grown = selection.clone();
        let text = menu.all[at].event(None);
        grown.add_events(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let rounds = rounds_of(&grown, menu.all[at].unit).expect("each fits by itself").expect("it is programmed");
        let fits = rounds.rounds.len() == 1 && grown.events.len() > chosen.len();
        if fits {
            selection = grown;
            chosen.push(at);
        }
        fits
    };
    for unit in menu.family.units {
        if topology.sockets.iter().all(|socket| socket.present(unit).is_empty()) {
            continue;
        }
        let of_unit: Vec<usize> = (0..menu.all.len()).filter(|&at| menu.all[at].unit.name == unit.name).collect();
        if let Some(clock) = of_unit.iter().copied().find(|&at| is_clock(&menu.all[at].row)) {
            assert!(fits(clock));
        }
        let mut signals: Vec<String> = Vec::new();
        for _ in 0..2 {
            let Some(&at) = of_unit.get(random.below(of_unit.len().max(1) as u64) as usize) else { continue };
            let row = &menu.all[at].row;
            let Feed::Signal { name, .. } = feed(raw, menu.family.name, row) else { continue };
            if row.event != "COUNTER0_OCCUPANCY" && !signals.contains(&name) && fits(at) {
                signals.push(name);
            }
        }
    }
    (selection, chosen)
}

/// Runs the session of a seed; panics where something is not as it must be.
fn run(menus: &[Menu], seed: u64) -> usize {
    let mut random = Random(seed);
    let menu = &menus[random.below(menus.len() as u64) as usize];
    let family = menu.family;
    let sockets = 1 + random.below(2) as u16;
    let wiring = Wiring::new(family, sockets);
    let mut faults = some(&wiring, seed, &mut random);
    let mut raw = machine(family, sockets, faults.clone());
    let topology = match find(&mut raw) {
        Ok(topology) => topology,
        Err(why) => {
            // Without the register that tells its socket a whole bus is lost: then one of its blocks must be.
            let lost = faults.hidden.iter().chain(&faults.all_ones).any(|block| block.unit == "ubox");
            assert!(lost && (why.contains("uncore") || why.contains("all ones")), "{faults:?}: {why}");
            return 0;
        }
    };
    check_topology(&topology, &faults);
    let (selection, chosen) = choose(&raw, menu, &topology, &mut random);
    if chosen.is_empty() {
        // A lone Nehalem without its uncore.
        assert!(!faults.hidden.is_empty() || !faults.all_ones.is_empty(), "{faults:?}");
        return 0;
    }
    let occupied = survey_sockets(&mut raw.machine, &topology).expect("readable");
    let plan = Plan::beside(&topology, selection, &occupied).expect("three events fit");
    assert_eq!(plan.rounds(), 1, "three events fit at once");
    // An intruder clears a control in the middle of the run.
    let controls: Vec<_> = plan
        .sockets
        .iter()
        .flat_map(|part| part.setup.iter().map(move |step| (part, step)))
        .filter(|(_, step)| step.purpose == Purpose::Select)
        .collect();
    let mut intruded = None;
    if random.below(3) == 0 {
        let (part, step) = controls[random.below(controls.len() as u64) as usize];
        let Operation::Write { address, width, .. } = step.operation else { panic!("a write") };
        let first = (raw.machine.now() / CYCLE + RUN - 20) * CYCLE;
        faults.intrusions.push(Intrusion { first, every: 0, address, width, value: 0 });
        let instance = &part.instances[step.instance];
        intruded = Some((part.socket, instance.unit.name, instance.number, step.register_name(), step.member));
        raw = machine(family, sockets, faults.clone());
    }
    let feeds: Vec<Feed> = chosen.iter().map(|&at| feed(&raw, family.name, &menu.all[at].row)).collect();
    let kept = plan.clone();
    let options = Options { guard: Guard::InTurn, ..Options::default() };
    let mut session = Session::start(Registers(&mut raw), plan, options, |space| moment(space.0)).expect("it starts");
    let live = &mut *session.space_mut().0;
    let begin = live.machine.now() / CYCLE;
    // What is written late has come by then.
    live.at(begin + RUN / 2);
    let mut expected: BTreeMap<(usize, u16, u16), u64> = BTreeMap::new();
    for part in &kept.sockets {
        for instance in &part.instances {
            for &event in instance.counters.iter().flat_map(|counter| &counter.events) {
                let Feed::Signal { name, tag, .. } = &feeds[event] else { continue };
                let count = 2000 + random.below(1 << 20);
                let wire = live.wire_of(part.socket, instance.unit.name, instance.number, name);
                live.pulse(wire, *tag, begin + RUN / 2 + 1, count as u32);
                expected.insert((event, part.socket, instance.number), count);
            }
        }
    }
    live.at(begin + RUN);
    session.check_controls();
    let sample = session.sample(|space| moment(space.0));
    session.stop().expect("all is put back");
    let is_late = faults.write_delay > 0;
    for count in &sample.counts {
        let request = &menu.all[chosen[count.event]];
        let (unit, at) = (request.unit.name, Block::new(count.socket, request.unit.name, count.instance));
        let what = format!(
            "{} in socket {}: {:?}, {}",
            request.event(Some(count.instance)),
            count.socket,
            count.count,
            count.validity
        );
        let text = count.validity.to_string();
        let part = kept.sockets.iter().find(|part| part.socket == count.socket).expect("the socket");
        let instance = part.instances.iter().find(|i| i.unit.name == unit && i.number == count.instance).expect("it");
        let member =
            instance.counters.iter().find(|counter| counter.events.contains(&count.event)).expect("one").member;
        if faults.all_ones.contains(&at) || faults.hidden.contains(&at) {
            assert!(count.count.is_none() && !text.is_empty(), "{what}");
            continue;
        }
        let cleared = intruded.as_ref().filter(|(socket, name, number, _, by)| {
            (*socket, *name, *number, *by) == (count.socket, unit, count.instance, member)
        });
        if let Some((.., register, _)) = cleared {
            assert_eq!(count.validity.grade(), Grade::Suspect, "{what}");
            assert!(text.contains(register.as_str()), "{what}");
            continue;
        }
        if faults.stuck.contains(&(at, member)) {
            // One of few instances with nothing to compare with may stand for good reason; a clock never does.
            let like =
                |other: &&Count| (other.event, other.socket) == (count.event, count.socket) && other.count > Some(0);
            let told = matches!(feeds[count.event], Feed::Clock | Feed::HalfClock)
                || sample.counts.iter().filter(like).count() >= 3;
            assert!(!told || count.validity.grade() == Grade::Suspect, "{what}");
            assert!(!told || text.contains("stands still") || text.contains("stuck") || is_late, "{what}");
            continue;
        }
        match expected.get(&(count.event, count.socket, count.instance)) {
            Some(&right) => assert_eq!(count.count, Some(right), "{what}"),
            None if is_late => {}
            None => {
                let run = if matches!(feeds[count.event], Feed::HalfClock) { RUN / 2 } else { RUN };
                assert_eq!(count.count, Some(run), "{what}");
            }
        }
        let grade = if is_late { Grade::Suspect } else { Grade::Measured };
        assert_eq!(count.validity.grade(), grade, "{what}");
        assert!(!is_late || text.contains("comes late"), "{what}");
    }
    check_left(&mut raw, &kept, &faults);
    sample.counts.len()
}

/// Blocks that do not answer are not there, or the session says so; a table that is wrong is called so.
fn check_topology(topology: &Topology, faults: &Faults) {
    for block in &faults.hidden {
        let unit = topology.family.unit(&block.unit).expect("the unit");
        let Some(socket) = topology.sockets.iter().find(|socket| socket.number == block.socket) else { continue };
        match socket.presence(unit).get(usize::from(block.instance)) {
            Some(Presence::Absent { why }) => assert!(!why.is_empty(), "{block:?}"),
            // What has no register that identifies it shows when it is used.
            Some(Presence::Present) | None => {}
        }
    }
    if !topology.family.units.iter().any(|unit| unit.discovery_type.is_some()) {
        return;
    }
    for socket in &topology.sockets {
        let table = socket.table().expect("it was looked for");
        let is_damaged = !table.is_sound() || table.bases.is_empty();
        match faults.discovery {
            DiscoveryFault::None | DiscoveryFault::Truncated(_) | DiscoveryFault::WrongCount(_) => {}
            fault => assert!(is_damaged, "{fault:?} is not named"),
        }
    }
}

/// Nothing of ours is left in units that work.
fn check_left(raw: &mut Raw, plan: &Plan, faults: &Faults) {
    let later = raw.machine.now() + faults.write_delay + CYCLE;
    raw.machine.set_now(later);
    for part in &plan.sockets {
        for step in part.inspect.iter().filter(|step| step.purpose == Purpose::Save) {
            let instance = &part.instances[step.instance];
            let block = Block::new(part.socket, instance.unit.name, instance.number);
            if faults.all_ones.contains(&block) || faults.hidden.contains(&block) {
                continue;
            }
            let Operation::Read { address, width } = step.operation else { panic!("a read") };
            let value = raw.machine.read(address, width).expect("it answered before");
            assert_eq!(value, 0, "{} of {} in socket {}", step.register_name(), instance.name(), part.socket);
        }
    }
}

fn campaign(seeds: std::ops::Range<u64>) {
    let menus = menus();
    let mut counts = 0;
    let (first, last) = (seeds.start, seeds.end);
    for seed in seeds {
        match catch_unwind(AssertUnwindSafe(|| run(&menus, seed))) {
            Ok(checked) => counts += checked,
            Err(_) => panic!("the session of seed {seed} failed"),
        }
    }
    println!("seeds {first} to {last}: {counts} counts");
    assert!(counts as u64 > 50 * (last - first));
}

#[test]
fn every_fault_is_named_and_the_others_count_right() {
    campaign(0..600);
}

#[test]
#[ignore = "minutes: see the module's text for the command"]
fn thousands_of_sessions() {
    campaign(1000..6000);
}
