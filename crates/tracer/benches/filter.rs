//! Accesses per second: through the filter, beside QEMU without a plugin, with one that does nothing, and valgrind's lackey.
//!
//! `cargo bench -p pericore-tracer --bench filter`

use pericore_tracer::{Options, Source, Tracer};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Loads and stores of a pass of `l1.c`.
const A_PASS: u64 = 2048;
const PASSES: u64 = 400_000;
/// Lackey is slower by two orders of magnitude.
const LACKEY_PASSES: u64 = 4_000;
/// What the issue asks for.
const WANTED: f64 = 60.0;

fn main() {
    // `cargo test --benches` only wants to know that it compiles.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let program = compile("l1.c", &["-O2"]);
    let empty = compile("empty_plugin.c", &["-O2", "-shared", "-fPIC"]);
    let plugin = [OsStr::new("-plugin"), empty.as_os_str()];
    let qemu =
        |options: &[&OsStr]| run(Command::new("qemu-x86_64").args(["-cpu", "max"]).args(options).arg(&program), PASSES);
    show("QEMU without a plugin", qemu(&[]));
    show("QEMU with an empty plugin", qemu(&plugin));
    let rate = traced(&program);
    show("pericore's filter", Some(rate));
    let mut lackey = Command::new("valgrind");
    lackey.args(["--tool=lackey", "--trace-mem=yes", "--log-file=/dev/null"]).arg(&program);
    show("valgrind's lackey", run(&mut lackey, LACKEY_PASSES));
    if rate < WANTED {
        println!("slower than the {WANTED} M/s that are wanted");
        std::process::exit(1);
    }
}

fn compile(source: &str, flags: &[&str]) -> PathBuf {
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(source).with_extension("bench");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches").join(source);
    let status = Command::new("cc").args(flags).arg("-o").arg(&output).arg(source).status();
    assert!(status.is_ok_and(|status| status.success()), "cc does not compile the bench's programs");
    output
}

/// Millions of accesses per second; `None` if the command is not there.
fn run(command: &mut Command, passes: u64) -> Option<f64> {
    let start = Instant::now();
    let status = command.arg(passes.to_string()).stdin(Stdio::null()).status().ok()?;
    assert!(status.success(), "{command:?}: {status}");
    Some((passes * A_PASS) as f64 / start.elapsed().as_secs_f64() / 1e6)
}

fn traced(program: &Path) -> f64 {
    let start = Instant::now();
    let running = Tracer::launch(program.as_os_str(), &[PASSES.to_string().into()], Options::default());
    let mut running = running.unwrap_or_else(|error| panic!("{error}"));
    let mut batch = Vec::new();
    while running.next_batch(&mut batch).unwrap_or_else(|error| panic!("{error}")) {}
    let total = running.summary().total;
    (total.loads + total.stores) as f64 / start.elapsed().as_secs_f64() / 1e6
}

fn show(name: &str, rate: Option<f64>) {
    match rate {
        Some(rate) => println!("{name:28} {rate:8.1} M accesses/s"),
        None => println!("{name:28} not installed"),
    }
}
