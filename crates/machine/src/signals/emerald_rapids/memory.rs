//! The signals of memory subchannels.

use pericore_dram::{Command, Lane, MajorMode, MemoryState, Sent};
use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{MemoryFact, SubchannelPlace, UnitInstance};
use pericore_hardware::signal::SignalSink;

use super::emitter::SignalMaker;
use super::lines::{PLAIN_WRITE, REGULAR, UNDERFILL};

/// Reads that complete a line to be written belong to the writes.
const fn prefers_writes(mode: MajorMode) -> bool {
    !matches!(mode, MajorMode::Read | MajorMode::Isochronous)
}

impl<S: SignalSink> SignalMaker<'_, S> {
    /// Something happens in a memory subchannel.
    pub(super) fn memory(&mut self, SubchannelPlace { channel, half }: SubchannelPlace, fact: MemoryFact, at: Tick) {
        let h = usize::from(half) % 2;
        let lines = &self.signals.lines.memory;
        match fact {
            MemoryFact::Starts => {
                let (preferred, clock_on) = (lines.preferred[0], lines.clock_on[h]);
                self.level::<true>(preferred, channel, at);
                clock_on.into_iter().for_each(|rank| self.level::<true>(rank, channel, at));
            }
            MemoryFact::Command(sent) => {
                let (buffer, both) = (lines.buffers[h], lines.buffer);
                if self.signals.observes(lines.corrected, channel) {
                    self.command(channel, h, &sent, at);
                }
                if sent.record.command == Command::Read {
                    self.level::<true>(buffer, channel, at);
                    self.level::<true>(both, channel, at);
                }
            }
            MemoryFact::Delivers => {
                let (buffer, both) = (lines.buffers[h], lines.buffer);
                self.level::<false>(buffer, channel, at);
                self.level::<false>(both, channel, at);
            }
            MemoryFact::Enters(queue, isochronous) => {
                self.level::<true>(lines.queues[queue as usize][h], channel, at);
                let lines = &self.signals.lines.memory;
                let priority = if isochronous { &lines.critical_entries } else { &lines.low };
                self.happens(channel, priority[queue as usize][h], at);
            }
            MemoryFact::Leaves(queue) => self.level::<false>(lines.queues[queue as usize][h], channel, at),
            MemoryFact::Forwards => self.happens(channel, self.signals.lines.memory.forwards[h], at),
            MemoryFact::Merges => self.happens(channel, self.signals.lines.memory.merges[h], at),
            MemoryFact::Mode { from, to, preempts } => {
                let (from, to) = (usize::from(prefers_writes(from)), usize::from(prefers_writes(to)));
                let preferred = lines.preferred;
                if from != to {
                    self.level::<false>(preferred[from], channel, at);
                    self.level::<true>(preferred[to], channel, at);
                    self.happens(channel, self.signals.lines.memory.changes[to][h], at);
                    if preempts {
                        self.happens(channel, self.signals.lines.memory.switches[to][h], at);
                    }
                }
            }
            MemoryFact::Preempts(victim) => {
                self.happens(channel, self.signals.lines.memory.preempted[victim as usize][h], at);
            }
            MemoryFact::State(state, on) => {
                let (level, on) = match state {
                    MemoryState::ClockOn(rank) => (lines.clock_on[h][usize::from(rank) % 2], on),
                    MemoryState::Throttled(rank) => (lines.throttled[usize::from(rank) % 2], on),
                    MemoryState::Critical => (lines.critical, on),
                    MemoryState::SelfRefresh => (lines.refreshing, on),
                    // The channel is while both halves are.
                    MemoryState::PoweredDown | MemoryState::DllOff => (lines.powered_down, on),
                };
                self.holds(level, channel, on, at);
            }
            MemoryFact::Corrects => self.happens(channel, self.signals.lines.memory.corrected, at),
        }
    }

    /// A command of a channel that somebody observes.
    #[inline(never)]
    fn command(&mut self, channel: UnitInstance, h: usize, sent: &Sent, at: Tick) {
        let lines = &self.signals.lines.memory;
        // Rows are opened and closed for reads of either priority.
        let critical = sent.lane == Lane::Isochronous;
        let lane = if critical { Lane::Reads } else { sent.lane } as usize;
        let line = match sent.record.command {
            Command::Activate => {
                let write = sent.lane == Lane::Writes;
                let kind = if write { 3 } else { 0 } + if critical { 1 } else { 2 * u8::from(sent.starved) };
                let commands = &self.signals.lines.commands;
                let (signal, tag) = (commands.activates, commands.tag(kind, h as u8));
                self.happens(channel, lines.activates[lane][h], at);
                self.pulse(signal, tag, channel, 1, at);
                return;
            }
            Command::PrechargeMiss => lines.precharges[lane][h],
            Command::PrechargeIdle => lines.idle[h],
            Command::PrechargeAll => lines.all[h],
            Command::RefreshIdle => lines.refreshes[0][h],
            Command::RefreshForced => lines.refreshes[1][h],
            Command::Read => return self.column(channel, h, REGULAR, sent, at),
            Command::Underfill => return self.column(channel, h, UNDERFILL, sent, at),
            Command::WriteMajor | Command::WriteOpportunistic => return self.column(channel, h, PLAIN_WRITE, sent, at),
        };
        self.happens(channel, line, at);
    }

    /// A column command of a kind as the signal numbers them.
    fn column(&mut self, channel: UnitInstance, h: usize, kind: u8, sent: &Sent, at: Tick) {
        let (lines, commands) = (&self.signals.lines.memory, &self.signals.lines.commands);
        let (columns, lengths, tag) = (commands.columns, commands.lengths, |kind| commands.tag(kind, h as u8));
        // Lengths: read, underfill, write, each of a whole line.
        let (of_kind, of_length) = (tag(kind + u8::from(sent.record.closes)), tag(kind / 2));
        let writes = usize::from(kind == PLAIN_WRITE);
        let mode = lines.modes[writes][usize::from(prefers_writes(sent.mode))][h];
        let age = if sent.lane == Lane::Isochronous {
            lines.critical_columns[h]
        } else {
            lines.ages[writes][usize::from(sent.starved)][h]
        };
        self.pulse(columns, of_kind, channel, 1, at);
        self.pulse(lengths, of_length, channel, 1, at);
        self.happens(channel, mode, at);
        self.happens(channel, age, at);
    }
}
