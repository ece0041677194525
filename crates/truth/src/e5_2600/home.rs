//! The totals of a home agent.

use pericore_dram::Pending;
use pericore_engine::NEVER;
use pericore_facts::e5_2600::{Record, RequestKind, RingKind};

use super::egress::EgressCells;
use super::stay::Stay;
use crate::census::{Census, NO_LIMIT};

/// Regions that the events on a home agent's memory tell apart (Tables 2-50, 2-51).
const REGIONS: usize = 12;

/// Totals of one home agent.
#[derive(Debug, Clone, Copy, Default)]
pub struct HomeCells {
    /// Of this socket, of others.
    pub reads: [u64; 2],
    pub writes: [u64; 2],
    /// Of the writes, modified lines that snoops found.
    pub snoop_writes: u64,
    /// Reads answered from another cache.
    pub forwards: u64,
    /// Requests by the region of memory that they are for.
    pub regions: [u64; REGIONS],
    pub tracker: Stay,
    /// Full lines handed to the memory controller.
    pub written: u64,
    /// Full lines of isochronous devices handed to it.
    pub written_isochronous: u64,
    /// Parts of lines handed to it.
    pub written_parts: u64,
    /// Reads answered with data straight to the core.
    pub to_core: u64,
    /// Reads whose data would have gone so, had not another cache sent it.
    pub direct_overridden: u64,
    /// No data goes straight to cores.
    pub direct_disabled: Census,
    /// Reads answered with data to the slice.
    pub to_cache: u64,
    /// Reads answered with data to another socket.
    pub to_remote: u64,
    /// Completions without data, within the socket and to another one.
    pub completions: u64,
    pub completions_remote: u64,
    /// Snoops sent, to this socket's slices and to others.
    pub snoops: u64,
    /// Reads that found a directory bit clear, and set; bits written, the same.
    pub directory_lookups: [u64; 2],
    pub directory_updates: [u64; 2],
    /// Reads that found their channel idle, and those that did not.
    pub bypasses: [u64; 2],
    /// Queues for the rings, but for that of snoops, by which the home agent sends nothing.
    pub egress: [EgressCells; RingKind::COUNT - 1],
    /// Requests that wait for another to the same line.
    pub conflicts: Census,
    /// Messages that wait for a link: by the address ring for either link, by the data ring.
    pub no_link: [Census; 4],
    /// Credits of the read and the write queues that are in use.
    pub credits: [[Census; 4]; 2],
    /// Those of isochronous requests.
    pub special_credits: [[Census; 4]; 2],
}

impl HomeCells {
    /// Adds what has happened before `now` to a request that came to the tracker.
    #[inline(always)]
    pub fn fold(&mut self, record: &Record, now: u64) {
        let (kind, remote) = (record.kind, record.remote);
        self.tracker.add(record.tracker_in, record.tracker_out, now);
        self.regions[usize::from(record.region)] += 1;
        if let Some(bypassed) = record.bypass {
            self.bypasses[usize::from(bypassed)] += 1;
        }
        let data = if kind.reads_memory() {
            self.reads[usize::from(remote)] += 1;
            // Data that a cache has forwarded is not sent again.
            !record.forwarded
        } else {
            self.writes[usize::from(remote)] += u64::from(kind.writes_memory());
            if record.written != NEVER {
                let partial = kind == RequestKind::StreamPart && !record.completed;
                *match (partial, record.isochronous) {
                    (true, _) => &mut self.written_parts,
                    (false, true) => &mut self.written_isochronous,
                    (false, false) => &mut self.written,
                } += 1;
            }
            false
        };
        if record.tracker_out == NEVER {
            return;
        }
        self.forwards += u64::from(record.forwarded);
        match (data, remote) {
            (true, true) => self.to_remote += 1,
            (true, false) if record.direct_to_core => {
                self.to_core += 1;
                self.completions += 1;
            }
            (true, false) => self.to_cache += 1,
            (false, true) => {}
            (false, false) => self.completions += 1,
        }
    }

    /// Brings the running sums up to the uncore cycle `now`; `pending` are the sizes of the read and the write queues,
    /// of which `special` entries are for isochronous requests.
    pub fn settle(&mut self, now: u64, pending: [u64; 2], special: u64) {
        self.egress.iter_mut().for_each(|queue| queue.settle(now));
        self.no_link
            .iter_mut()
            .chain([&mut self.conflicts, &mut self.direct_disabled])
            .for_each(|census| census.settle(now, NO_LIMIT));
        for (credits, room) in self.credits.iter_mut().zip(pending) {
            credits.iter_mut().for_each(|census| census.settle(now, room - special));
        }
        self.special_credits.iter_mut().flatten().for_each(|census| census.settle(now, special));
    }

    /// Cycles without a credit for a queue.
    pub const fn no_credits(&self, queue: Pending, channel: usize) -> u64 {
        self.credits[queue as usize][channel].full()
    }

    /// Cycles without one for isochronous requests, where there are such.
    pub const fn no_special_credits(&self, queue: Pending, channel: usize) -> u64 {
        self.special_credits[queue as usize][channel].full()
    }

    /// True if nothing waits, and all credits are there.
    pub fn is_empty(&self) -> bool {
        let censuses = self
            .no_link
            .iter()
            .chain(self.credits.iter().chain(&self.special_credits).flatten())
            .chain([&self.conflicts]);
        censuses.into_iter().all(|census| census.live == 0) && self.egress.iter().all(EgressCells::is_empty)
    }
}
