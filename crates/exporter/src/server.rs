//! Answers on connections, each in a thread of its own, with a limit on everything that a client can take.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::answer::{MOST_BYTES, answer, time_out, too_many};
use crate::board::Board;
use crate::listen::{Listener, Socket};

/// Bytes of a connection's thread's stack: a request's head, its fields, and what the system's library takes.
const STACK: usize = 256 * 1024;

/// How long to wait after the system had no connection to give, such as for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Bytes that are read after the answer so that the client reads it to its end: more is cut off.
const MOST_AFTER: usize = 64 * 1024;

/// What a client can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time from the connection to the end of the request, and from there to the end of the answer.
    pub time: Duration,
    /// Connections at the same time; who comes then is put off at once.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(5), connections: 32 }
    }
}

/// Hands out what is on a board.
#[derive(Debug, Clone)]
pub struct Server {
    board: Board,
    limits: Limits,
    open: Arc<AtomicUsize>,
}

impl Server {
    /// A server of what is on the board.
    pub fn new(board: Board, limits: Limits) -> Self {
        Self { board, limits, open: Arc::default() }
    }

    /// Serves for as long as the process lives. Threads that it starts have the rights of this one.
    pub fn run(&self, listener: &Listener) -> ! {
        loop {
            let connection: io::Result<Box<dyn Connection>> = match &listener.socket {
                Socket::Tcp(socket) => socket.accept().map(|(stream, _)| Box::new(stream) as Box<_>),
                Socket::Unix(socket) => socket.accept().map(|(stream, _)| Box::new(stream) as Box<_>),
            };
            match connection {
                Ok(connection) => self.take(connection),
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted) => {
                }
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// Serves a connection in a thread of its own. When there are too many, as many again are told so; the rest are closed.
    fn take(&self, mut connection: Box<dyn Connection>) {
        let place = Place::of(&self.open);
        let most = self.limits.connections;
        if place.number > 2 * most {
            return;
        }
        let is_late = place.number > most;
        let (board, time) = (self.board.clone(), self.limits.time);
        let serve = move || {
            // A client that has gone is no matter of ours.
            let _ = converse(&mut *connection, &board, time, is_late);
            drop(place);
        };
        // Without a thread the connection is closed: the client will come again.
        let _ = thread::Builder::new().name("connection".to_owned()).stack_size(STACK).spawn(serve);
    }
}

/// A place among the connections, given back when it is dropped.
struct Place {
    open: Arc<AtomicUsize>,
    number: usize,
}

impl Place {
    fn of(open: &Arc<AtomicUsize>) -> Self {
        Self { number: open.fetch_add(1, Ordering::Relaxed) + 1, open: Arc::clone(open) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A stream with time limits.
trait Connection: Read + Write + Send {
    /// Limits how long the next reads and writes wait, each.
    fn set_time(&self, time: Duration) -> io::Result<()>;
    /// Nothing more will be sent.
    fn end_sending(&self) -> io::Result<()>;
}

macro_rules! connection {
    ($stream:ty) => {
        impl Connection for $stream {
            fn set_time(&self, time: Duration) -> io::Result<()> {
                self.set_read_timeout(Some(time))?;
                self.set_write_timeout(Some(time))
            }

            fn end_sending(&self) -> io::Result<()> {
                self.shutdown(Shutdown::Write)
            }
        }
    };
}

connection!(TcpStream);
connection!(UnixStream);

/// Reads a request and answers it; who `is_late` is put off before it has said anything.
fn converse(connection: &mut dyn Connection, board: &Board, time: Duration, is_late: bool) -> io::Result<()> {
    let deadline = Instant::now() + time;
    let mut request = [0; MOST_BYTES];
    let mut length = 0;
    let reply = loop {
        if is_late {
            break too_many();
        }
        if let Some(reply) = answer(&request[..length], board.pages()) {
            break reply;
        }
        match left(deadline)
            .and_then(|left| connection.set_time(left))
            .and_then(|()| connection.read(&mut request[length..]))
        {
            Ok(0) => return Ok(()),
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if is_time_out(&error) => break time_out(),
            Err(error) => return Err(error),
        }
    };
    let deadline = Instant::now() + time;
    for part in [reply.head.as_bytes(), reply.body.bytes()] {
        send(connection, part, deadline)?;
    }
    connection.end_sending()?;
    // A connection that is closed while something is unread is reset, and the client may lose the answer.
    let mut after = 0;
    while after < MOST_AFTER {
        connection.set_time(left(deadline)?)?;
        match connection.read(&mut request)? {
            0 => break,
            count => after += count,
        }
    }
    Ok(())
}

fn send(connection: &mut dyn Connection, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        connection.set_time(left(deadline)?)?;
        match connection.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The time that is left, above 0.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// True if the time was over: the system calls it one or the other.
fn is_time_out(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests;
