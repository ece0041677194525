//! Streams that end at a deadline, whatever the client does.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// A client's stream. Reads and writes fail when the deadline has passed, however many system calls each of them takes.
pub trait Connection: Read + Write + Send {
    /// Until when reads and writes may take.
    fn set_deadline(&mut self, deadline: Instant);
    /// Nothing more will be sent.
    ///
    /// # Errors
    /// The connection is broken.
    fn end_sending(&mut self) -> io::Result<()>;
}

/// Ends a connection, from another thread.
pub type Cutter = Box<dyn Fn() + Send>;

/// What the system has for a client.
pub trait ClientSocket: Read + Write + Send + Sized + 'static {
    /// Limits how long the next system calls wait, each.
    ///
    /// # Errors
    /// The system refuses.
    fn set_time(&self, time: Duration) -> io::Result<()>;
    /// Another handle of the same socket.
    ///
    /// # Errors
    /// The system has none to give.
    fn duplicate(&self) -> io::Result<Self>;
    /// Ends one direction, or both.
    ///
    /// # Errors
    /// It has ended already.
    fn end(&self, which: Shutdown) -> io::Result<()>;

    /// What ends it from another thread.
    ///
    /// # Errors
    /// As [`ClientSocket::duplicate`].
    fn cutter(&self) -> io::Result<Cutter> {
        let other = self.duplicate()?;
        Ok(Box::new(move || {
            // It may have ended by itself.
            let _ = other.end(Shutdown::Both);
        }))
    }
}

macro_rules! socket {
    ($stream:ty) => {
        impl ClientSocket for $stream {
            fn set_time(&self, time: Duration) -> io::Result<()> {
                self.set_read_timeout(Some(time))?;
                self.set_write_timeout(Some(time))
            }

            fn duplicate(&self) -> io::Result<Self> {
                self.try_clone()
            }

            fn end(&self, which: Shutdown) -> io::Result<()> {
                self.shutdown(which)
            }
        }
    };
}

socket!(TcpStream);
socket!(UnixStream);

/// A socket with a deadline.
#[derive(Debug)]
pub struct Timed<S> {
    socket: S,
    deadline: Instant,
}

impl<S: ClientSocket> Timed<S> {
    /// A socket that may be used until then.
    pub const fn new(socket: S, deadline: Instant) -> Self {
        Self { socket, deadline }
    }
}

impl<S: ClientSocket> Read for Timed<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.set_time(left(self.deadline)?)?;
        self.socket.read(buffer)
    }
}

impl<S: ClientSocket> Write for Timed<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_time(left(self.deadline)?)?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

impl<S: ClientSocket> Connection for Timed<S> {
    fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }

    fn end_sending(&mut self) -> io::Result<()> {
        self.socket.end(Shutdown::Write)
    }
}

/// The time that is left, above 0.
///
/// # Errors
/// There is none.
pub fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// True if the time was over: the system calls it one or the other.
pub fn is_time_out(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}
