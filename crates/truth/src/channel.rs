//! The truth about a memory channel, of whatever family.

use pericore_dram::{Command, MajorMode, MemoryState, Pending};
use pericore_facts::ChannelFact;

use crate::census::{Census, NO_LIMIT};

/// Totals of one memory channel, in cycles of its clock.
#[derive(Debug, Clone)]
pub struct ChannelCells {
    /// By [`Command`].
    pub commands: [u64; Command::COUNT],
    /// Pending reads, pending writes.
    pub queues: [Census; 2],
    /// Reads answered from a pending write.
    pub forwards: u64,
    /// Writes that replaced a pending write.
    pub merges: u64,
    /// By the kind of request whose row was closed.
    pub preemptions: [u64; 2],
    /// Corrected errors.
    pub corrected: u64,
    /// By [`MemoryState::index`].
    pub states: [Census; MemoryState::COUNT],
    /// By [`MajorMode`].
    pub modes: [Census; MajorMode::COUNT],
}

impl Default for ChannelCells {
    fn default() -> Self {
        Self {
            commands: [0; Command::COUNT],
            queues: Default::default(),
            forwards: 0,
            merges: 0,
            preemptions: [0; 2],
            corrected: 0,
            states: [Census::default(); MemoryState::COUNT],
            modes: Default::default(),
        }
    }
}

impl ChannelCells {
    /// Adds what happens in a cycle; `rooms` are the sizes of the queues.
    #[inline(always)]
    pub fn read(&mut self, cycle: u64, rooms: [u64; 2], fact: ChannelFact) {
        match fact {
            ChannelFact::Starts(ranks) => {
                self.modes[MajorMode::Read as usize].enter(cycle, NO_LIMIT);
                (0..ranks).for_each(|rank| self.states[MemoryState::ClockOn(rank).index()].enter(cycle, NO_LIMIT));
            }
            ChannelFact::Command(record) => self.commands[record.command as usize] += 1,
            ChannelFact::Enters(queue) => self.queues[queue as usize].enter(cycle, rooms[queue as usize]),
            ChannelFact::Leaves(queue, entered) => {
                self.queues[queue as usize].leave(cycle, rooms[queue as usize]);
                self.queues[queue as usize].stayed(cycle - entered);
            }
            ChannelFact::Stays(queue, entered) => self.queues[queue as usize].stayed(cycle - entered),
            ChannelFact::Forwards => self.forwards += 1,
            ChannelFact::Merges => self.merges += 1,
            ChannelFact::Mode { from, to } => {
                self.modes[from as usize].leave(cycle, NO_LIMIT);
                self.modes[to as usize].enter(cycle, NO_LIMIT);
            }
            ChannelFact::Preempts(victim) => self.preemptions[victim as usize] += 1,
            ChannelFact::State(state, on) => self.states[state.index()].change(on, cycle, NO_LIMIT),
            ChannelFact::Corrects => self.corrected += 1,
        }
    }

    /// Brings the sums up to the start of a cycle.
    pub fn settle(&mut self, cycle: u64, rooms: [u64; 2]) {
        self.queues.iter_mut().zip(rooms).for_each(|(queue, room)| queue.settle(cycle, room));
        self.states.iter_mut().chain(&mut self.modes).for_each(|census| census.settle(cycle, NO_LIMIT));
    }

    /// Commands of a kind.
    pub const fn command(&self, command: Command) -> u64 {
        self.commands[command as usize]
    }

    /// A pending queue.
    pub const fn queue(&self, queue: Pending) -> &Census {
        &self.queues[queue as usize]
    }

    /// Cycles in which a state held.
    pub const fn state(&self, state: MemoryState) -> u64 {
        self.states[state.index()].nonempty()
    }

    /// The laws of a moment: what came and went agrees with how long each entry stayed, nothing holds twice, and there
    /// is one major mode at most.
    pub fn is_sound(&self) -> bool {
        let modes: u64 = self.modes.iter().map(|mode| mode.live).sum();
        self.queues.iter().all(Census::is_sound) && modes <= 1 && self.states.iter().all(|state| state.live <= 1)
    }
}
