//! The page that a browser shows, and what it asks for while it is open.

/// Fields of the page's head: nothing is loaded from elsewhere, no other page may have it inside, and no address of it
/// goes to others.
pub const HEAD_FIELDS: &str = "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src \
    'unsafe-inline'; img-src data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n\
    Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n";

/// A page for browsers without any number in it, and where its numbers come from.
#[derive(Debug)]
pub struct LivePage {
    /// The page, in HTML.
    pub page: String,
    /// What it asks for.
    pub feed: Box<dyn PageFeed>,
}

/// What an open page asks for again and again, from threads that serve.
pub trait PageFeed: std::fmt::Debug + Send + Sync {
    /// What is new after so many samples, as JSON; all that there is if that is too long ago. Nothing before the first
    /// sample.
    fn since(&self, samples: u64) -> Option<Vec<u8>>;
}
