//! A session killed with SIGKILL after each register operation in turn, and `restore` after it: our controls and filters hold their old
//! values, our counters stand still, foreign registers were never written.
//!
//! The registers live in this process; the session runs in a child, which reaches them through a socket. Addresses and values stand
//! here by hand.

mod perf;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use pericore_machine::chassis::{Chassis, Shape};
use pericore_machine::signal::Wiring;
use pericore_observe::discover::{Cpu, discover};
use pericore_observe::plan::{Occupied, Plan};
use pericore_observe::selection::Selection;
use pericore_observe::session::{Guard, Journal, JournalFile, Moment, Options, Restored, Session};
use pericore_registers::{AccessError, Address, Bdf, Outcome, RegisterSpace, Width};

const BOOT: &str = "the-boot-of-this-test";
const SOCKET: &str = "PERICORE_TEST_REGISTER_SOCKET";
const JOURNAL: &str = "PERICORE_TEST_JOURNAL";

/// Which of [`SCENES`] the child is of.
const SCENE: &str = "PERICORE_TEST_SCENE";

/// Ticks of a uclk and of a dclk.
const UCLK: u64 = 8;
const DCLK: u64 = 27;

/// A machine that is not fresh, and what a session counts on it. Instance 0 of the first unit has leftovers of some
/// tool; in one of its instances somebody else counts clocks.
struct Scene {
    family: &'static str,
    /// The units that are looked for.
    units: &'static [&'static str],
    events: &'static str,
    /// What stands in registers that the session overwrites.
    leftovers: &'static [(Address, u64)],
    /// Enables that the other needs. Where it counts, those of others may be left on beside them, as their controls are
    /// off.
    enables: &'static [(Address, u64)],
    /// The other's instance and counter; none for the fixed one.
    used: (u16, Option<u8>),
    /// The other's control with its value, and counter.
    other: ((Address, u64), Address),
    /// Registers that no event of ours needs: the other's unit's freeze and reset, other units'.
    not_ours: &'static [Address],
    /// Controls that no counter may be left enabled by, and the bits of which one enables.
    controls: (&'static [Address], u64),
    /// Counters that the session may have used.
    counters: &'static [Address],
    /// The register by which the first unit's or channel's counters go on, and the bits and their value that let them.
    resumes: (Address, u64, u64),
}

/// 327043-001, Tables 2-8 to 2-12, 2-58 to 2-62; 0x400000 enables. Emerald Rapids: Tables 1-9 and 1-12; an event select other than 0
/// enables, and the leftovers have none. Nehalem: SDM 18.8.2; its one unit has an enable for each counter in 0x391.
const SCENES: [Scene; 3] = [
    Scene {
        family: "e5-2600",
        units: &["cbo", "imc"],
        events: "cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/,cbo1/CLOCKTICKS/,imc0/CAS_COUNT.RD/",
        leftovers: &[(msr(0xd10), 0x0334), (msr(0xd14), 0x007c_0000), (channel_0(0xd8), 0x0304)],
        enables: &[],
        used: (1, Some(3)),
        other: ((msr(0xd33), 0x0040_0000), msr(0xd39)),
        not_ours: &[msr(0xd34), msr(0xd24), msr(0xd54)],
        controls: (&[msr(0xd11), msr(0xd12), msr(0xd13), msr(0xd30), msr(0xd31), msr(0xd32)], 0x0040_0000),
        counters: &[
            msr(0xd16),
            msr(0xd17),
            msr(0xd18),
            msr(0xd19),
            msr(0xd36),
            msr(0xd37),
            msr(0xd38),
            channel_0(0xa0),
        ],
        resumes: (channel_0(0xf4), u64::MAX, 0x1_0000),
    },
    Scene {
        family: "emerald-rapids",
        units: &["cha", "imc"],
        events: "cha0/LLC_LOOKUP.ALL,tid=0x5/,cha0/LLC_LOOKUP.ALL,tid=0x9/,cha1/CLOCKTICKS/,imc0/CAS_COUNT.RD/",
        leftovers: &[(msr(0x2002), 0x0300), (msr(0x200e), 0x0005), (window_0(0x40), 0xcf00)],
        enables: &[],
        used: (1, Some(3)),
        other: ((msr(0x2015), 0x0000_0001), msr(0x201b)),
        not_ours: &[msr(0x201e), msr(0x2010), msr(0x2020), msr(0x2ff0)],
        controls: (&[msr(0x2003), msr(0x2004), msr(0x2005), msr(0x2012), msr(0x2013), msr(0x2014)], 0xff),
        counters: &[
            msr(0x2008),
            msr(0x2009),
            msr(0x200a),
            msr(0x200b),
            msr(0x2018),
            msr(0x2019),
            msr(0x201a),
            window_0(0x08),
        ],
        resumes: (window_0(0), u64::MAX, 0),
    },
    Scene {
        family: "nehalem",
        units: &["uncore"],
        events: "uncore/QHL_REQUESTS.IOH_READS/,uncore/QHL_REQUESTS.IOH_WRITES/,uncore/QHL_REQUESTS.REMOTE_READS/,\
                 uncore/QHL_REQUESTS.REMOTE_WRITES/,uncore/QHL_REQUESTS.LOCAL_READS/,\
                 uncore/QHL_REQUESTS.LOCAL_WRITES/,uncore/QMC_WRITES.FULL_CH0/,uncore/QMC_WRITES.FULL_CH1/,\
                 uncore/QMC_WRITES.FULL_CH2/",
        leftovers: &[(msr(0x3c0), 0x012f)],
        enables: &[(msr(0x391), 1 << 32)],
        used: (0, None),
        other: ((msr(0x395), 1), msr(0x394)),
        not_ours: &[msr(0x393)],
        controls: (&[msr(0x3c1), msr(0x3c2), msr(0x3c3), msr(0x3c4), msr(0x3c5), msr(0x3c6), msr(0x3c7)], 0x0040_0000),
        counters: &[msr(0x3b0), msr(0x3b1), msr(0x3b2), msr(0x3b3), msr(0x3b4), msr(0x3b5), msr(0x3b6), msr(0x3b7)],
        resumes: (msr(0x391), 1, 1),
    },
];

fn machine(scene: &Scene) -> Chassis {
    let family = pericore_catalog::family(scene.family).expect("the family is in the catalogue");
    let shape = Shape::new(family, 1, 8, 2).expect("one socket");
    let clocks = |clock: &str| if clock == "dclk" { DCLK } else { UCLK };
    let mut machine = Chassis::new(shape, Wiring::new(family, 1), clocks);
    for &(address, value) in scene.leftovers.iter().chain(scene.enables).chain([&scene.other.0]) {
        machine.write(address, width(address), value).expect("the register exists");
    }
    machine
}

fn cpus() -> Vec<Cpu> {
    (0..16).map(|number| Cpu { number, package: 0 }).collect()
}

const fn msr(msr: u32) -> Address {
    Address::Msr { cpu: 0, msr }
}

const fn channel_0(offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(0xff, 16, 0), offset }
}

const fn window_0(offset: u64) -> Address {
    Address::Mmio { physical: 0xf002_2800 + offset }
}

/// Controls outside MSRs have 32 bits.
const fn width(address: Address) -> Width {
    if matches!(address, Address::Msr { .. }) { Width::B8 } else { Width::B4 }
}

/// One line for each operation: `r|w SPACE A B WIDTH VALUE`; the answer is `ok VALUE` or `gp`.
struct Remote {
    stream: BufReader<UnixStream>,
}

impl Remote {
    fn ask(&mut self, verb: char, address: Address, width: Width, value: u64) -> Outcome<u64> {
        let place = match address {
            Address::Msr { cpu, msr } => format!("m {cpu} {msr}"),
            Address::Pci { bdf, offset } => {
                format!("p {} {offset}", u32::from(bdf.bus) << 8 | u32::from(bdf.device) << 3 | u32::from(bdf.function))
            }
            Address::Mmio { physical } => format!("x 0 {physical}"),
        };
        let line = format!("{verb} {place} {} {value}\n", width.bytes());
        self.stream.get_mut().write_all(line.as_bytes()).expect("the machine listens");
        let mut answer = String::new();
        self.stream.read_line(&mut answer).expect("the machine answers");
        match answer.trim().strip_prefix("ok ") {
            Some(value) => Ok(value.parse().expect("a number")),
            None => Err(AccessError::GeneralProtection { address }),
        }
    }
}

impl RegisterSpace for Remote {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.ask('r', address, width, 0)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.ask('w', address, width, value).map(|_| ())
    }
}

/// The session that is killed: rounds, filters, a channel, and a slice in which someone else counts.
#[test]
#[ignore = "runs as the child of the test below"]
fn the_child() {
    let Some(path) = std::env::var_os(SOCKET) else { return };
    let scene = &SCENES[std::env::var(SCENE).expect("the parent names it").parse::<usize>().expect("a number")];
    let mut space = Remote { stream: BufReader::new(UnixStream::connect(path).expect("the machine listens")) };
    let family = pericore_catalog::family(scene.family).expect("the family is in the catalogue");
    let topology = discover(&mut space, family, &cpus(), |unit| scene.units.contains(&unit.name)).expect("found");
    let mut selection = Selection::new(family);
    selection.add_events(scene.events).expect("the events exist");
    let mut occupied = Occupied::default();
    let (instance, counter) = scene.used;
    occupied.note(0, family.unit(scene.units[0]).expect("a unit"), instance, counter);
    let plan = Plan::beside(&topology, selection, &occupied).expect("it fits in rounds");
    let journal = JournalFile {
        path: PathBuf::from(std::env::var_os(JOURNAL).expect("the parent names it")),
        boot: BOOT.to_owned(),
        machine: "test".to_owned(),
    };
    let options = Options { guard: Guard::All, journal: Some(journal), ..Options::default() };
    let moment = |_: &mut Remote| Moment::default();
    let mut session = Session::start(space, plan, options, moment).expect("counters are free");
    session.sample(moment);
    session.rotate(moment);
    session.rotate(moment);
    session.sample(moment);
    session.stop().expect("everything is put back");
}

/// What a child did.
struct Served {
    /// Addresses written, in order.
    written: Vec<Address>,
    /// Operations before the first write.
    looks: usize,
    /// Operations up to each write that lets the first channel's counters run.
    resumes: Vec<usize>,
    /// It came to its end by itself.
    ended: bool,
}

/// Serves the child's operations; kills it once so many are carried out. Before the operation of that number somebody
/// else writes.
fn serve(
    machine: &mut Chassis,
    scene: &Scene,
    listener: &UnixListener,
    child: &mut Child,
    most: usize,
    joins: (usize, &[(Address, u64)]),
) -> Served {
    let (stream, _) = listener.accept().expect("the child connects");
    let mut stream = BufReader::new(stream);
    let (mut written, mut looks, mut resumes) = (Vec::new(), 0, Vec::new());
    for done in 0.. {
        if done == most {
            child.kill().expect("SIGKILL");
            break;
        }
        for &(address, value) in joins.1.iter().filter(|_| done == joins.0) {
            machine.write(address, width(address), value).expect("the register exists");
        }
        let mut line = String::new();
        if stream.read_line(&mut line).expect("the socket works") == 0 {
            return Served { written, looks, resumes, ended: child.wait().expect("the child ends").success() };
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let [verb, space, place, offset, width, value] = words[..] else { panic!("{line}") };
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let address = match space {
            "m" => Address::Msr { cpu: number(place) as u32, msr: number(offset) as u32 },
            "x" => Address::Mmio { physical: number(offset) },
            _ => {
                let function = number(place);
                let bdf = Bdf::new((function >> 8) as u8, (function >> 3 & 31) as u8, (function & 7) as u8);
                Address::Pci { bdf, offset: number(offset) as u16 }
            }
        };
        let width = [Width::B1, Width::B2, Width::B4, Width::B8]
            .into_iter()
            .find(|known| u64::from(known.bytes()) == number(width))
            .expect("a width");
        machine.set_now(machine.now() + 10 * UCLK);
        let answer = if verb == "w" {
            looks = if written.is_empty() { done } else { looks };
            written.push(address);
            let (gate, bits, running) = scene.resumes;
            if (address, number(value) & bits) == (gate, running) {
                resumes.push(done + 1);
            }
            machine.write(address, width, number(value)).map(|()| 0)
        } else {
            machine.read(address, width)
        };
        let text = answer.map_or_else(|_| "gp\n".to_owned(), |value| format!("ok {value}\n"));
        // The last answer before the kill never arrives.
        if done + 1 < most {
            stream.get_mut().write_all(text.as_bytes()).expect("the child reads");
        }
    }
    child.wait().expect("the child is dead");
    Served { written, looks, resumes, ended: false }
}

fn spawn(scene: usize, socket: &Path, journal: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "session_killed::the_child", "--ignored", "--quiet", "--test-threads=1"])
        .env(SOCKET, socket)
        .env(JOURNAL, journal)
        .env(SCENE, scene.to_string())
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("the child starts")
}

#[test]
fn killed_after_each_operation_and_restored_on_e5_2600() {
    killed_and_restored(0, 1);
}

/// Many processes: each ninth operation has to do for every day.
#[test]
fn killed_after_each_ninth_operation_and_restored_on_emerald_rapids() {
    killed_and_restored(1, 9);
}

#[test]
fn killed_after_each_operation_and_restored_on_nehalem() {
    killed_and_restored(2, 1);
}

#[test]
#[ignore = "long form"]
fn killed_after_each_operation_and_restored_on_emerald_rapids() {
    killed_and_restored(1, 1);
}

/// Kills a session of a scene after each `step`th operation from its first write on.
fn killed_and_restored(number: usize, step: usize) {
    let scene = &SCENES[number];
    let directory = tempfile::tempdir().expect("a directory");
    let (socket, journal) = (directory.path().join("registers"), directory.path().join("journal"));
    let killed_after = |most: usize| {
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).expect("a socket");
        let mut machine = machine(scene);
        let mut child = spawn(number, &socket, &journal);
        let served = serve(&mut machine, scene, &listener, &mut child, most, (usize::MAX, &[]));
        let journalled = journal.exists();
        if journalled {
            let found = Journal::read(&journal).expect("a journal is whole or not there");
            let family = pericore_catalog::family(scene.family).expect("the family is in the catalogue");
            let cpus = cpus();
            let other = found.restore(&mut machine, family, &cpus, "another boot").expect("looks only");
            assert!(matches!(other, Restored::OtherBoot { .. }));
            found.restore(&mut machine, family, &cpus, BOOT).expect("all registers take their old values");
            Journal::remove(&journal).expect("it was there");
        } else {
            assert!(served.ended || served.written.is_empty(), "operation {most}: written without a journal");
        }
        check(scene, &mut machine, &served.written, most);
        (served, journalled)
    };
    let (whole, _) = killed_after(usize::MAX);
    assert!(whole.ended && whole.written.len() > 20, "the session did something");
    // Whoever only looks leaves nothing behind: one kill stands for all before the last look.
    let mut restored = 0;
    for most in [1].into_iter().chain((whole.looks..).step_by(step)) {
        let (served, journalled) = killed_after(most);
        restored += usize::from(journalled);
        if served.ended {
            break;
        }
    }
    assert!(restored * step > 30, "killed {restored} times with a journal");
}

/// Old values in place, our counters still, the other's running and never written.
fn check(scene: &Scene, machine: &mut Chassis, written: &[Address], most: usize) {
    let mut read = |address| machine.read(address, width(address)).expect("the register exists");
    let (control, counter) = scene.other;
    for &(address, value) in scene.leftovers.iter().chain([&control]) {
        assert_eq!(read(address), value, "{address} after operation {most}");
    }
    for &(address, value) in scene.enables {
        assert_eq!(read(address) & value, value, "{address} after operation {most}");
    }
    let (controls, enabling) = scene.controls;
    for &address in controls {
        assert!(read(address) & enabling == 0, "{address} after operation {most}");
    }
    for foreign in scene.not_ours.iter().chain([&control.0, &counter]) {
        assert!(!written.contains(foreign), "{foreign} was written before operation {most}");
    }
    let ours = |machine: &mut Chassis| -> Vec<u64> {
        scene.counters.iter().map(|&address| machine.read(address, Width::B8).expect("the register exists")).collect()
    };
    let before = ours(machine);
    let foreign = machine.read(counter, Width::B8).expect("the register exists");
    let later = machine.now() + 1000 * UCLK;
    machine.set_now(later);
    assert_eq!(ours(machine), before, "our counters stand still after operation {most}");
    assert_eq!(machine.read(counter, Width::B8), Ok(foreign + 1000), "the other counter runs on");
    assert!(foreign >= 10, "and ran all the time");
}
