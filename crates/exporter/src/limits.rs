//! What a client can take.

use std::time::Duration;

/// Limits of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time from the connection to the end of the request.
    pub request: Duration,
    /// Time from there to the end of the answer.
    pub reply: Duration,
    /// Connections at the same time. When more come, those that have not asked yet are closed; if all have, who comes
    /// is put off at once.
    pub connections: usize,
    /// Connections of one address, or network of IPv6, at the same time.
    pub of_one_peer: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let (request, reply) = (Duration::from_secs(2), Duration::from_secs(5));
        Self { request, reply, connections: 32, of_one_peer: 16 }
    }
}
