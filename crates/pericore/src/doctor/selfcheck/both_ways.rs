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
use pericore_observe::session::{Count, Entrance, Options, Sample, Session, prepare};
use pericore_registers::RegisterSpace;

/// Seconds for which both count.
const COUNTED: f64 = 0.2;

/// Rates this far apart are not those of one clock.
const SHARE: f64 = 0.02;

/// Moments known less well than this part of the time between them say little.
const ROUGH: f64 = 0.1;

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
    // Each counter is read at some moment of its sample, which may take long on a busy machine.
    let moments: [f64; 4] = std::array::from_fn(|number| {
        match number {
            1 => drop(kernel.sample(&now)),
            2 => drop(session.sample(|_| now())),
            3 => std::thread::sleep(Duration::from_secs_f64(COUNTED)),
            _ => {}
        }
        now().seconds
    });
    let of_kernel = kernel.sample(&now);
    let kernel_read = now().seconds;
    let of_registers = session.sample(|_| now());
    let registers_read = now().seconds;
    session.stop().map_err(|error| error.to_string())?;
    kernel.stop().map_err(|error| error.to_string())?;
    let [begun, kernel_began, registers_began, slept] = moments;
    let of_kernel = Timed { sample: of_kernel, shortest: slept - kernel_began, longest: kernel_read - begun };
    let of_registers =
        Timed { sample: of_registers, shortest: kernel_read - registers_began, longest: registers_read - kernel_began };
    Ok(held_together(&selection, &of_kernel, &of_registers))
}

/// Counts, and for how many seconds each may have counted.
struct Timed {
    sample: Sample,
    shortest: f64,
    longest: f64,
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

impl Timed {
    /// The least and the greatest rate of each instance, by event, socket and instance.
    fn rates(&self) -> BTreeMap<(usize, u16, u16), (f64, f64)> {
        let rate = |count: &Count| {
            let (counted, shortest) = (count.count? as f64, self.shortest.max(f64::MIN_POSITIVE));
            Some((
                (count.event, count.socket, count.instance),
                (counted / self.longest.max(shortest), counted / shortest),
            ))
        };
        self.sample.counts.iter().filter_map(rate).collect()
    }

    /// True if a rate is not known well enough to be compared.
    fn is_rough(&self) -> bool {
        self.longest > self.shortest * (1.0 + ROUGH)
    }
}

/// What both counted of each unit.
fn held_together(selection: &Selection, of_kernel: &Timed, of_registers: &Timed) -> Vec<Finding> {
    let (kernel, registers) = (of_kernel.rates(), of_registers.rates());
    let mut findings = Vec::new();
    for (index, event) in selection.events.iter().enumerate() {
        let (mut alike, mut apart) = (0, Vec::new());
        for ((_, socket, instance), ours) in registers.iter().filter(|((number, ..), _)| *number == index) {
            let Some(theirs) = kernel.get(&(index, *socket, *instance)) else { continue };
            if ours.0 <= theirs.1 * (1.0 + SHARE) && theirs.0 <= ours.1 * (1.0 + SHARE) {
                alike += 1;
            } else {
                apart.push(format!(
                    "{} in socket {socket}: {:.1} million a second by registers, {:.1} through the kernel",
                    instance_name(event.unit, *instance),
                    f64::midpoint(ours.0, ours.1) / 1e6,
                    f64::midpoint(theirs.0, theirs.1) / 1e6
                ));
            }
        }
        let (unit, label) = (event.unit.name, &event.label);
        if let Some(first) = apart.first() {
            let text = format!("{DIFFERS}{label} of {first} ({} of {})", apart.len(), apart.len() + alike);
            findings.push(Finding::bad(unit, text, REMEDY));
        } else if alike > 0 && (of_kernel.is_rough() || of_registers.is_rough()) {
            let text =
                format!("{UNKNOWN}{label} by registers against the kernel's: this machine was too busy, try again");
            findings.push(Finding::note(unit, text));
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
    use pericore_observe::session::Slices;

    use super::*;

    /// Cycles of two slices in half a second, or up to so many seconds more.
    fn timed(cycles: [u64; 2], more: f64) -> Timed {
        let count = |(instance, cycles): (u16, u64)| Count {
            event: 0,
            socket: 0,
            instance,
            count: Some(cycles),
            validity: Validity::MEASURED,
            slices: Slices::default(),
            standard_error: None,
        };
        let sample = Sample { seconds: 0.5, counts: (0..).zip(cycles).map(count).collect(), ..Sample::default() };
        Timed { sample, shortest: 0.5, longest: 0.5 + more }
    }

    /// 2.68 GHz are within 2 % of 2.7 GHz, and 2 GHz are not.
    #[test]
    fn a_clock_has_the_same_rate_both_ways_or_not() {
        let mut selection = Selection::new(pericore_catalog::family("e5-2600").unwrap());
        selection.add_events("cbo/CLOCKTICKS/").unwrap();
        let messages = |of_registers: [u64; 2], more: f64| {
            let of_registers = timed(of_registers, more);
            let findings = held_together(&selection, &timed([1_350_000_000; 2], 0.0), &of_registers);
            findings.iter().map(|finding| finding.message().to_owned()).collect::<Vec<_>>()
        };
        let same = messages([1_350_000_000, 1_340_000_000], 0.0);
        assert!(same.len() == 1 && same[0].starts_with(AGREES) && same[0].contains("of 2 instances"), "{same:?}");
        let other = messages([1_350_000_000, 1_000_000_000], 0.0);
        let rates = "cbo1 in socket 0: 2000.0 million a second by registers, 2700.0 through the kernel (1 of 2)";
        assert!(other.len() == 1 && other[0].starts_with(DIFFERS) && other[0].contains(rates), "{other:?}");
        // 1.8 billion cycles in 0.5 to 0.7 s may be 2.57 GHz or 3.6: nobody can say. 3.6 billion are more in any case.
        let held_up = messages([1_800_000_000; 2], 0.2);
        assert!(held_up.len() == 1 && held_up[0].starts_with(UNKNOWN), "{held_up:?}");
        let faster = messages([3_600_000_000; 2], 0.2);
        assert!(faster.len() == 1 && faster[0].starts_with(DIFFERS), "{faster:?}");
    }

    /// Where the kernel has no PMUs, that is said: a check that was not made does not pass for one without a
    /// difference.
    #[test]
    fn what_cannot_be_compared_is_reported() {
        use pericore_observe::linux::{Processor, Root};
        use pericore_observe::session::OtherSessions;

        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("sys/devices/system/cpu/online", "0\n");
        put("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
        let host = Host::new(Root::at(folder.path()), Processor::default()).unwrap();
        let mut machine = pericore_machine::MachineSpec::parse("e5-2600").unwrap().chassis().unwrap();
        let family = pericore_catalog::family("e5-2600").unwrap();
        let topology = pericore_observe::discover::discover(&mut machine, family, &host.cpus, |_| true).unwrap();
        let entrance = OtherSessions::new(folder.path().join("journals"), "local", "boot").enter().unwrap();
        let findings = check(&host, machine, &topology, Options::default(), entrance);
        let [finding] = &findings[..] else { panic!("{findings:?}") };
        assert!(finding.is_about(CHECK) && !finding.is_problem(), "{finding:?}");
        let words = finding.message();
        assert!(words.starts_with(UNKNOWN) && words.contains("registers against the kernel's PMUs"), "{words}");
    }
}
