//! Answers on connections, each in a thread of its own, with a limit on everything that a client can take.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::admission::{Admission, Admissions, Admitted, Peer};
use crate::answer::{Answer as Reply, MOST_BYTES, answer as respond, time_out, too_many};
use crate::board::Board;
use crate::hosts::Hosts;
use crate::limits::Limits;
use crate::listen::{Listener, Socket};

/// Bytes of a connection's thread's stack: a request's head, its fields, and what the system's library takes.
const STACK: usize = 256 * 1024;

/// How long to wait after the system had no connection to give, such as for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Bytes that are read after the answer so that the client reads it to its end: more is cut off.
const MOST_AFTER: usize = 64 * 1024;

/// Hands out what is on a board.
#[derive(Clone)]
pub struct Server {
    board: Board,
    limits: Limits,
    hosts: Hosts,
    places: Admissions,
}

impl Server {
    /// A server of what is on the board.
    pub fn new(board: Board, limits: Limits, hosts: Hosts) -> Self {
        Self { board, limits, hosts, places: Admissions::new(limits) }
    }

    /// Serves for as long as the process lives. Threads that it starts have the rights of this one.
    pub fn run(&self, listener: &Listener) -> ! {
        loop {
            let connection: io::Result<(Box<dyn Connection>, Option<Peer>)> = match &listener.socket {
                Socket::Tcp(socket) => {
                    socket.accept().map(|(stream, from)| (Box::new(stream) as Box<_>, Some(Peer::of(from.ip()))))
                }
                Socket::Unix(socket) => socket.accept().map(|(stream, _)| (Box::new(stream) as Box<_>, None)),
            };
            match connection {
                Ok((connection, peer)) => self.take(connection, peer),
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted) => {
                }
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// Serves a connection in a thread of its own. When there are too many, as many again are told so; the rest are
    /// closed.
    fn take(&self, mut connection: Box<dyn Connection>, peer: Option<Peer>) {
        let Ok(cut) = connection.cutter() else { return };
        let (place, is_late) = match self.places.admit(peer, cut) {
            Admission::Served(place) => (place, false),
            Admission::PutOff(place) => (place, true),
            Admission::Closed => return,
        };
        let server = self.clone();
        let serve = move || {
            // A client that has gone is no matter of ours.
            let _ = if is_late { server.put_off(&mut *connection) } else { server.converse(&mut *connection, &place) };
            drop(place);
        };
        // Without a thread the connection is closed: the client will come again.
        let _ = thread::Builder::new().name("connection".to_owned()).stack_size(STACK).spawn(serve);
    }

    /// Reads a request and answers it.
    fn converse(&self, connection: &mut dyn Connection, place: &Admitted) -> io::Result<()> {
        let deadline = Instant::now() + self.limits.request;
        let mut request = [0; MOST_BYTES];
        let mut length = 0;
        let reply = loop {
            if let Some(reply) = respond(&request[..length], self.board.pages(), &self.hosts) {
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
        place.note_request();
        self.reply(connection, &reply)
    }

    /// Tells a client to come again, before it has said anything.
    fn put_off(&self, connection: &mut dyn Connection) -> io::Result<()> {
        self.reply(connection, &too_many())
    }

    fn reply(&self, connection: &mut dyn Connection, reply: &Reply) -> io::Result<()> {
        let deadline = Instant::now() + self.limits.reply;
        for part in [reply.head.as_bytes(), reply.body.bytes()] {
            send(connection, part, deadline)?;
        }
        connection.end_sending()?;
        // A connection that is closed while something is unread is reset, and the client may lose the answer.
        let (mut after, mut unread) = (0, [0; 4096]);
        while after < MOST_AFTER {
            connection.set_time(left(deadline)?)?;
            match connection.read(&mut unread)? {
                0 => break,
                count => after += count,
            }
        }
        Ok(())
    }
}

/// A stream with time limits.
trait Connection: Read + Write + Send {
    /// Limits how long the next reads and writes wait, each.
    fn set_time(&self, time: Duration) -> io::Result<()>;
    /// What ends it from another thread.
    fn cutter(&self) -> io::Result<Box<dyn Fn() + Send>>;
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

            fn cutter(&self) -> io::Result<Box<dyn Fn() + Send>> {
                let stream = self.try_clone()?;
                Ok(Box::new(move || {
                    // It may have ended by itself.
                    let _ = stream.shutdown(Shutdown::Both);
                }))
            }

            fn end_sending(&self) -> io::Result<()> {
                self.shutdown(Shutdown::Write)
            }
        }
    };
}

connection!(TcpStream);
connection!(UnixStream);

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
