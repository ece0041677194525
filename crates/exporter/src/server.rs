//! Answers on connections, each in a thread of its own, with a limit on everything that a client can take.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::access::RequestPolicy;
use crate::admission::{Admission, Admissions, Admitted, Peer};
use crate::answer::{HttpResponse, MOST_BYTES, respond, time_out, too_many};
use crate::board::Board;
use crate::connection::{ClientSocket as _, Connection, Cutter, Timed, is_time_out};
use crate::limits::Limits;
use crate::listen::{Listener, Socket};
use crate::live::LivePage;
#[cfg(feature = "tls")]
use crate::tls::Tls;

/// Bytes of a connection's thread's stack: a request's head, its fields, and what encryption and the system's library
/// take.
const STACK: usize = 512 * 1024;

/// How long to wait after the system had no connection to give, such as for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Bytes that are read after the answer so that the client reads it to its end: more is cut off.
const MOST_AFTER: usize = 64 * 1024;

/// A connection, what ends it, and whose it is.
type Accepted = (Box<dyn Connection>, Cutter, Option<Peer>);

/// Hands out what is on a board.
#[derive(Clone)]
pub struct Server {
    board: Board,
    live: Option<Arc<LivePage>>,
    limits: Limits,
    access: RequestPolicy,
    places: Admissions,
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

impl Server {
    /// A server of what is on the board.
    pub fn new(board: Board, limits: Limits, access: RequestPolicy) -> Self {
        let places = Admissions::new(limits);
        Self {
            board,
            live: None,
            limits,
            access,
            places,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// The same with a page for browsers.
    #[must_use]
    pub fn with_live(self, live: LivePage) -> Self {
        Self { live: Some(Arc::new(live)), ..self }
    }

    /// The same by TLS, on TCP ports.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn with_tls(self, tls: Option<Tls>) -> Self {
        Self { tls, ..self }
    }

    /// Serves for as long as the process lives. Threads that it starts have the rights of this one.
    pub fn run(&self, listener: &Listener) -> ! {
        loop {
            let deadline = || Instant::now() + self.limits.request;
            let connection: io::Result<Accepted> = match &listener.socket {
                Socket::Tcp(socket) => socket.accept().and_then(|(stream, from)| {
                    let (peer, cut) = (Some(Peer::of(from.ip())), stream.cutter()?);
                    Ok((self.secured(Timed::new(stream, deadline()))?, cut, peer))
                }),
                Socket::Unix(socket) => socket.accept().and_then(|(stream, _)| {
                    let cut = stream.cutter()?;
                    Ok((Box::new(Timed::new(stream, deadline())) as Box<_>, cut, None))
                }),
            };
            match connection {
                Ok(accepted) => self.take(accepted),
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted) => {
                }
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// A connection by TLS, if there is a certificate.
    fn secured(&self, stream: Timed<TcpStream>) -> io::Result<Box<dyn Connection>> {
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            return Ok(Box::new(tls.accept(stream)?));
        }
        Ok(Box::new(stream))
    }

    /// Serves a connection in a thread of its own. When there are too many, as many again are told so; the rest are
    /// closed.
    fn take(&self, (mut connection, cut, peer): Accepted) {
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
        connection.set_deadline(Instant::now() + self.limits.request);
        let mut request = [0; MOST_BYTES];
        let mut length = 0;
        let reply = loop {
            if let Some(reply) = respond(&request[..length], self.board.pages(), self.live.as_ref(), &self.access) {
                break reply;
            }
            match connection.read(&mut request[length..]) {
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

    fn reply(&self, connection: &mut dyn Connection, reply: &HttpResponse) -> io::Result<()> {
        connection.set_deadline(Instant::now() + self.limits.reply);
        for part in [reply.head.as_bytes(), reply.body.bytes()] {
            send(connection, part)?;
        }
        connection.end_sending()?;
        // A connection that is closed while something is unread is reset, and the client may lose the answer.
        let (mut after, mut unread) = (0, [0; 4096]);
        while after < MOST_AFTER {
            match connection.read(&mut unread)? {
                0 => break,
                count => after += count,
            }
        }
        Ok(())
    }
}

fn send(connection: &mut dyn Connection, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match connection.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
