//! Which names a request may call the server by.
//!
//! A page from anywhere can have a browser ask a server on its own machine, if the page's name is made to lead there
//! (DNS rebinding). Such a request names the page's host: that is not ours, and the browser gets no numbers to hand
//! on. An address leads nowhere else.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The names of a server, beside its addresses and `localhost`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts {
    names: Vec<String>,
    /// True where no browser comes, as to a Unix socket.
    is_any: bool,
}

impl Hosts {
    /// These names; `*` stands for all.
    pub fn named(names: impl IntoIterator<Item = String>) -> Self {
        let names: Vec<String> = names.into_iter().map(|name| name.trim_end_matches('.').to_owned()).collect();
        Self { is_any: names.iter().any(|name| name == "*"), names }
    }

    /// All names.
    pub const fn any() -> Self {
        Self { names: Vec::new(), is_any: true }
    }

    /// True if a request may name this host, with or without a port.
    pub fn has(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        self.is_any
            || name.parse::<Ipv4Addr>().is_ok()
            || is_ipv6(name)
            || is("localhost")
            || self.names.iter().any(|known| is(known))
    }
}

/// The host of `HOST[:PORT]`, without the dot that may end it.
fn without_port(host: &str) -> Option<&str> {
    let (name, port) = match host.rfind(']') {
        Some(end) => host.split_at(end + 1),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let has_port =
        port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    has_port.then(|| name.trim_end_matches('.')).filter(|name| !name.is_empty())
}

fn is_ipv6(name: &str) -> bool {
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_the_own_names_are_ours() {
        let hosts = Hosts::named(["node7".to_owned(), "node7.example.org.".to_owned()]);
        for host in [
            "127.0.0.1",
            "127.0.0.1:9988",
            "10.1.2.3:80",
            "[::1]:9988",
            "[2001:db8::1]",
            "localhost",
            "LOCALHOST:1",
            "localhost.:9988",
            "node7:9988",
            "Node7.Example.org",
            "node7.example.org.:1",
            "node7:",
        ] {
            assert!(hosts.has(host), "{host}");
        }
        for host in [
            "",
            ":9988",
            "evil.example",
            "evil.example:9988",
            "localhost.evil.example",
            "node7.evil.example",
            "127.0.0.1.evil.example",
            "127.0.0.1:9988:1",
            "127.0.0.1:x",
            "[::1",
            "[::1]x",
            "[evil]",
            "user@127.0.0.1",
            "2130706433",
            "*",
        ] {
            assert!(!hosts.has(host), "{host}");
        }
        assert!(Hosts::any().has("evil.example") && Hosts::named(["*".to_owned()]).has("evil.example"));
    }
}
