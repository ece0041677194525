//! What a register read through the door costs, next to a FUSE read that does nothing but return eight bytes, and to a plain system call.
//!
//! Runs itself on a machine, as the tool. `cargo bench -p pericore-doors`.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::time::Instant;
use std::{env, fs};

use pericore_doors::{Command, Idle, LiveMachine, Options, run_machine};

const READS: u32 = 20_000;
/// Rounds that take turns, so that a busy host disturbs all alike; the fastest of each counts.
const ROUNDS: u32 = 5;
const INSIDE: &str = "PERICORE_BENCH_RESULT";

fn main() -> Result<(), Box<dyn Error>> {
    match env::var_os(INSIDE) {
        Some(result) => measure(&mut File::create(result)?),
        None => run_inside(),
    }
}

fn run_inside() -> Result<(), Box<dyn Error>> {
    let family = pericore_catalog::family("e5-2600").ok_or("the catalogue has e5-2600")?;
    let result = env::temp_dir().join(format!("pericore-bench-{}", std::process::id()));
    let command = Command {
        program: env::current_exe()?.into(),
        environment: vec![(INSIDE.into(), result.clone().into())],
        ..Command::default()
    };
    let finished = run_machine(LiveMachine::new(family, 1)?, Idle, command, &Options::default());
    let text = fs::read_to_string(&result);
    let _ = fs::remove_file(&result);
    finished?;
    print!("{}", text?);
    Ok(())
}

fn measure(result: &mut File) -> Result<(), Box<dyn Error>> {
    // A constant file of the same file system, under direct I/O like the registers.
    let empty = File::open("/dev/cpu/.pericore/clock")?;
    let cases = [
        ("empty FUSE read", &empty, 0),
        ("MSR read, uncore counter", &File::open("/dev/cpu/0/msr")?, 0xd16),
        ("MSR read, not uncore", &File::open("/dev/cpu/0/msr")?, 0xce),
        ("PCI read of 8 bytes", &File::open("/proc/bus/pci/ff/10.0")?, 0xa0),
        ("PCI read of 4 bytes", &File::open("/proc/bus/pci/ff/10.0")?, 0xf4),
    ];
    let mut best = [f64::INFINITY; 5];
    for _ in 0..ROUNDS {
        for (best, (name, file, offset)) in best.iter_mut().zip(cases) {
            let mut buffer = [0; 8];
            let bytes = if name.ends_with("4 bytes") { 4 } else { 8 };
            let start = Instant::now();
            for _ in 0..READS {
                file.read_exact_at(&mut buffer[..bytes], offset)?;
            }
            *best = best.min(start.elapsed().as_secs_f64() / f64::from(READS));
        }
    }
    for (best_of, (name, ..)) in best.iter().zip(cases) {
        writeln!(result, "{name:<26} {:6.2} us  {:.2} x empty", best_of * 1e6, best_of / best[0])?;
    }
    Ok(())
}
