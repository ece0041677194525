//! The same clocks through the kernel's driver and by registers, at the same time.

use std::collections::BTreeMap;
use std::time::Duration;

use pericore_catalog::Measure;
use pericore_doctor::Finding;
use pericore_doctor::selfcheck::{AGREES, DIFFERS, UNKNOWN, event_text};
use pericore_observe::discover::Topology;
use pericore_observe::kernel::{KernelCounters, KernelPmus};
use pericore_observe::linux::{Host, Stopwatch};
use pericore_observe::plan::instance_name;
use pericore_observe::run::Backend;
use pericore_observe::selection::Selection;
use pericore_observe::session::{Entrance, Options, Sample, Session, prepare};
use pericore_registers::RegisterSpace;

/// Seconds for which both count.
const COUNTED: f64 = 0.2;

/// Rates this far apart are not those of one clock.
const SHARE: f64 = 0.02;

const CHECK: &str = "kernel";

const REMEDY: &str = "one of both counts in another unit, or not all the time: send this report with --bundle FILE";

/// Compares them, unit by unit.
pub fn check(
    host: &Host,
    space: impl RegisterSpace,
    topology: &Topology,
    options: Options,
    entrance: Entrance,
) -> Vec<Finding> {
    match compared(host, space, topology, options, entrance) {
        Ok(findings) => findings,
        Err(why) => {
            vec![Finding::note(CHECK, format!("{UNKNOWN}registers against the kernel's PMUs: {why}"))]
        }
    }
}

fn compared(
    host: &Host,
    mut space: impl RegisterSpace,
    topology: &Topology,
    options: Options,
    entrance: Entrance,
) -> Result<Vec<Finding>, String> {
    if host.is_stood_in_for() {
        return Err("a program stands in for this machine's registers".to_owned());
    }
    let pmus = KernelPmus::of(host).map_err(|error| error.to_string())?;
    let selection = clocks_of_both(topology, &pmus);
    if selection.events.is_empty() {
        return Err("it has none for clocks of units that answer by registers".to_owned());
    }
    let watch = Stopwatch::default();
    let now = || watch.moment();
    let plan = pmus.prepare(selection.clone()).map_err(|error| error.to_string())?;
    let mut kernel = KernelCounters::start(host.root(), plan, now).map_err(|error| error.to_string())?;
    // The kernel's counters are running: registers take others.
    let plan = prepare(&mut space, topology, selection.clone(), Default::default(), options.other_sessions.as_ref());
    let plan = plan.map_err(|error| error.to_string())?;
    let mut session = Session::start(space, plan, options, |_| now()).map_err(|error| error.to_string())?;
    drop(entrance);
    kernel.sample(&now);
    session.sample(|_| now());
    std::thread::sleep(Duration::from_secs_f64(COUNTED));
    let of_kernel = kernel.sample(&now);
    let of_registers = session.sample(|_| now());
    session.stop().map_err(|error| error.to_string())?;
    kernel.stop().map_err(|error| error.to_string())?;
    Ok(held_together(&selection, &of_kernel, &of_registers))
}

/// A clock of each unit that has one both ways.
fn clocks_of_both(topology: &Topology, pmus: &KernelPmus) -> Selection {
    let mut selection = Selection::new(topology.family);
    for unit in topology.family.units {
        if !topology.sockets.iter().any(|socket| !socket.present(unit).is_empty()) {
            continue;
        }
        let Some(clock) = unit.events.iter().find(|event| event.measure == Measure::Clock) else { continue };
        let mut alone = Selection::new(topology.family);
        let name = event_text(unit, clock, "");
        if alone.add_events(&name).is_ok() && pmus.prepare(alone).is_ok() {
            // It was understood by itself.
            let _ = selection.add_events(&name);
        }
    }
    selection
}

/// What both counted of each unit.
fn held_together(selection: &Selection, of_kernel: &Sample, of_registers: &Sample) -> Vec<Finding> {
    let rates = |sample: &Sample| -> BTreeMap<(usize, u16, u16), f64> {
        let rate = |count: &pericore_observe::session::Count| {
            let seconds = sample.sockets.get(&count.socket).map_or(sample.seconds, |length| length.seconds);
            Some(((count.event, count.socket, count.instance), count.count? as f64 / seconds.max(f64::MIN_POSITIVE)))
        };
        sample.counts.iter().filter_map(rate).collect()
    };
    let (kernel, registers) = (rates(of_kernel), rates(of_registers));
    let mut findings = Vec::new();
    for (index, event) in selection.events.iter().enumerate() {
        let (mut alike, mut apart) = (0, Vec::new());
        for ((_, socket, instance), ours) in registers.iter().filter(|((number, ..), _)| *number == index) {
            let Some(theirs) = kernel.get(&(index, *socket, *instance)) else { continue };
            if (ours - theirs).abs() <= SHARE * ours.max(*theirs) {
                alike += 1;
            } else {
                apart.push(format!(
                    "{} in socket {socket}: {:.1} million a second by registers, {:.1} through the kernel",
                    instance_name(event.unit, *instance),
                    ours / 1e6,
                    theirs / 1e6
                ));
            }
        }
        let (unit, label) = (event.unit.name, &event.label);
        if let Some(first) = apart.first() {
            let text = format!("{DIFFERS}{label} of {first} ({} of {})", apart.len(), apart.len() + alike);
            findings.push(Finding::bad(unit, text, REMEDY));
        } else if alike > 0 {
            let text = format!("{AGREES}{label} of {alike} instances, by registers and through the kernel's driver");
            findings.push(Finding::good(unit, text));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use pericore_metrics::Validity;
    use pericore_observe::session::{Count, Slices};

    use super::*;

    /// Cycles of two slices in half a second.
    fn sample(cycles: [u64; 2]) -> Sample {
        let count = |(instance, cycles): (u16, u64)| Count {
            event: 0,
            socket: 0,
            instance,
            count: Some(cycles),
            validity: Validity::MEASURED,
            slices: Slices::default(),
            standard_error: None,
        };
        Sample { seconds: 0.5, counts: (0..).zip(cycles).map(count).collect(), ..Sample::default() }
    }

    /// 2.68 GHz are within 2 % of 2.7 GHz, and 2 GHz are not.
    #[test]
    fn a_clock_has_the_same_rate_both_ways_or_not() {
        let mut selection = Selection::new(pericore_catalog::family("e5-2600").unwrap());
        selection.add_events("cbo/CLOCKTICKS/").unwrap();
        let messages = |of_registers: [u64; 2]| {
            let findings = held_together(&selection, &sample([1_350_000_000; 2]), &sample(of_registers));
            findings.iter().map(|finding| finding.message().to_owned()).collect::<Vec<_>>()
        };
        let same = messages([1_350_000_000, 1_340_000_000]);
        assert!(same.len() == 1 && same[0].starts_with(AGREES) && same[0].contains("of 2 instances"), "{same:?}");
        let other = messages([1_350_000_000, 1_000_000_000]);
        let rates = "cbo1 in socket 0: 2000.0 million a second by registers, 2700.0 through the kernel (1 of 2)";
        assert!(other.len() == 1 && other[0].starts_with(DIFFERS) && other[0].contains(rates), "{other:?}");
    }
}
