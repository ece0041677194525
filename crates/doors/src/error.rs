//! What can go wrong when a program is run on an emulated machine. The messages are what the user sees.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a program could not be run, or its run does not count.
#[derive(Debug, thiserror::Error)]
pub enum DoorsError {
    /// `/dev/fuse` cannot be opened.
    #[error("cannot open /dev/fuse: {0}; {remedy}", remedy = fuse_remedy(.0))]
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
    #[error("cannot run {program:?}: {source}; {}", program_remedy(program, source))]
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

/// What to do about `/dev/fuse`.
fn fuse_remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "run as root, or with rights to that file; a container may have to be given the device (--device /dev/fuse)"
        }
        _ => "load the module (modprobe fuse), or give the container the device (--device /dev/fuse)",
    }
}

/// What to do about a program that cannot be run: it is not there, may not be run, or is nothing that the system runs.
pub fn program_remedy(program: &str, error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EACCES) => {
            "make it executable (chmod +x), or run it through its interpreter; a folder cannot be run".to_owned()
        }
        Some(libc::ENOEXEC) => {
            "a script begins with a #! line, and a program is one of this processor and system".to_owned()
        }
        Some(libc::ENOENT) if Path::new(program).exists() => {
            "it is there: what its #! line names, or its loader, is not".to_owned()
        }
        Some(libc::ENOENT) => missing_remedy(program),
        _ => "try to run it by itself".to_owned(),
    }
}

/// What to do about a program that is nowhere.
fn missing_remedy(program: &str) -> String {
    let known = |(name, _): &&(&str, &str)| program == *name || program.starts_with(&format!("{name}-"));
    match PACKAGES.iter().find(known) {
        Some((_, package)) => format!("on Debian it is in the package {package} (apt-get install {package})"),
        None => "check the name, or give its full path".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_fit_what_the_system_said() {
        let error = io::Error::from_raw_os_error;
        let here = std::env::current_exe().expect("a program").display().to_string();
        for (program, code, words) in [
            ("no-such-tool", libc::ENOENT, "check the name"),
            ("rdmsr", libc::ENOENT, "msr-tools"),
            (here.as_str(), libc::ENOENT, "#! line"),
            ("./tool", libc::EACCES, "chmod +x"),
            ("./tool", libc::ENOEXEC, "a script begins with"),
            ("./tool", libc::ENOMEM, "by itself"),
        ] {
            let words_said = program_remedy(program, &error(code));
            assert!(words_said.contains(words), "{program}, {code}: {words_said}");
        }
        assert!(DoorsError::NoFuse(error(libc::EACCES)).to_string().contains("; run as root"));
        assert!(DoorsError::NoFuse(error(libc::ENOENT)).to_string().contains("; load the module (modprobe fuse)"));
    }
}
