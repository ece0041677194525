//! The traced program's process: one thread starts it and waits for it.
//!
//! It has to be one thread: the kernel kills a child that asks for it when the *thread* that started it ends.

use crate::layout::Shared;
use crate::memory::{self, SharedMemory};
use crate::signals;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, OnceLock, mpsc};
use std::thread::JoinHandle;

/// A started program.
pub struct Child {
    pid: i32,
    ended: Arc<OnceLock<io::Result<ExitStatus>>>,
    waiter: Option<JoinHandle<()>>,
}

impl Child {
    /// Starts a program. When it ends, nobody waits any more for the reader of `memory`, and the reader is woken.
    pub fn start(mut command: Command, memory: &Arc<SharedMemory>) -> io::Result<Self> {
        let tracer = std::process::id() as i32;
        // SAFETY: between fork and exec, only async-signal-safe functions are called.
        unsafe { command.pre_exec(move || die_with(tracer)) };
        let (sender, started) = mpsc::channel();
        let ended = Arc::new(OnceLock::new());
        let (result, memory) = (Arc::clone(&ended), Arc::clone(memory));
        let waiter =
            std::thread::Builder::new().name("pericore-wait".to_owned()).spawn(move || match command.spawn() {
                Err(error) => drop(sender.send(Err(error))),
                Ok(mut child) => {
                    let pid = child.id() as i32;
                    drop(sender.send(Ok(pid)));
                    wait_for_end(pid);
                    signals::stop(pid);
                    let _ = result.set(child.wait());
                    wake_reader(memory.shared());
                }
            })?;
        let pid = started.recv().map_err(io::Error::other)??;
        Ok(Self { pid, ended, waiter: Some(waiter) })
    }

    pub const fn pid(&self) -> i32 {
        self.pid
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<&io::Result<ExitStatus>> {
        self.ended.get()
    }

    /// Kills it, if it has not ended.
    pub fn kill(&mut self) {
        if let Some(waiter) = self.waiter.take() {
            if self.ended.get().is_none() {
                // SAFETY: it may end at any time, but its number is not given to another before the waiter has reaped it; the waiter
                // does so at once, so that the gap is as small as a race on process numbers can be made.
                unsafe { libc::kill(self.pid, libc::SIGKILL) };
            }
            // A waiter that panicked has nothing left to do.
            let _ = waiter.join();
        }
    }
}

fn die_with(tracer: i32) -> io::Result<()> {
    // SAFETY: async-signal-safe, changes nothing but the calling process.
    let result = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: async-signal-safe. If the tracer has died before the call above, nobody will send the signal.
    if unsafe { libc::getppid() } != tracer {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Waits until a child has ended, and leaves it to be reaped.
fn wait_for_end(pid: i32) {
    loop {
        // SAFETY: an all-zero siginfo is valid.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: `info` is valid for writing.
        let result =
            unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, &raw mut info, libc::WEXITED | libc::WNOWAIT) };
        if result == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
            return;
        }
    }
}

fn wake_reader(shared: Shared) {
    let header = shared.header();
    header.closed.store(1, SeqCst);
    header.doorbell.fetch_add(1, SeqCst);
    memory::wake(header.doorbell.as_ptr());
    for slot in shared.slots() {
        memory::wake(slot.tail.0.as_ptr().cast());
    }
}

#[cfg(test)]
mod tests {
    /// waitid(2), ECHILD: no process has this number, which is beyond all that Linux gives.
    #[test]
    fn a_child_that_is_not_there_is_not_waited_for() {
        super::wait_for_end(i32::MAX);
    }
}
