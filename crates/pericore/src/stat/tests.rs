//! The real parser and the real planner, in process.

use clap::Parser;
use pericore_catalog::search::{Found, Topic};
use pericore_catalog::{Family, Register, Role, families};
use pericore_machine::chassis::Chassis;
use pericore_observe::discover::{Topology, discover};
use pericore_observe::plan::Plan;

use super::forecast;
use crate::explain::sheet_of;
use crate::machine::opened;
use crate::measure::{Task, preparation};
use crate::{Cli, Command};

/// The words of a command line: single quotes are the only ones that `explain` uses.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// A software machine and all that was found on it: what every command line on it would find.
struct Hardware {
    chassis: Chassis,
    topology: Topology,
}

impl Hardware {
    fn of(family: &'static Family) -> Self {
        let mut chassis = opened::machine(family.name).unwrap();
        let cpus = pericore_emulation::start::cpus(chassis.shape());
        let topology = discover(&mut chassis, family, &cpus, |_| true).unwrap();
        Self { chassis, topology }
    }

    /// The plan of a command line, after its forecast was printed.
    fn plan(&mut self, line: &str) -> Result<Plan, String> {
        let words = words(line);
        let args = match Cli::try_parse_from(&words).map_err(|error| error.to_string())?.command {
            Some(Command::Stat(args)) => args,
            other => return Err(format!("no pericore stat: {other:?}")),
        };
        let family = self.chassis.shape().family;
        if args.measure.machine.as_deref() != Some(family.name) {
            return Err(format!("another machine: {:?}", args.measure.machine));
        }
        let selection = args.measure.wanted.selection(family).map_err(|failure| failure.to_string())?;
        let course = args.course();
        let task = Task { args: &args.measure, course: &course };
        let plan = preparation::plan_on(task, &mut self.chassis, &self.topology, selection)
            .map_err(|failure| failure.to_string())?;
        let mut printed = Vec::new();
        forecast::operations(&plan, &mut printed).map_err(|error| error.to_string())?;
        if printed.is_empty() { Err("nothing is printed".to_owned()) } else { Ok(plan) }
    }
}

/// The command line that a sheet proposes.
fn proposed(found: &Found) -> String {
    let mut sheet = Vec::new();
    sheet_of(found).write_json(&mut sheet).unwrap();
    let sheet: serde_json::Value = serde_json::from_slice(&sheet).unwrap();
    sheet["command"].as_str().unwrap_or_else(|| panic!("{} has no command", found.name())).to_owned()
}

/// All that a family counts: events, subevents, fixed and free-running counters, metrics.
fn countable(family: &'static Family) -> Vec<Found> {
    let mut all = Vec::new();
    for unit in family.units.iter().copied() {
        let mut push = |topic| all.push(Found { family, unit: Some(unit), topic });
        for event in unit.events {
            push(Topic::Event(event));
            event.subevents.iter().for_each(|subevent| push(Topic::Subevent(event, subevent)));
        }
        unit.metrics.iter().for_each(|metric| push(Topic::Metric(metric)));
        let counters = unit.with_role(Role::FixedCounter).chain(unit.with_role(Role::FreeRunning));
        // Two of Emerald Rapids' link counters have no place in any document: there is no counting them.
        let has_place = |register: &&Register| !unit.placements[usize::from(register.placement)].instances.is_empty();
        counters.filter(has_place).for_each(|register| push(Topic::Register(register, None)));
    }
    all
}

#[test]
fn a_seventh_of_what_explain_proposes_is_accepted() {
    proposals_are_accepted(7, 700);
}

#[test]
#[ignore = "30 s: the long form"]
fn every_command_line_that_explain_proposes_is_accepted() {
    proposals_are_accepted(1, 5000);
}

/// Looks at one of `step` things that each family counts, and at more than `least` of all families.
fn proposals_are_accepted(step: usize, least: usize) {
    let mut lines = 0;
    let mut refused = Vec::new();
    for family in families() {
        let mut machine = Hardware::of(family);
        for found in countable(family).into_iter().step_by(step) {
            lines += 1;
            let line = proposed(&found);
            match machine.plan(&line) {
                Ok(plan) => assert!(plan.instances().next().is_some(), "{line}"),
                Err(why) => refused.push(format!("{line}: {why}")),
            }
        }
    }
    assert!(lines > least, "only {lines} lines");
    assert!(
        refused.is_empty(),
        "{} of {lines} are refused:\n{}",
        refused.len(),
        refused[..refused.len().min(30)].join("\n")
    );
}

/// Without events and metrics, `stat` counts what its family has for that, and all of it at once.
#[test]
fn every_family_has_defaults() {
    for family in families() {
        let mut machine = Hardware::of(family);
        let plan = machine.plan(&format!("pericore stat --machine {}", family.name)).unwrap();
        assert!(plan.selection.metrics.len() >= 3, "{}", family.name);
        assert!(plan.rounds() == 1, "{}: the defaults take {} rounds", family.name, plan.rounds());
    }
}
