//! A session killed with SIGKILL after each register operation in turn, and `restore` after it: our controls and filters hold their old
//! values, our counters stand still, foreign registers were never written.
//!
//! The registers live in this process; the session runs in a child, which reaches them through a socket. Addresses and values stand
//! here by hand (327043-001, Tables 2-8 to 2-12, 2-58 to 2-62).

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

/// Ticks of a uclk and of a dclk.
const UCLK: u64 = 8;
const DCLK: u64 = 27;

fn machine() -> Chassis {
    let family = pericore_catalog::family("e5-2600").expect("the family is in the catalogue");
    let shape = Shape::new(family, 1, 8, 2).expect("one socket");
    Chassis::new(shape, Wiring::new(family, 1), |clock| if clock == "dclk" { DCLK } else { UCLK })
}

const fn msr(msr: u32) -> Address {
    Address::Msr { cpu: 0, msr }
}

const fn channel_0(offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(0xff, 16, 0), offset }
}

/// CBo 0: leftovers of some tool in control 0 and the filter. CBo 1: a foreign clock counter (0x400000) on counter 3. Channel 0: a
/// leftover in control 0.
fn furnish(machine: &mut Chassis) {
    for (address, width, value) in [
        (msr(0xd10), Width::B8, 0x0000_0334),
        (msr(0xd14), Width::B8, 0x007c_0000),
        (msr(0xd33), Width::B8, 0x0040_0000),
        (channel_0(0xd8), Width::B4, 0x0000_0304),
    ] {
        machine.write(address, width, value).expect("the register exists");
    }
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
            Address::Mmio { .. } => return Err(AccessError::Unreachable { address }),
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
    let mut space = Remote { stream: BufReader::new(UnixStream::connect(path).expect("the machine listens")) };
    let family = pericore_catalog::family("e5-2600").expect("the family is in the catalogue");
    let cpus: Vec<Cpu> = (0..16).map(|number| Cpu { number, package: 0 }).collect();
    let topology = discover(&mut space, family, &cpus, |unit| matches!(unit.name, "cbo" | "imc")).expect("found");
    let mut selection = Selection::new(family);
    let events = "cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/,cbo1/CLOCKTICKS/,imc0/CAS_COUNT.RD/";
    selection.add_events(events).expect("the events exist");
    let mut occupied = Occupied::default();
    occupied.note(0, family.unit("cbo").expect("a unit"), 1, Some(3));
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

/// Serves the child's operations; kills it once so many are carried out. Returns the addresses written, and true if the child came to its
/// end by itself.
fn serve(machine: &mut Chassis, listener: &UnixListener, child: &mut Child, most: usize) -> (Vec<Address>, bool) {
    let (stream, _) = listener.accept().expect("the child connects");
    let mut stream = BufReader::new(stream);
    let mut written = Vec::new();
    for done in 0.. {
        if done == most {
            child.kill().expect("SIGKILL");
            break;
        }
        let mut line = String::new();
        if stream.read_line(&mut line).expect("the socket works") == 0 {
            return (written, child.wait().expect("the child ends").success());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let [verb, space, place, offset, width, value] = words[..] else { panic!("{line}") };
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let address = if space == "m" {
            Address::Msr { cpu: number(place) as u32, msr: number(offset) as u32 }
        } else {
            let function = number(place);
            let bdf = Bdf::new((function >> 8) as u8, (function >> 3 & 31) as u8, (function & 7) as u8);
            Address::Pci { bdf, offset: number(offset) as u16 }
        };
        let width = [Width::B1, Width::B2, Width::B4, Width::B8]
            .into_iter()
            .find(|known| u64::from(known.bytes()) == number(width))
            .expect("a width");
        machine.set_now(machine.now() + 10 * UCLK);
        let answer = if verb == "w" {
            written.push(address);
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
    (written, false)
}

fn spawn(socket: &Path, journal: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "the_child", "--ignored", "--quiet", "--test-threads=1"])
        .env(SOCKET, socket)
        .env(JOURNAL, journal)
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("the child starts")
}

#[test]
fn killed_after_each_operation_and_restored() {
    let directory = std::env::temp_dir().join(format!("pericore-kill-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let (socket, journal) = (directory.join("registers"), directory.join("journal"));
    let mut restored = 0;
    for most in 1.. {
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).expect("a socket");
        let mut machine = machine();
        furnish(&mut machine);
        let mut child = spawn(&socket, &journal);
        let (written, ended) = serve(&mut machine, &listener, &mut child, most);
        if journal.exists() {
            let found = Journal::read(&journal).expect("a journal is whole or not there");
            let stranger = found.restore(&mut machine, "another boot").expect("looks only");
            assert!(matches!(stranger, Restored::OtherBoot { .. }));
            found.restore(&mut machine, BOOT).expect("all registers take their old values");
            Journal::remove(&journal).expect("it was there");
            restored += 1;
        } else {
            assert!(ended || written.is_empty(), "operation {most}: written without a journal");
        }
        check(&mut machine, &written, most);
        if ended {
            assert!(written.len() > 20, "the session did something");
            break;
        }
    }
    assert!(restored > 30, "killed {restored} times with a journal");
    std::fs::remove_dir_all(directory).expect("cleaned up");
}

/// Old values in place, our counters still, the foreign ones running and never written.
fn check(machine: &mut Chassis, written: &[Address], most: usize) {
    let mut read = |address, width| machine.read(address, width).expect("the register exists");
    assert_eq!(read(msr(0xd10), Width::B8), 0x0000_0334, "after operation {most}");
    assert_eq!(read(msr(0xd14), Width::B8), 0x007c_0000, "after operation {most}");
    for control in [0xd11, 0xd12, 0xd13, 0xd30, 0xd31, 0xd32] {
        assert_eq!(read(msr(control), Width::B8) & 0x0040_0000, 0, "{control:#x} after operation {most}");
    }
    assert_eq!(read(msr(0xd33), Width::B8), 0x0040_0000, "the foreign control");
    assert_eq!(read(channel_0(0xd8), Width::B4), 0x0000_0304, "after operation {most}");
    // The foreign control, its counter, and its unit's freeze and reset; then what no event of ours needs.
    for foreign in [0xd33, 0xd39, 0xd34, 0xd24, 0xd54] {
        assert!(!written.contains(&msr(foreign)), "{foreign:#x} was written before operation {most}");
    }
    let ours = |machine: &mut Chassis| {
        let slices = (0xd16..=0xd19).chain(0xd36..=0xd38).map(msr).collect::<Vec<_>>();
        let counts: Vec<u64> = slices.into_iter().map(|address| machine.read(address, Width::B8).unwrap()).collect();
        (counts, machine.read(channel_0(0xa0), Width::B8).unwrap())
    };
    let before = ours(machine);
    let foreign = machine.read(msr(0xd39), Width::B8).unwrap();
    let later = machine.now() + 1000 * UCLK;
    machine.set_now(later);
    assert_eq!(ours(machine), before, "our counters stand still after operation {most}");
    assert_eq!(machine.read(msr(0xd39), Width::B8).unwrap(), foreign + 1000, "the foreign counter runs on");
    assert!(foreign >= 10, "and ran all the time");
}
