//! Traces a program and prints what came of it: `cargo run --release -p pericore-tracer --example accesses -- sort words.txt`.

use pericore_tracer::{Error, Kind, Options, Source, Tracer};
use std::os::unix::process::ExitStatusExt;
use std::time::Instant;

fn main() {
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next() else {
        eprintln!("give a program and its arguments");
        std::process::exit(2);
    };
    match trace(&program, &words.collect::<Vec<_>>()) {
        Ok(status) => std::process::exit(status),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(127);
        }
    }
}

fn trace(program: &std::ffi::OsStr, arguments: &[std::ffi::OsString]) -> Result<i32, Error> {
    let start = Instant::now();
    let mut running = Tracer::launch(program, arguments, Options::default())?;
    let mut kinds = [0_u64; Kind::ALL.len()];
    let mut batch = Vec::new();
    while running.next_batch(&mut batch)? {
        for access in &batch {
            kinds[access.kind as usize] += 1;
        }
    }
    let threads = running.threads().to_vec();
    let finished = running.finish()?;
    for thread in &threads {
        eprintln!("{} {} (process {}): {:?}", thread.pid, thread.program, thread.process, thread.counts);
    }
    for (kind, count) in Kind::ALL.iter().zip(kinds) {
        eprintln!("{kind:?}: {count}");
    }
    let total = finished.summary.total;
    let rate = (total.loads + total.stores) as f64 / start.elapsed().as_secs_f64() / 1e6;
    eprintln!("{} loads, {} stores: {rate:.1} M accesses/s", total.loads, total.stores);
    for note in &finished.summary.notes {
        eprintln!("{note}");
    }
    if let Some(cause) = finished.cause() {
        eprintln!("{cause}");
    }
    Ok(finished.status.code().unwrap_or_else(|| 128 + finished.status.signal().unwrap_or(0)))
}
