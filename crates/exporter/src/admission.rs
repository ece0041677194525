//! Who may be connected: so many in all, so many of one peer. Where there is no room, a connection that has not asked
//! yet makes some.
//!
//! A client that asks at once is always heard: those that connect and say nothing only put off each other.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::limits::Limits;

/// Whose connections count together: an address, or the network of 64 bits that a host of IPv6 chooses addresses from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    V4(Ipv4Addr),
    V6(u64),
}

impl Peer {
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address),
            IpAddr::V6(address) => Self::V6((address.to_bits() >> 64) as u64),
        }
    }
}

/// What becomes of a new connection.
#[derive(Debug)]
pub enum Admission {
    /// It is served.
    Served(Admitted),
    /// It is told to come again.
    PutOff(Admitted),
    /// It is closed.
    Closed,
}

/// The places of a server.
#[derive(Clone)]
pub struct Admissions {
    limits: Limits,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    next: u64,
    /// In the order in which they came.
    open: Vec<Open>,
}

struct Open {
    number: u64,
    /// Of clients that come through the file system there is no address.
    peer: Option<Peer>,
    stage: Stage,
    /// Ends the connection, whatever its thread waits for.
    cut: Box<dyn Fn() + Send>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Its request has not come.
    Waits,
    Served,
    PutOff,
}

impl Admissions {
    pub fn new(limits: Limits) -> Self {
        Self { limits, state: Arc::default() }
    }

    /// Takes a connection in. `cut` ends it, and may be called until its place is dropped.
    pub fn admit(&self, peer: Option<Peer>, cut: Box<dyn Fn() + Send>) -> Admission {
        let mut state = self.lock();
        let of_peer = |open: &Open| peer.is_some() && open.peer == peer;
        let has_room = match state.served().filter(|open| of_peer(open)).count() >= self.limits.of_one_peer {
            true => state.cut_first(of_peer),
            false => {
                state.served().count() < self.limits.connections || {
                    let most = state.busiest_that_waits();
                    state.cut_first(|open| open.peer == most)
                }
            }
        };
        let put_off = state.open.iter().filter(|open| open.stage == Stage::PutOff).count();
        if !has_room && put_off >= self.limits.connections {
            return Admission::Closed;
        }
        let number = state.next;
        state.next += 1;
        let stage = if has_room { Stage::Waits } else { Stage::PutOff };
        state.open.push(Open { number, peer, stage, cut });
        let place = Admitted { places: self.clone(), number };
        if has_room { Admission::Served(place) } else { Admission::PutOff(place) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is made as a whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn served(&self) -> impl Iterator<Item = &Open> {
        self.open.iter().filter(|open| open.stage != Stage::PutOff)
    }

    /// Ends the connection that has waited longest without a request, among some; false if there is none.
    fn cut_first(&mut self, among: impl Fn(&Open) -> bool) -> bool {
        let Some(at) = self.open.iter().position(|open| open.stage == Stage::Waits && among(open)) else {
            return false;
        };
        (self.open.remove(at).cut)();
        true
    }

    /// The peer with the most connections of those with one that has not asked yet.
    fn busiest_that_waits(&self) -> Option<Peer> {
        let number = |peer| self.served().filter(|open| open.peer == peer).count();
        let waiting = self.open.iter().filter(|open| open.stage == Stage::Waits);
        waiting.map(|open| open.peer).max_by_key(|peer| number(*peer)).flatten()
    }
}

/// A connection's place, free again when it is dropped.
pub struct Admitted {
    places: Admissions,
    number: u64,
}

impl std::fmt::Debug for Admitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "place {}", self.number)
    }
}

impl Admitted {
    /// Its request has come: from here on no other takes its place.
    pub fn note_request(&self) {
        let mut state = self.places.lock();
        if let Some(open) = state.open.iter_mut().find(|open| open.number == self.number && open.stage == Stage::Waits)
        {
            open.stage = Stage::Served;
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.places.lock().open.retain(|open| open.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    const TIME: Duration = Duration::from_secs(600);

    fn places(connections: usize, of_one_peer: usize) -> Admissions {
        Admissions::new(Limits { request: TIME, reply: TIME, connections, of_one_peer })
    }

    /// Connects from 10.0.0.`last`, and counts in `cuts` when that is ended.
    fn come(places: &Admissions, last: u8, cuts: &Arc<AtomicUsize>) -> Admission {
        let cuts = Arc::clone(cuts);
        let cut = move || {
            cuts.fetch_add(1, Ordering::Relaxed);
        };
        places.admit(Some(Peer::of([10, 0, 0, last].into())), Box::new(cut))
    }

    #[test]
    fn the_peer_with_the_most_connections_makes_room() {
        let (places, [alone, many, new]) = (places(4, 3), std::array::from_fn(|_| Arc::default()));
        let _alone = come(&places, 1, &alone);
        let _many: Vec<Admission> = (0..3).map(|_| come(&places, 2, &many)).collect();
        let count = |cuts: &Arc<AtomicUsize>| cuts.load(Ordering::Relaxed);
        // A fourth of the same peer takes the place of its first.
        assert!(matches!(come(&places, 2, &many), Admission::Served(_)));
        assert_eq!((count(&alone), count(&many)), (0, 1));
        let third = come(&places, 3, &new);
        assert!(matches!(third, Admission::Served(_)));
        assert_eq!((count(&alone), count(&many), count(&new)), (0, 1, 0), "the fourth has gone, and left a place");
        let _fourth = come(&places, 4, &new);
        assert_eq!((count(&alone), count(&many), count(&new)), (0, 2, 0));
    }

    #[test]
    fn who_has_sent_a_request_keeps_the_place_and_others_are_put_off() {
        let (places, cuts) = (places(2, 1), Arc::default());
        let Admission::Served(first) = come(&places, 1, &cuts) else { panic!("there is room") };
        first.note_request();
        let late = come(&places, 1, &cuts);
        assert!(matches!(late, Admission::PutOff(_)), "{late:?}");
        let Admission::Served(other) = come(&places, 2, &cuts) else { panic!("there is room for others") };
        other.note_request();
        let later = come(&places, 3, &cuts);
        assert!(matches!(later, Admission::PutOff(_)), "{later:?}");
        assert!(matches!(come(&places, 4, &cuts), Admission::Closed));
        drop((first, late));
        assert!(matches!(come(&places, 1, &cuts), Admission::Served(_)));
        assert_eq!(cuts.load(Ordering::Relaxed), 0);
    }

    /// RFC 4291: the upper 64 bits are the network's. An address of IPv4 is the same within IPv6.
    #[test]
    fn a_host_of_ipv6_has_one_network() {
        let peer = |text: &str| Peer::of(text.parse().unwrap());
        assert_eq!(peer("2001:db8::1"), peer("2001:db8::ffff:1:2:3"));
        assert_ne!(peer("2001:db8::1"), peer("2001:db8:0:1::1"));
        assert_eq!(peer("::ffff:10.0.0.1"), peer("10.0.0.1"));
        assert_ne!(peer("10.0.0.1"), peer("10.0.0.2"));
    }
}
