//! Faults by the hundred, and sound machines: alone, and beside somebody who counts, as perf does.

use std::collections::BTreeMap;
use std::io::Write as _;

use pericore_doctor::Finding;
use pericore_machine::{MachineSpec, SharedMachine};
use pericore_registers::{Address, RegisterSpace, Width};

use super::faults::{Draw, KINDS, Planted, codes, counters, machine, name, rows};
use crate::doctor::selfcheck::software_beside;

/// Of 1,000 faults at least so many are found.
const FOUND: usize = 990;

/// Machines of each family.
type Drawn = BTreeMap<&'static str, usize>;

fn problems(findings: &[Finding]) -> Vec<String> {
    findings.iter().filter(|finding| finding.is_problem()).map(Finding::words).collect()
}

/// Past the capture of a test's output.
fn report(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Plants faults of all kinds in turn, and counts those that are named.
fn plant(seeds: std::ops::Range<u64>) -> [(usize, usize, usize); KINDS.len()] {
    let (mut found, mut drawn) = ([(0, 0, 0); KINDS.len()], Drawn::new());
    for seed in seeds {
        let kind = seed as usize % KINDS.len();
        let mut draw = Draw(seed);
        let Some(planted) = (0..100).find_map(|_| Planted::draw(kind, &mut draw)) else { panic!("{}", KINDS[kind]) };
        let findings = software_beside(&planted.spec, &planted.codes, seed, |_| {}).unwrap();
        let problems = problems(&findings);
        *drawn.entry(planted.spec.family().name).or_default() += 1;
        let (named, all, blind) = &mut found[kind];
        if problems.iter().any(|problem| planted.named.iter().any(|name| problem.contains(name))) {
            *named += 1;
        } else if is_blind(&planted) {
            *blind += 1;
            continue;
        } else {
            report(&format!("seed {seed}, not found: {} in {}: {problems:?}", KINDS[kind], planted.machine));
        }
        *all += 1;
    }
    report(&format!("faults in machines of each family: {drawn:?}"));
    found
}

/// What nobody can see (docs/counting/selfcheck.md): a clock that no document has, and that nothing else runs at.
fn is_blind(planted: &Planted) -> bool {
    let one_socket = ["emerald-rapids:sockets=1", "sapphire-rapids:sockets=1"];
    let is_alone = one_socket.iter().any(|machine| planted.machine.starts_with(machine));
    planted.kind == 2 && is_alone && planted.machine.contains("pcu")
}

/// Counters that somebody else has running: (control, what it holds, counter).
type Running = Vec<(Address, Width, u64)>;

/// Lets somebody count cycles on some counters, as the kernel's driver does: events are enabled, and instances run.
fn perf(machine: &mut SharedMachine, seed: u64) -> Running {
    let mut draw = Draw(seed);
    let mut running = Vec::new();
    for _ in 0..1 + draw.below(6) {
        let (block, counter, places) = {
            let sound = machine.borrow();
            let (block, counter) = draw.one_of(&counters(sound.chassis())).clone();
            let find = |register: &str| sound.chassis().find_registers(&format!("{}/{register}", name(&block)));
            let places = [find(&format!("ctl{counter}")), find("global_ctl")];
            (block, counter, places)
        };
        let Some(control) = places[0].first() else { continue };
        // A clock where the family has one (E5-2600: 0x00; Emerald Rapids: 0x01), else what its first event counts.
        let value = match block.unit.as_str() {
            "uncore" => 0x40_0103,
            _ if matches!(machine.borrow().chassis().shape().family.name, "e5-2600") => 0x40_0001,
            _ => 0x1,
        };
        machine.write(control.address, control.width, value).unwrap();
        if let Some(global) = places[1].first().filter(|_| block.unit == "uncore") {
            let enables = machine.read(global.address, global.width).unwrap();
            machine.write(global.address, global.width, enables | 1 << counter).unwrap();
        }
        running.push((control.address, control.width, value));
    }
    running
}

/// Checks sound machines: the problems that there should not be.
fn check_sound(seeds: std::ops::Range<u64>, beside: bool, drawn: &mut Drawn) -> Vec<String> {
    let mut wrong = Vec::new();
    for seed in seeds {
        let mut draw = Draw(seed.wrapping_mul(31));
        let machine = machine(&mut draw);
        let spec = MachineSpec::parse(&machine).unwrap();
        *drawn.entry(spec.family().name).or_default() += 1;
        let rows = rows(spec.family().name);
        let some: Vec<_> = (0..20).filter(|_| !rows.is_empty()).map(|_| draw.one_of(&rows).clone()).collect();
        let codes = if some.is_empty() { Vec::new() } else { codes(&spec, &some) };
        let mut used: Vec<(SharedMachine, Running)> = Vec::new();
        let findings = software_beside(&spec, &codes, seed, |machine| {
            if beside {
                let running = perf(machine, seed);
                used.push((machine.clone(), running));
            }
        });
        wrong.extend(
            problems(&findings.unwrap()).into_iter().map(|problem| format!("seed {seed}, {machine}: {problem}")),
        );
        for (mut machine, running) in used {
            for (address, width, value) in running {
                let now = machine.read(address, width).unwrap();
                if now != value {
                    wrong.push(format!("seed {seed}: {address} of somebody else holds {now:#x}, and not {value:#x}"));
                }
            }
        }
    }
    wrong
}

fn summary(found: &[(usize, usize, usize)]) -> (usize, usize) {
    for (kind, (named, all, blind)) in KINDS.iter().zip(found) {
        let unseen = if *blind > 0 { format!(", and {blind} that nobody can see") } else { String::new() };
        report(&format!("{kind}: {named} of {all} found{unseen}"));
    }
    found.iter().fold((0, 0), |(named, all), kind| (named + kind.0, all + kind.1))
}

#[test]
fn planted_faults_are_found_and_sound_machines_have_none() {
    let (named, all) = summary(&plant(0..48));
    assert_eq!(named, all);
    assert_eq!(check_sound(0..12, false, &mut Drawn::new()), [""; 0]);
    assert_eq!(check_sound(0..12, true, &mut Drawn::new()), [""; 0]);
}

#[test]
#[ignore = "minutes: a thousand faults; a log goes to tests/logs/selfcheck"]
fn a_thousand_planted_faults() {
    let (named, all) = summary(&plant(1000..2136));
    report(&format!("{named} of {all} faults are found"));
    assert!(all >= 1000 && named * 1000 >= FOUND * all);
}

#[test]
#[ignore = "minutes: a thousand machines; a log goes to tests/logs/selfcheck"]
fn a_thousand_sound_machines_alone() {
    sound_machines(false, "alone");
}

#[test]
#[ignore = "minutes: a thousand machines; a log goes to tests/logs/selfcheck"]
fn a_thousand_sound_machines_beside_others() {
    sound_machines(true, "beside somebody who counts");
}

/// More than a thousand, a hundred at a time.
fn sound_machines(beside: bool, how: &str) {
    let (mut findings, mut drawn) = (Vec::new(), Drawn::new());
    for hundred in 10..22 {
        findings.extend(check_sound(hundred * 100..(hundred + 1) * 100, beside, &mut drawn));
        report(&format!("{} sound machines {how}: {} findings", (hundred - 9) * 100, findings.len()));
    }
    report(&format!("sound machines of each family {how}: {drawn:?}"));
    assert_eq!(findings, [""; 0]);
}
