//! `pericore doctor --selfcheck` beside stock perf, which counts in several units meanwhile: the check finds nothing
//! wrong, names the counters that perf holds, and writes none of their registers; perf shows what happened, to the last
//! event.
//!
//! One boot a family, a workload on its machine, and so many checks, each beside other events of perf's. What happened
//! is the clocks' and the ledger's to say, by the log of when the driver let each counter run.

mod e5_2600;
mod nehalem;
mod newer;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pericore_doors::guest::{Access, Hardware};
use pericore_doors::{LiveMachine, endless};
use pericore_machine::ledger::Question;
use pericore_machine::steady::Pace;
use pericore_machine::{MachineSpec, Window};
use pericore_registers::{Address, Operation};

use super::boot::{self, Run};
use super::sections::section;
use super::switched_off;
use super::truth::{self, Block};
use crate::ours::PERICORE;

const PACE: Pace = Pace { warm_up: None, window: 20, cells: 64 };

/// What perf can be asked for.
#[derive(Debug, Clone)]
struct Event {
    /// As perf is told it.
    perf: String,
    place: Place,
    /// Its control value, without an enable.
    config: u64,
    happening: Happening,
}

/// The registers of an instance, by hand from the guides.
#[derive(Debug, Clone)]
struct Place {
    /// As findings have it.
    name: String,
    block: Block,
    /// First counter and the distance to the next.
    counters: (Address, u16),
    /// True if a counter stands, by what the unit's control holds and the counter's number.
    is_stopped: fn(u64, u16) -> bool,
}

#[derive(Debug, Clone, Copy)]
enum Happening {
    /// Cycles of a clock.
    Cycles(&'static str),
    /// Event and subevent of the ledger, of the instance with this number.
    Ledger(&'static str, u16, &'static str, &'static str),
}

/// A family's part.
struct Scene {
    machine: &'static str,
    workload: &'static str,
    /// Checks of the boot, each beside other events of perf's.
    checks: u64,
    /// All that perf can be asked for; what is counted at once has room.
    events: Vec<Event>,
    /// At most so many at once.
    most: u64,
    /// An MSR that nothing else uses.
    note: u32,
}

/// SplitMix64.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

impl Scene {
    /// What perf counts beside a check.
    fn drawn(&self, check: u64) -> Vec<&Event> {
        let mut draw = Draw(check);
        let wanted = 3 + draw.below(self.most - 2);
        let mut left: Vec<&Event> = self.events.iter().collect();
        (0..wanted).map(|_| left.swap_remove(draw.below(left.len() as u64) as usize)).collect()
    }

    /// Three notes a check: before perf, before the check, after it.
    fn script(&self) -> String {
        let mut script = String::from("cd /tmp\n");
        for check in 0..self.checks {
            let events: String = self.drawn(check).iter().map(|event| format!(" -e {}", event.perf)).collect();
            let (note, first) = (self.note, 3 * check + 1);
            let _ = writeln!(
                script,
                "wrmsr {note:#x} {first}
                perf stat -a -x, -I 1500 --summary -o {check}.perf{events} -- \
                    sh -c 'touch {check}.on; until [ -e {check}.off ]; do sleep 0.05; done' & perf=$!
                until [ -e {check}.on ]; do sleep 0.05; done
                wrmsr {note:#x} {}; echo '@@ check {check}'
                pericore doctor --selfcheck --json || echo \"status $?\"
                wrmsr {note:#x} {}; rows=$(($(wc -l <{check}.perf) + {}))
                until [ $(wc -l <{check}.perf) -gt $rows ]; do sleep 0.05; done
                touch {check}.off; wait $perf
                echo '@@ perf {check}'; cat {check}.perf",
                first + 1,
                first + 2,
                // Of the interval that is under way, and of one after it.
                2 * self.drawn(check).len()
            );
        }
        let _ = writeln!(script, "wrmsr {:#x} {}; echo '@@ journals'", self.note, 3 * self.checks + 1);
        script + "ls \"$HOME/.local/state/pericore\" 2>/dev/null | grep journal\necho '@@ end'"
    }

    fn run(&self) {
        if switched_off() {
            return;
        }
        let spec = MachineSpec::parse(self.machine).unwrap();
        let (live, steady) = LiveMachine::with_workload(&spec, self.workload, &PACE).unwrap();
        let ticks_per_second = live.ticks_per_second();
        let mut hardware = Hardware::new(live.into_chassis(), Box::new(steady.replay()), ticks_per_second);
        hardware.keep_accesses();
        let hardware = Arc::new(Mutex::new(hardware));
        let run = boot::run_with(&hardware, &self.script(), |boot| {
            boot.programs.push(PERICORE.into());
            // As `pericore machine boot` says it: memory in the guest is not the machine's.
            boot.environment.push(("PERICORE_EMULATED".to_owned(), spec.preset().to_owned()));
            boot.timeout = Duration::from_secs(3600);
        });
        eprintln!("{:?}", run.report);
        let period = |clock: &str| hardware.lock().unwrap().chassis().clock_period(clock).unwrap();
        let counts: Vec<Counted<'_>> = (0..self.checks).flat_map(|check| self.counted(&run, check)).collect();
        let times = counts.iter().flat_map(Counted::times);
        // The machine does the same a second time, and is asked for its account at these times.
        let account = steady.account(&mut endless(&spec, self.workload).unwrap(), times);
        for counted @ Counted { check, event, runs, looks, .. } in &counts {
            let happened = |&(from, to): &(u64, u64)| match event.happening {
                Happening::Cycles(clock) => to / period(clock) - from / period(clock),
                Happening::Ledger(unit, instance, name, subevent) => {
                    let question = Question::new(unit, name).subevent(subevent);
                    let of_ledger =
                        account.between(from, to, |a, b| Window::between(a, b).count(0, instance, question));
                    of_ledger.unwrap_or_else(|| panic!("the ledger does not know {}", event.perf))
                }
            };
            // perf's sum is that of its intervals: it ends with a look at the counter, and not with the counter.
            let until = |look: &u64| -> u64 { clipped(runs, *look).iter().map(happened).sum() };
            let truths: Vec<u64> = looks.iter().map(until).collect();
            let shown = summary(&run, *check, &event.perf);
            let words = || format!("check {check}: perf shows {shown} of {}, and {truths:?} happened", event.perf);
            assert!(shown > 0 && truths.contains(&shown), "{}\n{}\n{}", words(), run.output, run.errors);
            self.was_left_alone(&run, counted);
        }
        let unknown: usize = (0..self.checks).map(|check| self.finds_nothing(&run, check, &counts)).sum();
        assert_eq!(section(&run.output, "journals"), [""; 0], "{}", run.output);
        let places: BTreeSet<&str> = counts.iter().map(|counted| counted.event.place.name.as_str()).collect();
        eprintln!(
            "{}: {} self-checks beside perf, which counted {} events in {} instances and was right each time: 0 \
             findings, {unknown} things that they could not tell",
            self.machine,
            self.checks,
            counts.len(),
            places.len()
        );
    }

    /// What perf let count beside a check, and when.
    fn counted<'a>(&'a self, run: &'a Run, check: u64) -> Vec<Counted<'a>> {
        let before = |number: u64| truth::before(&run.accesses, self.note, number).len();
        let [start, checked, end, over] = [1, 2, 3, 4].map(|number| before(3 * check + number));
        let of_event = |event: &'a Event| {
            let Place { block, is_stopped, .. } = &event.place;
            let (first, stride, count) = block.controls;
            let selects = |value: u64| value & !block.enable == event.config && value & block.enable == block.enable;
            let held = |number: &u16| last_write(&run.accesses[..checked], first.plus(number * stride));
            let number = (0..count).find(|number| held(number).is_some_and(selects));
            let number = number.unwrap_or_else(|| panic!("check {check}: no control has {}", event.perf));
            // The kernel may move an event to another counter as long as perf adds some. Later the check may count the
            // same event on a counter of its own, which is no count of perf's.
            let is_of_check = |access: &Access| {
                let address = access.operation.address();
                (0..count).any(|other| other != number && address == first.plus(other * stride))
            };
            let later = run.accesses[checked..over].iter().filter(|access| !is_of_check(access));
            let of_perf: Vec<Access> = run.accesses[start..checked].iter().chain(later).cloned().collect();
            let runs = block.runs_unless(&of_perf, event.config, is_stopped);
            // The kernel stops a unit itself, as long as it adds or removes another event; the check adds some through
            // it.
            let [since, until] = [checked, end].map(|at| run.accesses[at].ticks);
            let of_check = |&(from, to): &(u64, u64)| to.min(until).saturating_sub(from.max(since));
            let ran = runs.iter().map(of_check).sum::<u64>() as f64 / (until - since) as f64;
            assert!(ran > 0.98, "check {check}, {since} to {until}: perf's {} stood: {runs:?}", event.perf);
            let counter = event.place.counters.0.plus(number * event.place.counters.1);
            let is_look =
                |access: &&Access| matches!(access.operation, Operation::Read { address, .. } if address == counter);
            let looks = run.accesses[end..over].iter().filter(is_look).map(|access| access.ticks).collect();
            Counted { check, event, number, runs, looks, meanwhile: checked..end }
        };
        self.drawn(check).into_iter().map(of_event).collect()
    }

    /// Nobody wrote perf's counter during the check, and its control and the unit's hold what they held.
    fn was_left_alone(&self, run: &Run, Counted { check, event, number, meanwhile, .. }: &Counted<'_>) {
        let Place { block, counters: (counter, stride), .. } = &event.place;
        let (control, counter) = (block.controls.0.plus(number * block.controls.1), counter.plus(number * stride));
        let written = |address: Address| last_write(&run.accesses[meanwhile.clone()], address);
        // The upper half, where a counter is two dwords.
        let upper = (*stride == 8).then(|| counter.plus(4));
        for address in [Some(counter), upper].into_iter().flatten() {
            assert!(written(address).is_none(), "check {check} wrote {address} of {}", event.perf);
        }
        for address in [Some(control), block.unit_control].into_iter().flatten() {
            let held = last_write(&run.accesses[..meanwhile.start], address);
            let left = written(address).is_none_or(|last| Some(last) == held);
            assert!(left, "check {check} left {address} changed, of {}", event.perf);
        }
    }

    /// No problem, and each counter of perf's is named; how many things a check could not tell.
    fn finds_nothing(&self, run: &Run, check: u64, counts: &[Counted<'_>]) -> usize {
        let lines = section(&run.output, &format!("check {check}"));
        let problems: Vec<&&str> = lines.iter().filter(|line| line.contains(r#""state":"problem""#)).collect();
        assert!(problems.is_empty(), "check {check}: {problems:#?}\n{}", run.errors);
        let findings: Vec<serde_json::Value> = lines
            .iter()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("check {check}: {line}")))
            .collect();
        let messages: Vec<&str> = findings.iter().filter_map(|finding| finding["message"].as_str()).collect();
        assert!(messages.iter().any(|message| message.starts_with("agrees: ")), "{messages:#?}");
        let mut held: BTreeMap<&str, BTreeSet<u16>> = BTreeMap::new();
        for counted in counts.iter().filter(|counted| counted.check == check) {
            held.entry(&counted.event.place.name).or_default().insert(counted.number);
        }
        for (name, numbers) in held {
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            let words =
                format!("could not tell: counters {} of {name} in socket 0 are in use by others", numbers.join(", "));
            assert!(
                messages.iter().any(|message| message.starts_with(&words)),
                "check {check}: {words}\n{messages:#?}"
            );
        }
        messages.iter().filter(|message| message.starts_with("could not tell: ")).count()
    }
}

/// An event that perf counted.
struct Counted<'a> {
    check: u64,
    event: &'a Event,
    /// Of its counter.
    number: u16,
    /// From when to when it counted, in ticks.
    runs: Vec<(u64, u64)>,
    /// When it was read after the check.
    looks: Vec<u64>,
    /// The accesses during the check.
    meanwhile: std::ops::Range<usize>,
}

impl Counted<'_> {
    /// All moments between which something is counted.
    fn times(&self) -> Vec<u64> {
        self.runs.iter().flat_map(|&(from, to)| [from, to]).chain(self.looks.iter().copied()).collect()
    }
}

/// The parts of some runs before a moment.
fn clipped(runs: &[(u64, u64)], until: u64) -> Vec<(u64, u64)> {
    runs.iter().filter(|(from, _)| *from < until).map(|&(from, to)| (from, to.min(until))).collect()
}

fn last_write(accesses: &[Access], to: Address) -> Option<u64> {
    accesses.iter().rev().find_map(|access| match access.operation {
        Operation::Write { address, value, .. } if address == to => Some(value),
        _ => None,
    })
}

/// perf's count of all intervals together, of an event that never shared its counter.
fn summary(run: &Run, check: u64, event: &str) -> u64 {
    let lines = section(&run.output, &format!("perf {check}"));
    let of_event = lines.iter().filter(|line| line.trim_start().starts_with("summary"));
    let parts = of_event.filter_map(|line| line.split_once(event)).collect::<Vec<_>>();
    let [(before, after)] = parts[..] else { panic!("check {check}, {event}: {lines:#?}") };
    assert_eq!(after.split(',').nth(2), Some("100.00"), "check {check}, {event} took turns: {lines:#?}");
    before.split(',').nth(1).unwrap().trim().parse().unwrap_or_else(|_| panic!("check {check}, {event}: {lines:#?}"))
}
