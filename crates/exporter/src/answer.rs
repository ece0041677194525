//! From the bytes of a request to a response. Pure: the same bytes give the same answer.

use std::sync::Arc;

use httparse::{Error, Request, Status};

use crate::accept;
use crate::access::RequestPolicy;
use crate::board::Pages;
use crate::health::why_unwell;
use crate::live::{HEAD_FIELDS, LivePage};
use crate::text::Format;

/// Bytes of a request's head at most.
pub const MOST_BYTES: usize = 8192;

/// Header fields of a request at most.
const MOST_FIELDS: usize = 64;

/// Seconds until a client that was put off should ask again.
const RETRY: u8 = 5;

const NOTHING_YET: &str = "nothing has been measured yet: the first interval goes on";

/// A whole response, after which the connection is closed.
#[derive(Debug, Clone)]
pub struct HttpResponse {
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
    /// The page for browsers.
    Live(Arc<LivePage>),
    /// What an open page has asked for.
    News(Vec<u8>),
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
            Self::Live(live) => live.page.as_bytes(),
            Self::News(bytes) => bytes,
            Self::Page(pages, Page::Front) => &pages.front,
            Self::Page(pages, Page::Metrics(format)) => pages.metrics.text(*format),
        }
    }
}

/// The answer to the bytes of a request that have come so far, or nothing if more have to come. `pages` are the
/// newest, if there are any; `live` is the page for browsers, if there is one; `access` is what a request has to bring.
pub fn respond(
    bytes: &[u8],
    pages: Option<Arc<Pages>>,
    live: Option<&Arc<LivePage>>,
    access: &RequestPolicy,
) -> Option<HttpResponse> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut request = Request::new(&mut fields);
    let too_large = || word(431, "Request Header Fields Too Large", "", "the head of the request is too large");
    let considered = &bytes[..bytes.len().min(MOST_BYTES)];
    match request.parse(considered) {
        Ok(Status::Complete(_)) => Some(responded(&request, pages, live, access)),
        Ok(Status::Partial) if considered.len() < MOST_BYTES => None,
        Ok(Status::Partial) | Err(Error::TooManyHeaders) => Some(too_large()),
        Err(Error::Version) => Some(word(505, "HTTP Version Not Supported", "", "this server speaks HTTP/1.0 and 1.1")),
        Err(error) => Some(word(400, "Bad Request", "", &format!("this is no request: {error}"))),
    }
}

/// What a client is told that takes too long to ask.
pub fn time_out() -> HttpResponse {
    word(408, "Request Timeout", "", "the request did not come in time")
}

/// What a client is told when too many others are being served.
pub fn too_many() -> HttpResponse {
    put_off("too many connections")
}

fn put_off(why: &str) -> HttpResponse {
    word(503, "Service Unavailable", &format!("Retry-After: {RETRY}\r\n"), why)
}

fn responded(
    request: &Request<'_, '_>,
    pages: Option<Arc<Pages>>,
    live: Option<&Arc<LivePage>>,
    access: &RequestPolicy,
) -> HttpResponse {
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
    let target = request.path.unwrap_or_default();
    let for_browser = live.filter(|_| path(target) == "/" && accept::takes_html(named("accept")));
    if !access.admits(named("authorization")) {
        // A browser sends no token by itself: the page, which has no number, asks the user for it.
        if let Some(live) = for_browser.filter(|_| request.method == Some("GET")) {
            return shown(live, 401, "Unauthorized", "WWW-Authenticate: Bearer\r\n");
        }
        let why = "a token is wanted: Authorization: Bearer TOKEN, with that of the server's --token-file";
        return word(401, "Unauthorized", "WWW-Authenticate: Bearer\r\n", why);
    }
    let with_body = match request.method {
        Some("GET") => true,
        Some("HEAD") => false,
        _ => return word(405, "Method Not Allowed", "Allow: GET, HEAD\r\n", "only GET and HEAD are known here"),
    };
    if let Some(live) = for_browser {
        return without(shown(live, 200, "OK", ""), with_body);
    }
    let page = match path(target) {
        "/healthz" => {
            let well = || word(200, "OK", "Cache-Control: no-store\r\n", "ok");
            return without(why_unwell(pages.as_deref()).map_or_else(well, put_off), with_body);
        }
        "/live.json" => {
            let news = live.and_then(|live| live.feed.since(after(target)));
            return without(news.map_or_else(|| put_off(NOTHING_YET), fed), with_body);
        }
        "/" => Page::Front,
        "/metrics" => Page::Metrics(accept::format(named("accept"))),
        _ => {
            return without(
                word(404, "Not Found", "", "there are only /, /metrics, /live.json and /healthz here"),
                with_body,
            );
        }
    };
    let Some(pages) = pages else {
        return without(put_off(NOTHING_YET), with_body);
    };
    let kind = match page {
        Page::Front => "text/plain; charset=utf-8",
        Page::Metrics(Format::Prometheus) => "text/plain; version=0.0.4; charset=utf-8",
        Page::Metrics(Format::OpenMetrics) => "application/openmetrics-text; version=1.0.0; charset=utf-8",
    };
    let body = Body::Page(pages, page);
    let head = head(200, "OK", kind, "Vary: Accept\r\nCache-Control: no-store\r\n", body.bytes().len());
    without(HttpResponse { status: 200, head, body }, with_body)
}

/// The page for browsers.
fn shown(live: &Arc<LivePage>, status: u16, phrase: &str, fields: &str) -> HttpResponse {
    let fields = format!("{fields}Vary: Accept\r\nCache-Control: no-store\r\n{HEAD_FIELDS}");
    let body = Body::Live(Arc::clone(live));
    let head = head(status, phrase, "text/html; charset=utf-8", &fields, body.bytes().len());
    HttpResponse { status, head, body }
}

/// What is new to an open page.
fn fed(news: Vec<u8>) -> HttpResponse {
    let head = head(200, "OK", "application/json", "Cache-Control: no-store\r\n", news.len());
    HttpResponse { status: 200, head, body: Body::News(news) }
}

/// The samples that an open page has seen, of its request's query `after=SAMPLES`; 0 if it says nothing.
fn after(target: &str) -> u64 {
    let target = target.split('#').next().unwrap_or_default();
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let value = query.split('&').find_map(|part| part.strip_prefix("after="));
    value.and_then(|value| value.parse().ok()).unwrap_or(0)
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
fn word(status: u16, phrase: &str, fields: &str, line: &str) -> HttpResponse {
    let text = format!("{line}\n");
    let head = head(status, phrase, "text/plain; charset=utf-8", fields, text.len());
    HttpResponse { status, head, body: Body::Word(text) }
}

fn head(status: u16, phrase: &str, kind: &str, fields: &str, length: usize) -> String {
    format!(
        "HTTP/1.1 {status} {phrase}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         X-Content-Type-Options: nosniff\r\n{fields}Connection: close\r\n\r\n"
    )
}

/// The same without a body, if none is wanted: its length is said all the same.
fn without(answer: HttpResponse, with_body: bool) -> HttpResponse {
    if with_body { answer } else { HttpResponse { body: Body::Nothing, ..answer } }
}

#[cfg(test)]
mod tests;
