//! Requests and their responses, byte for byte.

use super::*;
use crate::board::MetricsPage;
use crate::hosts::Hosts;

/// Names that the tests' requests give.
fn hosts() -> RequestPolicy {
    RequestPolicy::of(Hosts::named(["x", "y", "h", "example.org"].map(str::to_owned)))
}

fn pages() -> Option<Arc<Pages>> {
    let text = |text: &str| text.as_bytes().to_vec();
    let (prometheus, open_metrics) = (text("p 1\n"), text("o 1\n# EOF\n"));
    let metrics = MetricsPage::written(prometheus, open_metrics);
    Some(Arc::new(Pages { metrics, front: text("hello\n"), stale_from: None }))
}

fn reply(request: &str) -> HttpResponse {
    respond(request.as_bytes(), pages(), None, &hosts()).expect("a whole request")
}

#[test]
fn pages_are_found_by_path_and_format() {
    let get = |path: &str, accept: &str| {
        let response = reply(&format!("GET {path} HTTP/1.1\r\nHost: x\r\n{accept}\r\n"));
        assert_eq!(response.status, 200, "{path}");
        (String::from_utf8(response.body.bytes().to_vec()).unwrap(), response.head)
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
    let head = reply("HEAD /metrics HTTP/1.0\r\n\r\n");
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
        assert_eq!(reply(request).status, status, "{request:?}");
    }
    assert!(reply("DELETE / HTTP/1.1\r\nHost: x\r\n\r\n").head.contains("Allow: GET, HEAD\r\n"));
    let early = respond(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", None, None, &hosts()).unwrap();
    assert!(early.status == 503 && early.head.contains("Retry-After: "), "{}", early.head);
}

/// However the bytes come, nothing is refused before the request is whole.
#[test]
fn a_part_of_a_request_waits_for_the_rest() {
    let request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";
    for end in 0..request.len() {
        assert!(respond(&request[..end], pages(), None, &hosts()).is_none(), "{end} bytes");
    }
    assert_eq!(respond(request, pages(), None, &hosts()).unwrap().status, 200);
}

/// What goes over the wire, byte for byte.
#[test]
fn heads_and_words_are_whole() {
    let written = |response: &HttpResponse| response.head.clone() + std::str::from_utf8(response.body.bytes()).unwrap();
    assert_eq!(
        written(&reply("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")),
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: 4\r\n\
         X-Content-Type-Options: nosniff\r\nVary: Accept\r\nCache-Control: no-store\r\nConnection: close\r\n\r\np 1\n"
    );
    assert!(reply("GET / HTTP/1.1\r\nHost: x\r\n\r\n").head.contains("Content-Type: text/plain; charset=utf-8\r\n"));
    let refused = |status: &str, length: usize, fields: &str, word: &str| {
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
             X-Content-Type-Options: nosniff\r\n{fields}Connection: close\r\n\r\n{word}\n"
        )
    };
    let retry = "Retry-After: 5\r\n";
    for (response, status, length, fields, word) in [
        (
            reply("GET /x HTTP/1.1\r\nHost: x\r\n\r\n"),
            "404 Not Found",
            57,
            "",
            "there are only /, /metrics, /live.json and /healthz here",
        ),
        (
            reply("POST / HTTP/1.1\r\nHost: x\r\n\r\n"),
            "405 Method Not Allowed",
            33,
            "Allow: GET, HEAD\r\n",
            "only GET and HEAD are known here",
        ),
        (reply("GET / HTTP/1.1\r\n\r\n"), "400 Bad Request", 41, "", "a request in HTTP/1.1 has one field Host"),
        (
            reply("GET / HTTP/2.0\r\n\r\n"),
            "505 HTTP Version Not Supported",
            36,
            "",
            "this server speaks HTTP/1.0 and 1.1",
        ),
        (time_out(), "408 Request Timeout", 33, "", "the request did not come in time"),
        (too_many(), "503 Service Unavailable", 21, retry, "too many connections"),
        (
            respond(b"GET / HTTP/1.0\r\n\r\n", None, None, &hosts()).unwrap(),
            "503 Service Unavailable",
            58,
            retry,
            "nothing has been measured yet: the first interval goes on",
        ),
    ] {
        assert_eq!(response.status.to_string(), status[..3]);
        assert_eq!(written(&response), refused(status, length, fields, word));
    }
    let garbled = reply("GET /\x01 HTTP/1.1\r\n\r\n");
    assert!(written(&garbled).contains("\r\n\r\nthis is no request: invalid "), "{}", written(&garbled));
}

/// HEAD is answered as GET is, a refusal among it, without what follows the head.
#[test]
fn a_head_has_the_length_of_what_it_does_not_bring() {
    for (request, pages) in [("/metrics", pages()), ("/", pages()), ("/nothing", pages()), ("/metrics", None)] {
        let of = |method: &str| {
            let bytes = format!("{method} {request} HTTP/1.0\r\n\r\n");
            respond(bytes.as_bytes(), pages.clone(), None, &hosts()).unwrap()
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
    assert_eq!(reply(&padded(8192)).status, 200);
    assert_eq!(reply(&padded(8193)).status, 431);
    let unfinished = padded(9000);
    assert!(respond(&unfinished.as_bytes()[..8191], pages(), None, &hosts()).is_none());
    assert_eq!(reply(&unfinished[..8192]).status, 431);
    let fields = |number: usize| format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: a\r\n".repeat(number - 1));
    assert_eq!((reply(&fields(64)).status, reply(&fields(65)).status), (200, 431));
    let refused = reply(&fields(65));
    assert!(refused.head.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"));
    assert_eq!(refused.body.bytes(), b"the head of the request is too large\n");
}

#[test]
fn paths_are_exact_and_targets_may_be_whole_addresses() {
    let status = |target: &str| reply(&format!("GET {target} HTTP/1.0\r\n\r\n")).status;
    for target in
        ["/", "/metrics", "/#x", "/metrics#x", "/metrics?", "http://h/metrics?x=/", "http://h?x", "https://h:1/"]
    {
        assert_eq!(status(target), 200, "{target}");
    }
    for target in ["/metrics/", "//metrics", "/Metrics", "/metricsx", "*", "metrics", "http:/metrics", "http://h/x"] {
        assert_eq!(status(target), 404, "{target}");
    }
    // HTTP/1.0 knows no Host, and two are wrong in 1.1 alone.
    assert_eq!(reply("GET / HTTP/1.0\r\nHost: x\r\nhost: y\r\n\r\n").status, 200);
    assert_eq!(reply("GET / HTTP/1.1\r\nHOST: x\r\n\r\n").status, 200);
}

/// A page whose name leads here, and what it could put in its place.
#[test]
fn a_request_for_another_host_gets_no_numbers() {
    let of = |request: &str| reply(&format!("{request}\r\n\r\n"));
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

/// What an open page gets: the number that it asked with; nothing while nothing has been measured.
#[derive(Debug)]
struct Echo(bool);

impl crate::live::PageFeed for Echo {
    fn since(&self, samples: u64) -> Option<Vec<u8>> {
        self.0.then(|| samples.to_string().into_bytes())
    }
}

const BROWSER: &str = "Accept: text/html,application/xhtml+xml,*/*;q=0.8";
const SECRET: &str = "0123456789abcdef";

/// The response of a server with a page for browsers, of which a token is wanted or not.
fn of_live(request: &str, is_measured: bool, wants_token: bool) -> HttpResponse {
    let live = Arc::new(LivePage { page: "<p>".to_owned(), feed: Box::new(Echo(is_measured)) });
    let token = wants_token.then(|| crate::access::BearerToken::of(SECRET).unwrap());
    let access = hosts().with_token(token);
    respond(format!("{request}\r\n\r\n").as_bytes(), pages(), Some(&live), &access).expect("a whole request")
}

#[test]
fn browsers_get_the_page_and_others_the_text() {
    let body = |request: &str| {
        let response = of_live(request, true, false);
        (response.status, String::from_utf8(response.body.bytes().to_vec()).unwrap())
    };
    assert_eq!(body(&format!("GET / HTTP/1.0\r\n{BROWSER}")), (200, "<p>".to_owned()));
    assert_eq!(body("GET / HTTP/1.0\r\nAccept: */*"), (200, "hello\n".to_owned()));
    assert_eq!(body(&format!("HEAD / HTTP/1.0\r\n{BROWSER}")), (200, String::new()));
    assert_eq!(body(&format!("GET /metrics HTTP/1.0\r\n{BROWSER}")), (200, "p 1\n".to_owned()));
    assert_eq!(body(&format!("POST / HTTP/1.0\r\n{BROWSER}")).0, 405);
    assert_eq!(body(&format!("GET / HTTP/1.1\r\nHost: evil.example\r\n{BROWSER}")).0, 421);
    // Before the first sample the page is there, and waits; without a page `/` is the text for browsers, too.
    assert_eq!(of_live(&format!("GET / HTTP/1.0\r\n{BROWSER}"), false, false).status, 200);
    assert_eq!(reply(&format!("GET / HTTP/1.0\r\n{BROWSER}\r\n\r\n")).body.bytes(), b"hello\n");
    let head = of_live(&format!("GET / HTTP/1.0\r\n{BROWSER}"), true, false).head;
    for field in [
        "Content-Type: text/html; charset=utf-8",
        "Content-Length: 3",
        "Vary: Accept",
        "Cache-Control: no-store",
        "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
         img-src data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        "Referrer-Policy: no-referrer",
        "Cross-Origin-Resource-Policy: same-origin",
        "X-Content-Type-Options: nosniff",
    ] {
        assert!(head.contains(&format!("\r\n{field}\r\n")), "{field}: {head}");
    }
}

#[test]
fn an_open_page_gets_what_is_new() {
    let body =
        |target: &str| String::from_utf8(of_live(&format!("GET {target} HTTP/1.0"), true, false).body.bytes().to_vec());
    for (target, samples) in [
        ("/live.json", "0"),
        ("/live.json?after=17", "17"),
        ("http://h/live.json?x=1&after=17#after=3", "17"),
        ("/live.json?after=", "0"),
        ("/live.json?after=-1", "0"),
        ("/live.json?after=99999999999999999999", "0"),
        ("/live.json?afterwards=2", "0"),
    ] {
        assert_eq!(body(target).as_deref(), Ok(samples), "{target}");
    }
    let head = of_live("GET /live.json HTTP/1.0", true, false).head;
    assert!(
        head.contains("Content-Type: application/json\r\n") && head.contains("Cache-Control: no-store\r\n"),
        "{head}"
    );
    assert!(!head.contains("Access-Control"), "no other page reads it: {head}");
    assert!(of_live("HEAD /live.json HTTP/1.0", true, false).body.bytes().is_empty());
    assert_eq!(of_live("GET /live.json HTTP/1.0", false, false).status, 503);
    assert_eq!(of_live("GET /live.jso HTTP/1.0", true, false).status, 404);
}

/// A browser sends no token by itself: with its 401 comes the page, which asks for it. The numbers want it.
#[test]
fn a_token_guards_the_numbers_of_the_page() {
    let without = of_live(&format!("GET / HTTP/1.0\r\n{BROWSER}"), true, true);
    assert_eq!((without.status, without.body.bytes()), (401, b"<p>".as_slice()));
    assert!(without.head.contains("WWW-Authenticate: Bearer\r\n") && without.head.contains("frame-ancestors 'none'"));
    for target in ["/live.json", "/metrics", "/other", "/healthz"] {
        let refused = of_live(&format!("GET {target} HTTP/1.0\r\n{BROWSER}"), true, true);
        assert!(refused.status == 401 && refused.body.bytes().starts_with(b"a token is wanted"), "{target}");
    }
    assert_eq!(of_live("GET / HTTP/1.0", true, true).body.bytes().first(), Some(&b'a'));
    let with = of_live(&format!("GET /live.json HTTP/1.0\r\nAuthorization: Bearer {SECRET}"), true, true);
    assert_eq!((with.status, with.body.bytes()), (200, b"0".as_slice()));
}
