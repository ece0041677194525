//! What the ledger is told of its memory channels.

use pericore_dram::{CommandRecord, MajorMode, MemoryState, Pending};

use super::Ledger;

impl Ledger {
    /// A command went out on a channel.
    #[inline]
    pub fn command(&mut self, channel: u16, record: CommandRecord) {
        self.cells.channels[usize::from(channel)].commands[record.command as usize] += 1;
        self.log.note(channel, record);
    }

    /// A request took an entry of a pending queue at DRAM cycle `cycle`.
    #[inline]
    pub fn queued(&mut self, channel: u16, queue: Pending, cycle: u64) {
        let capacity = self.capacity(queue);
        self.cells.channels[usize::from(channel)].queues[queue as usize].enter(cycle, capacity);
    }

    /// An entry that came at `entered` was given back at `cycle`.
    #[inline]
    pub fn unqueued(&mut self, channel: u16, queue: Pending, entered: u64, cycle: u64) {
        let capacity = self.capacity(queue);
        self.cells.channels[usize::from(channel)].queues[queue as usize].leave(entered, cycle, capacity);
    }

    /// A read was answered from a pending write.
    pub fn forwarded(&mut self, channel: u16) {
        self.cells.channels[usize::from(channel)].forwards += 1;
    }

    /// A write replaced a pending write.
    pub fn merged(&mut self, channel: u16) {
        self.cells.channels[usize::from(channel)].merges += 1;
    }

    /// A channel entered a major mode at DRAM cycle `cycle`.
    pub fn mode(&mut self, channel: u16, mode: MajorMode, cycle: u64) {
        self.cells.channels[usize::from(channel)].enter_mode(mode, cycle);
    }

    /// A read closed a row that a read or a write was waiting for.
    pub fn preempted(&mut self, channel: u16, victim: Pending) {
        self.cells.channels[usize::from(channel)].preemptions[victim as usize] += 1;
    }

    /// An error in a line was corrected.
    pub fn corrected(&mut self, channel: u16) {
        self.cells.channels[usize::from(channel)].corrected += 1;
    }

    /// A state of a channel begins or ends at DRAM cycle `cycle`.
    pub fn memory_state(&mut self, channel: u16, state: MemoryState, on: bool, cycle: u64) {
        self.cells.channels[usize::from(channel)].states[state.index()].switch(on, cycle);
    }
}
