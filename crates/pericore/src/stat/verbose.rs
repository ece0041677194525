//! `-v`: which counters of which instances count what, before they do.

use pericore_observe::kernel::KernelPlan;
use pericore_observe::plan::{Plan, Through};

/// A line for each event, counter and socket: instances that do the same stand together.
pub fn counters(plan: &Plan) -> Vec<String> {
    let mut uses: Vec<Use<'_>> = Vec::new();
    for socket in &plan.sockets {
        for instance in socket.instances.iter().filter(|instance| instance.through == Through::Registers) {
            let turns = |round| format!(", round {} of {}", round + 1, instance.rounds);
            for counter in &instance.counters {
                let name = counter.register.member_name(counter.member);
                let control = counter.control.map_or_else(String::new, |(_, value)| format!(", control {value:#x}"));
                let how = format!("{name}{control}{}", counter.round.map_or_else(String::new, turns));
                for &event in &counter.events {
                    note(&mut uses, event, socket.socket, &how, (instance.unit.name, instance.number));
                }
            }
        }
    }
    lines(plan, uses)
}

/// The same of what the kernel counts: the terms of each event.
pub fn requests(plan: &KernelPlan) -> Vec<String> {
    let mut uses: Vec<Use<'_>> = Vec::new();
    for counter in &plan.counters {
        let part = &plan.plan.sockets[counter.socket];
        let instance = &part.instances[counter.instance];
        let used = &instance.counters[counter.counter];
        let turn = used.round.map_or_else(String::new, |round| format!(", round {} of {}", round + 1, instance.rounds));
        let pmu = counter.pmu.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
        let how = format!("{pmu}/{}/{turn}", counter.event);
        for &event in &used.events {
            note(&mut uses, event, part.socket, &how, (instance.unit.name, instance.number));
        }
    }
    lines(&plan.plan, uses)
}

/// Adds an instance to those that count an event in the same way.
fn note<'u>(uses: &mut Vec<Use<'u>>, event: usize, socket: u16, how: &str, (unit, number): (&'u str, u16)) {
    let same = |other: &&mut Use<'_>| (other.event, other.socket, other.how.as_str()) == (event, socket, how);
    match uses.iter_mut().find(same) {
        Some(other) => other.numbers.push(number),
        None => uses.push(Use { event, socket, how: how.to_owned(), unit, numbers: vec![number] }),
    }
}

fn lines(plan: &Plan, mut uses: Vec<Use<'_>>) -> Vec<String> {
    uses.sort_by_key(|one| (one.event, one.socket));
    uses.iter().map(|one| format!("{}: {}", plan.selection.events[one.event].label, one.words())).collect()
}

/// An event on a counter of some instances.
struct Use<'a> {
    event: usize,
    socket: u16,
    how: String,
    unit: &'a str,
    numbers: Vec<u16>,
}

impl Use<'_> {
    fn words(&self) -> String {
        format!("{} of {} {}, socket {}", self.how, self.unit, ranges(&self.numbers), self.socket)
    }
}

/// Numbers in ascending order, neighbours as a range: `0-3, 6`.
fn ranges(numbers: &[u16]) -> String {
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let one = |&(first, last): &(u16, u16)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    ranges.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn neighbours_are_a_range() {
        assert_eq!(super::ranges(&[0, 1, 2, 3, 6]), "0-3, 6");
        assert_eq!(super::ranges(&[5]), "5");
        assert_eq!(super::ranges(&[0, 2, 3]), "0, 2-3");
    }
}
