//! The fork, and what the new process does from there on.

use std::io;
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::Pid;

use super::message::{Frame, MessageKind};
use super::put_back::Aftermath;
use super::service::ServiceState;
use crate::linux::Host;
use crate::process;

/// The exit status after a panic.
const PANICKED: libc::c_int = 101;

/// Runs `child` in a new process, with this end of the control connection, and nothing else that is open but standard
/// error.
pub(super) fn fork(control: UnixStream, child: impl FnOnce(UnixStream)) -> io::Result<Pid> {
    // SAFETY: the new process has this thread alone. The C library keeps its allocator usable across a fork, and no
    // lock of another thread is taken afterwards: what `child` uses is its own.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let control = isolate(control);
            let ended = catch_unwind(AssertUnwindSafe(|| child(control)));
            // SAFETY: no memory is involved. Buffers and exit handlers are the other process's.
            unsafe { libc::_exit(if ended.is_ok() { 0 } else { PANICKED }) }
        }
        number => Pid::from_raw(number).ok_or_else(|| io::ErrorKind::Other.into()),
    }
}

/// Lets go of all that belongs to the other process: its files, its terminal, its signals.
fn isolate(control: UnixStream) -> UnixStream {
    /// Where the control connection is from here on.
    const CONTROL: RawFd = 3;
    let from = control.as_raw_fd();
    std::mem::forget(control);
    // SAFETY: calls on numbers alone. The descriptors that are closed belong to values that this process never uses or
    // drops: it ends by `_exit`.
    unsafe {
        // A signal to the job is for the process that measures; this one ends when that has ended.
        libc::setsid();
        for signal in 1..=libc::SIGRTMAX() {
            if !matches!(signal, libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE | libc::SIGCHLD) {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        libc::dup2(null, libc::STDIN_FILENO);
        libc::dup2(null, libc::STDOUT_FILENO);
        if from != CONTROL {
            libc::dup2(from, CONTROL);
        }
        libc::syscall(libc::SYS_close_range, CONTROL + 1, libc::c_uint::MAX, 0);
        libc::fcntl(CONTROL, libc::F_SETFD, libc::FD_CLOEXEC);
        // No process of the same user may look into this one.
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        UnixStream::from(OwnedFd::from_raw_fd(CONTROL))
    }
}

/// Serves the control connection of process `parent` until its other end is closed, and puts back then what is left.
pub(super) fn run(control: &UnixStream, host: &Host, aftermath: &Aftermath, parent: u32) {
    let started = process::start_time(parent).unwrap_or(0);
    let Ok(family) = host.family() else { return };
    let shared = ServiceState::new(family, &host.cpus);
    let mut journals: Vec<PathBuf> = Vec::new();
    let mut connections: Vec<(UnixStream, JoinHandle<()>)> = Vec::new();
    let mut frame = Frame::default();
    while let Ok(Some((kind, along))) = receive(control, &mut frame) {
        let is_done = match (kind, along) {
            (MessageKind::Connect, Some(socket)) => {
                let connection = serve(&shared, host, socket, frame.text());
                let is_started = connection.is_ok();
                connections.extend(connection);
                is_started
            }
            (MessageKind::Journal, _) => {
                journals.push(PathBuf::from(std::ffi::OsStr::from_bytes(frame.text())));
                true
            }
            (MessageKind::Leave, _) => {
                journals.clear();
                true
            }
            _ => false,
        };
        frame.begin();
        let reply = if is_done { MessageKind::Done } else { MessageKind::Refused };
        if frame.send(reply, &mut &*control).is_err() {
            break;
        }
    }
    // What the last message asked for may be under way.
    for (socket, thread) in connections {
        let _ = socket.shutdown(Shutdown::Read);
        let _ = thread.join();
    }
    aftermath.put_back(host, &journals, (parent, started));
}

/// Serves a connection in a thread of its own.
fn serve(shared: &ServiceState, host: &Host, socket: OwnedFd, text: &[u8]) -> io::Result<(UnixStream, JoinHandle<()>)> {
    let socket = UnixStream::from(socket);
    let other = socket.try_clone()?;
    let number: Option<u16> = String::from_utf8_lossy(text).parse().ok();
    let (shared, host) = (shared.clone(), host.clone());
    let name = number.map_or_else(|| "registers".to_owned(), |number| format!("socket {number}"));
    let run = move || {
        // Here, since the thread takes its place on a CPU.
        let space = number.map_or_else(|| host.space(), |number| host.space_of(number));
        // What fails ends the connection, which the other end sees.
        let _ = shared.serve(socket, space);
    };
    Ok((other, thread::Builder::new().name(name).spawn(run)?))
}

/// A control message, and the socket that came along.
fn receive(control: &UnixStream, frame: &mut Frame) -> io::Result<Option<(MessageKind, Option<OwnedFd>)>> {
    let mut along = None;
    let mut first = FirstRead { control, along: &mut along };
    Ok(frame.receive(&mut first)?.map(|kind| (kind, along)))
}

/// Reads from the control connection, and keeps a socket that comes along.
struct FirstRead<'a> {
    control: &'a UnixStream,
    along: &'a mut Option<OwnedFd>,
}

impl io::Read for FirstRead<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut slices = [io::IoSliceMut::new(bytes)];
        let received = recvmsg(self.control.as_fd(), &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(sockets) = message {
                *self.along = sockets.last().or_else(|| self.along.take());
            }
        }
        Ok(received.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;
    use crate::register_process::RegisterProcess;

    /// A connection comes with its message: the text says for which socket, and the other end of what came along is
    /// that of who asked. A message without one has none.
    #[test]
    fn a_control_message_brings_its_socket_along() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (ours_along, theirs_along) = UnixStream::pair().unwrap();
        let process = RegisterProcess::of(ours, None);
        let serving = move || {
            let (mut frame, mut reply) = (Frame::default(), Frame::default());
            for (expected, text) in [(MessageKind::Connect, &b"1"[..]), (MessageKind::Journal, b"/a.journal")] {
                let (kind, along) = receive(&theirs, &mut frame).unwrap().expect("a message");
                assert_eq!((kind, frame.text(), along.is_some()), (expected, text, kind == MessageKind::Connect));
                if let Some(socket) = along {
                    UnixStream::from(socket).write_all(b"here").unwrap();
                }
                reply.begin();
                reply.send(MessageKind::Done, &mut &theirs).unwrap();
            }
        };
        let serving = thread::spawn(serving);
        process.send(MessageKind::Connect, b"1", Some(&theirs_along)).unwrap();
        process.send(MessageKind::Journal, b"/a.journal", None).unwrap();
        serving.join().unwrap();
        let mut came = [0; 4];
        (&ours_along).read_exact(&mut came).unwrap();
        assert_eq!(&came, b"here");
    }
}
