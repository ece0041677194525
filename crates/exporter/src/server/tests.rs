//! Clients that behave and clients that do not.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;

use super::*;
use crate::board::{MetricsPage, Pages};
use crate::connection::left;
use crate::hosts::Hosts;
use crate::listen::Listen;

/// A server that runs until the tests end, and where.
fn serve(limits: Limits) -> (std::net::SocketAddr, Board) {
    let board = Board::default();
    let listener = Listener::open(&"127.0.0.1:0".parse().unwrap()).unwrap();
    let Listen::Tcp(address) = *listener.place() else { panic!("a port was asked for") };
    let server = Server::new(board.clone(), limits, RequestPolicy::of(Hosts::any()));
    thread::spawn(move || server.run(&listener));
    (address, board)
}

/// Limits with so much time for both, and so many connections, of one peer as well.
const fn limits(time: Duration, connections: usize) -> Limits {
    Limits { request: time, reply: time, connections, of_one_peer: connections }
}

fn ask(address: std::net::SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Pages with these bytes for Prometheus.
fn prometheus(text: Vec<u8>) -> Pages {
    Pages { metrics: MetricsPage::written(text, Vec::new()), ..Pages::default() }
}

const REQUEST: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn what_is_on_the_board_is_handed_out() {
    let (address, board) = serve(Limits::default());
    assert!(ask(address, REQUEST).starts_with("HTTP/1.1 503 "), "nothing is there yet");
    // More than a socket's buffer holds.
    let large = vec![b'x'; 4 << 20];
    board.put(prometheus(large.clone()));
    let text = ask(address, REQUEST);
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(body.as_bytes() == large);
    // The answer arrives though the request is longer than anybody reads.
    let long = [b"GET / HTTP/1.1\r\nA: ".as_slice(), &[b'a'; 40_000]].concat();
    assert!(ask(address, &long).starts_with("HTTP/1.1 431 "));
}

/// The first client says nothing: it is told so when its time is over.
#[test]
fn slow_clients_get_408() {
    let (address, _board) = serve(limits(Duration::from_millis(300), 1));
    let mut slow = TcpStream::connect(address).unwrap();
    slow.write_all(b"GET").unwrap();
    let mut text = String::new();
    slow.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 408 "), "{text}");
}

/// Eighty connections from one address send a byte and wait, with all the time in the world: a scraper from the same
/// address is served at once, and again and again.
#[test]
fn clients_that_send_a_byte_and_wait_keep_nobody_out() {
    let (address, board) = serve(limits(Duration::from_secs(600), 4));
    board.put(Pages::default());
    let mut idle = Vec::new();
    for _ in 0..80 {
        let mut stream = TcpStream::connect(address).unwrap();
        let _ = stream.write_all(b"G");
        idle.push(stream);
    }
    for _ in 0..3 {
        assert!(ask(address, REQUEST).starts_with("HTTP/1.1 200 "));
    }
}

/// A client whose page waits in the socket's buffers: it has asked, and does not read.
fn reader_that_does_not_read(address: std::net::SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(REQUEST).unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    stream
}

/// The first connection keeps its place, the second is told so and keeps one of the others, the third is closed
/// without a word.
#[test]
fn beyond_twice_the_connections_nobody_is_served() {
    let (address, board) = serve(limits(Duration::from_secs(600), 1));
    board.put(prometheus(vec![b'x'; 64 << 20]));
    let first = reader_that_does_not_read(address);
    let mut second = TcpStream::connect(address).unwrap();
    let mut said = [0; 12];
    second.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"HTTP/1.1 503");
    let mut third = TcpStream::connect(address).unwrap();
    assert_eq!(third.read(&mut said).unwrap(), 0);
    // Who goes leaves a place.
    drop((first, second, third));
    while !asked(address, b"GET / HTTP/1.0\r\n\r\n").is_ok_and(|text| text.starts_with("HTTP/1.1 200 ")) {
        thread::yield_now();
    }
}

/// All of one address's places are taken by clients that do not read: another address is served. All of 127.0.0.0/8
/// is this host.
#[test]
fn one_peer_cannot_take_all_places() {
    let (time, of_one_peer) = (Duration::from_secs(600), 2);
    let (address, board) = serve(Limits { request: time, reply: time, connections: 3, of_one_peer });
    board.put(prometheus(vec![b'x'; 64 << 20]));
    let _idle = [reader_that_does_not_read(address), reader_that_does_not_read(address)];
    assert!(ask(address, REQUEST).starts_with("HTTP/1.1 503 "));
    let mut other = connected(address, [127, 0, 0, 2]).unwrap();
    other.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let mut text = String::new();
    other.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
}

/// A connection from an address of this host.
fn connected(address: std::net::SocketAddr, from: [u8; 4]) -> io::Result<TcpStream> {
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
    let client = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    bind(&client, &std::net::SocketAddr::from((from, 0)))?;
    connect(&client, &address)?;
    Ok(TcpStream::from(client))
}

/// 200 scrapers, each at an address of its own, ask at the same time, and again where there was no room, as scrapers
/// do. Beside them one address has as many readers that do not read as may be, and sends garbage. Each scraper gets the
/// whole page.
#[test]
fn two_hundred_scrapers_get_whole_pages_beside_slow_readers_and_garbage() {
    let (address, board) = serve(Limits::default());
    let page: Vec<u8> = (0..3 << 20).map(|byte: u32| b'a' + (byte % 23) as u8).collect();
    board.put(prometheus(page.clone()));
    let _slow: Vec<TcpStream> =
        (0..Limits::default().of_one_peer).map(|_| reader_that_does_not_read(address)).collect();
    let end = std::time::Instant::now() + Duration::from_secs(120);
    let scrape = |number: u8| {
        loop {
            let mut text = Vec::new();
            let outcome = connected(address, [127, 0, 1, number]).and_then(|mut client| {
                client.write_all(REQUEST)?;
                client.read_to_end(&mut text)
            });
            if outcome.is_ok() && text.starts_with(b"HTTP/1.1 200 ") {
                assert!(text.ends_with(&page) && text.len() < page.len() + 1000, "{} bytes", text.len());
                return;
            }
            assert!(std::time::Instant::now() < end, "scraper {number}: {outcome:?}");
            thread::sleep(Duration::from_millis(50));
        }
    };
    thread::scope(|scope| {
        let scrape = &scrape;
        let scrapers: Vec<_> = (1..=200).map(|number| scope.spawn(move || scrape(number))).collect();
        while !scrapers.iter().all(|scraper| scraper.is_finished()) {
            // Nothing that is HTTP, of 10,000 bytes.
            let garbage: Vec<u8> = (0..10_000_u32).map(|byte| (byte.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
            let _ = connected(address, [127, 0, 0, 9]).and_then(|mut client| client.write_all(&garbage));
            thread::sleep(Duration::from_millis(5));
        }
    });
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
    let (address, board) = serve(limits(Duration::from_millis(200), 1));
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
    let (address, board) = serve(limits(Duration::from_millis(200), 1));
    board.put(prometheus(vec![b'x'; 64 << 20]));
    let mut idle = TcpStream::connect(address).unwrap();
    idle.write_all(REQUEST).unwrap();
    while !asked(address, b"GET / HTTP/1.0\r\n\r\n").is_ok_and(|text| text.starts_with("HTTP/1.1 200 ")) {
        thread::yield_now();
    }
    drop(idle);
}

#[test]
fn a_client_that_goes_before_it_has_asked_gets_nothing() {
    let (address, _board) = serve(limits(Duration::from_secs(600), 1));
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
    board.put(Pages { metrics: MetricsPage::written(Vec::new(), b"# EOF\n".to_vec()), ..Pages::default() });
    let server = Server::new(board, Limits::default(), RequestPolicy::of(Hosts::any()));
    thread::spawn(move || server.run(&listener));
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.0\r\nAccept: application/openmetrics-text\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("\r\n\r\n# EOF\n"), "{text}");
}

/// `docs/serve.md`: two seconds for a request and five for an answer, 32 clients at a time, 16 of one address.
#[test]
fn the_limits_are_those_of_the_document() {
    let (request, reply) = (Duration::from_secs(2), Duration::from_secs(5));
    assert_eq!(Limits::default(), Limits { request, reply, connections: 32, of_one_peer: 16 });
    let over = left(Instant::now()).unwrap_err();
    assert!(is_time_out(&over) && is_time_out(&io::ErrorKind::WouldBlock.into()));
    assert!(!is_time_out(&io::ErrorKind::ConnectionReset.into()));
    let left = left(Instant::now() + Duration::from_secs(3600)).unwrap();
    assert!(left <= Duration::from_secs(3600) && !left.is_zero());
}

/// A connection whose system calls end as they are told; what is sent is kept.
struct Scripted {
    reads: Vec<io::Result<&'static [u8]>>,
    writes: Vec<io::Error>,
    sent: Vec<u8>,
}

impl Read for Scripted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = if self.reads.is_empty() { b"".as_slice() } else { self.reads.remove(0)? };
        buffer[..bytes.len()].copy_from_slice(bytes);
        Ok(bytes.len())
    }
}

impl Write for Scripted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.writes.pop() {
            Some(error) => Err(error),
            None => {
                // Little at a time.
                let length = bytes.len().min(7);
                self.sent.extend(&bytes[..length]);
                Ok(length)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Connection for Scripted {
    fn set_deadline(&mut self, _: Instant) {}

    fn end_sending(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Signals interrupt system calls that have a time limit: they are made again. Other errors end the conversation.
#[test]
fn interrupted_calls_are_made_again_and_broken_connections_given_up() {
    let board = Board::default();
    board.put(prometheus(b"p 1\n".to_vec()));
    let talk = |reads: Vec<io::Result<&'static [u8]>>, writes: Vec<io::ErrorKind>| {
        let mut connection =
            Scripted { reads, writes: writes.into_iter().map(io::Error::from).collect(), sent: Vec::new() };
        let server = Server::new(board.clone(), limits(Duration::from_secs(600), 1), RequestPolicy::of(Hosts::any()));
        let Admission::Served(place) = server.places.admit(None, Box::new(|| ())) else { panic!("there is room") };
        let end = server.converse(&mut connection, &place);
        (end.map_err(|error| error.kind()), String::from_utf8(connection.sent).unwrap())
    };
    let interrupted = || Err(io::ErrorKind::Interrupted.into());
    let (end, sent) = talk(
        vec![interrupted(), Ok(&REQUEST[..9]), interrupted(), Ok(&REQUEST[9..])],
        vec![io::ErrorKind::Interrupted, io::ErrorKind::Interrupted],
    );
    assert!(
        end.is_ok() && sent.starts_with("HTTP/1.1 200 OK\r\n") && sent.ends_with("\r\n\r\np 1\n"),
        "{end:?} {sent}"
    );
    let (end, sent) = talk(vec![Ok(&REQUEST[..9]), Err(io::ErrorKind::ConnectionReset.into())], Vec::new());
    assert_eq!((end, sent.as_str()), (Err(io::ErrorKind::ConnectionReset), ""));
    let (end, sent) = talk(vec![Ok(REQUEST)], vec![io::ErrorKind::BrokenPipe]);
    assert_eq!((end, sent.as_str()), (Err(io::ErrorKind::BrokenPipe), ""));
    // The system calls a time-out one or the other.
    for kind in [io::ErrorKind::TimedOut, io::ErrorKind::WouldBlock] {
        let (end, sent) = talk(vec![Err(kind.into())], Vec::new());
        assert!(end.is_ok() && sent.starts_with("HTTP/1.1 408 "), "{end:?} {sent}");
    }
}

/// What a client sends beyond its request is read: else the system would drop the end of the answer with it.
#[test]
fn an_answer_arrives_whole_though_the_client_sends_more_than_it_should() {
    let (address, board) = serve(limits(Duration::from_secs(600), 4));
    board.put(prometheus(vec![b'x'; 1_000_000]));
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&[REQUEST, &[b'a'; 40_000]].concat()).unwrap();
    // Slowly, so that the server is done long before.
    let (mut length, mut part) = (0, [0; 16 * 1024]);
    loop {
        match stream.read(&mut part).unwrap() {
            0 => break,
            count => length += count,
        }
        thread::sleep(Duration::from_millis(1));
    }
    assert!(length > 1_000_000, "{length} bytes");
}
