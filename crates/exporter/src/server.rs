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
mod tests {
    use super::*;
    use crate::board::Pages;
    use crate::listen::Listen;

    /// A server that runs until the tests end, and where.
    fn serve(limits: Limits) -> (std::net::SocketAddr, Board) {
        let board = Board::default();
        let listener = Listener::open(&"127.0.0.1:0".parse().unwrap()).unwrap();
        let Listen::Tcp(address) = *listener.place() else { panic!("a port was asked for") };
        let server = Server::new(board.clone(), limits);
        thread::spawn(move || server.run(&listener));
        (address, board)
    }

    fn ask(address: std::net::SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    const REQUEST: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

    #[test]
    fn what_is_on_the_board_is_handed_out() {
        let (address, board) = serve(Limits::default());
        assert!(ask(address, REQUEST).starts_with("HTTP/1.1 503 "), "nothing is there yet");
        // More than a socket's buffer holds.
        let large = vec![b'x'; 4 << 20];
        board.put(Pages { prometheus: large.clone(), ..Pages::default() });
        let text = ask(address, REQUEST);
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(body.as_bytes() == large);
        // The answer arrives though the request is longer than anybody reads.
        let long = [b"GET / HTTP/1.1\r\nA: ".as_slice(), &[b'a'; 40_000]].concat();
        assert!(ask(address, &long).starts_with("HTTP/1.1 431 "));
    }

    /// The first client says nothing and keeps its place until its time is over; who comes meanwhile is put off.
    #[test]
    fn slow_clients_keep_nobody_for_long() {
        let (address, board) = serve(Limits { time: Duration::from_millis(300), connections: 1 });
        board.put(Pages::default());
        let mut slow = TcpStream::connect(address).unwrap();
        slow.write_all(b"GET").unwrap();
        // Both in one order: the connections are taken as they came.
        assert!(ask(address, REQUEST).starts_with("HTTP/1.1 503 "));
        let mut text = String::new();
        slow.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 408 "), "{text}");
        drop(slow);
        while !ask(address, REQUEST).starts_with("HTTP/1.1 200 ") {
            thread::yield_now();
        }
    }

    /// The first connection keeps its place, the second is told so and keeps one of the others, the third is closed without a word.
    #[test]
    fn beyond_twice_the_connections_nobody_is_served() {
        let (address, board) = serve(Limits { time: Duration::from_secs(600), connections: 1 });
        board.put(Pages::default());
        let mut first = TcpStream::connect(address).unwrap();
        // The connections are taken in the order in which they come.
        let mut second = TcpStream::connect(address).unwrap();
        let mut said = [0; 12];
        second.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"HTTP/1.1 503");
        let mut third = TcpStream::connect(address).unwrap();
        assert_eq!(third.read(&mut said).unwrap(), 0);
        // The first is served although others came after it, and whoever goes leaves a place.
        first.write_all(REQUEST).unwrap();
        first.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"HTTP/1.1 200");
        drop((first, second, third));
        while !asked(address, REQUEST).is_ok_and(|text| text.starts_with("HTTP/1.1 200 ")) {
            thread::yield_now();
        }
    }

    /// What a client gets, which may be nothing when there are too many.
    fn asked(address: std::net::SocketAddr, request: &[u8]) -> io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(request)?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    }

    /// The time is one for the whole request, and not one for each of its bytes.
    #[test]
    fn a_client_that_sends_byte_by_byte_gains_no_time() {
        let (address, board) = serve(Limits { time: Duration::from_millis(200), connections: 1 });
        board.put(Pages::default());
        let mut slow = TcpStream::connect(address).unwrap();
        slow.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        slow.write_all(b"GET / HTTP/1.1\r\nA: ").unwrap();
        let mut said = [0; 12];
        // Fewer than a head may have: it is the time that ends it.
        let answered = (0..4000).any(|_| {
            // Once the answer is there, the server may be gone.
            let _ = slow.write_all(b"a");
            slow.peek(&mut said).is_ok_and(|length| length == said.len())
        });
        assert!(answered && &said == b"HTTP/1.1 408", "{:?}", String::from_utf8_lossy(&said));
    }

    /// A page that nobody reads fills the socket's buffers: the connection's place is free again when its time is over.
    #[test]
    fn a_client_that_does_not_read_keeps_its_place_for_its_time_only() {
        let (address, board) = serve(Limits { time: Duration::from_millis(200), connections: 1 });
        board.put(Pages { prometheus: vec![b'x'; 64 << 20], ..Pages::default() });
        let mut idle = TcpStream::connect(address).unwrap();
        idle.write_all(REQUEST).unwrap();
        while !asked(address, b"GET / HTTP/1.0\r\n\r\n").is_ok_and(|text| text.starts_with("HTTP/1.1 200 ")) {
            thread::yield_now();
        }
        drop(idle);
    }

    #[test]
    fn a_client_that_goes_before_it_has_asked_gets_nothing() {
        let (address, _board) = serve(Limits { time: Duration::from_secs(600), connections: 1 });
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET / HT").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(text, "");
    }

    #[test]
    fn a_unix_socket_is_served_alike() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = Listener::open(&Listen::Unix(path.clone())).unwrap();
        let board = Board::default();
        board.put(Pages { open_metrics: b"# EOF\n".to_vec(), ..Pages::default() });
        let server = Server::new(board, Limits::default());
        thread::spawn(move || server.run(&listener));
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.0\r\nAccept: application/openmetrics-text\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("\r\n\r\n# EOF\n"), "{text}");
    }

    /// `docs/serve.md`: five seconds for a request, 32 clients at a time.
    #[test]
    fn the_limits_are_those_of_the_document() {
        assert_eq!(Limits::default(), Limits { time: Duration::from_secs(5), connections: 32 });
        let over = left(Instant::now()).unwrap_err();
        assert!(is_time_out(&over) && is_time_out(&io::ErrorKind::WouldBlock.into()));
        assert!(!is_time_out(&io::ErrorKind::ConnectionReset.into()));
        let left = left(Instant::now() + Duration::from_secs(3600)).unwrap();
        assert!(left <= Duration::from_secs(3600) && !left.is_zero());
    }
}
