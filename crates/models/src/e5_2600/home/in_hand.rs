//! Which requests a home agent is serving: the next for a line waits until the one before it is through.

use pericore_engine::search::matches;

use crate::e5_2600::parameters::MOST_SOCKETS;
use pericore_parts::{NO_REQUEST, RequestId};

const GROUP: usize = 32;
const FREE: u32 = u32::MAX;

/// Requests in hand at a home agent, by line.
#[derive(Debug)]
pub struct InHand {
    lines: Vec<[u32; GROUP]>,
    owners: Vec<RequestId>,
}

impl InHand {
    /// Room for all of a tracker's requests; none in a machine of one socket, where slices order them.
    pub fn new(sockets: u8, entries: u16) -> Self {
        debug_assert!(u64::from(sockets) <= MOST_SOCKETS);
        let groups = if sockets == 1 { 0 } else { usize::from(entries).div_ceil(GROUP) };
        Self { lines: vec![[FREE; GROUP]; groups], owners: vec![NO_REQUEST; groups * GROUP] }
    }

    fn place(&self, line: u32) -> Option<usize> {
        self.lines.iter().enumerate().find_map(|(group, lines)| {
            let found = matches(lines, u32::MAX, line);
            (found != 0).then(|| group * GROUP + found.trailing_zeros() as usize)
        })
    }

    /// The request for a line.
    pub fn find(&self, line: u32) -> Option<RequestId> {
        self.place(line).map(|place| self.owners[place])
    }

    /// A request for a line that has none.
    pub fn add(&mut self, line: u32, owner: RequestId) {
        let place = self.place(FREE).unwrap_or_else(|| unreachable!("the tracker has no more entries than this table"));
        self.lines[place / GROUP][place % GROUP] = line;
        self.owners[place] = owner;
    }

    /// The request for a line is done.
    pub fn remove(&mut self, line: u32) {
        if let Some(place) = self.place(line) {
            self.lines[place / GROUP][place % GROUP] = FREE;
        }
    }
}
