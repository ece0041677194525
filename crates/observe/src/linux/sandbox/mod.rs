//! What a thread can still do: Landlock for files and sockets, seccomp for system calls. Both belong to a thread and
//! those that it starts; both can only become narrower.
//!
//! - [`ThreadPart::Registers`] opens the files of registers, the folders of journals, and to read /proc and topology.
//!   Of system calls it has a list of what is allowed: no ioctl, no socket, no program.
//! - [`ThreadPart::Measuring`] writes in folders that it was given, and reads /proc, topology, time zones and what
//!   names are resolved with. Of system calls it has all but a list of what measuring never does, and ioctl of
//!   terminals and counters only.
//! - [`ThreadPart::Serving`] opens no file, and no TCP port to listen at or connect to. Of system calls it has a list
//!   of what is allowed: no open, no ioctl, no program.
//!
//! What is refused fails with EPERM or EACCES and ends nothing: registers can be put back.

mod files;
mod part;
mod system_calls;
#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;

pub use part::ThreadPart;
use rustix::thread::set_no_new_privs;

/// What of the confinement is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missing(Vec<&'static str>);

impl Missing {
    /// True if everything is in force.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// For the user, once.
    pub fn words(&self) -> String {
        format!(
            "this kernel does not confine threads by {}: rights and processes are given up all the same; for more, \
             a kernel from 5.13 on with CONFIG_SECCOMP_FILTER, CONFIG_SECURITY_LANDLOCK and landlock in lsm=",
            self.0.join(" and ")
        )
    }
}

/// Confines this thread, and those that it starts from now on, to its part. It may write in these folders.
///
/// # Errors
/// The system's, where a kernel that can confine refuses. What it cannot is no error.
pub fn confine(part: ThreadPart, folders: &[PathBuf]) -> io::Result<Missing> {
    know_the_processor();
    set_no_new_privs(true)?;
    let mut missing = Missing::default();
    if !files::confine(part, folders)? {
        missing.0.push("Landlock");
    }
    // Last: it also forbids what the others take.
    if !system_calls::confine(part)? {
        missing.0.push("seccomp");
    }
    Ok(missing)
}

/// Has the standard library ask for the processor's features now, and never again: where a program stands in for the
/// processor, CPUID is a read of a file, which the confined thread may not open.
fn know_the_processor() {
    #[cfg(target_arch = "x86_64")]
    {
        let _ = std::arch::is_x86_feature_detected!("avx2");
    }
}
