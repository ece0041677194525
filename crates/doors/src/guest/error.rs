//! What can go wrong with a guest. The messages are what the user sees.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use super::gdb::GdbError;
use super::proxy::ProxyError;

/// Why a guest could not be booted, or its run does not count.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// QEMU is not installed.
    #[error(
        "cannot start {program}: {source}; install it (apt-get install --no-install-recommends qemu-system-x86), version 7.2"
    )]
    NoQemu {
        /// As called.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// QEMU ended before the guest did.
    #[error("QEMU ended ({status}) before the guest's command did; it said: {messages}")]
    QemuDied {
        /// How.
        status: ExitStatus,
        /// Its standard error, and the last of the kernel's log.
        messages: String,
    },
    /// No end in time. QEMU has been killed.
    #[error(
        "the guest was still busy after {limit:?} ({stage}) and was ended; allow more with --timeout. Its last messages: {messages}"
    )]
    TimedOut {
        /// The limit.
        limit: Duration,
        /// How far it came.
        stage: &'static str,
        /// The last of the kernel's log.
        messages: String,
    },
    /// The guest went down without its command's status.
    #[error("the guest went down before its command ended; the last of its kernel's log: {messages}")]
    GuestDied {
        /// The last of the kernel's log.
        messages: String,
    },
    /// The prepared kernel lacks functions.
    #[error("the guest's kernel has no symbol {}: prepare a stock Debian 6.1 kernel (remove {} to start over)", missing.join(", "), directory.display())]
    NoSymbols {
        /// Names.
        missing: Vec<String>,
        /// Prepared directory.
        directory: PathBuf,
    },
    /// The preparation failed.
    #[error("cannot prepare the guest in {}: {messages}", directory.display())]
    Prepare {
        /// Where.
        directory: PathBuf,
        /// What the script said.
        messages: String,
    },
    /// A prepared file changed or is cut.
    #[error("prepared guest files in {} are damaged ({messages}): remove the directory, and run again to prepare it anew", directory.display())]
    Damaged {
        /// Where.
        directory: PathBuf,
        /// What the check said.
        messages: String,
    },
    /// A file of the cache cannot be used.
    #[error("cannot use {}: {source}; check space and permissions, or set XDG_CACHE_HOME", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No directory for the cache.
    #[error("neither XDG_CACHE_HOME nor HOME is set: set one, so that the prepared kernel has a place")]
    NoCache,
    /// A program of the host that should go into the guest.
    #[error("cannot bring {} into the guest: {source}", program.display())]
    Program {
        /// Which.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The machine has more memory windows than a PCI function has BARs.
    #[error("{0} memory windows do not fit into six BARs: use fewer sockets")]
    Windows(usize),
    /// The gdb connection.
    #[error(transparent)]
    Gdb(#[from] GdbError),
    /// The proxy connection.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// The guest's own account of itself cannot be understood.
    #[error("the guest said {0:?} where its state was expected; did the command write to /dev/ttyS3?")]
    Talk(String),
    /// The operating system failed.
    #[error("{call} failed: {source}")]
    System {
        /// Call.
        call: &'static str,
        /// Why.
        source: io::Error,
    },
}
