//! Journals, whose lines are anything and whose checksum fits: an error in words, or a journal that is the same when
//! written and read again, and that has nothing written but what is permitted.

use std::sync::LazyLock;

use pericore_machine::MachineSpec;
use pericore_machine::chassis::Chassis;
use pericore_observe::discover::{Cpu, discover};
use pericore_observe::permits::Permits;
use pericore_observe::session::Journal;
use pericore_registers::{Address, Operation, Outcome, RegisterSpace, Width};

const BOOT: &str = "b";

fn machine() -> Chassis {
    MachineSpec::parse("e5-2600").expect("a machine").chassis().expect("a machine")
}

fn cpus(machine: &Chassis) -> Vec<Cpu> {
    (0..machine.shape().cpus()).map(|number| Cpu { number, package: 0 }).collect()
}

static PERMITS: LazyLock<Permits> = LazyLock::new(|| {
    let mut machine = machine();
    let (family, cpus) = (machine.shape().family, cpus(&machine));
    let topology = discover(&mut machine, family, &cpus, |_| true).expect("the uncore is found");
    let mut permits = Permits::new(&cpus);
    permits.add(&topology);
    permits
});

/// A machine on which nothing may be written but what is permitted.
struct Guarded(Chassis);

impl RegisterSpace for Guarded {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.0.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        let operation = Operation::Write { address, width, value };
        assert_eq!(PERMITS.check(operation), Ok(()), "{operation:?}");
        self.0.write(address, width, value)
    }
}

/// Any bytes.
pub fn run(data: &[u8]) {
    let text = crate::text(data);
    for text in [text.to_owned(), completed(text)] {
        let journal = match Journal::parse(&text) {
            Ok(journal) => journal,
            Err(error) => {
                assert!(!error.to_string().contains(char::is_control), "{error:?} would upset a terminal");
                continue;
            }
        };
        assert_eq!(Journal::parse(&journal.to_text()).as_ref(), Ok(&journal));
        let mut machine = Guarded(machine());
        let (family, cpus) = (machine.0.shape().family, cpus(&machine.0));
        // What is refused is refused before the first write.
        let _ = journal.restore(&mut machine, family, &cpus, BOOT);
    }
}

/// The lines with a checksum that fits: FNV-1a of 64 bits, whose parameters are its authors'.
fn completed(lines: &str) -> String {
    let mut text = format!("pericore journal 2\npid 1\nstarted 1\nboot {BOOT}\nmachine m\n{lines}");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let sum = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    text + &format!("checksum {sum:#018x}\n")
}
