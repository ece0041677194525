//! Runs a tool on a machine with traffic at constant rates, and works out what its counters must have shown.
//!
//! The log says when the tool started, stopped and read a counter, to the nanosecond of the machine's time. With a constant rate,
//! the right count follows by arithmetic, whatever the tool's own timing.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use pericore_doors::log::{Entry, Kind};
use pericore_doors::{
    Command, ConstantRates, DoorsError, Finished, LiveMachine, Options, Outcome, Traffic, endless, run_machine,
};
use pericore_machine::MachineSpec;
use pericore_machine::Window;
use pericore_machine::ledger::Question;
use pericore_machine::steady::{Pace, Steady};
use pericore_registers::{Address, Bdf};

/// A signal that pulses at a constant rate on one instance of a unit in every socket.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// An event's subevent: unit, instance, event, subevent.
    Subevent(&'static str, u16, &'static str, &'static str),
    /// A signal with attributes: unit, instance, signal, attribute values.
    Signal(&'static str, u16, &'static str, &'static [(&'static str, u64)]),
}

/// What to run and on what.
#[derive(Debug, Clone)]
pub struct Rig {
    pub family: &'static str,
    pub sockets: u16,
    pub rates: Vec<(Source, u64)>,
    /// A workload of the traffic model instead of rates.
    pub workload: Option<&'static str>,
    pub options: Options,
}

impl Default for Rig {
    fn default() -> Self {
        let options = Options { timeout: Some(Duration::from_secs(120)), ..Options::default() };
        Self { family: "e5-2600", sockets: 1, rates: Vec::new(), workload: None, options }
    }
}

/// An access from the log.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// Nanoseconds of the machine's time.
    pub at: u64,
    pub entry: Entry,
    /// The value read.
    pub value: u64,
}

const PACE: Pace = Pace { warm_up: None, window: 100, cells: 1024 };

/// The traffic model's part in a run.
#[derive(Debug)]
pub struct Workload {
    spec: MachineSpec,
    workload: &'static str,
    steady: Steady,
    ticks_per_second: u64,
}

/// What the ledger calls an event: unit, instance, event, subevent, filters.
pub type Event = (&'static str, u16, &'static str, &'static str, &'static [(&'static str, u64)]);

/// A count of a tool, and when its counter ran, in nanoseconds of the machine's time.
#[derive(Debug, Clone)]
pub struct Count {
    pub shown: u64,
    pub ran: Vec<(u64, u64)>,
    pub socket: u16,
    pub event: Event,
}

/// What came of a run.
#[derive(Debug)]
pub struct Run {
    pub stdout: String,
    pub stderr: String,
    pub outcome: Outcome,
    pub log: Vec<Access>,
    /// The log as text, with meanings.
    pub text: String,
    /// What the machine did, if it had a workload.
    pub steady: Option<Workload>,
}

/// Fails unless a program is installed.
pub fn require(program: &str, package: &str) {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let found = path.split(':').any(|folder| Path::new(folder).join(program).is_file());
    assert!(found, "{program} is missing: apt-get install --no-install-recommends {package}");
}

impl Rig {
    /// A run that must come about.
    pub fn run(&self, program: &str, arguments: &[&str]) -> Run {
        self.try_run(program, arguments).unwrap_or_else(|error| panic!("{program} {arguments:?}: {error}"))
    }

    /// A run whose program must succeed.
    pub fn succeed(&self, program: &str, arguments: &[&str]) -> Run {
        let run = self.run(program, arguments);
        assert_eq!(run.outcome, Outcome::Exited(0), "{program} {arguments:?}:\n{}{}", run.stdout, run.stderr);
        run
    }

    pub fn try_run(&self, program: &str, arguments: &[&str]) -> Result<Run, DoorsError> {
        match self.workload {
            Some(workload) => {
                let spec = self.spec();
                let (machine, steady) = LiveMachine::with_workload(&spec, workload, &PACE).expect("a workload");
                let (traffic, ticks_per_second) = (steady.replay(), machine.ticks_per_second());
                let mut run = self.run_on(machine, traffic, program, arguments)?;
                run.steady = Some(Workload { spec, workload, steady, ticks_per_second });
                Ok(run)
            }
            None => {
                let (machine, traffic) = self.machine_at_rates();
                self.run_on(machine, traffic, program, arguments)
            }
        }
    }

    fn spec(&self) -> MachineSpec {
        MachineSpec::parse(&format!("{}:sockets={}", self.family, self.sockets)).expect("a machine")
    }

    fn machine_at_rates(&self) -> (LiveMachine, ConstantRates) {
        let mut machine = LiveMachine::new(&self.spec()).expect("a machine");
        let mut traffic = ConstantRates::new(machine.ticks_per_second());
        for &(source, rate) in &self.rates {
            match source {
                Source::Subevent(unit, instance, event, subevent) => {
                    traffic.subevent(&mut machine.wiring, (unit, instance), (event, subevent), rate).expect("names");
                }
                Source::Signal(unit, instance, signal, attributes) => {
                    let bits = |attribute| machine.wiring.attribute(unit, signal, attribute).expect("an attribute");
                    let tag = attributes.iter().fold(0, |tag, &(name, value)| bits(name).set(tag, value));
                    for socket in 0..self.sockets {
                        let wire = machine.wiring.signal(socket, unit, instance, signal).expect("a signal");
                        traffic.pulses(wire, tag, rate);
                    }
                }
            }
        }
        (machine, traffic)
    }

    fn run_on(
        &self,
        machine: LiveMachine,
        traffic: impl Traffic + 'static,
        program: &str,
        arguments: &[&str],
    ) -> Result<Run, DoorsError> {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let [log, stdout, stderr] = ["log", "stdout", "stderr"].map(|name| scratch.path().join(name));
        let create = |path: &Path| Some(File::create(path).expect("a scratch file"));
        let command = Command {
            program: program.into(),
            arguments: arguments.iter().map(Into::into).collect(),
            stdin: Some(File::open("/dev/null").expect("/dev/null")),
            stdout: create(&stdout),
            stderr: create(&stderr),
            ..Command::default()
        };
        let options = Options { log: Some(log.clone()), ..self.options.clone() };
        let finished = run_machine(machine, traffic, command, &options);
        let [text, stdout, stderr] = [log, stdout, stderr].map(|path| {
            let bytes = fs::read(&path).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let Finished { outcome, accesses } = finished?;
        let log: Vec<Access> = text.lines().filter(|line| !line.starts_with('#')).map(parse).collect();
        assert_eq!(log.len() as u64, accesses, "every access is in the log");
        Ok(Run { stdout, stderr, outcome, log, text, steady: None })
    }
}

fn parse(line: &str) -> Access {
    let entry = Entry::parse(line).unwrap_or_else(|| panic!("not an access: {line}"));
    let (seconds, nanoseconds) =
        line.split_whitespace().next().and_then(|word| word.split_once('.')).expect("a time first");
    let at =
        seconds.parse::<u64>().expect("seconds") * 1_000_000_000 + nanoseconds.parse::<u64>().expect("nanoseconds");
    let read = line.split(';').next().and_then(|access| access.split_once("-> 0x"));
    let value = read.map_or(0, |(_, value)| u64::from_str_radix(value.trim(), 16).expect("a value"));
    Access { at, entry, value }
}

/// An MSR on any CPU.
pub fn msr(number: u32) -> impl Fn(&Access) -> bool {
    move |access| matches!(access.entry.address, Address::Msr { msr, .. } if msr == number)
}

/// A register of configuration space.
pub fn config(bus: u8, device: u8, function: u8, at: u16) -> impl Fn(&Access) -> bool {
    let place = Bdf::new(bus, device, function);
    move |access| matches!(access.entry.address, Address::Pci { bdf, offset } if bdf == place && offset == at)
}

/// Writes of a value to a register.
pub fn writes(value: u64, to: impl Fn(&Access) -> bool) -> impl Fn(&Access) -> bool {
    move |access| access.entry.kind == Kind::Write(value) && to(access)
}

/// Reads of a register.
pub fn reads(of: impl Fn(&Access) -> bool) -> impl Fn(&Access) -> bool {
    move |access| access.entry.kind == Kind::Read && of(access)
}

impl Run {
    /// All accesses of a kind.
    pub fn all(&self, wanted: impl Fn(&Access) -> bool) -> Vec<Access> {
        self.log.iter().copied().filter(|access| wanted(access)).collect()
    }

    /// The count of a signal of `rate` a second between the last access that starts and the first that stops after it.
    pub fn counted(&self, rate: u64, start: impl Fn(&Access) -> bool, stop: impl Fn(&Access) -> bool) -> u64 {
        let enabled = self.log.iter().rposition(&start).expect("the tool starts the counter");
        let stopped =
            self.log[enabled..].iter().find(|access| stop(access)).expect("the tool stops or reads the counter");
        ticks(rate, stopped.at) - ticks(rate, self.log[enabled].at)
    }
}

impl Run {
    /// Counts equal the ledger's, to the last unit.
    #[track_caller]
    pub fn assert_true(&self, counts: &[Count]) {
        let Workload { spec, workload, steady, ticks_per_second } = self.steady.as_ref().expect("a workload");
        let tick = |at: u64| (u128::from(at) * u128::from(*ticks_per_second) / 1_000_000_000) as u64;
        let times = counts.iter().flat_map(|count| &count.ran).flat_map(|&(from, to)| [tick(from), tick(to)]);
        // The machine does the same a second time, and is asked for its account at the times of the tool's accesses.
        let account = steady.account(&mut endless(spec, workload).expect("the same machine"), times);
        for Count { shown, ran, socket, event } in counts {
            let (unit, instance, name, subevent, filters) = *event;
            let subevent = Some(subevent).filter(|name| !name.is_empty());
            let between = |&(from, to): &(u64, u64)| {
                let truth = account.between(tick(from), tick(to), |a, b| {
                    Window::between(a, b).count(
                        *socket,
                        instance,
                        Question::new(unit, name).subevent(subevent).filtered(filters),
                    )
                });
                truth.unwrap_or_else(|| panic!("the ledger does not know {event:?}"))
            };
            let truth: u64 = ran.iter().map(between).sum();
            assert_eq!(*shown, truth, "socket {socket}, {event:?} between {ran:?}");
        }
    }
}

/// Events of a signal of `rate` a second until a time.
pub fn ticks(rate: u64, at: u64) -> u64 {
    (u128::from(rate) * u128::from(at) / 1_000_000_000) as u64
}

/// Counts are exact, but for the event or clock that falls between two digits of the log's time.
#[track_caller]
pub fn assert_counted(name: &str, shown: u64, expected: u64) {
    assert!(shown.abs_diff(expected) <= 3, "{name}: the tool shows {shown}, the traffic was {expected}");
}
