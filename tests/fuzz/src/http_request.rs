//! Any bytes on a connection, cut anywhere: one response that a client can read, and the same however the bytes come.

use std::sync::Arc;

use pericore_exporter::text::{Family, Kind, Number, name_of};
use pericore_exporter::{Hosts, LivePage, MOST_BYTES, MetricsPage, PageFeed, Pages, RequestPolicy};

/// What an open page gets: the number that it asks with.
#[derive(Debug)]
struct Digits;

impl PageFeed for Digits {
    fn since(&self, samples: u64) -> Option<Vec<u8>> {
        Some(samples.to_string().into_bytes())
    }
}

/// Any bytes.
pub fn run(data: &[u8]) {
    let Some((&[low, high, measured], bytes)) = data.split_first_chunk() else { return };
    let (cut, is_measured) = (u16::from_le_bytes([low, high]), measured % 2 == 1);
    let pages = is_measured.then(|| {
        let mut family = Family::new("a", Kind::Gauge, None, "h");
        family.push(Vec::new(), Number::Whole(1));
        Arc::new(Pages { metrics: MetricsPage::of(vec![family]), front: b"pericore\n".to_vec(), stale_from: None })
    });
    let live = Arc::new(LivePage { page: "<!DOCTYPE html>".to_owned(), feed: Box::new(Digits) });
    let access = RequestPolicy::of(Hosts::named(["h".to_owned()]));
    let whole = pericore_exporter::respond(bytes, pages.clone(), Some(&live), &access);
    assert!(whole.is_some() || bytes.len() < MOST_BYTES, "a full buffer gets a response");
    // What was said of a part is not taken back.
    let cut = usize::from(cut).min(bytes.len());
    if let Some(early) = pericore_exporter::respond(&bytes[..cut], pages, Some(&live), &access) {
        assert_eq!(whole.as_ref().map(|response| response.status), Some(early.status));
    }
    let Some(response) = whole else { return };
    let (head, body) = (response.head.as_bytes(), response.body.bytes());
    assert!(head.ends_with(b"\r\n\r\n") && head.is_ascii());
    let lines: Vec<&str> = response.head.split("\r\n").collect();
    assert!(lines[0].starts_with(&format!("HTTP/1.1 {} ", response.status)));
    let length = lines.iter().find_map(|line| line.strip_prefix("Content-Length: ")).expect("a length");
    let length: usize = length.parse().expect("a number");
    assert!(body.is_empty() || body.len() == length);
    assert!([200, 400, 404, 405, 421, 431, 503, 505].contains(&response.status));
    // And any text makes a name.
    let name = name_of(&String::from_utf8_lossy(bytes));
    assert!(!name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit()));
    assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'));
}
