//! What can go wrong, as the user reads it.

use crate::{Geometry, TraceError};
use std::path::PathBuf;
use std::process::ExitStatus;

/// A program that cannot be traced, or a trace that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No QEMU.
    #[error("{name} is not in the PATH: install QEMU's user-mode emulator (Debian 12: apt install qemu-user)")]
    QemuMissing {
        /// What was looked for.
        name: String,
    },
    /// A QEMU that does not start or knows no plugins.
    #[error(
        "{} cannot load plugins ({reason}): the package qemu-user of Debian 12 can, that of Debian 13 \
         cannot; or build QEMU with --enable-plugins",
        .qemu.display()
    )]
    QemuWithoutPlugins {
        /// The QEMU.
        qemu: PathBuf,
        /// What it did.
        reason: String,
    },
    /// No such program.
    #[error("{}: there is no such program in the PATH", .program.display())]
    NotInPath {
        /// As given.
        program: PathBuf,
    },
    /// A path that cannot be opened.
    #[error("{}: {source}", .program.display())]
    Unreadable {
        /// As given.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A directory or device.
    #[error("{} is not a file that can be run", .program.display())]
    NotAFile {
        /// As given.
        program: PathBuf,
    },
    /// No execute permission.
    #[error("{} has no execute permission: chmod +x it, or run it through its interpreter", .program.display())]
    NotExecutable {
        /// As given.
        program: PathBuf,
    },
    /// Another processor's program.
    #[error("{} is not for x86-64, and only such programs can be traced", .program.display())]
    Foreign {
        /// As given.
        program: PathBuf,
    },
    /// A program with more rights than its caller.
    #[error("{} is set-user-ID or set-group-ID and would lose that under QEMU: run as its owner to trace it", .program.display())]
    Privileged {
        /// As given.
        program: PathBuf,
    },
    /// Not a program.
    #[error("{} is neither an ELF program nor a script that begins with #! and an interpreter", .program.display())]
    UnknownFormat {
        /// As given.
        program: PathBuf,
    },
    /// A name that cannot be passed on.
    #[error("{name:?} contains a null byte and cannot be an argument")]
    NullByte {
        /// The name or argument.
        name: String,
    },
    /// A cache that is none.
    #[error(
        "a first-level cache of {} bytes in {} ways is not possible: sets (bytes / 64 / ways) must be a power of 2, and bytes at most 262144",
        .0.bytes, .0.ways
    )]
    Geometry(Geometry),
    /// The shared memory could not be made.
    #[error("cannot make the memory shared with QEMU ({what}): {source}")]
    Memory {
        /// The step.
        what: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// QEMU did not start.
    #[error("cannot start {}: {source}", .qemu.display())]
    Start {
        /// The QEMU.
        qemu: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// QEMU ended before the plugin reported.
    #[error(
        "QEMU ended ({status}) before the program ran; its message is above. If it could not open /proc/…/fd/…, run without file capabilities and with /proc mounted"
    )]
    NeverBegan {
        /// How it ended.
        status: ExitStatus,
    },
    /// The child was waited for by someone else.
    #[error("the traced program's exit status is lost: {source}")]
    StatusLost {
        /// Why.
        source: std::io::Error,
    },
    /// What came through the ring is no record.
    #[error(
        "thread {thread} passed on a damaged record ({word:#018x}): the traced program has overwritten QEMU's own memory"
    )]
    DamagedRecord {
        /// The thread.
        thread: u32,
        /// The record's first word.
        word: u64,
    },
    /// A trace file.
    #[error(transparent)]
    Trace(#[from] TraceError),
}
