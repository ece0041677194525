//! What a register read through the door costs, next to a FUSE read that does nothing but return eight bytes, and to a plain system call.
//!
//! Runs itself on a machine, as the tool. `cargo bench -p pericore-doors`.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::time::Instant;
use std::{env, fs};

use pericore_doors::{Command, Idle, LiveMachine, Options, Traffic, run_machine};
use pericore_machine::MachineSpec;
use pericore_machine::steady::Pace;

const READS: u32 = 10_000;
/// Rounds that take turns, so that a busy host disturbs all alike; the fastest of each counts.
const ROUNDS: u32 = 5;
const INSIDE: &str = "PERICORE_BENCH_RESULT";

fn main() -> Result<(), Box<dyn Error>> {
    match env::var_os(INSIDE) {
        Some(result) => measure(&mut File::create(result)?),
        None => run_inside(),
    }
}

/// The same reads on a machine where nothing happens, and under a workload with counters programmed.
fn run_inside() -> Result<(), Box<dyn Error>> {
    let family = pericore_catalog::family("e5-2600").ok_or("the catalogue has e5-2600")?;
    println!("nothing happens:");
    inside(LiveMachine::new(&MachineSpec::of(family))?, Idle)?;
    println!("workload stream:");
    let (machine, steady) = LiveMachine::with_workload(&MachineSpec::of(family), "stream", &Pace::default())?;
    inside(machine, steady.replay())
}

fn inside(machine: LiveMachine, traffic: impl Traffic + 'static) -> Result<(), Box<dyn Error>> {
    let result = tempfile::NamedTempFile::new()?;
    let command = Command {
        program: env::current_exe()?.into(),
        environment: vec![(INSIDE.into(), result.path().into())],
        ..Command::default()
    };
    run_machine(machine, traffic, command, &Options::default())?;
    print!("{}", fs::read_to_string(&result)?);
    Ok(())
}

fn measure(result: &mut File) -> Result<(), Box<dyn Error>> {
    let msr = OpenOptions::new().read(true).write(true).open("/dev/cpu/0/msr")?;
    let channel = OpenOptions::new().read(true).write(true).open("/proc/bus/pci/ff/10.0")?;
    // CBo 0 looks up for data reads in all states, channel 0 reads: two counters each.
    msr.write_all_at(&0x7c_0000u64.to_le_bytes(), 0xd14)?;
    for control in [0xd10, 0xd11] {
        msr.write_all_at(&0x40_0334u64.to_le_bytes(), control)?;
    }
    for control in [0xd8, 0xdc] {
        channel.write_all_at(&0x40_0304u32.to_le_bytes(), control)?;
    }
    // A constant file of the same file system, under direct I/O like the registers.
    let empty = File::open("/dev/cpu/.pericore/clock")?;
    let cases = [
        ("empty FUSE read", &empty, 0, 8),
        ("MSR, counter of a slice", &msr, 0xd16, 8),
        ("MSR of the core", &msr, 0xce, 8),
        ("PCI, counter of a channel", &channel, 0xa0, 8),
        ("PCI, half a counter", &channel, 0xa0, 4),
        ("PCI, control", &channel, 0xf4, 4),
    ];
    let mut best = [f64::INFINITY; 6];
    for _ in 0..ROUNDS {
        for (best, (_, file, offset, bytes)) in best.iter_mut().zip(cases) {
            let mut buffer = [0; 8];
            let start = Instant::now();
            for _ in 0..READS {
                file.read_exact_at(&mut buffer[..bytes], offset)?;
            }
            *best = best.min(start.elapsed().as_secs_f64() / f64::from(READS));
        }
    }
    for (best_of, (name, _, _, bytes)) in best.iter().zip(cases) {
        writeln!(result, "  {name:<26} {bytes} bytes {:6.2} us  {:.2} x empty", best_of * 1e6, best_of / best[0])?;
    }
    Ok(())
}
