//! On which node each access of a generated workload lies.

use pericore_engine::Random;

use super::Workload;
use crate::Kind;

/// Bytes that a sequential walk has on one node, as a page: its lines stay together.
const PAGE_BITS: u32 = 12;

/// Moves a thread's accesses, which lie in the first node's memory, to the nodes that they belong to.
///
/// Memory is the accessing socket's own but for the workload's share of remote accesses. A walk in order has whole pages on other
/// nodes; accesses at random, whose footprint is common to all threads, draw a node each time, and so sockets share lines.
#[derive(Debug, Clone)]
pub struct Placement {
    /// Node of the socket that the thread runs on, or whose memory a device's workload names.
    own: u64,
    nodes: u64,
    span: u64,
    remote: u8,
    by_page: bool,
    seed: u64,
    random: Random,
}

impl Placement {
    /// For a thread that runs on a socket of a machine with `nodes` nodes, `span` bytes apart.
    pub fn new(workload: &Workload, thread: u16, socket: u8, nodes: u8, span: u64) -> Self {
        Self {
            own: workload.memory.unwrap_or(socket).into(),
            nodes: nodes.into(),
            span,
            remote: if nodes > 1 { workload.remote } else { 0 },
            by_page: matches!(workload.kind, Kind::Stream | Kind::Copy | Kind::Triad | Kind::Loaded),
            seed: workload.seed,
            // Streams beyond those of the threads' addresses.
            random: Random::new(workload.seed, 1 << 32 | u64::from(thread)),
        }
    }

    /// Where on its node an access lies whose address in the first node's memory is given.
    #[inline]
    pub fn place(&mut self, address: u64) -> u64 {
        if self.nodes == 1 { address } else { self.place_among_nodes(address) }
    }

    fn place_among_nodes(&mut self, address: u64) -> u64 {
        let mut node = self.own;
        if self.remote > 0 {
            let mut draw = || self.random.per_cent(self.remote).then(|| self.random.below(self.nodes - 1));
            let other = if self.by_page {
                let mut page = Random::new(self.seed, 1 << 33 | address >> PAGE_BITS);
                page.per_cent(self.remote).then(|| page.below(self.nodes - 1))
            } else {
                draw()
            };
            if let Some(other) = other {
                node = (self.own + 1 + other) % self.nodes;
            }
        }
        address + node * self.span
    }
}

#[cfg(test)]
mod tests {
    use super::Placement;
    use crate::{Generator, Kind, Workload};

    /// Accesses of thread 1 to each of four nodes.
    fn nodes(workload: &Workload, socket: u8) -> [u64; 4] {
        let mut generator = Generator::new(workload, 1);
        let mut placement = Placement::new(workload, 1, socket, 4, 1 << 35);
        let mut counts = [0; 4];
        while let Some(access) = generator.next_access() {
            counts[(placement.place(access.address) >> 35) as usize] += 1;
        }
        counts
    }

    #[test]
    fn memory_is_local_unless_asked_for() {
        let workload = Workload { requests: 8000, ..Workload::new(Kind::Random) };
        assert_eq!(nodes(&workload, 2), [0, 0, 1000, 0]);
    }

    #[test]
    fn a_workload_names_the_memory_of_its_devices() {
        let workload = Workload { requests: 800, threads: 8, memory: Some(3), ..Workload::new(Kind::DmaRead) };
        assert_eq!(nodes(&workload, 2), [0, 0, 0, 100]);
    }

    #[test]
    fn the_remote_share_holds_and_goes_to_all_others() {
        for kind in Kind::ALL {
            let workload = Workload { requests: 800_000, remote: 60, threads: 8, ..Workload::new(kind) };
            let counts = nodes(&workload, 1);
            assert!((37_000..43_000).contains(&counts[1]), "{kind:?}: {counts:?}");
            for other in [0, 2, 3] {
                assert!((17_000..23_000).contains(&counts[other]), "{kind:?}: {counts:?}");
            }
        }
    }

    #[test]
    fn a_walk_keeps_its_pages_together() {
        let workload = Workload { requests: 512, remote: 50, threads: 1, ..Workload::new(Kind::Stream) };
        let mut generator = Generator::new(&workload, 0);
        let mut placement = Placement::new(&workload, 0, 0, 2, 1 << 36);
        let nodes: Vec<u64> = std::iter::from_fn(|| generator.next_access())
            .map(|access| placement.place(access.address) >> 36)
            .collect();
        assert!(nodes.chunks(64).all(|page| page.iter().all(|&node| node == page[0])));
        assert!(nodes.contains(&0) && nodes.contains(&1));
    }
}
