//! Registers in a process of their own: it is forked before anything of others is parsed, and nobody else opens a
//! file of a register.
//!
//! ```text
//!  measuring process                     register process
//!  RegisterProcess ── control ─────────► connections, journals; at its end what is left is put back
//!  RemoteSpace (thread of socket 0) ───► thread, LinuxSpace ──► /dev/cpu/*/msr, config space, /dev/mem
//!  RemoteSpace (thread of socket 1) ───► thread, LinuxSpace
//! ```
//!
//! A message is a list of operations: addresses, widths, values. Each is checked against [`Permits`]: the registers of
//! PMON units that discovery found. Discovery itself reads outside of units, so it runs in the register process; what
//! it read comes back, and the same discovery runs on that here (`transcript.rs`).
//!
//! When the other process ends, however it ends, the register process puts back what its journals name, as
//! `pericore restore` does.
//!
//! [`Permits`]: crate::permits::Permits

mod connection;
mod fork;
mod message;
mod put_back;
mod service;
#[cfg(test)]
mod tests;
mod transcript;

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Mutex;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, WaitOptions, waitpid};

pub use connection::RemoteSpace;
pub use put_back::Aftermath;
pub use service::serve_over;

use crate::linux::{Host, privileges, sandbox};
use crate::process;
use message::{Frame, MessageKind};

/// The process that holds the registers of this machine, as who started it sees it.
#[derive(Debug)]
pub struct RegisterProcess {
    control: Mutex<Control>,
    child: Option<Pid>,
}

#[derive(Debug)]
struct Control {
    /// Closed at the end: that is what the process waits for.
    stream: Option<UnixStream>,
    frame: Frame,
}

impl RegisterProcess {
    /// Starts it. Call it before anything of others is parsed, and best before other threads are started.
    ///
    /// # Errors
    /// The system refuses a process or a socket.
    pub fn start(host: Host, aftermath: Aftermath) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let parent = process::id();
        let child = fork::fork(theirs, move |control| {
            // What is missing of it is said by who measures, whose threads lack the same.
            let _ = privileges::keep_for_registers();
            let _ = sandbox::confine(sandbox::ThreadPart::Registers, &aftermath.folders);
            fork::run(&control, &host, &aftermath, parent);
        })?;
        Ok(Self::of(ours, Some(child)))
    }

    /// The same in a thread of this process: nothing is apart then. For tests and for hosts whose files are a folder.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn in_thread(host: Host, aftermath: Aftermath) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        std::thread::Builder::new().spawn(move || fork::run(&theirs, &host, &aftermath, process::id()))?;
        Ok(Self::of(ours, None))
    }

    fn of(stream: UnixStream, child: Option<Pid>) -> Self {
        Self { control: Mutex::new(Control { stream: Some(stream), frame: Frame::default() }), child }
    }

    /// Its number.
    pub fn id(&self) -> Option<u32> {
        self.child.and_then(|child| u32::try_from(child.as_raw_nonzero().get()).ok())
    }

    /// A way to the registers, with a thread there; for a socket's thread on a CPU of that socket. If the process is
    /// gone every access fails, and says so.
    pub fn connect(&self, socket: Option<u16>) -> RemoteSpace {
        let text = socket.map_or_else(String::new, |socket| socket.to_string());
        let connected = UnixStream::pair().and_then(|(ours, theirs)| {
            self.send(MessageKind::Connect, text.as_bytes(), Some(&theirs))?;
            Ok(ours)
        });
        RemoteSpace::new(connected.ok())
    }

    /// Says where the journal of the session that begins is: if this process is killed, the other one puts back what it
    /// names.
    ///
    /// # Errors
    /// The process is gone.
    pub fn note_journal(&self, path: &Path) -> io::Result<()> {
        self.send(MessageKind::Journal, path.as_os_str().as_bytes(), None)
    }

    /// Sends a message on the control connection and waits for its reply.
    fn send(&self, kind: MessageKind, text: &[u8], along: Option<&UnixStream>) -> io::Result<()> {
        let mut control = self.control.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Control { stream, frame } = &mut *control;
        let stream = stream.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        frame.begin();
        frame.push_text(text);
        let bytes = frame.finish(kind)?;
        let sent = match along {
            None => io::Write::write(stream, bytes)?,
            Some(socket) => {
                let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
                let mut ancillary = SendAncillaryBuffer::new(&mut space);
                let sockets = [socket.as_fd()];
                if !ancillary.push(SendAncillaryMessage::ScmRights(&sockets)) {
                    return Err(io::ErrorKind::OutOfMemory.into());
                }
                sendmsg(stream.as_fd(), &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL)?
            }
        };
        // Control messages are short: a socket takes them whole.
        if sent != bytes.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        match frame.receive(stream)? {
            Some(MessageKind::Done) => Ok(()),
            Some(_) => Err(io::ErrorKind::InvalidData.into()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Drop for RegisterProcess {
    /// Ends the process and waits for it: afterwards nobody holds a register's file.
    fn drop(&mut self) {
        // One that is gone has nothing to leave.
        let _ = self.send(MessageKind::Leave, &[], None);
        let control = self.control.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        control.stream = None;
        if let Some(child) = self.child.take() {
            let _ = waitpid(Some(child), WaitOptions::empty());
        }
    }
}
