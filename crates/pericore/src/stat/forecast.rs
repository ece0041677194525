//! What a run would do and cost: `--dry-run` and `--cost`.

use std::io::{self, Write};

use pericore_observe::kernel::{KernelCost, KernelCounter, KernelPlan};
use pericore_observe::plan::{InstancePlan, Plan, Step};
use pericore_observe::session::{Guard, looks, looks_at_turns, samples_to_notice};

/// Prints every register access, in order, socket by socket; then the rounds.
pub fn operations(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    for socket in &plan.sockets {
        let first_round = |step: &&Step| {
            let instance = &socket.instances[step.instance];
            step.counter().is_none_or(|counter| instance.counters[counter].runs_in(0))
        };
        let lists = [
            ("inspect", &socket.inspect),
            ("first writes", &socket.attempt),
            ("set up", &socket.setup),
            ("sample: freeze", &socket.freeze),
            ("sample: read", &socket.read),
            ("sample: resume", &socket.resume),
        ];
        for (title, steps) in lists {
            writeln!(out, "socket {}, {title}:", socket.socket)?;
            for step in steps.iter().filter(first_round) {
                writeln!(out, "  {:<6} {step}", socket.instances[step.instance].name())?;
            }
        }
        for instance in &socket.instances {
            for (round, steps) in instance.switch.iter().enumerate() {
                writeln!(out, "socket {}, {}, change to round {}:", socket.socket, instance.name(), round + 1)?;
                for step in steps {
                    writeln!(out, "  {:<6} {step}", instance.name())?;
                }
            }
        }
    }
    rounds(plan, out)
}

/// Prints what the kernel is asked for, counter by counter; then the rounds.
pub fn requests(plan: &KernelPlan, out: &mut dyn Write) -> io::Result<()> {
    for KernelCounter { socket, instance, pmu, kind, cpu, event, .. } in &plan.counters {
        let part = &plan.plan.sockets[*socket];
        let (name, number) = (part.instances[*instance].name(), part.socket);
        let attributes = event.attributes;
        writeln!(
            out,
            "socket {number}, {name}: perf_event_open {pmu} (type {kind}), cpu {cpu}: {event} ({attributes})"
        )?;
    }
    rounds(&plan.plan, out)
}

/// Prints the system calls of a sample, and of a change of rounds.
pub fn kernel_cost(plan: &KernelPlan, out: &mut dyn Write) -> io::Result<()> {
    let KernelCost { groups, counters, turning } = plan.cost();
    writeln!(
        out,
        "a sample through the kernel: {groups} system calls, one a group, each an interrupt of the CPU that counts; \
         its driver reads {counters} counters, which run on meanwhile: it has no freeze"
    )?;
    if turning > 0 {
        writeln!(out, "a change of rounds through the kernel: {} system calls", 3 * turning)?;
    }
    rounds(&plan.plan, out)
}

/// Prints the accesses and system calls of a sample, and of a change of rounds.
pub fn cost(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "a sample: {}", plan.cost())?;
    let within = samples_to_notice(plan, Guard::InTurn);
    let (before, check) = looks(plan);
    writeln!(
        out,
        "  and {before} reads to see whether others stopped counters, and {check} of all else that it depends on with every \
         {within}th sample and the last (with --guard with each)"
    )?;
    if plan.rounds() > 1 {
        writeln!(out, "a change of rounds: {}", plan.switch_cost())?;
        writeln!(out, "  and {} reads to see whether others took what it writes", looks_at_turns(plan))?;
    }
    let safe = plan.safe_interval();
    if safe.is_finite() {
        writeln!(out, "no counter can wrap twice within {safe:.0} s")?;
    }
    rounds(plan, out)
}

/// Prints which events take turns, and how few rounds are possible.
fn rounds(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    let mut shown: Vec<&InstancePlan> = Vec::new();
    for instance in plan.instances() {
        let alike = |other: &&InstancePlan| {
            let events = |of: &InstancePlan| -> Vec<(Option<usize>, Vec<usize>)> {
                of.counters.iter().map(|counter| (counter.round, counter.events.clone())).collect()
            };
            other.unit.id == instance.unit.id && events(other) == events(instance)
        };
        if instance.rounds == 1 || shown.iter().any(alike) {
            continue;
        }
        shown.push(instance);
        let bound = &instance.bound;
        let verdict = if instance.rounds == bound.rounds {
            format!("{} rounds, the fewest possible: {bound}", instance.rounds)
        } else {
            format!(
                "{} rounds; at least {} are needed ({bound}); fewer are not ruled out",
                instance.rounds, bound.rounds
            )
        };
        writeln!(out, "{} and instances like it: {verdict}", instance.name())?;
        for round in 0..instance.rounds {
            let counters = instance.counters.iter().filter(|counter| counter.round == Some(round));
            for counter in counters {
                let events: Vec<&str> =
                    counter.events.iter().map(|&event| plan.selection.events[event].label.as_str()).collect();
                writeln!(out, "  round {}, counter {}: {}", round + 1, counter.member, events.join(", "))?;
            }
        }
    }
    Ok(())
}
