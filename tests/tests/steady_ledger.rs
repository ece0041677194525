//! A workload in real time, without the tools: raw control values at raw addresses, written and read at any tick. Every count is the
//! ledger's for the very same ticks, from less than a cycle to seconds.

use pericore_doors::{LiveMachine, endless};
use pericore_machine::chassis::Chassis;
use pericore_machine::ledger::Question;
use pericore_machine::signal::Tick;
use pericore_machine::steady::{Pace, Replay, Steady};
use pericore_machine::{MachineSpec, Snapshot, Window};
use pericore_registers::{Address, Bdf, Operation, RegisterSpace, Width};

/// Where an instance's registers are: control and counter 0, and what lies between two of them.
#[derive(Debug, Clone, Copy)]
enum Block {
    /// Function of device 16: the memory channels; 14.1: the home agent.
    Pci(u8, u8),
    /// Base of the slice's MSRs.
    Msr(u32),
}

impl Block {
    fn control(self, counter: u8) -> (Address, Width) {
        match self {
            Self::Pci(device, function) => (pci(device, function, 0xd8 + 4 * u16::from(counter)), Width::B4),
            Self::Msr(base) => (Address::Msr { cpu: 0, msr: base + 0x10 + u32::from(counter) }, Width::B8),
        }
    }

    fn counter(self, counter: u8) -> (Address, Width) {
        match self {
            Self::Pci(device, function) => (pci(device, function, 0xa0 + 8 * u16::from(counter)), Width::B8),
            Self::Msr(base) => (Address::Msr { cpu: 0, msr: base + 0x16 + u32::from(counter) }, Width::B8),
        }
    }
}

const fn pci(device: u8, function: u8, offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(0xff, device, function), offset }
}

/// Block, counter, event select and umask (the guide's tables in 2.3.7, 2.4.7, 2.5.8); unit, instance, event, subevent for the ledger.
type Row = (Block, u8, u64, (&'static str, u16, &'static str, &'static str));

const ROWS: &[Row] = &[
    (Block::Pci(16, 0), 0, 0x0304, ("imc", 0, "CAS_COUNT", "RD")),
    (Block::Pci(16, 0), 1, 0x0c04, ("imc", 0, "CAS_COUNT", "WR")),
    (Block::Pci(16, 0), 2, 0x0001, ("imc", 0, "ACT_COUNT", "")),
    (Block::Pci(16, 0), 3, 0x0102, ("imc", 0, "PRE_COUNT", "PAGE_MISS")),
    (Block::Pci(16, 1), 0, 0x0010, ("imc", 1, "RPQ_INSERTS", "")),
    (Block::Pci(16, 1), 1, 0x0080, ("imc", 1, "RPQ_OCCUPANCY", "")),
    (Block::Pci(16, 1), 2, 0x0011, ("imc", 1, "RPQ_CYCLES_NE", "")),
    (Block::Pci(16, 1), 3, 0x0000, ("imc", 1, "CLOCKTICKS", "")),
    (Block::Pci(16, 4), 0, 0x0020, ("imc", 2, "WPQ_INSERTS", "")),
    (Block::Pci(16, 4), 1, 0x0081, ("imc", 2, "WPQ_OCCUPANCY", "")),
    (Block::Pci(16, 4), 2, 0x0021, ("imc", 2, "WPQ_CYCLES_NE", "")),
    (Block::Pci(14, 1), 0, 0x0301, ("ha", 0, "REQUESTS", "READS")),
    (Block::Pci(14, 1), 1, 0x0c01, ("ha", 0, "REQUESTS", "WRITES")),
    (Block::Pci(14, 1), 2, 0x0000, ("ha", 0, "CLOCKTICKS", "")),
    (Block::Msr(0xd00), 0, 0x0a36, ("cbo", 0, "TOR_OCCUPANCY", "MISS_ALL")),
    (Block::Msr(0xd00), 1, 0x0a35, ("cbo", 0, "TOR_INSERTS", "MISS_ALL")),
    (Block::Msr(0xd20), 0, 0x0111, ("cbo", 1, "RxR_OCCUPANCY", "IRQ")),
    (Block::Msr(0xd20), 1, 0x0113, ("cbo", 1, "RxR_INSERTS", "IRQ")),
    (Block::Msr(0xde0), 1, 0x0137, ("cbo", 7, "LLC_VICTIMS", "M_STATE")),
];

/// Pseudo-random numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % limit
    }
}

struct Live {
    chassis: Chassis,
    replay: Replay,
    now: Tick,
}

impl Live {
    fn write(&mut self, (address, width): (Address, Width), value: u64) {
        let operation = Operation::Write { address, width, value };
        self.replay.advance(&mut self.chassis, &operation, self.now);
        self.chassis.set_now(self.now);
        self.chassis.write(address, width, value).expect("the register is there");
    }

    fn read(&mut self, (address, width): (Address, Width)) -> u64 {
        self.replay.advance(&mut self.chassis, &Operation::Read { address, width }, self.now);
        self.chassis.set_now(self.now);
        self.chassis.read(address, width).expect("the register is there")
    }
}

#[test]
fn every_count_is_the_ledgers_at_any_tick() {
    const WORKLOAD: &str = "mixed:read=60,stride=64k,footprint=1G";
    let spec = MachineSpec::parse("e5-2600").expect("a machine");
    let pace = Pace { warm_up: None, window: 50, cells: 256 };
    let (machine, steady) = LiveMachine::with_workload(&spec, WORKLOAD, &pace).expect("a workload");
    let second = machine.ticks_per_second();
    let mut random = Random(5);
    let mut live = Live { chassis: machine.into_chassis(), replay: steady.replay(), now: 0 };
    // Counters start and are read in a random order, at ticks that no clock knows of.
    let mut running: Vec<(usize, Tick)> = Vec::new();
    let mut counts: Vec<(usize, Tick, Tick, u64)> = Vec::new();
    for _ in 0..150 {
        live.now += match random.below(4) {
            0 => random.below(50),
            1 => random.below(steady.window() / 10),
            2 => random.below(steady.window() * 5),
            _ => random.below(second / 4),
        };
        let row = random.below(ROWS.len() as u64) as usize;
        let (block, counter, select, _) = ROWS[row];
        match running.iter().position(|&(other, _)| other == row) {
            None => {
                live.write(block.counter(counter), 0);
                live.write(block.control(counter), 0x40_0000 | select);
                running.push((row, live.now));
            }
            Some(at) => {
                counts.push((row, running[at].1, live.now, live.read(block.counter(counter))));
                if random.below(2) == 0 {
                    live.write(block.control(counter), 0);
                    running.remove(at);
                }
            }
        }
    }
    let times = counts.iter().flat_map(|&(_, from, to, _)| [from, to]);
    let account = steady.account(&mut endless(&spec, WORKLOAD).expect("the same machine"), times);
    for &(row, from, to, count) in &counts {
        let (unit, instance, event, subevent) = ROWS[row].3;
        let subevent = Some(subevent).filter(|name| !name.is_empty());
        let truth = account.between(from, to, |a, b| {
            Window::between(a, b).count(0, instance, Question::new(unit, event).subevent(subevent))
        });
        assert_eq!(Some(count), truth, "{unit}{instance}/{event}.{subevent:?} from {from} to {to}");
    }
    let moved = counts.iter().filter(|count| count.3 > 1000).count();
    assert!(counts.len() > 40 && moved > 30, "{} counts, {moved} moved", counts.len());
}

/// The workload's rates are those of a long run: the window is no special stretch of time.
#[test]
fn the_window_is_like_what_comes_after() {
    let spec = MachineSpec::parse("e5-2600").expect("a machine");
    for workload in ["random:read=70", "copy:stride=64k,footprint=1G"] {
        let mut machine = endless(&spec, workload).expect("a workload");
        let pace = Pace::default();
        let grid = machine.chassis().clock_grid();
        let steady = Steady::measure(&mut machine, grid, &pace);
        let begin = machine.snapshot();
        // Five times as long as the window, which has just been recorded.
        machine.run_for(5 * steady.window());
        let later = machine.snapshot();
        let account = steady.account(&mut endless(&spec, workload).expect("the same"), [0, steady.window()]);
        for subevent in ["RD", "WR"] {
            let lines = |a: &Snapshot, b: &Snapshot| -> Option<u64> {
                (0..4)
                    .map(|channel| {
                        Window::between(a, b).count(0, channel, Question::new("imc", "CAS_COUNT").subevent(subevent))
                    })
                    .sum()
            };
            let window = account.between(0, steady.window(), lines).expect("known") as f64;
            let mean = lines(&begin, &later).expect("known") as f64 / 5.0;
            assert!((window - mean).abs() <= mean * 0.05 + 100.0, "{workload} {subevent}: {window} lines, {mean} on");
        }
    }
}
