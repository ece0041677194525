//! The state of a socket's uncore.

use std::collections::{HashMap, VecDeque};

use pericore_engine::Tick;

use super::carrier::{Carrier, Link};
use super::parameters::Parameters;
use super::request::{RequestId, Waiting};
use pericore_facts::nehalem::{LINKS, Port, Use};
use pericore_parts::llc::Llc;

/// The LLC: 8 MB, 16 ways, 8192 sets (vendor's product data; CPUID leaf 4 of the part).
pub type Cache = Llc<16, 8192>;

/// A line with requests at its home.
#[derive(Debug, Clone, Copy)]
pub struct AtHome {
    /// The request whose turn it is.
    pub owner: RequestId,
    /// The one that came last.
    pub last: RequestId,
    /// Requests now, and at most since there were two.
    pub requests: u8,
    pub most: u8,
}

/// One socket.
#[derive(Debug)]
pub struct Socket {
    pub llc: Cache,
    /// Free entries of the trackers, and what waits for one: requests, or snoops for the third.
    pub tracker_free: [u8; 3],
    pub tracker_waiting: [Waiting; 3],
    /// First tick at which the LLC can look up another line: it takes one in a cycle.
    pub pipeline_free: Tick,
    /// Lines with a request in the global queue: the one whose turn it is. Others are chained behind it.
    pub busy: HashMap<u32, RequestId>,
    /// Free transaction numbers of this home by source, and what waits for one.
    pub number_free: [u8; 3],
    pub number_waiting: [Waiting; 3],
    /// Lines with requests at this home.
    pub at_home: HashMap<u32, AtHome>,
    pub ports: [Carrier; Port::COUNT],
    pub links: [Link; LINKS],
    /// Requests in the home logic.
    pub home_requests: u16,
}

impl Socket {
    /// An idle socket with an empty LLC.
    pub fn new(parameters: &Parameters) -> Self {
        Self {
            llc: Cache::new(),
            tracker_free: parameters.trackers,
            tracker_waiting: std::array::from_fn(|_| VecDeque::new()),
            pipeline_free: 0,
            busy: HashMap::with_capacity(128),
            number_free: parameters.home_entries,
            number_waiting: std::array::from_fn(|_| VecDeque::new()),
            at_home: HashMap::with_capacity(128),
            ports: std::array::from_fn(|_| Carrier::default()),
            links: std::array::from_fn(|_| Link::new(parameters.credits)),
            home_requests: 0,
        }
    }

    /// What is in use, since when.
    pub fn uses(&self) -> impl Iterator<Item = (Use, Tick)> {
        let ports = Port::ALL.into_iter().zip(&self.ports);
        let ports = ports.filter_map(|(port, carrier)| Some((Use::Port(port), carrier.since()?)));
        let links = (0..).zip(&self.links).flat_map(|(number, link)| link.uses(number));
        ports.chain(links)
    }

    /// True if nothing is carried anywhere.
    pub fn is_idle(&self) -> bool {
        self.ports.iter().all(Carrier::is_idle) && self.links.iter().all(Link::is_idle)
    }
}
