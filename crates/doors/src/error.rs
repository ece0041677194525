//! What can go wrong when a program is run on an emulated machine. The messages are what the user sees.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a program could not be run, or its run does not count.
#[derive(Debug, thiserror::Error)]
pub enum DoorsError {
    /// `/dev/fuse` cannot be opened.
    #[error(
        "cannot open /dev/fuse: {0}; load the module (modprobe fuse), give the container the device (--device /dev/fuse), or run as root"
    )]
    NoFuse(io::Error),
    /// The kernel refuses new namespaces.
    #[error(
        "cannot make a private mount namespace: {0}; run as root, or allow user namespaces \
         (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
    )]
    NoNamespace(io::Error),
    /// A mount failed.
    #[error(
        "cannot {step} in the private namespace: {source}; in a container, it may lack CAP_SYS_ADMIN or forbid mounts"
    )]
    Mount {
        /// What was being done.
        step: String,
        /// Why it failed.
        source: io::Error,
    },
    /// The host's directories cannot be read to prepare the namespace.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// Directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The FUSE connection failed.
    #[error("the FUSE server failed: {0}")]
    Serve(io::Error),
    /// The program is not there or cannot be executed.
    #[error("cannot run {program:?}: {source}; {}", remedy(program))]
    Program {
        /// As given.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// A machine needs a CPU of this host for each socket, because tools bind threads to the CPUs that they read.
    #[error(
        "{sockets} sockets need as many CPUs, and {cpus} of this host may be used; ask for fewer sockets, or widen the CPU set"
    )]
    TooFewCpus {
        /// Sockets asked for.
        sockets: u16,
        /// CPUs that this process may use.
        cpus: usize,
    },
    /// The program did not end in time. It and all its children have been killed.
    #[error("the program was still running after {0:?} and was killed")]
    TimedOut(Duration),
    /// The namespace's first process died without a report.
    #[error("the private namespace ended unexpectedly ({0}); was its first process killed?")]
    Lost(String),
    /// A log cannot be written, or an expectation not read.
    #[error("cannot use {}: {source}", path.display())]
    LogFile {
        /// File.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line of an expectation cannot be understood.
    #[error("{}:{line}: not an access: {text:?}; expected `rdmsr cpu0 0xd16 -> 0x0` or the like", path.display())]
    BadExpectation {
        /// File.
        path: PathBuf,
        /// Line number from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// The accesses differ from what was expected.
    #[error(transparent)]
    Unexpected(#[from] crate::log::Mismatch),
    /// An operating-system call that should not fail did.
    #[error("{call} failed: {source}")]
    System {
        /// Call.
        call: &'static str,
        /// Why.
        source: io::Error,
    },
}

/// Tools that people run here, and the Debian packages that have them.
const PACKAGES: [(&str, &str); 6] = [
    ("rdmsr", "msr-tools"),
    ("wrmsr", "msr-tools"),
    ("setpci", "pciutils"),
    ("lspci", "pciutils"),
    ("likwid", "likwid"),
    ("pcm", "pcm"),
];

/// What to do about a program that cannot be run.
fn remedy(program: &str) -> String {
    let known = |(name, _): &&(&str, &str)| program == *name || program.starts_with(&format!("{name}-"));
    match PACKAGES.iter().find(known) {
        Some((_, package)) => format!("on Debian it is in the package {package} (apt-get install {package})"),
        None => "check the name, or give its full path".to_owned(),
    }
}
