//! From the bytes of a request to a response. Pure: the same bytes give the same answer.

use std::sync::Arc;

use httparse::{Error, Request, Status};

use crate::accept;
use crate::access::RequestPolicy;
use crate::board::Pages;
use crate::health::why_unwell;
use crate::text::Format;

/// Bytes of a request's head at most.
pub const MOST_BYTES: usize = 8192;

/// Header fields of a request at most.
const MOST_FIELDS: usize = 64;

/// Seconds until a client that was put off should ask again.
const RETRY: u8 = 5;

/// A whole response, after which the connection is closed.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Status line and header fields, with the empty line.
    pub head: String,
    /// What follows.
    pub body: Body,
}

/// A response's body.
#[derive(Debug, Clone)]
pub enum Body {
    /// None, as to HEAD.
    Nothing,
    /// A word on what is wrong.
    Word(String),
    /// A page, which is shared with whoever else reads it.
    Page(Arc<Pages>, Page),
}

/// Which page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// The one for people.
    Front,
    /// The metrics.
    Metrics(Format),
}

impl Body {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Nothing => &[],
            Self::Word(word) => word.as_bytes(),
            Self::Page(pages, Page::Front) => &pages.front,
            Self::Page(pages, Page::Metrics(Format::Prometheus)) => &pages.prometheus,
            Self::Page(pages, Page::Metrics(Format::OpenMetrics)) => &pages.open_metrics,
        }
    }
}

/// The answer to the bytes of a request that have come so far, or nothing if more have to come. `pages` are the
/// newest, if there are any; `access` is what the request has to bring.
pub fn answer(bytes: &[u8], pages: Option<Arc<Pages>>, access: &RequestPolicy) -> Option<Answer> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut request = Request::new(&mut fields);
    let too_large = || word(431, "Request Header Fields Too Large", "", "the head of the request is too large");
    let considered = &bytes[..bytes.len().min(MOST_BYTES)];
    match request.parse(considered) {
        Ok(Status::Complete(_)) => Some(responded(&request, pages, access)),
        Ok(Status::Partial) if considered.len() < MOST_BYTES => None,
        Ok(Status::Partial) | Err(Error::TooManyHeaders) => Some(too_large()),
        Err(Error::Version) => Some(word(505, "HTTP Version Not Supported", "", "this server speaks HTTP/1.0 and 1.1")),
        Err(error) => Some(word(400, "Bad Request", "", &format!("this is no request: {error}"))),
    }
}

/// What a client is told that takes too long to ask.
pub fn time_out() -> Answer {
    word(408, "Request Timeout", "", "the request did not come in time")
}

/// What a client is told when too many others are being served.
pub fn too_many() -> Answer {
    put_off("too many connections")
}

fn put_off(why: &str) -> Answer {
    word(503, "Service Unavailable", &format!("Retry-After: {RETRY}\r\n"), why)
}

fn responded(request: &Request<'_, '_>, pages: Option<Arc<Pages>>, access: &RequestPolicy) -> Answer {
    let named = |name: &'static str| {
        request.headers.iter().filter(move |field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
    };
    // RFC 9112, 3.2: whoever speaks 1.1 says once whom it means.
    if request.version == Some(1) && named("host").count() != 1 {
        return word(400, "Bad Request", "", "a request in HTTP/1.1 has one field Host");
    }
    // RFC 9112, 3.2.2: the host of a whole address counts more than the field.
    let mut named_hosts = match authority(request.path.unwrap_or_default()) {
        Some(host) => vec![host],
        None => named("host").map(|host| std::str::from_utf8(host).unwrap_or_default()).collect(),
    };
    named_hosts.retain(|host| !access.hosts.has(host));
    if !named_hosts.is_empty() {
        let why = "this server has no such name: use its address, or add the name (pericore serve --host NAME)";
        return word(421, "Misdirected Request", "", why);
    }
    if !access.admits(named("authorization")) {
        let why = "a token is wanted: Authorization: Bearer TOKEN, with that of the server's --token-file";
        return word(401, "Unauthorized", "WWW-Authenticate: Bearer\r\n", why);
    }
    let with_body = match request.method {
        Some("GET") => true,
        Some("HEAD") => false,
        _ => return word(405, "Method Not Allowed", "Allow: GET, HEAD\r\n", "only GET and HEAD are known here"),
    };
    let page = match path(request.path.unwrap_or_default()) {
        "/healthz" => {
            let well = || word(200, "OK", "Cache-Control: no-store\r\n", "ok");
            return without(why_unwell(pages.as_deref()).map_or_else(well, put_off), with_body);
        }
        "/" => Page::Front,
        "/metrics" => Page::Metrics(accept::format(named("accept"))),
        _ => return without(word(404, "Not Found", "", "there are only /, /metrics and /healthz here"), with_body),
    };
    let Some(pages) = pages else {
        return without(put_off("nothing has been measured yet: the first interval goes on"), with_body);
    };
    let kind = match page {
        Page::Front => "text/plain; charset=utf-8",
        Page::Metrics(Format::Prometheus) => "text/plain; version=0.0.4; charset=utf-8",
        Page::Metrics(Format::OpenMetrics) => "application/openmetrics-text; version=1.0.0; charset=utf-8",
    };
    let body = Body::Page(pages, page);
    let head = head(200, "OK", kind, "Vary: Accept\r\nCache-Control: no-store\r\n", body.bytes().len());
    without(Answer { status: 200, head, body }, with_body)
}

/// The path of a request's target, which may be a whole address, without the query.
fn path(target: &str) -> &str {
    let target = target.split(['?', '#']).next().unwrap_or_default();
    if target.starts_with('/') {
        return target;
    }
    match target.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |start| &rest[start..]),
        None => target,
    }
}

/// The host of a target that is a whole address.
fn authority(target: &str) -> Option<&str> {
    let (_, rest) = target.split_once("://").filter(|_| !target.starts_with('/'))?;
    rest.split(['/', '?', '#']).next()
}

/// A response of one line.
fn word(status: u16, phrase: &str, fields: &str, line: &str) -> Answer {
    let text = format!("{line}\n");
    let head = head(status, phrase, "text/plain; charset=utf-8", fields, text.len());
    Answer { status, head, body: Body::Word(text) }
}

fn head(status: u16, phrase: &str, kind: &str, fields: &str, length: usize) -> String {
    format!(
        "HTTP/1.1 {status} {phrase}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         X-Content-Type-Options: nosniff\r\n{fields}Connection: close\r\n\r\n"
    )
}

/// The same without a body, if none is wanted: its length is said all the same.
fn without(answer: Answer, with_body: bool) -> Answer {
    if with_body { answer } else { Answer { body: Body::Nothing, ..answer } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::Hosts;

    /// Names that the tests' requests give.
    fn hosts() -> RequestPolicy {
        RequestPolicy::of(Hosts::named(["x", "y", "h", "example.org"].map(str::to_owned)))
    }

    fn pages() -> Option<Arc<Pages>> {
        let text = |text: &str| text.as_bytes().to_vec();
        let (prometheus, open_metrics) = (text("p 1\n"), text("o 1\n# EOF\n"));
        Some(Arc::new(Pages { prometheus, open_metrics, front: text("hello\n"), stale_from: None }))
    }

    fn respond(request: &str) -> Answer {
        answer(request.as_bytes(), pages(), &hosts()).expect("a whole request")
    }

    #[test]
    fn pages_are_found_by_path_and_format() {
        let get = |path: &str, accept: &str| {
            let answer = respond(&format!("GET {path} HTTP/1.1\r\nHost: x\r\n{accept}\r\n"));
            assert_eq!(answer.status, 200, "{path}");
            (String::from_utf8(answer.body.bytes().to_vec()).unwrap(), answer.head)
        };
        let open = "aCCept: application/openmetrics-text; version=1.0.0\r\n";
        for path in ["/metrics", "/metrics?a=b", "http://example.org:9/metrics"] {
            let (body, head) = get(path, "");
            assert_eq!(body, "p 1\n");
            assert!(head.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{head}");
            assert!(head.contains("Content-Length: 4\r\n") && head.ends_with("Connection: close\r\n\r\n"), "{head}");
            let (body, head) = get(path, open);
            assert_eq!(body, "o 1\n# EOF\n");
            assert!(head.contains("application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"), "{head}");
        }
        for path in ["/", "/?", "http://example.org"] {
            assert_eq!(get(path, open).0, "hello\n");
        }
        assert_eq!(get("/healthz", "").0, "ok\n");
        let head = respond("HEAD /metrics HTTP/1.0\r\n\r\n");
        assert!(head.status == 200 && head.body.bytes().is_empty() && head.head.contains("Content-Length: 4"));
    }

    #[test]
    fn what_is_wrong_has_its_status() {
        let long = format!("GET / HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "a".repeat(MOST_BYTES));
        let many = format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: a\r\n".repeat(MOST_FIELDS));
        for (request, status) in [
            ("GET /metric HTTP/1.1\r\nHost: x\r\n\r\n", 404),
            ("GET metrics HTTP/1.1\r\nHost: x\r\n\r\n", 404),
            ("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 405),
            ("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 405),
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
            ("GET /\r\n\r\n", 400),
            ("\x16\x03\x01\x02\x00", 400),
            ("GET / HTTP/2.0\r\n\r\n", 505),
            (&long, 431),
            (&many, 431),
        ] {
            assert_eq!(respond(request).status, status, "{request:?}");
        }
        assert!(respond("DELETE / HTTP/1.1\r\nHost: x\r\n\r\n").head.contains("Allow: GET, HEAD\r\n"));
        let early = answer(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", None, &hosts()).unwrap();
        assert!(early.status == 503 && early.head.contains("Retry-After: "), "{}", early.head);
    }

    /// However the bytes come, nothing is said before the request is whole.
    #[test]
    fn a_part_of_a_request_waits_for_the_rest() {
        let request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";
        for end in 0..request.len() {
            assert!(answer(&request[..end], pages(), &hosts()).is_none(), "{end} bytes");
        }
        assert_eq!(answer(request, pages(), &hosts()).unwrap().status, 200);
    }

    /// What goes over the wire, byte for byte.
    #[test]
    fn heads_and_words_are_whole() {
        let written = |answer: &Answer| answer.head.clone() + std::str::from_utf8(answer.body.bytes()).unwrap();
        assert_eq!(
            written(&respond("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: 4\r\n\
             X-Content-Type-Options: nosniff\r\nVary: Accept\r\nCache-Control: no-store\r\nConnection: close\r\n\r\np 1\n"
        );
        assert!(
            respond("GET / HTTP/1.1\r\nHost: x\r\n\r\n").head.contains("Content-Type: text/plain; charset=utf-8\r\n")
        );
        let refused = |status: &str, length: usize, fields: &str, word: &str| {
            format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
                 X-Content-Type-Options: nosniff\r\n{fields}Connection: close\r\n\r\n{word}\n"
            )
        };
        let retry = "Retry-After: 5\r\n";
        for (answer, status, length, fields, word) in [
            (
                respond("GET /x HTTP/1.1\r\nHost: x\r\n\r\n"),
                "404 Not Found",
                45,
                "",
                "there are only /, /metrics and /healthz here",
            ),
            (
                respond("POST / HTTP/1.1\r\nHost: x\r\n\r\n"),
                "405 Method Not Allowed",
                33,
                "Allow: GET, HEAD\r\n",
                "only GET and HEAD are known here",
            ),
            (respond("GET / HTTP/1.1\r\n\r\n"), "400 Bad Request", 41, "", "a request in HTTP/1.1 has one field Host"),
            (
                respond("GET / HTTP/2.0\r\n\r\n"),
                "505 HTTP Version Not Supported",
                36,
                "",
                "this server speaks HTTP/1.0 and 1.1",
            ),
            (time_out(), "408 Request Timeout", 33, "", "the request did not come in time"),
            (too_many(), "503 Service Unavailable", 21, retry, "too many connections"),
            (
                answer(b"GET / HTTP/1.0\r\n\r\n", None, &hosts()).unwrap(),
                "503 Service Unavailable",
                58,
                retry,
                "nothing has been measured yet: the first interval goes on",
            ),
        ] {
            assert_eq!(answer.status.to_string(), status[..3]);
            assert_eq!(written(&answer), refused(status, length, fields, word));
        }
        let garbled = respond("GET /\x01 HTTP/1.1\r\n\r\n");
        assert!(written(&garbled).contains("\r\n\r\nthis is no request: invalid "), "{}", written(&garbled));
    }

    /// HEAD is answered as GET is, a refusal among it, without what follows the head.
    #[test]
    fn a_head_has_the_length_of_what_it_does_not_bring() {
        for (request, pages) in [("/metrics", pages()), ("/", pages()), ("/nothing", pages()), ("/metrics", None)] {
            let of = |method: &str| {
                let bytes = format!("{method} {request} HTTP/1.0\r\n\r\n");
                answer(bytes.as_bytes(), pages.clone(), &hosts()).unwrap()
            };
            let (get, head) = (of("GET"), of("HEAD"));
            assert_eq!((get.status, &get.head), (head.status, &head.head), "{request}");
            assert!(!get.body.bytes().is_empty() && head.body.bytes().is_empty(), "{request}");
        }
    }

    /// The head may have 8,192 bytes and 64 fields; with one more it is refused, and not waited for.
    #[test]
    fn the_limits_of_a_head_are_exact() {
        let padded = |length: usize| {
            let (start, end) = ("GET / HTTP/1.1\r\nHost: x\r\nA: ", "\r\n\r\n");
            format!("{start}{}{end}", "a".repeat(length - start.len() - end.len()))
        };
        assert_eq!(respond(&padded(8192)).status, 200);
        assert_eq!(respond(&padded(8193)).status, 431);
        let unfinished = padded(9000);
        assert!(answer(&unfinished.as_bytes()[..8191], pages(), &hosts()).is_none());
        assert_eq!(respond(&unfinished[..8192]).status, 431);
        let fields = |number: usize| format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: a\r\n".repeat(number - 1));
        assert_eq!((respond(&fields(64)).status, respond(&fields(65)).status), (200, 431));
        let said = respond(&fields(65));
        assert!(said.head.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"));
        assert_eq!(said.body.bytes(), b"the head of the request is too large\n");
    }

    #[test]
    fn paths_are_exact_and_targets_may_be_whole_addresses() {
        let status = |target: &str| respond(&format!("GET {target} HTTP/1.0\r\n\r\n")).status;
        for target in
            ["/", "/metrics", "/#x", "/metrics#x", "/metrics?", "http://h/metrics?x=/", "http://h?x", "https://h:1/"]
        {
            assert_eq!(status(target), 200, "{target}");
        }
        for target in ["/metrics/", "//metrics", "/Metrics", "/metricsx", "*", "metrics", "http:/metrics", "http://h/x"]
        {
            assert_eq!(status(target), 404, "{target}");
        }
        // HTTP/1.0 knows no Host, and two are wrong in 1.1 alone.
        assert_eq!(respond("GET / HTTP/1.0\r\nHost: x\r\nhost: y\r\n\r\n").status, 200);
        assert_eq!(respond("GET / HTTP/1.1\r\nHOST: x\r\n\r\n").status, 200);
    }

    /// A page whose name leads here, and what it could put in its place.
    #[test]
    fn a_request_for_another_host_gets_no_numbers() {
        let of = |request: &str| respond(&format!("{request}\r\n\r\n"));
        let status = |request: &str| of(request).status;
        for request in [
            "GET /metrics HTTP/1.1\r\nHost: evil.example:9988",
            "HEAD /metrics HTTP/1.1\r\nHost: evil.example",
            "GET /metrics HTTP/1.0\r\nHost: evil.example",
            "GET /metrics HTTP/1.1\r\nHost: ",
            "GET http://evil.example/metrics HTTP/1.1\r\nHost: x",
            "GET / HTTP/1.0\r\nHost: x\r\nHost: evil.example",
        ] {
            assert_eq!(status(request), 421, "{request}");
        }
        for request in [
            "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9988",
            "GET /metrics HTTP/1.1\r\nHost: [::1]:9988",
            "GET /metrics HTTP/1.1\r\nHost: localhost:9988",
            "GET http://x/metrics HTTP/1.1\r\nHost: evil.example",
            "GET /metrics?http://evil.example HTTP/1.1\r\nHost: x",
            "GET /metrics HTTP/1.0",
        ] {
            assert_eq!(status(request), 200, "{request}");
        }
        let refused = of("GET / HTTP/1.1\r\nHost: evil.example");
        assert!(String::from_utf8_lossy(refused.body.bytes()).contains("--host NAME"));
    }
}
