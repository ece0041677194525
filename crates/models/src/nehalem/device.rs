//! A device behind the I/O hub.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use pericore_engine::Tick;
use pericore_workload::{Generator, Placement};

/// A device with its share of the workload.
#[derive(Debug)]
pub struct Device {
    pub generator: Generator,
    pub placement: Placement,
    /// Socket whose cores speak to it.
    pub socket: u8,
    pub under_way: u8,
    pub lines: u64,
    pub ready: Tick,
    pub waits: bool,
    /// It has asked for all its lines.
    pub finished: bool,
    /// Its reads and writes are isochronous.
    pub isochronous: bool,
}

impl Device {
    /// A device that has done nothing.
    pub const fn new(generator: Generator, placement: Placement, socket: u8, isochronous: bool) -> Self {
        Self {
            generator,
            placement,
            socket,
            under_way: 0,
            lines: 0,
            ready: 0,
            waits: false,
            finished: false,
            isochronous,
        }
    }

    /// True if it has all its lines.
    pub const fn is_idle(&self) -> bool {
        self.finished && self.under_way == 0
    }

    /// Asks for no more lines, and says how many it would have asked for.
    pub fn stop(&mut self) -> u64 {
        self.generator.stop()
    }

    /// Requests more lines, of those that are common to all devices.
    pub fn go_on(&mut self, left: &Arc<AtomicU64>) {
        self.generator.go_on(left);
        (self.finished, self.waits) = (false, false);
    }
}
