//! Compiles the test programs and runs them under the tracer.
#![allow(dead_code, reason = "each test file uses a part")]

use pericore_tracer::{Access, Finished, Kind, Options, Source, Thread, Tracer};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use tempfile::NamedTempFile;

/// Where the programs put what counts.
pub const BASE: u64 = 0x2000_0000_0000;

static PATTERN: LazyLock<PathBuf> = LazyLock::new(|| compile("pattern", "pattern.c", &["-pthread"]));
static STATIC_PATTERN: LazyLock<PathBuf> =
    LazyLock::new(|| compile("pattern-static", "pattern.c", &["-pthread", "-static"]));
static CHAIN: LazyLock<PathBuf> = LazyLock::new(|| compile("chain", "chain.c", &[]));

/// A program that stays among the build's files. Whoever runs the last one meanwhile keeps it.
fn compile(name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs").join(source);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let draft = NamedTempFile::new_in(folder).expect("a file").into_temp_path();
    let status = Command::new("cc").args(["-O2", "-o"]).arg(&draft).arg(source).args(flags).status().expect("cc runs");
    assert!(status.success(), "cc: {status}");
    let program = folder.join(name);
    draft.persist(&program).expect("it gets its name");
    program
}

pub fn pattern() -> &'static Path {
    &PATTERN
}

pub fn chain() -> &'static Path {
    &CHAIN
}

pub fn static_pattern() -> &'static Path {
    &STATIC_PATTERN
}

/// What a traced program did at [`BASE`].
pub struct Traced {
    pub accesses: Vec<Access>,
    pub threads: Vec<Thread>,
    pub finished: Finished,
}

impl Traced {
    /// Accesses of a kind at [`BASE`].
    pub fn of(&self, kind: Kind) -> usize {
        self.accesses.iter().filter(|access| access.kind == kind).count()
    }

    /// Loads, stores, upgrades, write-backs and non-temporal stores at [`BASE`].
    pub fn counts(&self) -> [usize; 5] {
        [Kind::Load, Kind::Store, Kind::Upgrade, Kind::WriteBack, Kind::NonTemporal].map(|kind| self.of(kind))
    }
}

pub fn words(arguments: &[&str]) -> Vec<OsString> {
    arguments.iter().map(OsString::from).collect()
}

/// Reads a source to its end and keeps what happens at [`BASE`].
pub fn at_base(source: &mut impl Source) -> Vec<Access> {
    let (mut batch, mut kept) = (Vec::new(), Vec::new());
    while source.next_batch(&mut batch).expect("accesses") {
        assert!(!batch.is_empty());
        kept.extend(batch.iter().filter(|access| (BASE..BASE + (1 << 43)).contains(&access.address)));
    }
    kept
}

/// Traces a program.
pub fn trace_program(program: &Path, arguments: &[&str], options: Options) -> Traced {
    let mut running = Tracer::launch(program.as_os_str(), &words(arguments), options).expect("starts");
    let accesses = at_base(&mut running);
    Traced { accesses, threads: running.threads().to_vec(), finished: running.finish().expect("ends") }
}

/// Traces the pattern program and expects it to end well.
pub fn trace(arguments: &[&str]) -> Traced {
    let traced = trace_program(pattern(), arguments, Options::default());
    assert!(traced.finished.status.success(), "{:?}", traced.finished);
    assert_eq!(traced.finished.summary.notes, []);
    traced
}

/// Options with standard output to a file, and the file.
pub fn captured() -> (Options, NamedTempFile) {
    let file = NamedTempFile::new().expect("a file");
    let mut options = Options::default();
    options.streams[1] = Some(file.reopen().expect("a descriptor").into());
    (options, file)
}

pub fn contents(file: &NamedTempFile) -> String {
    std::fs::read_to_string(file).expect("text")
}
