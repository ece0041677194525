//! Many clients at once at the program itself, good and bad ones.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

use super::{PATIENCE, serve};

const REQUEST: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A connection from an address of this host: all of 127.0.0.0/8 is.
fn connected(port: u16, from: [u8; 4]) -> io::Result<TcpStream> {
    let client = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    bind(&client, &SocketAddr::from((from, 0)))?;
    connect(&client, &SocketAddr::from(([127, 0, 0, 1], port)))?;
    Ok(TcpStream::from(client))
}

/// What a scraper gets, whole: as many bytes behind the head as that says. Nothing if there was no room, or no sample.
fn page(port: u16, from: [u8; 4]) -> Option<String> {
    let mut client = connected(port, from).ok()?;
    client.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    client.write_all(REQUEST).ok()?;
    let mut text = String::new();
    client.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    if !head.starts_with("HTTP/1.1 200 ") {
        return None;
    }
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).expect("a length");
    assert_eq!(length.parse::<usize>().ok(), Some(body.len()), "{head}");
    Some(body.to_owned())
}

fn scraped(port: u16, from: [u8; 4]) -> String {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(body) = page(port, from) {
            return body;
        }
        assert!(Instant::now() < end, "{from:?} gets no page");
        thread::sleep(Duration::from_millis(50));
    }
}

/// 200 scrapers get whole pages beside clients that ask and do not read, that send a byte and wait, and that send what
/// is no HTTP. The server goes on sampling, in as much memory as before but for a few MB.
#[test]
fn two_hundred_scrapers_are_served_beside_slow_readers_and_garbage() {
    let (_server, port, _) = serve(&[]);
    let port: u16 = port.parse().expect("a port");
    let number = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).expect(name);
        line.rsplit(' ').next().and_then(|value| value.parse::<f64>().ok()).expect("a number")
    };
    let before = scraped(port, [127, 0, 0, 1]);
    let waiting: Vec<TcpStream> = (0..40_u8)
        .filter_map(|at| {
            let mut client = connected(port, [127, 0, 2, at % 4 + 1]).ok()?;
            client.write_all(if at % 2 == 0 { REQUEST } else { b"G" }).ok()?;
            Some(client)
        })
        .collect();
    assert!(waiting.len() > 20, "{}", waiting.len());
    thread::scope(|scope| {
        let scrapers: Vec<_> = (1..=200).map(|at| scope.spawn(move || scraped(port, [127, 0, 1, at]))).collect();
        let garbage: Vec<u8> = (0..10_000_u32).map(|byte| (byte.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        while !scrapers.iter().all(|scraper| scraper.is_finished()) {
            let _ = connected(port, [127, 0, 0, 9]).and_then(|mut client| client.write_all(&garbage));
            thread::sleep(Duration::from_millis(5));
        }
        for scraper in scrapers {
            let body = scraper.join().expect("it gets a page");
            assert!(body.contains("\npericore_events_total{") && body.ends_with('\n'), "{body}");
        }
    });
    let samples = number(&before, "pericore_samples_total");
    let after = super::awaited("another sample", || {
        let body = scraped(port, [127, 0, 0, 1]);
        (number(&body, "pericore_samples_total") > samples).then_some(body)
    });
    let [before, after] = [&before, &after].map(|text| number(text, "process_resident_memory_bytes"));
    assert!(after < before + 8e6, "{before} bytes before, {after} after");
}
