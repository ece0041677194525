//! The truth about a socket's ring stop for input-output: its queues, its credits, what was refused.

use super::cells::{QueueCells, Span};

/// Egress queues of the stop, by ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum IoQueue {
    /// To the AD ring: requests.
    Address,
    /// To the AK ring: acknowledgements.
    Acknowledge,
    /// To the BL ring: data of writes.
    Block,
}

/// Message classes of packets for the IIO.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum IoClass {
    /// DRS: data for a device's read.
    Data,
    /// NCB: writes of cores to devices.
    Write,
    /// NCS: reads of cores from devices.
    Read,
}

impl IoClass {
    /// How many there are.
    pub const COUNT: usize = 3;
    /// All of them.
    pub const ALL: [Self; Self::COUNT] = [Self::Data, Self::Write, Self::Read];
}

/// Entries of an egress queue: the model's assumption, written again.
const EGRESS: u64 = 8;

/// Totals of one stop.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeviceCells {
    egress: [QueueCells; 3],
    refused: [u64; 3],
    ingress: [QueueCells; IoClass::COUNT],
    credits: [u64; IoClass::COUNT],
    in_use: [u64; IoClass::COUNT],
    used: [Span; IoClass::COUNT],
    rejected: [u64; IoClass::COUNT],
    bounces: u64,
}

impl DeviceCells {
    pub fn egress(&mut self, queue: IoQueue, on: bool, cycle: u64) {
        let cells = &mut self.egress[queue as usize];
        if on { cells.enter(cycle, EGRESS) } else { cells.leave(cycle, cycle, EGRESS) }
    }

    pub const fn refused(&mut self, queue: IoQueue) {
        self.refused[queue as usize] += 1;
    }

    pub fn ingress(&mut self, class: IoClass, on: bool, cycle: u64) {
        let cells = &mut self.ingress[class as usize];
        if on { cells.enter(cycle, u64::MAX) } else { cells.leave(cycle, cycle, u64::MAX) }
    }

    pub const fn credit(&mut self, class: IoClass, on: bool, cycle: u64) {
        let index = class as usize;
        if on {
            self.credits[index] += 1;
            self.in_use[index] += 1;
        } else {
            self.in_use[index] -= 1;
        }
        self.used[index].switch(self.in_use[index] > 0, cycle);
    }

    pub const fn rejected(&mut self, class: IoClass) {
        self.rejected[class as usize] += 1;
    }

    pub const fn bounced(&mut self) {
        self.bounces += 1;
    }

    pub fn settle(&mut self, cycle: u64) {
        self.egress.iter_mut().for_each(|cells| cells.settle(std::iter::empty(), cycle, EGRESS));
        self.ingress.iter_mut().for_each(|cells| cells.settle(std::iter::empty(), cycle, u64::MAX));
        self.used.iter_mut().for_each(|span| span.settle(cycle));
    }

    /// What an event counts, by the names of Intel's event file.
    pub fn value(&self, event: &str, subevent: &str) -> Option<u64> {
        let queue = match subevent {
            "AD" => Some(IoQueue::Address),
            "AK" => Some(IoQueue::Acknowledge),
            "BL" => Some(IoQueue::Block),
            _ => None,
        };
        let class = match subevent {
            "DRS" => Some(IoClass::Data),
            "NCB" => Some(IoClass::Write),
            "NCS" => Some(IoClass::Read),
            _ => None,
        };
        match event {
            "TxR_CYCLES_NE" => Some(self.egress[queue? as usize].nonempty),
            "TxR_CYCLES_FULL" => Some(self.egress[queue? as usize].full),
            "TxR_NACKS" => Some(self.refused[queue? as usize]),
            "TxR_INSERTS" => Some(self.egress.iter().map(|cells| cells.stay.entries).sum()),
            "RxR_CYCLES_NE" => Some(self.ingress[class? as usize].nonempty),
            "IIO_CREDITS_USED" => Some(self.used[class? as usize].cycles),
            "IIO_CREDITS_ACQUIRED" => Some(self.credits[class? as usize]),
            "IIO_CREDITS_REJECT" => Some(self.rejected[class? as usize]),
            "RxR_AK_BOUNCES" => Some(self.bounces),
            _ => None,
        }
    }
}
